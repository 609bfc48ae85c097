#include "quintet/hdbscan/spanning_tree.hpp"

#include <memory>
#include <optional>

#include "device/small_call.hpp"
#include "hdbscan/checks.hpp"
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

  /// `progress_or_null`: the part of the lists that is done.
  local_search(process_group& group, const pairwise::scanned_points<Storage>& points, const list_lengths& lengths,
               pairwise::part_callback progress_or_null)
      : points_(points), lengths_(lengths), progress_or_null_(std::move(progress_or_null)), exchange_(group) {
    pairwise::build_tree_if_faster(points, lengths.length, with_tree_);
    if (with_tree_) return;
    own_order_ = pairwise::locality_order(points);
    own_panels_ = points.pack(own_order_);
  }

  const std::vector<std::int32_t>& order() const override { return with_tree_ ? with_tree_->order : own_order_; }
  const pairwise::reduced_metric<Real>& measure() const override { return points_.measure; }

  void find_lists(const std::function<void(int)>& after_step, int) override {
    lists_ = with_tree_ ? pairwise::nearest_others_on_device(with_tree_->tree, lengths_.length, searched_, nullptr,
                                                             progress_or_null_)
                        : pairwise::nearest_others_filtered(points_, own_order_, own_panels_,
                                                            {.length = lengths_.length,
                                                             .exact = lengths_.exact,
                                                             .values_only = true,
                                                             .minima_bytes = table_bytes()},
                                                            progress_or_null_, &filter_);
    after_step(0);
  }
  pairwise::device_neighbours<Real>& lists() override { return lists_; }

  void begin_rounds(const std::vector<Real>& core, const std::vector<Real>& outside) override {
    this->rounds_ = std::make_unique<boruvka<Real>>(panels(), std::move(lists_), core, outside, order(),
                                                    rank_part<Real>{}, with_tree_ ? &with_tree_->tree : nullptr,
                                                    bound_limits{.cell_bytes = table_bytes()});
    if constexpr (sizeof(Real) == sizeof(float))
      if (filter_) this->rounds_->use_filter(&*filter_);
  }
  round_exchange<Real>& exchange() override { return exchange_; }

  void measure_edges(std::vector<edge>& edges, double alpha, const std::vector<double>& core) override {
    std::vector<std::int64_t> pairs;
    for (const edge& e : edges) pairs.insert(pairs.end(), {e.u, e.v});
    const Buffer<std::int64_t> pairs_on_device(pairs, points_.device());
    Buffer<Real> values(std::int64_t(edges.size()), points_.device());
    pairwise::reduced_pairs<Storage>(points_, {pairs_on_device.data(), values.size(), 2}, values.data());
    const std::vector<Real> reduced = values.to_vector();
    for (std::size_t e = 0; e < edges.size(); ++e)
      edges[e].weight = edge_weight(core[edges[e].u], core[edges[e].v], reduced[e], alpha, points_.measure);
  }

  work work_done() override {
    const std::int64_t tiles = pairwise::triangle_size(panels().blocks()), n = panels().count,
                       side = panels().block_side, scanned = this->rounds_->tiles_scanned();
    if (with_tree_) return {tiles, scanned / pairwise::leaf_points, searched_.pairs + scanned * pairwise::leaf_points};
    const int times = pairwise::sharing_of(points_.device()) == pairwise::list_sharing::symmetric ? 1 : 2;
    return {tiles, scanned, times * (n * (n - 1) / 2) + scanned * side * side};
  }

 private:
  const pairwise::panels<Real>& panels() const { return with_tree_ ? with_tree_->packed : own_panels_; }
  std::int64_t table_bytes() const { return bound_table_bytes(panels().data.bytes()); }

  const pairwise::scanned_points<Storage>& points_;
  list_lengths lengths_;
  pairwise::part_callback progress_or_null_;
  std::optional<pairwise::tree_points<Real>> with_tree_;
  std::vector<std::int32_t> own_order_;
  pairwise::panels<Real> own_panels_;
  pairwise::tree_work searched_;
  std::optional<pairwise::rounded_points> filter_;
  pairwise::device_neighbours<Real> lists_;
  round_exchange<Real> exchange_;
};

template <class Storage>
spanning_tree_result spanning_tree_of_points(matrix_view<const Storage> points, const spanning_tree_options& options,
                                             const Device& given, const progress_callback& callback) {
  using Real = accumulator_t<Storage>;
  const Device device = device::run_device(given, {{"points", points}});
  check_points(points);
  check_alpha<Real>(options.alpha);
  progress report(callback);
  double neighbours_seconds = 0;
  const double pairs = double(points.rows()) * double(points.rows());
  const device::small_call serial_if_small(pairs * (12 + 0.1 * double(points.cols())), 12, device);
  stage_region neighbours_region("neighbours", &neighbours_seconds);
  const pairwise::scanned_points<Storage> scanned(points, options.distance, device);
  const std::int64_t valid = scanned.valid_count();
  spanning_tree_result result = begin_result(options, points.rows(), scanned.invalid_rows(), device);
  if (valid < 2) return result;

  report("neighbours", 0);
  single_process process;
  const pairwise::part_callback lists_part = [&](double part) { report("neighbours", part); };
  local_search<Storage> search(process, scanned, lengths_of(result, valid), callback ? lists_part : nullptr);
  tree_checkpoints<Real> no_checkpoints;
  run_stages<Real>(process, search, no_checkpoints, options, report, neighbours_region, result);
  result.neighbours_seconds = neighbours_seconds;
  return result;
}

}  // namespace

spanning_tree_result spanning_tree(any_matrix points, const spanning_tree_options& options, const Device& device,
                                   const progress_callback& report) {
  return with_storage(points.type, [&]<class T>() {
    return spanning_tree_of_points<T>(points.as<T>("points"), options, device, report);
  });
}

}  // namespace quintet::hdbscan
