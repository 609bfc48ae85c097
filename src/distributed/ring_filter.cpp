#include "distributed/ring_filter.hpp"

#include <algorithm>
#include <limits>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
// In the place of a point where a list holds its limit: a point at the same distance comes first.
constexpr std::int32_t no_point = std::numeric_limits<std::int32_t>::max();

bool is_point(std::int32_t index) { return index >= 0 && index != no_point; }

rounded_view from(const rounded_view& view, std::int64_t point, std::int64_t pairs) {
  return {view.words + point * pairs, view.scale + point, view.square + point, view.error + point};
}

/// Points of a piece of work of a thread.
struct few_points {
  enum { on_device = 0, per_tile = 64 };
};

template <class Function>
void for_each_point(std::int64_t count, const Function& f, const Device& device) {
  device::launch(device::detail::each_kernel<Function, few_points>{f, count},
                 (count + few_points::per_tile - 1) / few_points::per_tile, device);
}

/// Coordinates of a packed point, one after another.
struct unpack_point {
  const float* panels;
  std::int64_t dim;
  float* to;
  void operator()(std::int64_t i) const {
    const float* x = detail::coordinates(panels, dim, i);
    for (std::int64_t k = 0; k < dim; ++k) to[i * dim + k] = x[k * panel_points<float>];
  }
};

/// Chosen points packed once more.
panels<float> packed(const float* stored, const std::vector<std::int32_t>& points, const panels<float>& like) {
  const Device& device = like.device();
  const auto count = std::int64_t(points.size()), side = like.block_side;
  const std::int64_t padded = (count + side - 1) / side * side;
  std::vector<float> data(padded * like.dim, std::numeric_limits<float>::quiet_NaN());
  constexpr int lanes = panel_points<float>;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < like.dim; ++k)
      data[(i / lanes * like.dim + k) * lanes + i % lanes] = stored[points[i] * like.dim + k];
  panels<float> chosen;
  chosen.data = Buffer<float>(data, device);
  chosen.count = count;
  chosen.dim = like.dim;
  chosen.block_side = side;
  chosen.term = like.term;
  return chosen;
}

/// Sorts what was measured (Knuth 1998, 5.2.1), and asks whether the nearest are among it.
struct finish_row {
  nearest_lists<float> bounds;
  const float* measured;  ///< [row][bounds.k]
  const std::int32_t* number;
  nearest_lists<float> sorted;
  const float* exact_kth;
  float* min_excluded_of_rows;
  std::int32_t* open;
  ring_request request;

  void operator()(std::int64_t row) const {
    sorted.clear(row);
    for (std::int64_t e = row * bounds.k; e < (row + 1) * bounds.k; ++e) {
      if (!is_point(bounds.index[e])) continue;
      const std::int32_t index = number[bounds.index[e]];
      if (sorted.accepts(row, measured[e], index)) sorted.insert(row, measured[e], index);
    }
    // What is not in a full list has a bound of at least its last one, what a limit kept out is of no use.
    const std::int64_t last = row * bounds.k + bounds.k - 1;
    const bool is_full = is_point(bounds.index[last]);
    min_excluded_of_rows[row] = is_full ? bounds.value[last] : infinity;
    const float threshold = sorted.value[row * sorted.k + request.exact - 1];
    const float kth = threshold < exact_kth[row] ? threshold : exact_kth[row];
    open[row] =
        is_full && !(kth < min_excluded_of_rows[row] || (request.values_only && kth == min_excluded_of_rows[row]));
  }
};

/// Puts sorted points into a list, but for the one that the list is of.
void put_list(const nearest_lists<float>& list, std::int64_t row, const float* value, const std::int32_t* index,
              int count, std::int32_t self) {
  for (int e = 0; e < count && index[e] >= 0; ++e) {
    if (index[e] == self) continue;
    if (!list.accepts(row, value[e], index[e])) break;
    list.insert(row, value[e], index[e]);
  }
}

