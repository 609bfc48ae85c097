// Products of which the first entries of each row are kept; instantiated by the generated sources.
#pragma once

#include "quintet/spgemm/top.hpp"
#include "spgemm/multiply_impl.hpp"
#include "spgemm/top_rows.hpp"

namespace quintet::spgemm::detail {

/// The steps of multiply_top() behind the analysis.
template <class Semiring, class Value, class Index>
class top_steps {
 public:
  top_steps(product_pipeline<Semiring, Value, Index>& prepared, const top_rule<Value>& rule)
      : prepared_(prepared), rule_(rule) {}

  csr<Value, Index> run() {
    report& stats = prepared_.stats;
    stats.upper_bound = 0;
    for (std::int64_t i = 0; i < rows(); ++i) stats.upper_bound += std::min(bound(i), rule_.count);
    stats.predicted = stats.upper_bound;
    csr<Value, Index> c = prepared_.on_host() ? on_host() : on_device();
    prepared_.finish(c);
    return c;
  }

 private:
  std::int64_t rows() const { return prepared_.r.p.a.rows; }
  std::int64_t cols() const { return prepared_.r.p.b.cols; }
  std::int64_t bound(std::int64_t row) const { return prepared_.rows.bound[row]; }

  /// Rows are selected as they are computed; those that come in ranges of columns, once more.
  csr<Value, Index> on_host() {
    const stage_region stage("product", &prepared_.stats.product_seconds);
    const std::vector<chunk> chunks = host_chunks(prepared_.rows, 0, rows(), prepared_.a_pointers.data(), cols(),
                                                  host_threads(prepared_.rows.total_products));
    const bool has_ranges = std::any_of(chunks.begin(), chunks.end(), [](const chunk& c) { return c.cut; });
    top_rule<Value> in_chunks = rule_;
    in_chunks.by_value = false;
    const std::int64_t room = std::min(prepared_.stats.upper_bound, cheap_bound);  // it grows without a copy
    csr<Value, Index> c = host_product(prepared_.r, prepared_.rows, chunks, 0, rows(), room, prepared_.memory,
                                       prepared_.stats, &in_chunks);
    return has_ranges || rule_.by_value ? selected(c.row_pointers, c.columns, c.values) : std::move(c);
  }

  /// Blocks of C that fit the device, one after the other.
  csr<Value, Index> on_device() {
    prepared_.predict();
    const stage_region stage("product", &prepared_.stats.product_seconds);
    constexpr std::int64_t entry_bytes = sizeof(Value) + sizeof(Index);
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < rows(); ++i) largest = std::max(largest, bound(i));
    const std::int64_t budget = std::max(current_tuning().top_block_bytes, 16 + largest * entry_bytes);
    const std::int64_t most = prepared_.stats.upper_bound;
    meter& memory = prepared_.memory;
    csr<Value, Index> c{rows(), cols(), array<std::int64_t>(rows() + 1, memory), array<Index>(0, most, memory),
                        array<Value>(0, most, memory)};
    c.row_pointers[0] = 0;
    for (const result_range& range : result_ranges(prepared_.rows, cols(), budget, entry_bytes)) {
      auto block = prepared_.product_on_device(prepared_.team_chunks(range.first_row, range.last_row), range.first_row,
                                               range.last_row);
      append_rows(selected(block.row_pointers, block.columns, block.values), range.first_row, c);
    }
    c.columns.trim(c.columns.size());
    c.values.trim(c.values.size());
    return c;
  }

  /// The first entries of the rows of arrays that lie on the device; the arrays change.
  template <class Pointers, class Columns, class Values>
  csr<Value, Index> selected(const Pointers& row_pointers, Columns& columns, Values& values) {
    constexpr double nanoseconds = 10;  // an entry takes about so long, mostly to sort the row
    const device::small_call serial_if_small(nanoseconds * double(columns.size()), 4, prepared_.device);
    const row_entries<Value, Index> entries{row_pointers.size() - 1, cols(), row_pointers.data(), columns.data(),
                                            values.data()};
    return to_host(top_entries(entries, rule_, prepared_.device, prepared_.memory), prepared_.memory);
  }

  static void append_rows(const csr<Value, Index>& block, std::int64_t first_row, csr<Value, Index>& c) {
    const std::int64_t before = c.columns.size();
    c.columns.grow(before + block.nnz());
    c.values.grow(before + block.nnz());
    std::copy(block.columns.begin(), block.columns.end(), c.columns.begin() + before);
    std::copy(block.values.begin(), block.values.end(), c.values.begin() + before);
    for (std::int64_t i = 0; i < block.rows; ++i)
      c.row_pointers[first_row + i + 1] = before + block.row_pointers[i + 1];
  }

  product_pipeline<Semiring, Value, Index>& prepared_;
  const top_rule<Value> rule_;
};

template <class Semiring, class Value, class Index>
csr<Value, Index> top_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                              const top_selection& selection, const options& settings, const Device& device,
                              report* stats) {
  require_argument(selection.count >= 1, "count", selection.count, ">= 1");
  const double threshold = selection.threshold.value_or(0);
  require_argument(threshold == threshold, "threshold", threshold, "a number");
  product_pipeline<Semiring, Value, Index> prepared(a, b, settings, product_device(a, b, settings, device));
  const top_rule<Value> rule(selection, ranks_smaller_first<Semiring>);
  csr<Value, Index> c = top_steps<Semiring, Value, Index>(prepared, rule).run();
  if (stats != nullptr) *stats = prepared.stats;
  return c;
}

}  // namespace quintet::spgemm::detail
