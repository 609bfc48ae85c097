#include "hdbscan/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>

#include "hdbscan/output.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "support/points.hpp"

namespace quintet::driver {

namespace {

using hdbscan::sweep_setting;

constexpr const char* setting_columns =
    "min_samples,min_cluster_size,epsilon,clusters,noise,persistence,relative_validity,dbcv,stability";

std::array<double, 9> row_of(const sweep_setting& s) {
  return {double(s.min_samples), double(s.min_cluster_size), s.epsilon, double(s.clusters), double(s.noise),
          s.persistence,         s.relative_validity,        s.dbcv,    s.stability};
}

nlohmann::ordered_json json_of(const sweep_setting& s) {
  return {{"min_samples", s.min_samples},
          {"min_cluster_size", s.min_cluster_size},
          {"epsilon", s.epsilon},
          {"clusters", s.clusters},
          {"noise", s.noise},
          {"persistence", s.persistence},
          {"relative_validity", s.relative_validity},
          {"dbcv", std::isnan(s.dbcv) ? nlohmann::ordered_json() : nlohmann::ordered_json(s.dbcv)},
          {"stability", s.stability}};
}

void report_best(session& session, const hdbscan::sweep_result& result) {
  if (result.best < 0) {
    session.result("best", nullptr);
    session.warn("no setting has two clusters or more: none is the best");
    return;
  }
  const sweep_setting& best = result.settings[result.best];
  session.result("best", json_of(best));
  session.say() << "the best: min_samples " << best.min_samples << ", min_cluster_size " << best.min_cluster_size;
  if (result.options.epsilon.size() > 1 || best.epsilon > 0) session.say() << ", epsilon " << best.epsilon;
  session.say() << ", with " << best.clusters << " clusters and " << best.noise << " points of noise\n";
}

void report(session& session, const hdbscan::sweep_result& result) {
  const hdbscan::spanning_tree_result& tree = result.trees.back();
  driver::report(session, {tree.neighbours, tree.clamped, tree.invalid_rows}, result.options.distance.kind);
  session.result("settings", result.settings.size());
  session.result("trees", result.trees.size());
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const hdbscan::persistent_layer& layer : result.layers)
    layers.push_back({{"min_cluster_size", layer.min_cluster_size},
                      {"persistence", layer.persistence},
                      {"clusters", *std::max_element(layer.labels.begin(), layer.labels.end()) + 1}});
  session.say() << result.settings.size() << " settings of " << result.trees.size() << " spanning trees\n";
  report_best(session, result);
  session.result("layers", layers);
}

void write_csv(const std::string& path, const hdbscan::sweep_result& result) {
  std::vector<double> values;
  for (const sweep_setting& setting : result.settings)
    for (const double value : row_of(setting)) values.push_back(value);
  const std::vector<std::string> names = split(setting_columns, ',');
  const auto columns = std::int64_t(names.size());
  io::write_csv(path, matrix_view<const double>(values.data(), std::ssize(result.settings), columns), names);
}

void write_hdf5(const session& session, const std::string& path, const hdbscan::sweep_result& result) {
  io::hdf5_writer out(path);
  std::vector<double> values;
  for (const sweep_setting& setting : result.settings)
    for (const double value : row_of(setting)) values.push_back(value);
  const std::int64_t settings = std::ssize(result.settings), columns = std::ssize(split(setting_columns, ','));
  out.write("settings", matrix_view<const double>(values.data(), settings, columns));
  out.attribute("settings", "columns", setting_columns);
  if (result.best >= 0) out.write("labels", hdbscan::labels_at(result, result.best));
  if (!result.labels.empty())
    out.write("all_labels", matrix_view<const std::int32_t>(result.labels.data(), settings, result.points));
  std::vector<double> peaks;
  std::vector<std::int32_t> labels;
  for (const hdbscan::persistent_layer& layer : result.layers) {
    peaks.insert(peaks.end(), {double(layer.min_cluster_size), layer.persistence});
    labels.insert(labels.end(), layer.labels.begin(), layer.labels.end());
  }
  const std::int64_t layers = std::ssize(result.layers);
  out.write("layers", matrix_view<const double>(peaks.data(), layers, 2));
  out.attribute("layers", "columns", "min_cluster_size,persistence");
  out.write("layer_labels", matrix_view<const std::int32_t>(labels.data(), layers, result.points));
  session.write_attributes(out);
  out.attribute("", "best", result.best);
  out.commit();
}

/// The best setting as quintet-hdbscan writes it with these parameters.
void write_best(const session& session, const arguments& a, const hdbscan::sweep_result& result,
                bool single_precision) {
  findings best;
  best.clustering = hdbscan::clustering_at(result, result.best);
  best.single_precision = single_precision;
  if (io::format_of(a.best_output) == io::file_format::csv)
    driver::write_csv(a.best_output, best);
  else
    driver::write_hdf5(session, a.best_output, best, false);
}

}  // namespace

void sweep_points(session& session, const arguments& a, any_matrix points, const std::vector<double>& weights,
                  bool single_precision) {
  const auto result = session.timed("sweep", [&] {
    return hdbscan::sweep(points, sweep_options_of(a), session.device(), session.progress(), weights);
  });
  report(session, result);
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a.output, result);
    else
      write_hdf5(session, a.output, result);
    if (!a.best_output.empty() && result.best >= 0) write_best(session, a, result, single_precision);
  });
  if (!a.best_output.empty() && result.best >= 0) session.say() << a.best_output << " written\n";
  session.say_done(a.output);
}

}  // namespace quintet::driver
