// What a run of the suite found, beside its baseline, and the files it goes to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "accuracy/case_run.hpp"

namespace quintet::accuracy {

/// Largest errors of earlier runs: case -> device -> quantity.
class baseline {
 public:
  baseline() = default;
  /// A file that does not exist is an empty baseline; throws std::runtime_error for what is no baseline.
  explicit baseline(const std::string& path);

  /// NaN where there is none. An offload device without figures of its own has those of the emulated device, whose
  /// kernels have the same text.
  double error_of(const std::string& id, const measurement& m) const;
  /// With `widen` the larger of both stays.
  void set(const std::string& id, const measurement& m, bool widen);
  /// One line a case.
  void write(const std::string& path) const;

 private:
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> errors_;
};

/// The error above which a quantity has grown: twice its baseline. Errors below half a unit (or a sixteenth of a bound
/// that is smaller) are rounding itself and may double as they like.
double growth_limit(double baseline_error, double bound);

/// Everything that was run, in the order of the cases.
class results {
 public:
  explicit results(const baseline& before) : before_(before) {}

  void add(const test_case& c, const case_run& run);
  /// Lines for people, one per failure: bounds passed, errors grown, devices apart.
  const std::vector<std::string>& failures() const { return failures_; }
  /// The same for quantities without a baseline: failures, unless this run becomes the baseline.
  const std::vector<std::string>& fresh() const { return fresh_; }
  std::int64_t cases() const { return std::int64_t(cases_.size()); }
  std::int64_t measured() const { return measured_; }
  std::int64_t skipped() const { return skipped_; }

  /// Nothing in them depends on the time or on the order in which threads ran: two runs write the same bytes.
  void write_json(const std::string& path) const;
  void write_hdf5(const std::string& path) const;
  /// Baseline with all measurements of this run.
  baseline updated(bool widen) const;

 private:
  struct entry {
    test_case c;
    std::vector<measurement> measurements;
    std::vector<comparison> comparisons;
    std::string skipped;
  };
  nlohmann::ordered_json json_of(const entry& e) const;

  const baseline& before_;
  std::vector<entry> cases_;
  std::vector<std::string> failures_, fresh_;
  std::int64_t measured_ = 0, skipped_ = 0;
};

/// Machine, build and devices: {"machine": {...}, "build": {...}, "devices": [...]}.
nlohmann::ordered_json environment();

}  // namespace quintet::accuracy
