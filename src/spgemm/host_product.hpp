// A product, or some rows of it, on the host.
#pragma once

#include <deque>

#include "spgemm/host_kernel.hpp"
#include "spgemm/meter.hpp"

namespace quintet::spgemm {

/// Results of at most so many entries are given room for their upper bound: that costs less than to predict them.
constexpr std::int64_t cheap_bound = std::int64_t{1} << 16;
/// Products below which one thread is at least as fast as two: measured, see docs/spgemm.md.
constexpr std::int64_t serial_products = 100'000;

/// Workers that `products` keep busy.
inline int host_workers(std::int64_t products) { return products < serial_products ? 1 : threads(); }

/// Entries of a result to make room for at first.
inline std::int64_t first_room(std::int64_t bound, std::int64_t predicted, double scale) {
  if (bound <= cheap_bound && scale == 1) return bound;
  return std::min(bound, std::int64_t(1.05 * scale * double(predicted)) + 64);
}

/// The chunks, which are rows [first, last) or a part of one row. Arrays come from `counted`.
template <class Semiring, class Value, class Index, class Filter = no_filter>
csr<Value, Index> host_product(const problem<Value, Index>& p, const row_analysis& rows,
                               const std::vector<chunk>& chunks, std::int64_t first, std::int64_t last,
                               std::int64_t room, const options& settings, meter& counted, report& told,
                               const Filter& filter = {}) {
  using kernel = host_kernel<Semiring, Value, Index, Filter>;
  std::int64_t products = 0, bound = 0, largest = 0, width = 1;
  for (const chunk& c : chunks) {
    products += c.products;
    bound += c.bound;
    largest = std::max(largest, c.bound);
    width = std::max(width, std::min(c.last_col - c.first_col, widest_accumulator));
  }
  csr<Value, Index> result{last - first, p.b.cols, array<std::int64_t>(last - first + 1, counted), {}, {}};
  result.row_pointers[0] = 0;
  ordered_output<Value, Index> out(std::int64_t(chunks.size()), room, bound, counted);
  const std::int64_t before = counted.held();
  const int count = int(std::min<std::int64_t>(host_workers(products), std::int64_t(chunks.size())));
  std::deque<typename kernel::worker> workers;
  for (int w = 0; w < count; ++w) workers.emplace_back(p, width, largest, settings.table_size_cap, counted);
  std::vector<typename kernel::worker*> pointers;
  for (auto& w : workers) pointers.push_back(&w);
  device::launch(kernel{chunks.data(), std::int64_t(chunks.size()), rows.products.data(), pointers.data(), &out,
                        result.row_pointers.data() - first, filter},
                 count, Device::host());
  out.rethrow();
  told.scratch_bytes = std::max(told.scratch_bytes, counted.held() - before);
  for (const auto& w : workers)
    for (int s = 0; s < strategies; ++s) {
      told.rows_by_strategy[s] += w.rows.counts.rows[s];
      told.products_by_strategy[s] += w.rows.counts.products[s];
    }
  workers.clear();
  told.retries += out.growths();
  out.columns.trim(out.entries());
  out.values.trim(out.entries());
  result.columns = std::move(out.columns);
  result.values = std::move(out.values);
  return result;
}

}  // namespace quintet::spgemm
