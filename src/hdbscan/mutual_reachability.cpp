#include "quintet/hdbscan/mutual_reachability.hpp"

#include "device/find_first.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/reachability_source.hpp"
#include "hdbscan/row_blocks.hpp"
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

template <class Storage>
void write_matrix(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
                  matrix_view<accumulator_t<Storage>> out, const reachability_options& options,
                  const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device = device::run_device(requested_device, {{"points", points}, {"core", core}, {"out", out}});
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

template <class Storage>
void write_pairs(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
                 matrix_view<const std::int64_t> pairs, vector_view<accumulator_t<Storage>> out,
                 const reachability_options& options, const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device =
      device::run_device(requested_device, {{"points", points}, {"core", core}, {"pairs", pairs}, {"out", out}});
  check_points(points);
  check_distance(options.distance);
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

template <class Storage>
bool give_rows(matrix_view<const Storage> points, vector_view<const accumulator_t<Storage>> core,
               const any_row_block_callback& receive, std::int64_t budget_bytes, const reachability_options& options,
               const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("reachability");
  const Device device = device::run_device(requested_device, {{"points", points}, {"core", core}});
  require_argument(budget_bytes >= 0, "budget_bytes", budget_bytes, ">= 0");
  if (!receive) throw InvalidArgument("receive must not be empty");
  const reachability_source<Storage> source(points, core, options, device);
  if (points.rows() == 0) return true;
  return for_row_blocks(source.panels(), source.arguments(nullptr, points.rows()), budget_bytes,
                        [&](std::int64_t first_row, matrix_view<const Real> rows) {
                          if (device.shares_host_memory()) return receive(first_row, any_matrix(rows));
                          const std::vector<Real> on_host = device::host_copy(rows);
                          return receive(first_row, any_matrix(on_host.data(), rows.rows(), rows.cols()));
                        });
}

/// No core distances stand for 0.
template <class Real>
vector_view<const Real> core_of(const any_vector& core) {
  return core.size == 0 ? vector_view<const Real>() : core.as<Real>("core");
}

}  // namespace

void mutual_reachability(any_matrix points, any_vector core, any_output_matrix out, const reachability_options& options,
                         const Device& device) {
  with_storage(points.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    write_matrix<T>(points.as<T>("points"), core_of<Real>(core), out.as<Real>("out"), options, device);
  });
}

void mutual_reachability_pairs(any_matrix points, any_vector core, matrix_view<const std::int64_t> pairs,
                               any_output_vector out, const reachability_options& options, const Device& device) {
  with_storage(points.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    write_pairs<T>(points.as<T>("points"), core_of<Real>(core), pairs, out.as<Real>("out"), options, device);
  });
}

bool mutual_reachability_rows(any_matrix points, any_vector core, const any_row_block_callback& receive,
                              std::int64_t budget_bytes, const reachability_options& options, const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return give_rows<T>(points.as<T>("points"), core_of<accumulator_t<T>>(core), receive, budget_bytes, options,
                        device);
  });
}

}  // namespace quintet::hdbscan
