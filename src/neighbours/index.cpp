#include "quintet/neighbours/index.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "device/parallel.hpp"
#include "device/small_call.hpp"
#include "instantiate.hpp"
#include "neighbours/index_state.hpp"
#include "neighbours/results.hpp"
#include "pairwise/check_points.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::neighbours {

namespace detail {

namespace {

/// The answer of the function that keeps nothing.
template <class Storage, class Real, class Call>
auto answer_at_once(const index_state<Real>& state, const matrix_view<const Storage>& queries, const Call& call) {
  const std::vector<Real> points = state.stored_rows();
  const device::staged_in on_host(queries, Device::host());
  const auto from = pairwise::stored(on_host.view());
  std::vector<Real> rows(from.count * from.dim);
  for (std::int64_t i = 0; i < from.count; ++i)
    for (std::int64_t k = 0; k < from.dim; ++k) rows[i * from.dim + k] = from.at(i, k);
  return call(matrix_view<const Real>(rows.data(), from.count, from.dim),
              matrix_view<const Real>(points.data(), state.count, state.dim), options{state.settings.distance});
}

/// Whether that many queries are searched for one after another on the calling thread.
template <class Storage>
bool are_few(std::int64_t queries) {
  return queries < pairwise::looked_at_rows<Storage>::most;
}

template <class Storage, class Real>
void check_queries(const index_state<Real>& state, const matrix_view<const Storage>& queries) {
  pairwise::check_points(queries);
  if (state.kind == metric::haversine) pairwise::check_sphere_rows("queries", queries.rows(), queries.cols());
  if (state.count > 0 && queries.rows() > 0)
    require_argument(queries.cols() == state.dim, "queries.cols", queries.cols(), text("points.cols=", state.dim));
}

template <class Real>
void check_neighbours(std::int64_t k, std::int64_t points) {
  const std::int64_t max = std::max<std::int64_t>(points, 1);
  require_argument(k >= 1 && k <= max, "k", k, text("in [1, ", max, "]"));
}

/// The answer to query `row` in its row of the result.
template <class Storage, class Real>
void answer_row(const pairwise::looked_at_rows<Storage>& rows, std::int64_t row, nearest_result<Real>& result,
                std::int64_t& pairs) {
  if (rows.valid(row))
    rows.nearest(row, result.k, result.index.data() + row * result.k, result.distance.data() + row * result.k, pairs);
}

/// Calls f(part, first, end) for parts of `count` queries, by all threads if each takes long enough.
template <class Function>
void for_each_part(std::int64_t count, double nanoseconds_each, const Function& f) {
  constexpr std::int64_t at_once = 64;
  const device::small_call serial_if_small(double(count) * nanoseconds_each, 1, Device::host());
  device::for_each_side_by_side((count + at_once - 1) / at_once, [&](std::int64_t part) {
    f(part, part * at_once, std::min(count, (part + 1) * at_once));
  });
}

/// The queries in the order of the leaves where their searches begin: what one has read the next finds in the cache.
template <class Storage, class Real>
std::vector<std::int32_t> order_of_walks(const pairwise::looked_at_rows<Storage>& rows, std::int64_t count,
                                         const index_state<Real>& state) {
  std::vector<std::int32_t> leaf(count), order(count);
  for_each_part(count, 200, [&](std::int64_t, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) leaf[i] = rows.valid(i) ? rows.first_leaf(i) : 0;
  });
  // Sorted by counting (Knuth 1998, 5.2).
  std::vector<std::int32_t> begin(state.parts[0]->points.tree.leaves() + 1);
  for (const std::int32_t of_row : leaf) ++begin[of_row + 1];
  for (std::size_t l = 1; l < begin.size(); ++l) begin[l] += begin[l - 1];
  for (std::int64_t i = 0; i < count; ++i) order[begin[leaf[i]]++] = std::int32_t(i);
  return order;
}

/// The answer to any number of queries, looked at on the host, by all threads.
template <class Storage, class Real>
void answer_side_by_side(const index_state<Real>& state, const pairwise::scanned_points<Storage>& asked,
                         nearest_result<Real>& result) {
  const pairwise::looked_at_rows<Storage> rows(state, asked.rows(), asked.numbers());
  const auto order = order_of_walks(rows, asked.count(), state);
  std::vector<std::int64_t> pairs(asked.count() / 64 + 1);
  for_each_part(asked.count(), 300 + state.pairs_of_walk * double(state.dim) / 8,
                [&](std::int64_t part, std::int64_t first, std::int64_t end) {
                  for (std::int64_t i = first; i < end; ++i) answer_row(rows, order[i], result, pairs[part]);
                });
  for (const std::int64_t of_part : pairs) result.pairs_evaluated += of_part;
}

/// The valid queries, packed as the points are.
template <class Storage, class Real>
pairwise::tree_points<Real> tree_of(const pairwise::scanned_points<Storage>& asked, const index_state<Real>& state) {
  return {asked, pairwise::tree_points<Real>::ordered(asked, asked.valid_rows()), state.layout};
}

/// The k nearest of the lists that find(part) gives.
template <class Real, class Find>
pairwise::device_neighbours<Real> lists_of_all_parts(const index_state<Real>& state, const Find& find) {
  auto lists = find(*state.parts[0]);
  for (std::size_t i = 1; i < state.parts.size(); ++i) lists = joined_lists(lists, find(*state.parts[i]));
  return lists;
}

/// The nearest points of those of a tree, by the trees of the index.
template <class Real>
pairwise::device_neighbours<Real> nearest_of_all_parts(const index_state<Real>& state,
                                                       const pairwise::block_tree<Real>& rows,
                                                       nearest_result<Real>& result) {
  pairwise::tree_work work;
  auto lists = lists_of_all_parts(state, [&](const pairwise::kept_part<Real>& part) {
    return pairwise::nearest_points_on_device(rows, part.points.tree, int(result.k), work, part.number());
  });
  result.pairs_evaluated += work.pairs;
  return lists;
}

/// The answer to any number of queries, by whatever is fastest for so many. `asked` are the queries.
template <class Storage, class Real>
void answer_batch(const index_state<Real>& state, pairwise::scanned_points<Storage>& asked,
                  nearest_result<Real>& result) {
  if (state.batches_use_tree && state.on_host()) return answer_side_by_side(state, asked, result);
  if (state.has_scale()) asked.share_scale(state.coordinates.largest);
  if (state.batches_use_tree) {
    const auto rows = tree_of(asked, state);
    const auto lists = nearest_of_all_parts<Real>(state, rows.tree, result);
    return put_lists(lists, rows.order, state.measure, result);
  }
  const pairwise::panels<Real> rows = asked.pack();
  const auto lists = lists_of_all_parts(state, [&](const pairwise::kept_part<Real>& part) {
    result.pairs_evaluated += result.queries * part.count();
    return pairwise::nearest_points_on_device(rows, part.points.packed, int(result.k), part.number());
  });
  put_lists(lists, {}, state.measure, result);
}

/// Searches for all points within a radius of the rows of `queries`, which are the rows `order` of the result.
template <class Real>
void answer_within(const index_state<Real>& state, const pairwise::block_tree<Real>& queries,
                   const std::vector<std::int32_t>& order, double radius, std::vector<within_lists<Real>>& lists,
                   std::int64_t& pairs) {
  for (const auto& part : state.parts)
    lists.push_back(list_within(queries, part->points.tree, order, part->number(), state.measure, radius, pairs));
}

/// See index_state.
template <class Storage, class Real>
bool keep_bits(const index_state<Real>& state, const pairwise::scanned_points<Storage>& asked,
               const matrix_view<const Storage>& queries) {
  if (!state.has_scale() || asked.largest() <= state.coordinates.largest) return true;
  const device::staged_in on_host(queries, Device::host());
  const auto rows = pairwise::stored(on_host.view());
  pairwise::magnitudes<Real> all;
  for (std::int64_t i = 0; i < rows.count; ++i) all.take_in(pairwise::magnitudes<Real>::of(rows.row(i), rows.dim));
  return state.keeps_bits(all);
}

}  // namespace
}  // namespace detail

