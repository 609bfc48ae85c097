// quintet-svd: singular value decomposition of the matrix or the matrices of a file, or eigenvalues of symmetric ones.
#include <algorithm>
#include <charconv>
#include <concepts>
#include <iomanip>
#include <sstream>
#include <system_error>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/npy.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/certify.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"
#include "quintet/svd/randomised.hpp"
#include "support/driver.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/distribution.hpp"
#include "quintet/mpi/svd.hpp"
#endif

namespace quintet::driver {

namespace {

struct arguments {
  std::string input, dataset, right, right_dataset, output, mode, preconditioning, symmetric;
  svd::options options;
  svd::randomised_options random;
  std::int64_t rank = 0;  // 0: not given
  bool certifies = false;
  svd::rank_tolerance tolerance;
  bool truncates() const { return tolerance.relative || tolerance.absolute; }
  svd::eigen_options eigen;
  bool is_symmetric() const { return !symmetric.empty(); }
  bool is_least_squares() const { return !right.empty(); }
};

/// FIRST:LAST as options. Throws InvalidArgument.
void parse_subset(const std::string& words, svd::eigen_options& options) {
  std::int64_t first = 0, last = -1;
  const char *const end = words.data() + words.size(), *at = words.data();
  auto read = std::from_chars(at, end, first);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':') read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first)
    throw InvalidArgument(text("--subset must be FIRST:LAST with 0 <= FIRST <= LAST (--subset=", words, ")"));
  options.first = first;
  options.count = last - first + 1;
}

po::options_description describe(arguments& a) {
  po::options_description all;
  po::options_description files("Files");
  files.add_options()  //
      ("input", po::value(&a.input)->required()->value_name("FILE"),
       ".npy or .h5 with a matrix [m, n] or a batch of them [B, m, n], or .csv with one matrix")                  //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("right", po::value(&a.right)->value_name("FILE"),
       "right-hand sides of least squares, [m] or [m, r], or [B, m] or [B, m, r]: instead of a decomposition, the X of "
       "least norm among those with least |A X - R|")                                                          //
      ("right-dataset", po::value(&a.right_dataset)->value_name("NAME"), "dataset of an .h5 file of --right")  //
      ("output", output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}),
       ".h5: datasets U [B, m, k], S [B, k], V [B, n, k] (without B for a single matrix), status and sweeps [B]; the "
       "parameters as attributes. With --rank also residual [B], with a tolerance rank [B], with --certify bound [B], "
       "with --centre means [B, n]. "
       "With --symmetric: w [B, k], V [B, n, k] and status [B]. "
       "With --right: X [B, n, r], residual [B, r], S [B, k], rank and status [B]. "
       ".csv: one line of values per matrix, in 17 digits; with --right the rows of X, matrix after matrix");
  po::options_description decomposition("Decomposition");
  decomposition.add_options()  //
      ("mode", po::value(&a.mode)->default_value("econ")->value_name("WHICH"),
       "values, econ or full: no vectors, k = min(m, n) of them, or square U and V")  //
      ("preconditioning", po::value(&a.preconditioning)->default_value("auto")->value_name("HOW"),
       "auto, none, qr or qrcp (QR with column pivoting)")                                                            //
      ("accurate", po::bool_switch(&a.options.accurate), "rotations with half the rounding errors, a little slower")  //
      ("canonical-signs", po::bool_switch(&a.options.canonical_signs),
       "the largest element of each column of U is positive")  //
      ("centre", po::bool_switch(&a.options.centre),
       "decomposes the matrices without the means of their columns (principal components)")  //
      ("tolerance", po::value<double>()->value_name("R")->notifier([&a](double r) { a.tolerance.relative = r; }),
       "drops singular values up to R times the largest, and their vectors; k is the largest rank of the batch, "
       "and smaller ranks have values of 0; >= 0")  //
      ("absolute-tolerance",
       po::value<double>()->value_name("T")->notifier([&a](double t) { a.tolerance.absolute = t; }),
       "the same for values up to T, >= 0")  //
      ("certify", po::bool_switch(&a.certifies),
       "rigorous bounds of the errors of the singular values or eigenvalues of each matrix; "
       "from n = 64 on it adds 15 to 35 % to the time")  //
      ("max-sweeps",
       po::value(&a.options.max_sweeps)->default_value(30)->value_name("N")->notifier(at_least("--max-sweeps", 1)),
       "a matrix that needs more has status 1, >= 1")  //
      ("symmetric", po::value(&a.symmetric)->implicit_value("lower")->value_name("TRIANGLE"),
       "rising eigenvalues and eigenvectors of symmetric matrices; =lower or =upper is the triangle that is read, "
       "lower "
       "by default");
  decomposition.add_options()  //
      ("subset", po::value<std::string>()->value_name("FIRST:LAST")->notifier([&a](const std::string& s) {
        parse_subset(s, a.eigen);
      }),
       "with --symmetric: only these eigenvalues, both included, and their vectors; 0 is the smallest")  //
      ("positive", po::bool_switch(&a.eigen.positive),
       "with --symmetric: the matrices are positive semidefinite, and small eigenvalues are wanted to the last digits");
  po::options_description random("Randomised, for a low rank");
  random.add_options()  //
      ("rank", po::value(&a.rank)->value_name("R")->notifier(at_least("--rank", 1)),
       "only the R largest singular values, by the randomised method, >= 1")  //
      ("oversampling",
       po::value(&a.random.oversampling)->default_value(10)->value_name("P")->notifier(at_least("--oversampling", 0)),
       "further random directions, >= 0")  //
      ("power-iterations",
       po::value(&a.random.power_iterations)
           ->default_value(2)
           ->value_name("Q")
           ->notifier(at_least("--power-iterations", 0)),
       "0 is enough if the singular values fall fast, >= 0")  //
      ("seed", po::value(&a.random.seed)->default_value(0)->value_name("S"), "of the random directions, >= 0");
  all.add(files).add(decomposition).add(random);
  return all;
}

