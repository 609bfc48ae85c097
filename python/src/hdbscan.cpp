// Density clustering. Structures go out as int64 patterns of records (see records.hpp), options come as objects.
#include "quintet/hdbscan/hdbscan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "clusterings.hpp"
#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/predictor.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "quintet/hdbscan/tree_stages.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "records.hpp"

namespace quintet::python {

namespace {

using namespace hdbscan;

nb::dict fit(const array& points, nb::handle options, const array& weights, nb::handle progress,
             const std::string& device) {
  const cluster_options settings = options_of(options);
  return dict_of(run(progress, [&](const progress_callback& report) {
    return hdbscan::cluster(points.rows(), settings, Device::parse(device), report, weights_of(weights));
  }));
}

nb::dict fit_distances(const array& distances, nb::handle options, const std::string& device) {
  const cluster_options settings = options_of(options);
  return dict_of(run([&] { return cluster_distances(distances.rows(), settings, Device::parse(device)); }));
}

template <class T>
csr_graph<T> graph_of(std::int64_t points, const array& row_begin, const array& columns, const array& values) {
  return {points, span_of<std::int64_t>(row_begin), span_of<std::int64_t>(columns), span_of<T>(values)};
}

nb::dict fit_graph(std::int64_t points, const array& row_begin, const array& columns, const array& values,
                   nb::handle options) {
  const cluster_options settings = options_of(options);
  return with_real(values.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto graph = graph_of<T>(points, row_begin, columns, values);
    return dict_of(run([&] { return cluster_graph(graph, settings); }));
  });
}

nb::dict tree(const array& points, nb::handle options, const array& weights, nb::handle progress,
              const std::string& device) {
  const spanning_tree_options settings = spanning_options_of<spanning_tree_options>(options);
  return dict_of(run(progress, [&](const progress_callback& report) {
    return spanning_tree(points.rows(), settings, Device::parse(device), report, weights_of(weights));
  }));
}

nb::dict tree_of_distances(const array& distances, nb::handle options, const std::string& device) {
  const spanning_tree_options settings = spanning_options_of<spanning_tree_options>(options);
  return dict_of(run([&] { return spanning_tree_of(distances.rows(), settings, Device::parse(device)); }));
}

nb::dict tree_of_graph(std::int64_t points, const array& row_begin, const array& columns, const array& values,
                       nb::handle options) {
  const spanning_tree_options settings = spanning_options_of<spanning_tree_options>(options);
  return with_real(values.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto graph = graph_of<T>(points, row_begin, columns, values);
    return dict_of(run([&] { return spanning_tree_of(graph, settings); }));
  });
}

nb::object linkage(const array& edges, std::int64_t n) {
  const auto list = edges_of(edges, "edges");
  return matrix_of(run([&] { return single_linkage(list, n); }).rows);
}

nb::dict tree_stage(const array& edges, std::int64_t n, nb::handle options) {
  const auto list = edges_of(edges, "tree");
  const tree_options settings = tree_options_of(options);
  return dict_of(run([&] { return cluster_tree(list, n, settings); }), settings);
}

nb::dict tree_stage_of_linkage(const array& rows, nb::handle options) {
  auto given = linkage_of(rows, "tree");
  const tree_options settings = tree_options_of(options);
  return dict_of(run([&] { return cluster_tree(std::move(given), settings); }), settings);
}

nb::object cut_linkage(const array& rows, double height, std::int64_t min_cluster_size, const array& weights,
                       const array& core) {
  const auto given = linkage_of(rows, "linkage", weights, core);
  return to_numpy(run([&] { return cut(given, height, min_cluster_size); }));
}

nb::tuple condense_linkage(const array& rows, nb::handle options) {
  const auto given = linkage_of(rows, "linkage");
  const tree_options settings = tree_options_of(options);
  auto condensed = run([&] { return condense(given, settings); });
  return nb::make_tuple(records(std::move(condensed.rows)), condensed.clusters);
}

