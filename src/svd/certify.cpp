#include "quintet/svd/certify.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/svd/applications.hpp"
#include "svd/certify_kernel.hpp"
#include "svd/checks.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

struct certificate_host {
  enum { on_device = 0 };
};
struct certificate_device {
  enum { on_device = 1 };
};

/// Memory of a group of matrices on the host, in bytes for each thread: what a second-level cache holds.
constexpr std::int64_t bytes_in_cache = std::int64_t(1) << 20;

template <class T>
stored_batch stored(const batch_view<const T>& view) {
  return {const_cast<T*>(view.data()), scalar_type_of<T>(), view.batch_stride(), view.row_stride(), view.col_stride()};
}

std::int32_t pad(std::int64_t count) {
  return std::int32_t((count + certificate_padding - 1) / certificate_padding * certificate_padding);
}

template <class Shape>
void certify_on(certificate_job job, std::int64_t batch, const Device& device) {
  using products = certificate_products<Shape>;
  job.ld_cols = pad(job.cols);
  job.ld_values = pad(job.values);
  const std::int64_t sizes[4] = {std::int64_t(job.rows) * job.ld_cols,
                                 job.has_own_u ? std::int64_t(job.rows) * job.ld_values : 0,
                                 std::int64_t(job.cols) * job.ld_values, std::int64_t(job.values) * job.ld_cols};
  const std::int64_t tiles = products::tiles(job), squares = tiles * products::blocks(job);
  const std::int64_t numbers = sizes[0] + sizes[1] + sizes[2] + sizes[3] + squares + 2;
  const bool is_host = device.kind() == device_kind::host;
  const std::int64_t limit = is_host ? bytes_in_cache * threads() : device_workspace;
  const std::int64_t group = std::min(
      batch, std::max<std::int64_t>(is_host ? threads() : 1, limit / (numbers * std::int64_t(sizeof(double)))));
  Buffer<double> memory(group * numbers, device);
  double* next = memory.data();
  double** const arrays[4] = {&job.a_rows, &job.u_rows, &job.v_rows, &job.sv_columns};
  for (int i = 0; i < 4; ++i) {
    *arrays[i] = next;
    next += group * sizes[i];
  }
  job.scale = next;
  job.squares = next + 2 * group;
  double* const bound = job.bound;
  for (job.first = 0; job.first < batch; job.first += group) {
    job.count = std::min(group, batch - job.first);
    job.bound = bound + job.first;
    device::for_each(job.count, certificate_scale{job}, device);
    device::launch(certificate_copy<Shape>{job}, job.count * certificate_copy<Shape>::tiles(job), device);
    products product;
    product.job = job;
    device::launch(product, job.count * tiles, device);
    device::for_each(job.count, certificate_bound<Shape>{job}, device);
  }
}

template <class T>
void require_certifiable(const batch_view<const T>& a, const factors_view<T>& f, const vector_view<double>& bound) {
  const std::int64_t batch = a.batch(), k = std::min(a.rows(), a.cols());
  require_all_values({batch, a.rows(), a.cols(), f.s.cols()});
  require_argument(f.s.rows() == batch, "s.rows", f.s.rows(), text("the batch, ", batch));
  if (f.u.cols() < k || f.v.cols() < k) throw InvalidArgument("the decomposition must have its vectors");
  require_shape(f.u, batch, a.rows(), f.u.cols(), "u");
  require_shape(f.v, batch, a.cols(), f.v.cols(), "v");
  require_argument(bound.size() == batch, "bound.size", bound.size(), text("the batch, ", batch));
}

template <class T>
Device typed_certify(const batch_view<const T>& a, const factors_view<T>& f, symmetry reads, vector_view<double> bound,
                     const Device& requested_device) {
  require_certifiable(a, f, bound);
  const Device device =
      device::run_device(requested_device, {{"a", a}, {"u", f.u}, {"v", f.v}, {"s", f.s}, {"bound", bound}});
  if (a.batch() == 0) return device;
  const stage_region stage("certify");
  const device::staged_in in(a, device), u(f.u, device), v(f.v, device);
  const device::staged_in s(f.s, device);
  device::staged_out out(bound, device);
  certificate_job job = {};
  job.a = stored(in.view());
  job.u = stored(u.view());
  job.v = stored(v.view());
  job.s = {const_cast<accumulator_t<T>*>(s.view().data()), scalar_type_of<accumulator_t<T>>(), s.view().stride(), 0, 1};
  job.rows = std::int32_t(a.rows());
  job.cols = std::int32_t(a.cols());
  job.values = std::int32_t(f.s.cols());
  job.reads = reads;
  job.has_own_u = reads == symmetry::none;
  job.bound = out.view().data();
  if (job.values == 0)
    device::for_each(a.batch(), device::detail::fill_function<double>{job.bound, 0}, device);
  else if (device.kind() == device_kind::host)
    certify_on<certificate_host>(job, a.batch(), device);
  else
    certify_on<certificate_device>(job, a.batch(), device);
  out.finish();
  return device;
}

}  // namespace

Device certify(any_batch a, const any_factors& f, vector_view<double> bound, const Device& device) {
  return with_storage(a.type, [&]<class T>() {
    return typed_certify<T>(a.as<T>("a"), factors_of<T>(f), symmetry::none, bound, device);
  });
}

std::vector<double> certify(any_batch a, const any_factors& f, const Device& device) {
  std::vector<double> bound(a.batch);
  certify(a, f, bound, device);
  return bound;
}

Device certify_eigen(any_batch a, svd::triangle triangle, any_matrix w, any_batch v, vector_view<double> bound,
                     const Device& device) {
  if (a.rows != a.cols)
    throw InvalidArgument(text("a must be square (a=[", a.batch, " x ", a.rows, " x ", a.cols, "])"));
  const symmetry reads = triangle == triangle::lower ? symmetry::lower : symmetry::upper;
  return with_storage(a.type, [&]<class T>() {
    return typed_certify<T>(a.as<T>("a"), factors_of<T>({v, v, w}), reads, bound, device);
  });
}

}  // namespace quintet::svd
