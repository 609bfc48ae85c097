// Tile shapes of the pairwise engine: how one text becomes SIMD code on the host and a block of threads on a GPU.
#pragma once

#include "device/pack.hpp"

namespace quintet::pairwise {

/// Points in one panel: 64 bytes of one coordinate, a cache line on the host and two full sectors on a GPU.
template <class Real>
constexpr int panel_points = 64 / int(sizeof(Real));

/// Panels hold a multiple of this many coordinates; those beyond the dimension are zero and add nothing.
constexpr int depth_multiple = 16;

/// One host thread computes a side x side tile by register tiles of rows x (packs * lanes).
/// AVX-512: 8 x 3 accumulators of 32 registers, with the row's number in memory. NEON has it in a register: 4 x 4, as
/// clang 19 spills three packs and moves six to ten in every step of 8 x 3 (docs/platforms.md). `depth` coordinates of
/// a strip of panels stay in the first-level cache.
template <class Real>
struct host_shape {
  enum {
    on_device = 0,
    side = 96,
    lanes = device::host_lanes<Real>(),
    rows = device::host_registers() == 32 && lanes * sizeof(Real) == 64 ? 8 : 4,
    packs = device::host_registers() == 16 ? 2 : (rows == 8 ? 3 : 4),
    cols = packs * lanes,
    pitch = side,
    depth = 768 / int(sizeof(Real)),
    threads = 1,
    emulated_threads = 1
  };
};

/// A block of threads: every thread has one register tile of rows x cols, and panels are staged through team memory in
/// slices of `depth` coordinates. pitch is odd, so that reading down a column meets every bank.
template <class Real>
struct device_shape {
  enum {
    on_device = 1,
    side = 64,
    rows = sizeof(Real) == 4 ? 8 : 4,
    packs = rows,
    lanes = 1,
    cols = rows,
    pitch = side + 1,
    depth = sizeof(Real) == 4 ? 16 : 8,
    threads = (side / rows) * (side / cols),
    emulated_threads = 4
  };
};

/// Who writes a list.
enum class list_sharing {
  /// A team has a block of rows, and lists of its own for a part of the columns; merge_lists_kernel joins the parts.
  /// Any
  /// rows, any columns.
  owned,
  /// One set against itself, every pair computed once: a tile (I, J) feeds the lists of I and of J, under a lock of
  /// each
  /// block. The order of candidates is total, so it does not matter who comes first. The lists are cleared before.
  symmetric
};

}  // namespace quintet::pairwise
