#include "quintet/mpi/poincare.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include "instantiate.hpp"
#include "mpi/dealt_distances.hpp"
#include "poincare/nearest_search.hpp"

namespace quintet::mpi::poincare {

namespace {

using distributed::around, distributed::in_parts;
using quintet::poincare::ball;
using quintet::poincare::distance_options;
using quintet::poincare::nearest_options;
using quintet::poincare::nearest_search;
using quintet::poincare::point_report;
using quintet::poincare::point_status;

/// Distances in the ball, see dealt_distances.hpp.
struct ball_model {
  using options_type = distance_options;
  distance_options options;

  std::string words() const {
    return text("curvature ", options.curvature, ", formula ", int(options.expression), ", strict ", options.strict);
  }
  void check(std::int64_t) const { ball(options.curvature); }
  template <class Storage>
  std::vector<point_status> look(matrix_view<const Storage> rows, const Device& device) const {
    return quintet::poincare::pack_ball(rows, ball(options.curvature), device).status;
  }
  template <class Storage>
  void require_usable(matrix_view<const Storage> rows, const std::vector<point_status>& status, const char* name,
                      std::int64_t first) const {
    quintet::poincare::require_inside(rows, status, name, ball(options.curvature), first);
  }
  point_report measure(any_matrix x, any_matrix y, any_output_matrix out, const Device& device) const {
    return quintet::poincare::distances(x, y, out, options, device);
  }
  point_report measure(any_matrix x, any_matrix y, any_output_vector out, const Device& device) const {
    return quintet::poincare::pair_distances(x, y, out, options, device);
  }
};

std::string words_of(const nearest_options& o, std::int64_t k) {
  return text("k ", k, ", curvature ", o.curvature, ", strict ", o.strict, ", exclude_self ", o.exclude_self);
}

// The lists of some queries, where the work is done.
template <class Real>
struct lists {
  Buffer<std::int64_t> index;
  Buffer<Real> distance;
  std::int64_t k = 0;

  lists() = default;
  lists(std::int64_t queries, std::int64_t neighbours, const Device& device)
      : index(queries * neighbours, device), distance(queries * neighbours, device), k(neighbours) {}

