#include "hdbscan/arguments.hpp"

#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
#include "support/sparse.hpp"

namespace quintet::driver {

namespace {

/// Throws InvalidArgument, which names the option, for a file that cannot be written.
void check_file(const char* option, const std::string& path, std::initializer_list<io::file_format> formats) {
  try {
    io::check_output(path, formats);
  } catch (const FileError& e) {
    throw InvalidArgument(text(option, ": ", e.what()));
  }
}

/// The value of an option that has one without --sweep.
std::int64_t single_value(const integer_list& list, const char* option) {
  if (list.values.size() != 1)
    throw InvalidArgument(text(option, " must be one whole number without --sweep (", option, "=", list.spelling, ")"));
  return list.values[0];
}

void parse_sizes(arguments& a, const session& session) {
  if (a.min_samples.values.empty() && !a.min_samples.spelling.empty())
    throw InvalidArgument(text("--min-samples must be whole numbers (--min-samples=", a.min_samples.spelling, ")"));
  if (!a.sweep) {
    if (a.min_cluster_size.is("auto"))
      a.options.min_cluster_size = hdbscan::automatic_size;
    else
      a.options.min_cluster_size = single_value(a.min_cluster_size, "--min-cluster-size");
    if (!a.min_samples.values.empty()) a.options.min_samples = single_value(a.min_samples, "--min-samples");
    return;
  }
  if (a.min_cluster_size.is("auto"))
    throw InvalidArgument("--min-cluster-size must be whole numbers or all with --sweep (--min-cluster-size=auto)");
  if (session.line().option_names.contains("min-cluster-size")) a.swept.min_cluster_size = a.min_cluster_size.values;
  a.swept.min_samples = a.min_samples.values;
  if (a.swept.min_samples.empty())
    for (std::int64_t k = 2; k <= 50; ++k) a.swept.min_samples.push_back(k);
}

void parse_words(arguments& a) {
  a.options.method = choice<hdbscan::selection>("--selection", a.selection,
                                                {{"eom", hdbscan::selection::eom}, {"leaf", hdbscan::selection::leaf}});
  a.options.distance = a.metric.value();
  a.options.tie_mode = choice<hdbscan::ties>(
      "--ties", a.ties, {{"canonical", hdbscan::ties::canonical}, {"binary", hdbscan::ties::binary}});
}

void refuse(bool is_set, const char* option, const char* why) {
  if (is_set) throw InvalidArgument(text(option, " ", why));
}

void check_sweep(arguments& a, const session& session) {
  if (!a.sweep) {
    require_absent(session.line(), {"score", "sweep-labels", "layers", "best-output"}, "needs --sweep");
    return;
  }
  const char* why = "cannot be combined with --sweep";
  refuse(a.precomputed, "--precomputed", why);
  refuse(!a.predict.empty(), "--predict", why);
  refuse(a.membership, "--membership", why);
  refuse(a.cut_height.has_value(), "--cut", why);
  refuse(a.assign_noise, "--assign-noise", why);
  refuse(a.clusters.has_value(), "--clusters", why);
  refuse(!a.checkpoint.empty(), "--checkpoint", why);
  refuse(!a.model.empty(), "--model", why);
  a.swept.by = choice<hdbscan::score>("--score", a.score,
                                      {{"persistence", hdbscan::score::persistence},
                                       {"relative_validity", hdbscan::score::relative_validity},
                                       {"dbcv", hdbscan::score::dbcv}});
  a.swept.labels = choice<bool>("--sweep-labels", a.sweep_labels, {{"best", false}, {"all", true}});
  if (a.swept.labels && io::format_of(a.output) == io::file_format::csv)
    throw InvalidArgument("--sweep-labels must be best for a .csv output, which has the table of settings alone");
}

/// What has been decided when a model is read.
void check_model(const arguments& a, const session& session) {
  if (a.input.empty() && a.model.empty()) throw InvalidArgument("--input is needed, or --model with a file of before");
  if (!a.input.empty()) {
    if (!a.model.empty()) check_file("--model", a.model, {io::file_format::hdf5});
    return;
  }
  require_absent(session.line(),
                 {"dataset",
                  "precomputed",
                  "metric",
                  "curvature",
                  "p",
                  "unit",
                  "sphere-radius",
                  "weights",
                  "min-cluster-size",
                  "min-samples",
                  "count-self",
                  "selection",
                  "epsilon",
                  "clusters",
                  "alpha",
                  "max-cluster-size",
                  "allow-single-cluster",
                  "ties",
                  "tie-tolerance",
                  "cut",
                  "assign-noise",
                  "sweep",
                  "score",
                  "sweep-labels",
                  "layers",
                  "best-output",
                  "predict-output",
                  "checkpoint",
                  "resume",
                  "precision"},
                 "needs --input: a model has its points and options, and --output gets the predictions");
  refuse(a.predict.empty(), "--model", "without --input needs --predict");
}

/// "labels.csv" becomes "labels.predicted.csv".
std::string with_predicted(const std::string& path) { return path.substr(0, path.rfind('.')) + ".predicted.csv"; }

}  // namespace

po::options_description describe(arguments& a) {
  po::options_description input("Input"), clusters("Clusters"), predicted("New points and soft clustering"),
      output("Output");
  input.add_options()  //
      ("input", po::value(&a.input)->value_name("FILE"),
       "points, one per row: .csv, .npy or .h5; with --precomputed distances, also as .mtx, .mtx.gz or .npz")     //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("precomputed", po::bool_switch(&a.precomputed),
       "the input holds distances: a symmetric n x n matrix, inf where there is no edge, or a graph as .mtx or .npz");
  a.metric.add_to(input);
  input.add_options()  //
      ("weights", po::value(&a.weights)->value_name("FILE"),
       "how often each point counts, one number >= 0 a row: .csv, .npy or .h5 (its only dataset). Whole numbers are "
       "repeated points; points of weight 0 are noise and have no effect");
  clusters.add_options()  //
      ("min-cluster-size", po::value(&a.min_cluster_size)->default_value({"5", {5}})->value_name("N"),
       "smallest group that is a cluster, >= 2; auto is the most persistent size (PLSCAN)")  //
      ("min-samples", po::value(&a.min_samples)->value_name("N")->notifier([](const integer_list& list) {
        for (const std::int64_t samples : list.values) require_argument(samples >= 1, "--min-samples", samples, ">= 1");
      }),
       "neighbours that make a point dense, itself not counted; by default the minimum cluster size (auto: 5)")  //
      ("count-self", po::bool_switch(&a.options.count_self),
       "counts a point among its own neighbours, as scikit-learn does")  //
      ("selection", po::value(&a.selection)->default_value("eom")->value_name("METHOD"),
       "eom (the most stable clusters) or leaf (the smallest)")  //
      ("epsilon", po::value(&a.options.epsilon)->default_value(0)->value_name("X"),
       "clusters that split at a smaller distance are kept whole, >= 0")  //
      ("clusters", po::value<std::int64_t>()->value_name("K")->notifier([&a](std::int64_t count) {
        require_argument(count >= 1, "--clusters", count, ">= 1");
        a.clusters = count;
      }),
       "chooses --epsilon, and leaf where eom has fewer, so that there are so many clusters; >= 1")  //
      ("alpha", po::value(&a.options.alpha)->default_value(1)->value_name("X"),
       "divides distances, but not core distances, > 0")  //
      ("max-cluster-size", po::value(&a.options.max_cluster_size)->default_value(0)->value_name("N"),
       "eom takes no larger cluster, >= 0, where 0 is no limit")  //
      ("allow-single-cluster", po::bool_switch(&a.options.allow_single_cluster),
       "all points may be one cluster")  //
      ("ties", po::value(&a.ties)->default_value("canonical")->value_name("MODE"),
       "equal distances: canonical (independent of the order of the points) or binary (as other programs do)")  //
      ("tie-tolerance", po::value<double>()->value_name("X")->notifier([&a](double tolerance) {
        require_argument(tolerance >= 0 && tolerance < 1, "--tie-tolerance", tolerance, "in [0, 1)");
        a.options.tie_tolerance = tolerance;
      }),
       "canonical: distances that differ by at most this part count as equal, in [0, 1). By default what rounding does "
       "to equal ones, (dim / 2 + 68) eps")  //
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
        check_file("--predict-output", path, {io::file_format::csv});
      }),
       ".csv for them: columns label,probability,outlier_score,neighbour (member0, ... with --membership). By default "
       "datasets of an .h5 output, or <output>.predicted.csv")  //
      ("model", po::value(&a.model)->value_name("FILE"),
       "a file for the clustering and its points (.h5): with --input it is written; without, it is read, and --predict "
       "needs nothing else")  //
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
  po::options_description swept("Many parameters at once");
  swept.add_options()  //
      ("sweep", po::bool_switch(&a.sweep),
       "all combinations of --min-samples (by default 2:50) and --min-cluster-size (all: every size at which clusters "
       "change, the default), each N, FIRST:LAST or FIRST:LAST:STEP, joined by commas. The output is a table of the "
       "settings: min_samples,min_cluster_size,epsilon,clusters,noise,persistence,relative_validity,dbcv,stability. An "
       ".h5 output has it as dataset settings, and datasets labels [n] of the best, layers (peaks of the persistence) "
       "and layer_labels [layers, n]")  //
      ("score", po::value(&a.score)->default_value("persistence")->value_name("NAME"),
       "what is largest in the best setting: persistence (of the leaves), relative_validity or dbcv")  //
      ("sweep-labels", po::value(&a.sweep_labels)->default_value("best")->value_name("WHICH"),
       "best, or all: the labels of every setting too, as dataset all_labels [settings, n]")  //
      ("layers", po::value(&a.swept.layers)->default_value(10)->value_name("N")->notifier(at_least("--layers", 0)),
       "at most so many layers")  //
      ("best-output", po::value(&a.best_output)->value_name("FILE")->notifier([](const std::string& path) {
        check_file("--best-output", path, {io::file_format::csv, io::file_format::hdf5});
      }),
       "the best setting by itself: what --output is without --sweep");
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
  options.add(input).add(clusters).add(swept).add(predicted).add(output).add(saved);
  return options;
}

