// Seconds per stage of a program.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "quintet/core/profile.hpp"

namespace quintet::driver {

class stage_timer {
 public:
  using clock = std::chrono::steady_clock;

  /// Measures from its making to its end, exceptions included, and is a region of a profiler.
  class scope {
   public:
    scope(stage_timer& timer, std::string name)
        : timer_(timer), name_(std::move(name)), region_(name_.c_str(), &seconds_) {}
    ~scope() {
      region_.end();
      timer_.add(name_, seconds_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    stage_timer& timer_;
    std::string name_;
    double seconds_ = 0;
    stage_region region_;
  };

  /// Starts a stage; a name that comes again adds to what it has.
  [[nodiscard]] scope start(std::string name) { return scope(*this, std::move(name)); }
  void add(const std::string& name, double seconds);
  /// In the order in which the stages ended first.
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }
  /// Seconds since the timer was made.
  double total() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  clock::time_point start_ = clock::now();
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace quintet::driver
