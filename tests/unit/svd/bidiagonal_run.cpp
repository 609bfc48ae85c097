#include "bidiagonal_run.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "svd/bidiagonal_values.hpp"

namespace quintet::test {

namespace {

/// What is not written before it is read shows in the result.
template <class Real>
std::vector<Real> memory_for(int n, int ld) {
  return std::vector<Real>(svd::reduction_size<Real>(n, ld), std::numeric_limits<Real>::quiet_NaN());
}

template <class Real>
std::vector<Real> falling_order(std::vector<Real> sigma, bool converged) {
  if (!converged) return {};
  std::sort(sigma.begin(), sigma.end(), std::greater<>());
  return sigma;
}

}  // namespace

std::vector<double> values_of_bidiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  const int n = int(diagonal.size());
  std::vector<double> q(n), e(n), other_q(n), other_e(n);
  for (int i = 0; i < n; ++i) q[i] = diagonal[i] * diagonal[i];
  for (int i = 0; i + 1 < n; ++i) e[i] = beside[i] * beside[i];
  const bool converged = svd::qd_iteration({q.data(), e.data()}, {other_q.data(), other_e.data()}, n).run();
  for (double& value : q) value = std::sqrt(value);
  return falling_order(q, converged);
}

std::vector<double> values_of_bidiagonal_lane(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  constexpr int width = device::host_lanes<double>(), lane = 1;
  using map = svd::lanes_map<double, width, width>;
  const int n = int(diagonal.size());
  std::vector<double> q(n * width), e(n * width), values(n);
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < width; ++l) {
      const double x = diagonal[(i + l + n - lane % n) % n];
      const double y = i + 1 < n ? beside[(i + l + n - 1 - lane % n) % (n - 1)] : 0;
      q[i * width + l] = x * x;
      e[i * width + l] = y * y;
    }
  for (int i = 0; i < n; ++i) {
    q[i * width + lane] = diagonal[i] * diagonal[i];
    e[i * width + lane] = i + 1 < n ? beside[i] * beside[i] : 0;
  }
  const map lanes{0};
  const auto lost = svd::qd_lanes<map>(lanes, q.data(), e.data(), n).run();
  const auto flags = svd::choose(lost, svd::same<map::scalar>(1.0), map::scalar{});
  for (int i = 0; i < n; ++i) values[i] = std::sqrt(q[i * width + lane]);
  return falling_order(values, svd::lane_of(flags, lane) == 0);
}

template <class Real>
std::vector<Real> values_alone(std::vector<Real> x, int rows, int n, int ld) {
  std::vector<Real> memory = memory_for<Real>(n, ld), sigma(n);
  const auto at = svd::bidiagonal_memory<Real>::at(memory.data(), n, ld);
  const alone_map<Real> map{{}, nullptr};
  svd::reduce_to_bidiagonal(map, x.data(), rows, n, ld, at, [] {});
  const bool converged = svd::find_values(map, at, n, sigma.data());
  return falling_order(sigma, converged);
}

template <class Real>
std::vector<Real> values_in_team(int threads, std::vector<Real> x, int rows, int n, int ld) {
  std::vector<Real> memory = memory_for<Real>(n, ld), sigma(n), exchange(threads);
  const auto at = svd::bidiagonal_memory<Real>::at(memory.data(), n, ld);
  std::barrier<> all(threads);
  bool converged = false;
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      const team_map<Real> map{{t, threads, &all}, exchange.data()};
      svd::reduce_to_bidiagonal(map, x.data(), rows, n, ld, at, [] {});
      const bool has_all = svd::find_values(map, at, n, sigma.data());
      if (t == 0) converged = has_all;
    });
  for (std::thread& thread : team) thread.join();
  return falling_order(sigma, converged);
}

template std::vector<float> values_alone(std::vector<float>, int, int, int);
template std::vector<double> values_alone(std::vector<double>, int, int, int);
template std::vector<float> values_in_team(int, std::vector<float>, int, int, int);
template std::vector<double> values_in_team(int, std::vector<double>, int, int, int);

}  // namespace quintet::test
