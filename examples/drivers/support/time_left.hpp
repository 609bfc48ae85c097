// How long work that reports its progress will still take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::driver {

/// Stages in their order, each with the part of the time that it is expected to take; the parts add up to 1.
using stage_shares = std::vector<std::pair<std::string, double>>;

/// The stages of a clustering: lists of neighbours, and the rounds of the spanning tree. Measured: rounds take 0.6 to
/// 1.6 times the time of the lists (60,000 x 2 to 4,000 x 384), everything after them a few per cent.
inline stage_shares clustering_shares() { return {{"neighbours", 0.5}, {"spanning_tree", 0.5}}; }

class time_left {
 public:
  time_left() = default;
  explicit time_left(stage_shares shares) : shares_(std::move(shares)) {}

  /// Seconds left when `fraction` of `stage` is done `seconds` after some fixed time; nothing before a tenth of the
  /// work, when an estimate is worth little, and for stages that nobody expected.
  std::optional<double> operator()(std::string_view stage, double fraction, double seconds);

 private:
  stage_shares shares_;
  std::optional<double> begin_;
};

/// "about 40 s left", "about 3 min left", "about 2 h left".
std::string left_text(double seconds);

}  // namespace quintet::driver
