// From likelihoods of rows to the log-likelihood of all sites: weights of patterns, constant patterns (ascertainment),
// and the number of orders of the copies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "snp/likelihood/pattern_blocks.hpp"

namespace quintet::snp {

class site_sums {
 public:
  site_sums() = default;
  /// Takes the patterns that count from the data. This process computes its share of the patterns, and the rows behind
  /// them are its share of the pairs of constant patterns.
  site_sums(const Data& data, const model& m, std::shared_ptr<process_group> group);

  /// log L of all patterns.
  std::vector<double> pattern_logs(const pattern_blocks& blocks) const;
  double log_likelihood(const pattern_blocks& blocks, const model& m) const;
  /// How much larger the log-likelihood can be where the likelihood of every site can be larger by `mass`.
  double truncation_bound(const pattern_blocks& blocks, const model& m, double mass) const;
  /// The pattern that counts with the smallest likelihood, and its logarithm.
  std::pair<std::int64_t, double> least_likely(const pattern_blocks& blocks) const;
  /// Derivative of the log-likelihood by the (unscaled) likelihood of every row that is computed here, times that
  /// likelihood.
  std::vector<double> row_weights(const pattern_blocks& blocks, const model& m) const;
  /// The pattern of every site, or a negative number.
  std::span<const std::int64_t> pattern_of_site() const { return pattern_of_site_; }

 private:
  /// log L of the patterns that are computed here, those of weight 0 only where they are asked for.
  std::vector<double> own_logs(const pattern_blocks& blocks, bool is_each_needed) const;
  /// Likelihoods of the own pair of constant patterns.
  std::pair<double, double> constants(const pattern_blocks& blocks, std::int64_t pair) const;
  void gather_values(std::vector<double>& values) const;
  /// By all processes: logs of all patterns, then two numbers for each pair of constant ones, probabilities where sites
  /// are conditioned on being polymorphic and logs otherwise.
  std::vector<double> all_values(const pattern_blocks& blocks, const model& m) const;

  std::shared_ptr<process_group> group_;
  share_of_range own_{}, own_pairs_{};
  std::size_t first_constant_ = 0;         // row among those that are computed here
  std::vector<double> weights_;            // of the patterns that count
  std::vector<double> condition_weights_;  // sums of them, by pair of constant patterns
  std::vector<std::int64_t> pattern_of_site_;
  double ordering_ = 0;
};

}  // namespace quintet::snp
