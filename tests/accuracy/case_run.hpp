// What an operation of a family does with a case: it computes on every device, measures errors against the reference,
// and compares devices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "accuracy/test_case.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/device/device.hpp"

namespace quintet::accuracy {

/// Largest and mean of errors; NaN counts as infinite.
struct error_sum {
  double max = 0, sum = 0;
  std::int64_t count = 0;

  void add(double error) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    max = std::max(max, error);
    sum += error;
    ++count;
  }
  double mean() const { return count > 0 ? sum / double(count) : 0; }
};

/// Errors of one quantity on one device, in `unit`s.
struct measurement {
  std::string device, quantity, unit;
  error_sum errors;
  double bound = 0;
};

/// One device beside the host: the largest difference, in units; bound 0 where the headers promise the same bits.
struct comparison {
  std::string device, quantity, unit;
  error_sum differences;
  double bound = 0;
};

/// The precision a storage type is computed with.
template <class T>
constexpr double epsilon_of = std::numeric_limits<accumulator_t<T>>::epsilon();

/// How far results may be from exact ones, and devices from each other.
struct tolerance {
  double bound;                    ///< in epsilon times the size of the element
  bool same_bits = false;          ///< on every device; otherwise devices agree to twice the bound
  double floor = 0;                ///< sizes are max(|exact|, floor)
  std::vector<double> sizes = {};  ///< or these, one per element
  std::string unit = "eps |x|";    ///< what the size is, for readers
};

/// |found - exact| of every element in units of epsilon times its size; two equal infinities or NaNs agree.
template <class Found, class Exact>
error_sum element_errors(const std::vector<Found>& found, const std::vector<Exact>& exact, const tolerance& allowed) {
  error_sum errors;
  if (found.size() != exact.size()) errors.add(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < std::min(found.size(), exact.size()); ++i) {
    const long double f = static_cast<long double>(found[i]), e = static_cast<long double>(exact[i]);
    const bool same = f == e || (std::isnan(f) && std::isnan(e));
    const long double size = allowed.sizes.empty() ? std::max(std::fabs(e), static_cast<long double>(allowed.floor))
                                                   : static_cast<long double>(allowed.sizes.at(i));
    errors.add(same ? 0 : double(std::fabs(f - e) / (size * std::numeric_limits<Found>::epsilon())));
  }
  return errors;
}

/// Differences in bits: 0 or infinity for every element; zeros of different sign differ.
template <class T>
error_sum bit_differences(const std::vector<T>& a, const std::vector<T>& b) {
  error_sum errors;
  if (a.size() != b.size()) errors.add(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool same = (a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i])) || (a[i] != a[i] && b[i] != b[i]);
    errors.add(same ? 0 : std::numeric_limits<double>::infinity());
  }
  return errors;
}

/// "host", "emulated" or "offload".
std::string kind_name(const Device& device);

class case_run {
 public:
  /// devices: the host first.
  case_run(const test_case& c, std::vector<Device> devices) : case_(c), devices_(std::move(devices)) {}

  const test_case& parameters() const { return case_; }
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<measurement>& measurements() const { return measurements_; }
  const std::vector<comparison>& comparisons() const { return comparisons_; }
  const std::string& skipped() const { return skipped_; }

  void measured(const Device& device, const std::string& quantity, const std::string& unit, const error_sum& errors,
                double bound) {
    measurements_.push_back({kind_name(device), quantity, unit, errors, bound});
  }
  void compared(const Device& device, const std::string& quantity, const std::string& unit,
                const error_sum& differences, double bound) {
    comparisons_.push_back({kind_name(device), quantity, unit, differences, bound});
  }
  /// The case cannot run here: reference data are absent.
  void skip(const std::string& why) { skipped_ = why; }

 private:
  const test_case& case_;
  std::vector<Device> devices_;
  std::vector<measurement> measurements_;
  std::vector<comparison> comparisons_;
  std::string skipped_;
};

/// Measures compute(device), a vector of numbers, on every device of the run.
template <class Compute, class Exact>
void measure_elements(case_run& run, const std::string& quantity, const std::vector<Exact>& exact,
                      const tolerance& allowed, Compute compute) {
  using found = decltype(compute(Device::host()));
  found host;
  for (const Device& device : run.devices()) {
    found values = compute(device);
    run.measured(device, quantity, allowed.unit, element_errors(values, exact, allowed), allowed.bound);
    if (device.kind() == device_kind::host)
      host = std::move(values);
    else if (allowed.same_bits)
      run.compared(device, quantity, "bits", bit_differences(values, host), 0);
    else
      run.compared(device, quantity, allowed.unit, element_errors(values, host, allowed), 2 * allowed.bound);
  }
}

/// Calls action.operator()<T>() with the type that the case names. Throws std::runtime_error for another.
template <class Action>
void with_real(const test_case& c, Action action) {
  if (c.type == "float") return action.template operator()<float>();
  if (c.type == "double") return action.template operator()<double>();
  throw std::runtime_error("case " + c.id() + ": type must be float or double");
}
template <class Action>
void with_storage(const test_case& c, Action action) {
  if (c.type == "half") return action.template operator()<half>();
  if (c.type == "bfloat16") return action.template operator()<bfloat16>();
  with_real(c, action);
}

/// The operations of the families. Each throws std::runtime_error for an operation that it does not know.
void run_hdbscan(case_run& run);
void run_poincare(case_run& run);
/// Steps of Riemannian Adam, of poincare and of lorentz.
void run_adam(case_run& run);
/// lorentz, product and stereographic.
void run_curved_space(case_run& run);
void run_spgemm(case_run& run);
void run_svd(case_run& run);
/// Those of svd beside the decomposition itself.
void run_svd_function(case_run& run);
void run_snp(case_run& run);

}  // namespace quintet::accuracy
