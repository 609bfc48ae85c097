// quintet-neighbours: exact nearest neighbours of points, or all within a radius; an index that later runs search.
#include "quintet/neighbours/neighbours.hpp"

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "quintet/io/csv.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/io/matrix_file.hpp"
#include "quintet/io/neighbours_index.hpp"
#include "quintet/neighbours/index.hpp"
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
  std::string input, index, queries, dataset, output;
  metric_option metric;
  std::optional<std::int64_t> k;
  std::optional<double> radius;
};

po::options_description describe(arguments& a) {
  po::options_description options("Options");
  options.add_options()                                                                             //
      ("input", po::value(&a.input)->value_name("FILE"), "points, one per row: .csv, .npy or .h5")  //
      ("index", po::value(&a.index)->value_name("FILE"),
       "with --input: keep the points in this file, in the order of their tree. Without: search the points that it "
       "has, by its metric. Results are the same")  //
      ("queries", po::value(&a.queries)->value_name("FILE"),
       "query points; by default the points themselves, and then no point is its own neighbour")                //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of .h5 inputs; by default the only one")  //
      ("k", po::value<std::int64_t>()->value_name("K")->notifier([&a](std::int64_t k) {
        require_argument(k >= 1, "--k", k, ">= 1");
        a.k = k;
      }),
       "the K nearest points of each")  //
      ("radius", po::value<double>()->value_name("R")->notifier([&a](double radius) {
        require_argument(std::isfinite(radius), "--radius", radius, "finite");
        a.radius = radius;
      }),
       "all points at a distance of at most R; of --metric integer_inner_product all with a product of at least -R")  //
      ("output", optional_output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}),
       "--k: .csv with header query,nn1,d1,nn2,d2,...; .h5 with datasets index and distance [queries, K].\n"
       "--radius: .csv with header query,neighbour,distance; .h5 with the sparse matrix row_pointers, index, distance");
  a.metric.add_to(options);
  return options;
}

