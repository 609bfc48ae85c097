// Products of matrices that are on a device; instantiated by the generated sources.
#pragma once

#include "device/for_each.hpp"
#include "quintet/spgemm/device_csr.hpp"
#include "spgemm/product_impl.hpp"
#include "spgemm/resident_kernel.hpp"

namespace quintet::spgemm {

/// Throws InvalidArgument unless the buffers have the sizes that belong to a matrix.
template <class Value, class Index>
void check_resident_sizes(const device_csr<Value, Index>& m, const char* name) {
  require_argument(m.rows >= 0, text(name, ".rows"), m.rows, ">= 0");
  require_argument(m.cols >= 0, text(name, ".cols"), m.cols, ">= 0");
  require_argument(m.row_pointers.size() == m.rows + 1, text(name, ".row_pointers.size()"), m.row_pointers.size(),
                   text("rows + 1 = ", m.rows + 1));
  require_argument(m.values.size() == m.nnz(), text(name, ".values.size()"), m.values.size(),
                   text("as many as columns: ", m.nnz()));
}

/// Throws InvalidArgument unless `m` is a matrix; returns whether its rows ascend strictly.
template <class Value, class Index>
bool check_resident(const device_csr<Value, Index>& m, const char* name, meter& counted) {
  const std::int32_t none = 0;
  std::int32_t faults = 0;
  device_array<std::int32_t> found(&none, 1, m.device(), counted);
  device::for_each(m.rows, inspect_row<Value, Index>{m.view(), m.nnz(), found.data()}, m.device());
  found.to_host(&faults, 1);
  std::int64_t ends[2] = {0, 0};
  m.row_pointers.copy_to_host(&ends[0], 1);
  m.row_pointers.copy_to_host(&ends[1], 1, m.rows);
  if ((faults & pointers_fall) != 0 || ends[0] != 0 || ends[1] != m.nnz())
    throw InvalidArgument(text(name, ".row_pointers must rise from 0 to the number of entries, ", m.nnz()));
  if ((faults & columns_outside) != 0) throw InvalidArgument(text(name, ".columns must be in [0, ", m.cols, ")"));
  return (faults & columns_unsorted) == 0;
}

/// The analysis, computed on the device and kept on the host.
template <class Value, class Index>
row_analysis analyse_resident(const problem<Value, Index>& p, const Device& device, meter& counted) {
  const std::int64_t m = p.a.rows;
  device_array<std::int64_t> products(m, device, counted), bound(m, device, counted);
  device::for_each(m, analyse_row<Value, Index>{p, products.data(), bound.data()}, device);
  row_analysis rows{array<std::int64_t>(m, counted), array<std::int64_t>(m, counted)};
  products.to_host(rows.products.data(), m);
  bound.to_host(rows.bound.data(), m);
  for (std::int64_t i = 0; i < m; ++i) {
    rows.total_products += rows.products[i];
    rows.total_bound += rows.bound[i];
  }
  return rows;
}

/// Sampled rows are computed with an arena of no entries: that tells their exact sizes and stores nothing.
template <class Semiring, class Value, class Index>
compression sample_resident(const problem<Value, Index>& p, const row_analysis& rows, const std::int64_t* a_pointers,
                            const Device& device, meter& counted) {
  std::vector<row_sample> chosen = choose_rows(rows);
  std::vector<device_chunk> chunks;
  std::vector<std::size_t> owner;
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    const std::int64_t i = chosen[s].row, entries = a_pointers[i + 1] - a_pointers[i];
    if (rows.products[i] <= batch_products && entries <= batch_products)
      chunks.push_back({{i, i + 1, 0, p.b.cols, rows.bound[i], rows.products[i], false, true}, strategy::segmented, 0});
    else
      bitmask_chunks(chunks, rows, i, p.b.cols);
    owner.resize(chunks.size(), s);
  }
  device_passes<Semiring, Value, Index> passes(p, rows, 0, p.a.rows, chunks, device, counted);
  passes.pass(0);
  for (std::size_t c = 0; c < chunks.size(); ++c) chosen[owner[c]].entries += passes.entries_of(c);
  return compression_of(chosen, rows);
}

