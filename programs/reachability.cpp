// quintet-reachability: mutual reachability of the points of a file, as a matrix or for listed pairs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "quintet/core/error.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/matrix_file.hpp"
#include "quintet/io/npy.hpp"
#include "support/driver.hpp"
#include "support/metric_option.hpp"
#include "support/points.hpp"

namespace quintet::driver {

namespace {

struct arguments {
  std::string input, dataset, output, pairs;
  metric_option metric;
  hdbscan::core_options core;
  hdbscan::reachability_options reachability;
  std::int64_t memory = 1024;  // MiB
};

po::options_description describe(arguments& a) {
  po::options_description options("Options");
  options.add_options()                                                                                           //
      ("input", po::value(&a.input)->required()->value_name("FILE"), "points, one per row: .csv, .npy or .h5")    //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("output", output_file(&a.output, {io::file_format::csv, io::file_format::npy, io::file_format::hdf5}),
       "the n x n matrix: .csv (no header), .npy, or .h5 (datasets mutual_reachability [n, n] and core_distances "
       "[n]). With --pairs .csv with the header i,j,mreach, or .h5 (pairs [p, 2], mutual_reachability [p], "
       "core_distances [n])")  //
      ("pairs", po::value(&a.pairs)->value_name("FILE"),
       "computes these pairs only: two columns of row numbers, counted from 0. A .csv with a header may have more "
       "columns than those named i and j")  //
      ("min-samples", po::value(&a.core.min_samples)->required()->value_name("K"),
       "the core distance is that to the K-th nearest other point, >= 0; 0 gives plain distances")  //
      ("count-self", po::bool_switch(&a.core.count_self),
       "counts a point among its own neighbours, as scikit-learn does; then K >= 1")  //
      ("alpha", po::value(&a.reachability.alpha)->default_value(1)->value_name("X"),
       "divides distances, but not core distances, > 0")  //
      ("core-on-diagonal", po::bool_switch(&a.reachability.core_on_diagonal),
       "puts core distances on the diagonal, as scikit-learn does, instead of 0")  //
      ("memory", po::value(&a.memory)->default_value(a.memory)->value_name("MIB"),
       "a larger matrix is computed and written by blocks of rows, >= 1");
  a.metric.add_to(options);
  return options;
}

void check(arguments& a, const session& session) {
  a.core.distance = a.reachability.distance = a.metric.value();
  constexpr std::int64_t max = std::int64_t(1) << 40;
  require_argument(a.memory >= 1 && a.memory <= max, "--memory", a.memory, text("in [1, ", max, "]"));
  if (!a.pairs.empty() && io::format_of(a.output) == io::file_format::npy)
    throw InvalidArgument(text("--output: ", a.output,
                               ": pairs and their values are of different types, and a .npy file holds one array; ",
                               "allowed with --pairs are .csv, .h5, .hdf5"));
  require_distinct_files({{"--input", a.input}, {"--pairs", a.pairs}},
                         {{"--output", a.output}, {"--json", session.line().common.json}});
  if (!a.pairs.empty()) require_absent(session.line(), {"memory"}, "is for the whole matrix, not for --pairs");
  // Wrong options are found before a large file is read.
  hdbscan::core_distances<float>({}, a.core);
  hdbscan::mutual_reachability_pairs<float>({}, {}, {}, a.reachability);
}

// Row numbers written as numbers of any kind: exact as double up to 2^53, and no file of points has more.
std::int64_t row_number(double value, std::int64_t n, const std::string& path, std::int64_t pair) {
  if (value == std::floor(value) && value >= 0 && value < double(n)) return std::int64_t(value);
  throw FileError(
      path, text("pair ", pair, " (counting from 0) holds ", value, ", which is no row of the points, 0 to ", n - 1));
}

// The columns of i and j.
std::pair<std::int64_t, std::int64_t> pair_columns(const io::table<double>& table, const std::string& path) {
  const auto& names = table.names;
  const auto i = std::find(names.begin(), names.end(), "i"), j = std::find(names.begin(), names.end(), "j");
  if (i != names.end() && j != names.end()) return {i - names.begin(), j - names.begin()};
  if (table.values.cols != 2)
    throw FileError(
        path, text("has ", table.values.cols, " columns; pairs are two columns, or those named i and j in a header"));
  return {0, 1};
}

io::matrix<std::int64_t> read_pairs(const std::string& path, std::int64_t n) {
  io::table<double> table;
  if (io::format_of(path) == io::file_format::csv)
    table = io::read_csv<double>(path);
  else
    table.values = io::read_matrix<double>(path);
  const auto [i, j] = pair_columns(table, path);
  io::matrix<std::int64_t> pairs{table.values.rows, 2, {}};
  for (std::int64_t p = 0; p < pairs.rows; ++p)
    for (const std::int64_t column : {i, j})
      pairs.data.push_back(row_number(table.values.view()(p, column), n, path, p));
  return pairs;
}

// The matrix on its way into a file of any format, some rows at a time.
template <class Real>
class matrix_writer {
 public:
  matrix_writer(const std::string& path, std::int64_t n) {
    switch (io::format_of(path)) {
      case io::file_format::csv:
        csv_ = std::make_unique<io::csv_writer>(path);
        break;
      case io::file_format::npy:
        npy_ = std::make_unique<io::npy_writer<Real>>(path, n, n);
        break;
      case io::file_format::hdf5:
        hdf5_ = std::make_unique<io::hdf5_writer>(path);
        hdf5_->create<Real>("mutual_reachability", n, n);
    }
  }
  void rows(std::int64_t first_row, matrix_view<const Real> values) {
    if (npy_ != nullptr) npy_->write_rows(values);
    if (hdf5_ != nullptr) hdf5_->write_rows("mutual_reachability", first_row, values);
    if (csv_ == nullptr) return;
    for (std::int64_t i = 0; i < values.rows(); ++i) {
      for (std::int64_t j = 0; j < values.cols(); ++j) csv_->field(values(i, j));
      csv_->end_row();
    }
  }
  void commit(const session& session, const std::vector<Real>& core) {
    if (csv_ != nullptr) csv_->commit();
    if (npy_ != nullptr) npy_->commit();
    if (hdf5_ == nullptr) return;
    hdf5_->write("core_distances", core);
    session.write_attributes(*hdf5_);
    hdf5_->commit();
  }

