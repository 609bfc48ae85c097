// The splits of a dendrogram, from the points up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/polled.hpp"
#include "hdbscan/weights.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// What a node falls into: a node of the dendrogram and its points. With weights their sum, rounded down, and 1 for a
/// point that falls into copies.
struct split_child {
  std::int64_t node, size;
};

/// Which rows of a dendrogram are part of a row above them, as condense() takes ties.
inline std::vector<char> tied_rows(const single_linkage_tree& tree, ties tie_mode,
                                   std::optional<double> tie_tolerance) {
  const std::int64_t n = tree.points, rows = std::int64_t(tree.rows.size());
  const double tolerance = tie_tolerance.value_or(default_tie_tolerance());
  std::vector<char> is_tied(std::size_t(rows), 0);
  if (tie_mode != ties::canonical) return is_tied;
  std::vector<double> tied_height(std::size_t(rows), 0);  // of the topmost row that a row is part of
  for (std::int64_t t = rows - 1; t >= 0; --t) {
    const linkage_row& row = tree.rows[t];
    if (!is_tied[t]) tied_height[t] = row.height * (1 - tolerance);
    for (const std::int64_t child : {row.left, row.right}) {
      if (child < n || tree.rows[child - n].height < tied_height[t]) continue;
      is_tied[child - n] = 1;
      tied_height[child - n] = tied_height[t];
    }
  }
  return is_tied;
}

/// Calls visit(node, children, is_split) for every node that falls apart, children before parents. Children come by
/// decreasing size, equal ones by their number; canonical ties open nodes of the same height. `is_split` is false at
/// height 0, where condense() splits nothing. Throws as check_linkage() and check_options() do.
template <class Visit>
void for_each_split(const single_linkage_tree& tree, ties tie_mode, std::optional<double> tie_tolerance,
                    const Visit& visit) {
  check_linkage(tree);
  check_options({.tie_tolerance = tie_tolerance});
  check_ties(tree.weights, tie_mode);
  const std::int64_t n = tree.points, rows = std::int64_t(tree.rows.size());
  const std::vector<char> is_open = tied_rows(tree, tie_mode, tie_tolerance);
  const std::vector<double> mass = tree.weights.empty() ? std::vector<double>() : masses_of(tree);
  const double tied_part = 1 - tie_tolerance.value_or(default_tie_tolerance());
  const auto size = [&](std::int64_t node, double tied_height) {
    if (mass.empty()) return node < n ? std::int64_t(1) : tree.rows[node - n].size;
    if (node < n && (mass[node] <= 1 || tree.heights[node] >= tied_height)) return std::int64_t(1);
    return whole_mass(mass[node]);
  };
  std::vector<split_child> children;
  std::vector<std::int64_t> stack;
  for (std::int64_t t = 0; t < rows; ++t) {
    quintet::detail::poll_sometimes(t);
    if (is_open[t]) continue;
    const double tied_height = tree.rows[t].height * tied_part;
    children.clear();
    stack.assign({tree.rows[t].right, tree.rows[t].left});
    while (!stack.empty()) {
      const std::int64_t node = stack.back();
      stack.pop_back();
      if (node >= n && is_open[node - n]) {
        stack.insert(stack.end(), {tree.rows[node - n].right, tree.rows[node - n].left});
      } else {
        children.push_back({node, size(node, tied_height)});
      }
    }
    std::sort(children.begin(), children.end(), [](const split_child& a, const split_child& b) {
      return a.size != b.size ? a.size > b.size : a.node < b.node;
    });
    visit(n + t, std::span<const split_child>(children), !std::isinf(1 / std::abs(tree.rows[t].height)));
  }
}

}  // namespace quintet::hdbscan
