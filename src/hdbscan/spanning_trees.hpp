// The spanning trees of several k, each once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

struct shared_trees {
  std::vector<spanning_tree_result> trees;  ///< by increasing k; `clamped` is that of the smallest min_samples
  std::vector<std::int64_t> tree_of;        ///< of every min_samples
};

/// See spanning_trees().
shared_trees find_shared_trees(any_matrix points, std::span<const std::int64_t> min_samples,
                               const spanning_tree_options& options, const Device& device,
                               const progress_callback& report, std::span<const double> weights);

}  // namespace quintet::hdbscan
