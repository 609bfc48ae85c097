#include <unordered_set>

#include "core/parse_number.hpp"
#include "io/genotypes.hpp"
#include "io/line_reader.hpp"
#include "io/nexus_tokens.hpp"
#include "io/table_fields.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

class phylip_reader {
 public:
  phylip_reader(const std::string& path, bool compressed, const snp_read_options& options)
      : in_(path, compressed),
        codes_(options.nucleotides ? state_codes::nucleotides() : state_codes(options.diploid ? 3 : 2)) {
    rows_.states_of_site = options.diploid ? 3 : 2;
    rows_.nucleotides = options.nucleotides;
    codes_.add('N', state_codes::missing);
    codes_.add('n', state_codes::missing);
  }
  genotype_rows read();

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FileError(in_.file().path(), in_.number(), reason); }
  bool next_line(std::string_view& line);
  void read_sizes();
  void add_individual(std::string_view line);
  bool is_strict(std::string_view line, std::size_t name_end) const;
  void append(std::size_t row, std::string_view states);
  bool is_complete(std::size_t row) const { return static_cast<std::int64_t>(rows_.states[row].size()) == sites_; }
  bool holds_only_states(std::string_view line) const;
  void read_rest(std::string_view line);

  static constexpr std::size_t strict_name = 10;

  line_reader in_;
  state_codes codes_;
  genotype_rows rows_;
  std::unordered_set<std::string> names_;
  std::int64_t individuals_ = 0, sites_ = 0;
};

bool phylip_reader::next_line(std::string_view& line) {
  while (in_.next(line))
    if (line.find_first_not_of(" \t") != std::string_view::npos) return true;
  return false;
}

void phylip_reader::read_sizes() {
  std::string_view line;
  if (!next_line(line)) throw FileError(in_.file().path(), "is empty");
  std::vector<std::string> words;
  split_fields(line, ' ', words);
  const auto size_of = [&](const std::string& word, std::int64_t& value) {
    const char* begin = word.data();
    return parse_number(&begin, word.data() + word.size(), value) == parse_status::ok &&
           begin == word.data() + word.size() && value >= 1;
  };
  if (words.size() != 2 || !size_of(words[0], individuals_) || !size_of(words[1], sites_))
    fail("the first line must be two integers >= 1: individuals and sites");
}

void phylip_reader::append(std::size_t row, std::string_view states) {
  std::string& known = rows_.states[row];
  for (const char c : states) {
    if (c == ' ' || c == '\t') continue;
    if (static_cast<std::int64_t>(known.size()) == sites_)
      fail(text(shown(rows_.individuals[row]), " has more states than the ", sites_, " announced"));
    if (codes_[c] == state_codes::none)
      fail(text("state ", known.size() + 1, " of ", shown(rows_.individuals[row]), ": ", codes_.complaint(c)));
    known += static_cast<char>(codes_[c]);
  }
}

// Whether the first ten characters are the name, and all states stand behind them: only where nothing that is a state
// follows the blank that ends a name otherwise.
bool phylip_reader::is_strict(std::string_view line, std::size_t name_end) const {
  if (name_end != std::string_view::npos && holds_only_states(line.substr(name_end))) return false;
  if (line.size() <= strict_name || !holds_only_states(line.substr(strict_name))) return false;
  std::int64_t states = 0;
  for (const char c : line.substr(strict_name)) states += c != ' ' && c != '\t';
  return states == sites_;
}

void phylip_reader::add_individual(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  std::size_t end = line.find_first_of(" \t", begin);
  if (is_strict(line, end)) end = strict_name;
  std::string name(line.substr(begin, end == std::string_view::npos ? end : end - begin));
  name.resize(name.find_last_not_of(" \t") + 1);
  if (!names_.insert(name).second) fail(text("the individual ", shown(name), " comes a second time"));
  rows_.individuals.push_back(name);
  rows_.states.emplace_back();
  if (end != std::string_view::npos) append(rows_.individuals.size() - 1, line.substr(end));
}

bool phylip_reader::holds_only_states(std::string_view line) const {
  for (const char c : line)
    if (c != ' ' && c != '\t' && codes_[c] == state_codes::none) return false;
  return true;
}

// Behind the first line of the first individual: either its states go on until they are complete (sequential), or every
// line is another individual and what is left follows in blocks without names (interleaved).
void phylip_reader::read_rest(std::string_view line) {
  const bool sequential = is_complete(0) || holds_only_states(line);
  std::size_t row = 0;
  do {
    const std::size_t known = rows_.individuals.size();
    const bool all_named = static_cast<std::int64_t>(known) == individuals_;
    if (sequential) {
      if (!is_complete(known - 1))
        append(known - 1, line);
      else if (all_named)
        fail(text("more lines than the ", individuals_, " individuals announced need"));
      else
        add_individual(line);
    } else if (!all_named) {
      add_individual(line);
    } else {
      append(row, line);
      row = (row + 1) % known;
    }
  } while (next_line(line));
}

genotype_rows phylip_reader::read() {
  read_sizes();
  std::string_view line;
  if (!next_line(line)) fail("the file ends before the first individual");
  add_individual(line);
  if (next_line(line)) read_rest(line);
  if (static_cast<std::int64_t>(rows_.individuals.size()) != individuals_)
    fail(text("the file ends after ", rows_.individuals.size(), " of ", individuals_, " individuals"));
  for (std::size_t row = 0; row < rows_.states.size(); ++row)
    if (!is_complete(row))
      fail(text("the file ends, and ", shown(rows_.individuals[row]), " has ", rows_.states[row].size(), " of ", sites_,
                " states"));
  return std::move(rows_);
}

}  // namespace

snp_input read_phylip_data(const std::string& path, bool compressed, const snp_read_options& options) {
  return count_genotypes(path, phylip_reader(path, compressed, options).read(), options);
}

}  // namespace quintet::io
