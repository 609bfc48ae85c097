// PLINK's table of additive genotypes, --recode A.
#include <algorithm>
#include <unordered_set>

#include "io/genotypes.hpp"
#include "io/line_reader.hpp"
#include "io/nexus_tokens.hpp"
#include "io/table_fields.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

constexpr std::size_t columns_before_sites = 6;  // FID IID PAT MAT SEX PHENOTYPE

class raw_reader {
 public:
  raw_reader(const std::string& path, bool compressed, bool families_are_species)
      : in_(path, compressed), families_are_species_(families_are_species) {
    rows_.states_of_site = 3;
  }
  genotype_rows read();

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FileError(in_.file().path(), in_.number(), reason); }
  void read_header();
  void add_individual(std::string_view line);
  char state_of(const std::string& word, std::size_t column) const;

  line_reader in_;
  bool families_are_species_;
  char separator_ = ' ';
  std::vector<std::string> header_, fields_;
  std::unordered_set<std::string> names_;
  genotype_rows rows_;
};

void raw_reader::read_header() {
  std::string_view line;
  if (!in_.next(line)) throw FileError(in_.file().path(), "is empty");
  separator_ = separator_of(line);
  split_fields(line, separator_, header_);
  static const std::vector<std::string> begin{"FID", "IID", "PAT", "MAT", "SEX", "PHENOTYPE"};
  if (header_.size() <= begin.size() || !std::equal(begin.begin(), begin.end(), header_.begin()))
    fail("the header must be FID IID PAT MAT SEX PHENOTYPE and the names of sites, as PLINK's --recode A writes it");
  for (const std::string& name : header_)
    if (name.ends_with("_HET")) fail(text("the column ", shown(name), " is of PLINK's --recode AD; use --recode A"));
}

char raw_reader::state_of(const std::string& word, std::size_t column) const {
  if (word == "NA") return state_codes::missing;
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '2') return char(word[0] - '0');
  fail(text(shown(fields_[1]), " has \"", shown(word), "\" at ", shown(header_[column]),
            "; genotypes are 0, 1 and 2, missing ones NA"));
}

void raw_reader::add_individual(std::string_view line) {
  split_fields(line, separator_, fields_);
  if (fields_.size() != header_.size())
    fail(text("this line has ", fields_.size(), " columns, the header ", header_.size()));
  // Two families may have individuals of one name.
  const std::string& name = fields_[families_are_species_ ? 0 : 1];
  if (!names_.insert(families_are_species_ ? fields_[0] + '\t' + fields_[1] : name).second)
    fail(text("the individual ", shown(fields_[1]), " comes a second time"));
  rows_.individuals.push_back(name);
  std::string& states = rows_.states.emplace_back();
  for (std::size_t i = columns_before_sites; i < fields_.size(); ++i) states += state_of(fields_[i], i);
}

genotype_rows raw_reader::read() {
  read_header();
  for (std::string_view line; in_.next(line);)
    if (line.find_first_not_of(" \t") != std::string_view::npos) add_individual(line);
  if (rows_.individuals.empty()) fail("the file has no individuals");
  return std::move(rows_);
}

}  // namespace

snp_input read_raw_data(const std::string& path, bool compressed, const snp_read_options& options) {
  return count_genotypes(path, raw_reader(path, compressed, options.populations.is_identity()).read(), options);
}

}  // namespace quintet::io
