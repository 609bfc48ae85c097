#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_map>

#include "io/genotypes.hpp"
#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

// DIMENSIONS and FORMAT of a block.
struct matrix_format {
  std::int64_t taxa = -1, sites = -1;  // -1: not given
  std::string symbols;
  bool integer_data = false, snp = false, interleave = false, nucleotides = false;
  char match = 0;
  std::string missing;                         // characters besides ? and -
  std::vector<std::pair<char, char>> equates;  // a character and the one that it stands for
};

class nexus_reader {
 public:
  nexus_reader(const std::string& path, bool compressed, const snp_read_options& options)
      : in_(path, compressed), options_(options) {}
  genotype_rows read();

 private:
  void read_block();
  void read_dimensions();
  void read_format();
  void read_format_word(const std::string& word);
  bool is_layout_word(const std::string& word);
  void read_equate();
  void read_datatype(const std::string& type);
  std::string value_of(const std::string& word);
  char character_of(const std::string& word);
  std::int64_t integer_of(const std::string& word);
  void read_matrix();
  void read_sequential(const state_codes& codes);
  void read_interleaved(const state_codes& codes);
  std::size_t row_of(const std::string& name, bool may_exist);
  bool append_states(std::size_t row, const state_codes& codes, bool stop_at_line_end);
  void append_state(std::size_t row, char c, const state_codes& codes);
  void finish_row(std::size_t row);
  void check_matrix() const;
  void check_ploidy();
  state_codes codes_of_format();

  nexus_tokens in_;
  const snp_read_options& options_;
  matrix_format format_;
  genotype_rows rows_;
  std::unordered_map<std::string, std::size_t> row_of_name_;
  bool has_matrix_ = false;
};

std::string nexus_reader::value_of(const std::string& word) {
  if (in_.token() != "=")
    in_.fail(in_.token_line(), text("\"", shown(word), "\" needs a value: ", shown(word), "=..."));
  const std::string value = in_.token();
  if (!in_.was_quoted() && (value.empty() || value == ";")) in_.fail(in_.token_line(), text(word, "= has no value"));
  return value;
}

char nexus_reader::character_of(const std::string& word) {
  const std::string value = value_of(word);
  if (value.size() != 1) in_.fail(in_.token_line(), text(word, "=", shown(value), " must be one character"));
  return value[0];
}

std::int64_t nexus_reader::integer_of(const std::string& word) {
  const std::string value = value_of(word);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 1)
    in_.fail(in_.token_line(), text(word, "=", shown(value), " must be an integer >= 1"));
  return number;
}

void nexus_reader::read_dimensions() {
  for (std::string word = in_.lower_token(); word != ";"; word = in_.lower_token()) {
    if (word.empty()) in_.fail("the file ends within DIMENSIONS");
    if (word == "newtaxa") continue;
    const std::int64_t value = integer_of(word);
    if (word == "ntax") format_.taxa = value;
    if (word == "nchar") format_.sites = value;
  }
}

void nexus_reader::read_datatype(const std::string& type) {
  if (type == "integerdata" || type == "integer") format_.integer_data = true;
  if (type == "snp") format_.snp = true;
  if (type == "dna" || type == "rna" || type == "nucleotide") {
    format_.nucleotides = true;
    return;
  }
  for (const char* known : {"binary", "standard", "restriction", "integerdata", "integer", "snp"})
    if (type == known) return;
  in_.fail(in_.token_line(),
           text("datatype=", shown(type),
                " is not supported; supported: binary, standard, restriction, integerdata, snp, dna, rna, nucleotide"));
}

