#include "quintet/mpi/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "distributed/list_ring.hpp"
#include "distributed/ring.hpp"
#include "distributed/shared_rows.hpp"
#include "instantiate.hpp"
#include "neighbours/results.hpp"
#include "pairwise/check_points.hpp"
#include "pairwise/sheet_lists.hpp"

namespace quintet::mpi::neighbours {

using distributed::list_ring, distributed::ring_part, distributed::ring_plan, distributed::row_spread,
    distributed::shared_points;

template <class Storage>
quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(communicator& ranks,
                                                                    matrix_view<const Storage> rows,
                                                                    std::int64_t first_row, std::int64_t k,
                                                                    const quintet::neighbours::options& settings,
                                                                    const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  ranks.phase("start");
  Device device;
  ranks.run_collectively([&] { device = device::run_device(requested_device, {{"rows", rows}}); });
  distributed::require_same_work(
      ranks, text("k=", k, " metric=", to_string(settings.distance), " bytes=", sizeof(Storage)), device);
  const shared_points<Storage> points(ranks, rows, first_row, settings.distance, device);
  const row_spread& spread = points.spread();
  quintet::neighbours::nearest_result<Real> result;
  pairwise::panels<Real> panels;
  ranks.run_collectively([&] {
    const std::int64_t n = spread.rows(), most = std::max<std::int64_t>(n - 1, 1);
    require_argument(k >= 1 && k <= most, "k", k, text("in [1, ", most, "]"));
    result.queries = rows.rows();
    result.points = n;
    result.k = k;
    result.index.assign(rows.rows() * k, -1);
    result.distance.assign(rows.rows() * k, std::numeric_limits<Real>::quiet_NaN());
    result.invalid_queries = points.own().invalid_rows();
    result.invalid_points = points.invalid_rows();
    panels = points.own().pack();
  });
  if (points.valid_count() == 0) return result;

  ranks.phase("lists");
  const std::int64_t side = panels.block_side;
  std::vector<ring_part> parts;
  for (int rank = 0; rank < ranks.size(); ++rank)
    parts.push_back({spread.count(rank), (spread.count(rank) + side - 1) / side});
  const pairwise::list_sharing sharing = pairwise::sharing_of(device);
  const ring_plan plan(std::move(parts), sharing);
  const auto numbers = [&](int rank) {
    std::vector<std::int32_t> number(spread.count(rank));
    std::iota(number.begin(), number.end(), std::int32_t(spread.first(rank)));
    return number;
  };
  const pairwise::ring_request request =
      distributed::filter_for(ranks, points, plan, panels, {int(k), pairwise::filtered_length(int(k)), false});
  std::unique_ptr<pairwise::ring_lists<Real>> lists;
  ranks.run_collectively([&] {
    lists = std::make_unique<pairwise::ring_lists<Real>>(panels, int(k), numbers(ranks.rank()), 0, 0, sharing, request);
  });
  list_ring<Real> around(ranks, *lists, plan, side, panels.dim, points.has_factors(), numbers);
  around.run([](int) {});
  const std::int64_t n = spread.rows();
  result.pairs_evaluated = sharing == pairwise::list_sharing::symmetric ? n * (n - 1) / 2 : n * n;
  ranks.run_collectively([&] {
    const pairwise::neighbour_table<Real> neighbour_lists = pairwise::on_host(lists->lists());
    for (std::size_t e = 0; e < neighbour_lists.index.size(); ++e) {
      if (neighbour_lists.index[e] < 0) continue;
      result.index[e] = neighbour_lists.index[e];
      result.distance[e] = points.measure().distance(neighbour_lists.value[e]);
    }
  });
  return result;
}

namespace {

using pairwise::scanned_points;

/// Numbers of a part become those of all points.
struct shift_number {
  std::int32_t first;
  std::int32_t* number;
  void operator()(std::int64_t e) const {
    if (number[e] >= 0) number[e] += first;
  }
};

/// Queries that stay, and lists that grow with every part of the points.
template <class Storage>
class part_search {
 public:
  using Real = accumulator_t<Storage>;

  part_search(const scanned_points<Storage>& queries, int k) : queries_(queries), packed_(queries.pack()), k_(k) {}

  void take(const scanned_points<Storage>& points, std::int64_t first) {
    if (queries_.count() == 0 || points.count() == 0) return;
    auto lists = lists_of(points);
    device::for_each(lists.rows * lists.k, shift_number{std::int32_t(first), lists.index.data()}, lists.index.device());
    lists_ = lists_.rows == 0 ? std::move(lists) : quintet::neighbours::joined_lists(lists_, lists);
  }
  const pairwise::device_neighbours<Real>& lists() const { return lists_; }

