// The steps of a product; instantiated by the generated sources.
#pragma once

#include "device/small_call.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "spgemm/arena.hpp"
#include "spgemm/halves.hpp"
#include "spgemm/host_workers.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/results.hpp"
#include "spgemm/tuning.hpp"

namespace quintet::spgemm {

inline void check_options(const options& o) {
  require_argument(o.host_products >= 0, "host_products", o.host_products, ">= 0");
}

/// What of a product is computed. Upper half: columns >= the row, of a symmetric product.
enum class product_part { whole, upper_half };

/// What happens before the first product is computed: operands on `device`, analysed there.
template <class Semiring, class Value, class Index>
struct product_pipeline {
  meter memory;
  report stats;
  Device device;
  device_operand<Value, Index> a;
  prepared_operand<Value, Index> b;
  prepared_operand<Value, Index> mask;  ///< complement: entries that are not wanted
  host_copy<std::int64_t> a_pointers;
  row_product<Semiring, Value, Index> r;
  half_operands<Value, Index> half;
  row_analysis rows;
  compression sampled;

  product_pipeline(const csr_view<Value, Index>& a_view, const csr_view<Value, Index>& b_view, const options& settings,
                   const Device& where, product_part part = product_part::whole)
      : memory(settings.memory), device(where) {
    check_options(settings);
    const stage_region stage("analysis", &stats.analysis_seconds);
    const device::small_call serial_if_small(analysis_nanoseconds(a_view, b_view), 4, device);
    check_operands(a_view, b_view);
    a = device_operand<Value, Index>(a_view, device);
    b = prepare<Semiring>(b_view, device, memory);
    if (!on_host())
      require_argument(b.view.cols <= std::int64_t{1} << 31, "b.cols", b.view.cols, "<= 2^31 on a device");
    a_pointers = host_copy<std::int64_t>(a_view.row_pointers, a_view.rows > 0 ? a_view.rows + 1 : 0, a_view.where);
    r.p = {a.view(), b.view};
    if (part == product_part::upper_half) halve();
    rows = analyse(r.p, device, memory);
    stats.rows = a_view.rows;
    stats.cols = b_view.cols;
    stats.products = rows.total_products;
    stats.upper_bound = rows.total_bound;
    stats.predicted = rows.total_bound;
    stats.ran_on_host = on_host();
    stats.ran_on = device;
  }
  void halve() {
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    require_argument(entries_of(r.p.a) <= most, "x.nnz()", entries_of(r.p.a), text("<= ", most, ", or 64-bit columns"));
    half = halve_operands(r.p, b.original, device, memory);
    r.p = half.p;
  }
  bool on_host() const { return device.kind() == device_kind::host; }
  /// What checks and passes over rows take of one thread, about. The operands are not checked yet.
  static double analysis_nanoseconds(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b) {
    const auto entries = [](const csr_view<Value, Index>& m) {
      const bool on_host = m.rows > 0 && m.row_pointers != nullptr && m.where.kind() == device_kind::host;
      return on_host ? double(m.row_pointers[m.rows]) - double(m.row_pointers[0]) : 0.0;
    };
    return 1.5 * (double(a.rows) + entries(a)) + 0.5 * entries(b);
  }
  void predict() {
    if (rows.total_bound <= cheap_bound && current_tuning().prediction_scale == 1) return;
    const stage_region stage("prediction", &stats.prediction_seconds);
    const strata all(rows);
    sampled = sample_compression(r.p, rows, all, device, memory);
    stats.predicted = predicted_entries(rows, all, sampled);
  }
  /// Rows [first, last) on the device.
  device_matrix<Value, Index> product_on_device(const std::vector<chunk>& chunks, std::int64_t first,
                                                std::int64_t last) {
    return device_product(r, rows, chunks, first, last, sampled, device, memory, stats);
  }
  std::vector<chunk> team_chunks(std::int64_t first, std::int64_t last) const {
    return spgemm::team_chunks(rows, first, last, a_pointers.data(), r.p.b.cols, sampled);
  }
  /// Chunks of the rows [first, last), wherever they run, into memory of the host.
  csr<Value, Index> product_of(const std::vector<chunk>& chunks, std::int64_t first, std::int64_t last,
                               std::int64_t room) {
    const stage_region stage("product", &stats.product_seconds);
    if (on_host()) return host_product(r, rows, chunks, first, last, room, memory, stats);
    return to_host(product_on_device(chunks, first, last), memory);
  }
  /// All rows [first, last).
  csr<Value, Index> product_of(std::int64_t first, std::int64_t last, std::int64_t room) {
    return product_of(
        on_host() ? host_chunks(rows, first, last, a_pointers.data(), r.p.b.cols, host_threads(rows.total_products))
                  : team_chunks(first, last),
        first, last, room);
  }
  csr<Value, Index> whole_product() {
    predict();
    csr<Value, Index> c =
        product_of(0, r.p.a.rows, first_room(rows.total_bound, stats.predicted, current_tuning().prediction_scale));
    finish(c);
    return c;
  }
  /// Columns as the caller numbers them, memory as the caller has it.
  void finish(csr<Value, Index>& c) {
    const stage_region stage("assembly", &stats.assembly_seconds);
    c.cols = stats.cols;
    if (b.renumbered()) {
      Index* columns = c.columns.data();
      const Index* original = b.original.data();
      host_loop(c.nnz(), std::int64_t{1} << 16, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) columns[k] = original[columns[k]];
      });
    }
    c.row_pointers.hand_over(memory.source());
    c.columns.hand_over(memory.source());
    c.values.hand_over(memory.source());
    stats.nnz += c.nnz();
    stats.peak_bytes = memory.peak();
    memory.forget(c.bytes());
  }
};