std::string_view to_string(search value) {
  return value == search::automatic ? "automatic" : value == search::tree ? "tree" : "all_pairs";
}

template <class Storage>
index<Storage>::index(matrix_view<const Storage> points, const index_options& settings, const Device& device)
    : state_(detail::state_of(
          pairwise::keep(points, {settings.distance, pairwise::search_choice(settings.method)}, device))) {}

template <class Storage>
index<Storage>::index(std::shared_ptr<const detail::index_state<Real>> state) : state_(std::move(state)) {}

template <class Storage>
nearest_result<accumulator_t<Storage>> index<Storage>::nearest(matrix_view<const Storage> queries,
                                                               std::int64_t k) const {
  const detail::index_state<Real>& state = *state_;
  detail::check_queries(state, queries);
  detail::check_neighbours<Real>(k, state.count);
  const auto at_once = [&] {
    return detail::answer_at_once(state, queries, [&](auto rows, auto points, const options& settings) {
      return neighbours::nearest<Real>(rows, points, k, settings, state.device);
    });
  };
  auto result = empty_lists<Real>(queries.rows(), state.count, k, state.device);
  result.invalid_points = state.invalid;
  if (state.on_host() && detail::are_few<Storage>(queries.rows())) {
    const device::staged_in on_host(queries, Device::host());
    const pairwise::looked_at_rows<Storage> rows(state, on_host.view());
    if (!rows.keep_bits()) return at_once();
    for (std::int64_t i = 0; i < queries.rows(); ++i)
      if (!rows.valid(i)) result.invalid_queries.push_back(i);
    for (std::int64_t i = 0; !state.parts.empty() && i < queries.rows(); ++i)
      detail::answer_row(rows, i, result, result.pairs_evaluated);
    return result;
  }
  const stage_region stage("neighbours");
  pairwise::scanned_points<Storage> asked(queries, state.settings.distance, state.device);
  result.invalid_queries = asked.invalid_rows();
  if (state.parts.empty() || asked.valid_count() == 0) return result;
  if (!detail::keep_bits(state, asked, queries)) return at_once();
  detail::answer_batch(state, asked, result);
  return result;
}

