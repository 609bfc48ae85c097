// What the kernels of a product see: raw pointers and numbers.
#pragma once

#include <cstdint>

#include "device/inline.hpp"
#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/detail/structured_rows.hpp"
#include "quintet/spgemm/options.hpp"
#include "quintet/spgemm/semiring.hpp"

namespace quintet::spgemm {

using detail::product_of;

/// A and B, where the kernel runs. B's rows have strictly ascending columns. They may overlap: row j of B is
/// [b.row_pointers[j], b_ends[j]).
template <class Value, class Index>
struct problem {
  csr_view<Value, Index> a, b;
  const std::int64_t* b_ends = nullptr;
  const std::int64_t* b_last = nullptr;  ///< number of entries of B's arrays

  problem() = default;
  problem(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b)
      : a(a), b(b), b_ends(b.row_pointers + 1), b_last(b.row_pointers + b.rows) {}
};

/// Rows [first_row, last_row), or of a single row the columns [first_col, last_col): one item of work with consecutive
/// entries in the result. Chunks in order are the result in order.
struct chunk {
  std::int64_t first_row, last_row;
  std::int64_t first_col, last_col;
  std::int64_t bound;                      ///< entries at most
  std::int64_t products;                   ///< of its rows; for a range of columns a share
  bool cut;                                ///< a range of the columns of one row
  bool ends_row;                           ///< whole rows, or the last range of one
  strategy accumulator = strategy::empty;  ///< the accumulator; empty: every row chooses its own
  std::int32_t slots = 0;                  ///< of the hash table
  bool may_group = false;                  ///< some of its rows might be summed up together
  bool ranked = false;                     ///< all its rows are short enough for ranks, and choose them
};

/// Instead of the entries of a chunk: the arena has no room for them, or the accumulator none for the row.
enum : std::int64_t { no_room = -1, accumulator_full = -2 };

/// Position of the first of the ascending columns[begin, end) that is >= col; end if there is none.
template <class Index>
inline std::int64_t lower_bound(const Index* columns, std::int64_t begin, std::int64_t end, std::int64_t col) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (std::int64_t(columns[middle]) < col)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// The entries of a complement mask, which are not wanted; its rows ascend strictly. Without row pointers all are.
template <class Index>
struct mask_filter {
  const std::int64_t* row_pointers = nullptr;
  const Index* columns = nullptr;

  bool active() const { return row_pointers != nullptr; }
  bool keeps(std::int64_t row, Index column) const {
    if (!active()) return true;
    const std::int64_t end = row_pointers[row + 1];
    const std::int64_t place = lower_bound(columns, row_pointers[row], end, column);
    return place == end || columns[place] != column;
  }
};

/// keeps() for columns of one row that come in ascending order: one step forward each, no search.
template <class Index>
class mask_cursor {
 public:
  mask_cursor(const mask_filter<Index>& filter, std::int64_t row, Index from)
      : columns_(filter.columns),
        end_(filter.row_pointers[row + 1]),
        next_(lower_bound(filter.columns, filter.row_pointers[row], end_, from)) {}
  bool keeps(Index column) {
    while (next_ < end_ && columns_[next_] < column) ++next_;
    return next_ == end_ || columns_[next_] != column;
  }

 private:
  const Index* columns_;
  std::int64_t end_, next_;
};

/// What an accumulator is given: operands, the mask, and the arithmetic.
template <class Semiring, class Value, class Index>
struct row_product {
  using value_type = Value;
  using index_type = Index;
  problem<Value, Index> p;
  mask_filter<Index> filter;

  static constexpr Value identity() { return Semiring::template identity<Value>(); }
  static Value add(Value sum, Value product) { return Semiring::template add<Value>(sum, product); }
  static Value multiply(Value a, Value b) { return product_of<Semiring>(a, b); }
  /// add() in every lane: written so that compilers do not take packs to pieces.
  template <class Pack>
  static Pack add_lanes(const Pack& x, const Pack& y) {
    if constexpr (std::is_same_v<Semiring, plus_times> || std::is_same_v<Semiring, min_plus>) {
      return Semiring::template add<Pack>(x, y);
    } else {
      Pack result{};
      for (unsigned e = 0; e < sizeof(Pack) / sizeof(Value); ++e) result[e] = add(Value(x[e]), Value(y[e]));
      return result;
    }
  }
  /// A sum of one product.
  static Value first_sum(Value product) { return add(identity(), product); }

  /// f(entry of A, first, last entry of B) for the rows of B that row i of A uses, or their columns within a range.
  template <class Function>
  QUINTET_INLINE void each_row_of_b(const chunk& c, std::int64_t i, const Function& f) const {
    // By value, so that they are in registers: what f stores might be them otherwise.
    const csr_view<Value, Index> a = p.a, b = p.b;
    const std::int64_t* const b_ends = p.b_ends;
    const std::int64_t first_col = c.first_col, last_col = c.last_col;
    const bool cut = c.cut;
    for (std::int64_t k = a.row_pointers[i], last = a.row_pointers[i + 1]; k < last; ++k) {
      const std::int64_t j = a.columns[k];
      std::int64_t begin = b.row_pointers[j], end = b_ends[j];
      if (cut) {
        begin = lower_bound(b.columns, begin, end, first_col);
        end = lower_bound(b.columns, begin, end, last_col);
      }
      f(k, begin, end);
    }
  }
};

/// Threads of a team share out [0, count) in consecutive ranges.
struct team_share {
  std::int64_t begin, end;
  template <class Team>
  team_share(const Team& team, std::int64_t count) {
    const std::int64_t each = (count + team.size() - 1) / team.size();
    begin = team.rank() * each < count ? team.rank() * each : count;
    end = begin + each < count ? begin + each : count;
  }
};

}  // namespace quintet::spgemm
