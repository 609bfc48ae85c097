// quintet-spgemm: multiplies sparse matrices of files.
#include "quintet/spgemm/multiply.hpp"

#include <cmath>
#include <complex>
#include <optional>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "quintet/io/complex_file.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/complex_product.hpp"
#include "quintet/spgemm/gram.hpp"
#include "quintet/spgemm/multiply_add.hpp"
#include "quintet/spgemm/summary.hpp"
#include "quintet/spgemm/top.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "support/driver.hpp"
#include "support/sparse.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/files.hpp"
#include "quintet/mpi/spgemm.hpp"
#endif

namespace quintet::driver {

namespace {

struct arguments {
  std::string a, b, add, dataset, output, semiring;
  double alpha = 1, beta = 1;
  bool a_transposed = false, b_transposed = false, conjugate = false, checksums = false, gram = false, upper = false;
  std::int64_t budget = 0;  // 0: not given
  std::int64_t top = 0;     // 0: not given
  std::optional<double> threshold;
  bool by_value = false;
  spgemm::options options;
};

po::options_description describe(arguments& a) {
  po::options_description all("Options");
  all.add_options()                                                                                          //
      ("a", po::value(&a.a)->required()->value_name("FILE"), "matrix A: .mtx, .mtx.gz, .npz, .h5 or .h5ad")  //
      ("b", po::value(&a.b)->value_name("FILE"), "matrix B; by default A")                                   //
      ("a-transposed", po::bool_switch(&a.a_transposed), "multiplies the transpose of A")                    //
      ("b-transposed", po::bool_switch(&a.b_transposed), "multiplies by the transpose of B")                 //
      ("conjugate", po::bool_switch(&a.conjugate),
       "with --a-transposed or --b-transposed: the conjugate transposes of complex matrices")              //
      ("add", po::value(&a.add)->value_name("FILE"), "matrix C: computes alpha A B + beta C")              //
      ("alpha", po::value(&a.alpha)->default_value(1)->value_name("NUMBER"), "with --add: factor of A B")  //
      ("beta", po::value(&a.beta)->default_value(1)->value_name("NUMBER"), "with --add: factor of C")      //
      ("gram", po::bool_switch(&a.gram),
       "the transpose of A times A; with --b-transposed A times its transpose")  //
      ("upper", po::bool_switch(&a.upper),
       "with --gram: only entries with a column >= the row, which takes half of the multiplications")  //
      ("dataset", po::value(&a.dataset)->value_name("NAME"),
       "group of an .h5 input that holds row_pointers, columns, values and shape, or indptr, indices and data; by "
       "default "
       "the file itself, X or matrix")  //
      ("semiring", po::value(&a.semiring)->default_value("plus-times")->value_name("NAME"),
       "plus-times, min-plus (shortest paths; NaN is ignored) or or-and (reachability)")  //
      ("budget", po::value(&a.budget)->value_name("BYTES")->notifier([](std::int64_t bytes) {
        require_argument(bytes > 0, "--budget", bytes, "> 0");
      }),
       "computes the result in blocks of rows of at most this many bytes; --output is then an .mtx file")  //
      ("top", po::value(&a.top)->value_name("K")->notifier([](std::int64_t count) {
        require_argument(count > 0, "--top", count, "> 0");
      }),
       "keeps the K largest entries of each row (min-plus: the smallest); the whole product is never in memory")  //
      ("threshold", po::value<double>()->value_name("VALUE")->notifier([&a](double value) { a.threshold = value; }),
       "with --top: leaves out smaller values (min-plus: larger ones)")  //
      ("by-value", po::bool_switch(&a.by_value),
       "with --top: the entries of a row by value, not by column")                                                 //
      ("checksums", po::bool_switch(&a.checksums), "adds struct_ij, a checksum of the structure, to the results")  //
      ("output", po::value(&a.output)->value_name("FILE")->notifier([](const std::string& path) {
        io::check_sparse_output(path);
      }),
       "the product: .mtx, .mtx.gz, .npz or .h5; without it nothing is written");
  return all;
}

template <class Real>
using matrix = spgemm::csr<Real, std::int64_t>;

/// What the product is, however it was computed.
void report_product(session& session, const arguments& a, const spgemm::report& report,
                    const spgemm::matrix_summary& sums) {
  session.result("rows", report.rows);
  session.result("cols", report.cols);
  session.result("nnz", report.nnz);
  session.result("products", report.products);
  session.result("sum", sums.sum);
  session.result("sum_abs", sums.sum_abs);
  session.result("frobenius", sums.frobenius);
  session.result("weighted", sums.weighted);
  if (a.checksums) session.result("struct_ij", sums.struct_ij);
  session.say() << report.rows << " x " << report.cols << ", " << report.nnz << " entries from " << report.products
                << " products; sum " << sums.sum << "\n";
}

void report_result(session& session, const arguments& a, const spgemm::report& report,
                   const spgemm::matrix_summary& sums) {
  report_product(session, a, report, sums);
  session.result("upper_bound", report.upper_bound);
  session.result("predicted", report.predicted);
  session.result("retries", report.retries);
  session.result("peak_bytes", report.peak_bytes);
  session.result("ran_on_host", report.ran_on_host);
  session.result("ran_on", report.ran_on.spelling());
  nlohmann::ordered_json strategies = nlohmann::ordered_json::object();
  for (int s = 0; s < spgemm::strategies; ++s)
    strategies[std::string(name_of(spgemm::strategy(s)))] = {{"rows", report.rows_by_strategy[std::size_t(s)]},
                                                             {"products", report.products_by_strategy[std::size_t(s)]}};
  session.result("strategies", strategies);
  session.timer().add("analysis", report.analysis_seconds);
  session.timer().add("prediction", report.prediction_seconds);
  session.timer().add("product", report.product_seconds);
  session.timer().add("assembly", report.assembly_seconds);
}

template <class Real>
void write_product(session& session, const arguments& a, const matrix<Real>& c) {
  if (a.output.empty()) return;
  session.timed("write", [&] {
    if (a.budget > 0) {  // the form that a result of blocks has
      io::sparse_block_writer blocks(a.output, c.rows, c.cols);
      blocks.write(0, c.view());
      return blocks.commit();
    }
    if (!a.output.ends_with(".h5") && !a.output.ends_with(".hdf5")) return io::write_sparse(a.output, c.view());
    io::hdf5_writer out(a.output);
    io::write_csr(out, c.view());
    session.write_attributes(out);
    out.commit();
  });
  session.say() << a.output << " written\n";
}

#ifdef QUINTET_HAS_MPI
/// The same by several processes, each with some rows of all three matrices; the first one gathers the result.
template <class Semiring, class Real>
void multiply_dealt_files(session& session, const arguments& a, mpi::communicator& ranks) {
  namespace mpi = mpi;
  const auto read = [&](const std::string& path) {
    io::sparse_read_report report;
    auto rows = session.timed(
        "read", [&] { return mpi::read_sparse_rows<Real, std::int64_t>(ranks, path, a.dataset, &report); });
    warn_of(session, path, report);
    return rows;
  };
  const auto first = read(a.a);
  const auto other = a.b.empty() ? first : read(a.b);
  mpi::spgemm::options options{.product = a.options};
  if (a.budget > 0) options.budget = a.budget;
  mpi::spgemm::report report;
  const auto c = session.timed("product", [&] {
    return mpi::spgemm::multiply<Semiring>(ranks, first.block.view(), other.block.view(), options, session.device(),
                                           &report);
  });
  const auto all = session.timed("gather", [&] { return mpi::spgemm::gather(ranks, c.block.view()); });
  ranks.run_collectively([&] {
    if (!session.is_root()) return;
    spgemm::report whole;
    whole.rows = all.rows;
    whole.cols = all.cols;
    whole.nnz = all.nnz();
    whole.products = report.products;
    whole.ran_on = report.ran_on;
    const auto sums = session.timed("checksums", [&] { return summarise(all.view()); });
    report_product(session, a, whole, sums);
    session.result("ran_on", whole.ran_on.spelling());
    session.result("layout", report.used_grid ? text(report.grid_rows, " x ", report.grid_cols) : "rows");
    session.result("fetched_rows", report.fetched_rows);
    session.result("row_volume", report.row_volume);
    session.result("grid_volume", report.grid_volume);
    write_product(session, a, all);
  });
}
#endif

/// A * B in blocks of rows of at most a.budget bytes.
template <class Semiring, class Real>
void multiply_in_blocks_of_rows(session& session, const arguments& a, const spgemm::csr_view<Real, std::int64_t>& left,
                                const spgemm::csr_view<Real, std::int64_t>& right) {
  spgemm::report report;
  spgemm::matrix_summary sums;
  std::optional<io::sparse_block_writer> out;
  if (!a.output.empty()) out.emplace(a.output, left.rows, right.cols);
  spgemm::multiply_in_blocks<Semiring, Real, std::int64_t>(
      left, right, a.budget,
      [&](spgemm::result_block<Real, std::int64_t>&& piece) {
        session.timed("checksums", [&] { sums = summarise(piece.block.view(), piece.first_row, sums); });
        if (out) session.timed("write", [&] { out->write(piece.first_row, piece.block.view()); });
        return true;
      },
      a.options, session.device(), &report);
  report_result(session, a, report, sums);
  if (out) out->commit();
  if (out) session.say() << a.output << " written\n";
}

/// A * B, its first entries, or its sum with the matrix of --add.
template <class Semiring, class Real>
matrix<Real> product_of(session& session, const arguments& a, const spgemm::csr_view<Real, std::int64_t>& left,
                        const spgemm::csr_view<Real, std::int64_t>& right, spgemm::report& report) {
  if constexpr (std::is_same_v<Semiring, spgemm::plus_times>) {
    if (!a.add.empty()) {
      const auto added = read_sparse<Real>(session, a.add, a.dataset);
      return multiply_add(Real(a.alpha), left, right, Real(a.beta), added.view(), a.options, session.device(), &report);
    }
  }
  if (a.top == 0) return multiply<Semiring>(left, right, a.options, session.device(), &report);
  const spgemm::top_selection selection{.count = a.top, .threshold = a.threshold, .by_value = a.by_value};
  return spgemm::multiply_top<Semiring>(left, right, selection, a.options, session.device(), &report);
}

template <class Semiring, class Real>
void multiply_files(session& session, const arguments& a) {
#ifdef QUINTET_HAS_MPI
  if (session.ranks() != nullptr) return multiply_dealt_files<Semiring, Real>(session, a, *session.ranks());
#endif
  const auto first = read_sparse<Real>(session, a.a, a.dataset);
  spgemm::report report;
  if (a.gram) {
    const auto c = gram<Semiring>(first.view(), a.b_transposed ? spgemm::gram_side::rows : spgemm::gram_side::columns,
                                  a.upper ? spgemm::gram_part::upper : spgemm::gram_part::whole, a.options,
                                  session.device(), &report);
    report_result(session, a, report, session.timed("checksums", [&] { return summarise(c.view()); }));
    return write_product(session, a, c);
  }
  matrix<Real> other, turned_a, turned_b;
  if (!a.b.empty()) other = read_sparse<Real>(session, a.b, a.dataset);
  const auto turned = [&](const auto& m) {
    return session.timed("transpose",
                         [&] { return transpose(m, spgemm::memory_source::standard(), session.device()); });
  };
  auto left = first.view(), right = a.b.empty() ? first.view() : other.view();
  if (a.b_transposed) right = (turned_b = turned(right)).view();
  if (a.a_transposed) left = (turned_a = turned(left)).view();
  if (a.budget > 0) return multiply_in_blocks_of_rows<Semiring, Real>(session, a, left, right);
  const auto c = product_of<Semiring, Real>(session, a, left, right, report);
  report_result(session, a, report, session.timed("checksums", [&] { return summarise(c.view()); }));
  write_product(session, a, c);
}

/// Numbers of a complex matrix: of its real part, and of the magnitudes.
template <class Real>
spgemm::matrix_summary summarise_complex(session& session, const spgemm::complex_csr<Real, std::int64_t>& c) {
  std::vector<Real> real, imaginary;
  long double sum_abs = 0;
  for (const std::complex<Real>& value : c.values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
    sum_abs += std::hypot((long double)(value.real()), (long double)(value.imag()));
  }
  const auto part = [&](const std::vector<Real>& values) {
    return summarise(
        spgemm::csr_view<Real, std::int64_t>{c.rows, c.cols, c.row_pointers.data(), c.columns.data(), values.data()});
  };
  spgemm::matrix_summary sums = part(real);
  const spgemm::matrix_summary imaginary_sums = part(imaginary);
  sums.sum_abs = double(sum_abs);
  sums.frobenius = std::hypot(sums.frobenius, imaginary_sums.frobenius);
  session.result("sum_imaginary", imaginary_sums.sum);
  session.result("weighted_imaginary", imaginary_sums.weighted);
  session.say() << "complex values; sum of the imaginary parts " << imaginary_sums.sum << "\n";
  return sums;
}

template <class Real>
void multiply_complex_files(session& session, const arguments& a) {
  using complex_matrix = spgemm::complex_csr<Real, std::int64_t>;
  const auto read = [&](const std::string& path) {
    io::sparse_read_report report;
    complex_matrix m =
        session.timed("read", [&] { return io::read_complex_sparse<Real, std::int64_t>(path, &report); });
    warn_of(session, path, report);
    return m;
  };
  const complex_matrix first = read(a.a);
  const complex_matrix other = a.b.empty() ? complex_matrix{} : read(a.b);
  const auto turned = a.conjugate ? spgemm::operand_form::adjoint : spgemm::operand_form::transposed;
  const spgemm::complex_forms forms{a.a_transposed ? turned : spgemm::operand_form::plain,
                                    a.b_transposed ? turned : spgemm::operand_form::plain};
  spgemm::report report;
  const complex_matrix c = multiply_complex(first.view(), a.b.empty() ? first.view() : other.view(), forms, a.options,
                                            session.device(), &report);
  report_result(session, a, report, session.timed("checksums", [&] { return summarise_complex(session, c); }));
  if (a.output.empty()) return;
  session.timed("write", [&] { io::write_complex_sparse(a.output, c.view()); });
  session.say() << a.output << " written\n";
}

/// Whether a file holds complex values. Then all that is for real ones is refused.
bool is_complex_product(session& session, const arguments& a, bool is_plus_times) {
  if (!io::has_complex_values(a.a) && (a.b.empty() || !io::has_complex_values(a.b))) return false;
  require_absent(session.line(), {"add", "budget", "gram", "top", "upper"}, "does not go with complex values");
  if (!is_plus_times)
    throw InvalidArgument(text("complex values need --semiring plus-times (--semiring=", a.semiring, ")"));
  if (!a.output.empty() && !a.output.ends_with(".mtx") && !a.output.ends_with(".mtx.gz"))
    throw InvalidArgument(
        text("--output must be an .mtx or .mtx.gz file for complex values (--output=", a.output, ")"));
  if (session.ranks() != nullptr) throw InvalidArgument("complex values are multiplied by one process");
  return true;
}

const program about{"quintet-spgemm",
                    "the product of two sparse matrices.",
                    "quintet-spgemm --a graph.mtx.gz --b-transposed --output product.h5 --json summary.json",
                    {"double", "float"},
                    true};

void run(session& session, arguments& a) {
  require_one_process(session, {"a-transposed", "b-transposed", "add", "gram", "top"});
  require_distinct_files({{"--a", a.a}, {"--b", a.b}, {"--add", a.add}},
                         {{"--output", a.output}, {"--json", session.line().common.json}});
  if (session.line().common.json.empty())
    require_absent(session.line(), {"checksums"}, "needs --json, where its numbers are written");
  if (a.gram)
    require_absent(session.line(), {"a-transposed", "add", "b", "budget", "top"}, "does not go with --gram");
  else
    require_absent(session.line(), {"upper"}, "needs --gram");
  if (a.top > 0)
    require_absent(session.line(), {"budget"}, "does not go with --top, which needs no memory for the whole product");
  else
    require_absent(session.line(), {"threshold", "by-value"}, "needs --top");
  if (a.conjugate && !a.a_transposed && !a.b_transposed)
    throw InvalidArgument("--conjugate needs --a-transposed or --b-transposed");
  if (a.add.empty())
    require_absent(session.line(), {"alpha", "beta"}, "needs --add");
  else
    require_absent(session.line(), {"budget", "top"}, "does not go with --add");
  if (a.budget > 0 && !a.output.empty() && !a.output.ends_with(".mtx"))
    throw InvalidArgument(
        text("--output must be an .mtx file with --budget, where the number of entries is known only at "
             "the end (--output=",
             a.output, ")"));
  enum class ring { plus_times, min_plus, or_and };
  const auto semiring =
      choice<ring>("--semiring", a.semiring,
                   {{"plus-times", ring::plus_times}, {"min-plus", ring::min_plus}, {"or-and", ring::or_and}});
  if (!a.add.empty() && semiring != ring::plus_times)
    throw InvalidArgument(text("--add needs --semiring plus-times (--semiring=", a.semiring, ")"));
  const bool is_complex = is_complex_product(session, a, semiring == ring::plus_times);
  with_precision(session, {}, [&]<class Real>() {
    if (is_complex) return multiply_complex_files<Real>(session, a);
    if (semiring == ring::plus_times) multiply_files<spgemm::plus_times, Real>(session, a);
    if (semiring == ring::min_plus) multiply_files<spgemm::min_plus, Real>(session, a);
    if (semiring == ring::or_and) multiply_files<spgemm::or_and, Real>(session, a);
  });
}

}  // namespace

}  // namespace quintet::driver

int main(int argc, char** argv) {
  using namespace quintet::driver;
  return run_driver<arguments>(argc, argv, about, describe, run);
}