condensed_tree condensed_of(const array& rows, std::int64_t points, std::int64_t clusters) {
  return {points, clusters, from_records<condensed_row>(rows), {}};
}

nb::dict summary(const array& rows, std::int64_t points, std::int64_t clusters) {
  const condensed_tree condensed = condensed_of(rows, points, clusters);
  auto s = run([&] { return summarise(condensed); });
  nb::dict d;
  d["outlier_scores"] = to_numpy(outlier_scores(s));
  d["parent"] = to_numpy(std::move(s.parent));
  d["size"] = to_numpy(std::move(s.size));
  d["first_child"] = to_numpy(std::move(s.first_child));
  d["children"] = to_numpy(std::move(s.children));
  d["birth"] = to_numpy(std::move(s.birth));
  d["death"] = to_numpy(std::move(s.death));
  d["deepest"] = to_numpy(std::move(s.deepest));
  d["stability"] = to_numpy(std::move(s.stability));
  d["point_cluster"] = to_numpy(std::move(s.point_cluster));
  d["point_lambda"] = to_numpy(std::move(s.point_lambda));
  return d;
}

nb::object select(const array& rows, std::int64_t points, std::int64_t clusters, nb::handle options) {
  const condensed_tree condensed = condensed_of(rows, points, clusters);
  const tree_options settings = tree_options_of(options);
  return to_numpy(run([&] { return select_clusters(summarise(condensed), settings); }));
}

/// Labels, probabilities, persistence, offsets and points of exemplars.
nb::tuple label(const array& rows, std::int64_t points, std::int64_t clusters, const array& selected,
                nb::handle options) {
  const condensed_tree condensed = condensed_of(rows, points, clusters);
  const auto chosen = vector_of<std::int64_t>(selected);
  const tree_options settings = tree_options_of(options);
  point_labels found;
  std::vector<double> persistent;
  point_groups groups;
  run([&] {
    const tree_summary s = summarise(condensed);
    found = label_points(s, chosen, settings);
    persistent = persistence(s, chosen, found.labels);
    groups = exemplars(s, chosen, found.labels);
  });
  return nb::make_tuple(to_numpy(std::move(found.labels)), to_numpy(std::move(found.probabilities)),
                        to_numpy(std::move(persistent)), to_numpy(std::move(groups.offsets)),
                        to_numpy(std::move(groups.points)));
}

/// A clustering made again from the arrays that an estimator keeps.
cluster_result model_of(const nb::dict& state) {
  const auto given = [&](const char* name, auto&& take) {
    array a;
    if (!state.contains(name) || !a.take(nb::object(state[name]).ptr()))
      throw InvalidArgument(text("the model has no usable array ", name));
    return take(a);
  };
  cluster_result model;
  model.options = options_of(state["options"]);
  model.labels = given("labels", vector_of<std::int64_t>);
  model.probabilities = given("probabilities", vector_of<double>);
  model.selected = given("selected", vector_of<std::int64_t>);
  model.exemplars = {given("exemplar_offsets", vector_of<std::int64_t>),
                     given("exemplar_points", vector_of<std::int64_t>)};
  model.weights = given("weights", vector_of<double>);
  model.excluded_rows = given("excluded_rows", vector_of<std::int64_t>);
  model.condensed = {std::int64_t(model.labels.size()), nb::cast<std::int64_t>(state["condensed_clusters"]),
                     given("condensed", from_records<condensed_row>), model.weights};
  model.core_distances = given("core_distances", vector_of<double>);
  model.neighbours = nb::cast<std::int64_t>(state["neighbours"]);
  return model;
}

