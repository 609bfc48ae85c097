#include "quintet/hdbscan/mutual_reachability.hpp"

#include <algorithm>

#include "hdbscan/checks.hpp"
#include "hdbscan/row_blocks.hpp"
#include "hdbscan/scan_points.hpp"
#include "pairwise/pairs.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

namespace {

template <class Real>
void check_core(std::int64_t n, std::span<const Real> core, const pairwise::row_scan<Real>& scan) {
  if (core.empty()) return;
  require_argument(std::int64_t(core.size()) == n, "core.size", core.size(), text("0 or points.rows=", n));
  for (std::int64_t i = 0; i < n; ++i)
    require_argument(core[i] >= 0 || !scan.valid[i], text("core[", i, "]"), core[i], ">= 0");
}

/// What the dense sink needs, apart from where it writes. Owns the packed points and core distances on the device.
template <class Real>
class reachability_source {
 public:
  template <class Storage>
  reachability_source(matrix_view<const Storage> points, std::span<const Real> core,
                      const reachability_options& options, const Device& device)
      : options_(options) {
    check_points(points);
    check_alpha<Real>(options.alpha);
    const auto scan = scan_points(points, options.distance);
    check_core(points.rows(), core, scan);
    surrogate_ = scan.surrogate;
    panels_ = pairwise::pack_points(points, scan, {}, device);
    if (core.empty()) return;
    std::vector<Real> padded(core.begin(), core.end());
    padded.resize(panels_.blocks() * panels_.block_side, 0);
    core_ = Buffer<Real>(padded, device);
  }

  pairwise::dense_arguments<Real> arguments(Real* out, std::int64_t out_stride) const {
    return {.panels = panels_.data.data(),
            .dim = panels_.dim,
            .count = panels_.count,
            .surrogate = surrogate_,
            .core = core_.data(),
            .alpha = Real(options_.alpha),
            .core_on_diagonal = options_.core_on_diagonal,
            .out = out,
            .out_stride = out_stride,
            .factors = {panels_.factor.data(), panels_.factor.data()}};
  }
  const pairwise::panels<Real>& panels() const { return panels_; }

 private:
  reachability_options options_;
  pairwise::surrogate_metric<Real> surrogate_;
  pairwise::panels<Real> panels_;
  Buffer<Real> core_;
};

// A matrix up to this size is computed on an offload device as a whole, with half the arithmetic.
constexpr std::int64_t whole_on_device_bytes = std::int64_t(4) << 30;

template <class Real>
void copy_rows(std::int64_t first_row, matrix_view<const Real> rows, matrix_view<Real> out) {
  for (std::int64_t i = 0; i < rows.rows(); ++i) std::copy_n(rows.row(i), rows.cols(), out.row(first_row + i));
}

}  // namespace

template <class Storage>
void mutual_reachability(matrix_view<const Storage> points, std::span<const accumulator_t<Storage>> core,
                         matrix_view<accumulator_t<Storage>> out, const reachability_options& options,
                         const Device& device) {
  using Real = accumulator_t<Storage>;
  const std::int64_t n = points.rows();
  if (out.rows() != n || out.cols() != n)
    throw InvalidArgument(text("out must be N x N (out=", out.rows(), " x ", out.cols(), ", N=", n, ")"));
  const reachability_source<Real> source(points, core, options, device);
  if (n == 0) return;
  if (device.shares_host_memory()) {
    pairwise::dense(source.arguments(out.data(), out.stride()), device);
  } else if (n * n * std::int64_t(sizeof(Real)) <= whole_on_device_bytes) {
    Buffer<Real> matrix(n * n, device);
    pairwise::dense(source.arguments(matrix.data(), n), device);
    for (std::int64_t i = 0; i < n; ++i) matrix.copy_to_host(out.row(i), n, i * n);
  } else {
    for_row_blocks(source.panels(), source.arguments(nullptr, n), whole_on_device_bytes,
                   [&](std::int64_t first_row, matrix_view<const Real> rows) {
                     copy_rows(first_row, rows, out);
                     return true;
                   });
  }
}