void parse_words(arguments& a, const session& session) {
  const std::string& precision = session.precision();
  a.options.vectors = choice<svd::vectors>(
      "--mode", a.mode,
      {{"values", svd::vectors::none}, {"econ", svd::vectors::economy}, {"full", svd::vectors::full}});
  a.options.preconditioning = choice<svd::preconditioning>("--preconditioning", a.preconditioning,
                                                           {{"auto", svd::preconditioning::automatic},
                                                            {"none", svd::preconditioning::none},
                                                            {"qr", svd::preconditioning::qr},
                                                            {"qrcp", svd::preconditioning::pivoted_qr}});
  if (a.is_least_squares())
    require_absent(session.line(),
                   {"mode", "preconditioning", "accurate", "canonical-signs", "centre", "max-sweeps", "certify",
                    "symmetric", "rank"},
                   "is not for --right");
  else
    require_absent(session.line(), {"right-dataset"}, "needs --right");
  if (!a.is_symmetric()) require_absent(session.line(), {"subset"}, "needs --symmetric");
  if (a.is_symmetric()) {
    require_absent(session.line(),
                   {"preconditioning", "accurate", "canonical-signs", "centre", "max-sweeps", "rank", "tolerance",
                    "absolute-tolerance"},
                   "is not for --symmetric");
    a.eigen.triangle = choice<svd::triangle>("--symmetric", a.symmetric,
                                             {{"lower", svd::triangle::lower}, {"upper", svd::triangle::upper}});
    if (a.options.vectors == svd::vectors::full)
      throw InvalidArgument("--mode must be values or econ with --symmetric (--mode=full)");
    a.eigen.vectors = a.options.vectors != svd::vectors::none;
  } else if (a.eigen.positive) {
    throw InvalidArgument("--positive needs --symmetric");
  }
  for (const auto& [name, value] :
       {std::pair{"--tolerance", a.tolerance.relative}, {"--absolute-tolerance", a.tolerance.absolute}}) {
    if (value && !(*value >= 0)) throw InvalidArgument(text(name, " must be >= 0 (", name, "=", *value, ")"));
    if (value && a.options.vectors == svd::vectors::full)
      throw InvalidArgument(text("--mode must be values or econ with ", name, " (--mode=full)"));
  }
  if (a.certifies && a.options.vectors == svd::vectors::none)
    throw InvalidArgument(
        text("--certify needs vectors: --mode must be econ", a.is_symmetric() ? "" : " or full", " (--mode=values)"));
  if (a.certifies && a.options.centre)
    throw InvalidArgument("--certify is for the matrices of --input, not for --centre");
  if (a.certifies && a.eigen.count > 0) throw InvalidArgument("--certify is for all eigenvalues, not for --subset");
  if (a.certifies && a.rank > 0) throw InvalidArgument("--certify is for all singular values, not for --rank");
  if (a.rank == 0)
    require_absent(session.line(), {"oversampling", "power-iterations", "seed"}, "needs --rank");
  else
    require_absent(session.line(), {"preconditioning", "accurate", "centre", "max-sweeps"},
                   "is not for the randomised method of --rank");
  if (a.rank > 0 && a.options.vectors == svd::vectors::full)
    throw InvalidArgument("--mode must be values or econ with --rank (--mode=full)");
  if (a.rank > 0 && (precision == "half" || precision == "bfloat16"))
    throw InvalidArgument(text("--precision must be float or double with --rank (--precision=", precision, ")"));
  a.random.rank = a.rank;
  a.random.canonical_signs = a.options.canonical_signs;
}

