#include "quintet/hdbscan/tree_options.hpp"

#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

void check_options(const tree_options& options) {
  require_argument(options.min_cluster_size >= 2, "min_cluster_size", options.min_cluster_size, ">= 2");
  require_argument(options.tie_tolerance >= 0 && options.tie_tolerance < 1, "tie_tolerance", options.tie_tolerance,
                   "in [0, 1)");
  require_argument(options.epsilon >= 0, "epsilon", options.epsilon, ">= 0");
  require_argument(options.epsilon_max > 0, "epsilon_max", options.epsilon_max, "> 0");
  require_argument(options.max_cluster_size >= 0, "max_cluster_size", options.max_cluster_size,
                   ">= 0, where 0 is no limit");
}

}  // namespace quintet::hdbscan