/// Where a product runs: on the device that has an operand, or that is named; without a name the host takes those below
/// settings.host_products.
template <class Value, class Index>
Device product_device(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const options& settings,
                      const Device& requested_device) {
  const Device device = device::run_device(requested_device, {{"a", a}, {"b", b}});
  const bool on_host = a.where.kind() == device_kind::host && b.where.kind() == device_kind::host;
  if (settings.host_products == 0 || !requested_device.automatic() || device.kind() == device_kind::host || !on_host)
    return device;
  check_operands(a, b);
  std::int64_t products = 0;
  for (std::int64_t k = 0, first = a.rows > 0 ? a.row_pointers[0] : 0; k < a.nnz(); ++k) {
    const std::int64_t j = a.columns[first + k];
    products += b.row_pointers[j + 1] - b.row_pointers[j];
    if (products >= settings.host_products) return device;
  }
  return Device::host();
}

namespace detail {

template <class Semiring, class Value, class Index>
csr<Value, Index> product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, const options& settings,
                          const Device& device, report* stats) {
  product_pipeline<Semiring, Value, Index> prepared(a, b, settings, product_device(a, b, settings, device));
  csr<Value, Index> c = prepared.whole_product();
  if (stats != nullptr) *stats = prepared.stats;
  return c;
}

/// C without the entries that `wanted` has.
template <class Semiring, class Value, class Index>
csr<Value, Index> complement_masked_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                            const csr_view<Value, Index>& structure, const options& settings,
                                            const Device& device) {
  product_pipeline<Semiring, Value, Index> prepared(a, b, settings, device);
  csr<Value, Index> renumbered;
  csr_view<Value, Index> mask = structure;
  mask.values = nullptr;
  if (prepared.b.renumbered()) {
    const device_operand<Value, Index> mask_on_host(mask, Device::host());
    renumbered = renumbered_mask(mask_on_host.view(), prepared.b.original, prepared.memory);
    mask = renumbered.view();
  }
  prepared.mask = canonical<or_and>(mask, prepared.device, prepared.memory);
  if (mask.rows > 0) prepared.r.filter = {prepared.mask.view.row_pointers, prepared.mask.view.columns};
  return prepared.whole_product();
}