void check_shape(const arguments& a, const std::vector<std::int64_t>& shape) {
  if (shape.size() != 2 && shape.size() != 3)
    throw FileError(a.input, text("must have 2 or 3 dimensions, it has ", shape.size()));
  if (shape.size() == 2 && shape[0] == 0) throw FileError(a.input, "holds no rows");
  const std::int64_t rows = shape[shape.size() - 2], cols = shape.back();
  if (a.is_symmetric() && rows != cols)
    throw FileError(a.input, text("must have square matrices for --symmetric, not ", rows, " x ", cols));
  if (a.eigen.first + a.eigen.count > rows)
    throw FileError(a.input, text("has matrices of ", rows, " rows, too few for --subset=", a.eigen.first, ":",
                                  a.eigen.first + a.eigen.count - 1));
}

/// The array of a file. `option` is the one that names its dataset.
template <class Real>
io::array<Real> read_array(const std::string& path, const std::string& dataset, const char* option) {
  const io::file_format format = io::format_of(path);
  if (format != io::file_format::hdf5 && !dataset.empty())
    throw FileError(path, text("has no datasets: ", option, " is for .h5 files"));
  if (format == io::file_format::npy) return io::read_npy<Real>(path);
  if (format == io::file_format::hdf5) return io::read_hdf5<Real>(path, dataset);
  auto table = io::read_csv<Real>(path).values;
  return io::array<Real>{{table.rows, table.cols}, std::move(table.data)};
}

template <class Real>
io::array<Real> read_all(const arguments& a) {
  return read_array<Real>(a.input, a.dataset, "--dataset");
}

/// What this process works on: one matrix, a batch, or as one of several its share of the batch.
template <class Real>
struct matrices {
  io::array<Real> own;
  bool is_batch = false;
  std::int64_t batch = 1, rows = 0, cols = 0;  // of all
  std::int64_t own_batch = 1;
};

#ifdef QUINTET_HAS_MPI
/// The share of this rank. A single matrix is that of rank 0.
template <class Real>
io::array<Real> read_share(mpi::communicator& ranks, const arguments& a, std::vector<std::int64_t>& shape) {
  io::array<Real> own;
  ranks.phase("read");
  ranks.run_collectively([&] {
    const io::file_format format = io::format_of(a.input);
    if (format == io::file_format::csv || (format == io::file_format::npy && !a.dataset.empty()))
      shape = {1, 1};  // the root says what is wrong, or how large it is
    else
      shape = format == io::file_format::npy ? io::npy_shape(a.input) : io::hdf5_shape(a.input, a.dataset);
    if (shape.size() != 3) {
      if (ranks.is_root()) own = read_all<Real>(a);
      if (ranks.is_root()) shape = own.shape;
      return;
    }
    const auto range = mpi::even_rows(shape[0], ranks.rank(), ranks.size());
    own = format == io::file_format::npy ? io::read_npy_rows<Real>(a.input, range.first, range.count)
                                         : io::read_hdf5_rows<Real>(a.input, a.dataset, range.first, range.count);
  });
  std::int64_t size[3] = {std::int64_t(shape.size()), shape.empty() ? 0 : shape[0], shape.size() < 2 ? 0 : shape[1]};
  ranks.broadcast(std::span<std::int64_t>(size));
  if (size[0] == 2) shape = {size[1], size[2]};
  if (size[0] == 2 && !ranks.is_root()) own = {{0, size[1], size[2]}, {}};
  std::string words;
  for (const std::int64_t value : shape) words += text(value, " ");
  ranks.require_same(a.input, text("an array of ", words));
  return own;
}
#endif

