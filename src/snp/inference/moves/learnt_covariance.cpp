#include "snp/inference/moves/learnt_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/core/error.hpp"

namespace quintet::snp {

namespace {

constexpr std::int64_t points_per_number = 10;
constexpr double shrinkage_per_number = 20;

std::size_t triangle(std::size_t rows) { return rows * (rows + 1) / 2; }

}  // namespace

learnt_covariance::learnt_covariance(std::size_t size) : mean_(size, 0), covariance_(triangle(size), 0) {}

void learnt_covariance::add(std::span<const double> point) {
  // Weights k (k + 1) / 2: the last one is this part of their sum.
  const double part = 3 / (double(++count_) + 2);
  std::vector<double> from_mean(size());
  for (std::size_t i = 0; i < size(); ++i) from_mean[i] = point[i] - mean_[i];
  double* element = covariance_.data();
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++element)
      *element = (1 - part) * (*element + part * from_mean[i] * from_mean[j]);
    mean_[i] += part * from_mean[i];
  }
  const auto numbers = std::int64_t(size());
  if (count_ >= points_per_number * numbers && 10 * count_ >= 11 * factored_) factorise();
}

void learnt_covariance::factorise() {
  factored_ = count_;
  const double shrinkage = double(count_) / (double(count_) + shrinkage_per_number * double(size()));
  std::vector<double> factor(covariance_.size());
  for (std::size_t i = 0; i < size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double *const row = &factor[triangle(i)], *const other = &factor[triangle(j)];
      double sum = covariance_[triangle(i) + j] * (i == j ? 1 : shrinkage);
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      // A number that never moved has the variance 0.
      factor[triangle(i) + j] = i == j ? std::sqrt(std::max(sum, std::numeric_limits<double>::min())) : sum / other[j];
    }
  factor_ = std::move(factor);
}

void learnt_covariance::add_step(std::span<const double> normals, double scale, std::span<double> point) const {
  const double* element = factor_.data();
  for (std::size_t i = 0; i < size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += *element++ * normals[j];
    point[i] += scale * sum;
  }
}

void learnt_covariance::write(std::vector<double>& numbers) const {
  numbers.insert(numbers.end(), {double(size()), double(count_), double(factored_)});
  for (const std::vector<double>* list : {&mean_, &covariance_, &factor_})
    numbers.insert(numbers.end(), list->begin(), list->end());
}

learnt_covariance learnt_covariance::read(std::span<const double>& numbers) {
  const auto take = [&](std::size_t count) {
    if (numbers.size() < count) throw InvalidArgument("the snapshot is of another sampler (too few numbers learnt)");
    const std::span<const double> values = numbers.first(count);
    numbers = numbers.subspan(count);
    return values;
  };
  const std::span<const double> head = take(3);
  // 4096 numbers are 64 MB; a state has far fewer.
  if (!(head[0] >= 0 && head[0] <= 4096)) throw InvalidArgument("the snapshot is of another sampler (numbers learnt)");
  learnt_covariance result{std::size_t(head[0])};
  result.count_ = std::int64_t(head[1]);
  result.factored_ = std::int64_t(head[2]);
  const auto fill = [&](std::vector<double>& list, std::size_t count) {
    const std::span<const double> values = take(count);
    list.assign(values.begin(), values.end());
  };
  fill(result.mean_, result.size());
  fill(result.covariance_, triangle(result.size()));
  if (result.factored_ > 0) fill(result.factor_, triangle(result.size()));
  return result;
}

}  // namespace quintet::snp
