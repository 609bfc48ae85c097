// Mean and covariance of points of a chain, and a factor of it for normal steps.
//
// The k-th of n points has a weight that grows as k^2, because a chain comes from far away: mean and covariance are
// those of the last part of the way. Covariances of dependent points are uncertain, so they are multiplied by n / (n +
// m), m = 20 d; variances are not. Then the matrix is definite, and its Cholesky factor is computed whenever n has
// grown by a tenth, from n = 10 d on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quintet::snp {

class learnt_covariance {
 public:
  explicit learnt_covariance(std::size_t size);

  std::size_t size() const { return mean_.size(); }
  void add(std::span<const double> point);
  /// Whether enough points were added for steps.
  bool has_factor() const { return !factor_.empty(); }
  /// L z added to `point`, L L' the covariance when it was last factored.
  void add_step(std::span<const double> normals, double scale, std::span<double> point) const;

  ///@{
  /// All of it as numbers, and back from the front of a list; the numbers that were read are taken off.
  void write(std::vector<double>& numbers) const;
  static learnt_covariance read(std::span<const double>& numbers);
  ///@}

 private:
  void factorise();

  std::int64_t count_ = 0, factored_ = 0;  // points; those of the factor
  std::vector<double> mean_;
  std::vector<double> covariance_, factor_;  // rows of the lower triangle
};

}  // namespace quintet::snp