template <class Real>
matrices<Real> read_batch(session& session, const arguments& a) {
  matrices<Real> result;
  std::vector<std::int64_t> shape;
  result.own = session.timed("read", [&] {
#ifdef QUINTET_HAS_MPI
    if (session.ranks() != nullptr) return read_share<Real>(*session.ranks(), a, shape);
#endif
    auto all = read_all<Real>(a);
    shape = all.shape;
    return all;
  });
  check_shape(a, shape);
  result.is_batch = shape.size() == 3;
  result.batch = result.is_batch ? shape[0] : 1;
  result.own_batch = result.is_batch ? result.own.shape[0] : session.is_root() ? 1 : 0;
  result.rows = shape[result.is_batch ? 1 : 0];
  result.cols = shape[result.is_batch ? 2 : 1];
  return result;
}

/// Shape of an output: without the batch for a single matrix.
std::vector<std::int64_t> shape_of(bool is_batch, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  return is_batch ? std::vector<std::int64_t>{batch, rows, cols} : std::vector<std::int64_t>{rows, cols};
}

template <class Real>
void write_hdf5(const session& session, const arguments& a, const svd::decomposition<Real>& d,
                const std::vector<double>& residual, const std::vector<std::int64_t>& ranks,
                const std::vector<double>& bounds, bool is_batch) {
  io::hdf5_writer out(a.output);
  const auto write = [&](const char* name, const std::vector<Real>& values, const std::vector<std::int64_t>& shape) {
    out.write<Real>(name, std::span<const Real>(values), std::span<const std::int64_t>(shape));
  };
  if (a.options.vectors != svd::vectors::none) {
    write("U", d.u, shape_of(is_batch, d.batch, d.rows, d.u_cols));
    write("V", d.v, shape_of(is_batch, d.batch, d.cols, d.v_cols));
  }
  write("S", d.s, is_batch ? std::vector<std::int64_t>{d.batch, d.values} : std::vector<std::int64_t>{d.values});
  out.write("status", d.status);
  out.write("sweeps", d.sweeps);
  if (a.rank > 0) out.write("residual", residual);
  if (a.truncates()) out.write("rank", ranks);
  if (a.certifies) out.write("bound", bounds);
  if (a.options.centre)
    write("means", d.means, is_batch ? std::vector<std::int64_t>{d.batch, d.cols} : std::vector<std::int64_t>{d.cols});
  session.write_attributes(out);
  out.commit();
}

template <class Real>
void write_hdf5(const session& session, const arguments& a, const svd::eigen_decomposition<Real>& d,
                const std::vector<double>& bounds, bool is_batch) {
  io::hdf5_writer out(a.output);
  const std::vector<std::int64_t> of_values =
      is_batch ? std::vector<std::int64_t>{d.batch, d.values} : std::vector<std::int64_t>{d.values};
  out.write<Real>("w", std::span<const Real>(d.w), std::span<const std::int64_t>(of_values));
  const std::vector<std::int64_t> of_vectors = shape_of(is_batch, d.batch, d.size, d.values);
  if (a.eigen.vectors) out.write<Real>("V", std::span<const Real>(d.v), std::span<const std::int64_t>(of_vectors));
  out.write("status", d.status);
  if (a.certifies) out.write("bound", bounds);
  session.write_attributes(out);
  out.commit();
}

/// One line a matrix.
template <class Real>
void write_csv(const arguments& a, const matrix_view<const Real>& values) {
  io::atomic_file out(a.output);
  for (std::int64_t b = 0; b < values.rows(); ++b) {
    std::ostringstream line;
    line << std::setprecision(17);
    for (std::int64_t j = 0; j < values.cols(); ++j) line << (j > 0 ? "," : "") << double(values(b, j));
    line << "\n";
    out.write(line.str());
  }
  out.commit();
}

