#include "quintet/hdbscan/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/require_element.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/finish.hpp"
#include "hdbscan/spanning_trees.hpp"
#include "hdbscan/weights.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/validity.hpp"

namespace quintet::hdbscan {

namespace {

constexpr std::int64_t max_settings = 1000000, dbcv_settings = 16;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Value>
void sort_unique(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// What all settings have in common.
cluster_options shared_options(const sweep_options& options) {
  cluster_options shared;
  shared.tie_mode = options.tie_mode;
  shared.tie_tolerance = options.tie_tolerance;
  shared.method = options.method;
  shared.epsilon_max = options.epsilon_max;
  shared.max_cluster_size = options.max_cluster_size;
  shared.allow_single_cluster = options.allow_single_cluster;
  shared.count_self = options.count_self;
  shared.alpha = options.alpha;
  shared.distance = options.distance;
  return shared;
}

/// Throws for values out of range; the result has them sorted, each once.
sweep_options checked(sweep_options options) {
  check_distance(options.distance);
  require_argument(!options.min_samples.empty(), "min_samples.size", options.min_samples.size(), ">= 1");
  require_argument(!options.epsilon.empty(), "epsilon.size", options.epsilon.size(), ">= 1");
  for (std::size_t i = 0; i < options.min_samples.size(); ++i)
    require_element(options.min_samples[i] >= 1, "min_samples", std::int64_t(i), options.min_samples[i], ">= 1");
  for (std::size_t i = 0; i < options.min_cluster_size.size(); ++i)
    require_element(options.min_cluster_size[i] >= 2, "min_cluster_size", std::int64_t(i), options.min_cluster_size[i],
                    ">= 2");
  for (std::size_t i = 0; i < options.epsilon.size(); ++i)
    require_element(options.epsilon[i] >= 0, "epsilon", std::int64_t(i), options.epsilon[i], ">= 0");
  require_argument(options.layers >= 0, "layers", options.layers, ">= 0");
  if (is_of_bits(options.distance.kind) && (options.by == score::dbcv || options.dbcv_all))
    throw InvalidArgument(
        text("DBCV needs the dimension of points, which rows of bits do not have: score persistence or "
             "relative_validity (metric=",
             to_string(options.distance.kind), ")"));
  check_options(shared_options(options));
  sort_unique(options.min_samples);
  sort_unique(options.min_cluster_size);
  sort_unique(options.epsilon);
  return options;
}

/// Before anything is computed, as far as sizes are known.
void check_count(std::size_t samples, std::size_t sizes, std::size_t epsilons) {
  const double count = double(samples) * double(sizes) * double(epsilons);
  if (count > double(max_settings))
    throw InvalidArgument(text("min_samples x min_cluster_size x epsilon must be at most ", max_settings, " settings (",
                               samples, " x ", sizes, " x ", epsilons, ")"));
}

/// Settings that share a spanning tree.
class tree_settings {
 public:
  tree_settings(const spanning_tree_result& tree, std::int64_t points, const sweep_options& options)
      : points_(points),
        valid_(dendrogram_of(tree, points)),
        tie_mode_(options.tie_mode),
        tie_tolerance_(options.tie_tolerance.value_or(tree.tie_tolerance)) {}

  std::vector<std::int64_t> sizes() const {
    return has_pairs() ? changing_sizes(valid_.tree, tie_mode_, tie_tolerance_) : std::vector<std::int64_t>{2};
  }
  std::vector<persistence_step> trace(std::int64_t min_samples) const {
    return has_pairs() ? trace_persistence(valid_.tree, min_samples, tie_mode_, tie_tolerance_)
                       : std::vector<persistence_step>{};
  }

  /// The labels of all points, for each of `epsilons`: use(epsilon, labels, sum of the stabilities of their clusters).
  template <class Use>
  void for_each_epsilon(cluster_options options, const std::vector<double>& epsilons, const Use& use) const {
    std::vector<std::int64_t> labels(std::size_t(points_), -1);
    options.tie_tolerance = tie_tolerance_;
    tree_summary summary;
    if (!valid_.rows.empty()) summary = summarise(condense(valid_.tree, options));
    for (const double epsilon : epsilons) {
      poll();
      options.epsilon = epsilon;
      double stability = 0;
      if (!valid_.rows.empty()) {
        const std::vector<std::int64_t> selected = select_clusters(summary, options);
        const std::vector<std::int64_t> valid_labels = label_points(summary, selected, options).labels;
        for (std::size_t i = 0; i < valid_labels.size(); ++i) labels[valid_.rows[i]] = valid_labels[i];
        for (const std::int64_t cluster : selected) stability += summary.stability[cluster];
      }
      use(epsilon, labels, stability);
    }
  }

 private:
  bool has_pairs() const { return !valid_.tree.rows.empty(); }

  std::int64_t points_;
  valid_dendrogram valid_;
  ties tie_mode_;
  double tie_tolerance_;
};

double persistence_at(const std::vector<persistence_step>& trace, std::int64_t size) {
  const auto after = std::upper_bound(trace.begin(), trace.end(), size, [](std::int64_t value, const auto& step) {
    return value < step.min_cluster_size;
  });
  return after == trace.begin() ? 0 : std::prev(after)->persistence;
}

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& labels) { return {labels.begin(), labels.end()}; }

class sweeper {
 public:
  sweeper(any_matrix points, const sweep_options& options, const Device& device, const progress_callback& callback,
          std::vector<double> weights)
      : points_(points), device_(device), callback_(callback), weights_(std::move(weights)), report_(callback) {
    result_.options = options;
    result_.points = points.rows;
  }

