#include "support/time_left.hpp"

#include <cmath>
#include <cstdint>

namespace quintet::driver {

std::optional<double> time_left::operator()(std::string_view stage, double fraction, double seconds) {
  constexpr double min_part = 0.1;
  double before = 0;
  for (const auto& [name, share] : shares_) {
    if (name != stage) {
      before += share;
      continue;
    }
    const double fraction_done = before + share * fraction;
    // What comes before the first part, as putting the points in order, says nothing about the rate.
    if (!begin_ && fraction_done > 0) begin_ = {fraction_done, seconds};
    if (fraction_done < min_part || fraction_done <= begin_->first) return {};
    return (seconds - begin_->second) * (1 - fraction_done) / (fraction_done - begin_->first);
  }
  return {};
}

std::string left_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  const double unit = seconds < 2 * minute ? 1 : seconds < 2 * hour ? minute : hour;
  const char* name = unit == 1 ? " s" : unit == minute ? " min" : " h";
  return "about " + std::to_string(std::int64_t(std::round(seconds / unit))) + name + " left";
}

}  // namespace quintet::driver
