// quintet-svd: singular value decomposition of the matrix or the matrices of a file.
#include <algorithm>
#include <iomanip>
#include <sstream>

#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"
#include "quintet/io/npy.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/randomised.hpp"
#include "support/driver.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/distribution.hpp"
#include "quintet/mpi/svd.hpp"
#endif

namespace quintet::driver {

namespace {

struct arguments {
  std::string input, dataset, output, mode, preconditioning;
  svd::options options;
  svd::randomised_options random;
  std::int64_t rank = 0;  // 0: not given
};

po::options_description describe(arguments& a) {
  po::options_description all;
  po::options_description files("Files");
  files.add_options()  //
      ("input", po::value(&a.input)->required()->value_name("FILE"),
       ".npy or .h5 with a matrix [m, n] or a batch of them [B, m, n], or .csv with one matrix")                  //
      ("dataset", po::value(&a.dataset)->value_name("NAME"), "dataset of an .h5 input; by default its only one")  //
      ("output", output_file(&a.output, {io::file_format::csv, io::file_format::hdf5}),
       ".h5: datasets U [B, m, k], S [B, k], V [B, n, k] (without B for a single matrix), status and sweeps [B], with "
       "--rank also residual [B]; the parameters as attributes. .csv: one line of singular values per matrix, in 17 "
       "digits");
  po::options_description what("Decomposition");
  what.add_options()  //
      ("mode", po::value(&a.mode)->default_value("econ")->value_name("WHICH"),
       "values, econ or full: no vectors, k = min(m, n) of them, or square U and V")  //
      ("preconditioning", po::value(&a.preconditioning)->default_value("auto")->value_name("HOW"),
       "auto, none, qr or qrcp (QR with column pivoting)")                                                            //
      ("accurate", po::bool_switch(&a.options.accurate), "rotations with half the rounding errors, a little slower")  //
      ("canonical-signs", po::bool_switch(&a.options.canonical_signs),
       "the largest element of each column of U is positive")  //
      ("max-sweeps",
       po::value(&a.options.max_sweeps)->default_value(30)->value_name("N")->notifier(at_least("--max-sweeps", 1)),
       "a matrix that needs more has status 1, >= 1");
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
  all.add(files).add(what).add(random);
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
  if (a.rank == 0)
    require_absent(session.line(), {"oversampling", "power-iterations", "seed"}, "needs --rank");
  else
    require_absent(session.line(), {"preconditioning", "accurate", "max-sweeps"},
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
}

template <class Real>
io::array<Real> read_all(const arguments& a) {
  const io::file_format format = io::format_of(a.input);
  if (format != io::file_format::hdf5 && !a.dataset.empty())
    throw FileError(a.input, "has no datasets: --dataset is for .h5 files");
  if (format == io::file_format::npy) return io::read_npy<Real>(a.input);
  if (format == io::file_format::hdf5) return io::read_hdf5<Real>(a.input, a.dataset);
  auto table = io::read_csv<Real>(a.input).values;
  return io::array<Real>{{table.rows, table.cols}, std::move(table.data)};
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
  for (const std::int64_t one : shape) words += text(one, " ");
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
                const std::vector<double>& residual, bool is_batch) {
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
  session.write_attributes(out);
  out.commit();
}

template <class Real>
void write_csv(const arguments& a, const svd::decomposition<Real>& d) {
  io::atomic_file out(a.output);
  for (std::int64_t b = 0; b < d.batch; ++b) {
    std::ostringstream line;
    line << std::setprecision(17);
    for (std::int64_t j = 0; j < d.values; ++j) line << (j > 0 ? "," : "") << double(d.singular_value(b, j));
    line << "\n";
    out.write(line.str());
  }
  out.commit();
}

template <class Real>
void report(session& session, const svd::decomposition<Real>& d, const std::vector<double>& residual) {
  const auto count = [&](std::int32_t code) { return std::count(d.status.begin(), d.status.end(), code); };
  session.result("batch", d.batch);
  session.result("m", d.rows);
  session.result("n", d.cols);
  session.result("values", d.values);
  session.result("ran_on", d.ran_on.spelling());
  session.result("not_converged", count(svd::not_converged));
  session.result("not_finite", count(svd::not_finite));
  session.result("most_sweeps", d.batch > 0 ? *std::max_element(d.sweeps.begin(), d.sweeps.end()) : 0);
  if (count(svd::not_converged) > 0)
    session.warn(text(count(svd::not_converged), " matrices did not converge; they have status 1"));
  if (count(svd::not_finite) > 0)
    session.warn(text(count(svd::not_finite), " matrices hold nan or inf; they have status 2 and results nan"));
  if (d.batch > 0 && d.values > 0) {
    session.result("largest", double(d.s[0]));
    session.say() << "largest singular value of the first matrix: " << d.s[0] << "\n";
  }
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
  wide.ran_on = d.ran_on;
  return wide;
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
  if constexpr (std::is_same_v<Stored, Real>) {
    if (a.rank > 0) return svd::randomised<Real>(matrices, a.random, session.device());
    return {decompose_stored<Real>(session, a, matrices), {}};
  } else {
    const std::int64_t size = matrices.batch() * matrices.rows() * matrices.cols();
    std::vector<Stored> rounded;
    rounded.reserve(size);
    for (std::int64_t i = 0; i < size; ++i) rounded.push_back(Stored(matrices.data()[i]));
    const batch_view<const Stored> view(rounded.data(), matrices.batch(), matrices.rows(), matrices.cols());
    return {widened(decompose_stored<Stored>(session, a, view)), {}};
  }
}

template <class Stored>
void decompose_file(session& session, const arguments& a) {
  using Real = accumulator_t<Stored>;
  const matrices<Real> input = read_batch<Real>(session, a);
  session.say() << input.batch << (input.batch == 1 ? " matrix of " : " matrices of ") << input.rows << " x "
                << input.cols << " on " << session.device().name() << std::endl;
  const batch_view<const Real> view(input.own.data.data(), input.own_batch, input.rows, input.cols);
  svd::randomised_decomposition<Real> result;
  session.timed("decompose", [&] { result = decompose<Stored, Real>(session, a, view); });
  if (!session.is_root()) return;
  report(session, result.factors, result.residual);
  session.timed("write", [&] {
    if (io::format_of(a.output) == io::file_format::csv)
      write_csv(a, result.factors);
    else
      write_hdf5(session, a, result.factors, result.residual, input.is_batch);
  });
  session.say() << a.output << " written after " << std::setprecision(3) << session.timer().total() << " s\n";
}

const program about{"quintet-svd",
                    "singular value decomposition of one matrix or of many small ones.",
                    "quintet-svd --input weights.npy --precision double --mode econ --output factors.h5",
                    {"auto", "float", "double", "half", "bfloat16"},
                    true};

void run(session& session, arguments& a) {
  parse_words(a, session);
  require_one_process(session, {"rank"});
  require_distinct_files({{"--input", a.input}}, {{"--output", a.output}, {"--json", session.line().common.json}});
  with_storage(session, {{a.input, a.dataset}}, [&]<class Storage>() { decompose_file<Storage>(session, a); });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