struct adopt_row {
  nearest_lists<float> list;
  const float* value;
  const std::int32_t *index, *open;
  const float* min_excluded_of_rows;
  float* min_excluded;
  int length;

  void operator()(std::int64_t row) const {
    if (open[row]) return;
    put_list(list, row, value + row * length, index + row * length, length, -1);
    min_excluded[row] = std::min(min_excluded[row], min_excluded_of_rows[row]);
  }
};

struct adopt_searched_row {
  nearest_lists<float> list;
  const std::int32_t *row_of, *number;
  nearest_lists<float> lists;
  void operator()(std::int64_t i) const {
    put_list(list, row_of[i], lists.value + i * lists.k, lists.index + i * lists.k, lists.k, number[row_of[i]]);
  }
};

}  // namespace

ring_filter::ring_filter(const panels<float>& own, const ring_request& request)
    : own_(own), request_(request), stored_((own.count + request.visitors) * own.dim, own.device()) {
  rounded_.emplace(own);
  unpack(own, 0);
  const std::vector<std::int32_t> sample = sample_for_bounds(own.count);
  if (sample.empty()) return;
  is_used_ = bounds_suffice(packed(stored_.data(), sample, own), sample, own, *rounded_, request.length, request.exact);
}

void ring_filter::unpack(const panels<float>& points, std::int64_t at) {
  for_each_point(points.count, unpack_point{points.data.data(), points.dim, stored_.data() + at * points.dim},
                 points.device());
}

ring_filter::bound_lists ring_filter::begin_lists(const side& of) const {
  const Device& device = own_.device();
  const int k = request_.length;
  const std::int64_t blocks = (of.count + own_.block_side - 1) / own_.block_side;
  bound_lists bounds{Buffer<float>(of.count * k, device), Buffer<std::int32_t>(of.count * k, device),
                     Buffer<std::int32_t>(blocks, device)};
  for (std::int64_t row = 0; row < of.count; ++row) {
    const float limit = of.list.value[row * of.list.k + of.list.k - 1];
    std::fill_n(bounds.value.data() + row * k, k, limit);
    std::fill_n(bounds.index.data() + row * k, k, limit < infinity ? no_point : -1);
  }
  std::fill_n(bounds.locks.data(), blocks, 0);
  return bounds;
}

void ring_filter::begin(const side& rows, const side* cols) {
  rows_ = rows;
  cols_ = cols != nullptr ? *cols : side();
  row_bounds_ = begin_lists(rows_);
  visiting_.reset();
  if (is_same()) return;
  col_bounds_ = begin_lists(cols_);
  visiting_.emplace(*cols_.points, *rounded_);
  while (std::int64_t(position_.size()) < cols_.count) position_.push_back(std::int32_t(position_.size()));
  unpack(*cols_.points, own_.count);
}

nearest_arguments<float> ring_filter::bounds(std::int64_t first_col, std::int64_t col_count) {
  const rounded_points& of_cols = visiting_ ? *visiting_ : *rounded_;
  dot_bounds bounds = rounded_points::between(*rounded_, of_cols);
  const std::int64_t pairs = rounded_->pairs();
  bounds.row = from(bounds.row, rows_.first, pairs);
  bounds.col = from(bounds.col, (is_same() ? rows_.first : cols_.first) + first_col, pairs);
  const int k = request_.length;
  nearest_arguments<float> a{.rows = nullptr,
                             .cols = nullptr,
                             .dim = pairs,
                             .row_count = rows_.count,
                             .col_count = col_count,
                             .same_points = is_same(),
                             .list = {row_bounds_.value.data(), row_bounds_.index.data(), k},
                             .splits = 1,
                             .locks = row_bounds_.locks.data(),
                             .minima = {},
                             .bounds = bounds};
  if (is_same()) return a;
  a.col_number = position_.data() + first_col;
  a.col_list = {col_bounds_.value.data() + first_col * k, col_bounds_.index.data() + first_col * k, k};
  a.col_locks = col_bounds_.locks.data() + first_col / own_.block_side;
  return a;
}

