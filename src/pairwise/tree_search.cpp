#include "pairwise/tree_search.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "device/launch.hpp"

namespace quintet::pairwise {

namespace {

/// Searches for every leaf_step-th leaf; returns the pairs computed.
template <class Real>
std::int64_t search(const block_tree<Real>& tree, neighbours_there<Real>& found, std::int64_t leaf_step) {
  const Device& device = tree.device();
  Buffer<std::int64_t> scanned(1, device);
  device::fill(scanned, std::int64_t(0));
  const tree_nearest_arguments<Real> arguments{
      tree.view(), tree.view(), true, {found.value.data(), found.index.data(), found.k}, leaf_step, scanned.data()};
  device::with_shape<tree_host_shape<Real>, tree_device_shape<Real>>(device, [&](auto shape) {
    device::launch(tree_nearest_kernel<Real, decltype(shape)>{arguments}, (tree.leaves() + leaf_step - 1) / leaf_step,
                   device);
  });
  return scanned.to_vector()[0] * leaf_points;
}

template <class Real>
neighbours_there<Real> room_for(const block_tree<Real>& tree, int k) {
  neighbours_there<Real> found;
  found.rows = tree.view().count;
  found.k = k;
  found.value = Buffer<Real>(found.rows * k, tree.device());
  found.index = Buffer<std::int32_t>(found.rows * k, tree.device());
  return found;
}

// Searches of a sample: this many leaves of every so many.
constexpr std::int64_t sampled_leaves = 4, sample_step = 128;

}  // namespace

template <class Real>
neighbours_there<Real> nearest_others_there(const block_tree<Real>& tree, int k, tree_work& work) {
  neighbours_there<Real> found = room_for(tree, k);
  work.pairs += search(tree, found, 1);
  return found;
}

template <class Real>
double sampled_share(const block_tree<Real>& tree, int k) {
  neighbours_there<Real> found = room_for(tree, k);
  const std::int64_t samples = std::min<std::int64_t>(tree.leaves(), sampled_leaves + tree.leaves() / sample_step);
  const std::int64_t step = tree.leaves() / samples, searched = (tree.leaves() + step - 1) / step;
  const double pairs = double(search(tree, found, step));
  return pairs / (double(searched * leaf_points) * double(tree.leaves()) * leaf_points);
}

template <class Real>
void lightest(const tree_lightest_arguments<Real>& a, const Device& device) {
  device::with_shape<tree_host_shape<Real>, tree_device_shape<Real>>(device, [&](auto shape) {
    device::launch(tree_lightest_kernel<Real, decltype(shape)>{a}, a.tree.leaves, device);
  });
}

#define QUINTET_INSTANTIATE(Real)                                                                 \
  template neighbours_there<Real> nearest_others_there(const block_tree<Real>&, int, tree_work&); \
  template double sampled_share(const block_tree<Real>&, int);                                    \
  template void lightest(const tree_lightest_arguments<Real>&, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
