// The start from eigenvectors for matrices that several workers share: the pieces of eigenvectors.hpp as launches. The
// bits do not depend on who does what.
#pragma once

#include "device/for_each.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/eigenvectors.hpp"

namespace quintet::svd {

enum class start_phase {
  multiply,  ///< G
  mirror,
  begin,  ///< step k of the tridiagonalisation
  update,
  form,        ///< V = Q
  split,       ///< from here on a division (division.hpp) in place of QL steps
  solve_leaf,  ///< a part is a leaf; in what follows, a part of a merge
  deflate,
  copy,
  find_roots,
  find_weights,
  find_vectors,
  merge,
  make_block,  ///< of reflections
  reflect,     ///< V = Q V
  record,      ///< rotations
  rotate,
  lengths,
  rank,   ///< of the eigenvalues
  place,  ///< V in order, to the other memory
  take_v,
  take_x,  ///< X V, from the other memory
  note
};

/// Where the array y says whether an eigenvalue has not converged.
constexpr int failure_in_y = 4;

/// One phase of the start of several matrices of one shape, `slot` numbers apart (Gao, Ma, Shao 2022; the steps are
/// cited in eigenvectors.hpp). Those that do not start so are left alone.
template <class Real>
struct start_step {
  columns<Real> first;  ///< of the first matrix, as what follows
  Real* v;
  start_memory<Real> memory;
  const Real* target;
  std::int64_t slot;
  std::int32_t* rounds;  ///< [matrices] 2: more rotations will come, 1: these are the last ones, 0: none are left
  start_phase phase;
  int parts;  ///< tiles of a matrix
  int k;      ///< step of the tridiagonalisation, or level of a division

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t matrix = tile / parts, offset = matrix * slot;
    const int part = int(tile % parts);
    if (!(target[offset] > 0)) return;
    columns<Real> m = first;
    m.x += offset;
    m.norm_correction += offset;
    run(map, m, v == nullptr ? nullptr : v + offset,
        {memory.matrix + offset, memory.diagonal + offset, memory.off_diagonal + offset, memory.tau + offset,
         memory.w + offset, memory.y + offset, memory.division == nullptr ? nullptr : memory.division + offset,
         memory.y_count, memory.y_length},
        matrix, part);
  }

  template <class Map>
  QUINTET_SVD_INLINE void run(const Map& map, const columns<Real>& m, Real* vectors, const start_memory<Real>& at,
                              std::int64_t matrix, int part) const {
    const int n = m.n, ld = m.ld_v, begin = part_of(n, part), end = part_of(n, part + 1);
    Real* g = at.matrix;
    switch (phase) {
      case start_phase::multiply:
        return multiply_columns(map, m, g, ld, part);
      case start_phase::mirror:
        for (int j = begin; j < end; ++j) mirror_column(map, g, n, ld, j);
        return;
      case start_phase::begin:
        return begin_step(map, g, n, ld, k, at);
      case start_phase::update: {
        const int block = ((k + 1) / columns_of_y + part) * columns_of_y, next = block + columns_of_y;
        return update_columns(map, g, n, ld, k, block > k ? block : k + 1, next < n ? next : n, at);
      }
      case start_phase::form:
        return form_columns(map, g, ld, at.tau, vectors, n, ld, begin, end);
      case start_phase::split:
      case start_phase::solve_leaf:
      case start_phase::deflate:
      case start_phase::copy:
      case start_phase::find_roots:
      case start_phase::find_weights:
      case start_phase::find_vectors:
      case start_phase::merge:
        if constexpr (divides<Map>) divide(map, vectors, n, ld, at, part);
        return;
      case start_phase::make_block:
      case start_phase::reflect:
        if constexpr (divides<Map>) reflect_part(map, vectors, n, ld, at, matrix, part);
        return;
      case start_phase::record: {
        // Who is done stays as it is, however long others in the batch take.
        if (k > 0 && rounds[matrix] < 2) {
          map.barrier();
          if (map.leads_team()) rounds[matrix] = 0;
          return;
        }
        tridiagonal_state state{int(at.y[2]), int(at.y[3]), at.y[failure_in_y] > 0};
        map.barrier();
        if (k == 0) state = {};
        record_rotations(map, at, n, ld, state);
        if (!map.leads_team()) return;
        at.y[2] = Real(state.first);
        at.y[3] = Real(state.iterations);
        at.y[failure_in_y] = Real(state.failed ? 1 : 0);
        rounds[matrix] = at.y[1] > 0 ? 2 : 1;
        return;
      }
      case start_phase::rotate: {
        if (rounds[matrix] == 0) return;
        const int chunks = (n + Map::chunk - 1) / Map::chunk;
        return rotate_chunks(map, vectors, ld, part_of(chunks, part), part_of(chunks, part + 1), g,
                             std::int64_t(at.y[0]));
      }
      case start_phase::lengths:
        if (rounds[matrix] == 0) return;
        return restore_lengths(map, vectors, n, ld, begin, end, true);
      case start_phase::rank:
        return rank_falling(map, at.diagonal, n, at.off_diagonal, begin, end);
      case start_phase::place:
        for (int j = begin; j < end; ++j) place_column(map, vectors, at.off_diagonal, ld, j, g);
        return;
      case start_phase::take_v:
        return copy_numbers(map, g + std::int64_t(begin) * ld, vectors + std::int64_t(begin) * ld,
                            std::int64_t(end - begin) * ld);
      case start_phase::take_x:
        return copy_numbers(map, g + std::int64_t(begin) * m.ld_x, m.x + std::int64_t(begin) * m.ld_x,
                            std::int64_t(end - begin) * m.ld_x);
      case start_phase::note:
        return note_lengths(map, m, vectors, begin, end);
    }
  }

