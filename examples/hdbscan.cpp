// quintet-hdbscan: clusters the points of a file.
#include "quintet/hdbscan/hdbscan.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "quintet/core/error.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/io/csv.hpp"
#include "support/driver.hpp"
#include "support/points.hpp"

namespace {

namespace po = boost::program_options;
namespace hdbscan = quintet::hdbscan;
namespace io = quintet::io;
using quintet::driver::session;

struct arguments {
  std::string input, dataset, output, selection, metric, ties;
  hdbscan::cluster_options options;
  double cut_height = std::nan("");  // NaN: not given
};

po::options_description describe(arguments& a) {
  po::options_description options("Options");
  options.add_options()                                                                                           //
      ("input", po::value(&a.input)->required()->value_name("FILE"), "points, one a row: .csv, .npy or .h5")      //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("output",
       quintet::driver::output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}, "output",
                                    "labels and probabilities are of different types, and a .npy file holds one array"),
       ".csv: a row a point, columns label,probability,outlier_score,core_distance (and cut_label with --cut).\n"
       ".h5: the same as datasets labels, probabilities, outlier_scores, core_distances (cut_labels), [n] each; "
       "persistence and selected_clusters [clusters]; tables, whose attribute columns names the columns: spanning_tree "
       "[n - 1, 3], single_linkage_tree [n - 1, 4], condensed_tree [rows, 4]; the parameters as attributes")  //
      ("min-cluster-size", po::value(&a.options.min_cluster_size)->default_value(5)->value_name("N"),
       "smaller groups are no clusters, >= 2")  //
      ("min-samples", po::value(&a.options.min_samples)->value_name("N")->notifier([](std::int64_t samples) {
        quintet::require_argument(samples >= 1, "--min-samples", samples, ">= 1");
      }),
       "neighbours that make a point dense, itself not counted; by default the minimum cluster size")  //
      ("count-self", po::bool_switch(&a.options.count_self),
       "counts a point among its own neighbours, as scikit-learn does")  //
      ("selection", po::value(&a.selection)->default_value("eom")->value_name("METHOD"),
       "eom (the most stable clusters) or leaf (the smallest)")  //
      ("epsilon", po::value(&a.options.epsilon)->default_value(0)->value_name("X"),
       "clusters that split at a smaller distance are kept whole, >= 0")  //
      ("alpha", po::value(&a.options.alpha)->default_value(1)->value_name("X"),
       "divides distances, but not core distances, > 0")  //
      ("max-cluster-size", po::value(&a.options.max_cluster_size)->default_value(0)->value_name("N"),
       "eom takes no larger cluster, >= 0, where 0 is no limit")  //
      ("allow-single-cluster", po::bool_switch(&a.options.allow_single_cluster),
       "all points may be one cluster")                                                                        //
      ("metric", po::value(&a.metric)->default_value("euclidean")->value_name("NAME"), "euclidean or cosine")  //
      ("ties", po::value(&a.ties)->default_value("canonical")->value_name("MODE"),
       "equal distances: canonical (independent of the order of the points) or binary (as other programs do)")  //
      ("cut", po::value(&a.cut_height)->value_name("H")->notifier([](double height) {
        quintet::require_argument(height >= 0, "--cut", height, ">= 0");
      }),
       "labels of the tree cut at this distance as well, as DBSCAN* finds them")  //
      ("outlier-scores", po::bool_switch(), "accepted; the scores are always written");
  return options;
}

void parse_words(arguments& a) {
  using quintet::driver::choice;
  a.options.method = choice<hdbscan::selection>("--selection", a.selection,
                                                {{"eom", hdbscan::selection::eom}, {"leaf", hdbscan::selection::leaf}});
  a.options.distance = choice<quintet::metric>(
      "--metric", a.metric, {{"euclidean", quintet::metric::euclidean}, {"cosine", quintet::metric::cosine}});
  a.options.tie_mode = choice<hdbscan::ties>(
      "--ties", a.ties, {{"canonical", hdbscan::ties::canonical}, {"binary", hdbscan::ties::binary}});
}

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
  constexpr std::size_t most = 40;
  const std::vector<cluster_line> lines = cluster_lines(result);
  if (lines.empty()) return;
  out << "\ncluster     size  persistence  mean probability\n" << std::fixed << std::setprecision(3);
  for (std::size_t c = 0; c < lines.size() && c < most; ++c)
    out << std::setw(7) << c << std::setw(9) << lines[c].size << std::setw(13) << result.persistence[c] << std::setw(18)
        << lines[c].probability << "\n";
  if (lines.size() > most) out << "... and " << lines.size() - most << " more\n";
  out << std::defaultfloat << std::setprecision(6) << "\n";
}

