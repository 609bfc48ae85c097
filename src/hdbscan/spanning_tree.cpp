#include "quintet/hdbscan/spanning_tree.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "device/small_call.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/core_mass.hpp"
#include "hdbscan/listed_tree.hpp"
#include "hdbscan/piles.hpp"
#include "hdbscan/spanning_tree_stages.hpp"
#include "instantiate.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/locality.hpp"
#include "pairwise/pairs.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_points.hpp"

namespace quintet::hdbscan {

namespace {

/// Edges among all points, in an order that puts neighbours next to each other, with a tree of blocks where that pays.
template <class Storage>
class local_search final : public edge_search<accumulator_t<Storage>> {
 public:
  using Real = accumulator_t<Storage>;
  using typename edge_search<Real>::work;

  /// `weights`: of the points; empty: 1 each. Lists reach the mass k + 1. `progress_or_null`: the part of the lists
  /// that is done. `kept_or_null` gets a copy of them.
  local_search(process_group& group, const pairwise::scanned_points<Storage>& points,
               const std::vector<double>& weights, std::int64_t k, const list_lengths& lengths,
               pairwise::part_callback progress_or_null, listed_tree<Real>* kept_or_null)
      : points_(points),
        weights_(weights),
        needed_(double(k) + 1),
        lengths_(lengths),
        progress_or_null_(std::move(progress_or_null)),
        kept_or_null_(kept_or_null),
        exchange_(group) {
    pairwise::build_tree_if_faster(points, lengths.length, with_tree_);
    if (with_tree_) {
      lengths_.length = int(std::min<std::int64_t>(lengths_.length, lengths_.exact + spare_in_trees));
      return;
    }
    own_order_ = pairwise::locality_order(points);
    own_panels_ = points.pack(own_order_);
  }

  bool has_tree() const { return with_tree_.has_value(); }
  const std::vector<std::int32_t>& order() const override { return with_tree_ ? with_tree_->order : own_order_; }
  const pairwise::reduced_metric<Real>& measure() const override { return points_.measure; }

  void find_lists(const std::function<void(int)>& after_step, int) override {
    search();
    const int other_points = int(order().size()) - 1;
    while (lengths_.exact < other_points && !lists_reach()) {
      lengths_.length = lengths_.exact = int(std::min<std::int64_t>(4 * std::int64_t(lengths_.length), other_points));
      search();
    }
    if (kept_or_null_ != nullptr) keep_lists(*kept_or_null_);
    after_step(0);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_; }

  std::vector<Real> core_distances(std::int64_t k) override {
    if (weights_.empty()) return edge_search<Real>::core_distances(k);
    std::vector<Real> core(lists_.rows, 0);
    for_each_ball([&](std::int64_t i, const ball_of_mass<Real>& ball) { core[i] = ball.radius; });
    return core;
  }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    this->rounds_ = std::make_unique<boruvka<Real>>(panels(), std::move(lists_), core, outside, order(),
                                                    rank_part<Real>{}, with_tree_ ? &with_tree_->tree : nullptr,
                                                    bound_limits{.cell_bytes = table_bytes()});
    if constexpr (sizeof(Real) == sizeof(float))
      if (filter_) this->rounds_->use_filter(&*filter_);
  }
  round_exchange<Real>& exchange() override { return exchange_; }

  void measure_edges(std::vector<edge>& edges, double alpha, const std::vector<double>& core) override {
    const std::vector<Real> reduced = reduced_distances(edges);
    for (std::size_t e = 0; e < edges.size(); ++e)
      edges[e].weight = edge_weight(core[edges[e].u], core[edges[e].v], reduced[e], alpha, points_.measure);
  }

  std::vector<Real> reduced_distances(const std::vector<edge>& edges) const {
    std::vector<std::int64_t> pairs;
    for (const edge& e : edges) pairs.insert(pairs.end(), {e.u, e.v});
    const Buffer<std::int64_t> pairs_on_device(pairs, points_.device());
    Buffer<Real> values(std::int64_t(edges.size()), points_.device());
    pairwise::reduced_pairs<Storage>(points_, {pairs_on_device.data(), values.size(), 2}, values.data());
    return values.to_vector();
  }

  work work_done() override {
    const std::int64_t tiles = pairwise::triangle_size(panels().blocks()), n = panels().count,
                       side = panels().block_side, scanned = this->rounds_->tiles_scanned();
    if (with_tree_) return {tiles, scanned / pairwise::leaf_points, searched_.pairs + scanned * pairwise::leaf_points};
    const int times = pairwise::sharing_of(points_.device()) == pairwise::list_sharing::symmetric ? 1 : 2;
    return {tiles, scanned, times * (n * (n - 1) / 2) + scanned * side * side};
  }

