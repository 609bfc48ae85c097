#include "quintet/io/snp_network.hpp"

#include <algorithm>
#include <unordered_map>

#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

// Text of a network and the line of its first character.
struct network_text {
  std::string newick;
  std::int64_t line = 0;
  bool is_nexus = false;
};

// Where the text of a network ends: behind its semicolon, which may be missing at the end of the file.
std::size_t end_of_newick(std::string_view text, std::size_t begin) {
  char closing = 0;  // of the quotes or the comment that `at` is in
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (closing != 0)
      closing = c == closing ? '\0' : closing;
    else if (c == '\'' || c == '[')
      closing = c == '[' ? ']' : c;
    else if (c == ';')
      return at + 1;
  }
  return text.size();
}

std::vector<network_text> texts_of_newick(const std::string& path, bool compressed) {
  line_reader in(path, compressed);
  std::string all;
  std::string_view line;
  while (in.next(line)) all.append(line).append("\n");
  std::vector<network_text> texts;
  for (std::size_t begin = 0; begin < all.size() || texts.empty();) {
    begin = std::min(all.find_first_not_of(" \t\n", begin), all.size());
    if (begin == all.size() && !texts.empty()) break;
    const std::size_t end = end_of_newick(all, begin);
    texts.push_back(
        {all.substr(begin, end - begin), 1 + std::count(all.begin(), all.begin() + std::ptrdiff_t(begin), '\n')});
    const network_text& last = texts.back();
    if (texts.size() > 1 && last.newick[0] != '(' && last.newick[0] != '[')
      throw FileError(path, last.line, text("the network has ended, but there is more: \"", shown(last.newick), "\""));
    begin = end;
  }
  return texts;
}

// Names by the words that stand for them in trees.
using translation = std::unordered_map<std::string, std::string>;

// `in` stands behind TRANSLATE.
void read_translation(nexus_tokens& in, translation& names) {
  const std::int64_t begin = in.token_line();
  while (true) {
    const std::string word = in.token();
    if (word == ";" && !in.was_quoted()) return;
    const std::string name = in.token();
    const bool is_name = in.was_quoted() || (name != "," && name != ";" && !name.empty());
    const std::string mark = in.token();
    if (!is_name || in.was_quoted() || (mark != "," && mark != ";"))
      in.fail(begin, "TRANSLATE must be pairs such as 1 A, 2 B;");
    names[word] = name;
    if (mark == ";") return;
  }
}

// Leaves have names behind "(" and ","; they are written in quotes.
std::string translated(std::string_view newick, const translation& names) {
  std::string result;
  bool is_leaf = false;
  for (std::size_t at = 0; at < newick.size();) {
    const char c = newick[at];
    std::size_t end = at + 1;
    if (c == '[')
      end = std::min(newick.find(']', at), newick.size() - 1) + 1;
    else if (c == '\'')
      end = std::min(newick.find('\'', at + 1), newick.size() - 1) + 1;
    else if (std::string_view("(),:; \t\n").find(c) == std::string_view::npos)
      end = std::min(newick.find_first_of("(),:;#[' \t\n", at + 1), newick.size());
    const std::string word(newick.substr(at, end - at));
    const auto translation = is_leaf ? names.find(word) : names.end();
    if (translation == names.end()) {
      result += word;
    } else {
      result += '\'';
      for (const char letter : translation->second) result.append(letter == '\'' ? 2 : 1, letter);
      result += '\'';
    }
    if (c != '[' && c != ' ' && c != '\t' && c != '\n') is_leaf = c == '(' || c == ',';
    at = std::max(end, at + 1);
  }
  return result;
}

// `in` stands behind TREE or NETWORK.
network_text read_network_text(nexus_tokens& in, const translation& names) {
  const std::int64_t begin = in.token_line();
  for (std::string word = in.token(); word != "="; word = in.token())
    if (word.empty() || word == ";") in.fail(begin, "a tree looks like TREE name = (...);");
  network_text text{{}, in.line(), true};
  text.newick = in.raw_command();
  if (!names.empty()) text.newick = translated(text.newick, names);
  return text;
}

std::vector<network_text> texts_of_nexus(const std::string& path, bool compressed) {
  nexus_tokens in(path, compressed);
  std::vector<network_text> texts;
  translation names;
  bool is_tree_block = false;
  for (std::string word = in.lower_token(); !word.empty() || in.was_quoted(); word = in.lower_token()) {
    if (word == "begin") {
      const std::string block = in.lower_token();
      is_tree_block = block == "trees" || block == "networks";
      names.clear();
      in.skip_command();
    } else if (is_tree_block && (word == "tree" || word == "network" || word == "utree")) {
      texts.push_back(read_network_text(in, names));
    } else if (is_tree_block && word == "translate") {
      read_translation(in, names);
    } else if (word == "end" || word == "endblock") {
      is_tree_block = false;
      in.skip_command();
    } else if (word != ";" && word != "#nexus") {
      in.skip_command();
    }
  }
  if (texts.empty()) throw FileError(path, "has no TREE or NETWORK in a TREES or NETWORKS block");
  return texts;
}

bool is_nexus(const std::string& path, bool compressed) {
  line_reader in(path, compressed);
  std::string_view line;
  return in.next(line) && lower(line.substr(0, 6)) == "#nexus";
}

std::vector<network_text> texts_of(const std::string& path) {
  const bool compressed = lower(path).ends_with(".gz");
  return is_nexus(path, compressed) ? texts_of_nexus(path, compressed) : texts_of_newick(path, compressed);
}

snp::Network parse(const std::string& path, const network_text& source, const snp::newick_options& options) {
  try {
    return snp::parse_newick(source.newick, options);
  } catch (const snp::NewickError& e) {
    const auto end =
        source.newick.begin() + std::min<std::int64_t>(e.position(), static_cast<std::int64_t>(source.newick.size()));
    const auto start = std::find(std::make_reverse_iterator(end), source.newick.rend(), '\n').base();
    throw FileError(path, source.line + std::count(source.newick.begin(), end, '\n'),
                    text("character ", end - start + 1,
                         source.is_nexus && start == source.newick.begin() ? " behind \"=\": " : ": ", e.detail()));
  } catch (const snp::NetworkError& e) {
    throw FileError(path, e.what());
  }
}

}  // namespace

snp::Network read_network(const std::string& path, const snp::newick_options& options) {
  const std::vector<network_text> texts = texts_of(path);
  if (texts.size() > 1)
    throw FileError(path, texts[1].line,
                    text("a second network; the first is in line ", texts[0].line, ", and one is needed"));
  return parse(path, texts[0], options);
}

std::vector<snp::Network> read_networks(const std::string& path, const snp::newick_options& options) {
  std::vector<snp::Network> networks;
  for (const network_text& text : texts_of(path)) networks.push_back(parse(path, text, options));
  return networks;
}

}  // namespace quintet::io
