// C functions of hdbscan before there is a clustering: distances and the spanning tree.
#include <algorithm>
#include <cstddef>

#include "c/hdbscan_support.hpp"
#include "quintet/hdbscan/core_and_reachability.hpp"

namespace quintet::c {

namespace {

/// Every option but those of the metric and tie_tolerance.
constexpr auto spanning_tree_option_list = [](auto visit) {
  using c = quintet_hdbscan_options;
  using library = hdbscan::cluster_options;
  visit(&c::min_cluster_size, &library::min_cluster_size);
  visit(&c::ties, &library::tie_mode, 2, "ties");
  visit(&c::selection, &library::method, 2, "selection");
  visit(&c::epsilon, &library::epsilon);
  visit(&c::epsilon_max, &library::epsilon_max);
  visit(&c::max_cluster_size, &library::max_cluster_size);
  visit(&c::allow_single_cluster, &library::allow_single_cluster);
  visit(&c::min_samples, &library::min_samples);
  visit(&c::count_self, &library::count_self);
  visit(&c::alpha, &library::alpha);
};

constexpr quintet_hdbscan_options default_options = [] {
  const hdbscan::cluster_options defaults;
  quintet_hdbscan_options options{};
  options.size = sizeof(options);
  copy_to_interface(spanning_tree_option_list, defaults, options);
  options.tie_tolerance = QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE;
  options.metric = static_cast<quintet_metric>(defaults.distance.kind);
  options.curvature = defaults.distance.curvature;
  options.p = defaults.distance.p;
  options.sphere_radius = defaults.distance.sphere_radius;
  options.unit = static_cast<quintet_angle_unit>(defaults.distance.unit);
  return options;
}();

static_assert(QUINTET_TIES_CANONICAL == int(hdbscan::ties::canonical) &&
              QUINTET_TIES_BINARY == int(hdbscan::ties::binary));
static_assert(QUINTET_SELECT_EOM == int(hdbscan::selection::eom) &&
              QUINTET_SELECT_LEAF == int(hdbscan::selection::leaf));

hdbscan::reachability_options reachability_options(const quintet_hdbscan_options* c_options) {
  const quintet_hdbscan_options options = known_options(c_options);
  return {options.alpha, options.core_on_diagonal != 0, metric_of(options)};
}

struct reachability_input {
  any_matrix points;
  any_vector core;
};

reachability_input reachability_points(const void* points, quintet_type type, std::int64_t n, std::int64_t dim,
                                       std::int64_t stride, const void* core) {
  const scalar_type t = storage_type_of(type);
  return {any_input(points, t, n, dim, stride, "points"), any_optional(core, accumulator_of(t), n, "core")};
}

// Values of a call until it succeeds: the caller's memory stays as it is where it throws.
struct pending_values {
  std::vector<std::byte> bytes;
  scalar_type type;

  pending_values(std::int64_t count, scalar_type real) : bytes(std::size_t(count * element_bytes(real))), type(real) {}
  any_output_vector view() { return {bytes.data(), type, std::int64_t(bytes.size()) / element_bytes(type)}; }
  void copy_to(void* out) const { quintet::c::copy_to(bytes, static_cast<std::byte*>(out)); }
};

}  // namespace

quintet_hdbscan_options known_options(const quintet_hdbscan_options* c_options) {
  return known_options(c_options, default_options);
}

hdbscan::cluster_options cluster_options(const quintet_hdbscan_options* c_options) {
  const quintet_hdbscan_options options = known_options(c_options);
  hdbscan::cluster_options result;
  copy_to_library(spanning_tree_option_list, options, result);
  if (options.tie_tolerance != QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE) result.tie_tolerance = options.tie_tolerance;
  result.distance = metric_of(options);
  return result;
}

std::span<const double> weights_of(const quintet_hdbscan_options* c_options, std::int64_t n) {
  return optional_array<double>(known_options(c_options).weights, n, "options->weights");
}

void refuse_weights(const quintet_hdbscan_options* c_options, const char* reason) {
  if (known_options(c_options).weights != nullptr)
    throw InvalidArgument(text("options->weights must be NULL here: ", reason));
}

}  // namespace quintet::c

using namespace quintet;
using namespace quintet::c;