  matrix_view<std::int64_t> index_view() { return {index.data(), index.size() / k, k, index.device()}; }
  matrix_view<Real> distance_view() { return {distance.data(), distance.size() / k, k, distance.device()}; }
};

// Points go around, lists stay.
template <class Storage>
void search_with_points(communicator& ranks, const dealt_sets& sets, matrix_view<const Storage> queries,
                        matrix_view<const Storage> points, const nearest_options& options, const Device& device,
                        quintet::poincare::neighbours<accumulator_t<Storage>>& result) {
  using Real = accumulator_t<Storage>;
  lists<Real> own;
  std::unique_ptr<const nearest_search<Storage>> search;
  ranks.run_collectively([&] {
    own = lists<Real>(result.queries, result.k, device);
    search = std::make_unique<const nearest_search<Storage>>(queries, sets.first_of_queries[std::size_t(ranks.rank())],
                                                             own.index_view(), own.distance_view(), options, device);
    result.report.queries = search->status();
    search->reset();
  });
  around(ranks, points, sets.cols, sets.points, [&](int owner, matrix_view<const Storage> rows, const auto& poke) {
    std::vector<point_status> status;
    in_parts(
        rows.rows(),
        [&](std::int64_t first, std::int64_t last) {
          search->take(rows.slice(first, last), sets.first_of_points[std::size_t(owner)] + first, status);
        },
        poke);
    if (owner == ranks.rank()) result.report.points = std::move(status);
  });
  ranks.run_collectively([&] {
    search->finish();
    result.index = own.index.to_vector();
    result.distance = own.distance.to_vector();
  });
}

// Queries go around with their lists, points stay.
template <class Storage>
void search_with_queries(communicator& ranks, const dealt_sets& sets, matrix_view<const Storage> queries,
                         matrix_view<const Storage> points, const nearest_options& options, const Device& device,
                         quintet::poincare::neighbours<accumulator_t<Storage>>& result) {
  using Real = accumulator_t<Storage>;
  constexpr int tag = 2;
  const int size = ranks.size(), rank = ranks.rank(), left = (rank + size - 1) % size, right = (rank + 1) % size;
  const std::int64_t k = result.k, first_point = sets.first_of_points[std::size_t(rank)];
  const std::int64_t most = *std::max_element(sets.queries.begin(), sets.queries.end());
  std::vector<std::int64_t> index, next_index;
  std::vector<Real> distance, next_distance;
  ranks.run_collectively([&] {
    for (auto* list : {&index, &next_index}) list->assign(std::size_t(most * k), -1);
    for (auto* list : {&distance, &next_distance}) list->assign(std::size_t(most * k), 0);
  });
  around(ranks, queries, sets.cols, sets.queries, [&](int owner, matrix_view<const Storage> rows, const auto& poke) {
    // What was found elsewhere came after the last step; it goes on before the next, see below. Errors do not change
    // that: the lists are sent whatever is in them.
    std::exception_ptr error;
    try {
      lists<Real> partial(rows.rows(), k, device);
      const nearest_search<Storage> search(rows, sets.first_of_queries[std::size_t(owner)], partial.index_view(),
                                           partial.distance_view(), options, device);
      partial.index.copy_from_host(index.data(), partial.index.size());
      partial.distance.copy_from_host(distance.data(), partial.distance.size());
      std::vector<point_status> status;
      in_parts(
          points.rows(),
          [&](std::int64_t first, std::int64_t last) {
            search.take(points.slice(first, last), first_point + first, status);
          },
          poke);
      if (owner == rank) {
        result.report.queries = search.status();
        result.report.points = std::move(status);
      }
      partial.index.copy_to_host(index.data(), partial.index.size());
      partial.distance.copy_to_host(distance.data(), partial.distance.size());
    } catch (...) {
      error = std::current_exception();
    }
    // To the rank that has these queries next; after the last step that is their owner.
    const std::int64_t count = rows.rows() * k, coming = sets.queries[std::size_t((owner + 1) % size)] * k;
    transfer moved;
    ranks.start_receive(std::span<std::int64_t>(next_index.data(), std::size_t(coming)), right, tag, moved);
    ranks.start_receive(std::span<Real>(next_distance.data(), std::size_t(coming)), right, tag, moved);
    ranks.start_send(std::span<const std::int64_t>(index.data(), std::size_t(count)), left, tag, moved);
    ranks.start_send(std::span<const Real>(distance.data(), std::size_t(count)), left, tag, moved);
    ranks.finish(moved);
    index.swap(next_index);
    distance.swap(next_distance);
    if (error) std::rethrow_exception(error);
  });
  ranks.run_collectively([&] {
    lists<Real> own(result.queries, k, device);
    own.index.copy_from_host(index.data(), own.index.size());
    own.distance.copy_from_host(distance.data(), own.distance.size());
    nearest_search<Storage>(queries, 0, own.index_view(), own.distance_view(), options, device).finish();
    result.index = own.index.to_vector();
    result.distance = own.distance.to_vector();
  });
}

}  // namespace

template <class Storage>
quintet::poincare::neighbours<accumulator_t<Storage>> nearest(communicator& ranks, matrix_view<const Storage> queries,
                                                              matrix_view<const Storage> points, std::int64_t k,
                                                              const nearest_options& options,
                                                              const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  ranks.phase("check");
  ranks.require_same("the options of the search", words_of(options, k));
  const ball_model model{{.curvature = options.curvature, .strict = options.strict}};
  Device device;
  ranks.run_collectively([&] {
    model.check(0);
    device = device::run_device(requested_device, {{"queries", queries}, {"points", points}});
  });
  const dealt_sets sets = check_dealt(ranks, queries, points);
  ranks.run_collectively([&] {
    quintet::poincare::check_neighbours(k, sets.all_points(), options);
    if (options.exclude_self)
      for (std::size_t r = 0; r < sets.points.size(); ++r)
        require_argument(sets.queries[r] == sets.points[r], text("queries.rows of rank ", r), sets.queries[r],
                         text("points.rows=", sets.points[r], " with exclude_self"));
  });
  require_dealt<ball_model, Storage>(ranks, model, sets, {queries, "queries"}, {points, "points"}, device);
  nearest_options plain = options;
  plain.strict = false;
  quintet::poincare::neighbours<Real> lists{queries.rows(), k, {}, {}, {}};
  ranks.phase("neighbours");
  const std::int64_t row_bytes = sets.cols * std::int64_t(sizeof(Storage)),
                     list_bytes = k * std::int64_t(sizeof(Real) + sizeof(std::int64_t));
  if (sets.all_queries() * (row_bytes + list_bytes) < sets.all_points() * row_bytes)
    search_with_queries(ranks, sets, queries, points, plain, device, lists);
  else
    search_with_points(ranks, sets, queries, points, plain, device, lists);
  return lists;
}

point_report distances(communicator& ranks, any_matrix queries, any_matrix points, any_output_matrix out,
                       const distance_options& options, const Device& device) {
  return dealt_distances<ball_model>(ranks, queries, points, out, options, device);
}

point_report pair_distances(communicator& ranks, any_matrix x, any_matrix y, any_output_vector out,
                            const distance_options& options, const Device& device) {
  return dealt_pair_distances<ball_model>(ranks, x, y, out, options, device);
}

#define QUINTET_INSTANTIATE(Storage)                                                                                \
  template quintet::poincare::neighbours<accumulator_t<Storage>> nearest(communicator&, matrix_view<const Storage>, \
                                                                         matrix_view<const Storage>, std::int64_t,  \
                                                                         const nearest_options&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::mpi::poincare
