// The extension module quintet._mpi: the families over ranks of MPI. A communicator comes as the Fortran handle that
// mpi4py's py2f() gives; what users call is in quintet/mpi.py. A copy of the library is inside, as in quintet._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "call.hpp"
#include "clusterings.hpp"
#include "errors.hpp"
#include "quintet/mpi/hdbscan.hpp"
#include "quintet/mpi/lorentz.hpp"
#include "quintet/mpi/neighbours.hpp"
#include "quintet/mpi/poincare.hpp"
#include "quintet/mpi/spgemm.hpp"
#include "quintet/mpi/svd.hpp"
#include "sparse_matrices.hpp"
#include "svd_options.hpp"

namespace quintet::python {

namespace {

using mpi::communicator;

communicator* communicator_of(int handle) {
  int is_there = 0;
  MPI_Initialized(&is_there);
  if (!is_there) throw mpi::MpiError("MPI is not initialised: import mpi4py.MPI first");
  return new communicator(MPI_Comm_f2c(MPI_Fint(handle)));
}

std::string library_version() {
  char words[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(words, &length);
  return std::string(words, std::size_t(length));
}

/// Throws on all ranks where one gives words: those of the lowest one.
void agree(communicator& ranks, const nb::object& words) {
  const bool is_wrong = !words.is_none();
  const std::string text = is_wrong ? nb::cast<std::string>(words) : std::string();
  run([&] {
    ranks.run_collectively([&] {
      if (is_wrong) throw InvalidArgument(text);
    });
  });
}

/// Number of the first of this rank's rows among those of all; the type of all has to be one.
std::int64_t first_row(communicator& ranks, const array& rows, const char* name) {
  ranks.require_same(text("the type of ", name), name_of(rows.type()));
  const std::vector<std::int64_t> counts = ranks.allgather_counts(rows.shape(0));
  std::int64_t first = 0;
  for (int r = 0; r < ranks.rank(); ++r) first += counts[std::size_t(r)];
  return first;
}

mpi::checkpoint_options checkpoint_of(const nb::tuple& t) {
  return {nb::cast<std::string>(t[0]), nb::cast<double>(t[1]), nb::cast<bool>(t[2])};
}

/// Labels, probabilities and scores of the own rows, and on rank 0 everything.
nb::tuple cluster_rows(communicator& ranks, const array& points, nb::handle options, nb::handle progress,
                       const nb::tuple& checkpoint, const std::string& device) {
  const cluster_options settings = options_of(options);
  const mpi::checkpoint_options saved = checkpoint_of(checkpoint);
  auto found = run(progress, [&](const progress_callback& report) {
    const std::int64_t first = first_row(ranks, points, "X");
    return mpi::hdbscan::cluster(ranks, points.rows(), first, settings, Device::parse(device), report, saved);
  });
  const nb::object whole = ranks.is_root() ? nb::object(dict_of(std::move(found.whole))) : nb::none();
  return nb::make_tuple(to_numpy(std::move(found.labels)), to_numpy(std::move(found.probabilities)),
                        to_numpy(std::move(found.outlier_scores)), whole);
}

nb::dict tree_of_rows(communicator& ranks, const array& points, nb::handle options, nb::handle progress,
                      const nb::tuple& checkpoint, const std::string& device) {
  const auto settings = spanning_options_of<spanning_tree_options>(options);
  const mpi::checkpoint_options saved = checkpoint_of(checkpoint);
  return dict_of(run(progress, [&](const progress_callback& report) {
    const std::int64_t first = first_row(ranks, points, "X");
    return mpi::hdbscan::spanning_tree(ranks, points.rows(), first, settings, Device::parse(device), report, saved);
  }));
}

nb::tuple nearest(communicator& ranks, const array& points, const array& queries, std::int64_t k,
                  const std::string& metric, double parameter, const std::string& device) {
  const neighbours::options how{metric_of(metric, parameter)};
  return with_storage(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto view = points.matrix<const T>(), rows = queries.matrix<const T>();
    auto found = run([&] {
      const std::int64_t first = first_row(ranks, points, "points");
      return queries.present() ? mpi::neighbours::nearest<T>(ranks, rows, view, k, how, Device::parse(device))
                               : mpi::neighbours::nearest<T>(ranks, view, first, k, how, Device::parse(device));
    });
    return nb::make_tuple(to_numpy(std::move(found.distance), {found.queries, found.k}),
                          to_numpy(std::move(found.index), {found.queries, found.k}),
                          to_numpy(std::move(found.invalid_queries)), to_numpy(std::move(found.invalid_points)),
                          found.pairs_evaluated);
  });
}

nb::tuple poincare_nearest(communicator& ranks, const array& queries, const array& points, std::int64_t k,
                           double curvature, bool strict, bool exclude_self, const std::string& device) {
  poincare::nearest_options options;
  options.curvature = curvature;
  options.strict = strict;
  options.exclude_self = exclude_self;
  return with_storage(queries.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = queries.matrix<const T>(), y = points.matrix<const T>();
    auto found = run([&] {
      first_row(ranks, queries, "x");
      return mpi::poincare::nearest<T>(ranks, x, y, k, options, Device::parse(device));
    });
    return nb::make_tuple(to_numpy(std::move(found.index), {x.rows(), k}),
                          to_numpy(std::move(found.distance), {x.rows(), k}));
  });
}

void poincare_distances(communicator& ranks, const array& queries, const array& points, const array& out,
                        int expression, double curvature, bool strict, const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula(expression), strict};
  run([&] {
    first_row(ranks, queries, "x");
    mpi::poincare::distances(ranks, queries.rows(), points.rows(), out.output_rows(), options, Device::parse(device));
  });
}