template <class Real>
void write_hdf5(const session& session, const arguments& a, const svd::least_squares_solutions<Real>& d,
                bool is_batch) {
  io::hdf5_writer out(a.output);
  const auto write = [&](const char* name, const std::vector<Real>& values, std::vector<std::int64_t> shape) {
    if (is_batch) shape.insert(shape.begin(), d.batch);
    out.write<Real>(name, std::span<const Real>(values), std::span<const std::int64_t>(shape));
  };
  write("X", d.x, {d.rows, d.cols});
  write("residual", d.residual, {d.cols});
  write("S", d.values, {d.batch == 0 ? 0 : std::int64_t(d.values.size()) / d.batch});
  out.write("rank", d.rank);
  out.write("status", d.status);
  session.write_attributes(out);
  out.commit();
}

/// Of the first matrix and of the worst.
void report_bounds(session& session, const std::vector<double>& bounds) {
  if (bounds.empty()) return;
  const double worst = *std::max_element(bounds.begin(), bounds.end());
  session.result("largest_bound", worst);
  session.say() << "errors of the values are at most " << worst << "\n";
}

/// The status of all matrices.
void report_status(session& session, const std::vector<std::int32_t>& status) {
  const auto count = [&](std::int32_t code) { return std::count(status.begin(), status.end(), code); };
  session.result("not_converged", count(svd::not_converged));
  session.result("not_finite", count(svd::not_finite));
  if (count(svd::not_definite) > 0) {
    session.result("not_definite", count(svd::not_definite));
    session.warn(
        text(count(svd::not_definite), " matrices are not positive semidefinite; they have status 3 and results nan"));
  }
  if (count(svd::not_converged) > 0)
    session.warn(text(count(svd::not_converged), " matrices did not converge; they have status 1"));
  if (count(svd::not_finite) > 0)
    session.warn(text(count(svd::not_finite), " matrices hold nan or inf; they have status 2 and results nan"));
}

void report_ranks(session& session, const std::vector<std::int64_t>& ranks) {
  if (ranks.empty()) return;
  session.result("least_rank", *std::min_element(ranks.begin(), ranks.end()));
  session.result("largest_rank", *std::max_element(ranks.begin(), ranks.end()));
  session.say() << "rank of the first matrix: " << ranks[0] << "\n";
}

template <class Real>
void report(session& session, const svd::least_squares_solutions<Real>& d) {
  session.result("batch", d.batch);
  session.result("n", d.rows);
  session.result("right_sides", d.cols);
  session.result("ran_on", d.ran_on.spelling());
  report_status(session, d.status);
  report_ranks(session, d.rank);
  if (d.residual.empty()) return;
  session.result("residual", double(d.residual[0]));
  session.say() << "residual of the first right-hand side: " << d.residual[0] << "\n";
}

template <class Real>
void report(session& session, const svd::eigen_decomposition<Real>& d) {
  session.result("batch", d.batch);
  session.result("n", d.size);
  session.result("ran_on", d.ran_on.spelling());
  report_status(session, d.status);
  if (d.batch == 0 || d.values == 0) return;
  const Real least = d.eigenvalue(0, 0), largest = d.eigenvalue(0, d.values - 1);
  session.result("least", double(least));
  session.result("largest", double(largest));
  session.say() << "eigenvalues of the first matrix: " << least << " to " << largest << "\n";
}

template <class Real>
void report(session& session, const svd::decomposition<Real>& d, const std::vector<double>& residual,
            const std::vector<std::int64_t>& ranks) {
  session.result("batch", d.batch);
  session.result("m", d.rows);
  session.result("n", d.cols);
  session.result("values", d.values);
  session.result("ran_on", d.ran_on.spelling());
  report_status(session, d.status);
  session.result("most_sweeps", d.batch > 0 ? *std::max_element(d.sweeps.begin(), d.sweeps.end()) : 0);
  if (d.batch > 0 && d.values > 0) {
    session.result("largest", double(d.s[0]));
    session.say() << "largest singular value of the first matrix: " << d.s[0] << "\n";
  }
  report_ranks(session, ranks);
  if (!residual.empty()) {
    session.result("residual", residual[0]);
    session.say() << "residual of the first matrix beyond this rank: " << residual[0] << " (Frobenius norm)\n";
  }
}

