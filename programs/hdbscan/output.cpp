#include "hdbscan/output.hpp"

#include <algorithm>
#include <iomanip>

#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"

namespace quintet::driver {

namespace {

struct cluster_line {
  std::int64_t size = 0;
  double probability = 0;  // mean
};

std::vector<cluster_line> cluster_lines(const hdbscan::clustering& result) {
  std::vector<cluster_line> lines(result.clusters());
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    if (result.labels[i] < 0) continue;
    cluster_line& line = lines[result.labels[i]];
    ++line.size;
    line.probability += result.probabilities[i];
  }
  for (cluster_line& line : lines) line.probability /= static_cast<double>(std::max<std::int64_t>(line.size, 1));
  return lines;
}

void print_table(std::ostream& out, const hdbscan::clustering& result) {
  constexpr std::size_t max = 40;
  const std::vector<cluster_line> lines = cluster_lines(result);
  if (lines.empty()) return;
  out << "\ncluster     size  persistence  mean probability\n" << std::fixed << std::setprecision(3);
  for (std::size_t c = 0; c < lines.size() && c < max; ++c)
    out << std::setw(7) << c << std::setw(9) << lines[c].size << std::setw(13) << result.persistence[c] << std::setw(18)
        << lines[c].probability << "\n";
  if (lines.size() > max) out << "... and " << lines.size() - max << " more\n";
  out << std::defaultfloat << std::setprecision(6) << "\n";
}

/// Columns of a matrix by themselves.
std::vector<std::vector<double>> transposed(const io::matrix<double>& matrix) {
  std::vector<std::vector<double>> columns(matrix.cols, std::vector<double>(matrix.rows));
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = 0; k < matrix.cols; ++k) columns[k][i] = matrix.data[i * matrix.cols + k];
  return columns;
}

/// Writes `columns` and, if there are any, memberships as member0, member1, ...
void write_with_memberships(const std::string& path, std::vector<io::column> columns,
                            const std::optional<io::matrix<double>>& memberships) {
  const auto members = memberships ? transposed(*memberships) : std::vector<std::vector<double>>();
  for (std::size_t k = 0; k < members.size(); ++k)
    columns.push_back({text("member", k), std::span<const double>(members[k])});
  io::write_csv(path, columns);
}

// Rows as a matrix of doubles (they hold every index exactly) with the names of its columns.
template <class Row, class... Column>
void write_table(io::hdf5_writer& out, const std::string& name, const std::vector<Row>& rows,
                 const std::string& columns, Column Row::*... column) {
  std::vector<double> values;
  values.reserve(rows.size() * sizeof...(column));
  for (const Row& row : rows) (values.push_back(static_cast<double>(row.*column)), ...);
  const auto count = static_cast<std::int64_t>(rows.size());
  out.write(name, matrix_view<const double>(values.data(), count, sizeof...(column)));
  out.attribute(name, "columns", columns);
}

void write_optional(io::hdf5_writer& out, const std::string& name, const std::optional<io::matrix<double>>& matrix) {
  if (matrix) out.write(name, matrix->view());
}

void write_predicted(io::hdf5_writer& out, const predicted_points& points) {
  out.write("predicted_labels", points.prediction.labels);
  out.write("predicted_probabilities", points.prediction.probabilities);
  out.write("predicted_outlier_scores", points.prediction.outlier_scores);
  out.write("predicted_neighbours", points.prediction.neighbours);
  write_optional(out, "predicted_memberships", points.memberships);
}