/// A clustering of a spanning tree that is there, by other options of the tree; with clusters > 0 of so many clusters.
cluster_result clustering_of_tree(const array& edges, const array& core_distances, const array& invalid_rows,
                                  const array& excluded_rows, const array& weights, std::int64_t neighbours,
                                  bool clamped, nb::handle options, std::int64_t clusters) {
  const cluster_options settings = options_of(options);
  cluster_result model;
  model.options = settings;
  model.spanning_tree = edges_of(edges, "edges");
  model.core_distances = vector_of<double>(core_distances);
  model.invalid_rows = vector_of<std::int64_t>(invalid_rows);
  model.excluded_rows = vector_of<std::int64_t>(excluded_rows);
  model.weights = vector_of<double>(weights);
  model.labels.resize(model.core_distances.size());
  model.neighbours = neighbours;
  model.clamped = clamped;
  return run([&] {
    cluster_result refitted = refit(model, settings);
    return clusters > 0 ? flat(refitted, clusters) : refitted;
  });
}

nb::dict refit_tree(const array& edges, const array& core_distances, const array& invalid_rows,
                    const array& excluded_rows, const array& weights, std::int64_t neighbours, bool clamped,
                    nb::handle options) {
  return dict_of(
      clustering_of_tree(edges, core_distances, invalid_rows, excluded_rows, weights, neighbours, clamped, options, 0));
}

/// Also the selection and the epsilon that give the clusters.
nb::tuple refit_tree_to_clusters(const array& edges, const array& core_distances, const array& invalid_rows,
                                 const array& excluded_rows, const array& weights, std::int64_t neighbours,
                                 bool clamped, nb::handle options, std::int64_t clusters) {
  cluster_result result = clustering_of_tree(edges, core_distances, invalid_rows, excluded_rows, weights, neighbours,
                                             clamped, options, clusters);
  const auto method = std::int32_t(result.options.method);
  const double epsilon = result.options.epsilon;
  return nb::make_tuple(dict_of(std::move(result)), method, epsilon);
}

nb::object persistence_steps(const array& rows, std::int64_t min_samples, std::int32_t tie_mode, double tie_tolerance,
                             const array& weights, const array& core) {
  const auto given = linkage_of(rows, "linkage", weights, core);
  return records(run([&] { return trace_persistence(given, min_samples, ties(tie_mode), tie_tolerance); }));
}

nb::object leaves_of_sizes(const array& rows, std::int64_t min_samples, std::int32_t tie_mode, double tie_tolerance,
                           const array& weights, const array& core) {
  const auto given = linkage_of(rows, "linkage", weights, core);
  return records(run([&] { return persistent_leaves(given, min_samples, ties(tie_mode), tie_tolerance); }));
}

constexpr auto sweep_option_list = [](auto visit) {
  visit("ties", &sweep_options::tie_mode);
  visit("tie_tolerance", &sweep_options::tie_tolerance);
  visit("cluster_selection_method", &sweep_options::method);
  visit("cluster_selection_epsilon_max", &sweep_options::epsilon_max);
  visit("max_cluster_size", &sweep_options::max_cluster_size);
  visit("allow_single_cluster", &sweep_options::allow_single_cluster);
  visit("count_self", &sweep_options::count_self);
  visit("alpha", &sweep_options::alpha);
  visit("score", &sweep_options::by);
  visit("dbcv_all", &sweep_options::dbcv_all);
  visit("labels", &sweep_options::labels);
  visit("max_layers", &sweep_options::layers);
};

nb::dict sweep_dict(sweep_result&& r) {
  nb::dict d;
  d["points"] = r.points;
  d["best"] = r.best;
  d["settings"] = records(std::move(r.settings));
  d["labels"] = to_numpy(std::move(r.labels));
  nb::list layers, trees;
  for (persistent_layer& layer : r.layers)
    layers.append(nb::make_tuple(layer.min_cluster_size, layer.persistence, to_numpy(std::move(layer.labels))));
  for (spanning_tree_result& tree : r.trees) trees.append(dict_of(std::move(tree)));
  d["layers"] = layers;
  d["trees"] = trees;
  return d;
}