  sweep_result run() {
    const sweep_options& options = result_.options;
    const cluster_options shared = shared_options(options);
    shared_trees all_trees = find_shared_trees(
        points_, options.min_samples, {options.min_samples.back(), shared.count_self, shared.distance, shared.alpha},
        device_, callback_, weights_);
    result_.trees = std::move(all_trees.trees);
    const stage_region stage("settings");
    for (std::size_t t = 0; t < result_.trees.size(); ++t) add_settings(std::int64_t(t), all_trees.tree_of);
    if (options.by == score::dbcv || options.dbcv_all) add_dbcv();
    choose_best();
    if (result_.best >= 0) add_layers();
    report_("settings", 1);
    return std::move(result_);
  }

 private:
  void add_settings(std::int64_t tree, const std::vector<std::int64_t>& tree_of) {
    const sweep_options& options = result_.options;
    const tree_settings settings(result_.trees[tree], result_.points, options);
    const std::vector<std::int64_t> sizes =
        options.min_cluster_size.empty() ? settings.sizes() : options.min_cluster_size;
    check_count(options.min_samples.size(), sizes.size(), options.epsilon.size());
    const std::size_t first = result_.settings.size();
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      report_("settings", (double(tree) + double(s) / double(sizes.size())) / double(result_.trees.size()));
      cluster_options shared = shared_options(options);
      shared.min_cluster_size = sizes[s];
      settings.for_each_epsilon(shared, options.epsilon,
                                [&](double epsilon, const std::vector<std::int64_t>& labels, double stability) {
                                  add_setting(tree, sizes[s], epsilon, labels, stability);
                                });
    }
    repeat_for_samples(tree, tree_of, settings, first);
  }

  void add_setting(std::int64_t tree, std::int64_t size, double epsilon, const std::vector<std::int64_t>& labels,
                   double stability) {
    sweep_setting setting;
    setting.min_cluster_size = size;
    setting.epsilon = epsilon;
    setting.tree = tree;
    mass_sum noise;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      setting.clusters = std::max(setting.clusters, labels[i] + 1);
      if (labels[i] < 0) noise.add(weights_.empty() ? 1 : weights_[i]);
    }
    setting.noise = whole_mass(noise.total());
    setting.relative_validity =
        relative_validity(result_.trees[tree].edges, labels, weights_, result_.trees[tree].core_distances);
    setting.stability = stability;
    result_.settings.push_back(setting);
    if (result_.options.labels) result_.labels.insert(result_.labels.end(), labels.begin(), labels.end());
  }

  /// The settings from `first` on become those of every min_samples of the tree.
  void repeat_for_samples(std::int64_t tree, const std::vector<std::int64_t>& tree_of, const tree_settings& settings,
                          std::size_t first) {
    const std::size_t end = result_.settings.size();
    bool is_repeated = false;
    for (std::size_t i = 0; i < tree_of.size(); ++i) {
      if (tree_of[i] != tree) continue;
      const std::size_t begin = is_repeated ? result_.settings.size() : first;
      const std::int64_t min_samples = result_.options.min_samples[i];
      const std::vector<persistence_step> trace = settings.trace(min_samples);
      for (std::size_t s = first; s < end; ++s) {
        if (is_repeated) repeat_setting(s);
        sweep_setting& setting = result_.settings[begin + (s - first)];
        setting.min_samples = min_samples;
        setting.persistence = persistence_at(trace, setting.min_cluster_size);
      }
      is_repeated = true;
    }
    check_count(result_.settings.size(), 1, 1);
  }