extern "C" {

quintet_status quintet_hdbscan_options_default(quintet_hdbscan_options* options, size_t size) noexcept {
  return guarded([&] { write_struct(known_options(nullptr), options, size, "options"); });
}

quintet_status quintet_hdbscan_default_tie_tolerance(quintet_type type, int64_t dim, double* tolerance) noexcept {
  return guarded(
      [&] { required(tolerance, "tolerance") = hdbscan::default_tie_tolerance(storage_type_of(type), dim); });
}

quintet_status quintet_hdbscan_core_distances(const void* points, quintet_type type, int64_t n, int64_t dim,
                                              int64_t stride, const quintet_hdbscan_options* options,
                                              const char* device, void* core, int64_t* neighbours) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type), real = accumulator_of(t);
    any_output(core, real, n, "core");
    const any_matrix x = any_input(points, t, n, dim, stride, "points");
    pending_values values(hdbscan::detail::checked_count(x), real);
    const auto summary =
        hdbscan::core_distances_into(x, values.view(), hdbscan::spanning_tree_part(cluster_options(options)),
                                     chosen_device(device), weights_of(options, n));
    values.copy_to(core);
    set(neighbours, summary.neighbours);
  });
}

quintet_status quintet_hdbscan_mutual_reachability(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                   int64_t stride, const void* core,
                                                   const quintet_hdbscan_options* options, const char* device,
                                                   void* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto input = reachability_points(points, type, n, dim, stride, core);
    hdbscan::mutual_reachability(input.points, input.core,
                                 any_output(out, accumulator_of(input.points.type), n, n, out_stride, "out"),
                                 reachability_options(options), chosen_device(device));
  });
}

quintet_status quintet_hdbscan_core_and_reachability(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                     int64_t stride, const quintet_hdbscan_options* options,
                                                     const char* device, void* core, void* out,
                                                     int64_t out_stride) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type), real = accumulator_of(t);
    refuse_weights(options, "quintet_hdbscan_core_distances() has them");
    const any_matrix x = any_input(points, t, n, dim, stride, "points");
    pending_values values(hdbscan::detail::checked_count(x), real);
    hdbscan::core_and_reachability_into(x, values.view(), any_output(out, real, n, n, out_stride, "out"),
                                        hdbscan::spanning_tree_part(cluster_options(options)),
                                        reachability_options(options), chosen_device(device));
    values.copy_to(core);
  });
}

quintet_status quintet_hdbscan_reachability_pairs(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                  int64_t stride, const void* core, const int64_t* pairs, int64_t count,
                                                  const quintet_hdbscan_options* options, void* out) noexcept {
  return guarded([&] {
    const auto input = reachability_points(points, type, n, dim, stride, core);
    const scalar_type real = accumulator_of(input.points.type);
    any_output(out, real, count, "out");
    const auto list = input_matrix<std::int64_t>(pairs, count, 2, 2, "pairs");
    pending_values values(count, real);
    hdbscan::mutual_reachability_pairs(input.points, input.core, list, values.view(), reachability_options(options),
                                       Device::host());
    values.copy_to(out);
  });
}

quintet_status quintet_hdbscan_reachability_rows(const void* points, quintet_type type, int64_t n, int64_t dim,
                                                 int64_t stride, const void* core, int64_t budget_bytes,
                                                 const quintet_hdbscan_options* options, const char* device,
                                                 quintet_row_block receive, void* user) noexcept {
  return guarded([&] {
    if (receive == nullptr) throw InvalidArgument("receive must not be null");
    const auto input = reachability_points(points, type, n, dim, stride, core);
    const bool finished = hdbscan::mutual_reachability_rows(
        input.points, input.core,
        [&](std::int64_t first_row, any_matrix rows) {
          return receive(first_row, rows.data, rows.rows, rows.cols, rows.stride, user) != 0;
        },
        budget_bytes, reachability_options(options), chosen_device(device));
    if (!finished) throw Cancelled("rows");
  });
}

quintet_status quintet_hdbscan_spanning_tree(const void* points, quintet_type type, int64_t n, int64_t dim,
                                             int64_t stride, const quintet_hdbscan_options* options, const char* device,
                                             quintet_progress report, void* user, quintet_edge* edges, int64_t* count,
                                             double* core) noexcept {
  return guarded([&] {
    required(count, "count");
    const scalar_type t = storage_type_of(type);
    const any_matrix x = any_input(points, t, n, dim, stride, "points");
    array(edges, std::max<std::int64_t>(n - 1, 0), "edges");
    const auto tree = hdbscan::spanning_tree(x, hdbscan::spanning_tree_part(cluster_options(options)),
                                             chosen_device(device), passed_on(report, user), weights_of(options, n));
    for (std::size_t e = 0; e < tree.edges.size(); ++e)
      edges[e] = {tree.edges[e].u, tree.edges[e].v, tree.edges[e].weight};
    *count = std::int64_t(tree.edges.size());
    copy_to(tree.core_distances, core);
  });
}

}  // extern "C"