template <class Semiring, class Value, class Index>
csr<Value, Index> transposed_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                     const options& settings, const Device& device, report* stats) {
  memory_source& memory = settings.memory != nullptr ? *settings.memory : memory_source::standard();
  const Device where = device_of_operands(device, {{"a", a}, {"b", b}});
  return product<Semiring>(a, transpose_there(b, where, memory).view(), settings, device, stats);
}

/// Rows of what `prepared` prepared, or of a single row a range of the columns.
template <class Semiring, class Value, class Index>
result_block<Value, Index> block_of(product_pipeline<Semiring, Value, Index>& prepared, const result_range& range) {
  result_block<Value, Index> block{range.first_row, 0, prepared.stats.cols, {}};
  const std::int64_t cols = prepared.r.p.b.cols;
  if (range.first_col > 0 || range.last_col < cols) {
    std::vector<chunk> chunks;
    cut_row(chunks, prepared.rows, range.first_row, range.first_col, range.last_col,
            prepared.on_host() ? widest_accumulator : std::int64_t(team_bitmask_columns), strategy::bitmask);
    if (prepared.on_host())
      for (chunk& c : chunks) c.accumulator = strategy::dense;
    block.block = prepared.product_of(chunks, range.first_row, range.last_row, range.bound);
    const auto number = [&](std::int64_t col) {
      return !prepared.b.renumbered() ? col : col < cols ? std::int64_t(prepared.b.original[col]) : prepared.stats.cols;
    };
    block.first_col = range.first_col == 0 ? 0 : number(range.first_col);
    block.last_col = number(range.last_col);
  } else {
    block.block = prepared.product_of(range.first_row, range.last_row, range.bound);
  }
  prepared.finish(block.block);
  return block;
}

template <class Semiring, class Value, class Index>
void product_in_blocks(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t budget,
                       const std::function<bool(result_block<Value, Index>&&)>& take, const options& settings,
                       const Device& device, report* stats) {
  if (!take) throw InvalidArgument("take must not be empty");
  product_pipeline<Semiring, Value, Index> prepared(a, b, settings, product_device(a, b, settings, device));
  require_argument(budget >= minimum_budget, "budget", budget, text(">= ", minimum_budget));
  if (!prepared.on_host()) prepared.predict();
  const auto ranges =
      result_ranges(prepared.rows, prepared.r.p.b.cols, budget, std::int64_t(sizeof(Value) + sizeof(Index)));
  for (const result_range& range : ranges)
    if (!take(block_of(prepared, range))) break;
  if (stats != nullptr) *stats = prepared.stats;
}

template <class Semiring, class Value, class Index>
device_csr<Value, Index> product(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                 const options& settings, report* stats) {
  check_options(settings);
  const Device& device = one_device(a, b);
  check_sizes(a, "a");
  check_sizes(b, "b");
  product_pipeline<Semiring, Value, Index> prepared(a.view(), b.view(), settings, device);
  prepared.predict();
  if (prepared.on_host()) {
    csr<Value, Index> c = prepared.product_of(
        0, a.rows, first_room(prepared.rows.total_bound, prepared.stats.predicted, current_tuning().prediction_scale));
    prepared.finish(c);
    if (stats != nullptr) *stats = prepared.stats;
    return upload(c.view(), device);
  }
  device_csr<Value, Index> c;
  {
    const stage_region stage("product", &prepared.stats.product_seconds);
    c = to_buffers(prepared.product_on_device(prepared.team_chunks(0, a.rows), 0, a.rows));
  }
  prepared.stats.nnz = c.nnz();
  prepared.stats.peak_bytes = prepared.memory.peak();
  if (stats != nullptr) *stats = prepared.stats;
  return c;
}

}  // namespace detail

}  // namespace quintet::spgemm
