// Options of clusterings from Python, and results for it: structures are int64 patterns of records (see records.hpp).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/tree_stages.hpp"
#include "records.hpp"

namespace quintet::python {

using namespace hdbscan;

constexpr auto tree_option_list = [](auto visit) {
  visit("min_cluster_size", &tree_options::min_cluster_size);
  visit("ties", &tree_options::tie_mode);
  visit("tie_tolerance", &tree_options::tie_tolerance);
  visit("cluster_selection_method", &tree_options::method);
  visit("cluster_selection_epsilon", &tree_options::epsilon);
  visit("cluster_selection_epsilon_max", &tree_options::epsilon_max);
  visit("max_cluster_size", &tree_options::max_cluster_size);
  visit("allow_single_cluster", &tree_options::allow_single_cluster);
};

/// For spanning_tree_options and cluster_options.
template <class Options>
constexpr auto spanning_option_list = [](auto visit) {
  visit("min_samples", &Options::min_samples);
  visit("count_self", &Options::count_self);
  visit("alpha", &Options::alpha);
};

inline tree_options tree_options_of(nb::handle object) {
  tree_options options;
  copy_options(tree_option_list, object, options);
  return options;
}

template <class Options>
Options spanning_options_of(nb::handle object) {
  Options options;
  copy_options(spanning_option_list<Options>, object, options);
  options.distance =
      metric_of(nb::cast<std::string>(object.attr("metric")), nb::cast<double>(object.attr("parameter")));
  return options;
}

inline cluster_options options_of(nb::handle object) {
  auto options = spanning_options_of<cluster_options>(object);
  copy_options(tree_option_list, object, options);
  return options;
}

// Edges [m, 3] and merges [n - 1, 4] are matrices of float64, as SciPy and hdbscan have them.

inline nb::object matrix_of(const std::vector<edge>& edges) {
  std::vector<double> rows;
  rows.reserve(3 * edges.size());
  for (const edge& e : edges) rows.insert(rows.end(), {double(e.u), double(e.v), e.weight});
  return to_numpy(std::move(rows), {std::int64_t(edges.size()), 3});
}

inline nb::object matrix_of(const std::vector<linkage_row>& merges) {
  std::vector<double> rows;
  rows.reserve(4 * merges.size());
  for (const linkage_row& r : merges)
    rows.insert(rows.end(), {double(r.left), double(r.right), r.height, double(r.size)});
  return to_numpy(std::move(rows), {std::int64_t(merges.size()), 4});
}

inline std::int64_t whole(const matrix_view<const double>& rows, std::int64_t row, std::int64_t column,
                          const char* name) {
  const double value = rows(row, column);
  if (!(std::abs(value) < 0x1p53)) throw InvalidArgument(text(name, "[:, ", column, "] must be finite, below 2^53"));
  return std::int64_t(value);
}

inline std::vector<edge> edges_of(const array& matrix, const char* name) {
  const auto rows = matrix.matrix<const double>();
  std::vector<edge> edges(std::size_t(rows.rows()));
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    edges[std::size_t(i)] = {whole(rows, i, 0, name), whole(rows, i, 1, name), rows(i, 2)};
  return edges;
}

inline single_linkage_tree linkage_of(const array& matrix, const char* name) {
  const auto rows = matrix.matrix<const double>();
  single_linkage_tree tree{rows.rows() + 1, std::vector<linkage_row>(std::size_t(rows.rows())), {}, {}};
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    tree.rows[std::size_t(i)] = {whole(rows, i, 0, name), whole(rows, i, 1, name), rows(i, 2), whole(rows, i, 3, name)};
  return tree;
}

/// Weights of points; none: 1 each.
inline std::span<const double> weights_of(const array& weights) {
  return weights.present() ? span_of<double>(weights) : std::span<const double>();
}

/// The dendrogram of points with weights: their core distances are their heights, and rows without one come last.
inline single_linkage_tree linkage_of(const array& matrix, const char* name, const array& weights, const array& core) {
  single_linkage_tree tree = linkage_of(matrix, name);
  const auto weight = weights_of(weights);
  if (weight.empty()) return tree;
  tree.weights.assign(weight.begin(), weight.end());
  for (const double distance : span_of<double>(core))
    tree.heights.push_back(std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance);
  return tree;
}

inline nb::dict dict_of(clustering&& c) {
  nb::dict d;
  d["labels"] = to_numpy(std::move(c.labels));
  d["probabilities"] = to_numpy(std::move(c.probabilities));
  d["outlier_scores"] = to_numpy(std::move(c.outlier_scores));
  d["persistence"] = to_numpy(std::move(c.persistence));
  d["selected"] = to_numpy(std::move(c.selected));
  d["exemplar_offsets"] = to_numpy(std::move(c.exemplars.offsets));
  d["exemplar_points"] = to_numpy(std::move(c.exemplars.points));
  d["condensed_clusters"] = c.condensed.clusters;
  d["condensed"] = records(std::move(c.condensed.rows));
  d["linkage"] = matrix_of(c.single_linkage.rows);
  d["components"] = c.components;
  return d;
}

/// Of a tree stage without points.
inline nb::dict dict_of(clustering&& c, const tree_options& options) {
  nb::dict d = dict_of(std::move(c));
  d["tie_tolerance"] = options.tie_tolerance.value_or(default_tie_tolerance());
  return d;
}

inline nb::dict counters_of(const spanning_tree_counters& c) {
  nb::dict d;
  d["rounds"] = c.rounds;
  d["tiles"] = c.tiles;
  d["tiles_scanned"] = c.tiles_scanned;
  d["pairs_evaluated"] = c.pairs_evaluated;
  d["passes"] = c.passes;
  return d;
}

inline nb::tuple devices_of(const stage_devices& ran) {
  return nb::make_tuple(ran.neighbours.spelling(), ran.spanning_tree.spelling(), ran.tree_stage.spelling());
}

inline nb::dict dict_of(cluster_result&& r) {
  nb::dict d = dict_of(static_cast<clustering&&>(r));
  d["core_distances"] = to_numpy(std::move(r.core_distances));
  d["spanning_tree"] = matrix_of(r.spanning_tree);
  d["neighbours"] = r.neighbours;
  d["clamped"] = r.clamped;
  d["tie_tolerance"] = *r.options.tie_tolerance;
  d["invalid_rows"] = to_numpy(std::move(r.invalid_rows));
  d["excluded_rows"] = to_numpy(std::move(r.excluded_rows));
  d["weights"] = to_numpy(std::move(r.weights));
  d["counters"] = counters_of(r.counters);
  d["ran_on"] = devices_of(r.ran_on);
  d["seconds"] = nb::make_tuple(r.neighbours_seconds, r.spanning_tree_seconds, r.tree_stage_seconds);
  d["min_cluster_size"] = r.options.min_cluster_size;
  d["min_samples"] = spanning_tree_part(r.options).min_samples;
  return d;
}

inline nb::dict dict_of(spanning_tree_result&& r) {
  nb::dict d;
  d["edges"] = matrix_of(r.edges);
  d["core_distances"] = to_numpy(std::move(r.core_distances));
  d["neighbours"] = r.neighbours;
  d["clamped"] = r.clamped;
  d["tie_tolerance"] = r.tie_tolerance;
  d["invalid_rows"] = to_numpy(std::move(r.invalid_rows));
  d["excluded_rows"] = to_numpy(std::move(r.excluded_rows));
  d["weights"] = to_numpy(std::move(r.weights));
  d["counters"] = counters_of(r.counters);
  d["ran_on"] = devices_of(r.ran_on);
  d["seconds"] = nb::make_tuple(r.neighbours_seconds, r.spanning_tree_seconds);
  return d;
}

}  // namespace quintet::python