/// The factors of a decomposition in 16 bits as float, which files can hold.
template <class Stored>
svd::decomposition<float> widened(svd::decomposition<Stored> d) {
  svd::decomposition<float> wide;
  static_cast<svd::decomposition_shape&>(wide) = d;
  wide.u.assign(d.u.begin(), d.u.end());
  wide.s = std::move(d.s);
  wide.v.assign(d.v.begin(), d.v.end());
  wide.status = std::move(d.status);
  wide.sweeps = std::move(d.sweeps);
  wide.means = std::move(d.means);
  wide.ran_on = d.ran_on;
  return wide;
}

template <class Stored>
svd::eigen_decomposition<float> widened(svd::eigen_decomposition<Stored> d) {
  return {d.batch, d.size, d.values, std::move(d.w), {d.v.begin(), d.v.end()}, std::move(d.status), d.ran_on};
}

template <class Stored>
svd::least_squares_solutions<float> widened(svd::least_squares_solutions<Stored> d) {
  return {d.batch,
          d.rows,
          d.cols,
          {d.x.begin(), d.x.end()},
          std::move(d.residual),
          std::move(d.rank),
          std::move(d.values),
          std::move(d.status),
          d.ran_on};
}

/// f(matrices as Stored, ...), widened to Real where that is another type. Matrices are dense.
template <class Stored, class Function, class... Real>
auto in_storage(Function f, const batch_view<const Real>&... matrices) {
  if constexpr ((std::is_same_v<Stored, Real> && ...)) {
    return f(matrices...);
  } else {
    const auto round = [](const auto& view) {
      const std::int64_t size = view.batch() * view.rows() * view.cols();
      std::vector<Stored> rounded;
      rounded.reserve(size);
      for (std::int64_t i = 0; i < size; ++i) rounded.push_back(Stored(view.data()[i]));
      return rounded;
    };
    const auto with_rounded = [&](const std::same_as<std::vector<Stored>> auto&... rounded) {
      return widened(
          f(batch_view<const Stored>(rounded.data(), matrices.batch(), matrices.rows(), matrices.cols())...));
    };
    return with_rounded(round(matrices)...);
  }
}

/// Of several processes the first has the results of all.
template <class Stored>
svd::decomposition<Stored> decompose_stored(const session& session, const arguments& a,
                                            batch_view<const Stored> matrices) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr)
    return mpi::svd::decompose<Stored>(*session.ranks(), matrices, a.options, session.device());
#endif
  return svd::decompose<Stored>(matrices, a.options, session.device());
}

/// Real is Stored, or float for the 16-bit types.
template <class Stored, class Real>
svd::randomised_decomposition<Real> decompose(const session& session, const arguments& a,
                                              batch_view<const Real> matrices) {
  if constexpr (std::is_same_v<Stored, Real>)
    if (a.rank > 0) return svd::randomised<Real>(matrices, a.random, session.device());
  return {in_storage<Stored>([&](const auto& view) { return decompose_stored<Stored>(session, a, view); }, matrices),
          {}};
}

template <class Stored, class Real>
void solve_symmetric(session& session, const arguments& a, const batch_view<const Real>& matrices, bool is_batch) {
  svd::eigen_decomposition<Real> result;
  session.timed("decompose", [&] {
    result = in_storage<Stored>([&](const auto& view) { return svd::eigen<Stored>(view, a.eigen, session.device()); },
                                matrices);
  });
  std::vector<double> bounds;
  if (a.certifies)
    session.timed("certify",
                  [&] { bounds = svd::certify<Real>(matrices, result, a.eigen.triangle, session.device()); });
  report(session, result);
  report_bounds(session, bounds);
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a, result.w_view());
    else
      write_hdf5(session, a, result, bounds, is_batch);
  });
}