nb::dict sweep_points(const array& points, const array& min_samples, const array& min_cluster_size,
                      const array& epsilon, nb::handle options, const array& weights, nb::handle progress,
                      const std::string& device) {
  auto settings = options_from<sweep_options>(sweep_option_list, options);
  settings.min_samples = vector_of<std::int64_t>(min_samples);
  settings.min_cluster_size = vector_of<std::int64_t>(min_cluster_size);
  settings.epsilon = vector_of<double>(epsilon);
  settings.distance =
      metric_of(nb::cast<std::string>(options.attr("metric")), nb::cast<double>(options.attr("parameter")));
  return sweep_dict(run(progress, [&](const progress_callback& report) {
    return sweep(points.rows(), settings, Device::parse(device), report, weights_of(weights));
  }));
}

nb::tuple tuple_of(prediction result) {
  return nb::make_tuple(to_numpy(std::move(result.labels)), to_numpy(std::move(result.probabilities)),
                        to_numpy(std::move(result.outlier_scores)), to_numpy(std::move(result.neighbours)),
                        to_numpy(std::move(result.lambdas)));
}

nb::tuple predict(const cluster_result& model, const array& points, const array& rows, const std::string& device) {
  return tuple_of(run([&] { return approximate_predict(model, points.rows(), rows.rows(), Device::parse(device)); }));
}

predictor predictor_of(const cluster_result& model, const array& points, const std::string& device) {
  return run([&] { return predictor(model, points.rows(), Device::parse(device)); });
}

nb::tuple predict_kept(const predictor& place, const array& rows) {
  return tuple_of(run([&] { return place.predict(rows.rows()); }));
}

nb::object membership_kept(const predictor& place, const array& rows, std::int64_t clusters) {
  auto vectors = run([&] { return place.membership_vectors(rows.rows()); });
  return to_numpy(std::move(vectors), {rows.rows().rows, clusters});
}

nb::object membership(const cluster_result& model, const array& points, const array& rows, const std::string& device) {
  const any_matrix known = points.rows(), unseen = rows.rows();
  auto vectors = run([&] {
    return rows.present() ? membership_vectors(model, known, unseen, Device::parse(device))
                          : all_points_membership_vectors(model, known, Device::parse(device));
  });
  return to_numpy(std::move(vectors), {rows.present() ? unseen.rows : known.rows, model.clusters()});
}

bool membership_blocks(const cluster_result& model, const array& points, const array& rows, nb::handle take,
                       std::int64_t budget, const std::string& device) {
  const membership_callback receive = block_receiver<double>(take);
  return run([&] {
    return rows.present() ? membership_rows(model, points.rows(), rows.rows(), receive, budget, Device::parse(device))
                          : all_points_membership_rows(model, points.rows(), receive, budget, Device::parse(device));
  });
}

nb::object medoid_rows(const array& points, const array& labels, const array& weights, const std::string& metric,
                       double curvature, const std::string& device) {
  const auto label = vector_of<std::int64_t>(labels);
  const auto weight = span_of<double>(weights);
  const auto distance = metric_of(metric, curvature);
  return to_numpy(run([&] { return medoids(points.rows(), label, weight, distance, Device::parse(device)); }));
}

nb::object centroid_rows(const array& points, const array& labels, const array& weights, const std::string& metric,
                         double parameter, const std::string& device) {
  const any_matrix view = points.rows();
  const auto label = vector_of<std::int64_t>(labels);
  const auto weight = span_of<double>(weights);
  const auto distance = metric_of(metric, parameter);
  auto means = run([&] { return weighted_centroids(view, label, weight, distance, Device::parse(device)); });
  const std::int64_t columns = dimension_of(distance, view.cols);
  const std::int64_t count = columns > 0 ? std::int64_t(means.size()) / columns : 0;
  return to_numpy(std::move(means), {count, columns});
}

validity_convention convention_of(const std::string& name) {
  if (name == "indexed") return validity_convention::indexed;
  if (name == "positional") return validity_convention::positional;
  if (name == "moulavi_2014") return validity_convention::moulavi_2014;
  throw InvalidArgument(text("convention must be indexed, positional or moulavi_2014 (convention=", name, ")"));
}