/// Operands that fit each other, where they are.
template <class Value, class Index>
void check_resident_operands(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b) {
  if (!(a.device() == b.device()))
    throw InvalidArgument(
        text("a and b must be on one device (a is on ", a.device().name(), ", b on ", b.device().name(), ")"));
  if (a.cols != b.rows)
    throw InvalidArgument(
        text("a.cols must be b.rows (a is ", a.rows, " x ", a.cols, ", b is ", b.rows, " x ", b.cols, ")"));
  require_argument(b.cols <= std::int64_t{1} << 31, "b.cols", b.cols, "<= 2^31 on a device");
  check_resident_sizes(a, "a");
  check_resident_sizes(b, "b");
}

/// A matrix in host memory, whose row pointers must be those of its buffers; the rest is checked with the product.
template <class Value, class Index>
csr_view<Value, Index> host_view(const device_csr<Value, Index>& m, const char* name) {
  const std::int64_t first = m.row_pointers.data()[0], last = m.row_pointers.data()[m.rows];
  if (first != 0 || last != m.nnz())
    throw InvalidArgument(text(name, ".row_pointers must rise from 0 to the number of entries, ", m.nnz()));
  return m.view();
}

template <class Semiring, class Value, class Index>
  requires has_kernels<Semiring>
device_csr<Value, Index> multiply(const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                  const options& settings, report* told) {
  check_options(settings);
  check_resident_operands(a, b);
  const Device& device = a.device();
  if (device.kind() == device_kind::host)
    return upload(detail::product<Semiring>(host_view(a, "a"), host_view(b, "b"), settings, device, told).view(),
                  device);
  meter counted(settings.memory);
  report done{.rows = a.rows, .cols = b.cols, .ran_on_host = false};
  device_csr<Value, Index> sorted, c{a.rows, b.cols, Buffer<std::int64_t>(a.rows + 1, device), {}, {}};
  problem<Value, Index> p{a.view(), b.view()};
  row_analysis rows;
  std::vector<std::int64_t> a_pointers;
  {
    const stopwatch watch(done.analysis_seconds);
    check_resident(a, "a", counted);
    if (!check_resident(b, "b", counted)) {
      sorted = upload(canonical_copy<Semiring>(download(b, counted).view(), counted).view(), device);
      p.b = sorted.view();
    }
    a_pointers = a.row_pointers.to_vector();
    rows = analyse_resident(p, device, counted);
  }
  done.products = rows.total_products;
  done.upper_bound = done.predicted = rows.total_bound;
  compression sampled;
  if (rows.total_bound > cheap_bound || settings.prediction_scale != 1) {
    const stopwatch watch(done.prediction_seconds);
    sampled = sample_resident<Semiring>(p, rows, a_pointers.data(), device, counted);
    done.predicted = predicted_entries(rows, sampled);
  }
  {
    const stopwatch watch(done.product_seconds);
    auto passes = run_passes<Semiring>(p, rows, 0, a.rows, a_pointers.data(), sampled, settings, device, counted, done,
                                       no_filter{});
    std::vector<std::int64_t> pointers(std::size_t(a.rows + 1));
    passes.row_pointers(pointers.data());
    c.row_pointers.copy_from_host(pointers.data(), a.rows + 1);
    c.columns = Buffer<Index>(passes.entries(), device);
    c.values = Buffer<Value>(passes.entries(), device);
    counted.hold(c.columns.bytes() + c.values.bytes());
    passes.compact(c.columns.data(), c.values.data());
  }
  done.nnz = c.nnz();
  done.peak_bytes = counted.peak();
  if (told != nullptr) *told = done;
  return c;
}

}  // namespace quintet::spgemm