  template <class Map>
  QUINTET_SVD_INLINE void divide(const Map& map, Real* vectors, int n, int ld, const start_memory<Real>& at,
                                 int part) const {
    const tridiagonal_division<Map> division(map, at.diagonal, at.off_diagonal, vectors, n, ld,
                                             division_memory<Real>::at(at.division, n, ld));
    const int block = part & ((1 << k) - 1), part_of_block = part >> k;
    switch (phase) {
      case start_phase::split:
        return division.split();
      case start_phase::solve_leaf:
        return division.solve_leaf(part);
      case start_phase::deflate:
        return division.deflate(k, block);
      case start_phase::copy:
        return division.copy_columns(k, block, part_of_block);
      case start_phase::find_roots:
        return division.find_roots(k, block, part_of_block);
      case start_phase::find_weights:
        return division.find_weights(k, block, part_of_block);
      case start_phase::find_vectors:
        return division.find_vectors(k, block, part_of_block);
      default:
        return division.multiply(k, block, part_of_block);
    }
  }

  template <class Map>
  QUINTET_SVD_INLINE void reflect_part(const Map& map, Real* vectors, int n, int ld, const start_memory<Real>& at,
                                       std::int64_t matrix, int part) const {
    const auto of_division = division_memory<Real>::at(at.division, n, ld);
    const reflection_blocks<Map> q{at.matrix, at.tau, of_division.copy, of_division.factor, n, ld};
    if (phase == start_phase::reflect) return q.reflect(map, vectors, part);
    q.make_block(map, part);
    if (part > 0) return;
    const tridiagonal_division<Map> division(map, at.diagonal, at.off_diagonal, vectors, n, ld, of_division);
    at.y[failure_in_y] = Real(division.has_failed() ? 1 : 0);
    rounds[matrix] = 1;  // lengths are to be restored
  }

  /// Where a part begins: at a multiple of 4.
  QUINTET_SVD_INLINE int part_of(int count, int part) const {
    const std::int64_t blocks = (count + start_together - 1) / start_together;
    const int begin = int(blocks * part / parts) * start_together;
    return begin < count ? begin : count;
  }
};

/// start_from_eigenvectors() by all workers, and the eigenvectors alone of symmetric matrices.
template <class Policy>
class shared_start {
 public:
  using real = typename Policy::real;

  shared_start(const jacobi_job<real>& job, std::int64_t matrices, const Device& device)
      : matrices_(matrices), device_(device), rounds_(matrices, device) {
    const workspace_layout& at = job.at;
    real* memory = job.workspace;
    step_.first.x = memory + at.x;
    step_.first.v = job.vectors ? memory + at.v : nullptr;
    step_.first.n = job.cols;
    step_.first.rows = job.preconditioner == route::direct ? job.rows : job.cols;
    step_.first.ld_x = job.ld_x;
    step_.first.ld_v = job.ld_v;
    step_.first.norm_correction = memory + at.norm_correction;
    step_.v = job.is_symmetric && !job.vectors ? nullptr : memory + at.v;
    step_.memory = {memory + (job.is_symmetric ? at.x : at.start),
                    memory + at.sigma,
                    memory + at.rank,
                    memory + at.sign,
                    memory + at.start_w,
                    memory + at.start_y,
                    at.division > 0 ? memory + at.division : nullptr,
                    (job.cols + columns_of_y - 1) / columns_of_y,
                    job.ld_v};
    step_.target = memory + at.scaling + 2;
    step_.slot = job.slot;
    device::fill(rounds_, std::int32_t(0));
    step_.rounds = rounds_.data();
  }

