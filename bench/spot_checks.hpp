// Whether a result is right, at a few places: each value is computed a second time with Eigen, in double. What is wrong
// throws Error, so that no wrong result is timed.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"
#include "quintet/snp/network/network.hpp"
#include "quintet/spgemm/csr.hpp"
#include "reference/snp_reference.hpp"

namespace quintet::bench {

inline void check_near(double value, double expected, double relative, const char* name) {
  if (!(std::abs(value - expected) <= relative * std::max(1.0, std::abs(expected))))
    throw Error(text(name, " is ", value, ", not ", expected));
}

/// The k-th of `count` places spread over n.
inline std::int64_t place(std::int64_t k, std::int64_t count, std::int64_t n) { return (2 * k + 1) * n / (2 * count); }

template <class Real>
Eigen::VectorXd row_of(matrix_view<const Real> points, std::int64_t i) {
  return Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(&points(i, 0), points.cols()).template cast<double>();
}

inline double euclidean(const Eigen::VectorXd& x, const Eigen::VectorXd& y) { return (x - y).norm(); }

/// d = acosh(1 + 2 |x - y|^2 / ((1 - |x|^2)(1 - |y|^2)))
inline double in_ball(const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  return std::acosh(1 + 2 * (x - y).squaredNorm() / ((1 - x.squaredNorm()) * (1 - y.squaredNorm())));
}

/// The distances of point i to all others, ascending.
template <class Real, class Distance>
std::vector<double> sorted_distances(const Eigen::VectorXd& from, matrix_view<const Real> points, std::int64_t without,
                                     Distance distance) {
  std::vector<double> all;
  for (std::int64_t j = 0; j < points.rows(); ++j)
    if (j != without) all.push_back(distance(from, row_of(points, j)));
  std::sort(all.begin(), all.end());
  return all;
}

/// Core distances at five points.
template <class Real>
void check_core_distances(matrix_view<const float> points, const std::vector<Real>& core, std::int64_t k) {
  for (std::int64_t s = 0; s < 5; ++s) {
    const std::int64_t i = place(s, 5, points.rows());
    const auto all = sorted_distances(row_of(points, i), points, i, euclidean);
    check_near(core[std::size_t(i)], all[std::size_t(k - 1)], 1e-5, "core distance");
  }
}

/// max(core_i, core_j, |x_i - x_j|) at a hundred pairs.
inline void check_mutual_reachability(matrix_view<const float> points, std::span<const float> core,
                                      matrix_view<const float> result) {
  for (std::int64_t s = 0; s < 100; ++s) {
    const std::int64_t i = place(s % 10, 10, points.rows()), j = place(s / 10, 10, points.rows());
    const double distance =
        i == j ? 0 : std::max({euclidean(row_of(points, i), row_of(points, j)), double(core[i]), double(core[j])});
    check_near(result(i, j), distance, 1e-5, "mutual reachability");
  }
}

/// Distances of the ball at a hundred pairs.
inline void check_ball_distances(matrix_view<const float> points, matrix_view<const float> result) {
  for (std::int64_t s = 0; s < 100; ++s) {
    const std::int64_t i = place(s % 10, 10, points.rows()), j = place(s / 10, 10, points.rows());
    check_near(result(i, j), in_ball(row_of(points, i), row_of(points, j)), 1e-5, "distance in the ball");
  }
}

/// All k neighbours of three queries.
inline void check_ball_neighbours(matrix_view<const float> queries, matrix_view<const float> points,
                                  matrix_view<const float> distances) {
  for (std::int64_t s = 0; s < 3; ++s) {
    const std::int64_t i = place(s, 3, queries.rows());
    const auto all = sorted_distances(row_of(queries, i), points, -1, in_ball);
    for (std::int64_t k = 0; k < distances.cols(); ++k)
      check_near(distances(i, k), all[std::size_t(k)], 1e-5, "neighbour's distance");
  }
}

/// |A - U S V^T| <= 50 n eps |A| for the first and the last matrix of a batch of square ones.
template <class Real>
void check_decomposition(batch_view<const Real> a, batch_view<const Real> u, matrix_view<const Real> s,
                         batch_view<const Real> v) {
  const auto copy = [](const batch_view<const Real>& m, std::int64_t b) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(
        m.rows(), m.cols(), [&](Eigen::Index i, Eigen::Index j) { return double(m(b, i, j)); }));
  };
  for (const std::int64_t b : {std::int64_t(0), a.batch() - 1}) {
    const Eigen::MatrixXd whole = copy(a, b);
    const Eigen::MatrixXd product = copy(u, b) * row_of(s, b).asDiagonal() * copy(v, b).transpose();
    check_near((whole - product).norm() / whole.norm(), 0, 50 * double(a.rows()) * std::numeric_limits<Real>::epsilon(),
               "residual");
  }
}

/// y = A x, by rows.
template <class Value, class Index>
Eigen::VectorXd times(const spgemm::csr_view<Value, Index>& a, const Eigen::VectorXd& x) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      y[i] += double(a.values[k]) * x[Eigen::Index(a.columns[k])];
  return y;
}

/// Numbers between 1 and 2, so that a wrong value, column or row changes a sum.
inline Eigen::VectorXd weights(std::int64_t n) {
  return Eigen::VectorXd::NullaryExpr(
      n, [](Eigen::Index i) { return 1 + std::fmod(double(i) * 0.6180339887498949, 1.0); });
}

/// |C x - A (B x)| for a vector without zeros, against the sum of the absolute terms.
template <class Value, class Index>
void check_product(const spgemm::csr_view<Value, Index>& a, const spgemm::csr_view<Value, Index>& b,
                   const spgemm::csr_view<Value, Index>& c) {
  const auto absolute = [](const spgemm::csr_view<Value, Index>& m, std::vector<Value>& values) {
    auto result = m;
    values.assign(m.values, m.values + m.row_pointers[m.rows]);
    for (Value& value : values) value = std::abs(value);
    result.values = values.data();
    return result;
  };
  std::vector<Value> of_a, of_b;
  const Eigen::VectorXd x = weights(b.cols), expected = times(a, times(b, x)), result = times(c, x),
                        scale = times(absolute(a, of_a), times(absolute(b, of_b), x));
  for (Eigen::Index i = 0; i < result.size(); ++i)
    if (!(std::abs(result[i] - expected[i]) <= 1e-12 * scale[i]))
      throw Error(text("row ", i, " of the product times a vector is ", result[i], ", not ", expected[i]));
}

/// Log-likelihoods of three of the sites, against those of the rules as they are written.
inline void check_site_likelihoods(const snp::Network& network,
                                   const std::vector<std::vector<reference::snp_state>>& sites,
                                   std::span<const double> log_likelihoods, double u, double v) {
  for (std::int64_t s = 0; s < 3; ++s) {
    const auto i = std::size_t(place(s, 3, std::int64_t(sites.size())));
    const long double expected = reference::snp_likelihood(network, sites[i], u, v, reference::exponentials::in_double);
    check_near(log_likelihoods[i], double(std::log(expected)), 1e-9, "log-likelihood of a site");
  }
}

}  // namespace quintet::bench
