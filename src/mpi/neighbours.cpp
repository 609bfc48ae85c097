#include "quintet/mpi/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "device/staged.hpp"
#include "distributed/list_ring.hpp"
#include "distributed/shared_rows.hpp"
#include "instantiate.hpp"

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

#define QUINTET_INSTANTIATE(Storage)                                                                              \
  template quintet::neighbours::nearest_result<accumulator_t<Storage>> nearest(                                   \
      communicator&, matrix_view<const Storage>, std::int64_t, std::int64_t, const quintet::neighbours::options&, \
      const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::mpi::neighbours