nb::tuple validity(const array& points, const array& labels, const std::string& metric, double curvature,
                   double dimension, const std::string& convention, const array& weights, nb::handle progress,
                   const std::string& device) {
  const auto label = vector_of<std::int64_t>(labels);
  const validity_options settings{metric_of(metric, curvature), dimension, convention_of(convention)};
  auto result = run(progress, [&](const progress_callback& report) {
    return validity_index(points.rows(), label, settings, Device::parse(device), report, weights_of(weights));
  });
  return nb::make_tuple(result.index, to_numpy(std::move(result.cluster_validity)),
                        to_numpy(std::move(result.sparseness)), to_numpy(std::move(result.separation)));
}

nb::object noise_labels(const array& edges, const array& labels) {
  const auto list = edges_of(edges, "edges");
  const auto label = vector_of<std::int64_t>(labels);
  return to_numpy(run([&] { return assign_noise(list, label); }));
}

double relative(const array& edges, const array& labels, const array& weights, const array& core) {
  const auto list = edges_of(edges, "edges");
  const auto label = vector_of<std::int64_t>(labels);
  const auto core_distances = core.present() ? span_of<double>(core) : std::span<const double>();
  return run([&] { return relative_validity(list, label, weights_of(weights), core_distances); });
}

nb::tuple tuple_of(nb::object distances, core_summary&& s) {
  return nb::make_tuple(std::move(distances), s.neighbours, s.clamped, to_numpy(std::move(s.invalid_rows)),
                        s.ran_on.spelling());
}

/// compute(any_output_vector) writes the core distances of N rows and gives their summary.
template <class Compute>
nb::tuple cores_with_summary(const any_matrix& rows, scalar_type real, Compute&& compute) {
  core_summary summary;
  nb::object distances =
      filled_values(real, rows.rows, [&](any_output_vector out) { summary = run([&] { return compute(out); }); });
  return tuple_of(std::move(distances), std::move(summary));
}

nb::tuple cores(const array& points, std::int64_t min_samples, bool count_self, const std::string& metric,
                double curvature, const array& weights, const std::string& device) {
  const any_matrix rows = points.rows();
  const core_options settings{min_samples, count_self, metric_of(metric, curvature)};
  hdbscan::detail::checked_count(rows);
  return cores_with_summary(rows, accumulator_of(rows.type), [&](any_output_vector out) {
    return core_distances_into(rows, out, settings, Device::parse(device), weights_of(weights));
  });
}

nb::tuple cores_of_distances(const array& distances, std::int64_t min_samples, bool count_self,
                             const std::string& device) {
  const any_matrix rows = distances.rows();
  return cores_with_summary(rows, rows.type, [&](any_output_vector out) {
    return core_distances_of_into(rows, out, {min_samples, count_self}, Device::parse(device));
  });
}

void reachability(const array& points, const array& core, const array& out, double alpha, bool core_on_diagonal,
                  const std::string& metric, double curvature, const std::string& device) {
  const reachability_options settings{alpha, core_on_diagonal, metric_of(metric, curvature)};
  run([&] { mutual_reachability(points.rows(), core.values(), out.output_rows(), settings, Device::parse(device)); });
}

nb::object reachability_of_pairs(const array& points, const array& core, const array& pairs, double alpha,
                                 bool core_on_diagonal, const std::string& metric, double curvature,
                                 const std::string& device) {
  const any_matrix rows = points.rows();
  const auto list = pairs.matrix<const std::int64_t>();
  const reachability_options settings{alpha, core_on_diagonal, metric_of(metric, curvature)};
  return filled_values(accumulator_of(rows.type), list.rows(), [&](any_output_vector out) {
    run([&] { mutual_reachability_pairs(rows, core.values(), list, out, settings, Device::parse(device)); });
  });
}

