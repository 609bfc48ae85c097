// The steps of a product; instantiated by the generated sources.
#pragma once

#include <chrono>

#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "spgemm/block_ranges.hpp"
#include "spgemm/device_product.hpp"
#include "spgemm/host_product.hpp"

namespace quintet::spgemm {

/// Adds the seconds of its life to a counter.
class stopwatch {
 public:
  explicit stopwatch(double& seconds) : seconds_(seconds) {}
  ~stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline void check_options(const options& o) {
  require_argument(o.prediction_scale > 0 && o.prediction_scale <= 1e6, "prediction_scale", o.prediction_scale,
                   "in (0, 1e6]");
  require_argument(o.table_size_cap >= 8, "table_size_cap", o.table_size_cap, ">= 8");
  require_argument(o.host_products >= 0, "host_products", o.host_products, ">= 0");
}

/// A device leaves small products to the host.
inline bool runs_on_host(const row_analysis& rows, const options& settings, const Device& device) {
  return device.kind() == device_kind::host || rows.total_products < settings.host_products;
}

/// What happens before the first product is computed.
template <class Semiring, class Value, class Index>
struct preparation {
  meter counted;
  report told;
  prepared_operand<Value, Index> b;
  problem<Value, Index> p;
  row_analysis rows;
  compression sampled;

  preparation(const csr_view<Value, Index>& a_view, const csr_view<Value, Index>& b_view, const options& settings)
      : counted(settings.memory) {
    check_options(settings);
    const stopwatch watch(told.analysis_seconds);
    check_operands(a_view, b_view);
    b = prepare<Semiring>(b_view, counted);
    p = {a_view, b.view};
    rows = analyse(p, counted);
    told.rows = a_view.rows;
    told.cols = b_view.cols;
    told.products = rows.total_products;
    told.upper_bound = rows.total_bound;
    told.predicted = rows.total_bound;
  }
  void predict(const options& settings) {
    if (rows.total_bound <= cheap_bound && settings.prediction_scale == 1) return;
    const stopwatch watch(told.prediction_seconds);
    sampled = sample_compression(p, rows, counted);
    told.predicted = predicted_entries(rows, sampled);
  }
  /// Columns as the caller numbers them, memory as the caller has it.
  void finish(csr<Value, Index>& c) {
    const stopwatch watch(told.assembly_seconds);
    c.cols = told.cols;
    if (b.renumbered()) {
      Index* columns = c.columns.data();
      const Index* original = b.original.data();
      host_loop(c.nnz(), std::int64_t{1} << 16, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) columns[k] = original[columns[k]];
      });
    }
    c.row_pointers.hand_over(counted.source());
    c.columns.hand_over(counted.source());
    c.values.hand_over(counted.source());
    told.nnz += c.nnz();
    told.peak_bytes = counted.peak();
    counted.forget(c.bytes());
  }
};

namespace detail {

/// The product of what `ready` prepared, without the entries that `filter` takes out.
template <class Semiring, class Value, class Index, class Filter>
csr<Value, Index> filtered_product(preparation<Semiring, Value, Index>& ready, const options& settings,
                                   const Device& device, const Filter& filter) {
  ready.predict(settings);
  const std::int64_t m = ready.p.a.rows;
  csr<Value, Index> c;
  {
    const stopwatch watch(ready.told.product_seconds);
    if (runs_on_host(ready.rows, settings, device)) {
      const auto chunks = host_chunks(ready.rows, 0, m, ready.p.b.cols, host_workers(ready.rows.total_products));
      const std::int64_t room = first_room(ready.rows.total_bound, ready.told.predicted, settings.prediction_scale);
      c = host_product<Semiring>(ready.p, ready.rows, chunks, 0, m, room, settings, ready.counted, ready.told, filter);
    } else {
      ready.told.ran_on_host = false;
      c = device_product<Semiring>(ready.p, ready.rows, 0, m, ready.sampled, settings, device, ready.counted,
                                   ready.told, filter);
    }
  }
  ready.finish(c);
  return c;
}

template <class Semiring, class Value, class Index>
csr<Value, Index> product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const options& settings,
                          const Device& device, report* told) {
  preparation<Semiring, Value, Index> ready(a, b, settings);
  csr<Value, Index> c = filtered_product(ready, settings, device, no_filter{});
  if (told != nullptr) *told = ready.told;
  return c;
}

