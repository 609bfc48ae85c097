#include "quintet/core/progress.hpp"

#include "quintet/core/error.hpp"

namespace quintet {

void progress::pass_on(std::string_view stage, double fraction) {
  // Not std::clamp: NaN (0 of 0 tiles) must come out as a number too.
  const double part = fraction > 0.0 ? (fraction < 1.0 ? fraction : 1.0) : 0.0;
  const clock::time_point instant = clock::now();
  const bool new_stage = stage != stage_;
  const bool ends = part >= 1.0 && !finished_;
  if (!new_stage && !ends && (finished_ || instant - last_ < interval_)) return;
  if (new_stage) stage_ = stage;
  finished_ = part >= 1.0;
  last_ = instant;
  if (!callback_(stage, part)) throw Cancelled(stage);
}

}  // namespace quintet
