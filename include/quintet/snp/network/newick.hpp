// Networks as text: extended Newick (Cardona, Rossello and Valiente, BMC Bioinformatics 9:532, 2008) with the branch
// parameters of PhyloNet's rich Newick.
//
//   [0.8](((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6:0.02,#H1:0.2::0.4)y:0.2)r;
//
// - Behind a name stand `:length:theta:gamma`. An empty or missing theta takes the default; gamma belongs to the two
//   branches above a reticulation, one of the two may be missing. Two gammas that were rounded, with a sum within 0.001
//   of 1, are divided by it. A second number is always theta, never gamma.
// - Other programs write a support value as the second number, `:0.01:95:0.6`. Where the text has no theta in front,
//   second numbers at no leaf, or one in 10 ... 1000, are an error, unless newick_options says that they are support.
// - `#H1` marks a reticulation: it comes twice, once behind its subtree and once bare; a name may stand before it
//   (`x#H1`). The numbers behind it belong to the branch up from that place.
// - `[0.8]` in front of everything is the theta above the root; so is a theta behind the root's name. A length there
//   means nothing, because the population above the root has no end.
// - Annotations of BEAST behind a name set values too: `#H1[&gamma=0.3]:0.01`, `[&theta=0.1]`, `[&coalescenceRate=20]`
//   (theta = 2 / rate). BPP marks both places of a reticulation by one name and
//   `H[&phi=0.3,tau-parent=yes]`: phi is gamma of the branch up from there. Other keys, `[&R]` and comments in brackets
//   are left out; `[0.005]` behind a name is an error, because some programs mean a theta and others a support value.
// - Names may be in single quotes ('' is a quote); outside quotes an underscore stays an underscore. A number behind a
//   closing parenthesis is a support value, no name; so are quoted ones such as '95/0.98' that come repeatedly. The
//   semicolon at the end may be missing.
// - A node with one parent and one child is a point of a branch: both parts become one branch. A root with one child
//   becomes the population above that child. The thetas of the parts must agree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Defaults for numbers that the text does not have; `unset` makes a missing one an error.
struct newick_options {
  double theta = unset;       ///< for branches without one, > 0
  double root_theta = unset;  ///< for a root without one, > 0; by default `theta`
  double length = unset;      ///< for branches without one, >= 0
  double gamma = unset;       ///< for the first parent branch of a reticulation without one on either, in [0, 1]
  /// The second number of a branch is a support value, which is left out, and no theta.
  bool support = false;
  /// The root may have three children, as unrooted networks of other programs have: the second and third then hang on a
  /// branch of length 0, with the theta of the second. rooted_at() moves the root.
  bool unrooted = false;
};

/// Numbers that to_newick() writes of a branch.
enum class newick_numbers {
  all,       ///< `[theta of the root]` in front, and `:length:theta:gamma`: reads back to the same network
  standard,  ///< `:length`, and `:length::gamma` above a reticulation, as other programs read it: thetas are lost
};

/// Text that is not a network. The message begins with the position.
class NewickError : public NetworkError {
 public:
  /// `position` counts bytes from 0.
  NewickError(std::int64_t position, rule broken, const std::string& message)
      : NetworkError(broken, text("character ", position + 1, " of the network: ", message)),
        position_(position),
        detail_(message) {}
  /// Byte of the text, from 0, where it fails.
  std::int64_t position() const noexcept { return position_; }
  /// The message without the place.
  const std::string& detail() const noexcept { return detail_; }

 private:
  std::int64_t position_;
  std::string detail_;
};

/// Reads one network. Nodes are numbered in the order in which their names or parentheses begin, branches in that of
/// their lower ends. Throws NewickError for text that is not extended Newick, NetworkError for an invalid network,
/// InvalidArgument for options out of range. O(length of the text) time and memory, whatever the text.
Network parse_newick(std::string_view text, const newick_options& options = {});

/// One line that reads back to the same network, bit for bit: every length, theta and gamma as the shortest decimal
/// with its value, names in quotes if they need them. A reticulation is written with its subtree where a walk from the
/// root meets it first. If its name has no `#`, a label `#H1`, `#H2`, ... follows the name. With
/// newick_numbers::standard thetas are left out. O(nodes) time and memory.
std::string to_newick(const Network& network, newick_numbers numbers = newick_numbers::all);

}  // namespace quintet::snp