  /// From the matrices in the working memory to eigenvalues and eigenvectors, in no order.
  void diagonalise() {
    reduce();
    const stage_region stage(step_.v != nullptr ? "eigenvectors" : "eigenvalues");
    if (step_.v != nullptr && step_.memory.division != nullptr)
      divide();
    else
      iterate();
  }

  void run() {
    const int n = step_.first.n;
    launch(start_phase::multiply, (n + start_together - 1) / start_together);
    launch(start_phase::mirror, parts_for(n));
    diagonalise();
    launch(start_phase::rank, parts_for(n));
    launch(start_phase::place, parts_for(n));
    launch(start_phase::take_v, parts_for(n));
    const columns<real>& m = step_.first;
    const multiply_by_rows<real> product{{m.x, step_.slot, 1, m.ld_x},
                                         {step_.v, step_.slot, 1, m.ld_v},
                                         {step_.memory.matrix, step_.slot, 1, m.ld_x},
                                         m.rows,
                                         n,
                                         n,
                                         true};
    launch_body<Policy>(product, matrices_ * product.template tiles<typename Policy::map>(), device_);
    launch(start_phase::take_x, parts_for(n));
    if (m.v == nullptr) launch(start_phase::note, parts_for(n));
  }

 private:
  /// Householder's tridiagonalisation.
  void reduce() {
    const stage_region stage("reduce");
    const int n = step_.first.n;
    for (int k = 0; k < n; ++k) {
      launch(start_phase::begin, 1, k);
      if (k + 1 < n) launch(start_phase::update, (n - 1) / columns_of_y - (k + 1) / columns_of_y + 1, k);
    }
  }

  /// V by division.
  void divide() {
    using map = typename Policy::map;
    using division = tridiagonal_division<map>;
    const int n = step_.first.n, levels = division::levels(n);
    launch(start_phase::split, 1);
    launch(start_phase::solve_leaf, 1 << levels);
    for (int level = levels - 1; level >= 0; --level) {
      launch(start_phase::deflate, 1 << level, level);
      for (const start_phase step :
           {start_phase::copy, start_phase::find_roots, start_phase::find_weights, start_phase::find_vectors})
        launch(step, division::parts(n, level) << level, level);
      launch(start_phase::merge, division::product_parts(n, level) << level, level);
    }
    launch(start_phase::make_block, reflection_blocks<map>::blocks(n));
    launch(start_phase::reflect, reflection_blocks<map>::parts(n));
    launch(start_phase::lengths, parts_for(n));
  }

  /// Implicit QL steps.
  void iterate() {
    const int n = step_.first.n;
    if (step_.v != nullptr) launch(start_phase::form, (n + 2 * start_together - 1) / (2 * start_together));
    constexpr int chunk = Policy::map::chunk, chunks_of_part = 2 * chunks_rotated<typename Policy::map>();
    const int chunks = (n + chunk - 1) / chunk;
    int round = 0;
    do {
      launch(start_phase::record, 1, round++);
      if (step_.v == nullptr) continue;
      launch(start_phase::rotate, (chunks + chunks_of_part - 1) / chunks_of_part);
      launch(start_phase::lengths, parts_for(n));
    } while (has_more(rounds_));
  }

  static bool has_more(const Buffer<std::int32_t>& rounds) {
    for (const std::int32_t left : rounds.to_vector())
      if (left == 2) return true;
    return false;
  }

  /// Parts of so many columns: a launch takes microseconds.
  static int parts_for(int count) {
    constexpr int of_part = 8 * start_together;
    return (count + of_part - 1) / of_part;
  }

  void launch(start_phase phase, int parts, int k = 0) {
    step_.phase = phase;
    step_.parts = parts;
    step_.k = k;
    launch_body<Policy>(step_, matrices_ * parts, device_);
  }

  std::int64_t matrices_;
  Device device_;
  Buffer<std::int32_t> rounds_;
  start_step<real> step_ = {};
};

}  // namespace quintet::svd
