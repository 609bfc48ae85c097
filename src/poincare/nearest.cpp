#include "quintet/poincare/nearest.hpp"

#include <algorithm>

#include "pairwise/neighbours.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"

namespace quintet::poincare {

namespace {

/// Sorted lists of candidates (surrogate, index), a fixed number a query, that take in the lists of piece after piece.
template <class Real>
class running_lists {
 public:
  running_lists(std::int64_t queries, std::int64_t k, bool exclude_self)
      : k_(k), exclude_self_(exclude_self), value_(queries * k), index_(queries * k, -1) {}

  /// Candidates of one piece, whose first point has number `first_point`. Pieces come in ascending order, so an equal
  /// surrogate that is there already has the smaller index.
  void take(const pairwise::neighbour_table<Real>& table, std::int64_t first_point) {
    for (std::int64_t row = 0; row < table.rows; ++row)
      for (int e = 0; e < table.k; ++e) {
        const std::int64_t at = row * table.k + e;
        if (table.index[at] < 0) break;
        const std::int64_t point = first_point + table.index[at];
        if (exclude_self_ && point == row) continue;
        if (!insert(row, table.value[at], point)) break;
      }
  }
  const std::vector<Real>& value() const { return value_; }
  std::vector<std::int64_t>& index() { return index_; }

 private:
  bool insert(std::int64_t row, Real candidate, std::int64_t point) {
    Real* value = &value_[row * k_];
    std::int64_t *index = &index_[row * k_], e = k_ - 1;
    if (index[e] >= 0 && !(candidate < value[e])) return false;
    for (; e > 0 && (index[e - 1] < 0 || candidate < value[e - 1]); --e) {
      value[e] = value[e - 1];
      index[e] = index[e - 1];
    }
    value[e] = candidate;
    index[e] = point;
    return true;
  }

  std::int64_t k_;
  bool exclude_self_;
  std::vector<Real> value_;
  std::vector<std::int64_t> index_;
};

/// Points a piece: whole tiles within the budget, one at least.
template <class Real>
std::int64_t points_per_piece(std::int64_t dim, std::int64_t budget_bytes, const Device& device) {
  constexpr std::int64_t tile = 192;  // a multiple of the sides of all tile shapes
  return std::max<std::int64_t>(1, budget_bytes / ball_bytes<Real>(tile, dim, device)) * tile;
}

void check_neighbours(std::int64_t k, std::int64_t points, const nearest_options& options) {
  const std::int64_t most = points - (options.exclude_self ? 1 : 0);
  require_argument(k >= 1 && k <= most, "k", k, text("in [1, ", most, "]"));
  require_argument(options.budget_bytes >= 0, "budget_bytes", options.budget_bytes, ">= 0");
}

}  // namespace

template <class Storage>
neighbours<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                                           std::int64_t k, const nearest_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  const ball b(options.curvature);
  check_sets(queries, points);
  check_neighbours(k, points.rows(), options);
  if (options.exclude_self)
    require_argument(queries.rows() == points.rows(), "queries.rows", queries.rows(),
                     text("points.rows=", points.rows(), " with exclude_self"));
  neighbours<Real> found;
  found.queries = queries.rows();
  found.k = k;
  const auto packed_queries = pack_ball(queries, b, device);
  found.report.queries = packed_queries.status;
  if (options.strict) require_inside(queries, found.report.queries, "queries", b);
  // A row and its duplicates are first in its list; with one place more the row can be left out afterwards.
  const std::int64_t wanted = k + (options.exclude_self ? 1 : 0);
  running_lists<Real> lists(queries.rows(), k, options.exclude_self);
  const std::int64_t piece = points_per_piece<Real>(points.cols(), options.budget_bytes, device);
  for (std::int64_t first = 0; first < points.rows(); first += piece) {
    const matrix_view<const Storage> rows(points.row(first), std::min(piece, points.rows() - first), points.cols(),
                                          points.stride());
    const auto packed = pack_ball(rows, b, device);
    found.report.points.insert(found.report.points.end(), packed.status.begin(), packed.status.end());
    if (options.strict) require_inside(points, found.report.points, "points", b);
    if (queries.rows() > 0)
      lists.take(pairwise::nearest_points(packed_queries.panels, packed.panels,
                                          int(std::min<std::int64_t>(wanted, rows.rows()))),
                 first);
  }
  found.index = std::move(lists.index());
  found.distance.resize(found.index.size());
  const auto surrogate = b.surrogate<Real>(formula::geodesic);
  for (std::size_t e = 0; e < found.index.size(); ++e)
    found.distance[e] =
        found.index[e] < 0 ? std::numeric_limits<Real>::quiet_NaN() : surrogate.distance(lists.value()[e]);
  return found;
}

template <class Storage>
std::int64_t nearest_workspace_bytes(std::int64_t queries, std::int64_t points, std::int64_t dim, std::int64_t k,
                                     const nearest_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  check_neighbours(k, points, options);
  const std::int64_t piece = std::min(points, points_per_piece<Real>(dim, options.budget_bytes, device));
  const std::int64_t wanted = k + (options.exclude_self ? 1 : 0);
  // Lists of a piece on the device for every split of its columns, and two copies on the host.
  const std::int64_t lists = queries * wanted * std::int64_t(sizeof(Real) + sizeof(std::int32_t));
  const std::int64_t teams = device.kind() == device_kind::offload ? 528 : 4;
  const std::int64_t splits = std::max<std::int64_t>(1, teams / (1 + (queries - 1) / 96));
  const std::int64_t raw = device.shares_host_memory() ? 0 : std::max(queries, piece) * dim * sizeof(Storage);
  return ball_bytes<Real>(queries, dim, device) + ball_bytes<Real>(piece, dim, device) + lists * (splits + 1) +
         queries * k * std::int64_t(sizeof(Real) + sizeof(std::int64_t)) + raw + queries + piece;
}

#define QUINTET_INSTANTIATE(Storage)                                                                             \
  template neighbours<accumulator_t<Storage>> nearest(matrix_view<const Storage>, matrix_view<const Storage>,    \
                                                      std::int64_t, const nearest_options&, const Device&);      \
  template std::int64_t nearest_workspace_bytes<Storage>(std::int64_t, std::int64_t, std::int64_t, std::int64_t, \
                                                         const nearest_options&, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::poincare