template <class Real>
void write_within(session& session, const arguments& a, const neighbours::radius_result<Real>& lists) {
  if (io::format_of(a.output) == io::file_format::hdf5) {
    io::hdf5_writer out(a.output);
    out.write("row_pointers", lists.row_pointers);
    out.write("index", lists.index);
    out.write("distance", lists.distance);
    session.write_attributes(out);
    return out.commit();
  }
  io::csv_writer out(a.output, {"query", "neighbour", "distance"});
  for (std::int64_t i = 0; i < lists.queries; ++i)
    for (std::int64_t e = lists.row_pointers[i]; e < lists.row_pointers[i + 1]; ++e) {
      out.field(i);
      out.field(lists.index[e]);
      out.field(lists.distance[e]);
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
void report(session& session, const arguments& a, const Result& lists) {
  report_invalid(session, "points", lists.invalid_points);
  if (!a.queries.empty()) report_invalid(session, "queries", lists.invalid_queries);
  session.result("pairs_evaluated", lists.pairs_evaluated);
  session.result("entries", std::int64_t(lists.index.size()));
  session.result("ran_on", lists.ran_on.spelling());
}

#ifdef QUINTET_HAS_MPI
template <class Storage>
void find_shared(session& session, const arguments& a) {
  mpi::communicator& ranks = *session.ranks();
  auto points = read_shared_points<Storage>(session, a.input, a.dataset);
  point_metric distance_of_points = a.metric.value();
  ranks.run_collectively([&] { pack_words(points.own, a.input, distance_of_points); });
  shared_points<Storage> queries;
  if (!a.queries.empty()) {
    queries = read_shared_points<Storage>(session, a.queries, "", true);
    ranks.run_collectively([&] { pack_words(queries.own, a.queries, distance_of_points); });
  }
  auto lists = session.timed("neighbours", [&] {
    const auto rows = std::as_const(points.own).view();
    if (a.queries.empty())
      return mpi::neighbours::nearest<Storage>(ranks, rows, points.first_row, *a.k, {distance_of_points},
                                               session.device());
    return mpi::neighbours::nearest<Storage>(ranks, std::as_const(queries.own).view(), rows, *a.k, {distance_of_points},
                                             session.device());
  });
  ranks.phase("write");
  const auto index = ranks.gather(std::span<const std::int64_t>(lists.index));
  const auto distance = ranks.gather(std::span<const accumulator_t<Storage>>(lists.distance));
  for (std::int64_t& row : lists.invalid_queries) row += queries.first_row;
  const auto invalid = ranks.gather(std::span<const std::int64_t>(lists.invalid_queries));
  ranks.run_collectively([&] {
    if (!session.is_root()) return;
    lists.queries = a.queries.empty() ? lists.points : queries.all_rows;
    lists.index = index;
    lists.distance = distance;
    lists.invalid_queries = invalid;
    report(session, a, lists);
    session.timed("write", [&] { write_neighbours(session, a.output, lists); });
    session.say_done(a.output);
  });
}
#endif

/// Answers that order the points for one call.
template <class Storage>
class single_call {
 public:
  single_call(matrix_view<const Storage> points, const neighbours::options& settings, const Device& device)
      : points_(points), settings_(settings), device_(device) {}
  std::int64_t dim() const { return points_.cols(); }
  std::int64_t size() const { return points_.rows(); }
  point_metric distance() const { return settings_.distance; }
  auto nearest(matrix_view<const Storage> queries, std::int64_t k) const {
    return neighbours::nearest<Storage>(queries, points_, k, settings_, device_);
  }
  auto nearest_others(std::int64_t k) const { return neighbours::nearest<Storage>(points_, k, settings_, device_); }
  auto within_radius(matrix_view<const Storage> queries, double radius) const {
    return neighbours::within_radius<Storage>(queries, points_, radius, settings_, device_);
  }
  auto others_within_radius(double radius) const {
    return neighbours::within_radius<Storage>(points_, radius, settings_, device_);
  }

 private:
  matrix_view<const Storage> points_;
  neighbours::options settings_;
  Device device_;
};

/// How an index has searched, and of what share of the pairs the distance was taken.
template <class Points>
void report_search(session& session, const Points& points, std::int64_t queries, std::int64_t pairs) {
  if constexpr (requires { points.used(queries); })
    session.result("search", points.used(queries) == neighbours::search::tree ? "tree" : "all_pairs");
  const double all = double(queries) * double(points.size());
  session.result("share", all > 0 ? double(pairs) / all : 0);
}

/// Writes the answers of a single_call or an index.
template <class Storage, class Points>
void answer(session& session, const arguments& a, const Points& points) {
  std::optional<io::matrix<Storage>> read;
  if (!a.queries.empty()) {
    point_metric distance = points.distance();
    read = read_further_points<Storage>(session, a.queries, columns_in_files(distance, points.dim()));
    pack_words(*read, a.queries, distance);
  }
  const auto& queries = std::as_const(read);
  const std::int64_t asked = queries ? queries->rows : points.size();
  if (a.k) {
    const auto lists = session.timed(
        "neighbours", [&] { return queries ? points.nearest(queries->view(), *a.k) : points.nearest_others(*a.k); });
    report(session, a, lists);
    report_search(session, points, asked, lists.pairs_evaluated);
    session.timed("write", [&] { write_neighbours(session, a.output, lists); });
  } else {
    const auto lists = session.timed("neighbours", [&] {
      return queries ? points.within_radius(queries->view(), *a.radius) : points.others_within_radius(*a.radius);
    });
    report(session, a, lists);
    report_search(session, points, asked, lists.pairs_evaluated);
    session.timed("write", [&] { write_within(session, a, lists); });
  }
  session.say_done(a.output);
}

bool has_question(const arguments& a) { return a.k || a.radius; }

template <class Storage>
void find(session& session, const arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return find_shared<Storage>(session, a);
#endif
  io::matrix<Storage> read = read_points<Storage>(session, a.input, a.dataset);
  point_metric distance = a.metric.value();
  pack_words(read, a.input, distance);
  const auto& points = std::as_const(read);
  const Device& device = session.device();
  if (a.index.empty()) return answer<Storage>(session, a, single_call(points.view(), {distance}, device));
  const auto index =
      session.timed("index", [&] { return neighbours::index<Storage>(points.view(), {distance}, device); });
  session.timed("save", [&] { io::write_index(a.index, index); });
  if (has_question(a)) return answer<Storage>(session, a, index);
  report_invalid(session, "points", index.invalid_points());
  session.say_done(a.index);
}

/// Answers from a file of before.
void search_index(session& session, const arguments& a) {
  const auto any = session.timed("load", [&] { return io::read_any_index(a.index, session.device()); });
  std::visit(
      [&]<class Storage>(const neighbours::index<Storage>& index) {
        session.settle_precision(spelling_of<Storage>());
        session.result("n", index.size());
        session.result("dim", columns_in_files(index.distance(), index.dim()));
        session.result("metric", to_string(index.distance()));
        answer<Storage>(session, a, index);
      },
      any);
}

const program about{"quintet-neighbours",
                    "exact nearest neighbours of points, or all within a radius.",
                    "quintet-neighbours --input embeddings.npy --k 15 --output neighbours.h5",
                    {"auto", "float", "double", "half", "bfloat16"},
                    true};

void check(const session& session, const arguments& a) {
  require_one_process(session, {"radius", "index"});
  if (a.input.empty() && a.index.empty()) throw InvalidArgument("--input is needed, or --index with a file of before");
  const bool builds_only = !a.input.empty() && !a.index.empty() && !has_question(a);
  if (a.k && a.radius) throw InvalidArgument("one of --k and --radius is needed, and not both");
  if (!has_question(a) && !builds_only) throw InvalidArgument("one of --k and --radius is needed, and not both");
  if (builds_only)
    require_absent(session.line(), {"queries", "output"}, "needs --k or --radius");
  else if (a.output.empty())
    throw InvalidArgument("--output is needed");
  if (a.input.empty())
    require_absent(session.line(), {"metric", "curvature", "p", "unit", "sphere-radius", "dataset", "precision"},
                   "needs --input: an index has its points, their type and metric");
  const metric kind = a.metric.value().kind;  // before a large file is read
  if (a.radius && *a.radius < 0 && !a.input.empty() && kind != metric::integer_inner_product)
    throw InvalidArgument(text("--radius must be >= 0 and finite (--radius=", *a.radius, ")"));
  option_files inputs{{"--input", a.input}, {"--queries", a.queries}};
  option_files outputs{{"--output", a.output}, {"--json", session.line().common.json}};
  (a.input.empty() ? inputs : outputs).emplace_back("--index", a.index);
  require_distinct_files(inputs, outputs);
  if (!a.input.empty() && !a.index.empty()) io::check_writable(a.index);
}

void run(session& session, arguments& a) {
  check(session, a);
  if (a.input.empty()) return search_index(session, a);
  a.metric.choose_precision(session);
  with_storage(session, {{a.input, a.dataset}, {a.queries, ""}}, [&]<class Storage>() { find<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