/// C without the entries that `mask` (sorted) has.
template <class Semiring, class Value, class Index>
csr<Value, Index> product_outside(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                  const csr_view<Value, Index>& wanted, const options& settings, const Device& device) {
  preparation<Semiring, Value, Index> ready(a, b, settings);
  csr<Value, Index> renumbered;
  csr_view<Value, Index> mask = wanted;
  if (ready.b.renumbered()) {
    renumbered = renumbered_mask(wanted, ready.b.original, ready.counted);
    mask = renumbered.view();
  }
  if (runs_on_host(ready.rows, settings, device))
    return filtered_product(ready, settings, device, complement_filter<Index>{mask.row_pointers, mask.columns});
  const std::int64_t rows = mask.rows > 0 ? mask.rows + 1 : 0;
  device_array<std::int64_t> pointers(mask.row_pointers, rows, device, ready.counted);
  device_array<Index> columns(mask.columns, mask.nnz(), device, ready.counted);
  return filtered_product(ready, settings, device, complement_filter<Index>{pointers.data(), columns.data()});
}

}  // namespace detail

template <class Semiring, class Value, class Index>
  requires has_kernels<Semiring>
csr<Value, Index> multiply_transposed(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                      const options& settings, const Device& device, report* told) {
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  return detail::product<Semiring>(a, transpose(b, memory).view(), settings, device, told);
}

/// Rows [first, last) of what `ready` prepared, or of a single row the columns [first_col, last_col).
template <class Semiring, class Value, class Index>
result_block<Value, Index> block_of(preparation<Semiring, Value, Index>& ready, const result_range& range,
                                    const options& settings, const Device& device) {
  result_block<Value, Index> block{range.first_row, 0, ready.told.cols, {}};
  const std::int64_t cols = ready.p.b.cols;
  const bool cut = range.first_col > 0 || range.last_col < cols;
  {
    const stopwatch watch(ready.told.product_seconds);
    if (cut || runs_on_host(ready.rows, settings, device)) {
      std::vector<chunk> chunks;
      if (cut)
        cut_row(chunks, ready.rows, range.first_row, range.first_col, range.last_col,
                (range.last_col - range.first_col + widest_accumulator - 1) / widest_accumulator);
      else
        chunks =
            host_chunks(ready.rows, range.first_row, range.last_row, cols, host_workers(ready.rows.total_products));
      block.block = host_product<Semiring>(ready.p, ready.rows, chunks, range.first_row, range.last_row, range.bound,
                                           settings, ready.counted, ready.told);
    } else {
      ready.told.ran_on_host = false;
      block.block = device_product<Semiring>(ready.p, ready.rows, range.first_row, range.last_row, ready.sampled,
                                             settings, device, ready.counted, ready.told);
    }
  }
  if (cut) {
    const auto number = [&](std::int64_t col) {
      return !ready.b.renumbered() ? col : col < cols ? std::int64_t(ready.b.original[col]) : ready.told.cols;
    };
    block.first_col = range.first_col == 0 ? 0 : number(range.first_col);
    block.last_col = number(range.last_col);
  }
  ready.finish(block.block);
  return block;
}

template <class Semiring, class Value, class Index>
  requires has_kernels<Semiring>
void multiply_in_blocks(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t budget,
                        const std::function<bool(result_block<Value, Index>&&)>& take, const options& settings,
                        const Device& device, report* told) {
  if (!take) throw InvalidArgument("take must not be empty");
  preparation<Semiring, Value, Index> ready(a, b, settings);
  require_argument(budget >= minimum_budget, "budget", budget, text(">= ", minimum_budget));
  if (device.kind() != device_kind::host) ready.predict(settings);
  const auto ranges = result_ranges(ready.rows, ready.p.b.cols, budget, std::int64_t(sizeof(Value) + sizeof(Index)));
  for (const result_range& range : ranges)
    if (!take(block_of(ready, range, settings, device))) break;
  if (told != nullptr) *told = ready.told;
}

}  // namespace quintet::spgemm
