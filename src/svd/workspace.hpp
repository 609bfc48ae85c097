// Where the arrays of a group of matrices lie in its working memory.
#pragma once

#include <algorithm>

#include "quintet/device/device.hpp"
#include "svd/bidiagonal_values.hpp"
#include "svd/division_memory.hpp"
#include "svd/job.hpp"
#include "svd/maps.hpp"

namespace quintet::svd {

/// Working memory of one launch at most, in bytes; more groups than fit wait for their turn.
constexpr std::int64_t host_workspace = std::int64_t(1) << 29, device_workspace = std::int64_t(1) << 31;

/// Sets offsets, sizes and the number of groups. X and V may be in team memory instead.
template <class Map, class Real>
void lay_out(jacobi_job<Real>& job, bool in_team_memory) {
  const std::int64_t m = job.rows, n = job.cols;
  const bool is_direct = job.preconditioner == route::direct;
  job.ld_a = padded_rows<Map>(job.rows);
  job.ld_x = is_direct ? job.ld_a : padded_rows<Map>(job.cols);
  job.ld_v = padded_rows<Map>(job.cols);
  if (job.starts_from_eigenvectors || job.is_symmetric || job.reduces) {
    // Rows of V are rotated a chunk at a time: columns a multiple of 512 bytes apart would share few places of a cache.
    constexpr std::int32_t shared = 512 / std::int32_t(sizeof(Real) * Map::width);
    if (job.ld_v % shared == 0) job.ld_v += Map::chunk;
    if (job.ld_x % shared == 0) job.ld_x += Map::chunk;
  }
  std::int64_t next = 0;
  // Some of the memory of a reduction holds double.
  const std::int64_t unit = std::max<std::int64_t>(Map::chunk, job.reduces ? sizeof(double) / sizeof(Real) : 1);
  const auto take = [&](std::int64_t count) {
    const std::int64_t offset = next;
    next += (count + unit - 1) / unit * unit;
    return offset;
  };
  workspace_layout& at = job.at;
  at.x = take(in_team_memory ? 0 : n * job.ld_x);
  at.v = take(in_team_memory || !(job.vectors || job.starts_from_eigenvectors) ? 0 : n * job.ld_v);
  at.a = take(is_direct ? 0 : n * job.ld_a);
  at.h = take(is_direct ? 0 : n * job.ld_a);
  at.left = take(is_direct || !job.vectors ? 0 : std::max<std::int64_t>(n, job.left_cols) * job.ld_a);
  at.start = take(job.starts_from_eigenvectors ? n * std::max(job.ld_x, job.ld_v)
                  : !job.reduces               ? 0
                  : Map::width > 1             ? lane_values_memory<Real>::size(n, job.ld_x)
                                               : reduction_size<Real>(n, job.ld_x));
  at.division = 0;
  if constexpr (divides<Map>)
    if (n >= smallest_divided && (job.starts_from_eigenvectors || (job.is_symmetric && job.vectors)))
      at.division = take(division_memory<Real>::size(job.cols, job.ld_v));
  for (std::int64_t* array : {&at.norm, &at.column_scale, &at.norm_correction, &at.order, &at.sigma, &at.rank, &at.sign,
                              &at.tau, &at.start_w, &at.pivots, &at.source})
    *array = take(n);
  // Workers that share a matrix have several y: see eigenvectors.hpp.
  const bool shares = divides<Map> && (job.starts_from_eigenvectors || job.is_symmetric);
  at.start_y = take(shares ? (n + columns_of_y - 1) / columns_of_y * job.ld_v : n);
  at.scaling = take(3);
  at.row_rank = take(m);
  at.row_size = take(m);
  at.total = next;
  job.slot = next * Map::width;
  job.groups = (job.count - job.first + Map::width - 1) / Map::width;
}

/// Tiles that may be in work on a device at the same time.
constexpr std::int64_t device_tiles = 4096;

/// As many tiles as keep the threads busy and have room in the working memory, of a job that is laid out.
template <class Real>
std::int64_t tiles_that_fit(const jacobi_job<Real>& job, const Device& device) {
  const bool is_host = device.kind() == device_kind::host;
  const std::int64_t bytes = std::max<std::int64_t>(job.slot * std::int64_t(sizeof(Real)), 1);
  const std::int64_t target = is_host ? 8 * std::int64_t(threads()) : device_tiles;
  const std::int64_t fitting = (is_host ? host_workspace : device_workspace) / bytes;
  return std::min(job.groups, std::min(target, std::max<std::int64_t>(fitting, is_host ? threads() : 1)));
}

/// Whether the matrices of a group fit side by side into the working memory of every thread.
template <class Map, class Real>
bool lanes_have_room(jacobi_job<Real> job) {
  lay_out<Map>(job, false);
  return job.slot * std::int64_t(sizeof(Real)) * threads() <= host_workspace;
}

}  // namespace quintet::svd
