// The filter of filtered_lists.hpp where points pass by: pairs of the own points and of some visitors are met as bounds
// first, in lists of their own, and what those hold is measured while both sides are there. A row of which bounds leave
// the nearest open is compared with the other side once more, without them. Host only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pairwise/filtered_lists.hpp"
#include "pairwise/nearest_kernel.hpp"

namespace quintet::pairwise {

/// What lists of a ring are asked for: the first `exact` entries, by bounds of `length` points. 0: no filter.
struct ring_request {
  int exact = 0, length = 0;
  bool values_only = false;   ///< which of equally distant points is no matter
  std::int64_t visitors = 0;  ///< that come at a time, at most
};

class ring_filter {
 public:
  /// Points whose lists are filled: `count` of the panels from `first` on, a whole number of blocks before.
  struct side {
    const panels<float>* points = nullptr;
    std::int64_t first = 0, count = 0;
    const std::int32_t* number = nullptr;  ///< of every point from `first` on, as in lists
    nearest_lists<float> list = {};        ///< of these
    const float* exact_kth = nullptr;      ///< of these: what their entry `exact` is not above
    float* min_excluded = nullptr;         ///< of these: what no point that was left out is below
  };

  /// `own` must outlive this.
  ring_filter(const panels<float>& own, const ring_request& request);
  /// False since bounds left too much open.
  bool is_used() const { return is_used_; }

  /// Own points meet each other (`cols` null) or others: lists of bounds begin, no longer than the lists of the points.
  void begin(const side& rows, const side* cols);
  /// Arguments of tiles of all rows and of the columns from `first_col` on, `col_count` of them; without minima.
  nearest_arguments<float> bounds(std::int64_t first_col, std::int64_t col_count);
  /// The lists take in what they met. False: nothing was taken, and the pairs have to be met without bounds.
  bool end();

 private:
  struct bound_lists {
    Buffer<float> value;
    Buffer<std::int32_t> index, locks;
  };
  struct settled {
    std::vector<float> value, min_excluded_of_rows;  ///< [row][length] what was measured, sorted; what bounds left out
    std::vector<std::int32_t> index, open;
  };
  bool is_same() const { return cols_.points == nullptr; }
  const side& others(const side& of) const { return is_same() || &of == &cols_ ? rows_ : cols_; }
  bound_lists begin_lists(const side& of) const;
  settled settle(const side& of, const bound_lists& bounds) const;
  void take(const side& of, const settled& settled_rows) const;
  void search(const side& of, const std::vector<std::int32_t>& open) const;
  void unpack(const panels<float>& points, std::int64_t at);
  std::int64_t stored_at(const side& of) const { return (is_same() || &of == &rows_ ? 0 : own_.count) + of.first; }

  const panels<float>& own_;
  ring_request request_;
  bool is_used_ = true;
  std::optional<rounded_points> rounded_, visiting_;
  Buffer<float> stored_;                ///< coordinates of own points, then of visitors, one point after another
  std::vector<std::int32_t> position_;  ///< 0, 1, ...: lists of bounds hold places among the other side
  side rows_, cols_;
  bound_lists row_bounds_, col_bounds_;
};

}  // namespace quintet::pairwise