 private:
  void search() {
    lists_ = with_tree_ ? pairwise::nearest_others_on_device(with_tree_->tree, lengths_.length, searched_, nullptr,
                                                             progress_or_null_)
                        : pairwise::nearest_others_filtered(points_, own_order_, own_panels_,
                                                            {.length = lengths_.length,
                                                             .exact = lengths_.exact,
                                                             .values_only = true,
                                                             .minima_bytes = table_bytes()},
                                                            progress_or_null_, &filter_);
  }

  /// Whether the first entries that are the nearest weigh enough; of weights of 1 and more they do.
  bool lists_reach() const {
    if (std::none_of(weights_.begin(), weights_.end(), [](double weight) { return weight > 0 && weight < 1; }))
      return true;
    bool is_reached = true;
    for_each_ball([&](std::int64_t, const ball_of_mass<Real>& ball) { is_reached = is_reached && ball.is_reached; });
    return is_reached;
  }

  /// use(i, ball) for every list: the ball around its point that has the mass needed.
  template <class Use>
  void for_each_ball(const Use& use) const {
    const pairwise::neighbour_table<Real> table = pairwise::on_host(lists_);
    for (std::int64_t i = 0; i < table.rows; ++i) {
      const std::int64_t first = i * table.k;
      const auto weight = [&](std::int64_t e) {
        const std::int32_t entry = table.index[first + e];
        return entry < 0 ? -1 : weights_[order()[entry]];
      };
      use(i, ball_of(needed_, weights_[order()[i]], table.value.data() + first, lengths_.exact, weight));
    }
  }

  const pairwise::panels<Real>& panels() const { return with_tree_ ? with_tree_->packed : own_panels_; }
  std::int64_t table_bytes() const { return bound_table_bytes(panels().data.bytes()); }
  void keep_lists(listed_tree<Real>& listed) const {
    listed.measure = points_.measure;
    listed.order = order();
    listed.lists = pairwise::on_host(lists_);
    listed.exact = lengths_.exact;
  }

