// States of individuals, a row an individual, and the counts of species that they make.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quintet/io/snp_data.hpp"

namespace quintet::io {

/// What a character of a file means.
class state_codes {
 public:
  static constexpr signed char missing = 3, match = 4, none = -1;
  static constexpr signed char bases = 16;  ///< bases + a set of A (1), C (2), G (4), T (8)

  /// `states`: 2 for haploids (0 and 1), 3 for diploids (0, 1 and 2).
  explicit state_codes(int states);
  /// Bases and the codes of the IUPAC for two of them.
  static state_codes nucleotides();
  void add(char c, signed char code) { codes_[static_cast<unsigned char>(c)] = code; }
  signed char operator[](char c) const { return codes_[static_cast<unsigned char>(c)]; }
  /// Why a character has no meaning.
  std::string complaint(char c) const;

 private:
  std::array<signed char, 256> codes_;
  int states_;  // 0: nucleotides
};

struct genotype_rows {
  std::vector<std::string> individuals;
  std::vector<std::string> states;  ///< of every individual: a code a site, all rows equally long
  int states_of_site = 2;           ///< 2: haploid or dominant, 3: diploid
  bool nucleotides = false;
  bool assumed_diploid = false;  ///< as snp_read_report
};

/// Leaves out what options.individuals says; how many that are.
std::int64_t limit_individuals(population_groups& groups, std::int64_t individuals);

/// Sums the states of every species at every site. `path` is for messages.
snp_input count_genotypes(const std::string& path, genotype_rows rows, const snp_read_options& options);

/// Leaves out sites as options.max_missing, thin_distance and one_per_locus say. `places` has contig << 40 | position
/// of every site given; empty where the format has none.
void filter_sites(snp_input& input, std::span<const std::uint64_t> places, const snp_read_options& options);

/// The readers of read_snp_data; `compressed` is true for .gz.
snp_input read_nexus_data(const std::string& path, bool compressed, const snp_read_options& options);
snp_input read_phylip_data(const std::string& path, bool compressed, const snp_read_options& options);
snp_input read_count_table(const std::string& path, bool compressed, const snp_read_options& options);
snp_input read_raw_data(const std::string& path, bool compressed, const snp_read_options& options);
snp_input read_vcf_data(const std::string& path, const snp_read_options& options);

}  // namespace quintet::io
