// quintet-hdbscan: clusters the points of a file.
#include "quintet/hdbscan/hdbscan.hpp"

#include <algorithm>

#include "hdbscan/arguments.hpp"
#include "hdbscan/output.hpp"
#include "quintet/core/error.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
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

/// Everything that is said about a clustering, and the files.
void finish(session& session, const arguments& a, findings& all) {
  const hdbscan::cluster_result& result = all.clustering;
  report(session, {result.neighbours, result.clamped, result.invalid_rows}, a.options.distance.kind);
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

template <class Storage>
void add_predictions(session& session, const arguments& a, findings& all, matrix_view<const Storage> points,
                     matrix_view<const Storage> further) {
  session.timed("predict", [&] {
    auto& predicted = all.predicted.emplace();
    predicted.found = hdbscan::approximate_predict(all.clustering, points, further, session.device());
    if (a.membership)
      predicted.memberships = {further.rows(), std::int64_t(all.clustering.clusters()),
                               hdbscan::membership_vectors(all.clustering, points, further, session.device())};
  });
  const auto& labels = all.predicted->found.labels;
  const auto noise = std::count(labels.begin(), labels.end(), -1);
  session.result("predicted", labels.size());
  session.result("predicted_noise", noise);
  session.say() << labels.size() << " further points, " << noise << " of them noise\n";
}

#ifdef QUINTET_HAS_MPI
template <class Storage>
void cluster_shared_points(session& session, const arguments& a) {
  mpi::communicator& ranks = *session.ranks();
  const auto points = read_shared_points<Storage>(session, a.input, a.dataset);
  session.say() << points.all_rows << " points of " << points.own.cols << " dimensions on "
                << (ranks.size() > 1 ? text(ranks.size(), " ranks, ") : "") << session.device().name() << std::endl;
  auto found = mpi::hdbscan::cluster(ranks, points.own.view(), points.first_row, a.options, session.device(),
                                     session.progress(clustering_shares(points.own.cols)),
                                     {a.checkpoint, a.checkpoint_minutes, a.resume});
  ranks.run_collectively([&] {
    if (!session.is_root()) return;
    findings all;
    all.single_precision = sizeof(Storage) < sizeof(double);
    all.clustering = std::move(found.whole);
    finish(session, a, all);
  });
}
#endif

template <class Storage>
void cluster_points(session& session, const arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return cluster_shared_points<Storage>(session, a);
#endif
  const io::matrix<Storage> points = read_points<Storage>(session, a.input, a.dataset);
  io::matrix<Storage> further;
  if (!a.predict.empty()) further = read_further_points<Storage>(session, a.predict, points.cols);
  session.say() << points.rows << " points of " << points.cols << " dimensions on " << session.device().name()
                << std::endl;
  findings all;
  all.single_precision = sizeof(Storage) < sizeof(double);
  all.clustering =
      hdbscan::cluster(points.view(), a.options, session.device(), session.progress(clustering_shares(points.cols)));
  if (a.membership) add_memberships(session, all, points.view());
  if (!a.predict.empty()) add_predictions(session, a, all, points.view(), std::as_const(further).view());
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
  if (is_matrix_market(a.input) && !device.automatic() && device.kind() != device_kind::host)
    throw InvalidArgument(
        text("--device must be auto or host for a sparse graph of distances (--device=", device.spelling(), ")"));
  findings all;
  all.single_precision = sizeof(Real) < sizeof(double);
  try {
    all.clustering =
        is_matrix_market(a.input) ? cluster_graph_file<Real>(session, a) : cluster_matrix_file<Real>(session, a);
  } catch (const InvalidArgument& wrong_distance) {
    throw FileError(a.input, wrong_distance.what());
  }
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
  if (session.line().given.contains("checkpoint"))
    require_absent(session.line(), {"precomputed", "predict", "membership"}, "cannot be combined with --checkpoint");
  require_one_process(session, {"precomputed", "predict", "membership"});
  check(a, session);
  // Wrong options are found before a large file is read.
  if (a.precomputed)
    hdbscan::cluster_distances({}, a.options, session.device());
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
