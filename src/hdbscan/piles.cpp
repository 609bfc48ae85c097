#include "hdbscan/piles.hpp"

#include <algorithm>
#include <numeric>

#include "hdbscan/row_order.hpp"
#include "instantiate.hpp"

namespace quintet::hdbscan {

namespace {

// Sets of fewer points take no time worth saving, and a pile of a smaller share not either.
constexpr std::int64_t min_points = 512, max_sample = 1024, min_share = 16;

/// Heap sort stays in bounds whatever the comparisons say: another thread may write to the rows meanwhile.
template <class Storage>
void sort_rows(std::vector<std::int32_t>& rows, const row_order<Storage>& order) {
  std::partial_sort(rows.begin(), rows.end(), rows.end(), order);
}

/// Whether a sample of the rows holds enough copies that piles are worth looking for.
template <class Storage>
bool may_have_piles(const row_order<Storage>& order, const std::vector<std::int32_t>& valid) {
  const auto n = std::int64_t(valid.size());
  if (n < min_points) return false;
  const std::int64_t size = std::min(n, max_sample);
  std::vector<std::int32_t> sample(size);
  for (std::int64_t i = 0; i < size; ++i) sample[i] = valid[i * n / size];
  sort_rows(sample, order);
  std::int64_t copies = 0;
  for (std::int64_t i = 1; i < size; ++i) copies += order.compare(sample[i - 1], sample[i]) == 0;
  return copies * min_share >= size;
}

}  // namespace

template <class Storage>
std::optional<merged_piles<Storage>> merged_piles<Storage>::find(matrix_view<const Storage> points,
                                                                 const std::vector<std::int32_t>& valid, std::int64_t k,
                                                                 bool are_words) {
  const row_order<Storage> order{points, are_words};
  if (!may_have_piles(order, valid)) return std::nullopt;
  std::vector<std::int32_t> sorted = valid;
  sort_rows(sorted, order);
  // Per row: the first of its pile, or itself.
  std::vector<std::int32_t> first(points.rows()), size(points.rows(), 1);
  std::iota(first.begin(), first.end(), std::int32_t(0));
  for (std::size_t from = 0, to = 0; from < sorted.size(); from = to) {
    while (to < sorted.size() && order.compare(sorted[from], sorted[to]) == 0) ++to;
    if (std::int64_t(to - from) <= k) continue;
    for (std::size_t i = from; i < to; ++i) first[sorted[i]] = sorted[from];
    size[sorted[from]] = std::int32_t(to - from);
  }
  merged_piles result;
  result.dim_ = points.cols();
  std::vector<std::int32_t> place(points.rows(), -1);
  for (const std::int32_t row : valid) {
    if (first[row] != row) {
      result.row_.push_back(row);
      result.stands_for_.push_back(place[first[row]]);
      continue;
    }
    place[row] = std::int32_t(result.number_.size());
    result.number_.push_back(row);
    result.copies_.push_back(size[row]);
    result.values_.insert(result.values_.end(), points.row(row), points.row(row) + points.cols());
  }
  if (result.row_.size() * min_share < valid.size()) return std::nullopt;
  return result;
}

template <class Storage>
bool merged_piles<Storage>::expand(spanning_tree_result tree, spanning_tree_result& whole) const {
  for (const edge& e : tree.edges)
    if (e.weight == 0) return false;
  for (edge& e : tree.edges) e = {number_[e.u], number_[e.v], e.weight};
  for (std::size_t i = 0; i < number_.size(); ++i) whole.core_distances[number_[i]] = tree.core_distances[i];
  for (std::size_t i = 0; i < row_.size(); ++i) {
    whole.core_distances[row_[i]] = 0;
    tree.edges.push_back({number_[stands_for_[i]], row_[i], 0});
  }
  std::sort(tree.edges.begin(), tree.edges.end());
  whole.edges = std::move(tree.edges);
  whole.counters = tree.counters;
  whole.spanning_tree_seconds = tree.spanning_tree_seconds;
  return true;
}

#define QUINTET_INSTANTIATE(Storage) template class merged_piles<Storage>;
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
