// Singular value decompositions and what they are for. Arrays are batches [B, m, n]; outputs are allocated by the
// caller.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "options.hpp"
#include "quintet/svd/applications.hpp"
#include "quintet/svd/certify.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/kabsch.hpp"
#include "quintet/svd/randomised.hpp"
#include "quintet/svd/symmetric.hpp"
#include "svd_options.hpp"

namespace quintet::python {

namespace {

constexpr auto option_list = [](auto visit) {
  visit("vectors", &svd::options::vectors);
  visit("top", &svd::options::top);
  visit("preconditioning", &svd::options::preconditioning);
  visit("accurate", &svd::options::accurate);
  visit("canonical_signs", &svd::options::canonical_signs);
  visit("proper_rotations", &svd::options::proper_rotations);
  visit("max_sweeps", &svd::options::max_sweeps);
  visit("centre", &svd::options::centre);
  visit("part_of", &svd::options::part_of);
};

svd::any_factors factors(const array& u, const array& s, const array& v) {
  return {u.matrices(), v.matrices(), s.rows()};
}

/// -1 where the host cannot see it.
std::int64_t count_failures(const vector_view<std::int32_t>& status) {
  if (!status.device().shares_host_memory()) return -1;
  std::int64_t failed = 0;
  for (std::int64_t b = 0; b < status.size(); ++b) failed += status[b] != svd::ok;
  return failed;
}

/// Returns the number of matrices that failed; -1 where the host cannot see it. Absent status and sweeps are its own.
std::int64_t decompose_into(any_batch matrices, svd::outputs out, const svd::options& options, const Device& device) {
  const std::int64_t count = out.status.data() == nullptr ? matrices.batch : 0;
  std::int32_t few[2];
  std::vector<std::int32_t> many(count > 1 ? std::size_t(2 * count) : 0);
  if (count > 0) {
    std::int32_t* const own = count > 1 ? many.data() : few;
    out.status = {own, count};
    out.sweeps = {own + count, count};
  }
  run([&] { svd::decompose(matrices, out, options, device); });
  return count_failures(out.status);
}

/// `status`, `sweeps` and `means` may be absent.
std::int64_t decompose(const array& a, const array& u, const array& s, const array& v, const array& status,
                       const array& sweeps, const nb::capsule& options, const std::string& device, const array& means) {
  const svd::outputs out{u.output_matrices(),           v.output_matrices(),           s.output_rows(),
                         status.vector<std::int32_t>(), sweeps.vector<std::int32_t>(), means.output_rows()};
  return decompose_into(a.matrices(), out, svd_options_of(options), Device::parse(device));
}

/// The same of a tensor in memory of the host, in fewer arguments: `u`, `s` and `v` are addresses, of U [batch, m, p]
/// by columns, S, and V^T [batch, q, n] by columns, all contiguous.
std::int64_t decompose_tensor(const array& a, std::uintptr_t u, std::uintptr_t s, std::uintptr_t v, bool full) {
  const any_batch matrices = a.matrices();
  const std::int64_t batch = matrices.batch, m = matrices.rows, n = matrices.cols, k = std::min(m, n);
  const std::int64_t p = full ? m : k, q = full ? n : k;
  const scalar_type type = matrices.type;
  const svd::outputs out{{reinterpret_cast<void*>(u), type, batch, m, p, m * p, 1, m},
                         {reinterpret_cast<void*>(v), type, batch, n, q, n * q, q, 1},
                         {reinterpret_cast<void*>(s), accumulator_of(type), batch, k, k},
                         {},
                         {}};
  return decompose_into(matrices, out, {.vectors = full ? svd::vectors::full : svd::vectors::economy}, Device::best());
}

/// `v` and `status` may be absent. With `b`, the generalised problem. As many eigenvalues as `w` has columns, from
/// number `first` on. Returns as decompose_into().
std::int64_t eigen(const array& a, const array& w, const array& v, const array& status, bool upper,
                   const std::string& device, const array& b, bool positive, std::int64_t first) {
  const any_batch matrices = a.matrices();
  const any_output_batch vectors = v.output_matrices();
  svd::eigen_outputs out{w.output_rows(), vectors, status.vector<std::int32_t>()};
  std::vector<std::int32_t> own;
  if (out.status.data() == nullptr) {
    own.resize(std::size_t(matrices.batch));
    out.status = own;
  }
  const svd::eigen_options options{.triangle = upper ? svd::triangle::upper : svd::triangle::lower,
                                   .vectors = vectors.data != nullptr || vectors.rows > 0,
                                   .positive = positive,
                                   .first = first,
                                   .count = out.w.cols};
  run([&] {
    if (b.present())
      svd::eigen_generalised(matrices, b.matrices(), out, options, Device::parse(device));
    else
      svd::eigen(matrices, out, options, Device::parse(device));
  });
  return count_failures(out.status);
}

/// `u`, `v`: absent without vectors. Returns as decompose_into().
std::int64_t decompose_symmetric(const array& a, const array& u, const array& s, const array& v, const array& status,
                                 const array& sweeps, const std::string& device) {
  const any_output_batch left = u.output_matrices();
  const svd::outputs out{left, v.output_matrices(), s.output_rows(), status.vector<std::int32_t>(),
                         sweeps.vector<std::int32_t>()};
  const svd::eigen_options options{.vectors = left.data != nullptr || left.rows > 0};
  run([&] { svd::decompose_symmetric(a.matrices(), out, options, Device::parse(device)); });
  return count_failures(out.status);
}

/// `u` is None for eigenvalues, of which `upper` is the triangle that is read.
void certify(const array& a, const array& u, const array& s, const array& v, const array& bound, bool upper,
             const std::string& device) {
  const auto out = bound.vector<double>();
  run([&] {
    if (u.present())
      svd::certify(a.matrices(), factors(u, s, v), out, Device::parse(device));
    else
      svd::certify_eigen(a.matrices(), upper ? svd::triangle::upper : svd::triangle::lower, s.rows(), v.matrices(), out,
                         Device::parse(device));
  });
}

void residual_norm(const array& a, const array& x, const array& right, const array& out, const std::string& device) {
  run([&] {
    svd::residual_norm(a.matrices(), x.matrices(), right.matrices(), out.output_rows(), Device::parse(device));
  });
}

void pseudo_inverse(const array& u, const array& s, const array& v, const array& out, double tolerance,
                    const std::string& device) {
  run([&] {
    svd::pseudo_inverse(factors(u, s, v), out.output_matrices(), {.relative = tolerance}, Device::parse(device));
  });
}

void least_squares(const array& u, const array& s, const array& v, const array& right, const array& out,
                   double tolerance, const std::string& device) {
  run([&] {
    svd::least_squares(factors(u, s, v), right.matrices(), out.output_matrices(), {.relative = tolerance},
                       Device::parse(device));
  });
}

void low_rank(const array& u, const array& s, const array& v, std::int64_t rank, const array& out,
              const std::string& device) {
  run([&] { svd::low_rank_approximation(factors(u, s, v), rank, out.output_matrices(), Device::parse(device)); });
}

void polar(const array& u, const array& s, const array& v, const array& w, const array& h, const std::string& device) {
  run([&] { svd::polar(factors(u, s, v), w.output_matrices(), h.output_matrices(), Device::parse(device)); });
}

/// Returns the number of matrices where equal values may spoil the gradient; 0 where the host cannot see them.
std::int64_t gradient(const array& u, const array& s, const array& v, const array& gu, const array& gs, const array& gv,
                      const array& out, int policy, double tolerance, const std::string& device) {
  const svd::gradient_options options{svd::degeneracy(policy), tolerance};
  run([&] {
    svd::gradient(factors(u, s, v), gu.matrices(), gs.rows(), gv.matrices(), out.output_matrices(), options,
                  Device::parse(device));
  });
  const bool is_visible = s.rows().device.shares_host_memory();
  return is_visible ? svd::count_degenerate(factors(u, s, v), options) : 0;
}

void polar_gradient(const array& u, const array& s, const array& v, const array& gw, const array& gh, const array& out,
                    int policy, double tolerance, const std::string& device) {
  const svd::gradient_options options{svd::degeneracy(policy), tolerance};
  run([&] {
    svd::polar_gradient(factors(u, s, v), gw.matrices(), gh.matrices(), out.output_matrices(), options,
                        Device::parse(device));
  });
}

/// Whether all of rmsd is finite, as it is where all of the input is; true where the host cannot see it. A scale is
/// wanted where there is room for it.
bool kabsch_into(any_batch points, any_batch target, any_matrix weights, const svd::motion_outputs& out,
                 bool reflections, const Device& device) {
  const bool has_scale = out.scale.data != nullptr || out.scale.size > 0;
  run([&] { svd::kabsch(points, target, weights, out, {.reflections = reflections, .scale = has_scale}, device); });
  if (!out.rmsd.device.shares_host_memory()) return true;
  return with_real(out.rmsd.type, "rmsd", [&]<class T>() {
    bool finite = true;
    const vector_view<T> rmsd = out.rmsd.as<T>("rmsd");
    for (std::int64_t b = 0; b < rmsd.size(); ++b) finite &= std::isfinite(rmsd[b]);
    return finite;
  });
}

bool kabsch(const array& points, const array& target, const array& weights, const array& rotation,
            const array& translation, const array& rmsd, const array& scale, bool reflections,
            const std::string& device) {
  return kabsch_into(
      points.matrices(), target.matrices(), weights.rows(),
      {rotation.output_matrices(), translation.output_rows(), rmsd.output_values(), scale.output_values()}, reflections,
      Device::parse(device));
}

/// The same of tensors in memory of the host: the last four are addresses of contiguous outputs, 0 for no scale.
bool kabsch_tensors(const array& points, const array& target, const array& weights, std::uintptr_t rotation,
                    std::uintptr_t translation, std::uintptr_t rmsd, std::uintptr_t scale) {
  const any_batch p = points.matrices();
  const std::int64_t batch = p.batch, dim = p.cols;
  return kabsch_into(p, target.matrices(), weights.rows(),
                     {{reinterpret_cast<void*>(rotation), p.type, batch, dim, dim, dim * dim, dim, 1},
                      {reinterpret_cast<void*>(translation), p.type, batch, dim, dim},
                      {reinterpret_cast<void*>(rmsd), p.type, batch},
                      {reinterpret_cast<void*>(scale), p.type, scale == 0 ? 0 : batch}},
                     false, Device::best());
}

nb::tuple kabsch_gradient(const array& points, const array& target, const array& weights, const array& g_rotation,
                          const array& g_translation, const array& g_rmsd, const array& g_scale, bool reflections,
                          bool scale, const std::string& device) {
  return with_real(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto p = points.batch<const T>(), q = target.batch<const T>(), gr = g_rotation.batch<const T>();
    const auto w = weights.matrix<const T>(), gt = g_translation.matrix<const T>();
    const auto gs = g_rmsd.vector<const T>(), gc = g_scale.vector<const T>();
    const svd::kabsch_options options{.reflections = reflections, .scale = scale};
    auto g = run([&] { return svd::kabsch_gradient<T>(p, q, w, gr, gt, gs, options, Device::parse(device), gc); });
    return nb::make_tuple(to_numpy(std::move(g.points), {p.batch(), p.rows(), p.cols()}),
                          to_numpy(std::move(g.target), {p.batch(), p.rows(), p.cols()}));
  });
}

nb::tuple randomised(const array& a, std::int64_t rank, std::int64_t oversampling, std::int64_t power_iterations,
                     std::uint64_t seed, bool canonical_signs, const std::string& device) {
  const svd::randomised_options options{rank, oversampling, power_iterations, seed, canonical_signs};
  return with_real(a.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto matrices = a.batch<const T>();
    auto r = run([&] { return svd::randomised(matrices, options, Device::parse(device)); });
    auto& f = r.factors;
    return nb::make_tuple(to_numpy(std::move(f.u), {f.batch, f.rows, f.u_cols}),
                          to_numpy(std::move(f.s), {f.batch, f.values}),
                          to_numpy(std::move(f.v), {f.batch, f.cols, f.v_cols}), to_numpy(std::move(r.residual)),
                          to_numpy(std::move(f.status)), to_numpy(std::move(f.sweeps)));
  });
}

}  // namespace

