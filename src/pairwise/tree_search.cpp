#include "pairwise/tree_search.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "instantiate.hpp"

namespace quintet::pairwise {

namespace {

/// Calls f with a shape, and with what stands for a dimension as in Dim of kernels.
template <class Real, class Function>
void with_tree_kernel(const coordinate_term<Real>& term, const Device& device, const Function& f) {
  device::with_shape<tree_host_shape<Real>, tree_device_shape<Real>>(device, [&](auto shape) {
    with_any_dimension(term, [&]<int Dim>() { f(shape, std::integral_constant<int, Dim>()); });
  });
}

/// Searches for some leaves, for all of them without `leaves`; returns the pairs computed.
template <class Real>
std::int64_t search(const block_tree<Real>& queries, const block_tree<Real>& tree, device_neighbours<Real>& lists,
                    const std::vector<std::int32_t>* leaves, const std::int32_t* number,
                    const part_callback& report = {}) {
  const Device& device = tree.device();
  const Buffer<std::int32_t> leaf(leaves ? *leaves : std::vector<std::int32_t>{}, device);
  Buffer<std::int64_t> scanned(1, device);
  device::fill(scanned, std::int64_t(0));
  const tree_nearest_arguments<Real> arguments{
      .rows = queries.view(),
      .tree = tree.view(),
      .same_points = &queries == &tree,
      .list = {lists.value.data(), lists.index.data(), lists.k, are_heaps(lists.k, device)},
      .number = number,
      .leaf = leaves ? leaf.data() : nullptr,
      .scanned = scanned.data()};
  with_tree_kernel(arguments.rows.term, device, [&](auto shape, auto dim) {
    in_parts(leaves ? std::int64_t(leaves->size()) : queries.leaves(), report,
             [&](std::int64_t first, std::int64_t count) {
               tree_nearest_kernel<Real, dim, decltype(shape)> kernel{arguments};
               kernel.a.first_tile = first;
               device::launch(kernel, count, device);
             });
  });
  sort_heaps(lists);
  return scanned.to_vector()[0] * leaf_points;
}

template <class Real>
device_neighbours<Real> room_for(std::int64_t rows, int k, const Device& device) {
  device_neighbours<Real> lists;
  lists.rows = rows;
  lists.k = k;
  lists.value = Buffer<Real>(rows * k, device);
  lists.index = Buffer<std::int32_t>(rows * k, device);
  return lists;
}

/// The entries of every row in ascending order of their indices, by heapsort (Williams 1964): in place, and without a
/// bad case.
template <class Real>
struct sort_row {
  const std::int64_t* row_pointers;
  std::int64_t* index;
  Real* value;

  void operator()(std::int64_t row) const {
    const std::int64_t first = row_pointers[row];
    std::int64_t count = row_pointers[row + 1] - first;
    for (std::int64_t i = count / 2; i-- > 0;) sift(first, i, count);
    while (count > 1) {
      swap(first, first + --count);
      sift(first, 0, count);
    }
  }

