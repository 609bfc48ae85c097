// quintet-poincare: distances and nearest neighbours of points of the Poincare ball or of the Lorentz model.
#include "quintet/poincare/poincare.hpp"

#include <algorithm>

#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"
#include "support/driver.hpp"
#include "support/neighbour_table.hpp"
#include "support/points.hpp"
#ifdef QUINTET_HAS_NEIGHBOURS
#include "quintet/neighbours/neighbours.hpp"
#endif
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/files.hpp"
#include "quintet/mpi/lorentz.hpp"
#include "quintet/mpi/poincare.hpp"
#ifdef QUINTET_HAS_NEIGHBOURS
#include "quintet/mpi/neighbours.hpp"
#endif
#endif

namespace quintet::driver {

namespace {

struct arguments {
  std::string points, queries, dataset, output, formula, model, coordinates;
  double curvature = -1;
  std::int64_t knn = 0;  // 0: not given
  bool pairwise = false, strict = false;

  bool in_lorentz_model() const { return choice<bool>("--model", model, {{"poincare", false}, {"lorentz", true}}); }
  lorentz::coordinates form() const {
    return choice<lorentz::coordinates>("--coordinates", coordinates,
                                        {{"space", lorentz::coordinates::space},
                                         {"time-and-space", lorentz::coordinates::time_and_space},
                                         {"time-ignored", lorentz::coordinates::time_ignored}});
  }
};

po::options_description describe(arguments& a) {
  po::options_description options("Options");
  options.add_options()                                                                                           //
      ("points", po::value(&a.points)->required()->value_name("FILE"), "points, one per row: .csv, .npy or .h5")  //
      ("queries", po::value(&a.queries)->value_name("FILE"),
       "points to measure from, .csv, .npy or .h5; by default the points themselves")                           //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of .h5 inputs; by default the only one")  //
      ("model", po::value(&a.model)->default_value("poincare")->value_name("NAME"),
       "poincare: points of the ball, or lorentz: points of the hyperboloid, doubles with --knn")  //
      ("coordinates", po::value(&a.coordinates)->default_value("space")->value_name("NAME"),
       "of --model lorentz: space (n numbers), time-and-space (n + 1, the time first, which is compared with the space "
       "part) or time-ignored (n + 1)")  //
      ("curvature", po::value(&a.curvature)->default_value(-1)->value_name("C"),
       "negative: points of the ball have |C| |x|^2 < 1; 0 is Euclidean space with distances 2 |x - y|, of the ball "
       "alone")  //
      ("knn", po::value(&a.knn)->value_name("K")->notifier([](std::int64_t k) {
        require_argument(k >= 1, "--knn", k, ">= 1");
      }),
       "the K nearest points of every query instead of all distances; without --queries a point is not its own "
       "neighbour")                                                                                        //
      ("pairwise", po::bool_switch(&a.pairwise), "row i of the queries against row i of the points only")  //
      ("formula", po::value(&a.formula)->default_value("geodesic")->value_name("NAME"),
       "geodesic, or clamped-artanh: an expression that is not a distance, to compare with results computed by it")  //
      ("strict", po::bool_switch(&a.strict),
       "fail on the first point that is not inside the ball; otherwise its distances are nan")  //
      ("output", output_file(&a.output, {io::file_format::csv, io::file_format::npy, io::file_format::hdf5}),
       "distances: one row per query (--pairwise: one number per row), no header; dataset distances of .h5.\n"
       "--knn: .csv with header query,nn1,d1,nn2,d2,...; .h5 with datasets index and distance [queries, K]");
  return options;
}

void check_words(const arguments& a) {
  if (a.knn > 0 && a.pairwise) throw InvalidArgument("--knn and --pairwise exclude each other");
  if (a.pairwise && a.queries.empty()) throw InvalidArgument("--pairwise needs --queries");
  const bool geodesic = choice<bool>("--formula", a.formula, {{"geodesic", true}, {"clamped-artanh", false}});
  const bool reads_time = a.form() != lorentz::coordinates::space;
  if (!a.in_lorentz_model() && reads_time)
    throw InvalidArgument(text("--coordinates needs --model lorentz (--model=", a.model, ")"));
  if (a.in_lorentz_model() && !geodesic)
    throw InvalidArgument(text("--formula needs --model poincare (--formula=", a.formula, ")"));
  if (a.in_lorentz_model() && a.knn > 0 && a.form() == lorentz::coordinates::time_and_space)
    throw InvalidArgument("--knn takes --coordinates space or time-ignored (--coordinates=time-and-space)");
  if (a.knn > 0 && !geodesic) throw InvalidArgument("--knn finds neighbours by --formula geodesic only");
  if (a.knn > 0 && io::format_of(a.output) == io::file_format::npy)
    throw InvalidArgument("--output of --knn must be .csv or .h5: indices and distances are two arrays");
}

poincare::distance_options distance_options_of(const arguments& a) {
  const auto expression = a.formula == "geodesic" ? poincare::formula::geodesic : poincare::formula::clamped_artanh;
  return {.curvature = a.curvature, .expression = expression, .strict = a.strict};
}

lorentz::distance_options sheet_options_of(const arguments& a) {
  return {.curvature = a.curvature, .form = a.form(), .strict = a.strict};
}

#ifdef QUINTET_HAS_NEIGHBOURS
/// Rows that are not finite as a status; with --strict an error. Row 0 is called first_row.
std::vector<poincare::point_status> status_of(const arguments& a, const char* name, std::int64_t count,
                                              const std::vector<std::int64_t>& invalid, std::int64_t first_row = 0) {
  if (a.strict && !invalid.empty()) throw InvalidArgument(text(name, "[", first_row + invalid[0], "] must be finite"));
  std::vector<poincare::point_status> status(count, poincare::point_status::inside);
  for (const std::int64_t i : invalid) status[i] = poincare::point_status::not_finite;
  return status;
}

/// Rows without their times.
template <class Real>
matrix_view<const Real> space_parts(const arguments& a, const matrix_view<const Real>& rows) {
  const std::int64_t time = a.form() == lorentz::coordinates::space ? 0 : 1;
  return {rows.data() + time, rows.rows(), rows.cols() - time, rows.stride()};
}
#endif

void report_status(session& session, const arguments& a, const std::string& name,
                   const std::vector<poincare::point_status>& status) {
  const auto outside = std::count(status.begin(), status.end(), poincare::point_status::outside);
  const auto not_finite = std::count(status.begin(), status.end(), poincare::point_status::not_finite);
  session.result(name + "_outside", outside);
  session.result(name + "_not_finite", not_finite);
  if (outside + not_finite > 0)
    session.warn(text(outside, " of the ", name, " lie on or outside the ",
                      a.in_lorentz_model() ? "hyperboloid" : "ball", " and ", not_finite,
                      " are not finite, the first is row ", poincare::first_invalid(status),
                      "; their distances are nan"));
}

template <class Real>
void write_distances(session& session, const arguments& a, matrix_view<const Real> values) {
  session.timed("write", [&] {
    if (io::format_of(a.output) != io::file_format::hdf5) return io::write_matrix<Real>(a.output, values, "distances");
    io::hdf5_writer out(a.output);
    out.write("distances", values);
    session.write_attributes(out);
    out.commit();
  });
}

#ifdef QUINTET_HAS_MPI
template <class T>
void collect(mpi::communicator& ranks, std::vector<T>& values) {
  values = ranks.gather(std::span<const T>(values));
}

/// Distances of the own queries from the points of all ranks, into `out`.
template <class Real>
poincare::point_report measure_dealt(const arguments& a, mpi::communicator& ranks, matrix_view<const Real> queries,
                                     matrix_view<const Real> points, matrix_view<Real> out, const Device& device) {
  const vector_view<Real> values(out.data(), out.rows());
  if (a.in_lorentz_model())
    return a.pairwise ? mpi::lorentz::pair_distances(ranks, queries, points, values, sheet_options_of(a), device)
                      : mpi::lorentz::distances(ranks, queries, points, out, sheet_options_of(a), device);
  return a.pairwise ? mpi::poincare::pair_distances(ranks, queries, points, values, distance_options_of(a), device)
                    : mpi::poincare::distances(ranks, queries, points, out, distance_options_of(a), device);
}

/// The nearest points of the Lorentz model, given to write(lists). The report is of the own rows.
template <class Real, class Write>
poincare::point_report nearest_of_dealt_sheet(session& session, const arguments& a, mpi::communicator& ranks,
                                              const mpi::rows_of_file<Real>& queries,
                                              const mpi::rows_of_file<Real>& points, const Write& write) {
#ifdef QUINTET_HAS_NEIGHBOURS
  const neighbours::options settings{point_metric(metric::lorentz, a.curvature)};
  auto lists = session.timed("neighbours", [&] {
    const auto rows = space_parts(a, points.rows.view());
    if (a.queries.empty())
      return mpi::neighbours::nearest<Real>(ranks, rows, points.first_row, a.knn, settings, session.device());
    return mpi::neighbours::nearest<Real>(ranks, space_parts(a, queries.rows.view()), rows, a.knn, settings,
                                          session.device());
  });
  poincare::point_report report;
  ranks.run_collectively([&] {
    const std::int64_t first = points.first_row, end = first + points.rows.rows;
    std::vector<std::int64_t> own;
    for (const std::int64_t row : lists.invalid_points)
      if (row >= first && row < end) own.push_back(row - first);
    report = {status_of(a, "queries", queries.rows.rows, lists.invalid_queries, queries.first_row),
              status_of(a, "points", points.rows.rows, own, first)};
  });
  write(lists);
  return report;
#else
  throw InvalidArgument("--knn of --model lorentz needs a build with the family neighbours");
#endif
}

/// The same by several processes: each has some rows of both sets, the first one writes. As there is no report of
/// status and no result but in the first, the others only do their part.
template <class Real>
void measure_dealt_files(session& session, const arguments& a, mpi::communicator& ranks) {
  namespace mpi = mpi;
  const auto points = session.timed("read", [&] { return mpi::read_rows<Real>(ranks, a.points, a.dataset); });
  if (points.all_rows == 0) throw FileError(a.points, "holds no points");
  if (points.rows.cols == 0) throw FileError(a.points, "holds points without coordinates");
  mpi::rows_of_file<Real> own_queries;
  if (!a.queries.empty())
    own_queries = session.timed("read", [&] { return mpi::read_rows<Real>(ranks, a.queries, a.dataset); });
  const mpi::rows_of_file<Real>& queries = a.queries.empty() ? points : own_queries;
  if (queries.all_rows == 0) throw FileError(a.queries, "holds no points");
  session.result("n", points.all_rows);
  session.result("dim", points.rows.cols);
  session.result("queries", queries.all_rows);
  session.result("points", points.all_rows);
  session.result("ran_on", session.device().spelling());
  poincare::point_report report;
  const auto write_lists = [&](auto& lists) {
    ranks.phase("gather");
    collect(ranks, lists.index);
    collect(ranks, lists.distance);
    lists.queries = queries.all_rows;
    ranks.run_collectively([&] {
      if (session.is_root()) session.timed("write", [&] { write_neighbours(session, a.output, lists); });
    });
  };
  if (a.knn > 0 && a.in_lorentz_model()) {
    report = nearest_of_dealt_sheet<Real>(session, a, ranks, queries, points, write_lists);
  } else if (a.knn > 0) {
    auto lists = session.timed("neighbours", [&] {
      const poincare::nearest_options options{
          .curvature = a.curvature, .strict = a.strict, .exclude_self = a.queries.empty()};
      return mpi::poincare::nearest<Real>(ranks, queries.rows.view(), points.rows.view(), a.knn, options,
                                          session.device());
    });
    report = lists.report;
    write_lists(lists);
  } else {
    const std::int64_t cols = a.pairwise ? 1 : points.all_rows;
    io::matrix<Real> distances{queries.rows.rows, cols, {}};
    ranks.run_collectively([&] { distances.data.resize(distances.rows * cols); });
    report = session.timed("distances", [&] {
      if (a.pairwise)
        require_argument(queries.all_rows == points.all_rows, "y.rows", points.all_rows,
                         text("x.rows=", queries.all_rows));
      return measure_dealt<Real>(a, ranks, queries.rows.view(), points.rows.view(), distances.view(), session.device());
    });
    session.timed("write", [&] {
      mpi::write_rows<Real>(ranks, a.output, "distances", queries.first_row, queries.all_rows, distances.view(), cols,
                            [&](io::hdf5_writer& out) { session.write_attributes(out); });
    });
  }
  ranks.phase("gather");
  collect(ranks, report.queries);
  collect(ranks, report.points);
  if (!a.queries.empty()) report_status(session, a, "queries", report.queries);
  report_status(session, a, "points", report.points);
  session.say() << queries.all_rows << " queries, " << points.all_rows << " points of " << points.rows.cols
                << " dimensions on " << session.device().name() << std::endl;
  session.say_done(a.output);
}
#endif

/// Distances of the queries, into `out`.
template <class Real>
poincare::point_report measure(const arguments& a, matrix_view<const Real> queries, matrix_view<const Real> points,
                               matrix_view<Real> out, const Device& device) {
  const vector_view<Real> values(out.data(), out.rows());
  if (!a.in_lorentz_model())
    return a.pairwise ? poincare::pair_distances(queries, points, values, distance_options_of(a), device)
                      : poincare::distances(queries, points, out, distance_options_of(a), device);
  const lorentz::distance_options options = sheet_options_of(a);
  return a.pairwise ? lorentz::pair_distances(queries, points, values, options, device)
                    : lorentz::distances(queries, points, out, options, device);
}

#ifdef QUINTET_HAS_NEIGHBOURS
/// The nearest points of the Lorentz model, and their file.
template <class Real>
poincare::point_report write_nearest_of_sheet(session& session, const arguments& a, matrix_view<const Real> queries,
                                              matrix_view<const Real> points) {
  const auto space = [&](const matrix_view<const Real>& rows) { return space_parts(a, rows); };
  const auto lists = session.timed("neighbours", [&] {
    const neighbours::options settings{point_metric(metric::lorentz, a.curvature)};
    return a.queries.empty() ? neighbours::nearest(space(points), a.knn, settings, session.device())
                             : neighbours::nearest(space(queries), space(points), a.knn, settings, session.device());
  });
  auto of_points = status_of(a, "points", points.rows(), lists.invalid_points);
  poincare::point_report report{status_of(a, "queries", queries.rows(), lists.invalid_queries), std::move(of_points)};
  session.timed("write", [&] { write_neighbours(session, a.output, lists); });
  return report;
}
#else
template <class Real>
poincare::point_report write_nearest_of_sheet(session&, const arguments&, matrix_view<const Real>,
                                              matrix_view<const Real>) {
  throw InvalidArgument("--knn of --model lorentz needs a build with the family neighbours");
}
#endif

template <class Real>
void measure_files(session& session, const arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return measure_dealt_files<Real>(session, a, *session.ranks());
#endif
  const io::matrix<Real> points = read_points<Real>(session, a.points, a.dataset);
  io::matrix<Real> own_queries;
  if (!a.queries.empty())
    own_queries = session.timed("read", [&] { return io::read_matrix<Real>(a.queries, a.dataset); });
  if (!a.queries.empty() && own_queries.rows == 0) throw FileError(a.queries, "holds no points");
  const io::matrix<Real>& queries = a.queries.empty() ? points : own_queries;
  session.result("queries", queries.rows);
  session.result("points", points.rows);
  session.result("ran_on", session.device().spelling());
  poincare::point_report report;
  if (a.knn > 0 && a.in_lorentz_model()) {
    report = write_nearest_of_sheet<Real>(session, a, queries.view(), points.view());
  } else if (a.knn > 0) {
    const auto lists = session.timed("neighbours", [&] {
      const poincare::nearest_options options{
          .curvature = a.curvature, .strict = a.strict, .exclude_self = a.queries.empty()};
      return poincare::nearest(queries.view(), points.view(), a.knn, options, session.device());
    });
    report = lists.report;
    session.timed("write", [&] { write_neighbours(session, a.output, lists); });
  } else {
    io::matrix<Real> distances{queries.rows, a.pairwise ? 1 : points.rows, {}};
    distances.data.resize(distances.rows * distances.cols);
    report = session.timed("distances", [&] {
      return measure<Real>(a, queries.view(), points.view(), distances.view(), session.device());
    });
    write_distances<Real>(session, a, distances.view());
  }
  if (!a.queries.empty()) report_status(session, a, "queries", report.queries);
  report_status(session, a, "points", report.points);
  // Only now: a run that fails says nothing on standard output.
  session.say() << queries.rows << " queries, " << points.rows << " points of " << points.cols << " dimensions on "
                << session.device().name() << std::endl;
  session.say_done(a.output);
}

const program about{"quintet-poincare",
                    "distances and nearest neighbours of points of the Poincare ball or of the Lorentz model.",
                    "quintet-poincare --points embedding.csv --curvature -1 --knn 10 --output neighbours.csv",
                    {"auto", "float", "double"},
                    true};

void run(session& session, arguments& a) {
  check_words(a);
  if (a.in_lorentz_model() && a.knn > 0) session.prefer_double();
  const double c = poincare::checked_curvature(a.curvature);
  require_argument(c > 0 || !a.in_lorentz_model(), "--curvature", a.curvature, "negative with --model lorentz");
  require_distinct_files({{"--points", a.points}, {"--queries", a.queries}},
                         {{"--output", a.output}, {"--json", session.line().common.json}});
  with_precision(session, {{a.points, a.dataset}, {a.queries, a.dataset}},
                 [&]<class Real>() { measure_files<Real>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
