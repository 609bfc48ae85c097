// How long work that reports its progress will still take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::driver {

/// Stages in their order, each with the part of the whole time that it is expected to take.
using stage_shares = std::vector<std::pair<std::string, double>>;

/// The stages of a clustering of points: lists of neighbours, and the rounds of the spanning tree. Measured: with a
/// tree of blocks (up to 32 dimensions) rounds take 0.7 to 1.6 times the time of the lists, and labels 0.02 to 0.25;
/// without one rounds take 0.1 to 0.9.
inline stage_shares clustering_shares(std::int64_t dimensions) {
  if (dimensions <= 32) return {{"neighbours", 0.5}, {"spanning_tree", 0.37}};
  return {{"neighbours", 0.85}, {"spanning_tree", 0.15}};
}

class time_left {
 public:
  time_left() = default;
  explicit time_left(stage_shares shares) : shares_(std::move(shares)) {}

  /// Seconds left when `fraction` of `stage` is done `seconds` after some fixed time; nothing before a tenth of the
  /// work, when an estimate is worth little, and for stages that nobody expected.
  std::optional<double> operator()(std::string_view stage, double fraction, double seconds);

 private:
  stage_shares shares_;
  std::optional<std::pair<double, double>> begin_;  ///< what was done first, and when
};

/// "about 40 s left", "about 3 min left", "about 2 h left".
std::string left_text(double seconds);

}  // namespace quintet::driver