/// Right-hand sides of all matrices, with the shape [B, m, r]; none without --right. Throws FileError for another
/// shape.
template <class Real>
io::array<Real> read_right(session& session, const arguments& a, const matrices<Real>& input) {
  if (!a.is_least_squares()) return {{0, 0, 0}, {}};
  auto right = session.timed("read", [&] { return read_array<Real>(a.right, a.right_dataset, "--right-dataset"); });
  std::vector<std::int64_t> shape = right.shape;
  if (!input.is_batch) shape.insert(shape.begin(), 1);
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3 || shape[0] != input.batch || shape[1] != input.rows) {
    const std::string of_batch = input.is_batch ? text(input.batch, ", ") : "";
    std::string words;
    for (const std::int64_t extent : right.shape) words += text(words.empty() ? "" : ", ", extent);
    throw FileError(a.right, text("must be [", of_batch, input.rows, "] or [", of_batch, input.rows,
                                  ", r] for the matrices of --input, not [", words, "]"));
  }
  right.shape = shape;
  return right;
}

template <class Stored, class Real>
void solve_least_squares(session& session, const arguments& a, const batch_view<const Real>& view,
                         const io::array<Real>& sides, bool is_batch) {
  const batch_view<const Real> right(sides.data.data(), sides.shape[0], sides.shape[1], sides.shape[2]);
  svd::least_squares_solutions<Real> result;
  session.timed("solve", [&] {
    result = in_storage<Stored>(
        [&](const auto& of_a, const auto& of_right) {
          return svd::solve_least_squares<Stored>(of_a, of_right, a.tolerance, session.device());
        },
        view, right);
  });
  report(session, result);
  session.timed("write", [&] {
    const matrix_view<const Real> rows(result.x.data(), result.batch * result.rows, result.cols);
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a, rows);
    else
      write_hdf5(session, a, result, is_batch);
  });
}

template <class Stored, class Real>
void decompose_matrices(session& session, const arguments& a, const batch_view<const Real>& view, bool is_batch) {
  svd::randomised_decomposition<Real> result;
  session.timed("decompose", [&] { result = decompose<Stored, Real>(session, a, view); });
  if (!session.is_root()) return;
  std::vector<double> bounds;
  if (a.certifies) session.timed("certify", [&] { bounds = svd::certify(view, result.factors, session.device()); });
  std::vector<std::int64_t> ranks;
  if (a.truncates()) ranks = svd::truncate(result.factors, a.tolerance);
  report(session, result.factors, result.residual, ranks);
  report_bounds(session, bounds);
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a, result.factors.s_view());
    else
      write_hdf5(session, a, result.factors, result.residual, ranks, bounds, is_batch);
  });
}

template <class Stored>
void decompose_file(session& session, const arguments& a) {
  using Real = accumulator_t<Stored>;
  const matrices<Real> input = read_batch<Real>(session, a);
  const io::array<Real> sides = read_right(session, a, input);
  session.say() << input.batch << (input.batch == 1 ? " matrix of " : " matrices of ") << input.rows << " x "
                << input.cols << " on " << session.device().name() << std::endl;
  const batch_view<const Real> view(input.own.data.data(), input.own_batch, input.rows, input.cols);
  if (a.is_least_squares())
    solve_least_squares<Stored>(session, a, view, sides, input.is_batch);
  else if (a.is_symmetric())
    solve_symmetric<Stored>(session, a, view, input.is_batch);
  else
    decompose_matrices<Stored>(session, a, view, input.is_batch);
  if (!session.is_root()) return;
  session.say() << a.output << " written after " << std::setprecision(3) << session.timer().total() << " s\n";
}

const program about{"quintet-svd",
                    "singular value decomposition of one matrix or of many small ones, eigenvalues of symmetric ones, "
                    "or least squares.",
                    "quintet-svd --input weights.npy --precision double --mode econ --output factors.h5",
                    {"auto", "float", "double", "half", "bfloat16"},
                    true};

void run(session& session, arguments& a) {
  parse_words(a, session);
  require_one_process(session, {"rank", "symmetric", "certify", "right"});
  require_distinct_files({{"--input", a.input}, {"--right", a.right}},
                         {{"--output", a.output}, {"--json", session.line().common.json}});
  with_storage(session, {{a.input, a.dataset}, {a.right, a.right_dataset}},
               [&]<class Storage>() { decompose_file<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
