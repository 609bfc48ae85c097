#include "quintet/hdbscan/validity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "hdbscan/checks.hpp"
#include "hdbscan/each_row.hpp"
#include "hdbscan/members.hpp"
#include "hdbscan/rounds.hpp"
#include "hdbscan/row_blocks.hpp"
#include "hdbscan/row_order.hpp"
#include "hdbscan/weights.hpp"
#include "pairwise/locality.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/pairs.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

// Neighbours in the lists that the spanning trees begin with, and memory for the table of minima.
constexpr std::int64_t list_length = 12, minima_table_bytes = std::int64_t(32) << 20;

// Terms smaller than the largest by this power of two do not show in the sum of 2^31 of them.
constexpr double negligible_exponent = 90;

/// Reduced all-points core distance of every row of a matrix of distances; a point's own, 0, is left out with all
/// zeros.
template <class Real>
struct all_points_core {
  matrix_view<const Real> distances;
  double dimension;
  pairwise::reduced_metric<Real> measure;
  Real* core;

  void operator()(std::int64_t i) const { core[i] = measure.reduced(Real(of_row(distances.row(i), distances.cols()))); }

 private:
  double of_row(const Real* row, std::int64_t count) const {
    Real min = std::numeric_limits<Real>::infinity();
    for (std::int64_t j = 0; j < count; ++j)
      if (row[j] > 0 && row[j] < min) min = row[j];
    if (min == std::numeric_limits<Real>::infinity()) return 0;
    const double farthest = double(min) * std::exp2(negligible_exponent / dimension);
    double sum = 0;
    for (std::int64_t j = 0; j < count; ++j)
      if (row[j] > 0 && double(row[j]) <= farthest) sum += std::pow(double(min) / double(row[j]), dimension);
    return double(min) * std::pow(sum / double(count - 1), -1 / dimension);
  }
};

/// A cluster and what its spanning tree says about it.
template <class Real>
struct cluster_part {
  std::vector<std::int32_t> members;
  std::vector<Real> core;         ///< all-points core distance of every member, as a reduced distance
  std::vector<char> is_internal;  ///< of every member
  double sparseness = 0;
};

/// Reports the part of all pairs that is done.
class pair_progress {
 public:
  pair_progress(const progress_callback& callback, std::int64_t pairs) : report_(callback), pairs_(pairs) {
    report_("validity", 0);
  }
  void count_pairs(std::int64_t pairs) { report_("validity", double(done_ += pairs) / double(pairs_)); }
  void finish() { report_("validity", 1); }

 private:
  progress report_;
  std::int64_t pairs_, done_ = 0;
};

template <class Storage>
class validity_engine {
  using Real = accumulator_t<Storage>;

 public:
  validity_engine(matrix_view<const Storage> points, const validity_options& options, const Device& device)
      : source_(points),
        points_(points, options.distance, device),
        options_(options),
        // (1 / d^2)^D is (1 / d)^(2 D).
        dimension_((is_squared() ? 2 : 1) * (options.dimension > 0
                                                 ? options.dimension
                                                 : double(dimension_of(options.distance, points.cols())))) {}

  /// Clusters of at least two valid points; `label` receives their labels.
  std::vector<cluster_part<Real>> parts(std::span<const std::int64_t> labels, std::int64_t clusters,
                                        std::vector<std::int64_t>& label) const {
    auto members = members_by_label(labels, clusters, order());
    std::vector<cluster_part<Real>> parts;
    for (std::int64_t k = 0; k < clusters; ++k) {
      if (members[k].size() < 2) continue;
      parts.push_back({std::move(members[k]), {}, {}, 0});
      label.push_back(k);
    }
    return parts;
  }

  /// Pairs of points within parts are the measure of progress.
  void examine(cluster_part<Real>& part, pair_progress& report) const {
    const auto panels = points_.pack(part.members);
    part.core = reduced_cores(panels, report);
    if (options_.convention != validity_convention::indexed) return find_internal(part, grown_tree(part));
    auto rounds = engine(panels, part.core, part.members);
    progress silent;
    run_rounds(rounds, silent);
    find_internal(part, rounds.tree());
  }

