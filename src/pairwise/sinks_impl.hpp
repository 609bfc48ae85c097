// Definitions of sinks<Real, Dim>; instantiated by pairwise.cmake.
#pragma once

#include <algorithm>

#include "device/launch.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace detail {
template <class Real, class Function>
void with_tile_shape(const Device& device, Function&& f) {
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, f);
}
/// The same for panels of Dim coordinates; those of a device hold whole slices.
template <class Real, int Dim, class Function>
void with_tile_shape_of(const Device& device, Function&& f) {
  if constexpr (Dim <= 0 || Dim % depth_multiple == 0)
    with_tile_shape<Real>(device, f);
  else
    f(host_shape<Real>{});
}
/// Teams that keep a large GPU busy, several times over.
constexpr std::int64_t wanted_teams = 2112;
inline std::int64_t blocks(std::int64_t count, std::int64_t side) { return (count + side - 1) / side; }
}  // namespace detail

template <class Real, int Dim>
void sinks<Real, Dim>::dense(const dense_arguments<Real>& a, const Device& device)
  requires(is_embedding_dimension<Dim> && is_of_sums<Dim>)
{
  detail::with_tile_shape<Real>(device, [&](auto shape) {
    using Shape = decltype(shape);
    const std::int64_t blocks = detail::blocks(a.count, Shape::side);
    device::launch(dense_kernel<Real, Dim, Shape>{a}, a.row_blocks == 0 ? triangle_size(blocks) : a.row_blocks * blocks,
                   device);
  });
}

template <class Real, int Dim>
void sinks<Real, Dim>::cross(const cross_arguments<Real>& a, const Device& device)
  requires(is_ball_dimension<Dim> && Dim >= 0)
{
  detail::with_tile_shape_of<Real, Dim>(device, [&](auto shape) {
    using kernel = cross_kernel<Real, Dim, decltype(shape)>;
    cross_arguments<Real> shared = a;
    // Long rows of blocks for a device, as far as enough teams remain; on the host a tile is a unit of work, and its
    // rows are in place.
    if constexpr (kernel::shape::on_device)
      shared.blocks_per_team = std::clamp<std::int64_t>(kernel::tiles(a) / detail::wanted_teams, 1, 16);
    device::launch(kernel{shared}, kernel::tiles(shared), device);
  });
}

template <class Real, int Dim>
void sinks<Real, Dim>::nearest(const nearest_arguments<Real>& a, const Device& device) {
  detail::with_tile_shape_of<Real, Dim>(device, [&](auto shape) {
    using kernel = nearest_kernel<Real, Dim, decltype(shape), list_sharing::owned>;
    device::launch(kernel{a}, kernel::tiles(a), device);
  });
}

template <class Real, int Dim>
void sinks<Real, Dim>::symmetric_nearest(const nearest_arguments<Real>& a, const Device& device)
  requires(is_embedding_dimension<Dim>)
{
  const auto run = [&](auto shape) {
    using kernel = nearest_kernel<Real, Dim, decltype(shape), list_sharing::symmetric>;
    device::launch(kernel{a}, a.tile_count > 0 ? a.tile_count : kernel::tiles(a), device);
  };
  // Devices own their lists by default; the general dimension is enough for them here.
  if constexpr (Dim <= 0)
    detail::with_tile_shape<Real>(device, run);
  else
    run(host_shape<Real>{});
}

template <class Real, int Dim>
void sinks<Real, Dim>::lightest(const lightest_arguments<Real>& a, std::int64_t tiles, const Device& device)
  requires(is_embedding_dimension<Dim>)
{
  detail::with_tile_shape<Real>(
      device, [&](auto shape) { device::launch(lightest_kernel<Real, Dim, decltype(shape)>{a}, tiles, device); });
}

}  // namespace quintet::pairwise
