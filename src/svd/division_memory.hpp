// What matrices that have their eigenvectors by division (division.hpp) need of working memory.
#pragma once

#include <cstdint>

#include "svd/lane_math.hpp"

namespace quintet::svd {

/// Maps on which one thread works on a part of a step.
template <class Map>
constexpr bool divides = Map::width == 1 && Map::row_cyclic && Map::chunk > 1;

/// From this size on a division costs less than QL steps with their rotations (measured).
constexpr int smallest_divided = 80;

/// Columns that are added to one y where workers share a matrix.
constexpr int columns_of_y = 64;

/// Blocks begin at multiples of it: at whole registers of every processor.
constexpr int division_unit = 16;
/// Units of a leaf at most.
constexpr int units_of_leaf = 2;

/// Memory of a division beside T and Z: two matrices and arrays.
template <class Real>
struct division_memory {
  Real *copy, *factor;      ///< [n] columns: those of Z in the order of products, and what they are multiplied by
  Real* coupling;           ///< [n] the element above the diagonal in front of a block, at its first place
  Real* order;              ///< [n] of each block: its columns by rising eigenvalues
  Real *pole, *weight;      ///< [n] of a merge: what is left of D + rho z z^T
  Real *source, *place;     ///< [n] column of Z that goes to a column of `copy`; column of `copy` of a pole
  Real *origin, *distance;  ///< [n] of a merge: zeros are distances from these
  Real *z, *list, *kind, *header;

  /// After the matrices there is room for a block of reflections whose columns are padded to whole registers.
  enum { arrays = 12, spare = division_unit * 32 };

  static QUINTET_SVD_INLINE std::int64_t length(int n) {
    return (n + division_unit - 1) / division_unit * division_unit;
  }
  static QUINTET_SVD_INLINE std::int64_t size(int n, int ld) {
    return 2 * std::int64_t(n) * ld + spare + division_unit + arrays * length(n);
  }
  static QUINTET_SVD_INLINE division_memory at(Real* memory, int n, int ld) {
    const std::int64_t matrix = std::int64_t(n) * ld, all = 2 * matrix + spare, shift = all % division_unit;
    Real* array = memory + all + (shift == 0 ? 0 : division_unit - shift);
    const auto take = [&] {
      Real* const begin = array;
      array += length(n);
      return begin;
    };
    division_memory m = {};
    m.copy = memory;
    m.factor = memory + matrix;
    for (Real** pointer : {&m.coupling, &m.order, &m.pole, &m.weight, &m.source, &m.place, &m.origin, &m.distance, &m.z,
                           &m.list, &m.kind, &m.header})
      *pointer = take();
    return m;
  }
};

}  // namespace quintet::svd