  /// The least m between internal points of each part and of any other.
  std::vector<double> separations(const std::vector<cluster_part<Real>>& parts) const {
    std::vector<std::int32_t> order, component;
    std::vector<Real> core;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto first = std::int32_t(order.size());
      for (std::size_t i = 0; i < parts[k].members.size(); ++i) {
        if (!parts[k].is_internal[i]) continue;
        order.push_back(parts[k].members[i]);
        core.push_back(parts[k].core[i]);
        component.push_back(first);
      }
    }
    const auto panels = points_.pack(order);
    // One round, for the parts as components.
    auto rounds = engine(panels, core, order);
    const std::size_t count = order.size();
    rounds.restore({std::move(component), std::vector<edge_key>(count, no_edge), std::vector<Real>(count, 0)});
    single_process process;
    round_exchange<Real> exchange(process);
    relax_edges(rounds, exchange);
    std::vector<double> result;
    for (const edge_record<Real>& e : rounds.best()) result.push_back(distance(weight_of(e)));
    return result;
  }

 private:
  bool is_squared() const { return options_.convention == validity_convention::moulavi_2014; }
  double distance(Real reduced) const {
    const double d = points_.measure.distance(reduced);
    return is_squared() ? d * d : d;
  }

  /// The valid points in the order in which members of clusters are listed.
  std::vector<std::int32_t> order() const {
    // In this order tiles hold points that are close together, which is what prunes the search for edges.
    if (options_.convention == validity_convention::indexed) return pairwise::locality_order(points_);
    std::vector<std::int32_t> rows = points_.valid_rows();
    if (options_.convention == validity_convention::moulavi_2014) return rows;
    const std::vector<Storage> values = device::host_copy(source_);
    std::sort(rows.begin(), rows.end(),
              row_order<Storage>{matrix_view<const Storage>(values.data(), source_.rows(), source_.cols()),
                                 is_of_words(points_.kind())});
    return rows;
  }

  /// An edge from the tree to a point outside it.
  struct front_edge {
    Real weight = std::numeric_limits<Real>::infinity(), distance = std::numeric_limits<Real>::infinity();
    std::int32_t from = -1, to = -1;  ///< members
  };

  bool is_before(const front_edge& a, const front_edge& b) const {
    if (is_squared() || a.weight != b.weight) return a.weight < b.weight;
    return std::tuple(a.distance, std::min(a.from, a.to), std::max(a.from, a.to)) <
           std::tuple(b.distance, std::min(b.from, b.to), std::max(b.from, b.to));
  }

  /// The minimum spanning tree by Prim's algorithm (1957) from the first member.
  std::vector<packed_edge<Real>> grown_tree(const cluster_part<Real>& part) const {
    const auto n = std::int32_t(part.members.size());
    std::vector<front_edge> front(n);  // of every member outside the tree
    std::vector<char> is_joined(n, 0);
    std::vector<packed_edge<Real>> edges;
    for (std::int32_t joined = 0; std::int32_t(edges.size()) < n - 1;) {
      poll();
      is_joined[joined] = 1;
      const std::vector<Real> row = distances_from(part, joined);
      std::int32_t next = -1;
      for (std::int32_t j = 0; j < n; ++j) {
        if (is_joined[j]) continue;
        const Real weight = pairwise::mutual_reachability(part.core[joined], part.core[j], row[j]);
        const front_edge edge{weight, row[j], joined, j};
        if (front[j].to < 0 || is_before(edge, front[j])) front[j] = edge;
        if (next < 0 || is_before(front[j], front[next])) next = j;
      }
      edges.push_back({front[next].weight, front[next].from, next});
      joined = next;
    }
    return edges;
  }

  /// Reduced distances of a member to all.
  std::vector<Real> distances_from(const cluster_part<Real>& part, std::int32_t member) const {
    std::vector<std::int64_t> pairs;
    for (const std::int32_t other : part.members) pairs.insert(pairs.end(), {part.members[member], other});
    const Buffer<std::int64_t> index(pairs, points_.device());
    Buffer<Real> row(std::int64_t(part.members.size()), points_.device());
    pairwise::reduced_pairs(points_, {index.data(), row.size(), 2, points_.device()}, row.data());
    return row.to_vector();
  }

  std::vector<Real> reduced_cores(const pairwise::panels<Real>& panels, pair_progress& report) const {
    Buffer<Real> core(panels.count, panels.device());
    for_row_blocks(panels, distance_arguments(panels, points_.measure), options_.budget_bytes,
                   [&](std::int64_t first, matrix_view<const Real> rows) {
                     for_each_row(rows.rows(),
                                  all_points_core<Real>{rows, dimension_, points_.measure, core.data() + first},
                                  panels.device());
                     report.count_pairs(rows.rows() * rows.cols());
                     return true;
                   });
    return core.to_vector();
  }

  static boruvka<Real> engine(const pairwise::panels<Real>& panels, const std::vector<Real>& core,
                              const std::vector<std::int32_t>& original) {
    const int length = int(std::min(list_length, panels.count - 1));
    auto lists = pairwise::nearest_others_on_device(panels, length, minima_table_bytes);
    const auto outside = lower_bounds_outside_list(core, pairwise::outside_lists(lists), length, panels.count);
    return {panels, std::move(lists), core, outside, original};
  }

  void find_internal(cluster_part<Real>& part, const std::vector<packed_edge<Real>>& edges) const {
    std::vector<std::int32_t> degree(part.members.size(), 0);
    for (const auto& e : edges) ++degree[e.first], ++degree[e.second];
    part.is_internal.resize(degree.size());
    std::transform(degree.begin(), degree.end(), part.is_internal.begin(), [](std::int32_t d) { return d > 1; });
    Real longest = -1, longest_internal = -1;
    for (const auto& e : edges) {
      longest = std::max(longest, e.weight);
      if (part.is_internal[e.first] && part.is_internal[e.second])
        longest_internal = std::max(longest_internal, e.weight);
    }
    if (part.members.size() == 2) part.is_internal.assign(2, 1);
    part.sparseness = distance(longest_internal >= 0 ? longest_internal : longest);
  }

  matrix_view<const Storage> source_;
  pairwise::scanned_points<Storage> points_;
  validity_options options_;
  double dimension_;
};