bool reachability_blocks(const array& points, const array& core, nb::handle take, std::int64_t budget, double alpha,
                         bool core_on_diagonal, const std::string& metric, double curvature,
                         const std::string& device) {
  const reachability_options settings{alpha, core_on_diagonal, metric_of(metric, curvature)};
  const any_row_block_callback receive = any_block_receiver(take);
  return run([&] {
    return mutual_reachability_rows(points.rows(), core.values(), receive, budget, settings, Device::parse(device));
  });
}

/// Sets of points of one type, and as many matrices.
nb::list both(const nb::list& points, const nb::list& outs, std::int64_t min_samples, bool count_self, double alpha,
              bool core_on_diagonal, const std::string& metric, double curvature, const std::string& device) {
  std::vector<array> sets(nb::len(points)), matrices(nb::len(outs));
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (!sets[i].take(nb::object(points[i]).ptr()) || !matrices[i].take(nb::object(outs[i]).ptr()))
      throw nb::type_error("points and matrices must be arrays");
  nb::list results;
  if (sets.empty()) return results;
  const auto distance = metric_of(metric, curvature);
  quintet::with_real(accumulator_of(sets[0].rows().type), "points", [&]<class Real>() {
    std::vector<std::vector<Real>> core(sets.size());
    std::vector<reachability_task> tasks;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const any_matrix rows = sets[i].rows();
      core[i].resize(hdbscan::detail::checked_count(rows));
      tasks.push_back({rows, core[i], matrices[i].output_rows()});
    }
    auto summaries = run([&] {
      return core_and_reachability_batch(tasks, {min_samples, count_self, distance},
                                         {alpha, core_on_diagonal, distance}, Device::parse(device));
    });
    for (std::size_t i = 0; i < sets.size(); ++i)
      results.append(tuple_of(to_numpy(std::move(core[i])), std::move(summaries[i])));
  });
  return results;
}

}  // namespace