std::vector<float> rounded(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

void report(session& session, const hdbscan::cluster_result& result) {
  const auto noise = std::count(result.labels.begin(), result.labels.end(), -1);
  const hdbscan::spanning_tree_counters& counters = result.counters;
  session.result("clusters", result.clusters());
  session.result("noise", noise);
  session.result("components", result.components);
  session.result("tie_tolerance", *result.options.tie_tolerance);
  session.result("spanning_tree_weight", result.spanning_tree_weight());
  session.result("ran_on", {{"neighbours", result.ran_on.neighbours.spelling()},
                            {"spanning_tree", result.ran_on.spanning_tree.spelling()},
                            {"tree_stage", result.ran_on.tree_stage.spelling()}});
  session.result("counters", {{"rounds", counters.rounds},
                              {"tiles", counters.tiles},
                              {"tiles_scanned", counters.tiles_scanned},
                              {"pairs_evaluated", counters.pairs_evaluated},
                              {"passes", counters.passes}});
  session.timer().add("neighbours", result.neighbours_seconds);
  session.timer().add("spanning_tree", result.spanning_tree_seconds);
  session.timer().add("tree_stage", result.tree_stage_seconds);
  session.say() << result.clusters() << " clusters, " << noise << " points of noise; spanning tree of weight "
                << result.spanning_tree_weight() << " over the distances to " << result.neighbours << " neighbours\n";
  if (result.components > 1) session.say() << "the distances leave " << result.components << " parts unconnected\n";
  print_table(session.say(), result);
}

void write_csv(const std::string& path, const findings& all) {
  const hdbscan::cluster_result& result = all.clustering;
  const std::vector<float> core = all.single_precision ? rounded(result.core_distances) : std::vector<float>();
  std::vector<io::column> columns{{"label", std::span<const std::int64_t>(result.labels)},
                                  {"probability", std::span<const double>(result.probabilities)},
                                  {"outlier_score", std::span<const double>(result.outlier_scores)}};
  if (all.single_precision)
    columns.push_back({"core_distance", std::span<const float>(core)});
  else
    columns.push_back({"core_distance", std::span<const double>(result.core_distances)});
  if (all.cut_labels) columns.push_back({"cut_label", std::span<const std::int64_t>(*all.cut_labels)});
  if (all.near_labels) columns.push_back({"near_label", std::span<const std::int64_t>(*all.near_labels)});
  write_with_memberships(path, std::move(columns), all.memberships);
}

void write_hdf5(const session& session, const std::string& path, const findings& all, bool predicted_too) {
  const hdbscan::cluster_result& result = all.clustering;
  io::hdf5_writer out(path);
  out.write("labels", result.labels);
  out.write("probabilities", result.probabilities);
  out.write("outlier_scores", result.outlier_scores);
  if (all.single_precision)
    out.write("core_distances", rounded(result.core_distances));
  else
    out.write("core_distances", result.core_distances);
  if (all.cut_labels) out.write("cut_labels", *all.cut_labels);
  if (all.near_labels) out.write("near_labels", *all.near_labels);
  write_optional(out, "memberships", all.memberships);
  if (predicted_too) write_predicted(out, *all.predicted);
  out.write("persistence", result.persistence);
  out.write("selected_clusters", result.selected);
  using hdbscan::condensed_row, hdbscan::edge, hdbscan::linkage_row;
  write_table(out, "spanning_tree", result.spanning_tree, "u,v,weight", &edge::u, &edge::v, &edge::weight);
  write_table(out, "single_linkage_tree", result.single_linkage.rows, "left,right,height,size", &linkage_row::left,
              &linkage_row::right, &linkage_row::height, &linkage_row::size);
  write_table(out, "condensed_tree", result.condensed.rows, "parent,child,lambda,size", &condensed_row::parent,
              &condensed_row::child, &condensed_row::lambda, &condensed_row::size);
  session.write_attributes(out);
  out.attribute("", "neighbours", result.neighbours);
  out.commit();
}

void write_predicted_csv(const std::string& path, const predicted_points& points) {
  write_with_memberships(path,
                         {{"label", std::span<const std::int64_t>(points.prediction.labels)},
                          {"probability", std::span<const double>(points.prediction.probabilities)},
                          {"outlier_score", std::span<const double>(points.prediction.outlier_scores)},
                          {"neighbour", std::span<const std::int64_t>(points.prediction.neighbours)}},
                         points.memberships);
}

void write_predicted_hdf5(const session& session, const std::string& path, const predicted_points& points) {
  io::hdf5_writer out(path);
  write_predicted(out, points);
  session.write_attributes(out);
  out.commit();
}

}  // namespace quintet::driver
