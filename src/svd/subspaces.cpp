// What a tolerance drops of a decomposition, and bases of ranges and null spaces.
#include <algorithm>
#include <limits>

#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "quintet/svd/applications.hpp"

namespace quintet::svd {

namespace {

/// The first `count` of the columns of every matrix [batch x rows x cols].
template <class T>
void keep_columns(std::vector<T>& values, std::int64_t rows, std::int64_t& cols, std::int64_t count) {
  if (cols <= count) return;
  std::int64_t to = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t j = 0; j < count; ++j) values[to++] = values[row * cols + j];
  values.resize(to);
  cols = count;
}

/// Columns [first(b), last(b)) of matrix b of `from`.
template <class T, class First, class Last>
subspace_bases<T> take_columns(const decomposition<T>& d, batch_view<const T> from, First first, Last last) {
  subspace_bases<T> result{d.batch, from.rows(), 0, {}, std::vector<std::int64_t>(d.batch)};
  for (std::int64_t b = 0; b < d.batch; ++b) {
    if (d.status[b] != not_finite) result.dimension[b] = last(b) - first(b);
    result.cols = std::max(result.cols, result.dimension[b]);
  }
  result.vectors.assign(d.batch * result.rows * result.cols, T(0.0f));
  for (std::int64_t b = 0; b < d.batch; ++b)
    for (std::int64_t i = 0; i < result.rows; ++i) {
      T* const row = &result.vectors[(b * result.rows + i) * result.cols];
      if (d.status[b] == not_finite) std::fill_n(row, result.cols, T(std::numeric_limits<float>::quiet_NaN()));
      for (std::int64_t j = 0; j < result.dimension[b]; ++j) row[j] = from(b, i, first(b) + j);
    }
  return result;
}

}  // namespace

template <class T>
std::vector<std::int64_t> truncate(decomposition<T>& d, rank_tolerance tolerance) {
  const std::vector<std::int64_t> ranks = numerical_rank(d, tolerance);
  if (d.batch == 0) return ranks;
  for (std::int64_t b = 0; b < d.batch; ++b)
    if (d.status[b] != not_finite)
      std::fill(d.s.begin() + b * d.values + ranks[b], d.s.begin() + (b + 1) * d.values, accumulator_t<T>(0));
  const std::int64_t largest_rank = *std::max_element(ranks.begin(), ranks.end());
  keep_columns(d.s, d.batch, d.values, largest_rank);
  keep_columns(d.u, d.batch * d.rows, d.u_cols, largest_rank);
  keep_columns(d.v, d.batch * d.cols, d.v_cols, largest_rank);
  return ranks;
}

template <class T>
subspace_bases<T> range_basis(const decomposition<T>& d, rank_tolerance tolerance) {
  require_all_values(d);
  if (d.u_cols < d.values) throw InvalidArgument("the decomposition must have its vectors");
  const std::vector<std::int64_t> ranks = numerical_rank(d, tolerance);
  return take_columns<T>(
      d, d.u_view(), [](std::int64_t) { return std::int64_t(0); }, [&](std::int64_t b) { return ranks[b]; });
}

template <class T>
subspace_bases<T> null_space_basis(const decomposition<T>& d, rank_tolerance tolerance) {
  require_all_values(d);
  if (d.v_cols < d.cols)
    throw InvalidArgument(text("the decomposition must have all ", d.cols,
                               " columns of V, by vectors::full if m < n (v_cols=", d.v_cols, ")"));
  const std::vector<std::int64_t> ranks = numerical_rank(d, tolerance);
  return take_columns<T>(d, d.v_view(), [&](std::int64_t b) { return ranks[b]; }, [&](std::int64_t) { return d.cols; });
}

#define QUINTET_INSTANTIATE(T)                                                        \
  template std::vector<std::int64_t> truncate<T>(decomposition<T>&, rank_tolerance);  \
  template subspace_bases<T> range_basis<T>(const decomposition<T>&, rank_tolerance); \
  template subspace_bases<T> null_space_basis<T>(const decomposition<T>&, rank_tolerance);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::svd
