// An index that is kept: points are ordered once, and every search after that costs only itself.
//
//   const quintet::neighbours::index<float> index({data, n, dim});
//   auto found = index.nearest({queries, q, dim}, 10);    // the bits of neighbours::nearest(queries, points, 10)
//   index.nearest_into(query, 10, numbers, distances);    // one query: microseconds, and no memory is allocated
//
// The points may go once the index is made: it has a copy. Searches from many threads at once are safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/neighbours/neighbours.hpp"

namespace quintet::neighbours {

/// How an index answers. Results are the same.
enum class search {
  automatic,  ///< by the tree if a sample of the searches shows that it pays
  tree,       ///< past what boxes of points exclude
  all_pairs   ///< by a look at every point
};

/// "automatic", "tree" or "all_pairs".
std::string_view to_string(search value);

/// What an index is made for.
struct index_options {
  point_metric distance = metric::euclidean;  ///< d of points
  search method = search::automatic;          ///< how it answers
};

namespace detail {
template <class Real>
struct index_state;
}

/// Points [N x D], N >= 0, ordered for searches. Storage is float, double, half or bfloat16.
///
/// Every answer has the bits and the order of the function of the same name in neighbours.hpp, for any number of
/// queries and threads, after append() too. Const members may run on many threads at once. Copies share their points.
/// Memory: the points once in the type of the computation (16-bit ones as floats), 4 bytes a point, and boxes of 4 D
/// numbers per 64 points. Points of metric::haversine take 8 numbers.
template <class Storage>
class index {
 public:
  using storage_type = Storage;         ///< of points and queries
  using Real = accumulator_t<Storage>;  ///< of distances

  /// Copies and orders the points. Throws what neighbours::nearest() throws. Cost: about D N log N.
  explicit index(matrix_view<const Storage> points, const index_options& settings = {},
                 const Device& device = Device::best());

  /// The k nearest points of every query [Q x D], 1 <= k <= N. Throws InvalidArgument for other k and dimensions.
  ///
  /// Up to 63 queries are answered by the calling thread alone. A query with a coordinate far beyond those of the
  /// points (by 2^16; for Minkowski distances by a power of two) takes as long as neighbours::nearest() does.
  nearest_result<Real> nearest(matrix_view<const Storage> queries, std::int64_t k) const;
  /// The k nearest other points of every point, 1 <= k <= N - 1. Cost: as neighbours::nearest(), less the tree.
  nearest_result<Real> nearest_others(std::int64_t k) const;
  /// All points within `radius` of every query; radius >= 0 and finite.
  radius_result<Real> within_radius(matrix_view<const Storage> queries, double radius) const;
  /// All other points within `radius` of every point.
  radius_result<Real> others_within_radius(double radius) const;
  /// The k nearest points of one query of D coordinates into index[k] and distance[k], as nearest() gives them; returns
  /// how many there are. Nothing is allocated after the first call of a thread, unless the metric is lorentz. Throws
  /// InvalidArgument for k.
  std::int64_t nearest_into(const Storage* query, std::int64_t k, std::int64_t* index, Real* distance) const;

  /// Points N, N + 1, ...: afterwards this is the index of all of them. Copies stay what they are. Not to be called
  /// while others use this object.
  ///
  /// M points get a tree, with those of earlier calls that had fewer than twice as many: each point is ordered about
  /// log2(N / M) times in all. A search then walks through up to as many trees. Cost: that of an index of M points; of
  /// all of them now and then, and if a coordinate has a larger power of two than all before (not cosine, poincare).
  void append(matrix_view<const Storage> points);

  /// The index as bytes, for files (quintet/io/neighbours_index.hpp) and other processes. Their size: D numbers of
  /// Storage (cosine: Real) and 4 bytes a valid point. Memory: three times that.
  std::vector<std::byte> to_bytes() const;
  /// The index that to_bytes() was called for, on any device; only boxes are made again. Throws FileError, which names
  /// them by `label`, for bytes that are incomplete, changed, of another Storage or of a later version. Cost: O(N D).
  static index from_bytes(std::span<const std::byte> bytes, const Device& device = Device::best(),
                          std::string_view label = "index");

  std::int64_t size() const;                         ///< N
  std::int64_t dim() const;                          ///< D
  point_metric distance() const;                     ///< d
  std::vector<std::int64_t> invalid_points() const;  ///< rows that are no point's neighbours
  std::int64_t bytes() const;                        ///< memory it holds
  search used(std::int64_t queries) const;           ///< how it answers so many queries
  const Device& device() const;                      ///< where it is

 private:
  explicit index(std::shared_ptr<const detail::index_state<Real>> state);

  std::shared_ptr<const detail::index_state<Real>> state_;
};

/// An index of some Storage.
using any_index = std::variant<index<float>, index<double>, index<half>, index<bfloat16>>;

/// from_bytes() of the Storage that the bytes have.
any_index any_index_from_bytes(std::span<const std::byte> bytes, const Device& device = Device::best(),
                               std::string_view label = "index");

}  // namespace quintet::neighbours
