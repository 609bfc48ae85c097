// The specialisations of the Jacobi kernel, in one place.
#pragma once

#include "svd/jacobi.hpp"
#include "svd/jacobi_kernel.hpp"

namespace quintet::svd {

/// Numbers of team memory for X and V: n = 64 in float, n = 52 in double.
template <class Real>
constexpr int team_numbers = sizeof(Real) == 4 ? 2 * 64 * 64 : 2 * 52 * 52;

template <class Real>
using gpu_small = device_rows<Real, 32, team_numbers<Real>>;
template <class Real>
using gpu_middle = device_rows<Real, 16, 0>;
template <class Real>
using gpu_large = device_rows<Real, 8, 0>;
/// For emulated devices, whose teams have 16 threads.
template <class Real>
using emulated_small = device_rows<Real, 8, team_numbers<Real>>;

/// Compiled in translation units of their own: svd.cmake.
template <class Policy>
struct jacobi_launch {
  static void run(const jacobi_job<typename Policy::real>& job, const Device& device);
};

/// The same for square matrices of N columns.
template <class Policy, int N>
struct small_launch {
  static void run(const jacobi_job<typename Policy::real>& job, const Device& device);
};

}  // namespace quintet::svd