 private:
  pairwise::device_neighbours<Real> lists_of(const scanned_points<Storage>& points) const {
    if constexpr (std::is_same_v<Storage, double>)
      if (pairwise::sheet_filter_pays(queries_, points, k_)) return pairwise::nearest_on_sheet(queries_, points, k_);
    return pairwise::nearest_points_on_device(packed_, points.pack(), k_);
  }

  const scanned_points<Storage>& queries_;
  pairwise::panels<Real> packed_;
  int k_;
  pairwise::device_neighbours<Real> lists_;
};

/// The rows of all ranks: counts and their coordinates.
struct dealt_rows {
  std::vector<std::int64_t> counts;
  std::int64_t cols = 0;

  template <class Storage>
  dealt_rows(communicator& ranks, matrix_view<const Storage> queries, matrix_view<const Storage> rows)
      : counts(ranks.allgather_counts(rows.rows())) {
    cols = ranks.maximum(std::max(queries.rows() > 0 ? queries.cols() : 0, rows.rows() > 0 ? rows.cols() : 0));
    ranks.run_collectively([&] {
      for (const auto& [view, name] : {std::pair(queries, "queries"), std::pair(rows, "rows")}) {
        pairwise::check_points(view);
        require_argument(view.rows() == 0 || view.cols() == cols, text(name, ".cols"), view.cols(),
                         text("the same on all ranks, ", cols));
        require_argument(view.device().shares_host_memory(), name, view.device().name(), "in host memory");
      }
      require_argument(count() <= pairwise::max_points, "rows of all ranks", count(),
                       text("<= ", pairwise::max_points));
    });
  }
  std::int64_t count() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t(0)); }
};

}  // namespace

template <class Storage>
quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(communicator& ranks,
                                                                    matrix_view<const Storage> queries,
                                                                    matrix_view<const Storage> rows, std::int64_t k,
                                                                    const quintet::neighbours::options& settings,
                                                                    const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  ranks.phase("start");
  Device device;
  ranks.run_collectively(
      [&] { device = device::run_device(requested_device, {{"queries", queries}, {"rows", rows}}); });
  distributed::require_same_work(
      ranks, text("queries, k=", k, " metric=", to_string(settings.distance), " bytes=", sizeof(Storage)), device);
  const dealt_rows dealt(ranks, queries, rows);
  const std::int64_t n = dealt.count();
  std::optional<scanned_points<Storage>> asked;
  std::optional<part_search<Storage>> search;
  std::vector<std::int64_t> invalid;
  Real largest = 0;
  const std::vector<std::int64_t> first = distributed::first_rows(dealt.counts);
  ranks.run_collectively([&] {
    require_argument(k >= 1 && k <= std::max<std::int64_t>(n, 1), "k", k,
                     text("in [1, ", std::max<std::int64_t>(n, 1), "]"));
    asked.emplace(queries, settings.distance, device);
    const scanned_points<Storage> own(rows, settings.distance, device);
    largest = std::max(own.largest(), asked->largest());
    invalid = own.invalid_rows();
    for (std::int64_t& row : invalid) row += first[std::size_t(ranks.rank())];
  });
  largest = ranks.largest(largest);
  auto result = quintet::neighbours::empty_lists<Real>(queries.rows(), n, k, device);
  result.invalid_queries = asked->invalid_rows();
  result.invalid_points = ranks.allgather(std::span<const std::int64_t>(invalid));
  ranks.run_collectively([&] {
    asked->share_scale(largest);
    search.emplace(*asked, int(k));
  });
  ranks.phase("lists");
  distributed::around(ranks, rows, dealt.cols, dealt.counts,
                      [&](int owner, matrix_view<const Storage> visitors, const auto& poke) {
                        distributed::in_parts(
                            visitors.rows(),
                            [&](std::int64_t begin, std::int64_t end) {
                              scanned_points<Storage> part(visitors.slice(begin, end), settings.distance, device);
                              part.share_scale(largest);
                              search->take(part, first[std::size_t(owner)] + begin);
                            },
                            poke);
                      });
  ranks.run_collectively([&] {
    result.pairs_evaluated = queries.rows() * n;
    quintet::neighbours::put_lists(search->lists(), {}, asked->measure, result);
  });
  return result;
}

#define QUINTET_INSTANTIATE(Storage)                                                                              \
  template quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(                                   \
      communicator&, matrix_view<const Storage>, std::int64_t, std::int64_t, const quintet::neighbours::options&, \
      const Device&);                                                                                             \
  template quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(                                   \
      communicator&, matrix_view<const Storage>, matrix_view<const Storage>, std::int64_t,                        \
      const quintet::neighbours::options&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::mpi::neighbours
