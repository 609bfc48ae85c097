#include "support/progress_bar.hpp"

#include <algorithm>
#include <chrono>

namespace quintet::driver {

namespace {
double seconds_since(progress_bar::clock::time_point begin) {
  return std::chrono::duration<double>(progress_bar::clock::now() - begin).count();
}
}  // namespace

void progress_bar::show(std::string_view stage, double fraction) {
  const auto left = left_(stage, fraction, seconds_since(start_));
  if (clock::now() - start_ < patience_) return;
  constexpr int width = 30;
  const double part = std::clamp(fraction, 0.0, 1.0);
  const int full = static_cast<int>(part * width);
  std::string line(stage.substr(0, 30));
  line.append(" [").append(static_cast<std::size_t>(full), '#').append(static_cast<std::size_t>(width - full), ' ');
  line.append("] ").append(std::to_string(static_cast<int>(part * 100))).append(" %");
  if (left) line.append(", ").append(left_text(*left));
  if (line == line_) return;
  line_ = std::move(line);
  out_ << "\r\033[K" << line_ << std::flush;
}

void progress_bar::erase() {
  if (line_.empty()) return;
  line_.clear();
  out_ << "\r\033[K" << std::flush;
}

void progress_log::show(std::string_view stage, double fraction) {
  const clock::time_point instant = clock::now();
  const auto left = left_(stage, fraction, seconds_since(start_));
  if (instant - last_ < interval_) return;
  last_ = instant;
  const double part = std::clamp(fraction, 0.0, 1.0);
  out_ << program_ << ": " << stage << " " << static_cast<int>(part * 100) << " % after "
       << std::chrono::duration_cast<std::chrono::seconds>(instant - start_).count() << " s";
  if (left) out_ << ", " << left_text(*left);
  out_ << std::endl;
}

}  // namespace quintet::driver
