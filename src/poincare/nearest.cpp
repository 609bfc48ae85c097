#include "quintet/poincare/nearest.hpp"

#include <algorithm>
#include <limits>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_search.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"
#include "poincare/nearest_kernel.hpp"
#include "poincare/nearest_search.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::poincare {

namespace {

/// Nothing is found yet: the lists before the first piece.
struct reset_neighbours {
  matrix_view<std::int64_t> index;

  void operator()(std::int64_t e) const { index(e / index.cols(), e % index.cols()) = -1; }
};

/// Places without a neighbour have no distance.
template <class Real>
struct mark_absent {
  matrix_view<const std::int64_t> index;
  matrix_view<Real> value;

  void operator()(std::int64_t e) const {
    const std::int64_t query = e / index.cols(), place = e % index.cols();
    if (index(query, place) < 0) value(query, place) = std::numeric_limits<Real>::quiet_NaN();
  }
};

// Queries below which comparing all pairs takes less time than a tree of the points.
constexpr std::int64_t min_tree_queries = 1024;

/// Points a piece: whole tiles within the budget, one at least.
template <class Real>
std::int64_t points_per_piece(std::int64_t dim, std::int64_t budget_bytes, const Device& device) {
  constexpr std::int64_t tile = 192;  // a multiple of the sides of all tile shapes
  return std::max<std::int64_t>(1, budget_bytes / ball_bytes<Real>(tile, dim, device)) * tile;
}

}  // namespace

void check_neighbours(std::int64_t k, std::int64_t points, const nearest_options& options) {
  const std::int64_t max = points - (options.exclude_self ? 1 : 0);
  require_argument(k >= 1 && k <= max, "k", k, text("in [1, ", max, "]"));
  require_argument(options.budget_bytes >= 0, "budget_bytes", options.budget_bytes, ">= 0");
}

template <class Storage>
nearest_search<Storage>::nearest_search(matrix_view<const Storage> queries, std::int64_t first_query,
                                        matrix_view<std::int64_t> index, matrix_view<Real> distance,
                                        const nearest_options& options, const Device& device)
    : ball_(options.curvature),
      options_(options),
      device_(device),
      queries_(pack_ball(queries, ball_, device)),
      first_query_(first_query),
      index_(index),
      distance_(distance) {
  if (queries.cols() > pairwise::max_tree_dimensions || queries.rows() < min_tree_queries) return;
  const pairwise::scanned_points<Storage> scanned(queries, ball_, device);
  if (scanned.valid_count() < min_tree_queries) return;
  tree_.reset(new query_tree{pairwise::tree_points<Real>(scanned), {}});
  std::vector<std::int32_t> place(queries.rows(), -1);
  for (std::size_t i = 0; i < tree_->points.order.size(); ++i) place[tree_->points.order[i]] = std::int32_t(i);
  tree_->place = Buffer<std::int32_t>(place, device);
}

template <class Storage>
typename nearest_search<Storage>::piece_lists nearest_search<Storage>::nearest_in(matrix_view<const Storage> rows,
                                                                                  const pairwise::panels<Real>& packed,
                                                                                  int k) const {
  if (tree_) {
    const pairwise::scanned_points<Storage> scanned(rows, ball_, device_);
    if (pairwise::may_have_tree(scanned)) {
      const pairwise::tree_points<Real> points(scanned);
      const pairwise::block_tree<Real>& queries = tree_->points.tree;
      if (pairwise::sampled_share(queries, points.tree, k) <= pairwise::worthwhile_share) {
        const Buffer<std::int32_t> number(points.order, device_);
        pairwise::tree_work work;
        return {pairwise::nearest_points_on_device(queries, points.tree, k, work, number.data()), tree_->place.data()};
      }
    }
  }
  return {pairwise::nearest_points_on_device(queries_.panels, packed, k)};
}

template <class Storage>
void nearest_search<Storage>::reset() const {
  device::for_each(index_.rows() * index_.cols(), reset_neighbours{index_}, device_);
}

template <class Storage>
void nearest_search<Storage>::take(matrix_view<const Storage> points, std::int64_t first_point,
                                   std::vector<point_status>& status) const {
  // A row and its duplicates are first in its list; with one place more the row can be left out afterwards. Another one
  // shows whether the last distance has equals outside the list.
  const std::int64_t target = index_.cols() + (options_.exclude_self ? 1 : 0);
  const std::int64_t piece = points_per_piece<Real>(points.cols(), options_.budget_bytes, device_);
  for (std::int64_t first = 0; first < points.rows(); first += piece) {
    const auto rows = points.slice(first, std::min(points.rows(), first + piece));
    const auto packed = pack_ball(rows, ball_, device_);
    status.insert(status.end(), packed.status.begin(), packed.status.end());
    if (options_.strict) require_inside(points, status, "points", ball_);
    if (index_.rows() == 0) continue;
    const auto [lists, place] = nearest_in(rows, packed.panels, int(std::min<std::int64_t>(target + 1, rows.rows())));
    const auto& piece_lists = lists;  // a structured binding cannot be captured
    const std::int32_t* const piece_place = place;
    device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device_, [&](auto shape) {
      using kernel = take_piece_kernel<Real, decltype(shape)>;
      device::launch(
          kernel{packed_pairs<Real>::of(queries_.panels, packed.panels, ball_), piece_lists.value.data(),
                 piece_lists.index.data(), piece_place, piece_lists.k, target, queries_.may_lose || packed.may_lose,
                 first_point + first, first_query_, options_.exclude_self, distance_, index_},
          (index_.rows() + kernel::queries_per_tile - 1) / kernel::queries_per_tile, device_);
    });
  }
}