template <class Storage>
nearest_result<accumulator_t<Storage>> index<Storage>::nearest_others(std::int64_t k) const {
  const detail::index_state<Real>& state = *state_;
  detail::check_neighbours<Real>(k, state.count - 1);
  const stage_region stage("neighbours");
  auto result = empty_lists<Real>(state.count, state.count, k, state.device);
  result.invalid_points = result.invalid_queries = state.invalid;
  if (state.parts.empty()) return result;
  if (state.batches_use_tree) {
    for (const auto& part : state.parts) {
      const auto lists = detail::nearest_of_all_parts(state, part->points.tree, result);
      put_lists(lists, part->points.order, state.measure, result);
    }
    return result;
  }
  if (state.kind != metric::cosine) {
    const std::vector<Real> rows = state.stored_rows();
    return neighbours::nearest<Real>({rows.data(), state.count, state.dim}, k, {state.settings.distance}, state.device);
  }
  const std::vector<Real> rows = state.packed_rows();
  const auto scanned = pairwise::scanned_as_packed(rows, state);
  result.pairs_evaluated = state.count * (state.count - 1) / 2;
  put_lists(neighbours::nearest_others(scanned, scanned.pack(), int(k)), {}, state.measure, result);
  return result;
}

template <class Storage>
radius_result<accumulator_t<Storage>> index<Storage>::within_radius(matrix_view<const Storage> queries,
                                                                    double radius) const {
  const detail::index_state<Real>& state = *state_;
  detail::check_queries(state, queries);
  check_radius(radius, state.kind);
  const auto at_once = [&] {
    return detail::answer_at_once(state, queries, [&](auto rows, auto points, const options& settings) {
      return neighbours::within_radius<Real>(rows, points, radius, settings, state.device);
    });
  };
  auto result = empty_rows<Real>(queries.rows(), state.count, state.device);
  result.invalid_points = state.invalid;
  if (state.on_host() && detail::are_few<Storage>(queries.rows())) {
    const device::staged_in on_host(queries, Device::host());
    const pairwise::looked_at_rows<Storage> rows(state, on_host.view());
    if (!rows.keep_bits()) return at_once();
    const Real limit = limit_within(state.measure, radius);
    typename pairwise::radius_sink<Real>::entries row;
    for (std::int64_t i = 0; i < queries.rows(); ++i) {
      row.clear();
      if (!rows.valid(i))
        result.invalid_queries.push_back(i);
      else if (!state.parts.empty())
        rows.within(i, limit, row, result.pairs_evaluated);
      std::sort(row.begin(), row.end());
      for (const auto& [number, distance] : row) {
        result.index.push_back(number);
        result.distance.push_back(distance);
      }
      result.row_pointers[i + 1] = std::int64_t(result.index.size());
    }
    return result;
  }
  const stage_region stage("neighbours");
  pairwise::scanned_points<Storage> asked(queries, state.settings.distance, state.device);
  result.invalid_queries = asked.invalid_rows();
  if (state.parts.empty() || asked.valid_count() == 0) return result;
  if (!detail::keep_bits(state, asked, queries)) return at_once();
  if (state.has_scale()) asked.share_scale(state.coordinates.largest);
  const auto rows = detail::tree_of(asked, state);
  std::vector<within_lists<Real>> lists;
  detail::answer_within(state, rows.tree, rows.order, radius, lists, result.pairs_evaluated);
  put_within(lists, result);
  return result;
}

