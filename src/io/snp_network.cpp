#include "quintet/io/snp_network.hpp"

#include <algorithm>

#include "io/nexus_tokens.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

// Text of a network and the line of its first character.
struct found_network {
  std::string newick;
  std::int64_t line = 0;
};

found_network whole_file(const std::string& path, bool compressed) {
  line_reader in(path, compressed);
  found_network found{{}, 1};
  std::string_view line;
  while (in.next(line)) found.newick.append(line).append("\n");
  return found;
}

// Keeps the one network; `in` stands behind TREE or NETWORK.
void take_network(nexus_tokens& in, found_network& found) {
  if (found.line > 0) in.fail(in.token_line(), text("a second network; the first is in line ", found.line));
  const std::int64_t begin = in.token_line();
  for (std::string word = in.token(); word != "="; word = in.token())
    if (word.empty() || word == ";") in.fail(begin, "a tree looks like TREE name = (...);");
  found.line = in.line();
  found.newick = in.raw_command();
}

found_network network_of_nexus(const std::string& path, bool compressed) {
  nexus_tokens in(path, compressed);
  found_network found;
  bool is_tree_block = false;
  for (std::string word = in.lower_token(); !word.empty() || in.was_quoted(); word = in.lower_token()) {
    if (word == "begin") {
      const std::string block = in.lower_token();
      is_tree_block = block == "trees" || block == "networks";
      in.skip_command();
    } else if (is_tree_block && (word == "tree" || word == "network" || word == "utree")) {
      take_network(in, found);
    } else if (is_tree_block && word == "translate") {
      in.fail(in.token_line(), "TRANSLATE is not supported; write the names into the tree");
    } else if (word == "end" || word == "endblock") {
      is_tree_block = false;
      in.skip_command();
    } else if (word != ";" && word != "#nexus") {
      in.skip_command();
    }
  }
  if (found.line == 0) throw FileError(path, "has no TREE or NETWORK in a TREES or NETWORKS block");
  return found;
}

bool is_nexus(const std::string& path, bool compressed) {
  line_reader in(path, compressed);
  std::string_view line;
  return in.next(line) && lower(line.substr(0, 6)) == "#nexus";
}

}  // namespace

snp::Network read_network(const std::string& path, const snp::newick_options& options) {
  const bool compressed = lower(path).ends_with(".gz");
  const found_network found =
      is_nexus(path, compressed) ? network_of_nexus(path, compressed) : whole_file(path, compressed);
  try {
    return snp::parse_newick(found.newick, options);
  } catch (const snp::NewickError& e) {
    const auto end =
        found.newick.begin() + std::min<std::int64_t>(e.position(), static_cast<std::int64_t>(found.newick.size()));
    const auto start = std::find(std::make_reverse_iterator(end), found.newick.rend(), '\n').base();
    throw FileError(path, found.line + std::count(found.newick.begin(), end, '\n'),
                    text("character ", end - start + 1,
                         found.line > 1 && start == found.newick.begin() ? " behind \"=\": " : ": ", e.detail()));
  } catch (const snp::NetworkError& e) {
    throw FileError(path, e.what());
  }
}

}  // namespace quintet::io