  void repeat_setting(std::size_t s) {
    result_.settings.push_back(sweep_setting(result_.settings[s]));
    if (!result_.options.labels) return;
    const std::vector<std::int32_t> labels = labels_at(result_, std::int64_t(s));
    result_.labels.insert(result_.labels.end(), labels.begin(), labels.end());
  }

  /// validity_index() of all settings, or of those of the largest relative validity.
  void add_dbcv() {
    std::vector<std::int64_t> order(result_.settings.size());
    std::iota(order.begin(), order.end(), std::int64_t(0));
    if (!result_.options.dbcv_all) {
      std::erase_if(order, [&](std::int64_t s) { return result_.settings[s].clusters < 2; });
      std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const double of_a = result_.settings[a].relative_validity, of_b = result_.settings[b].relative_validity;
        return of_a != of_b ? of_a > of_b : a < b;
      });
      order.resize(std::min<std::size_t>(order.size(), dbcv_settings));
    }
    for (const std::int64_t s : order) {
      const std::vector<std::int32_t> labels = labels_at(result_, s);
      const std::vector<std::int64_t> wide(labels.begin(), labels.end());
      result_.settings[s].dbcv =
          validity_index(points_, wide, {.distance = result_.options.distance}, device_, callback_, weights_).index;
    }
  }

  double score_of(const sweep_setting& setting) const {
    if (setting.clusters < 2) return not_a_number;
    if (result_.options.by == score::persistence) return setting.persistence;
    return result_.options.by == score::dbcv ? setting.dbcv : setting.relative_validity;
  }

  void choose_best() {
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < result_.settings.size(); ++s) {
      const double value = score_of(result_.settings[s]);
      if (!(value > best)) continue;  // a NaN is not
      best = value;
      result_.best = std::int64_t(s);
    }
  }

  void add_layers() {
    const sweep_setting& best = result_.settings[result_.best];
    const tree_settings settings(result_.trees[best.tree], result_.points, result_.options);
    for (const persistence_step& peak : persistence_peaks(settings.trace(best.min_samples), result_.options.layers)) {
      cluster_options leaves = shared_options(result_.options);
      leaves.method = selection::leaf;
      leaves.min_cluster_size = peak.min_cluster_size;
      settings.for_each_epsilon(leaves, {0}, [&](double, const std::vector<std::int64_t>& labels, double) {
        result_.layers.push_back({peak.min_cluster_size, peak.persistence, narrow(labels)});
      });
    }
  }

  any_matrix points_;
  Device device_;
  const progress_callback& callback_;
  std::vector<double> weights_;
  progress report_;
  sweep_result result_;
};

void check_setting(const sweep_result& result, std::int64_t setting) {
  const auto count = std::int64_t(result.settings.size());
  require_argument(setting >= 0 && setting < count, "setting", setting, text("in [0, ", count, ")"));
}

}  // namespace

sweep_result sweep(any_matrix points, const sweep_options& options, const Device& device,
                   const progress_callback& report, std::span<const double> weights) {
  const sweep_options sorted = checked(options);
  std::vector<double> used = used_weights(weights, points.rows);
  check_ties(used, options.tie_mode);
  check_count(sorted.min_samples.size(), std::max<std::size_t>(sorted.min_cluster_size.size(), 1),
              sorted.epsilon.size());
  return sweeper(points, sorted, device, report, std::move(used)).run();
}

cluster_options options_at(const sweep_result& result, std::int64_t setting) {
  check_setting(result, setting);
  const sweep_setting& at = result.settings[setting];
  cluster_options options = shared_options(result.options);
  options.min_samples = at.min_samples;
  options.min_cluster_size = at.min_cluster_size;
  options.epsilon = at.epsilon;
  return options;
}

cluster_result clustering_at(const sweep_result& result, std::int64_t setting) {
  const cluster_options options = options_at(result, setting);
  spanning_tree_result tree = result.trees[result.settings[setting].tree];
  tree.clamped = is_clamped(spanning_tree_part(options), tree.neighbours);
  return finish_clustering(std::move(tree), result.points, options);
}

std::vector<std::int32_t> labels_at(const sweep_result& result, std::int64_t setting) {
  check_setting(result, setting);
  if (!result.labels.empty()) {
    const auto begin = result.labels.begin() + setting * result.points;
    return {begin, begin + result.points};
  }
  const tree_settings settings(result.trees[result.settings[setting].tree], result.points, result.options);
  std::vector<std::int32_t> labels;
  const cluster_options options = options_at(result, setting);
  settings.for_each_epsilon(options, {options.epsilon},
                            [&](double, const std::vector<std::int64_t>& wide, double) { labels = narrow(wide); });
  return labels;
}

}  // namespace quintet::hdbscan
