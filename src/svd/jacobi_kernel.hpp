// The kernel: one tile works through groups of matrices, from loading to storing, the whole sweep loop included. Its
// text is the same for both maps; a `policy` says which map, on which processor.
#pragma once

#include "device/launch.hpp"
#include "quintet/core/poll.hpp"
#include "svd/finish.hpp"
#include "svd/householder.hpp"
#include "svd/transfer.hpp"

namespace quintet::svd {

/// W matrices side by side in SIMD registers.
template <class Real>
struct host_lanes {
  enum { on_device = 0, threads = 1, emulated_threads = 1, team_numbers = 0 };
  using real = Real;
  using map = lanes_map<Real, device::host_lanes<Real>(), device::host_lanes<Real>()>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team&, scratch&, Function f) {
    f(map{0}, static_cast<Real*>(nullptr));
  }
};

/// Half as many, for large matrices: half the working memory, and twice as many groups for the threads.
template <class Real>
struct host_half_lanes {
  enum { on_device = 0, threads = 1, emulated_threads = 1, team_numbers = 0 };
  using real = Real;
  using map = lanes_map<Real, device::host_lanes<Real>() / 2, device::host_lanes<Real>() / 2>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team&, scratch&, Function f) {
    f(map{0}, static_cast<Real*>(nullptr));
  }
};

/// One matrix, its rows in SIMD registers: for few matrices or large ones.
template <class Real>
struct host_rows {
  enum { on_device = 0, threads = 1, emulated_threads = 1, team_numbers = 0 };
  using real = Real;
  using map = rows_map<Real, 1, device::host_lanes<Real>(), device::host_team>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team&, scratch&, Function f) {
    f(map{{}, nullptr}, static_cast<Real*>(nullptr));
  }
};

/// 32 matrices side by side, each in one thread.
template <class Real>
struct device_lanes {
  enum { on_device = 1, threads = 32, emulated_threads = 4, team_numbers = 0 };
  using real = Real;
  using map = lanes_map<Real, 32, 1>;
  struct scratch {};
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team& team, scratch&, Function f) {
    for (int lane = team.rank(); lane < 32; lane += team.size()) f(map{lane}, static_cast<Real*>(nullptr));
  }
};

/// One matrix a team, ThreadsPerPair threads a pair of columns. TeamNumbers: numbers of team memory for X and V; 0
/// keeps them in global memory, which the caches hold.
template <class Real, int ThreadsPerPair, int TeamNumbers>
struct device_rows {
  enum { on_device = 1, threads = 256, emulated_threads = 16, team_numbers = TeamNumbers };
  using real = Real;
  using map = rows_map<Real, ThreadsPerPair, 1, device::device_team>;
  struct scratch {
    alignas(16) Real exchange[threads];
    Real matrices[TeamNumbers > 0 ? TeamNumbers : 1];
  };
  template <class Team, class Function>
  static QUINTET_SVD_INLINE void run(const Team& team, scratch& s, Function f) {
    f(map{team, s.exchange}, TeamNumbers > 0 ? s.matrices : static_cast<Real*>(nullptr));
  }
};

/// Calls of `ahead` (see orthogonalise) in four sweeps of matrices small enough for it.
QUINTET_SVD_INLINE int calls_ahead(int n) {
  int calls = 0;
  for (int p = 0; p < n; p += 4) calls += 2 + (n - p - 4 > 0 ? (n - p - 3) / 2 : 0);
  return 4 * calls;
}

/// On the host a tile may take seconds: its threads look at the caller's poll within it, and the caller while it waits.
template <bool OnDevice>
struct jacobi_tiles {
  enum { long_tiles = 1 };
};
template <>
struct jacobi_tiles<true> {};