ring_filter::settled ring_filter::settle(const side& of, const bound_lists& bounds) const {
  const side& other = others(of);
  const int k = request_.length;
  // The points of the lists, then those in them.
  std::vector<std::int32_t> order(of.count + other.count);
  for (std::int64_t i = 0; i < of.count; ++i) order[i] = std::int32_t(stored_at(of) + i);
  for (std::int64_t i = 0; i < other.count; ++i) order[of.count + i] = std::int32_t(stored_at(other) + i);
  Buffer<std::int32_t> listed(of.count * k, own_.device());
  for (std::int64_t e = 0; e < of.count * k; ++e) {
    const std::int32_t index = bounds.index.data()[e];
    listed.data()[e] = is_point(index) ? index + std::int32_t(of.count) : -1;
  }
  const std::int64_t points = stored_.size() / own_.dim;
  const Buffer<float> measured =
      listed_distances<float>({stored_.data(), points, own_.dim, own_.dim}, order, listed, k);
  settled settled_rows{std::vector<float>(of.count * k), std::vector<float>(of.count),
                       std::vector<std::int32_t>(of.count * k), std::vector<std::int32_t>(of.count)};
  // Lists are not written: they are read as bounds.
  const nearest_lists<float> of_bounds{const_cast<float*>(bounds.value.data()),
                                       const_cast<std::int32_t*>(bounds.index.data()), k};
  for_each_point(of.count,
                 finish_row{of_bounds,
                            measured.data(),
                            other.number,
                            {settled_rows.value.data(), settled_rows.index.data(), k},
                            of.exact_kth,
                            settled_rows.min_excluded_of_rows.data(),
                            settled_rows.open.data(),
                            request_},
                 own_.device());
  return settled_rows;
}

void ring_filter::take(const side& of, const settled& settled_rows) const {
  for_each_point(of.count,
                 adopt_row{of.list, settled_rows.value.data(), settled_rows.index.data(), settled_rows.open.data(),
                           settled_rows.min_excluded_of_rows.data(), of.min_excluded, request_.length},
                 own_.device());
  std::vector<std::int32_t> open;
  for (std::int64_t i = 0; i < of.count; ++i)
    if (settled_rows.open[i]) open.push_back(std::int32_t(i));
  if (!open.empty()) search(of, open);
}

/// Rows that bounds left open, against the whole other side.
void ring_filter::search(const side& of, const std::vector<std::int32_t>& open) const {
  const side& other = others(of);
  const Device& device = own_.device();
  const panels<float> queries = packed(stored_.data() + stored_at(of) * own_.dim, open, own_);
  const int k = of.list.k + 1;  // the point itself may be among them
  Buffer<float> value(queries.count * k, device);
  Buffer<std::int32_t> index(queries.count * k, device);
  const nearest_lists<float> lists{value.data(), index.data(), k};
  nearest<float>({.rows = queries.data.data(),
                  .cols = other.points->data.data() + other.first * own_.dim,
                  .dim = own_.dim,
                  .row_count = queries.count,
                  .col_count = other.count,
                  .same_points = false,
                  .list = lists,
                  .splits = 1,
                  .locks = nullptr,
                  .minima = {},
                  .term = own_.term,
                  .col_number = other.number},
                 device);
  for_each_point(queries.count, adopt_searched_row{of.list, open.data(), of.number, lists}, device);
}

bool ring_filter::end() {
  const settled of_rows = settle(rows_, row_bounds_);
  const settled of_cols = is_same() ? settled() : settle(cols_, col_bounds_);
  const auto open =
      std::count(of_rows.open.begin(), of_rows.open.end(), 1) + std::count(of_cols.open.begin(), of_cols.open.end(), 1);
  if (double(open) > max_open_share * double(of_rows.open.size() + of_cols.open.size())) {
    is_used_ = false;
    return false;
  }
  take(rows_, of_rows);
  if (!is_same()) take(cols_, of_cols);
  row_bounds_ = bound_lists();
  col_bounds_ = bound_lists();
  visiting_.reset();
  return true;
}

}  // namespace quintet::pairwise