template <class Storage>
radius_result<accumulator_t<Storage>> index<Storage>::others_within_radius(double radius) const {
  const detail::index_state<Real>& state = *state_;
  check_radius(radius, state.kind);
  const stage_region stage("neighbours");
  auto result = empty_rows<Real>(state.count, state.count, state.device);
  result.invalid_points = result.invalid_queries = state.invalid;
  if (state.parts.empty()) return result;
  std::vector<within_lists<Real>> lists;
  for (const auto& part : state.parts)
    detail::answer_within(state, part->points.tree, part->points.order, radius, lists, result.pairs_evaluated);
  put_within(lists, result);
  return result;
}

template <class Storage>
std::int64_t index<Storage>::nearest_into(const Storage* query, std::int64_t k, std::int64_t* index,
                                          Real* distance) const {
  const detail::index_state<Real>& state = *state_;
  detail::check_neighbours<Real>(k, state.count);
  std::fill_n(index, k, -1);
  std::fill_n(distance, k, std::numeric_limits<Real>::quiet_NaN());
  if (state.parts.empty()) return 0;
  const matrix_view<const Storage> row(query, 1, state.dim);
  if (state.on_host()) {
    const pairwise::looked_at_rows<Storage> rows(state, row);
    if (!rows.valid(0)) return 0;
    std::int64_t pairs = 0;
    if (rows.keep_bits()) return rows.nearest(0, k, index, distance, pairs);
  }
  const auto lists = nearest(row, k);
  std::copy(lists.index.begin(), lists.index.end(), index);
  std::copy(lists.distance.begin(), lists.distance.end(), distance);
  return std::count_if(lists.index.begin(), lists.index.end(), [](std::int64_t i) { return i >= 0; });
}

template <class Storage>
void index<Storage>::append(matrix_view<const Storage> points) {
  const detail::index_state<Real>& old = *state_;
  pairwise::check_points(points);
  if (points.rows() == 0) return;
  if (old.count == 0) {
    state_ = detail::state_of(pairwise::keep(points, old.settings, old.device));
    return;
  }
  require_argument(points.cols() == old.dim, "points.cols", points.cols(), text("the index's dim=", old.dim));
  pairwise::check_points(points);
  pairwise::check_points(old.count + points.rows(), old.dim);
  state_ = detail::state_of(pairwise::appended<Storage>(old, points));
}

template <class Storage>
std::int64_t index<Storage>::size() const {
  return state_->count;
}

template <class Storage>
std::int64_t index<Storage>::dim() const {
  return state_->dim;
}

template <class Storage>
point_metric index<Storage>::distance() const {
  return state_->settings.distance;
}

template <class Storage>
std::vector<std::int64_t> index<Storage>::invalid_points() const {
  return state_->invalid;
}

template <class Storage>
std::int64_t index<Storage>::bytes() const {
  const detail::index_state<Real>& state = *state_;
  std::int64_t bytes = sizeof state + std::int64_t(state.invalid.size() * sizeof(std::int64_t));
  if (state.rows) bytes += std::int64_t(state.rows->size() * sizeof(Real));
  for (const auto& part : state.parts) bytes += part->bytes();
  return bytes;
}

template <class Storage>
search index<Storage>::used(std::int64_t queries) const {
  const detail::index_state<Real>& state = *state_;
  const bool walks = state.on_host() && detail::are_few<Storage>(queries) && !state.looks_at_all();
  return walks || state.batches_use_tree ? search::tree : search::all_pairs;
}

template <class Storage>
const Device& index<Storage>::device() const {
  return state_->device;
}

#define QUINTET_INSTANTIATE(Storage) template class index<Storage>;
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::neighbours