template <class Real>
void write_csv(const arguments& a, const hdbscan::cluster_result& result, const std::vector<Real>& core,
               const std::vector<std::int64_t>& cut_labels) {
  std::vector<io::column> columns{{"label", std::span<const std::int64_t>(result.labels)},
                                  {"probability", std::span<const double>(result.probabilities)},
                                  {"outlier_score", std::span<const double>(result.outlier_scores)},
                                  {"core_distance", std::span<const Real>(core)}};
  if (!cut_labels.empty()) columns.push_back({"cut_label", std::span<const std::int64_t>(cut_labels)});
  io::write_csv(a.output, columns);
}

// Rows as a matrix of doubles (they hold every index exactly) with the names of its columns.
template <class Row, class... Column>
void write_table(io::hdf5_writer& out, const std::string& name, const std::vector<Row>& rows,
                 const std::string& columns, Column Row::*... column) {
  std::vector<double> values;
  values.reserve(rows.size() * sizeof...(column));
  for (const Row& row : rows) (values.push_back(static_cast<double>(row.*column)), ...);
  const auto count = static_cast<std::int64_t>(rows.size());
  out.write(name, quintet::matrix_view<const double>(values.data(), count, sizeof...(column)));
  out.attribute(name, "columns", columns);
}

template <class Real>
void write_hdf5(const session& session, const arguments& a, const hdbscan::cluster_result& result,
                const std::vector<Real>& core, const std::vector<std::int64_t>& cut_labels) {
  io::hdf5_writer out(a.output);
  out.write("labels", result.labels);
  out.write("probabilities", result.probabilities);
  out.write("outlier_scores", result.outlier_scores);
  out.write("core_distances", core);
  if (!cut_labels.empty()) out.write("cut_labels", cut_labels);
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

void report_result(session& session, const hdbscan::cluster_result& result) {
  const auto noise = std::count(result.labels.begin(), result.labels.end(), -1);
  const hdbscan::spanning_tree_counters& counters = result.counters;
  session.result("clusters", result.clusters());
  session.result("noise", noise);
  session.result("spanning_tree_weight", result.spanning_tree_weight());
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
  print_table(session.say(), result);
}

std::vector<std::int64_t> cut_at(session& session, const arguments& a, const hdbscan::cluster_result& result) {
  if (std::isnan(a.cut_height)) return {};
  auto labels = hdbscan::cut(result.single_linkage, a.cut_height, a.options.min_cluster_size);
  const auto clusters = *std::max_element(labels.begin(), labels.end()) + 1;
  const auto noise = std::count(labels.begin(), labels.end(), -1);
  session.result("cut_clusters", clusters);
  session.result("cut_noise", noise);
  session.say() << "cut at " << a.cut_height << ": " << clusters << " clusters, " << noise << " points of noise\n";
  return labels;
}

template <class Real>
void cluster_file(session& session, const arguments& a) {
  // Wrong options are found before a large file is read.
  hdbscan::cluster<Real>({}, a.options, session.device());
  const io::matrix<Real> points = quintet::driver::read_points<Real>(session, a.input, a.dataset);
  session.say() << points.rows << " points of " << points.cols << " dimensions on " << session.device().name()
                << std::endl;
  const auto result = hdbscan::cluster<Real>(points.view(), a.options, session.device(), session.progress());
  quintet::driver::report(session, {result.neighbours, result.clamped, result.invalid_rows}, a.options.distance);
  report_result(session, result);
  const std::vector<std::int64_t> cut_labels = cut_at(session, a, result);
  session.timed("write", [&] {
    const std::vector<Real> core(result.core_distances.begin(), result.core_distances.end());
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a, result, core, cut_labels);
    else
      write_hdf5(session, a, result, core, cut_labels);
  });
  session.say_done(a.output);
}

}  // namespace

int main(int argc, char** argv) {
  arguments a;
  const po::options_description options = describe(a);
  return quintet::driver::run_driver(
      argc, argv,
      {"quintet-hdbscan", "exact HDBSCAN* clustering of points in any dimension.",
       "quintet-hdbscan --input embeddings.npy --min-cluster-size 10 --min-samples 5 --output clusters.h5"},
      options, [&](session& session) {
        parse_words(a);
        quintet::driver::require_distinct_files(
            {{"--input", a.input}, {"--output", a.output}, {"--json", session.line().common.json}});
        quintet::driver::with_precision(session, [&]<class Real>() { cluster_file<Real>(session, a); });
      });
}
