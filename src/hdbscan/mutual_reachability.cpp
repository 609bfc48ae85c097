#include "quintet/hdbscan/mutual_reachability.hpp"

#include "device/find_first.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/reachability_source.hpp"
#include "hdbscan/row_blocks.hpp"
#include "instantiate.hpp"
#include "pairwise/pairs.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

// A matrix up to this size is computed on an offload device as a whole, with half the arithmetic.
constexpr std::int64_t max_whole_bytes = std::int64_t(4) << 30;

struct is_outside {
  const std::int64_t* pairs;
  std::int64_t stride, points;
  bool operator()(std::int64_t e) const {
    const std::int64_t i = pairs[e / 2 * stride + e % 2];
    return i < 0 || i >= points;
  }
};

/// Reduced distances of pairs become mutual reachabilities max(core_i, core_j, d / alpha) (Campello, Moulavi, Sander
/// 2013).
template <class Real>
struct reach_pair {
  const std::int64_t* pairs;
  std::int64_t stride;
  pairwise::reduced_metric<Real> measure;
  const Real* core;
  const Real* number;  ///< of every point, >= 0 if it is valid
  Real alpha;
  bool core_on_diagonal;
  Real* value;

  void operator()(std::int64_t p) const {
    const std::int64_t i = pairs[p * stride], j = pairs[p * stride + 1];
    const Real core_i = core == nullptr ? Real(0) : core[i], core_j = core == nullptr ? Real(0) : core[j];
    if (i != j)
      value[p] = pairwise::mutual_reachability(core_i, core_j, measure.distance(value[p]) / alpha);
    else if (number[i] >= 0)
      value[p] = core_on_diagonal ? core_i : Real(0);
  }
};

}  // namespace

template <class Storage, class>
void mutual_reachability(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
                         matrix_view<accumulator_t<Storage>> out, const reachability_options& options,
                         const Device& given) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device = device::run_device(given, {{"points", points}, {"core", core}, {"out", out}});
  const std::int64_t n = points.rows();
  if (out.rows() != n || out.cols() != n)
    throw InvalidArgument(text("out must be N x N (out=", out.rows(), " x ", out.cols(), ", N=", n, ")"));
  const reachability_source<Storage> source(points, core, options, device);
  if (n == 0) return;
  if (device::reaches(device, out.device()) || n * n * std::int64_t(sizeof(Real)) <= max_whole_bytes) {
    device::staged_out matrix(out, device);
    pairwise::dense(source.arguments(matrix.view().data(), matrix.view().stride()), device);
    matrix.finish();
    return;
  }
  for_row_blocks(source.panels(), source.arguments(nullptr, n), max_whole_bytes,
                 [&](std::int64_t first_row, matrix_view<const Real> rows) {
                   const matrix_view<Real> to(out.row(first_row), rows.rows(), n, out.stride());
                   device::detail::download<Real>(device::detail::as_batch(to), device::detail::as_batch(rows));
                   return true;
                 });
}

template <class Storage, class>
void mutual_reachability_pairs(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
                               matrix_view<const std::int64_t> pairs, vector_view<accumulator_t<Storage>> out,
                               const reachability_options& options, const Device& given) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device = device::run_device(given, {{"points", points}, {"core", core}, {"pairs", pairs}, {"out", out}});
  check_points(points);
  check_alpha<Real>(options.alpha);
  const std::int64_t n = points.rows(), count = pairs.rows();
  const pairwise::scanned_points<Storage> scanned(points, options.distance, device);
  const Buffer<Real> cores = checked_cores(core, scanned, n);
  require_argument(pairs.cols() == 2 || count == 0, "pairs.cols", pairs.cols(), "2");
  require_argument(out.size() == count, "out.size", out.size(), text("pairs.rows=", count));
  const device::staged_in staged_pairs(pairs, device);
  const matrix_view<const std::int64_t> index = staged_pairs.view();
  const std::int64_t wrong = device::find_first(2 * count, is_outside{index.data(), index.stride(), n}, device);
  if (wrong >= 0)
    require_argument(false, text("pairs(", wrong / 2, ", ", wrong % 2, ")"), device::host_copy(pairs)[wrong],
                     text("in [0, N=", n, ")"));
  device::staged_out values(out, device);
  pairwise::reduced_pairs(scanned, index, values.view().data());
  device::for_each(count,
                   reach_pair<Real>{index.data(), index.stride(), scanned.measure, cores.data(), scanned.numbers(),
                                    Real(options.alpha), options.core_on_diagonal, values.view().data()},
                   device);
  values.finish();
}

template <class Storage, class>
std::vector<accumulator_t<Storage>> mutual_reachability_pairs(matrix_view<const Storage> points,
                                                              vector_view<const accumulator_t<Storage>> core,
                                                              matrix_view<const std::int64_t> pairs,
                                                              const reachability_options& options,
                                                              const Device& device) {
  std::vector<accumulator_t<Storage>> values(pairs.rows());
  mutual_reachability_pairs<Storage>(points, core, pairs, vector_view<accumulator_t<Storage>>(values), options, device);
  return values;
}

template <class Storage, class>
bool mutual_reachability_rows(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
                              const row_block_callback<accumulator_t<Storage>>& receive, std::int64_t budget_bytes,
                              const reachability_options& options, const Device& given) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device = device::run_device(given, {{"points", points}, {"core", core}});
  require_argument(budget_bytes >= 0, "budget_bytes", budget_bytes, ">= 0");
  if (!receive) throw InvalidArgument("receive must not be empty");
  const reachability_source<Storage> source(points, core, options, device);
  if (points.rows() == 0) return true;
  return for_row_blocks(source.panels(), source.arguments(nullptr, points.rows()), budget_bytes,
                        [&](std::int64_t first_row, matrix_view<const Real> rows) {
                          if (device.shares_host_memory()) return receive(first_row, rows);
                          const std::vector<Real> on_host = device::host_copy(rows);
                          return receive(first_row, {on_host.data(), rows.rows(), rows.cols()});
                        });
}

#define QUINTET_INSTANTIATE(Storage)                                                                                  \
  template void mutual_reachability(matrix_view<const Storage>, vector_view<const accumulator_t<Storage>>,            \
                                    matrix_view<accumulator_t<Storage>>, const reachability_options&, const Device&); \
  template void mutual_reachability_pairs(matrix_view<const Storage>, vector_view<const accumulator_t<Storage>>,      \
                                          matrix_view<const std::int64_t>, vector_view<accumulator_t<Storage>>,       \
                                          const reachability_options&, const Device&);                                \
  template std::vector<accumulator_t<Storage>> mutual_reachability_pairs(                                             \
      matrix_view<const Storage>, vector_view<const accumulator_t<Storage>>, matrix_view<const std::int64_t>,         \
      const reachability_options&, const Device&);                                                                    \
  template bool mutual_reachability_rows(matrix_view<const Storage>, vector_view<const accumulator_t<Storage>>,       \
                                         const row_block_callback<accumulator_t<Storage>>&, std::int64_t,             \
                                         const reachability_options&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
