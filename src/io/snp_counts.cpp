#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <unordered_set>

#include "core/parse_number.hpp"
#include "io/genotypes.hpp"
#include "io/line_reader.hpp"
#include "io/nexus_tokens.hpp"
#include "io/table_fields.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

class count_table_reader {
 public:
  count_table_reader(const std::string& path, bool compressed, const snp_read_options& options)
      : in_(path, compressed), options_(options) {}
  snp_input read();

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FileError(in_.file().path(), in_.number(), reason); }
  bool next_row();
  std::vector<std::string> read_header();
  void read_cell(std::size_t column, std::int64_t& red, std::int64_t& copies) const;
  double weight() const;

  line_reader in_;
  const snp_read_options& options_;
  char separator_ = 0;
  std::vector<std::string> fields_;
  std::vector<std::string> header_;
  std::optional<std::size_t> weight_column_;
};

bool count_table_reader::next_row() {
  std::string_view line;
  do {
    if (!in_.next(line)) return false;
  } while (is_skipped(line));
  if (separator_ == 0) separator_ = separator_of(line);
  if (!split_fields(line, separator_, fields_)) fail("a quoted field has no end");
  return true;
}

std::vector<std::string> count_table_reader::read_header() {
  if (!next_row()) throw FileError(in_.file().path(), "is empty; a table of counts begins with the names of species");
  header_ = fields_;
  std::vector<std::string> species;
  std::unordered_set<std::string> names;
  for (std::size_t column = 0; column < header_.size(); ++column) {
    const std::string& name = header_[column];
    if (name.empty()) fail(text("column ", column + 1, " has no name; the first line holds the species"));
    if (name.find('/') != std::string::npos)
      fail(text("\"", shown(name), "\" looks like counts; the first line holds the species"));
    if (!names.insert(name).second) fail(text("the column ", shown(name), " comes a second time"));
    if (name == "weight")
      weight_column_ = column;
    else
      species.push_back(name);
  }
  if (species.empty()) fail("the table has no species");
  return species;
}

void count_table_reader::read_cell(std::size_t column, std::int64_t& red, std::int64_t& copies) const {
  const std::string& cell = fields_[column];
  red = copies = 0;
  if (cell.empty() || cell == "?" || cell == "-" || cell == "NA") return;
  const char *at = cell.data(), *end = at + cell.size();
  const auto integer = [&](std::int64_t& value) {
    const auto [stop, error] = std::from_chars(at, end, value);
    at = stop;
    return error == std::errc();
  };
  const auto complain = [&](const std::string& reason) {
    fail(text("column ", shown(header_[column]), ": \"", shown(cell), "\" ", reason));
  };
  const bool good = integer(red) && at != end && *at++ == '/' && integer(copies) && at == end;
  if (!good) complain("must be two integers, red/copies");
  const std::int64_t max = options_.dominant ? snp::DataBuilder::max_copies / 2 : snp::DataBuilder::max_copies;
  if (copies < 0 || copies > max) complain(text("must have 0 ... ", max, " copies"));
  if (red < 0 || red > copies) complain(text("must have 0 ... ", copies, " copies of allele 1"));
  if (options_.dominant) copies *= 2;
}

double count_table_reader::weight() const {
  if (!weight_column_) return 1;
  const std::string& cell = fields_[*weight_column_];
  double value = 0;
  const char* at = cell.data();
  const parse_status status = parse_number(&at, cell.data() + cell.size(), value);
  if (status != parse_status::ok || at != cell.data() + cell.size() || !std::isfinite(value) || value < 0)
    fail(text("the weight \"", shown(cell), "\" must be a finite number >= 0"));
  return value;
}

snp_input count_table_reader::read() {
  std::vector<std::string> names = read_header();
  const std::size_t species = names.size();
  snp::DataBuilder builder(std::move(names), {.dominant = options_.dominant, .empty = options_.empty});
  std::vector<std::int64_t> red(species), copies(species);
  while (next_row()) {
    if (fields_.size() != header_.size())
      fail(text("this line has ", fields_.size(), " fields, the first has ", header_.size()));
    for (std::size_t column = 0, s = 0; column < header_.size(); ++column) {
      if (column == weight_column_) continue;
      read_cell(column, red[s], copies[s]);
      ++s;
    }
    builder.add_site(red, copies, weight());
  }
  return {builder.finish(), {}, {}};
}

}  // namespace

snp_input read_count_table(const std::string& path, bool compressed, const snp_read_options& options) {
  return count_table_reader(path, compressed, options).read();
}

}  // namespace quintet::io