void lorentz_distances(communicator& ranks, const array& queries, const array& points, const array& out, int form,
                       std::optional<double> tolerance, double curvature, bool strict, const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), tolerance, strict};
  run([&] {
    first_row(ranks, queries, "x");
    mpi::lorentz::distances(ranks, queries.rows(), points.rows(), out.output_rows(), options, Device::parse(device));
  });
}

/// Of the own matrices: U, S, V, status and sweeps.
nb::tuple svd_of(communicator& ranks, const array& a, const nb::capsule& held, const std::string& device) {
  const svd::options& options = svd_options_of(held);
  return with_storage(a.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto matrices = a.batch<const T>();
    auto f = run([&] {
      first_row(ranks, a, "a");
      return mpi::svd::decompose_own<T>(ranks, matrices, options, Device::parse(device));
    });
    return nb::make_tuple(to_numpy(std::move(f.u), {f.batch, f.rows, f.u_cols}),
                          to_numpy(std::move(f.s), {f.batch, f.values}),
                          to_numpy(std::move(f.v), {f.batch, f.cols, f.v_cols}), to_numpy(std::move(f.status)),
                          to_numpy(std::move(f.sweeps)));
  });
}

nb::dict dict_of(const mpi::spgemm::report& product_report) {
  nb::dict d;
  d["products"] = product_report.products;
  d["own_products"] = product_report.own_products;
  d["fetched_rows"] = product_report.fetched_rows;
  d["row_volume"] = product_report.row_volume;
  d["grid_volume"] = product_report.grid_volume;
  d["used_grid"] = product_report.used_grid;
  d["grid"] = nb::make_tuple(product_report.grid_rows, product_report.grid_cols);
  d["own_chunks"] = product_report.own_chunks;
  d["ran_on"] = product_report.ran_on.spelling();
  return d;
}

