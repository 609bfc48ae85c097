// Networks of ../shared/data/snp/expected.md, and just enough readers for its files; the library's own are tested
// elsewhere.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/data_folder.hpp"

namespace quintet::test {

inline std::filesystem::path snp_folder() { return data_folder("snp"); }

namespace snp_text {
inline const char* net_a =
    "(C:0.08,((R:0.007,(Q:0.004)#H1:0.003::0.3)a:0.035,((A:0.006,#H1:0.002::0.7)b:0.016,L:0.022)c:0.02)d:0.038)r";
inline const char* net_b =
    "(((R:0.014,(Q:0.004)#H1:0.01::0.3)a:0.028,(((A:0.003)#H2:0.003::0.6,#H1:0.002::0.7)b:0.016,L:0.022)c:0.02)d:0.038"
    ",(C:0.005,#H2:0.002::0.4)e:0.075)r";
inline const char* net_c =
    "(R:0.08,((A:0.012,((B:0.002,(C:0.001)#H1:0.001::0.5)a:0.002)#H2:0.008::0.5)b:0.038,((D:0.003,#H1:0.002::0.5)c:"
    "0.017,#H2:0.016::0.5)d:0.03)e:0.03)r";
inline const char* rice_tree =
    "(((Jap:0.03,Aro:0.03)a:0.02,(Ind:0.04,Aus:0.04)b:0.01)c:0.03,(Or3:0.06,Or1:0.06)d:0.02)r";
inline const char* rice_level1 =
    "(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65)a:0.03,(Ind:0.04,(Aus:0.02,#H1:0.01::0.35)e:0.02)b:0.01)c:0.03,(Or3:0.06,"
    "Or1:0.06)d:0.02)r";
inline const char* rice_level2 =
    "(((Jap:0.02,(Aro:0.01)#H1:0.01::0.65)a:0.03,((Ind:0.03)#H2:0.01::0.8,(Aus:0.02,#H1:0.01::0.35)e:0.02)b:0.01)c:"
    "0.03,(Or3:0.06,(Or1:0.05,#H2:0.02::0.2)f:0.01)d:0.02)r";
inline const char* test1 = "((A:0.01,B:0.01)x:0.005,(C:0.012,D:0.012)y:0.003)r";
inline const char* hemidactylus = "(((coal:0.01,kya:0.01)a:0.005,fas:0.015)b:0.005,eng:0.02)r";
inline const char* ourisia =
    "((((cro:0.02,(mccmcc:0.01,mcccal:0.01)a:0.01)b:0.02,mcplac:0.04)c:0.01,((gla:0.03,rem:0.03)d:0.01,(sesses:0.02,"
    "sesspl:0.02)e:0.02)f:0.01)g:0.03,cae:0.08)r";
/// Six species, three reticulations (PhyloNet's LikelihoodTest), theta .036.
inline const char* three_reticulations =
    "(((G:0.03271098551352612,(C:0.014581262376039935,(A:0.007848436317467452)#H2:0.006732826058572483::"
    "0.20092242303662247):0.01812972313748619):6.589767080962955E-4)#H1:0.056974310762192545::0.973670280875714,(((Q:"
    "0.01575520654534508)#H3:0.008437888036381732::0.29205403332422386,R:0.02419309458172681):0.04760724352481251,("
    "#H1:0.012622246801820981::0.026329719124286055,((#H3:1.8671708033869347E-4::0.7079459666757761,#H2:"
    "0.00809348730821632::0.7990775769633776):0.01963878547064636,L:0.03558070909633013):0.010411499927113266):"
    "0.025808129083095925):0.01854393487727564)";
}  // namespace snp_text

/// All branches and the root have this theta.
inline snp::Network snp_network(const std::string& newick, double theta) {
  return snp::parse_newick(newick, {.theta = theta});
}

inline std::ifstream open_or_throw(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  return file;
}

/// A header of species, then rows of cells "red/copies".
inline snp::Data snp_counts(const std::filesystem::path& path) {
  std::ifstream file = open_or_throw(path);
  const auto fields = [](const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return words;
  };
  std::string row;
  std::getline(file, row);
  snp::DataBuilder builder(fields(row));
  while (std::getline(file, row)) {
    std::vector<std::int64_t> red, copies;
    for (const std::string& cell : fields(row)) {
      const std::size_t slash = cell.find('/');
      red.push_back(std::stoll(cell.substr(0, slash)));
      copies.push_back(std::stoll(cell.substr(slash + 1)));
    }
    builder.add_site(red, copies);
  }
  return builder.finish();
}

enum class species_rule { after_last, before_first };

/// The matrix of a NEXUS file with one line an individual; `ploidy` copies each. Dominant: the band of diploids.
inline snp::Data snp_nexus(const std::filesystem::path& path, species_rule rule, int ploidy,
                           snp::data_options options = {}) {
  std::ifstream file = open_or_throw(path);
  std::map<std::string, std::vector<std::string>> individuals;
  std::string row, name, sequence;
  while (std::getline(file, row) && row.find("atrix") == std::string::npos) {
  }
  while (std::getline(file, row)) {
    std::istringstream in(row);
    if (!(in >> name >> sequence)) break;
    const std::size_t place = rule == species_rule::after_last ? name.rfind('_') + 1 : name.find('_');
    individuals[rule == species_rule::after_last ? name.substr(place) : name.substr(0, place)].push_back(sequence);
  }
  std::vector<std::string> species;
  for (const auto& [one, sequences] : individuals) species.push_back(one);
  snp::DataBuilder builder(species, options);
  const std::size_t sites = individuals.begin()->second.front().find_last_of("012-") + 1;
  std::vector<std::int64_t> sampled;
  for (const auto& [one, sequences] : individuals) sampled.push_back(std::int64_t(sequences.size()) * ploidy);
  for (std::size_t site = 0; site < sites; ++site) {
    std::vector<std::int64_t> red, copies;
    for (const auto& [one, sequences] : individuals) {
      red.push_back(0);
      copies.push_back(0);
      for (const std::string& calls : sequences) {
        if (calls[site] == '-') continue;
        red.back() += calls[site] - '0';
        copies.back() += ploidy;
      }
    }
    builder.add_site(red, copies);
  }
  return builder.finish(sampled);
}

}  // namespace quintet::test
