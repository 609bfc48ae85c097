// Pairs of blocks of columns, one per tile.
#pragma once

#include "svd/jacobi_group.hpp"
#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

/// Columns of a block. Two blocks of X and V of n = 1024 take 512 KB in float.
constexpr int block_columns = 32;

/// What a matrix does in a sweep.
enum activity : std::int32_t { done, rotates, exchanges };

/// One wavefront of a sweep over all matrices of a launch: the pairs of blocks (I, J) with I + J = `sum`, or (I, I).
/// They have no block in common, so they are rotated at the same time (Brent, Luk 1985); the order is equivalent to the
/// cyclic one by rows (Luk, Park 1989).
template <class Policy>
struct block_kernel {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };

  jacobi_group<real> whole;
  const std::int32_t* active;  ///< [matrices] an activity
  real* block_sums;  ///< [matrices, blocks, blocks, 3] sums of each pair of blocks; 1 where columns changed places
  std::int32_t blocks, sum, pairs;
  bool is_diagonal;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t matrix = tile / pairs;
    if (active[matrix] == activity::done) return;  // the same for all threads
    const int place = int(tile % pairs), i = is_diagonal ? place : (sum < blocks ? 0 : sum - blocks + 1) + place;
    const int j = is_diagonal ? place : sum - i;
    Policy::run(team, s, [&](const auto& map, real*) QUINTET_SVD_INLINE_LAMBDA {
      real* memory = whole.job.workspace + matrix * whole.job.slot;
      columns<real> m = whole.columns_in(map, memory, nullptr);
      m.starts_from_eigenvectors = whole.job.starts_from_eigenvectors && memory[whole.job.at.scaling + 2] > 0;
      const auto sums = rotate_blocks(map, m, i, j, active[matrix] == activity::exchanges);
      if (map.leads_team()) {
        real* to = block_sums + ((matrix * blocks + i) * blocks + j) * 3;
        to[0] = sums.cosine;
        to[1] = sums.tangent;
        to[2] = real(sums.exchanged ? 1 : 0);
      }
    });
  }

  template <class Map>
  QUINTET_SVD_INLINE sweep_sums<typename Map::scalar> rotate_blocks(const Map& map, const columns<real>& m, int i,
                                                                    int j, bool exchanges) const {
    const auto limit = thresholds_for<typename Map::scalar>(cosine_tolerance(m.root_rows), true, exchanges);
    sweep_sums<typename Map::scalar> seen_here;
    auto nothing = [] {};
    const int first = i * block_columns, last = end_of(first, m.n), first_q = j * block_columns,
              last_q = end_of(first_q, m.n);
    if (is_diagonal || m.is_scaled()) measure_columns(map, m, first, last);
    if (is_diagonal) {
      rotate_within(map, m, first, last, limit, seen_here, nothing);
    } else {
      if (m.is_scaled()) measure_columns(map, m, first_q, last_q);
      rotate_across(map, m, first, last, first_q, last_q, limit, seen_here, nothing);
    }
    add_up(map, seen_here);
    return seen_here;
  }

  static QUINTET_SVD_INLINE int end_of(int first, int n) {
    return first + block_columns < n ? first + block_columns : n;
  }
};

}  // namespace quintet::svd