  const pairwise::scanned_points<Storage>& points_;
  const std::vector<double>& weights_;
  double needed_;
  list_lengths lengths_;
  pairwise::part_callback progress_or_null_;
  listed_tree<Real>* kept_or_null_;
  std::optional<pairwise::tree_points<Real>> with_tree_;
  std::vector<std::int32_t> own_order_;
  pairwise::panels<Real> own_panels_;
  pairwise::tree_work searched_;
  std::optional<pairwise::rounded_points> filter_;
  pairwise::device_neighbours<Real> lists_;
  round_exchange<Real> exchange_;
};

/// The tree into `result`, which is begun; `weights` as for local_search. Ends `neighbours_region`. `kept_or_null` gets
/// the lists, of `times` the neighbours that are needed, and the distances of the edges.
template <class Storage>
void find_tree(pairwise::scanned_points<Storage>& points, const std::vector<double>& weights,
               const spanning_tree_options& options, bool has_callback, progress& report,
               stage_region& neighbours_region, spanning_tree_result& result,
               listed_tree<accumulator_t<Storage>>* kept_or_null = nullptr, std::int64_t times = 1) {
  using Real = accumulator_t<Storage>;
  report("neighbours", 0);
  single_process process;
  const pairwise::part_callback lists_part = [&](double part) { report("neighbours", part); };
  list_lengths lengths = lengths_of(result, points.valid_count());
  if (times > 1) lengths.length = lengths.exact = int(std::min(points.valid_count() - 1, times * lengths.exact));
  local_search<Storage> search(process, points, weights, result.neighbours, lengths,
                               has_callback ? lists_part : nullptr, kept_or_null);
  const bool measures_again = options.alpha != 1 || kept_or_null != nullptr;
  if (search.has_tree() && !measures_again) points.free_unit_vectors();
  tree_checkpoints<Real> no_checkpoints;
  run_stages<Real>(process, search, no_checkpoints, options, report, neighbours_region, result);
  if (kept_or_null != nullptr) kept_or_null->edge_distance = search.reduced_distances(result.edges);
}

/// The same without the copies in piles. False if there are few, or two places are at distance 0.
template <class Storage>
bool find_tree_of_piles(matrix_view<const Storage> points, const std::vector<std::int32_t>& valid,
                        const spanning_tree_options& options, const Device& device, bool has_callback, progress& report,
                        stage_region& neighbours_region, spanning_tree_result& result) {
  if (!points.device().shares_host_memory()) return false;
  const auto piles = merged_piles<Storage>::find(points, valid, result.neighbours, is_of_words(options.distance.kind));
  if (!piles) return false;
  pairwise::scanned_points<Storage> scanned(piles->points(), options.distance, device);
  spanning_tree_result tree =
      begin_result(options, scalar_type_of<Storage>(), scanned.count(), points.cols(), {}, device);
  tree.neighbours = result.neighbours;
  if (scanned.count() > 1) find_tree(scanned, piles->copies(), options, has_callback, report, neighbours_region, tree);
  neighbours_region.end();
  return piles->expand(std::move(tree), result);
}

/// Of a tree that is begun with all rows left out as invalid ones.
void take_weights(spanning_tree_result& result, const spanning_tree_options& options, std::vector<double> weights) {
  if (weights.empty()) return;
  const double mass = mass_without(weights, result.invalid_rows);
  result.neighbours = neighbour_mass(options, mass);
  result.clamped = is_clamped(options, result.neighbours) || double(result.neighbours) + 1 > mass;
  result.excluded_rows = rows_of_no_weight(weights);
  result.invalid_rows = rows_except(result.invalid_rows, result.excluded_rows);
  result.weights = std::move(weights);
}

/// `kept_or_null` and `times` as for find_tree().
template <class Storage>
spanning_tree_result spanning_tree_of_points(matrix_view<const Storage> points, const spanning_tree_options& options,
                                             const Device& requested_device, const progress_callback& callback,
                                             std::span<const double> given_weights,
                                             listed_tree<accumulator_t<Storage>>* kept_or_null = nullptr,
                                             std::int64_t times = 1) {
  using Real = accumulator_t<Storage>;
  const Device device = device::run_device(requested_device, {{"points", points}});
  check_points(points);
  check_distance(options.distance);
  check_alpha<Real>(options.alpha);
  progress report(callback);
  double neighbours_seconds = 0;
  const double pairs = double(points.rows()) * double(points.rows());
  const device::small_call serial_if_small(pairs * (12 + 0.1 * double(points.cols())), 12, device);
  stage_region neighbours_region("neighbours", &neighbours_seconds);
  std::vector<double> weights = used_weights(given_weights, points.rows());
  pairwise::scanned_points<Storage> scanned(points, options.distance, device);
  scanned.exclude(rows_of_no_weight(weights));
  const std::int64_t valid = scanned.valid_count();
  spanning_tree_result result =
      begin_result(options, scalar_type_of<Storage>(), points.rows(), points.cols(), scanned.invalid_rows(), device);
  take_weights(result, options, std::move(weights));
  if (valid < 2) return result;

  const bool has_callback(callback);
  if (kept_or_null != nullptr || !result.weights.empty())
    find_tree(scanned, result.weights, options, has_callback, report, neighbours_region, result, kept_or_null, times);
  else if (!find_tree_of_piles(points, scanned.valid_rows(), options, device, has_callback, report, neighbours_region,
                               result))
    find_tree(scanned, {}, options, has_callback, report, neighbours_region, result);
  result.neighbours_seconds = neighbours_seconds;
  return result;
}

}  // namespace

template <class Storage>
listed_tree<accumulator_t<Storage>> listed_spanning_tree(matrix_view<const Storage> points,
                                                         const spanning_tree_options& options, std::int64_t times,
                                                         const Device& device, const progress_callback& report,
                                                         std::span<const double> weights) {
  listed_tree<accumulator_t<Storage>> listed;
  listed.tree = spanning_tree_of_points<Storage>(points, options, device, report, weights, &listed, times);
  return listed;
}

#define QUINTET_INSTANTIATE(Storage)                                                                                   \
  template listed_tree<accumulator_t<Storage>> listed_spanning_tree(                                                   \
      matrix_view<const Storage>, const spanning_tree_options&, std::int64_t, const Device&, const progress_callback&, \
      std::span<const double>);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

spanning_tree_result spanning_tree(any_matrix points, const spanning_tree_options& options, const Device& device,
                                   const progress_callback& report, std::span<const double> weights) {
  return with_storage(points.type, [&]<class T>() {
    return spanning_tree_of_points<T>(points.as<T>("points"), options, device, report, weights);
  });
}

}  // namespace quintet::hdbscan