template <class Storage>
void nearest_search<Storage>::finish() const {
  device::for_each(index_.rows() * index_.cols(), mark_absent<Real>{index_, distance_}, device_);
}

namespace {

template <class Storage>
point_report find_nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                          matrix_view<std::int64_t> index, matrix_view<accumulator_t<Storage>> distance,
                          const nearest_options& options, const Device& requested_device) {
  const stage_region stage("neighbours");
  const ball b(options.curvature);
  const Device device = device::run_device(
      requested_device, {{"queries", queries}, {"points", points}, {"index", index}, {"distance", distance}});
  const std::int64_t k = index.cols();
  check_sets(queries, points);
  check_neighbours(k, points.rows(), options);
  const double pairs = double(queries.rows()) * double(points.rows());
  const device::small_call serial_if_small(pairs * (2 + 0.02 * double(points.cols())), 2, device);
  if (options.exclude_self)
    require_argument(queries.rows() == points.rows(), "queries.rows", queries.rows(),
                     text("points.rows=", points.rows(), " with exclude_self"));
  require_shape(index, "index", queries.rows(), k);
  require_shape(distance, "distance", queries.rows(), k);
  device::staged_out neighbour(index, device);
  device::staged_out measured(distance, device);
  nearest_search<Storage> search(queries, 0, neighbour.view(), measured.view(), options, device);
  point_report report{search.status(), {}};
  if (options.strict) require_inside(queries, report.queries, "queries", b);
  search.reset();
  search.take(points, 0, report.points);
  search.finish();
  device::finish(neighbour, measured);
  return report;
}

template <class Storage>
std::int64_t workspace_bytes(std::int64_t queries, std::int64_t points, std::int64_t dim, std::int64_t k,
                             const nearest_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  require_argument(queries >= 0 && queries <= max_points, "queries", queries, text("in [0, ", max_points, "]"));
  require_argument(points >= 0 && points <= max_points, "points", points, text("in [0, ", max_points, "]"));
  require_argument(dim >= 1, "dim", dim, ">= 1");
  check_neighbours(k, points, options);
  // 8192 bytes for every number that is held are more than is counted below.
  if (detail::bytes_of(std::max(queries, points) + 192, dim, 1, 8192) < 0 ||
      detail::bytes_of(queries + 192, k, 1, 8192) < 0)
    throw InvalidArgument(text("dim and k must be small enough to count the bytes of all coordinates and neighbours (",
                               "queries=", queries, ", points=", points, ", dim=", dim, ", k=", k, ")"));
  const std::int64_t piece = std::min(points, points_per_piece<Real>(dim, options.budget_bytes, device));
  const std::int64_t target = k + (options.exclude_self ? 2 : 1);
  // Lists of a piece for every split of its columns, those of all pieces, and on the host a copy of these.
  const std::int64_t lists = queries * target * std::int64_t(sizeof(Real) + sizeof(std::int32_t));
  const std::int64_t teams = device.kind() == device_kind::offload ? 528 : 4;
  const std::int64_t splits = std::max<std::int64_t>(1, teams / (1 + (queries - 1) / 96));
  const std::int64_t raw = device.shares_host_memory() ? 0 : std::max(queries, piece) * dim * sizeof(Storage);
  // Two packed copies and boxes of both sets, and orders.
  const std::int64_t trees = dim > pairwise::max_tree_dimensions
                                 ? 0
                                 : 3 * (ball_bytes<Real>(queries, dim, device) + ball_bytes<Real>(piece, dim, device)) +
                                       32 * (queries + piece);
  return trees + ball_bytes<Real>(queries, dim, device) + ball_bytes<Real>(piece, dim, device) + lists * (splits + 1) +
         queries * k * std::int64_t(sizeof(Real) + sizeof(std::int64_t)) + raw + queries + piece;
}

}  // namespace

point_report nearest(any_matrix queries, any_matrix points, matrix_view<std::int64_t> index, any_output_matrix distance,
                     const nearest_options& options, const Device& device) {
  return with_storage(queries.type, [&]<class T>() {
    return find_nearest<T>(queries.as<T>("queries"), points.as<T>("points"), index,
                           distance.as<accumulator_t<T>>("distance"), options, device);
  });
}

std::int64_t nearest_workspace_bytes(scalar_type type, std::int64_t queries, std::int64_t points, std::int64_t dim,
                                     std::int64_t k, const nearest_options& options, const Device& device) {
  return with_storage(type, [&]<class T>() { return workspace_bytes<T>(queries, points, dim, k, options, device); });
}

// Used by ranks, too.
#define QUINTET_INSTANTIATE(Storage) template class nearest_search<Storage>;
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::poincare
