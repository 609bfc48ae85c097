// From likelihoods of rows to the log-likelihood of all sites: weights of patterns, constant patterns (ascertainment),
// and the number of orders of the copies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "snp/likelihood/pattern_blocks.hpp"

namespace quintet::snp {

class site_sums {
 public:
  /// `own`: the patterns that this process computes; the constant patterns are the rows behind them.
  site_sums(share_of_range own, std::shared_ptr<process_group> group);
  /// Takes the patterns that count from the data.
  void count(const Data& data, const model& m);

  /// log L of all patterns, those of weight 0 only where they are asked for.
  const std::vector<double>& pattern_logs(const pattern_blocks& blocks, bool is_each_needed);
  double log_likelihood(const pattern_blocks& blocks, const model& m);
  /// Derivative of the log-likelihood by the (unscaled) likelihood of every row that is computed here, times that
  /// likelihood. Of a group the first process counts the constant patterns.
  std::vector<double> row_weights(const pattern_blocks& blocks, const model& m) const;
  /// The pattern of every site, or a negative number.
  std::span<const std::int64_t> pattern_of_site() const { return pattern_of_site_; }

 private:
  double constant(const pattern_blocks& blocks, std::size_t allele) const;
  double weight() const;

  share_of_range own_;
  std::shared_ptr<process_group> group_;
  std::size_t constants_;        // row that the first constant pattern is among those that are computed here
  std::vector<double> weights_;  // of the patterns that count
  std::vector<double> logs_;     // of all patterns, while they are summed
  std::vector<std::int64_t> pattern_of_site_;
  double ordering_ = 0;
};

}  // namespace quintet::snp
