// quintet-hdbscan: clusters the points of a file.
#include "quintet/hdbscan/hdbscan.hpp"

#include <algorithm>

#include "hdbscan/arguments.hpp"
#include "hdbscan/output.hpp"
#include "hdbscan/sweep.hpp"
#include "quintet/core/error.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/io/hdbscan_model.hpp"
#include "quintet/io/matrix_file.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/hdbscan.hpp"
#endif
#include "support/driver.hpp"
#include "support/points.hpp"
#include "support/sparse.hpp"

namespace quintet::driver {

namespace {

std::vector<std::int64_t> cut_at(session& session, double height, const hdbscan::cluster_result& result) {
  auto labels = hdbscan::cut(result.single_linkage, height, result.options.min_cluster_size);
  const auto clusters = *std::max_element(labels.begin(), labels.end()) + 1;
  const auto noise = std::count(labels.begin(), labels.end(), -1);
  session.result("cut_clusters", clusters);
  session.result("cut_noise", noise);
  session.say() << "cut at " << height << ": " << clusters << " clusters, " << noise << " points of noise\n";
  return labels;
}

/// What --min-cluster-size auto chose.
void report_size(session& session, const hdbscan::cluster_result& result) {
  const std::int64_t size = result.options.min_cluster_size;
  session.result("min_cluster_size", size);
  session.say() << "the most persistent minimum cluster size is " << size << "\n";
  if (result.condensed.rows.empty() || result.clusters() == 0)
    session.warn(text("no size has clusters that persist; --min-cluster-size is ", size));
}

void report_weights(session& session, const hdbscan::cluster_result& result) {
  double sum = 0;
  for (const double weight : result.weights) sum += weight;
  if (result.weights.empty()) sum = double(result.labels.size());
  session.result("weights", {{"sum", sum}, {"excluded_rows", result.excluded_rows.size()}});
  session.say() << result.labels.size() << " points of weight " << sum << " in all, " << result.excluded_rows.size()
                << " of them of weight 0\n";
}

/// The clustering with the clusters of --clusters.
hdbscan::cluster_result chosen(session& session, const arguments& a, hdbscan::cluster_result model) {
  if (!a.clusters) return model;
  hdbscan::cluster_result result = hdbscan::flat(model, *a.clusters);
  result.neighbours_seconds = model.neighbours_seconds;
  result.spanning_tree_seconds = model.spanning_tree_seconds;
  result.tree_stage_seconds += model.tree_stage_seconds;
  const char* selection = result.options.method == hdbscan::selection::leaf ? "leaf" : "eom";
  session.result("selection", selection);
  session.result("epsilon", result.options.epsilon);
  session.say() << "--selection " << selection << " --epsilon " << result.options.epsilon << '\n';
  if (result.clusters() != *a.clusters)
    session.warn(
        text("--clusters ", *a.clusters, " is out of reach of these points: the nearest is ", result.clusters()));
  return result;
}

/// Everything that is said about a clustering, and the files.
void finish(session& session, const arguments& a, findings& all) {
  const hdbscan::cluster_result& result = all.clustering;
  report(session, {result.neighbours, result.clamped, result.invalid_rows}, a.options.distance.kind);
  if (!a.weights.empty()) report_weights(session, result);
  if (a.options.min_cluster_size == hdbscan::automatic_size) report_size(session, result);
  report(session, result);
  if (a.cut_height) all.cut_labels = cut_at(session, *a.cut_height, result);
  if (a.assign_noise) all.near_labels = hdbscan::assign_noise(result.spanning_tree, result.labels);
  const bool table_of_predicted = all.predicted && !a.predict_output.empty();
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a.output, all);
    else
      write_hdf5(session, a.output, all, all.predicted && !table_of_predicted);
    if (table_of_predicted) write_predicted_csv(a.predict_output, *all.predicted);
  });
  if (table_of_predicted) session.say() << a.predict_output << " written\n";
  session.say_done(a.output);
}