template <class Policy>
struct jacobi_kernel : jacobi_tiles<bool(Policy::on_device)> {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };
  jacobi_job<real> job;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    // Neighbouring groups, so that the processor sees what comes next.
    const std::int64_t last = (tile + 1) * job.groups / job.tiles;
    for (std::int64_t group = tile * job.groups / job.tiles; group < last; ++group) {
      if constexpr (!Policy::on_device) poll();
      Policy::run(team, s, [&](const auto& map, real* team_memory) QUINTET_SVD_INLINE_LAMBDA {
        real* memory = job.workspace + tile * job.slot;
        solve_group(map, group, memory, team_memory);
      });
    }
  }

  /// Polls within a group of large matrices. Small ones take less time than they would lose.
  QUINTET_SVD_INLINE void poll_within() const {
    if constexpr (!Policy::on_device)
      if (std::int64_t(job.rows) * job.cols > 64 * 64) poll();
  }

  /// One array or matrix of the group's working memory.
  template <class Map>
  QUINTET_SVD_INLINE real* part(const Map&, real* memory, std::int64_t offset) const {
    return memory + offset * Map::width;
  }

  /// X and V of the group in this working memory.
  template <class Map>
  QUINTET_SVD_INLINE columns<real> columns_in(const Map& map, real* memory, real* team_memory) const {
    const workspace_layout& at = job.at;
    columns<real> m = {};
    m.x = team_memory != nullptr ? team_memory : part(map, memory, at.x);
    m.v = !job.vectors             ? nullptr
          : team_memory != nullptr ? team_memory + std::int64_t(job.cols) * job.ld_x
                                   : part(map, memory, at.v);
    m.n = job.cols;
    m.rows = job.way == route::direct ? job.rows : job.cols;
    m.ld_x = job.ld_x;
    m.ld_v = job.ld_v;
    m.norm = part(map, memory, at.norm);
    m.column_scale = part(map, memory, at.column_scale);
    m.norm_correction = part(map, memory, at.norm_correction);
    m.order = part(map, memory, at.order);
    m.root_rows = job.root_rows;
    m.max_sweeps = job.max_sweeps;
    m.accurate = job.accurate;
    return m;
  }

  template <class Map>
  QUINTET_SVD_INLINE void solve_group(const Map& map, std::int64_t group, real* memory, real* team_memory) const {
    columns<real> m = columns_in(map, memory, team_memory);
    const bool does_all = job.phase == phase::all;
    auto active = typename Map::scalar{} > typename Map::scalar{};
    if (does_all || job.phase == phase::load) active = load(map, group, memory, m);
    if (does_all || job.phase == phase::start) {
      start_columns(map, factors_in(map, memory, part(map, memory, job.at.a)), m);
      if (!does_all) order_columns(map, m);
    }
    if (does_all) {
      if constexpr (Map::packed > 1) {
        memory_ahead ahead(calls_ahead(job.cols));
        ahead.add(map, job, group, job.left, std::int64_t(job.rows) * job.left_cols, true);
        ahead.add(map, job, group, job.right, std::int64_t(job.cols) * job.right_cols, true);
        ahead.add(map, job, group + 1, job.a, std::int64_t(job.rows) * job.cols, false);
        note_outcome(map, group, orthogonalise(map, m, active, [&] {
                       poll_within();
                       ahead();
                     }));
      } else {
        note_outcome(map, group, orthogonalise(map, m, active, [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); }));
      }
    }
    if (job.phase == phase::rotate) note_outcome(map, group, orthogonalise(map, m, active_lanes(map, group), [] {}));
    if (does_all || job.phase == phase::finish) finish(map, group, memory, m);
    if (does_all && job.vectors && job.way != route::direct)
      apply_q(map, factors_in(map, memory, part(map, memory, job.at.a)), part(map, memory, job.at.left), 0,
              left_columns(), [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
    if (job.vectors && (does_all || job.phase == phase::store)) store_vectors(map, group, memory, m);
    map.barrier();
  }

  /// From the caller's memory to the working memory, and QR where this launch has to do it. Returns the lanes to work
  /// on.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> load(const Map& map, std::int64_t group, real* memory,
                                                        columns<real>& m) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    const bool is_direct = job.way == route::direct;
    real* a = is_direct ? m.x : part(map, memory, at.a);
    const int ld = is_direct ? job.ld_x : job.ld_a;
    real *row_size = part(map, memory, at.row_size), *row_rank = nullptr;
    load_matrices(map, job, group, a, ld, row_rank);
    const survey<scalar> found = survey_matrices(map, a, job.rows, job.cols, ld, row_size);
    if (job.way == route::pivoted_lower) {
      // Sorted rows make Householder's method accurate row by row (Cox and Higham 1998), sorted up to a factor of two
      // to a digit less.
      row_rank = part(map, memory, at.row_rank);
      if (job.rows <= most_compared_rows)
        rank_falling(map, row_size, job.rows, row_rank);
      else
        rank_by_exponent(map, row_size, job.rows, row_rank, part(map, memory, at.h));
      load_matrices(map, job, group, a, ld, row_rank);
    }
    const auto active = note_codes(map, group, found);
    const scaling<scalar> scale = scaling_for<real>(choose(active, found.largest, same<scalar>(real(1))));
    if (map.leads_team()) {
      map.set_entry(part(map, memory, at.scaling), 0, scale.first);
      map.set_entry(part(map, memory, at.scaling), 1, scale.second);
    }
    prepare(map, a, ld, active, scale);
    if (job.way == route::pivoted_lower || (job.way == route::triangle && job.phase == phase::all))
      factorise(map, factors_in(map, memory, a), [this]() QUINTET_SVD_INLINE_LAMBDA { poll_within(); });
    return active;
  }

  /// From orthogonal columns to S in the caller's memory, and to what Q is applied to.
  template <class Map>
  QUINTET_SVD_INLINE void finish(const Map& map, std::int64_t group, real* memory, columns<real>& m) const {
    using scalar = typename Map::scalar;
    const workspace_layout& at = job.at;
    real *sigma = part(map, memory, at.sigma), *rank = part(map, memory, at.rank),
         *kept = part(map, memory, at.scaling);
    const scaling<scalar> scale{map.entry(kept, 0), map.entry(kept, 1)};
    normalise(map, m, sigma);
    if constexpr (Map::packed > 1) {
      sort_columns(map, m, sigma);
      for (int j = 0; j < m.n; ++j) map.set_entry(rank, j, same<scalar>(real(j)));
    } else {
      rank_falling(map, sigma, m.n, rank);
    }
    store_values(map, group, sigma, rank, scale);
    if (!job.vectors) return;
    complete(map, m);
    if (job.way == route::direct) return;
    const bool is_lower = job.way == route::pivoted_lower;
    expand(map, factors_in(map, memory, part(map, memory, at.a)), is_lower ? m.v : m.x, is_lower ? m.ld_v : m.ld_x,
           part(map, memory, at.left), left_columns());
  }

  /// Sets status; gives the lanes to work on.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> note_codes(const Map& map, std::int64_t group,
                                                              const survey<typename Map::scalar>& found) const {
    using scalar = typename Map::scalar;
    scalar active{};
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      std::int32_t code = code_ok;
      const bool is_finite = any_lane(found.finite, l);
      const real columns = lane_of(found.column_ratio, l), rows = lane_of(found.row_ratio, l);
      if (!is_finite)
        code = code_not_finite;
      else if (job.defer_out_of_range && columns > out_of_range_ratio<real>)
        code = code_out_of_range;
      else if (job.defer_badly_scaled && job.cols > 1 &&
               (columns > badly_scaled_ratio<real> || rows > badly_scaled_ratio<real>))
        code = code_badly_scaled;
      set_lane(active, l, matrix >= 0 && code == code_ok ? real(1) : real(0));
      if (matrix < 0 || !map.leads_team()) continue;
      job.status[matrix] = code;
      job.sweeps[matrix] = 0;
    }
    map.barrier();
    return active > scalar{};
  }

  /// The lanes whose matrices an earlier launch has accepted.
  template <class Map>
  QUINTET_SVD_INLINE mask_of<typename Map::scalar> active_lanes(const Map& map, std::int64_t group) const {
    typename Map::scalar active{};
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      set_lane(active, l, matrix >= 0 && job.status[matrix] == code_ok ? real(1) : real(0));
    }
    map.barrier();  // everybody has read the status
    return active > typename Map::scalar{};
  }

  /// Scales; lanes that are not worked on become identity matrices, which cost nothing and disturb nobody.
  template <class Map>
  QUINTET_SVD_INLINE void prepare(const Map& map, real* a, int ld, const mask_of<typename Map::scalar>& active,
                                  const scaling<typename Map::scalar>& scale) const {
    using scalar = typename Map::scalar;
    const scalar zero{}, one = same<scalar>(real(1));
    const bool is_lifted = any(scale.first > one);
    for (int j = 0; j < job.cols; ++j) {
      real* column = map.column(a, j, ld);
      for_each_row(map, 0, job.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        scalar value = map.element(column, i);
        if (is_lifted) value = value * scale.first;
        map.set_element(column, i, choose(active, value * scale.second, i == j ? one : zero));
      });
    }
    map.barrier();
  }

  /// The places of Q and R; none on the direct way.
  template <class Map>
  QUINTET_SVD_INLINE factors<real> factors_in(const Map& map, real* memory, real* a) const {
    factors<real> f = {};
    if (job.way == route::direct) return f;
    f.a = a;
    f.h = part(map, memory, job.at.h);
    f.tau = part(map, memory, job.at.tau);
    f.pivots = job.way == route::pivoted_lower ? part(map, memory, job.at.pivots) : nullptr;
    f.rows = job.rows;
    f.n = job.cols;
    f.ld = job.ld_a;
    return f;
  }

  /// X: R or its transpose, where there is one. V: the identity. No norm correction yet.
  template <class Map>
  QUINTET_SVD_INLINE void start_columns(const Map& map, const factors<real>& f, columns<real>& m) const {
    using scalar = typename Map::scalar;
    const scalar zero{}, one = same<scalar>(real(1));
    const bool is_lower = job.way == route::pivoted_lower;
    for (int j = 0; j < m.n; ++j) {
      if (f.a != nullptr)
        for_each_row(map, 0, m.ld_x, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          scalar value{};
          if (i < m.n && (is_lower ? i >= j : i <= j))
            value = is_lower ? map.element(map.column(f.a, i, f.ld), j) : map.element(map.column(f.a, j, f.ld), i);
          map.set_element(map.column(m.x, j, m.ld_x), i, value);
        });
      if (m.v != nullptr)
        for_each_row(map, 0, m.ld_v, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          map.set_element(map.column(m.v, j, m.ld_v), i, i == j ? one : zero);
        });
    }
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(m.norm_correction, j, zero); });
    map.barrier();
  }

  template <class Map>
  QUINTET_SVD_INLINE void note_outcome(const Map& map, std::int64_t group,
                                       const sweep_result<typename Map::scalar>& outcome) const {
    if (!map.leads_team()) return;
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      if (matrix < 0) continue;
      job.sweeps[matrix] = std::int32_t(lane_of(outcome.sweeps, l));
      if (any_lane(outcome.unfinished, l)) job.status[matrix] = code_not_converged;
    }
  }

  /// Singular values, scaled back; here they may overflow or become subnormal, as they should.
  template <class Map>
  QUINTET_SVD_INLINE void store_values(const Map& map, std::int64_t group, real* sigma, real* rank,
                                       const scaling<typename Map::scalar>& scale) const {
    map.barrier();  // status is complete
    if constexpr (Map::packed > 1) {
      const memory_lines lines = lines_of({nullptr, job.s.type, job.s.batch, job.values, job.s.column}, 1, job.values);
      if (lines.count > 0) {
        const typename Map::scalar factor = nan_where_lost(map, job, group);
        with_storage<real>(job.s.type, job.s.data, [&](auto* data) {
          std::remove_reference_t<decltype(data)> to[Map::packed];
          find_results(map, job, group, data, job.s.batch, to);
          write_lines<Map::packed, real>(lines, to, [&](int, int j) {
            return typename Map::scalar(map.entry(sigma, j) / scale.second / scale.first * factor);
          });
        });
        return;
      }
    }
    for (int l = 0; l < Map::packed; ++l) {
      const std::int64_t matrix = matrix_in(map, job, group, first_lane(map) + l);
      if (matrix < 0 || !has_result(job.status[matrix])) continue;
      const bool is_lost = job.status[matrix] == code_not_finite;
      with_storage<real>(job.s.type, job.s.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
        using stored = std::remove_reference_t<decltype(*data)>;
        for_each_row(map, 0, job.cols, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
          const int place = int(lane_element(map, rank, 0, j, 0, l));
          if (place >= job.values) return;
          const real value = lane_element(map, sigma, 0, j, 0, l) / lane_of(scale.second, l) / lane_of(scale.first, l);
          data[matrix * job.s.batch + place * job.s.column] =
              to_storage<stored>(is_lost ? std::numeric_limits<real>::quiet_NaN() : value);
        });
      });
    }
  }

  /// Columns of the left vectors that are worked on where there is a Q.
  QUINTET_SVD_INLINE int left_columns() const { return job.left_cols > job.cols ? job.left_cols : job.cols; }

  template <class Map>
  QUINTET_SVD_INLINE void store_vectors(const Map& map, std::int64_t group, real* memory,
                                        const columns<real>& m) const {
    const workspace_layout& at = job.at;
    const bool is_lower = job.way == route::pivoted_lower, is_direct = job.way == route::direct;
    real *left = is_direct ? m.x : part(map, memory, at.left), *right = is_lower ? m.x : m.v;
    real *rank = part(map, memory, at.rank), *row_rank = is_lower ? part(map, memory, at.row_rank) : nullptr;
    real* source = nullptr;
    const int ld_left = is_direct ? m.ld_x : job.ld_a, ld_right = is_lower ? m.ld_x : m.ld_v;
    const int columns = is_direct ? m.n : left_columns();
    if (is_lower) {
      source = part(map, memory, at.source);
      invert_pivots(map, part(map, memory, at.pivots), m.n, source);
    }
    real* sign = part(map, memory, at.sign);
    for_each_row(map, 0, m.n,
                 [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(sign, j, same<typename Map::scalar>(real(1))); });
    map.barrier();
    if (job.canonical) {
      if (job.sign_by_right)
        canonical_signs(map, right, m.n, m.n, ld_right, sign);
      else
        canonical_signs(map, left, job.rows, m.n, ld_left, sign);
    }
    store_matrices(map, job, group, left, job.rows, columns, ld_left, rank, sign, row_rank, job.left, job.left_cols,
                   job.status);
    store_matrices(map, job, group, right, m.n, m.n, ld_right, rank, sign, source, job.right, job.right_cols,
                   job.status);
  }

  /// `count` columns of `rows` elements: those of `from` with zeros below, then canonical vectors.
  template <class Map>
  QUINTET_SVD_INLINE void expand(const Map& map, const factors<real>& f, real* from, int ld_from, real* to,
                                 int count) const {
    using scalar = typename Map::scalar;
    for (int j = 0; j < count; ++j)
      for_each_row(map, 0, f.ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        scalar value{};
        if (j < f.n && i < f.n) value = map.element(map.column(from, j, ld_from), i);
        if (j >= f.n && i == j) value = same<scalar>(real(1));
        map.set_element(map.column(to, j, f.ld), i, value);
      });
    map.barrier();
  }

  template <class Map>
  QUINTET_SVD_INLINE void invert_pivots(const Map& map, real* pivots, int n, real* source) const {
    for (int l = 0; l < Map::packed; ++l)
      for_each_row(map, 0, n, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        lane_element(map, source, 0, int(lane_element(map, pivots, 0, i, 0, l)), 0, l) = real(i);
      });
    map.barrier();
  }

  template <class Mask>
  static QUINTET_SVD_INLINE bool any_lane(const Mask& mask, [[maybe_unused]] int l) {
    if constexpr (std::is_same_v<Mask, bool>)
      return mask;
    else
      return mask[l] != 0;
  }
  template <class Scalar>
  static QUINTET_SVD_INLINE void set_lane(Scalar& value, [[maybe_unused]] int l, real number) {
    if constexpr (std::is_floating_point_v<Scalar>)
      value = number;
    else
      value[l] = number;
  }
};

}  // namespace quintet::svd