 private:
  std::unique_ptr<io::csv_writer> csv_;
  std::unique_ptr<io::npy_writer<Real>> npy_;
  std::unique_ptr<io::hdf5_writer> hdf5_;
};

// Seconds spent writing count as "write", the rest as "reachability".
template <class Storage, class Real = accumulator_t<Storage>>
void stream_matrix(session& session, const arguments& a, matrix_view<const Storage> points,
                   const std::vector<Real>& core, matrix_writer<Real>& out) {
  progress report(session.progress());
  double all = 0, writing = 0;
  stage_region stage("reachability", &all);
  hdbscan::mutual_reachability_rows<Storage>(
      points, core,
      [&](std::int64_t first_row, matrix_view<const Real> rows) {
        const stage_region inner("write", &writing);
        out.rows(first_row, rows);
        report(stage.name(), double(first_row + rows.rows()) / double(points.rows()));
        return true;
      },
      a.memory << 20, a.reachability, session.device());
  stage.end();
  session.timer().add("reachability", all - writing);
  session.timer().add("write", writing);
}

template <class Storage, class Real = accumulator_t<Storage>>
void write_matrix(session& session, const arguments& a, matrix_view<const Storage> points,
                  const std::vector<Real>& core) {
  const std::int64_t n = points.rows();
  const bool streamed = double(n) * double(n) * sizeof(Real) > double(a.memory << 20);
  session.result("streamed", streamed);
  matrix_writer<Real> out(a.output, n);
  if (streamed) {
    stream_matrix(session, a, points, core, out);
  } else {
    std::vector<Real> matrix(n * n);
    session.timed("reachability", [&] {
      hdbscan::mutual_reachability(points, core, {matrix.data(), n, n}, a.reachability, session.device());
    });
    session.timed("write", [&] { out.rows(0, {matrix.data(), n, n}); });
  }
  session.timed("write", [&] { out.commit(session, core); });
}

template <class Storage, class Real = accumulator_t<Storage>>
void write_pairs(session& session, const arguments& a, matrix_view<const Storage> points, const std::vector<Real>& core,
                 const io::matrix<std::int64_t>& pairs) {
  const std::vector<Real> values = session.timed("reachability", [&] {
    return hdbscan::mutual_reachability_pairs<Storage>(points, core, pairs.view(), a.reachability, session.device());
  });
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv) {
      io::csv_writer out(a.output, {"i", "j", "mreach"});
      for (std::int64_t p = 0; p < pairs.rows; ++p) out.row(pairs.view()(p, 0), pairs.view()(p, 1), values[p]);
      out.commit();
    } else {
      io::hdf5_writer out(a.output);
      out.write("pairs", pairs.view());
      out.write("mutual_reachability", values);
      out.write("core_distances", core);
      session.write_attributes(out);
      out.commit();
    }
  });
}

template <class Storage>
void work(session& session, arguments& a) {
  io::matrix<Storage> points = read_points<Storage>(session, a.input, a.dataset);
  io::matrix<std::int64_t> pairs;
  if (!a.pairs.empty()) {
    pairs = session.timed("read", [&] { return read_pairs(a.pairs, points.rows); });
    if (pairs.rows == 0) throw FileError(a.pairs, "holds no pairs");
    session.result("pairs", pairs.rows);
  }
  const std::int64_t dim = points.cols;
  pack_words(points, a.input, a.core.distance);
  session.say() << points.rows << " points of " << dim << " dimensions on " << session.device().name() << std::endl;
  a.reachability.distance = a.core.distance;
  const matrix_view<const Storage> rows = std::as_const(points).view();
  const auto core =
      session.timed("neighbours", [&] { return hdbscan::core_distances<Storage>(rows, a.core, session.device()); });
  const std::string where = core.ran_on.spelling();
  session.result("ran_on", {{"neighbours", where}, {"reachability", where}});
  report(session, {core.neighbours, core.clamped, core.invalid_rows}, a.core.distance.kind);
  if (a.pairs.empty())
    write_matrix<Storage>(session, a, rows, core.distances);
  else
    write_pairs<Storage>(session, a, rows, core.distances, pairs);
  session.say_done(a.output);
}

const program about{"quintet-reachability",
                    "mutual reachability, max(core_i, core_j, d(i, j) / alpha), of points in any dimension.",
                    "quintet-reachability --input embeddings.npy --min-samples 5 --output matrix.npy",
                    {"auto", "float", "double", "half", "bfloat16"}};

void run(session& session, arguments& a) {
  check(a, session);
  a.metric.choose_precision(session);
  with_storage(session, {{a.input, a.dataset}}, [&]<class Storage>() { work<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