template <class Storage>
validity_result validity_of(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                            const validity_options& options, const Device& requested_device,
                            const progress_callback& callback) {
  const stage_region stage("validity");
  const Device device = device::run_device(requested_device, {{"points", points}});
  check_points(points);
  check_distance(options.distance);
  if (is_of_bits(options.distance.kind))
    require_argument(options.dimension > 0, "dimension", options.dimension,
                     text("> 0 with metric ", to_string(options.distance.kind), ": rows of bits have no dimension"));
  require_argument(options.dimension >= 0 && std::isfinite(options.dimension), "dimension", options.dimension,
                   ">= 0 and finite");
  require_argument(options.budget_bytes >= 0, "budget_bytes", options.budget_bytes, ">= 0");
  const std::int64_t n = points.rows(), clusters = count_labels(labels, n);
  validity_result result{0, std::vector<double>(clusters, 0), std::vector<double>(clusters, 0),
                         std::vector<double>(clusters, std::numeric_limits<double>::infinity())};
  const validity_engine<Storage> engine(points, options, device);
  std::vector<std::int64_t> label;
  auto parts = engine.parts(labels, clusters, label);
  std::int64_t pairs = 0;
  for (const auto& part : parts) pairs += std::int64_t(part.members.size() * part.members.size());
  pair_progress report(callback, pairs);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    engine.examine(parts[p], report);
    result.sparseness[label[p]] = parts[p].sparseness;
  }
  if (parts.size() < 2) {
    report.finish();
    return result;
  }
  const std::vector<double> separation = engine.separations(parts);
  report.finish();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t k = label[p];
    result.separation[k] = separation[p];
    result.cluster_validity[k] = contrast(separation[p], parts[p].sparseness);
    result.index = std::fma(double(parts[p].members.size()) / double(n), result.cluster_validity[k], result.index);
  }
  return result;
}

/// Rows repeated as often as they count, on the host, are those of the definition.
template <class Storage>
validity_result validity_of_repeated(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                                     const validity_options& options, const Device& device,
                                     const progress_callback& callback, const std::vector<double>& weights) {
  check_points(points);
  const std::int64_t clusters = count_labels(labels, points.rows());
  const device::staged_in on_host(points, Device::host());
  const matrix_view<const Storage> rows = on_host.view();
  std::vector<Storage> values;
  std::vector<std::int64_t> label;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    require_element(weights[i] == std::floor(weights[i]), "weights", i, weights[i], "a whole number for DBCV");
    require_element(weights[i] + double(label.size()) <= double(pairwise::max_points), "weights", i, weights[i],
                    text("such that their sum is at most ", pairwise::max_points));
    label.insert(label.end(), std::size_t(weights[i]), labels[i]);
    for (std::int64_t copy = 0; copy < std::int64_t(weights[i]); ++copy)
      values.insert(values.end(), rows.row(i), rows.row(i) + rows.cols());
  }
  const matrix_view<const Storage> repeated(values.data(), std::int64_t(label.size()), rows.cols());
  validity_result result = validity_of<Storage>(repeated, label, options, device, callback);
  result.cluster_validity.resize(clusters, 0);
  result.sparseness.resize(clusters, 0);
  result.separation.resize(clusters, std::numeric_limits<double>::infinity());
  return result;
}

}  // namespace

validity_result validity_index(any_matrix points, std::span<const std::int64_t> labels, const validity_options& options,
                               const Device& device, const progress_callback& report, std::span<const double> weights) {
  const std::vector<double> used = used_weights(weights, points.rows);
  return with_storage(points.type, [&]<class T>() {
    const auto rows = points.as<T>("points");
    if (used.empty()) return validity_of<T>(rows, labels, options, device, report);
    return validity_of_repeated<T>(rows, labels, options, device, report, used);
  });
}

}  // namespace quintet::hdbscan