void nexus_reader::read_format_word(const std::string& word) {
  if (word == "datatype") return read_datatype(lower(value_of(word)));
  if (word == "symbols") {
    format_.symbols = value_of(word);
    std::erase_if(format_.symbols, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
    return;
  }
  if (word == "missing" || word == "gap") {
    format_.missing += character_of(word);
    return;
  }
  if (word == "matchchar") {
    format_.match = character_of(word);
    return;
  }
  if (word == "interleave") {
    in_.skip();
    format_.interleave = in_.peek() != '=' || lower(value_of(word)) == "yes";
    return;
  }
  if (word == "respectcase") return;
  if (word == "equate") return read_equate();
  if (is_layout_word(word)) return;
  in_.fail(in_.token_line(), text("FORMAT ", shown(word), " is not supported"));
}

// Names on the left and a row an individual, which is also the default.
bool nexus_reader::is_layout_word(const std::string& word) {
  if (word != "labels" && word != "transpose" && word != "tokens") return false;
  in_.skip();
  const std::string value = in_.peek() == '=' ? lower(value_of(word)) : "yes";
  const bool is_default = word == "labels" ? value == "left" || value == "yes" : value == "no";
  if (!is_default)
    in_.fail(in_.token_line(),
             text("FORMAT ", word, value == "yes" ? "" : "=" + shown(value),
                  " is not supported; the matrix must have a row ", "an individual, which begins with its name"));
  return true;
}

void nexus_reader::read_equate() {
  const std::string value = value_of("equate");
  for (std::size_t at = 0; at < value.size(); at += 3) {
    while (at < value.size() && (value[at] == ' ' || value[at] == '\t' || value[at] == '\n')) ++at;
    if (at == value.size()) return;
    if (at + 3 > value.size() || value[at + 1] != '=' || value[at + 2] == '(' || value[at + 2] == '{')
      in_.fail(in_.token_line(), text("EQUATE must be pairs of characters such as \"A=0 B=1\" (", shown(value), ")"));
    format_.equates.emplace_back(value[at], value[at + 2]);
  }
}

void nexus_reader::read_format() {
  for (std::string word = in_.lower_token(); word != ";"; word = in_.lower_token()) {
    if (word.empty()) in_.fail("the file ends within FORMAT");
    read_format_word(word);
  }
}

state_codes nexus_reader::codes_of_format() {
  const bool has_genotypes =
      format_.integer_data || format_.symbols == "012" || (format_.snp && format_.symbols != "01" && !options_.haploid);
  const bool diploid = options_.diploid || (!options_.dominant && has_genotypes);
  rows_.states_of_site = diploid ? 3 : 2;
  // PhyloNet's files say dna and have numbers.
  const bool has_numbers = format_.symbols == "01" || format_.symbols == "012";
  rows_.nucleotides = options_.nucleotides || (format_.nucleotides && !has_numbers);
  if (rows_.nucleotides && options_.dominant) in_.fail("dominant markers have the states 0 and 1, not bases");
  state_codes codes = rows_.nucleotides ? state_codes::nucleotides() : state_codes(rows_.states_of_site);
  for (const char c : format_.missing) {
    if (c >= '0' && c <= '9') in_.fail(text("FORMAT makes the state ", std::string(1, c), " a missing one"));
    codes.add(c, state_codes::missing);
  }
  for (const auto& [character, meaning] : format_.equates) {
    if (codes[meaning] == state_codes::none) in_.fail(text("EQUATE: \"", std::string(1, meaning), "\" is no state"));
    codes.add(character, codes[meaning]);
  }
  if (format_.match == 0) return codes;
  if (codes[format_.match] != state_codes::none)
    in_.fail(text("FORMAT gives the character ", std::string(1, format_.match), " two meanings"));
  codes.add(format_.match, state_codes::match);
  return codes;
}

std::size_t nexus_reader::row_of(const std::string& name, bool may_exist) {
  if (name.empty()) in_.fail("a name is missing here");
  const auto [it, is_new] = row_of_name_.emplace(name, rows_.individuals.size());
  if (!is_new && !may_exist) in_.fail(text("the individual ", shown(name), " comes a second time"));
  if (is_new) {
    rows_.individuals.push_back(name);
    rows_.states.emplace_back();
  }
  return it->second;
}

void nexus_reader::append_state(std::size_t row, char c, const state_codes& codes) {
  std::string& states = rows_.states[row];
  signed char code = codes[c];
  if (code == state_codes::none) {
    const std::string so_far = text("state ", states.size() + 1, " of ", shown(rows_.individuals[row]), ": ");
    const bool looks_like_name = states.size() > 0 && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    in_.fail(so_far + codes.complaint(c) + (states.empty() ? "; a name with blanks must stand in quotes" : "") +
             (looks_like_name && !format_.interleave
                  ? text("; this individual has ", states.size(), " of ", format_.sites,
                         " states, or the matrix is interleaved and FORMAT does not say so")
                  : ""));
  }
  if (code == state_codes::match) {
    if (row == 0 || states.size() >= rows_.states[0].size())
      in_.fail(text("state ", states.size() + 1, " of ", shown(rows_.individuals[row]),
                    " is that of the first individual, which has none"));
    code = static_cast<signed char>(rows_.states[0][states.size()]);
  }
  states += static_cast<char>(code);
}

// Until the row is complete, or the line ends. False at the semicolon or the end of the file.
bool nexus_reader::append_states(std::size_t row, const state_codes& codes, bool stop_at_line_end) {
  while (true) {
    if (!stop_at_line_end && static_cast<std::int64_t>(rows_.states[row].size()) == format_.sites) return true;
    in_.skip(!stop_at_line_end);
    const int c = in_.peek();
    if (c == ';' || c == nexus_tokens::end_of_file) return false;
    if (c == '\n') return true;
    if (static_cast<std::int64_t>(rows_.states[row].size()) == format_.sites)
      in_.fail(text(shown(rows_.individuals[row]), " has more states than nchar=", format_.sites));
    append_state(row, static_cast<char>(c), codes);
    in_.get();
  }
}

void nexus_reader::finish_row(std::size_t row) {
  in_.skip(false);
  const int c = in_.peek();
  if (c != '\n' && c != ';' && c != nexus_tokens::end_of_file)
    in_.fail(text(shown(rows_.individuals[row]), " has more states than nchar=", format_.sites));
}

void nexus_reader::read_sequential(const state_codes& codes) {
  for (in_.skip(); in_.peek() != ';' && in_.peek() != nexus_tokens::end_of_file; in_.skip()) {
    const std::size_t row = row_of(in_.name(), false);
    if (!append_states(row, codes, false))
      in_.fail(
          text(shown(rows_.individuals[row]), " has ", rows_.states[row].size(), " states, not nchar=", format_.sites));
    finish_row(row);
  }
}

void nexus_reader::read_interleaved(const state_codes& codes) {
  for (in_.skip(); in_.peek() != ';' && in_.peek() != nexus_tokens::end_of_file; in_.skip()) {
    const std::size_t row = row_of(in_.name(), true);
    append_states(row, codes, true);
  }
}

void nexus_reader::check_matrix() const {
  if (rows_.individuals.empty()) in_.fail("MATRIX has no individuals");
  if (format_.taxa >= 0 && format_.taxa != static_cast<std::int64_t>(rows_.individuals.size()))
    in_.fail(text("MATRIX has ", rows_.individuals.size(), " individuals, DIMENSIONS says ntax=", format_.taxa));
  for (std::size_t row = 0; row < rows_.states.size(); ++row)
    if (static_cast<std::int64_t>(rows_.states[row].size()) != format_.sites)
      in_.fail(
          text(shown(rows_.individuals[row]), " has ", rows_.states[row].size(), " states, not nchar=", format_.sites));
}

// PhyloNet writes datatype=dna symbols="012" for haploids too, and PhyNetPy datatype=snp.
void nexus_reader::check_ploidy() {
  const bool is_phylonet = format_.nucleotides && !rows_.nucleotides && format_.symbols == "012";
  const bool is_snp = format_.snp && format_.symbols.empty() && rows_.states_of_site == 3;
  if ((!is_phylonet && !is_snp) || options_.diploid || options_.dominant) return;
  for (const std::string& states : rows_.states)
    if (states.find(char(2)) != std::string::npos) return;
  rows_.assumed_diploid = is_snp;
  if (is_phylonet)
    in_.fail(
        "datatype=dna symbols=\"012\" may be of diploids or haploids, and no state is 2; say diploid, or for haploids "
        "symbols=\"01\"");
}

void nexus_reader::read_matrix() {
  if (has_matrix_) in_.fail(in_.token_line(), "a second MATRIX; the file must have one");
  if (format_.sites < 0) in_.fail(in_.token_line(), "MATRIX comes before DIMENSIONS with nchar=...");
  has_matrix_ = true;
  const state_codes codes = codes_of_format();
  format_.interleave ? read_interleaved(codes) : read_sequential(codes);
  if (in_.peek() != ';') in_.fail("the file ends within MATRIX; its \";\" is missing");
  in_.get();
  check_matrix();
  check_ploidy();
}

void nexus_reader::read_block() {
  const std::int64_t begin = in_.token_line();
  const std::string block = in_.lower_token();
  in_.skip_command();
  const bool is_data = block == "data" || block == "characters";
  while (true) {
    const std::string command = in_.lower_token();
    if (command.empty()) in_.fail(begin, text("the block ", shown(block), " begins here and has no END"));
    if (command == "end" || command == "endblock") return in_.skip_command();
    if (is_data && command == "dimensions")
      read_dimensions();
    else if (is_data && command == "format")
      read_format();
    else if (is_data && command == "matrix")
      read_matrix();
    else if (command != ";")
      in_.skip_command();
  }
}

genotype_rows nexus_reader::read() {
  if (in_.lower_token() != "#nexus") in_.fail(in_.token_line(), "no NEXUS file: the first word must be #NEXUS");
  for (std::string word = in_.lower_token(); !word.empty(); word = in_.lower_token()) {
    if (word == ";") continue;
    if (word != "begin") in_.fail(in_.token_line(), text("\"BEGIN\" should stand here, not \"", shown(word), "\""));
    read_block();
  }
  if (!has_matrix_) throw FileError(in_.path(), "has no MATRIX in a DATA or CHARACTERS block");
  return std::move(rows_);
}

}  // namespace

snp_input read_nexus_data(const std::string& path, bool compressed, const snp_read_options& options) {
  return count_genotypes(path, nexus_reader(path, compressed, options).read(), options);
}

}  // namespace quintet::io