 private:
  void swap(std::int64_t a, std::int64_t b) const {
    const std::int64_t i = index[a];
    const Real v = value[a];
    index[a] = index[b];
    value[a] = value[b];
    index[b] = i;
    value[b] = v;
  }
  void sift(std::int64_t first, std::int64_t at, std::int64_t count) const {
    while (2 * at + 1 < count) {
      std::int64_t child = 2 * at + 1;
      if (child + 1 < count && index[first + child] < index[first + child + 1]) ++child;
      if (index[first + at] >= index[first + child]) return;
      swap(first + at, first + child);
      at = child;
    }
  }
};

// Searches of a sample: this many leaves of every so many.
constexpr std::int64_t sampled_leaves = 4, sample_step = 128;

}  // namespace

template <class Real>
device_neighbours<Real> nearest_points_on_device(const block_tree<Real>& queries, const block_tree<Real>& tree, int k,
                                                 tree_work& work, const std::int32_t* number) {
  device_neighbours<Real> lists = room_for<Real>(queries.view().count, k, queries.device());
  work.pairs += search(queries, tree, lists, nullptr, number);
  return lists;
}

template <class Real>
device_neighbours<Real> nearest_others_on_device(const block_tree<Real>& tree, const std::vector<std::int32_t>& leaves,
                                                 int k, tree_work& work) {
  std::int64_t rows = 0;
  for (const std::int32_t leaf : leaves) rows += tree.view().points_in_leaf(leaf);
  device_neighbours<Real> lists = room_for<Real>(rows, k, tree.device());
  work.pairs += search(tree, tree, lists, &leaves, nullptr);
  return lists;
}

template <class Real>
device_neighbours<Real> nearest_others_on_device(const block_tree<Real>& tree, int k, tree_work& work,
                                                 const std::int32_t* number, const part_callback& report) {
  device_neighbours<Real> lists = room_for<Real>(tree.view().count, k, tree.device());
  work.pairs += search(tree, tree, lists, nullptr, number, report);
  return lists;
}

template <class Real>
double sampled_share(const block_tree<Real>& queries, const block_tree<Real>& tree, int k) {
  const std::int64_t leaves = queries.leaves();
  const std::int64_t samples = std::min<std::int64_t>(leaves, sampled_leaves + leaves / sample_step);
  std::vector<std::int32_t> sample;
  for (std::int64_t leaf = 0; leaf < leaves; leaf += leaves / samples) sample.push_back(std::int32_t(leaf));
  const double searched = double(sample.size()) * leaf_points;
  device_neighbours<Real> lists = room_for<Real>(std::int64_t(searched), k, queries.device());
  const auto pairs = double(search(queries, tree, lists, &sample, nullptr));
  return pairs / (searched * double(tree.leaves()) * leaf_points);
}

template <class Real>
radius_lists<Real> within_reduced(const block_tree<Real>& queries, const block_tree<Real>& tree, Real limit,
                                  tree_work& work, const std::int32_t* number) {
  const Device& device = tree.device();
  const std::int64_t rows = queries.view().count;
  Buffer<std::int64_t> scanned(1, device), cursor(rows, device);
  device::fill(scanned, std::int64_t(0));
  device::fill(cursor, std::int64_t(0));
  tree_radius_arguments<Real> arguments{.rows = queries.view(),
                                        .tree = tree.view(),
                                        .same_points = &queries == &tree,
                                        .limit = limit,
                                        .number = number,
                                        .cursor = cursor.data(),
                                        .index = nullptr,
                                        .value = nullptr,
                                        .scanned = scanned.data()};
  const auto run = [&] {
    with_tree_kernel(arguments.rows.term, device, [&](auto shape, auto dim) {
      device::launch(tree_radius_kernel<Real, dim, decltype(shape)>{arguments}, queries.leaves(), device);
    });
  };
  run();
  radius_lists<Real> lists;
  lists.row_pointers.assign(rows + 1, 0);
  cursor.copy_to_host(lists.row_pointers.data() + 1, rows);
  std::partial_sum(lists.row_pointers.begin(), lists.row_pointers.end(), lists.row_pointers.begin());
  const Buffer<std::int64_t> row_pointers(lists.row_pointers, device);
  cursor.copy_from_host(lists.row_pointers.data(), rows);
  lists.index = Buffer<std::int64_t>(lists.row_pointers[rows], device);
  lists.value = Buffer<Real>(lists.row_pointers[rows], device);
  arguments.index = lists.index.data();
  arguments.value = lists.value.data();
  if (lists.row_pointers[rows] > 0) run();
  device::for_each(rows, sort_row<Real>{row_pointers.data(), lists.index.data(), lists.value.data()}, device);
  work.pairs += scanned.to_vector()[0] * leaf_points;
  return lists;
}

template <class Real>
void lightest(const tree_lightest_arguments<Real>& a, std::int64_t leaves, const Device& device) {
  with_tree_kernel(a.tree.term, device, [&](auto shape, auto dim) {
    device::launch(tree_lightest_kernel<Real, dim, decltype(shape)>{a}, leaves, device);
  });
}

#define QUINTET_INSTANTIATE(Real)                                                                                      \
  template device_neighbours<Real> nearest_others_on_device(const block_tree<Real>&, int, tree_work&,                  \
                                                            const std::int32_t*, const part_callback&);                \
  template device_neighbours<Real> nearest_others_on_device(const block_tree<Real>&, const std::vector<std::int32_t>&, \
                                                            int, tree_work&);                                          \
  template device_neighbours<Real> nearest_points_on_device(const block_tree<Real>&, const block_tree<Real>&, int,     \
                                                            tree_work&, const std::int32_t*);                          \
  template double sampled_share(const block_tree<Real>&, const block_tree<Real>&, int);                                \
  template radius_lists<Real> within_reduced(const block_tree<Real>&, const block_tree<Real>&, Real, tree_work&,       \
                                             const std::int32_t*);                                                     \
  template void lightest(const tree_lightest_arguments<Real>&, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
