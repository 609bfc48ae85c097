// Reduced distances of listed pairs, the same bits as the tiles have: coordinates are scaled as they are when packed,
// and the sum runs over them in the same order.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/pack.hpp"
#include "pairwise/coordinate_term.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// The terms of the coordinates in ascending order: the reduced distances of scikit-learn.
template <class Storage, int Dim, class Shape>
struct pairs_kernel {
  using shape = Shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, pairs_per_tile = 64, together = 8 };
  stored_rows<Storage> points;
  const Real* number;  ///< of every point, see scan_kernel
  metric kind;
  Real scale;
  const Real* ball_factor;    ///< of every point, multiplied first as in point_factors.hpp; null: none
  const std::int64_t* pairs;  ///< [count][pair_stride]: the first two of a row
  std::int64_t pair_stride, count;
  Real* out;
  coordinate_term<Real> term;

  /// `together` pairs at a time: their sums are independent chains, one alone would wait for itself.
  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int g = team.rank(); g < pairs_per_tile / together; g += team.size()) {
      const std::int64_t first = tile * pairs_per_tile + g * together;
      if (first >= count) continue;
      const Storage *x[together], *y[together];
      Real x_factor[together], y_factor[together], sum[together];
#pragma GCC unroll 8
      for (int p = 0; p < together; ++p) {
        const std::int64_t pair = first + p < count ? first + p : count - 1;
        const std::int64_t i = pairs[pair * pair_stride], j = pairs[pair * pair_stride + 1];
        x[p] = points.row(i);
        y[p] = points.row(j);
        x_factor[p] = kind == metric::cosine ? number[i] : scale;
        y_factor[p] = kind == metric::cosine ? number[j] : scale;
        sum[p] = number[i] >= 0 && number[j] >= 0 ? Real(0) : std::numeric_limits<Real>::quiet_NaN();
      }
      detail::with_term<Dim>(term, [&](const auto& of_coordinate) QUINTET_INLINE {
        using term_of_pair = std::remove_cvref_t<decltype(of_coordinate)>;
        if constexpr (detail::takes_words<term_of_pair>) {
#pragma GCC unroll 8
          for (int p = 0; p < together; ++p) {
            const std::int64_t pair = first + p < count ? first + p : count - 1;
            Real of_x[term_of_pair::numbers], of_y[term_of_pair::numbers];
            of_coordinate.write_numbers(number[pairs[pair * pair_stride]], of_x);
            of_coordinate.write_numbers(number[pairs[pair * pair_stride + 1]], of_y);
            sum[p] += of_coordinate.reduced_of(detail::count_words<1>(of_coordinate, x[p], 1, y[p], points.dim), of_y,
                                               of_x, 1);
          }
        } else if constexpr (detail::takes_factors<term_of_pair>) {
#pragma GCC unroll 8
          for (int p = 0; p < together; ++p)
            of_coordinate.template add_factors<1>(sum + p, y[p], 1, x[p], 1, points.dim);
        } else if constexpr (!detail::takes_points<term_of_pair>) {
          constexpr int parts = detail::parts_of<term_of_pair>;
          for (std::int64_t k = 0; k < points.dim; k += parts)
#pragma GCC unroll 8
            for (int p = 0; p < together; ++p) {
              const auto difference = [&](std::int64_t part) QUINTET_INLINE {
                const Real a = Real(x[p][part]) * x_factor[p];
                const Real b = Real(y[p][part]) * y_factor[p];
                return Real(a - b);
              };
              if constexpr (parts == 2)
                of_coordinate.add(sum[p], Real(difference(k) + difference(k + 1)));
              else
                of_coordinate.add(sum[p], difference(k));
            }
#pragma GCC unroll 8
          for (int p = 0; p < together; ++p) sum[p] = of_coordinate.reduced(sum[p]);
        } else if constexpr (std::is_same_v<Storage, Real>) {
          // Such points are rows of what panels hold.
          for (int p = 0; p < together; ++p) sum[p] += of_coordinate.between(y[p], x[p], 1);
        }
      });
#pragma GCC unroll 8
      for (int p = 0; p < together; ++p)
        if (first + p < count) out[first + p] = ball_factor == nullptr ? sum[p] : sum[p] * both_factors(first + p);
    }
  }

 private:
  Real both_factors(std::int64_t pair) const {
    return ball_factor[pairs[pair * pair_stride]] * ball_factor[pairs[pair * pair_stride + 1]];
  }
};

}  // namespace quintet::pairwise
