#include "spgemm/halves.hpp"

#include "spgemm/range_loop.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

constexpr std::int64_t halves_grain = 256;  // rows of a tile

/// Where the rows of B begin and end that the entries of A's rows use. `original` may be null.
template <class Value, class Index>
struct begin_at_diagonal {
  problem<Value, Index> p;
  const Index* original;
  std::int64_t first;  ///< of A's row pointers
  Index* numbers;
  std::int64_t *begins, *ends;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t col = original == nullptr ? i : lower_bound(original, 0, p.b.cols, i);
      for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
        const std::int64_t j = p.a.columns[k];
        numbers[k - first] = Index(k - first);
        begins[k - first] = lower_bound(p.b.columns, p.b.row_pointers[j], p.b.row_pointers[j + 1], col);
        ends[k - first] = p.b.row_pointers[j + 1];
      }
    }
  }
};

}  // namespace

template <class Value, class Index>
half_operands<Value, Index> halve_operands(const problem<Value, Index>& p, const array<Index>& original,
                                           const Device& device, memory_source& memory) {
  const auto [first, last] = entry_range(p.a);
  const std::int64_t entries = last - first;
  half_operands<Value, Index> half{p, {entries, device, memory}, {entries, device, memory}, {entries, device, memory}};
  range_loop(p.a.rows, halves_grain,
             begin_at_diagonal<Value, Index>{p, original.empty() ? nullptr : original.data(), first,
                                             half.numbers.data(), half.begin.data(), half.end.data()},
             device);
  half.p.a.cols = entries;
  half.p.a.columns = half.numbers.data() - first;
  half.p.b.rows = entries;
  half.p.b.row_pointers = half.begin.data();
  half.p.b_ends = half.end.data();
  return half;
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                \
  template half_operands<Value, Index> halve_operands(const problem<Value, Index>&, const array<Index>&, \
                                                      const Device&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
