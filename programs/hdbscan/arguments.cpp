#include "hdbscan/arguments.hpp"

#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
#include "support/sparse.hpp"

namespace quintet::driver {

namespace {

void parse_words(arguments& a) {
  a.options.method = choice<hdbscan::selection>("--selection", a.selection,
                                                {{"eom", hdbscan::selection::eom}, {"leaf", hdbscan::selection::leaf}});
  a.options.distance = a.metric.value();
  a.options.tie_mode = choice<hdbscan::ties>(
      "--ties", a.ties, {{"canonical", hdbscan::ties::canonical}, {"binary", hdbscan::ties::binary}});
}

void refuse(bool given, const char* option, const char* why) {
  if (given) throw InvalidArgument(text(option, " ", why));
}

/// "labels.csv" becomes "labels.predicted.csv".
std::string with_predicted(const std::string& path) { return path.substr(0, path.rfind('.')) + ".predicted.csv"; }

}  // namespace

po::options_description describe(arguments& a) {
  po::options_description input("Input"), clusters("Clusters"), predicted("New points and soft clustering"),
      output("Output");
  input.add_options()  //
      ("input", po::value(&a.input)->required()->value_name("FILE"),
       "points, one per row: .csv, .npy or .h5; with --precomputed distances, also as .mtx or .mtx.gz")           //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("precomputed", po::bool_switch(&a.precomputed),
       "the input holds distances: a symmetric n x n matrix, inf where there is no edge, or a graph as .mtx");
  a.metric.add_to(input);
  clusters.add_options()  //
      ("min-cluster-size", po::value(&a.options.min_cluster_size)->default_value(5)->value_name("N"),
       "smallest group that is a cluster, >= 2")  //
      ("min-samples", po::value(&a.options.min_samples)->value_name("N")->notifier([](std::int64_t samples) {
        require_argument(samples >= 1, "--min-samples", samples, ">= 1");
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
       "all points may be one cluster")  //
      ("ties", po::value(&a.ties)->default_value("canonical")->value_name("MODE"),
       "equal distances: canonical (independent of the order of the points) or binary (as other programs do)")  //
      ("cut", po::value<double>()->value_name("H")->notifier([&a](double height) {
        require_argument(height >= 0, "--cut", height, ">= 0");
        a.cut_height = height;
      }),
       "also writes labels of the tree cut at this distance, those of DBSCAN*")  //
      ("assign-noise", po::bool_switch(&a.assign_noise),
       "also writes labels without noise: a point of noise gets the cluster that it reaches first along the spanning "
       "tree");
  predicted.add_options()  //
      ("predict", po::value(&a.predict)->value_name("FILE"),
       "also labels further points, without clustering again: .csv, .npy or .h5 (its only dataset)")  //
      ("predict-output", po::value(&a.predict_output)->value_name("FILE")->notifier([](const std::string& path) {
        io::check_output(path, {io::file_format::csv});
      }),
       ".csv for them: columns label,probability,outlier_score,neighbour (member0, ... with --membership). By default "
       "datasets of an .h5 output, or <output>.predicted.csv")  //
      ("membership", po::bool_switch(&a.membership),
       "the degree to which every point belongs to each cluster (soft clustering)");
  output.add_options()  //
      ("output",
       output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}, "output",
                   "labels and probabilities are of different types, and a .npy file holds one array"),
       ".csv: one row per point, columns label,probability,outlier_score,core_distance (cut_label with --cut; "
       "near_label with --assign-noise; member0, member1, ... with --membership).\n.h5: the same as datasets labels, "
       "probabilities, outlier_scores, core_distances (cut_labels, near_labels), [n] each; memberships [n, clusters]. "
       "--predict adds the same with the prefix predicted_. Further datasets are persistence and selected_clusters "
       "[clusters]. The attribute columns names the columns of the tables spanning_tree [n - 1, 3], "
       "single_linkage_tree [n - 1, 4], condensed_tree [rows, 4]. The parameters are attributes")  //
      ("outlier-scores", po::bool_switch(), "accepted; the scores are always written");
  po::options_description saved("Long runs");
  saved.add_options()  //
      ("checkpoint", po::value(&a.checkpoint)->value_name("DIR"),
       "folder for checkpoints that all ranks see; needs a build with MPI")  //
      ("checkpoint-minutes",
       po::value(&a.checkpoint_minutes)->default_value(10)->value_name("M")->notifier([](double minutes) {
         require_argument(minutes >= 0, "--checkpoint-minutes", minutes, ">= 0");
       }),
       "least time between two checkpoints")  //
      ("resume", po::bool_switch(&a.resume), "continues from the folder of --checkpoint");
  po::options_description options;
  options.add(input).add(clusters).add(predicted).add(output).add(saved);
  return options;
}

void check(arguments& a, const session& session) {
  parse_words(a);
  if (a.precomputed) {
    const char* why = "needs points, and --precomputed gives distances";
    refuse(!a.predict.empty(), "--predict", why);
    refuse(a.membership, "--membership", why);
    refuse(a.options.distance.kind != metric::euclidean, "--metric", why);
    refuse(session.precision() == "half" || session.precision() == "bfloat16", "--precision",
           "must be float or double with --precomputed");
  }
  refuse(a.resume && a.checkpoint.empty(), "--resume", "needs --checkpoint");
  refuse(a.predict.empty() && !a.predict_output.empty(), "--predict-output", "needs --predict");
  if (!a.predict.empty() && a.predict_output.empty() && io::format_of(a.output) == io::file_format::csv) {
    a.predict_output = with_predicted(a.output);
    io::check_output(a.predict_output, {io::file_format::csv});
  }
  if (a.options.method == hdbscan::selection::leaf)
    require_absent(session.line(), {"max-cluster-size"}, "is for --selection eom; leaf takes the smallest");
  if (a.precomputed && is_matrix_market(a.input)) require_absent(session.line(), {"dataset"}, "is for .h5 files");
  require_distinct_files(
      {{"--input", a.input}, {"--predict", a.predict}},
      {{"--output", a.output}, {"--predict-output", a.predict_output}, {"--json", session.line().common.json}});
}

}  // namespace quintet::driver
