// quintet-neighbours: exact nearest neighbours of points, or all within a radius.
#include "quintet/neighbours/neighbours.hpp"

#include <limits>
#include <optional>

#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/neighbours.hpp"
#endif
#include "support/driver.hpp"
#include "support/metric_option.hpp"
#include "support/neighbour_table.hpp"
#include "support/points.hpp"

namespace quintet::driver {

namespace {

struct arguments {
  std::string input, queries, dataset, output;
  metric_option metric;
  std::optional<std::int64_t> k;
  std::optional<double> radius;
};

po::options_description describe(arguments& a) {
  po::options_description options("Options");
  options.add_options()                                                                                         //
      ("input", po::value(&a.input)->required()->value_name("FILE"), "points, one per row: .csv, .npy or .h5")  //
      ("queries", po::value(&a.queries)->value_name("FILE"),
       "query points; by default the points themselves, and then no point is its own neighbour")                //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of .h5 inputs; by default the only one")  //
      ("k", po::value<std::int64_t>()->value_name("K")->notifier([&a](std::int64_t k) {
        require_argument(k >= 1, "--k", k, ">= 1");
        a.k = k;
      }),
       "the K nearest points of each")  //
      ("radius", po::value<double>()->value_name("R")->notifier([&a](double radius) {
        require_argument(radius >= 0 && radius < std::numeric_limits<double>::infinity(), "--radius", radius,
                         ">= 0 and finite");
        a.radius = radius;
      }),
       "all points at a distance of at most R")  //
      ("output", output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}),
       "--k: .csv with header query,nn1,d1,nn2,d2,...; .h5 with datasets index and distance [queries, K].\n"
       "--radius: .csv with header query,neighbour,distance; .h5 with the sparse matrix row_pointers, index, distance");
  a.metric.add_to(options);
  return options;
}

template <class Real>
void write_within(session& session, const arguments& a, const neighbours::radius_result<Real>& found) {
  if (io::format_of(a.output) == io::file_format::hdf5) {
    io::hdf5_writer out(a.output);
    out.write("row_pointers", found.row_pointers);
    out.write("index", found.index);
    out.write("distance", found.distance);
    session.write_attributes(out);
    return out.commit();
  }
  io::csv_writer out(a.output, {"query", "neighbour", "distance"});
  for (std::int64_t i = 0; i < found.queries; ++i)
    for (std::int64_t e = found.row_pointers[i]; e < found.row_pointers[i + 1]; ++e) {
      out.field(i);
      out.field(found.index[e]);
      out.field(found.distance[e]);
      out.end_row();
    }
  out.commit();
}

void report_invalid(session& session, const std::string& name, const std::vector<std::int64_t>& rows) {
  session.result("invalid_" + name, rows);
  if (!rows.empty())
    session.warn(text(rows.size(), " rows of the ", name,
                      " have no distances (NaN, infinity, no length, or outside the ball), the first is row ",
                      rows.front(), "; they have no neighbours and are no point's neighbour"));
}

template <class Result>
void report(session& session, const arguments& a, const Result& found) {
  report_invalid(session, "points", found.invalid_points);
  if (!a.queries.empty()) report_invalid(session, "queries", found.invalid_queries);
  session.result("pairs_evaluated", found.pairs_evaluated);
  session.result("entries", std::int64_t(found.index.size()));
  session.result("ran_on", found.ran_on.spelling());
}

#ifdef QUINTET_HAS_MPI
template <class Storage>
void find_shared(session& session, const arguments& a) {
  mpi::communicator& ranks = *session.ranks();
  const auto points = read_shared_points<Storage>(session, a.input, a.dataset);
  auto found = session.timed("neighbours", [&] {
    return mpi::neighbours::nearest<Storage>(ranks, points.own.view(), points.first_row, *a.k, {a.metric.value()},
                                             session.device());
  });
  ranks.phase("write");
  const auto index = ranks.gather(std::span<const std::int64_t>(found.index));
  const auto distance = ranks.gather(std::span<const accumulator_t<Storage>>(found.distance));
  ranks.run_collectively([&] {
    if (!session.is_root()) return;
    found.queries = found.points;
    found.index = index;
    found.distance = distance;
    report(session, a, found);
    session.timed("write", [&] { write_neighbours(session, a.output, found); });
    session.say_done(a.output);
  });
}
#endif

template <class Storage>
void find(session& session, const arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return find_shared<Storage>(session, a);
#endif
  const neighbours::options how{a.metric.value()};
  const io::matrix<Storage> points = read_points<Storage>(session, a.input, a.dataset);
  std::optional<io::matrix<Storage>> queries;
  if (!a.queries.empty()) queries = read_further_points<Storage>(session, a.queries, points.cols);
  const Device& device = session.device();
  if (a.k) {
    const auto found = session.timed("neighbours", [&] {
      return queries ? neighbours::nearest<Storage>(queries->view(), points.view(), *a.k, how, device)
                     : neighbours::nearest<Storage>(points.view(), *a.k, how, device);
    });
    report(session, a, found);
    session.timed("write", [&] { write_neighbours(session, a.output, found); });
  } else {
    const auto found = session.timed("neighbours", [&] {
      return queries ? neighbours::within_radius<Storage>(queries->view(), points.view(), *a.radius, how, device)
                     : neighbours::within_radius<Storage>(points.view(), *a.radius, how, device);
    });
    report(session, a, found);
    session.timed("write", [&] { write_within(session, a, found); });
  }
  session.say_done(a.output);
}

const program about{"quintet-neighbours",
                    "exact nearest neighbours of points, or all within a radius.",
                    "quintet-neighbours --input embeddings.npy --k 15 --output neighbours.h5",
                    {"auto", "float", "double", "half", "bfloat16"},
                    true};

void run(session& session, arguments& a) {
  require_one_process(session, {"queries", "radius"});
  if (bool(a.k) == bool(a.radius)) throw InvalidArgument("one of --k and --radius is needed, and not both");
  a.metric.value();  // before a large file is read
  require_distinct_files({{"--input", a.input}, {"--queries", a.queries}},
                         {{"--output", a.output}, {"--json", session.line().common.json}});
  with_storage(session, {{a.input, a.dataset}, {a.queries, ""}}, [&]<class Storage>() { find<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
