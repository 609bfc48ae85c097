#include "support/stage_timer.hpp"

namespace quintet::driver {

void stage_timer::add(const std::string& name, double seconds) {
  for (auto& [known, sum] : seconds_) {
    if (known != name) continue;
    sum += seconds;
    return;
  }
  seconds_.emplace_back(name, seconds);
}

}  // namespace quintet::driver
