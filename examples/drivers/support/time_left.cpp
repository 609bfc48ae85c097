#include "support/time_left.hpp"

#include <cmath>
#include <cstdint>

namespace quintet::driver {

std::optional<double> time_left::operator()(std::string_view stage, double fraction, double seconds) {
  constexpr double min_part = 0.1;
  if (!begin_) begin_ = seconds;
  double before = 0;
  for (const auto& [name, share] : shares_) {
    if (name != stage) {
      before += share;
      continue;
    }
    const double done = before + share * fraction;
    if (done < min_part) return {};
    return (seconds - *begin_) * (1 - done) / done;
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