void bind_hdbscan(nb::module_& m) {
  using nb::arg;
  nb::class_<cluster_result>(m, "HdbscanModel").def_prop_ro("clusters", &cluster_result::clusters);
  m.def("hdbscan_model", &model_of, arg("state"));
  m.def("hdbscan_fit", &fit, arg("points"), arg("options"), arg("weights").none(), arg("progress").none(),
        arg("device"));
  m.def("hdbscan_fit_distances", &fit_distances, arg("distances"), arg("options"), arg("device"));
  m.def("hdbscan_fit_graph", &fit_graph, arg("points"), arg("row_begin"), arg("columns"), arg("values"),
        arg("options"));
  m.def("hdbscan_refit", &refit_tree, arg("edges"), arg("core_distances"), arg("invalid_rows"), arg("excluded_rows"),
        arg("weights"), arg("neighbours"), arg("clamped"), arg("options"));
  m.def("hdbscan_flat", &refit_tree_to_clusters, arg("edges"), arg("core_distances"), arg("invalid_rows"),
        arg("excluded_rows"), arg("weights"), arg("neighbours"), arg("clamped"), arg("options"), arg("clusters"));
  m.def("hdbscan_persistence_trace", &persistence_steps, arg("linkage"), arg("min_samples"), arg("ties"),
        arg("tie_tolerance"), arg("weights").none(), arg("core").none());
  m.def("hdbscan_persistent_leaves", &leaves_of_sizes, arg("linkage"), arg("min_samples"), arg("ties"),
        arg("tie_tolerance"), arg("weights").none(), arg("core").none());
  m.def("hdbscan_sweep", &sweep_points, arg("points"), arg("min_samples"), arg("min_cluster_size"), arg("epsilon"),
        arg("options"), arg("weights").none(), arg("progress").none(), arg("device"));
  m.attr("HDBSCAN_AUTOMATIC_SIZE") = automatic_size;
  m.def("hdbscan_spanning_tree", &tree, arg("points"), arg("options"), arg("weights").none(), arg("progress").none(),
        arg("device"));
  m.def("hdbscan_spanning_tree_of_distances", &tree_of_distances, arg("distances"), arg("options"), arg("device"));
  m.def("hdbscan_spanning_tree_of_graph", &tree_of_graph, arg("points"), arg("row_begin"), arg("columns"),
        arg("values"), arg("options"));
  m.def("hdbscan_single_linkage", &linkage, arg("edges"), arg("n"));
  m.def("hdbscan_cluster_tree", &tree_stage, arg("edges"), arg("n"), arg("options"));
  m.def("hdbscan_cluster_linkage", &tree_stage_of_linkage, arg("rows"), arg("options"));
  m.def("hdbscan_cut", &cut_linkage, arg("rows"), arg("height"), arg("min_cluster_size"), arg("weights").none(),
        arg("core").none());
  m.def("hdbscan_condense", &condense_linkage, arg("rows"), arg("options"));
  m.def("hdbscan_summarise", &summary, arg("rows"), arg("points"), arg("clusters"));
  m.def("hdbscan_select", &select, arg("rows"), arg("points"), arg("clusters"), arg("options"));
  m.def("hdbscan_label", &label, arg("rows"), arg("points"), arg("clusters"), arg("selected"), arg("options"));
  nb::class_<predictor>(m, "HdbscanPredictor")
      .def("predict", &predict_kept, arg("rows"))
      .def("membership", &membership_kept, arg("rows"), arg("clusters"));
  m.def("hdbscan_predictor", &predictor_of, arg("model"), arg("points"), arg("device"), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>());
  m.def("hdbscan_predict", &predict, arg("model"), arg("points"), arg("rows"), arg("device"));
  m.def("hdbscan_membership", &membership, arg("model"), arg("points"), arg("rows").none(), arg("device"));
  m.def("hdbscan_membership_blocks", &membership_blocks, arg("model"), arg("points"), arg("rows").none(), arg("take"),
        arg("budget"), arg("device"));
  m.def("hdbscan_medoids", &medoid_rows, arg("points"), arg("labels"), arg("weights").none(), arg("metric"),
        arg("curvature"), arg("device"));
  m.def("hdbscan_centroids", &centroid_rows, arg("points"), arg("labels"), arg("weights").none(), arg("metric"),
        arg("parameter"), arg("device"));
  m.def("hdbscan_validity_index", &validity, arg("points"), arg("labels"), arg("metric"), arg("curvature"),
        arg("dimension"), arg("convention"), arg("weights").none(), arg("progress").none(), arg("device"));
  m.def("hdbscan_assign_noise", &noise_labels, arg("edges"), arg("labels"));
  m.def("hdbscan_relative_validity", &relative, arg("edges"), arg("labels"), arg("weights").none(), arg("core").none());
  m.def("hdbscan_core_distances", &cores, arg("points"), arg("min_samples"), arg("count_self"), arg("metric"),
        arg("curvature"), arg("weights").none(), arg("device"));
  m.def("hdbscan_core_distances_of", &cores_of_distances, arg("distances"), arg("min_samples"), arg("count_self"),
        arg("device"));
  m.def("hdbscan_mutual_reachability", &reachability, arg("points"), arg("core").none(), arg("out"), arg("alpha"),
        arg("core_on_diagonal"), arg("metric"), arg("curvature"), arg("device"));
  m.def("hdbscan_mutual_reachability_pairs", &reachability_of_pairs, arg("points"), arg("core").none(), arg("pairs"),
        arg("alpha"), arg("core_on_diagonal"), arg("metric"), arg("curvature"), arg("device"));
  m.def("hdbscan_mutual_reachability_blocks", &reachability_blocks, arg("points"), arg("core").none(), arg("take"),
        arg("budget"), arg("alpha"), arg("core_on_diagonal"), arg("metric"), arg("curvature"), arg("device"));
  m.def("hdbscan_core_and_reachability", &both, arg("points"), arg("outs"), arg("min_samples"), arg("count_self"),
        arg("alpha"), arg("core_on_diagonal"), arg("metric"), arg("curvature"), arg("device"));
}

}  // namespace quintet::python