void bind_svd(nb::module_& m) {
  m.def(
      "svd_options", [](nb::handle options) { return to_capsule(options_from<svd::options>(option_list, options)); },
      nb::arg("options"));
  m.def("svd_decompose", &decompose, nb::arg("a"), nb::arg("u").none(), nb::arg("s"), nb::arg("v").none(),
        nb::arg("status").none(), nb::arg("sweeps").none(), nb::arg("options"), nb::arg("device") = "auto",
        nb::arg("means").none() = nb::none());
  m.def("svd_decompose_tensor", &decompose_tensor, nb::arg("a"), nb::arg("u"), nb::arg("s"), nb::arg("v"),
        nb::arg("full"));
  m.def("svd_eigen", &eigen, nb::arg("a"), nb::arg("w"), nb::arg("v").none(), nb::arg("status").none(),
        nb::arg("upper"), nb::arg("device") = "auto", nb::arg("b").none() = nb::none(), nb::arg("positive") = false,
        nb::arg("first") = 0);
  m.def("svd_decompose_symmetric", &decompose_symmetric, nb::arg("a"), nb::arg("u").none(), nb::arg("s"),
        nb::arg("v").none(), nb::arg("status"), nb::arg("sweeps"), nb::arg("device") = "auto");
  m.def("svd_certify", &certify, nb::arg("a"), nb::arg("u").none(), nb::arg("s"), nb::arg("v"), nb::arg("bound"),
        nb::arg("upper") = false, nb::arg("device") = "auto");
  m.def("svd_residual_norm", &residual_norm, nb::arg("a"), nb::arg("x"), nb::arg("right"), nb::arg("out"),
        nb::arg("device") = "auto");
  m.def("svd_pseudo_inverse", &pseudo_inverse, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("out"),
        nb::arg("tolerance"), nb::arg("device") = "auto");
  m.def("svd_least_squares", &least_squares, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("right"), nb::arg("out"),
        nb::arg("tolerance"), nb::arg("device") = "auto");
  m.def("svd_low_rank", &low_rank, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("rank"), nb::arg("out"),
        nb::arg("device") = "auto");
  m.def("svd_polar", &polar, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("w"), nb::arg("h"),
        nb::arg("device") = "auto");
  // policy: 0 exact, 1 drop, 2 broaden.
  m.def("svd_gradient", &gradient, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("gu").none(), nb::arg("gs").none(),
        nb::arg("gv").none(), nb::arg("out"), nb::arg("policy"), nb::arg("tolerance"), nb::arg("device") = "auto");
  m.def("svd_polar_gradient", &polar_gradient, nb::arg("u"), nb::arg("s"), nb::arg("v"), nb::arg("gw").none(),
        nb::arg("gh").none(), nb::arg("out"), nb::arg("policy"), nb::arg("tolerance"), nb::arg("device") = "auto");
  m.def("svd_kabsch", &kabsch, nb::arg("points"), nb::arg("target"), nb::arg("weights").none(), nb::arg("rotation"),
        nb::arg("translation"), nb::arg("rmsd"), nb::arg("scale").none(), nb::arg("reflections") = false,
        nb::arg("device") = "auto");
  m.def("svd_kabsch_tensors", &kabsch_tensors, nb::arg("points"), nb::arg("target"), nb::arg("weights").none(),
        nb::arg("rotation"), nb::arg("translation"), nb::arg("rmsd"), nb::arg("scale") = 0);
  m.def("svd_kabsch_gradient", &kabsch_gradient, nb::arg("points"), nb::arg("target"), nb::arg("weights").none(),
        nb::arg("g_rotation").none(), nb::arg("g_translation").none(), nb::arg("g_rmsd").none(),
        nb::arg("g_scale").none(), nb::arg("reflections") = false, nb::arg("scale") = false,
        nb::arg("device") = "auto");
  m.def("svd_randomised", &randomised, nb::arg("a"), nb::arg("rank"), nb::arg("oversampling"),
        nb::arg("power_iterations"), nb::arg("seed"), nb::arg("canonical_signs") = false, nb::arg("device") = "auto");
}

}  // namespace quintet::python
