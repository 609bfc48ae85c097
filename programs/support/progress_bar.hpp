// How far long work has come: a line on a terminal that changes, or lines of a log.
#pragma once

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

#include "support/time_left.hpp"

namespace quintet::driver {

/// Takes the reports of a progress_callback. Shows nothing in the first second, so that short work leaves no flicker;
/// the line is erased at the end.
class progress_bar {
 public:
  using clock = std::chrono::steady_clock;

  /// `out` must be a terminal.
  explicit progress_bar(std::ostream& out, clock::duration patience = std::chrono::seconds(1))
      : out_(out), patience_(patience) {}
  ~progress_bar() { erase(); }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// From now on the time left is shown too.
  void expect(stage_shares shares) { left_ = time_left(std::move(shares)); }
  void show(std::string_view stage, double fraction);
  /// Takes the line away, so that something else can be printed.
  void erase();

 private:
  std::ostream& out_;
  clock::duration patience_;
  clock::time_point start_ = clock::now();
  std::string line_;  // what stands there now
  time_left left_;
};

/// The same where there is no terminal: a line every 10 seconds, "quintet-hdbscan: neighbours 35 % after 20 s, about 90
/// s left". Short work leaves none.
class progress_log {
 public:
  using clock = std::chrono::steady_clock;

  progress_log(std::ostream& out, std::string program, clock::duration interval = std::chrono::seconds(10))
      : out_(out), program_(std::move(program)), interval_(interval) {}

  void expect(stage_shares shares) { left_ = time_left(std::move(shares)); }
  void show(std::string_view stage, double fraction);

 private:
  std::ostream& out_;
  std::string program_;
  clock::duration interval_;
  clock::time_point start_ = clock::now(), last_ = start_;
  time_left left_;
};

}  // namespace quintet::driver
