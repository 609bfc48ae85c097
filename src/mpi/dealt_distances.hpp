// Distances between two sets of rows that are dealt to ranks, of any model: points go round in a ring.
//
// A model has options (its options_type), words() that say them, check(cols) that throws for wrong ones, look(rows,
// device) -> status of every row, require_usable(rows, status, name, number of the first row), which throws for the
// first row with a status, and measure(x, y, out, device): all distances into a matrix, those of rows i into values.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "device/staged.hpp"
#include "distributed/ring.hpp"
#include "poincare/checks.hpp"
#include "quintet/mpi/communicator.hpp"
#include "quintet/poincare/distances.hpp"

namespace quintet::mpi {

using quintet::poincare::point_report, quintet::poincare::point_status;

/// Two sets of rows that are dealt to the ranks.
struct dealt_sets {
  std::int64_t cols = 0;
  std::vector<std::int64_t> queries, points;  // rows by rank
  std::vector<std::int64_t> first_of_queries, first_of_points;

  std::int64_t all_queries() const { return first_of_queries.back(); }
  std::int64_t all_points() const { return first_of_points.back(); }
};

/// The same checks, in the same order, as for sets that lie in one place. Rows of a rank that has none have no columns.
template <class Storage>
dealt_sets check_dealt(communicator& ranks, matrix_view<const Storage> queries, matrix_view<const Storage> points) {
  dealt_sets sets;
  sets.queries = ranks.allgather_counts(queries.rows());
  sets.points = ranks.allgather_counts(points.rows());
  sets.first_of_queries = distributed::first_rows(sets.queries);
  sets.first_of_points = distributed::first_rows(sets.points);
  sets.cols = ranks.maximum(std::max(queries.rows() > 0 ? queries.cols() : 0, points.rows() > 0 ? points.cols() : 0));
  ranks.run_collectively([&] {
    using quintet::poincare::max_points;
    require_argument(sets.all_queries() <= max_points, "x.rows", sets.all_queries(), text("<= ", max_points));
    require_argument(sets.all_points() <= max_points, "y.rows", sets.all_points(), text("<= ", max_points));
    for (const auto& rows : {queries, points})
      if (rows.rows() > 0)
        require_argument(rows.cols() == sets.cols && rows.cols() >= 1, "dimension of the rows of a rank", rows.cols(),
                         text("that of the others, ", sets.cols, ", and >= 1"));
  });
  return sets;
}

template <class Storage>
using named_rows = std::pair<matrix_view<const Storage>, const char*>;

/// With `strict` throws on all ranks for the first of all rows with a status.
template <class Model, class Storage>
void require_dealt(communicator& ranks, const Model& model, const dealt_sets& sets, named_rows<Storage> queries,
                   named_rows<Storage> points, const Device& device) {
  if (!model.options.strict) return;
  const auto rank = std::size_t(ranks.rank());
  for (const auto& part :
       {std::pair(queries, sets.first_of_queries[rank]), std::pair(points, sets.first_of_points[rank])})
    ranks.run_collectively([&] {
      const auto& [rows, first] = part;
      model.require_usable(rows.first, model.look(rows.first, device), rows.second, first);
    });
}

/// A call whose ranks agree.
template <class Storage>
struct dealt_call {
  Device device;
  dealt_sets sets;

  template <class Model>
  dealt_call(communicator& ranks, const Model& model, named_rows<Storage> queries, named_rows<Storage> points,
             const Device& requested_device) {
    ranks.phase("check");
    ranks.require_same("the options of the distances", model.words());
    ranks.run_collectively([&] {
      model.check(std::max(queries.first.cols(), points.first.cols()));
      device = device::run_device(requested_device, {{queries.second, queries.first}, {points.second, points.first}});
    });
    sets = check_dealt(ranks, queries.first, points.first);
  }
};

template <class Model>
Model without_strictness(Model model) {
  model.options.strict = false;
  return model;
}

template <class Model, class Storage>
point_report distances_of_rows(communicator& ranks, const Model& model, matrix_view<const Storage> queries,
                               matrix_view<const Storage> points, matrix_view<accumulator_t<Storage>> out,
                               const Device& requested_device) {
  const dealt_call<Storage> call(ranks, model, {queries, "queries"}, {points, "points"}, requested_device);
  const dealt_sets& sets = call.sets;
  ranks.run_collectively([&] { quintet::poincare::require_shape(out, "out", queries.rows(), sets.all_points()); });
  require_dealt<Model, Storage>(ranks, model, sets, {queries, "queries"}, {points, "points"}, call.device);
  const Model plain = without_strictness(model);
  point_report report;
  ranks.phase("distances");
  distributed::around(
      ranks, points, sets.cols, sets.points, [&](int owner, matrix_view<const Storage> rows, const auto& poke) {
        std::vector<point_status> status;
        distributed::in_parts(
            rows.rows(),
            [&](std::int64_t first, std::int64_t last) {
              const std::int64_t column = sets.first_of_points[std::size_t(owner)] + first;
              const matrix_view<accumulator_t<Storage>> columns(out.data() + column, out.rows(), last - first,
                                                                out.stride());
              const point_report part = plain.measure(queries, rows.slice(first, last), columns, call.device);
              report.queries = part.queries;
              status.insert(status.end(), part.points.begin(), part.points.end());
            },
            poke);
        if (owner == ranks.rank()) report.points = std::move(status);
      });
  if (sets.all_points() == 0) ranks.run_collectively([&] { report.queries = model.look(queries, call.device); });
  return report;
}

template <class Model, class Storage>
point_report distances_of_pairs(communicator& ranks, const Model& model, matrix_view<const Storage> x,
                                matrix_view<const Storage> y, vector_view<accumulator_t<Storage>> out,
                                const Device& requested_device) {
  const dealt_call<Storage> call(ranks, model, {x, "x"}, {y, "y"}, requested_device);
  require_dealt<Model, Storage>(ranks, model, call.sets, {x, "x"}, {y, "y"}, call.device);
  const Model plain = without_strictness(model);
  point_report report;
  ranks.phase("distances");
  ranks.run_collectively([&] { report = plain.measure(x, y, out, call.device); });
  return report;
}

///@{
/// Distances of a model with these options, of arguments of any type.
template <class Model>
point_report dealt_distances(communicator& ranks, const any_matrix& queries, const any_matrix& points,
                             const any_output_matrix& out, const typename Model::options_type& options,
                             const Device& device) {
  return with_storage(queries.type, [&]<class T>() {
    matrix_view<const T> own_queries, own_points;
    matrix_view<accumulator_t<T>> results;
    ranks.run_collectively([&] {
      own_queries = queries.as<T>("queries");
      own_points = points.as<T>("points");
      results = out.as<accumulator_t<T>>("out");
    });
    return distances_of_rows(ranks, Model{options}, own_queries, own_points, results, device);
  });
}
template <class Model>
point_report dealt_pair_distances(communicator& ranks, const any_matrix& x, const any_matrix& y,
                                  const any_output_vector& out, const typename Model::options_type& options,
                                  const Device& device) {
  return with_storage(x.type, [&]<class T>() {
    matrix_view<const T> own_x, own_y;
    vector_view<accumulator_t<T>> results;
    ranks.run_collectively([&] {
      own_x = x.as<T>("x");
      own_y = y.as<T>("y");
      results = out.as<accumulator_t<T>>("out");
    });
    return distances_of_pairs(ranks, Model{options}, own_x, own_y, results, device);
  });
}
///@}

}  // namespace quintet::mpi
