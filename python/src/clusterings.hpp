// Options of clusterings from Python, and what comes out of them: structures go out as int64 patterns of records (see
// records.hpp), options come as one tuple.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/tree_stages.hpp"
#include "records.hpp"

namespace quintet::python {

using namespace hdbscan;

inline point_metric metric_of(const std::string& name, double curvature) { return {parse_metric(name), curvature}; }

/// (min_cluster_size, binary, tie_tolerance, leaf, epsilon, epsilon_max, max_cluster_size, allow_single_cluster).
inline tree_options tree_options_of(const nb::tuple& t) {
  return {.min_cluster_size = nb::cast<std::int64_t>(t[0]),
          .tie_mode = nb::cast<bool>(t[1]) ? ties::binary : ties::canonical,
          .tie_tolerance = nb::cast<double>(t[2]),
          .method = nb::cast<bool>(t[3]) ? selection::leaf : selection::eom,
          .epsilon = nb::cast<double>(t[4]),
          .epsilon_max = nb::cast<double>(t[5]),
          .max_cluster_size = nb::cast<std::int64_t>(t[6]),
          .allow_single_cluster = nb::cast<bool>(t[7])};
}

/// The same and (min_samples, count_self, alpha, metric, curvature).
inline cluster_options options_of(const nb::tuple& t) {
  cluster_options all = tree_options_of(t);
  all.min_samples = nb::cast<std::int64_t>(t[8]);
  all.count_self = nb::cast<bool>(t[9]);
  all.alpha = nb::cast<double>(t[10]);
  all.distance = metric_of(nb::cast<std::string>(t[11]), nb::cast<double>(t[12]));
  return all;
}

/// (min_samples, count_self, alpha, metric, curvature).
inline spanning_tree_options spanning_options_of(const nb::tuple& t) {
  return {nb::cast<std::int64_t>(t[0]), nb::cast<bool>(t[1]),
          metric_of(nb::cast<std::string>(t[3]), nb::cast<double>(t[4])), nb::cast<double>(t[2])};
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
  single_linkage_tree tree{rows.rows() + 1, std::vector<linkage_row>(std::size_t(rows.rows()))};
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    tree.rows[std::size_t(i)] = {whole(rows, i, 0, name), whole(rows, i, 1, name), rows(i, 2), whole(rows, i, 3, name)};
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
  d["invalid_rows"] = to_numpy(std::move(r.invalid_rows));
  d["counters"] = counters_of(r.counters);
  d["ran_on"] = devices_of(r.ran_on);
  d["seconds"] = nb::make_tuple(r.neighbours_seconds, r.spanning_tree_seconds, r.tree_stage_seconds);
  return d;
}

inline nb::dict dict_of(spanning_tree_result&& r) {
  nb::dict d;
  d["edges"] = matrix_of(r.edges);
  d["core_distances"] = to_numpy(std::move(r.core_distances));
  d["neighbours"] = r.neighbours;
  d["clamped"] = r.clamped;
  d["invalid_rows"] = to_numpy(std::move(r.invalid_rows));
  d["counters"] = counters_of(r.counters);
  d["ran_on"] = devices_of(r.ran_on);
  d["seconds"] = nb::make_tuple(r.neighbours_seconds, r.spanning_tree_seconds);
  return d;
}

}  // namespace quintet::python