template <class Storage>
void mutual_reachability(matrix_view<const Storage> points, std::span<const accumulator_t<Storage>> core,
                         Buffer<accumulator_t<Storage>>& out, const reachability_options& options) {
  const std::int64_t n = points.rows();
  require_argument(out.size() >= n * n, "out.size", out.size(), text(">= N * N=", n * n));
  const reachability_source<accumulator_t<Storage>> source(points, core, options, out.device());
  if (n > 0) pairwise::dense(source.arguments(out.data(), n), out.device());
}

template <class Storage>
std::vector<accumulator_t<Storage>> mutual_reachability_pairs(matrix_view<const Storage> points,
                                                              std::span<const accumulator_t<Storage>> core,
                                                              matrix_view<const std::int64_t> pairs,
                                                              const reachability_options& options) {
  using Real = accumulator_t<Storage>;
  check_points(points);
  check_alpha<Real>(options.alpha);
  const auto scan = scan_points(points, options.distance);
  check_core(points.rows(), core, scan);
  require_argument(pairs.cols() == 2 || pairs.rows() == 0, "pairs.cols", pairs.cols(), "2");
  std::vector<std::int64_t> index;
  index.reserve(2 * pairs.rows());
  for (std::int64_t p = 0; p < pairs.rows(); ++p)
    for (int e = 0; e < 2; ++e) {
      require_argument(pairs(p, e) >= 0 && pairs(p, e) < points.rows(), text("pairs(", p, ", ", e, ")"), pairs(p, e),
                       text("in [0, N=", points.rows(), ")"));
      index.push_back(pairs(p, e));
    }
  std::vector<Real> values = pairwise::pair_surrogates(points, scan, std::span<const std::int64_t>(index));
  for (std::int64_t p = 0; p < pairs.rows(); ++p) {
    const std::int64_t i = index[2 * p], j = index[2 * p + 1];
    const Real core_i = core.empty() ? Real(0) : core[i], core_j = core.empty() ? Real(0) : core[j];
    if (i != j)
      values[p] =
          pairwise::mutual_reachability(core_i, core_j, scan.surrogate.distance(values[p]) / Real(options.alpha));
    else if (scan.valid[i])
      values[p] = options.core_on_diagonal ? core_i : Real(0);
  }
  return values;
}

template <class Storage>
bool mutual_reachability_rows(matrix_view<const Storage> points, std::span<const accumulator_t<Storage>> core,
                              const row_block_callback<accumulator_t<Storage>>& receive, std::int64_t budget_bytes,
                              const reachability_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  require_argument(budget_bytes >= 0, "budget_bytes", budget_bytes, ">= 0");
  if (!receive) throw InvalidArgument("receive must not be empty");
  const reachability_source<Real> source(points, core, options, device);
  if (points.rows() == 0) return true;
  return for_row_blocks(source.panels(), source.arguments(nullptr, points.rows()), budget_bytes, receive);
}

#define QUINTET_INSTANTIATE(Storage, Real)                                                                            \
  template void mutual_reachability(matrix_view<const Storage>, std::span<const Real>, matrix_view<Real>,             \
                                    const reachability_options&, const Device&);                                      \
  template void mutual_reachability(matrix_view<const Storage>, std::span<const Real>, Buffer<Real>&,                 \
                                    const reachability_options&);                                                     \
  template std::vector<Real> mutual_reachability_pairs(matrix_view<const Storage>, std::span<const Real>,             \
                                                       matrix_view<const std::int64_t>, const reachability_options&); \
  template bool mutual_reachability_rows(matrix_view<const Storage>, std::span<const Real>,                           \
                                         const row_block_callback<Real>&, std::int64_t, const reachability_options&,  \
                                         const Device&);
QUINTET_INSTANTIATE(float, float)
QUINTET_INSTANTIATE(double, double)
QUINTET_INSTANTIATE(half, float)
QUINTET_INSTANTIATE(bfloat16, float)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdbscan
