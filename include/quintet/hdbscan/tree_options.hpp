// Options of the tree stage of HDBSCAN: how a dendrogram becomes clusters.
#pragma once

#include <cstdint>
#include <limits>

namespace quintet::hdbscan {

/// What happens when several merges have the same height.
///
/// Mutual reachability makes equal heights common without any duplicate points, and a binary tree then depends on the
/// order in which equal edges were found. `canonical` does all merges of one height at once, so that the result is a
/// function of the points alone; `binary` takes the rows of the dendrogram one by one, as other implementations do.
enum class ties { canonical, binary };

/// Which clusters of the condensed tree are taken.
enum class selection {
  eom,  ///< the antichain of largest total stability ("excess of mass", Campello, Moulavi, Sander 2013)
  leaf  ///< all clusters that do not split any more
};

/// Options of condense(), select_clusters() and everything after them. Heights are distances, in units of the edges.
struct tree_options {
  std::int64_t min_cluster_size = 5;  ///< smaller groups are no clusters; >= 2, and may exceed N; 5 as other programs
  ties tie_mode = ties::canonical;    ///< what equal heights do
  double tie_tolerance = 0;           ///< canonical: heights in [h (1 - tie_tolerance), h] count as h; in [0, 1)
  selection method = selection::eom;  ///< which clusters are taken
  double epsilon = 0;                 ///< >= 0: clusters born at a smaller height give way to an ancestor; 0 = off
  double epsilon_max = std::numeric_limits<double>::infinity();  ///< > 0: eom takes no cluster born at a larger height
  std::int64_t max_cluster_size = 0;                             ///< >= 0: eom takes no larger cluster; 0 = no limit
  bool allow_single_cluster = false;                             ///< the root may be taken
};

/// Throws InvalidArgument naming the first option that is outside its range (or NaN), its value and the range. O(1).
void check_options(const tree_options& options);

}  // namespace quintet::hdbscan