void check(arguments& a, const session& session) {
  check_model(a, session);
  parse_words(a);
  parse_sizes(a, session);
  check_sweep(a, session);
  if (a.precomputed) {
    const char* why = "needs points, and --precomputed gives distances";
    refuse(!a.predict.empty(), "--predict", why);
    refuse(a.membership, "--membership", why);
    refuse(a.options.distance.kind != metric::euclidean, "--metric", why);
    refuse(!a.weights.empty(), "--weights", why);
    refuse(!a.model.empty(), "--model", why);
    refuse(session.precision() == "half" || session.precision() == "bfloat16", "--precision",
           "must be float or double with --precomputed");
  }
  if (a.clusters) require_absent(session.line(), {"epsilon"}, "is chosen by --clusters");
  refuse(a.resume && a.checkpoint.empty(), "--resume", "needs --checkpoint");
  refuse(!a.weights.empty() && a.options.tie_mode == hdbscan::ties::binary, "--weights",
         "needs --ties canonical: copies of a point have no order");
  refuse(a.predict.empty() && !a.predict_output.empty(), "--predict-output", "needs --predict");
  if (!a.input.empty() && !a.predict.empty() && a.predict_output.empty() &&
      io::format_of(a.output) == io::file_format::csv) {
    a.predict_output = with_predicted(a.output);
    io::check_output(a.predict_output, {io::file_format::csv});
  }
  if (a.options.method == hdbscan::selection::leaf)
    require_absent(session.line(), {"max-cluster-size"}, "is for --selection eom; leaf takes the smallest");
  if (a.options.tie_mode == hdbscan::ties::binary)
    require_absent(session.line(), {"tie-tolerance"}, "is for --ties canonical; binary takes distances as they are");
  if (a.precomputed && is_sparse_format(a.input)) require_absent(session.line(), {"dataset"}, "is for .h5 files");
  option_files inputs{{"--input", a.input}, {"--predict", a.predict}, {"--weights", a.weights}};
  option_files outputs{{"--output", a.output},
                       {"--predict-output", a.predict_output},
                       {"--best-output", a.best_output},
                       {"--json", session.line().common.json}};
  (a.input.empty() ? inputs : outputs).emplace_back("--model", a.model);
  require_distinct_files(inputs, outputs);
}

hdbscan::sweep_options sweep_options_of(const arguments& a) {
  hdbscan::sweep_options options = a.swept;
  options.epsilon = {a.options.epsilon};
  options.tie_mode = a.options.tie_mode;
  options.tie_tolerance = a.options.tie_tolerance;
  options.method = a.options.method;
  options.epsilon_max = a.options.epsilon_max;
  options.max_cluster_size = a.options.max_cluster_size;
  options.allow_single_cluster = a.options.allow_single_cluster;
  options.count_self = a.options.count_self;
  options.alpha = a.options.alpha;
  options.distance = a.options.distance;
  return options;
}

}  // namespace quintet::driver