template <class Storage>
void add_memberships(session& session, findings& all, matrix_view<const Storage> points) {
  session.timed("membership", [&] {
    const auto clusters = std::int64_t(all.clustering.clusters());
    all.memberships = {points.rows(), clusters,
                       hdbscan::all_points_membership_vectors(all.clustering, points, session.device())};
  });
}

/// Where `further` points belong in the clustering of `points`.
predicted_points predicted(session& session, const arguments& a, const hdbscan::cluster_result& clustering,
                           any_matrix points, any_matrix further) {
  predicted_points places;
  session.timed("predict", [&] {
    places.prediction = hdbscan::approximate_predict(clustering, points, further, session.device());
    if (a.membership)
      places.memberships = {further.rows, std::int64_t(clustering.clusters()),
                            hdbscan::membership_vectors(clustering, points, further, session.device())};
  });
  const auto& labels = places.prediction.labels;
  const auto noise = std::count(labels.begin(), labels.end(), -1);
  session.result("predicted", labels.size());
  session.result("predicted_noise", noise);
  session.say() << labels.size() << " further points, " << noise << " of them noise\n";
  return places;
}

/// Puts further points into a clustering of before.
void predict_by_model(session& session, const arguments& a) {
  const io::hdbscan_model model = session.timed("load", [&] { return io::read_model(a.model); });
  const any_matrix points = model.points();
  with_storage(points.type, [&]<class Storage>() {
    session.settle_precision(spelling_of<Storage>());
    point_metric distance = model.clustering.options.distance;
    const std::int64_t dim = columns_in_files(distance, points.cols);
    io::matrix<Storage> further = read_further_points<Storage>(session, a.predict, dim);
    pack_words(further, a.predict, distance);
    session.result("n", points.rows);
    session.result("dim", dim);
    session.result("clusters", model.clustering.clusters());
    const predicted_points places = predicted(session, a, model.clustering, points, std::as_const(further).view());
    session.timed("write", [&] {
      if (io::format_of(a.output) == io::file_format::csv)
        write_predicted_csv(a.output, places);
      else
        write_predicted_hdf5(session, a.output, places);
    });
  });
  session.say_done(a.output);
}

#ifdef QUINTET_HAS_MPI
template <class Storage>
void cluster_shared_points(session& session, arguments& a) {
  mpi::communicator& ranks = *session.ranks();
  auto points = read_shared_points<Storage>(session, a.input, a.dataset);
  const std::int64_t dim = points.own.cols;
  ranks.run_collectively([&] { pack_words(points.own, a.input, a.options.distance); });
  session.say() << points.all_rows << " points of " << dim << " dimensions on "
                << (ranks.size() > 1 ? text(ranks.size(), " ranks, ") : "") << session.device().name() << std::endl;
  auto clusters_found = mpi::hdbscan::cluster(ranks, points.own.view(), points.first_row, a.options, session.device(),
                                              session.progress(clustering_shares(points.own.cols)),
                                              {a.checkpoint, a.checkpoint_minutes, a.resume});
  ranks.run_collectively([&] {
    if (!session.is_root()) return;
    findings all;
    all.single_precision = sizeof(Storage) < sizeof(double);
    all.clustering = chosen(session, a, std::move(clusters_found.whole));
    finish(session, a, all);
  });
}
#endif

template <class Storage>
void cluster_points(session& session, arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return cluster_shared_points<Storage>(session, a);
#endif
  io::matrix<Storage> points = read_points<Storage>(session, a.input, a.dataset);
  io::matrix<Storage> further;
  if (!a.predict.empty()) further = read_further_points<Storage>(session, a.predict, points.cols);
  std::vector<double> weights;
  if (!a.weights.empty()) weights = read_weights(session, a.weights, points.rows);
  const std::int64_t dim = points.cols;
  pack_words(points, a.input, a.options.distance);
  pack_words(further, a.predict, a.options.distance);
  session.say() << points.rows << " points of " << dim << " dimensions on " << session.device().name() << std::endl;
  if (a.sweep) return sweep_points(session, a, std::as_const(points).view(), weights, sizeof(Storage) < sizeof(double));
  findings all;
  all.single_precision = sizeof(Storage) < sizeof(double);
  all.clustering = chosen(session, a,
                          hdbscan::cluster(points.view(), a.options, session.device(),
                                           session.progress(clustering_shares(points.cols)), weights));
  if (a.membership) add_memberships(session, all, std::as_const(points).view());
  if (!a.predict.empty())
    all.predicted = predicted(session, a, all.clustering, points.view(), std::as_const(further).view());
  if (!a.model.empty()) session.timed("save", [&] { io::write_model(a.model, all.clustering, points.view()); });
  finish(session, a, all);
}

