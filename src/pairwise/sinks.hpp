// The sinks of the pairwise engine, as functions: each picks the instantiation for the dimension and the device.
//
// Instantiated for float and double and the dimensions listed in pairwise.cmake; 0 stands for every other, -1 for
// metrics that sum no squares, -3 for rows of bits, -4 for those of products.
#pragma once

#include <cstdint>

#include "pairwise/cross_kernel.hpp"
#include "pairwise/dense_kernel.hpp"
#include "pairwise/dimensions.hpp"
#include "pairwise/lightest_kernel.hpp"
#include "pairwise/nearest_kernel.hpp"
#include "quintet/device/device.hpp"

namespace quintet::pairwise {

/// Dimensions of embeddings, and of hyperbolic ones.
template <int Dim>
constexpr bool is_embedding_dimension = is_in<Dim>(embedding_dimensions{});
template <int Dim>
constexpr bool is_ball_dimension = is_in<Dim>(ball_dimensions{});
/// Whether a sink takes sums of terms, and not bounds.
template <int Dim>
constexpr bool is_of_sums = Dim != rounded_products;

/// Sinks for one type and one dimension (any_dimension, and other_metrics, see coordinate_term.hpp). Compiled in a
/// translation unit of its own.
template <class Real, int Dim>
struct sinks {
  static void dense(const dense_arguments<Real>& a, const Device& device)
    requires(is_embedding_dimension<Dim> && is_of_sums<Dim>);
  static void cross(const cross_arguments<Real>& a, const Device& device)
    requires(is_ball_dimension<Dim> && Dim >= 0);
  static void nearest(const nearest_arguments<Real>& a, const Device& device);
  static void symmetric_nearest(const nearest_arguments<Real>& a, const Device& device)
    requires(is_embedding_dimension<Dim>);
  static void lightest(const lightest_arguments<Real>& a, std::int64_t tiles, const Device& device)
    requires(is_embedding_dimension<Dim>);
};

/// The whole matrix of distances or mutual reachabilities.
template <class Real>
void dense(const dense_arguments<Real>& a, const Device& device);

/// The rectangular matrix of distances of the row points to the column points.
template <class Real>
void cross(const cross_arguments<Real>& a, const Device& device);

/// The k nearest column points of every row point; with a.splits > 1 the lists of split 0 are the result.
template <class Real>
void nearest(const nearest_arguments<Real>& a, const Device& device);

/// The same for points against themselves, every pair computed once, see list_sharing::symmetric.
template <class Real>
void symmetric_nearest(const nearest_arguments<Real>& a, const Device& device);

/// Lightest edges that leave a component, in the listed tiles.
template <class Real>
void lightest(const lightest_arguments<Real>& a, std::int64_t tiles, const Device& device);

}  // namespace quintet::pairwise
