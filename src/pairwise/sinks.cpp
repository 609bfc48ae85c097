#include "pairwise/sinks.hpp"

#include "device/launch.hpp"
#include "instantiate.hpp"

namespace quintet::pairwise {

namespace {

/// Calls f with the dimension as a compile-time constant if it is in the list, else with any_dimension.
template <class List, class Function>
void with_dimension(std::int64_t dim, Function&& f) {
  bool is_known = false;
  const auto attempt = [&]<int Dim>() {
    if (is_known || dim != Dim) return;
    is_known = true;
    f.template operator()<Dim>();
  };
  [&]<int... Dims>(dimension_list<Dims...>) { (attempt.template operator()<Dims>(), ...); }(List{});
  if (!is_known) f.template operator()<any_dimension>();
}

/// The same for squares; with what stands for others for other terms.
template <class List, class Real, class Function>
void with_dimension(std::int64_t dim, const coordinate_term<Real>& term, Function&& f) {
  if (term.kind == term_kind::square)
    with_dimension<List>(dim, f);
  else
    with_any_dimension(term, f);
}

/// Calls f with rounded_products where there are bounds, and returns whether there are.
template <class Real, class Function>
bool with_bounds(const dot_bounds& bounds, Function&& f) {
  if constexpr (sizeof(Real) == sizeof(float))
    if (bounds.exist()) f.template operator()<rounded_products>();
  return bounds.exist();
}

}  // namespace

template <class Real>
void dense(const dense_arguments<Real>& a, const Device& device) {
  with_dimension<embedding_dimensions>(a.dim, a.measure.term, [&]<int Dim>() { sinks<Real, Dim>::dense(a, device); });
}

template <class Real>
void cross(const cross_arguments<Real>& a, const Device& device) {
  with_dimension<ball_dimensions>(a.dim, [&]<int Dim>() { sinks<Real, Dim>::cross(a, device); });
}

template <class Real>
void nearest(const nearest_arguments<Real>& a, const Device& device) {
  const auto run = [&]<int Dim>() { sinks<Real, Dim>::nearest(a, device); };
  if (!with_bounds<Real>(a.bounds, run)) with_dimension<all_dimensions>(a.dim, a.term, run);
  if (a.splits <= 1) return;
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using merge = merge_lists_kernel<Real, decltype(shape)>;
    const std::int64_t tiles = (a.row_count + merge::rows_per_tile - 1) / merge::rows_per_tile;
    device::launch(merge{a.list, a.row_count, a.splits}, tiles, device);
  });
}

template <class Real>
void symmetric_nearest(const nearest_arguments<Real>& a, const Device& device) {
  const std::int64_t dim = device.kind() == device_kind::host ? a.dim : 0;
  const auto run = [&]<int Dim>() { sinks<Real, Dim>::symmetric_nearest(a, device); };
  if (!with_bounds<Real>(a.bounds, run)) with_dimension<embedding_dimensions>(dim, a.term, run);
}

template <class Real>
void lightest(const lightest_arguments<Real>& a, std::int64_t tiles, const Device& device) {
  const auto run = [&]<int Dim>() { sinks<Real, Dim>::lightest(a, tiles, device); };
  if (!with_bounds<Real>(a.filter, run)) with_dimension<embedding_dimensions>(a.dim, a.term, run);
}

#define QUINTET_INSTANTIATE(Real)                                                 \
  template void dense(const dense_arguments<Real>&, const Device&);               \
  template void cross(const cross_arguments<Real>&, const Device&);               \
  template void nearest(const nearest_arguments<Real>&, const Device&);           \
  template void symmetric_nearest(const nearest_arguments<Real>&, const Device&); \
  template void lightest(const lightest_arguments<Real>&, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