void require_square(const std::string& path, std::int64_t rows, std::int64_t cols, const char* purpose) {
  if (rows != cols) throw FileError(path, text("must be square ", purpose, " (", rows, " x ", cols, ")"));
}

template <class Real>
hdbscan::cluster_result cluster_graph_file(session& session, const arguments& a) {
  const auto graph = read_sparse<Real>(session, a.input);
  require_square(a.input, graph.rows, graph.cols, "to be a graph");
  session.result("n", graph.rows);
  session.result("distances", graph.nnz());
  return hdbscan::cluster_graph<Real>({graph.rows,
                                       {graph.row_pointers.data(), std::size_t(graph.rows) + 1},
                                       {graph.columns.data(), std::size_t(graph.nnz())},
                                       {graph.values.data(), std::size_t(graph.nnz())}},
                                      a.options);
}

template <class Real>
hdbscan::cluster_result cluster_matrix_file(session& session, const arguments& a) {
  const auto distances = read_points<Real>(session, a.input, a.dataset);
  require_square(a.input, distances.rows, distances.cols, "to hold the distances between all points");
  return hdbscan::cluster_distances(distances.view(), a.options, session.device());
}

template <class Real>
void cluster_precomputed(session& session, const arguments& a) {
  const Device& device = session.device();
  if (is_sparse_format(a.input) && !device.automatic() && device.kind() != device_kind::host)
    throw InvalidArgument(
        text("--device must be auto or host for a sparse graph of distances (--device=", device.spelling(), ")"));
  findings all;
  all.single_precision = sizeof(Real) < sizeof(double);
  try {
    all.clustering =
        is_sparse_format(a.input) ? cluster_graph_file<Real>(session, a) : cluster_matrix_file<Real>(session, a);
  } catch (const InvalidArgument& wrong_distance) {
    throw FileError(a.input, wrong_distance.what());
  }
  all.clustering = chosen(session, a, std::move(all.clustering));
  session.say() << all.clustering.labels.size() << " points by their distances" << std::endl;
  finish(session, a, all);
}

const program about{"quintet-hdbscan",
                    "exact HDBSCAN* clustering of points in any dimension.",
                    "quintet-hdbscan --input embeddings.npy --min-cluster-size 10 --min-samples 5 --output clusters.h5",
                    {"auto", "float", "double", "half", "bfloat16"},
                    true,
                    "checkpoint"};

void run(session& session, arguments& a) {
  if (session.line().option_names.contains("checkpoint"))
    require_absent(session.line(), {"precomputed", "predict", "membership", "weights", "model"},
                   "cannot be combined with --checkpoint");
  require_one_process(session, {"precomputed", "predict", "membership", "sweep", "weights", "model"});
  check(a, session);
  if (a.input.empty()) return predict_by_model(session, a);
  a.metric.choose_precision(session);
  // Wrong options are found before a large file is read.
  if (a.precomputed)
    hdbscan::cluster_distances({}, a.options, session.device());
  else if (a.sweep)
    hdbscan::sweep({}, sweep_options_of(a), session.device());
  else
    hdbscan::cluster({}, a.options, session.device());
  if (a.precomputed)
    with_precision(session, {{a.input, a.dataset}}, [&]<class Real>() { cluster_precomputed<Real>(session, a); });
  else
    with_storage(session, {{a.input, a.dataset}, {a.predict, ""}},
                 [&]<class Storage>() { cluster_points<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