/// Own rows of the product, the number of the first, and the report.
nb::tuple multiply_rows(communicator& ranks, const nb::tuple& a, const nb::tuple& b, const std::string& semiring,
                        std::int64_t budget, bool balance, int layout, const std::string& device) {
  const operand left(a), right(b);
  return with_semiring(semiring, left, [&](auto value, auto index, auto ring) {
    using Value = typename decltype(value)::type;
    using Index = typename decltype(index)::type;
    using Semiring = typename decltype(ring)::type;
    const auto x = left.view<Value, Index>(), y = right.view<Value, Index>();
    mpi::spgemm::options settings;
    settings.budget = budget;
    settings.balance = balance;
    settings.layout = mpi::spgemm::layout(layout);
    mpi::spgemm::report product_report;
    auto c = run([&] {
      ranks.require_same("the type of the matrices",
                         text(name_of(left.values.type()), " ", name_of(left.columns.type())));
      return mpi::spgemm::multiply<Semiring>(ranks, x, y, settings, Device::parse(device), &product_report);
    });
    return nb::make_tuple(tuple_of(std::move(c.block)), c.first_row, dict_of(product_report));
  });
}

nb::list traffic(const communicator& ranks) {
  nb::list all;
  for (const mpi::phase_traffic& p : ranks.traffic())
    all.append(nb::make_tuple(p.phase, p.sent, p.received, p.messages, p.reduced, p.collectives, p.seconds));
  return all;
}

}  // namespace

}  // namespace quintet::python

NB_MODULE(_mpi, m) {
  using namespace quintet::python;
  using nb::arg;
  // Types that both modules know.
  nb::module_::import_("quintet._core");
  bind_errors(m);
  end_calls_at_exit();
  m.def("library_version", &library_version);
  nb::class_<communicator, quintet::process_group>(m, "Communicator")
      .def_prop_ro("rank", &communicator::rank)
      .def_prop_ro("size", &communicator::size)
      .def_prop_ro("hosts", &communicator::hosts)
      .def("use_threads",
           [](communicator& ranks) {
             const std::string warning = run([&] { return ranks.use_threads(); });
             return nb::make_tuple(ranks.threads(), warning);
           })
      .def("agree", &agree, arg("words").none())
      .def("maximum", [](communicator& ranks, std::int64_t mine) { return run([&] { return ranks.maximum(mine); }); })
      .def("sum", [](communicator& ranks, std::int64_t mine) { return run([&] { return ranks.sum(mine); }); })
      .def("traffic", &traffic);
  m.def("communicator", &communicator_of, nb::rv_policy::take_ownership, arg("handle"));
  m.def("even_rows", [](std::int64_t n, int rank, int size) {
    const auto rows = quintet::mpi::even_rows(n, rank, size);
    return nb::make_tuple(rows.first, rows.count);
  });
  m.def("set_threads", [](int threads) { own_threads = threads; });
  m.def("cluster", &cluster_rows, arg("ranks"), arg("points"), arg("options"), arg("progress").none(),
        arg("checkpoint"), arg("device"));
  m.def("spanning_tree", &tree_of_rows, arg("ranks"), arg("points"), arg("options"), arg("progress").none(),
        arg("checkpoint"), arg("device"));
  m.def("nearest", &nearest, arg("ranks"), arg("points"), arg("queries").none(), arg("k"), arg("metric"),
        arg("parameter"), arg("device"));
  m.def("poincare_nearest", &poincare_nearest, arg("ranks"), arg("x"), arg("points"), arg("k"), arg("curvature"),
        arg("strict"), arg("exclude_self"), arg("device"));
  m.def("poincare_distances", &poincare_distances, arg("ranks"), arg("x"), arg("points"), arg("out"), arg("formula"),
        arg("curvature"), arg("strict"), arg("device"));
  m.def("lorentz_distances", &lorentz_distances, arg("ranks"), arg("x"), arg("points"), arg("out"), arg("form"),
        arg("tolerance").none(), arg("curvature"), arg("strict"), arg("device"));
  m.def("svd", &svd_of, arg("ranks"), arg("a"), arg("options"), arg("device"));
  m.def("multiply", &multiply_rows, arg("ranks"), arg("a"), arg("b"), arg("semiring"), arg("budget"), arg("balance"),
        arg("layout"), arg("device"));
}
