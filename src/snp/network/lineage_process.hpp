// The birth-hybridization process without names: how many lineages there are, and how many reticulations there have
// been, on the way from the origin down to height 0. A Markov chain on (lineages j, reticulations i) with
//   (j, i) -> (j + 1, i) at rate j lambda,   (j, i) -> (j - 1, i + 1) at rate j (j - 1) / 2 nu,
// of which only states matter that can still end in (n, r) with r <= R: i <= R, j <= n + R - i.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/philox.hpp"

namespace quintet::snp {

/// A change of the number of lineages.
struct lineage_event {
  double time;    ///< from the origin downwards
  bool is_merge;  ///< two lineages became a reticulation; otherwise one split
};

/// What happened from the origin down.
struct lineage_history {
  double end;  ///< time from the origin to height 0
  std::vector<lineage_event> events;
};

class lineage_process {
 public:
  lineage_process(std::int64_t species, std::int64_t max_reticulations, double speciation_rate,
                  double hybridization_rate);

  /// log exp(Q time)[(lineages, 0), (n, r)] for r = 0 ... R, by uniformisation: sums of non-negative numbers, each
  /// right to about 1e-14 of itself. -infinity where it is 0.
  std::vector<double> log_end_probabilities(double time, std::int64_t lineages = 1) const;

  /// The chance to be in (n, r), r <= R, when an exponential time with this rate is over, from one lineage.
  double chance_to_end(double stopping_rate) const;
  /// M[(2, 0), (n, r)] and M^2[(2, 0), (n, r)] for r = 0 ... R, M = (stopping_rate - Q)^-1.
  struct resolvent {
    std::vector<double> first, second;
  };
  resolvent from_two(double stopping_rate) const;

  ///@{
  /// The process from one lineage, given that it ends with n lineages and r <= R; `only` >= 0: with so many
  /// reticulations. It ends after a time that is exponential with this rate, or fixed.
  lineage_history draw_stopped(double stopping_rate, random_stream& random) const;
  lineage_history draw_until(double time, std::int64_t only, random_stream& random) const;
  ///@}

 private:
  using table = std::vector<double>;  // of all states

  std::int64_t lineages_end(std::int64_t i) const { return species_ + max_ - i; }  // the most lineages
  std::size_t place(std::int64_t j, std::int64_t i) const {
    return static_cast<std::size_t>(i * (species_ + max_ + 2) + j);
  }
  double split_rate(std::int64_t j) const { return static_cast<double>(j) * speciation_rate_; }
  double merge_rate(std::int64_t j) const { return 0.5 * static_cast<double>(j * (j - 1)) * hybridization_rate_; }
  double exit_rate(std::int64_t j) const { return split_rate(j) + merge_rate(j); }
  double fastest_rate() const { return exit_rate(species_ + max_); }
  void step_forward(const table& from, table& to) const;
  void step_backward(const table& from, table& to) const;
  table chances_to_end(double stopping_rate) const;

  std::int64_t species_, max_;
  double speciation_rate_, hybridization_rate_;
};

}  // namespace quintet::snp
