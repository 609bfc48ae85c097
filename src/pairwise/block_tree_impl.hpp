// block_tree::for_each_node_upwards, a template.
#pragma once

#include "device/for_each.hpp"
#include "pairwise/block_tree.hpp"

namespace quintet::pairwise {

namespace detail {
/// A function of every node of one level of the tree (Bentley 1975).
template <class Function>
struct node_function {
  Function function;
  const tree_node* nodes;
  void operator()(std::int64_t i) const { function(nodes[i]); }
};
}  // namespace detail

template <class Real>
template <class Function>
void block_tree<Real>::for_each_node_upwards(const Function& f) const {
  for (std::size_t d = 0; d + 1 < depth_begin_.size(); ++d)
    device::for_each(depth_begin_[d + 1] - depth_begin_[d],
                     detail::node_function<Function>{f, by_depth_.data() + depth_begin_[d]}, device());
}

}  // namespace quintet::pairwise
