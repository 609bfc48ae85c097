// A climb to a maximum of a likelihood in logarithms of lengths and thetas and logits of gammas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "snp/likelihood/lbfgs.hpp"

namespace quintet::snp {

inline double logit(double g) { return std::log(g) - std::log1p(-g); }
inline double probability(double x) { return 1 / (1 + std::exp(-x)); }
// exp(log(x)) may leave the range by a rounding.
inline double exp_within(double x, double min, double max) { return std::clamp(std::exp(x), min, max); }

using climb_vector = std::vector<double>;

// One coordinate of the search: what it sets, and how it moves the log-likelihood.
struct coordinate {
  enum class kind { length, theta, root_theta, common_theta, gamma } what;
  std::int64_t branch;
};

/// The log-likelihood with its sign changed, in coordinates without scale. Objective is Likelihood, or has its members
/// evaluate(), gradient(), accept(), reject(), network() and those that set lengths, thetas and gammas.
template <class Objective>
class climb_problem {
 public:
  using kind = coordinate::kind;
  using vector = climb_vector;

  /// Lengths and gammas of the branches that `moved` marks; empty: of all.
  climb_problem(Objective& likelihood, const optimise_options& options, std::vector<char> moved = {})
      : likelihood_(likelihood), options_(options), moved_(std::move(moved)), report_(options.progress) {
    list_coordinates();
  }

  bool empty() const { return coordinates_.empty(); }
  const vector& lower() const { return lower_; }
  const vector& upper() const { return upper_; }
  vector start() const;
  /// Another start: random numbers around `from`.
  vector scattered(vector from, random_stream random) const;
  std::int64_t parameters() const;
  std::vector<parameter_at_bound> at_bounds(const vector& x) const;

  double value(const vector& x) {
    set(x);
    return -likelihood_.evaluate();
  }
  void accept() { likelihood_.accept(); }
  void reject() { likelihood_.reject(); }
  vector gradient();
  /// Near the lower end of a logarithm, and near both of a logit, the slope vanishes although the log-likelihood may
  /// rise with the parameter itself. Where it does, the parameter is moved inwards by powers of ten, and stays at the
  /// best of these places if that gains more than `min_gain`. Changes x and `value` (as value() returns it); the
  /// number of values computed.
  std::int64_t leave_ends(vector& x, double& value, double min_gain);
  void begin_at(std::int64_t climb, std::int64_t iteration) {
    climb_ = climb;
    first_iteration_ = iteration;
  }
  void report(std::int64_t iteration) {
    const double share = double(iteration + first_iteration_) / double(options_.max_iterations);
    report_("optimise", (double(climb_) + share) / double(options_.starts));
  }

 private:
  void list_coordinates();
  void add(kind type, std::int64_t branch, double lower, double upper) {
    coordinates_.push_back({type, branch});
    lower_.push_back(lower);
    upper_.push_back(upper);
  }
  void set(const vector& x);
  double direction_from_end(std::size_t i, const vector& x, const vector& slope) const;
  void set_common_theta(double theta);
  double common_theta() const;

  bool is_moved(std::int64_t branch) const { return moved_.empty() || moved_[std::size_t(branch)] != 0; }

  Objective& likelihood_;
  const optimise_options& options_;
  std::vector<char> moved_;
  std::vector<coordinate> coordinates_;
  vector lower_, upper_;
  progress report_;
  std::int64_t climb_ = 0, first_iteration_ = 0;
};

template <class Objective>
void climb_problem<Objective>::list_coordinates() {
  const Network& network = likelihood_.network();
  const double min_length = std::log(options_.min_length), max_length = std::log(options_.max_length);
  const double min_theta = std::log(options_.min_theta), max_theta = std::log(options_.max_theta);
  for (std::int64_t b = 0; b < network.branches() && options_.lengths; ++b)
    if (is_moved(b)) add(kind::length, b, min_length, max_length);
  if (options_.thetas == theta_parameters::common) add(kind::common_theta, -1, min_theta, max_theta);
  if (options_.thetas == theta_parameters::each) {
    for (std::int64_t b = 0; b < network.branches(); ++b) add(kind::theta, b, min_theta, max_theta);
    add(kind::root_theta, -1, min_theta, max_theta);
  }
  for (const std::int64_t node : network.reticulations())
    if (options_.gammas && is_moved(network.parent_branches(node)[0]))
      add(kind::gamma, network.parent_branches(node)[0], logit(options_.min_gamma), -logit(options_.min_gamma));
}

template <class Objective>
double climb_problem<Objective>::common_theta() const {
  const Network& network = likelihood_.network();
  double sum = std::log(network.root_theta());
  for (std::int64_t b = 0; b < network.branches(); ++b) sum += std::log(network.branch(b).theta);
  return sum / double(network.branches() + 1);
}

template <class Objective>
climb_vector climb_problem<Objective>::start() const {
  const Network& network = likelihood_.network();
  vector x;
  for (const coordinate& c : coordinates_) {
    switch (c.what) {
      case kind::length:
        x.push_back(std::log(network.branch(c.branch).length));
        break;
      case kind::theta:
        x.push_back(std::log(network.branch(c.branch).theta));
        break;
      case kind::root_theta:
        x.push_back(std::log(network.root_theta()));
        break;
      case kind::common_theta:
        x.push_back(common_theta());
        break;
      case kind::gamma:
        x.push_back(logit(network.branch(c.branch).gamma));
    }
    // Infinite for a length of 0 and a gamma of 0 or 1.
    x.back() = std::clamp(x.back(), lower_[x.size() - 1], upper_[x.size() - 1]);
  }
  return x;
}

template <class Objective>
climb_vector climb_problem<Objective>::scattered(vector x, random_stream random) const {
  const double widest = std::log(10.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double where = random.uniform<double>();
    x[i] = coordinates_[i].what == kind::gamma ? logit(0.05 + 0.9 * where) : x[i] + widest * (2 * where - 1);
    x[i] = std::clamp(x[i], lower_[i], upper_[i]);
  }
  return x;
}

template <class Objective>
std::int64_t climb_problem<Objective>::parameters() const {
  const bool one_at_root = options_.lengths && options_.thetas != theta_parameters::each;
  return std::int64_t(coordinates_.size()) - (one_at_root ? 1 : 0);
}

template <class Objective>
std::vector<parameter_at_bound> climb_problem<Objective>::at_bounds(const vector& x) const {
  const double near = std::log(10.0);
  const Network& network = likelihood_.network();
  std::vector<parameter_at_bound> at_bounds;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_lower = x[i] < lower_[i] + near;
    if (!is_lower && x[i] <= upper_[i] - near) continue;
    const coordinate& c = coordinates_[i];
    const auto on_branch = [&](const char* label) { return text(label, " of ", network.describe_branch(c.branch)); };
    switch (c.what) {
      case kind::length:
        at_bounds.push_back({on_branch("length"), network.branch(c.branch).length, is_lower});
        break;
      case kind::theta:
        at_bounds.push_back({on_branch("theta"), network.branch(c.branch).theta, is_lower});
        break;
      case kind::root_theta:
        at_bounds.push_back({"theta above the root", network.root_theta(), is_lower});
        break;
      case kind::common_theta:
        at_bounds.push_back({"theta of all branches", network.root_theta(), is_lower});
        break;
      case kind::gamma:
        at_bounds.push_back({on_branch("gamma"), network.branch(c.branch).gamma, is_lower});
    }
  }
  return at_bounds;
}

template <class Objective>
void climb_problem<Objective>::set_common_theta(double theta) {
  for (std::int64_t b = 0; b < likelihood_.network().branches(); ++b) likelihood_.set_theta(b, theta);
  likelihood_.set_root_theta(theta);
}

template <class Objective>
void climb_problem<Objective>::set(const vector& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const coordinate& c = coordinates_[i];
    switch (c.what) {
      case kind::length:
        likelihood_.set_length(c.branch, exp_within(x[i], options_.min_length, options_.max_length));
        break;
      case kind::theta:
        likelihood_.set_theta(c.branch, exp_within(x[i], options_.min_theta, options_.max_theta));
        break;
      case kind::root_theta:
        likelihood_.set_root_theta(exp_within(x[i], options_.min_theta, options_.max_theta));
        break;
      case kind::common_theta:
        set_common_theta(exp_within(x[i], options_.min_theta, options_.max_theta));
        break;
      case kind::gamma:
        likelihood_.set_gamma(c.branch, std::clamp(probability(x[i]), options_.min_gamma, 1 - options_.min_gamma));
    }
  }
}

template <class Objective>
climb_vector climb_problem<Objective>::gradient() {
  const snp::gradient slope = likelihood_.gradient();
  const Network& network = likelihood_.network();
  vector result;
  for (const coordinate& c : coordinates_) {
    const auto b = static_cast<std::size_t>(c.branch);
    double d = 0;
    switch (c.what) {
      case kind::length:
        d = slope.length[b] * network.branch(c.branch).length;
        break;
      case kind::theta:
        d = slope.theta[b] * network.branch(c.branch).theta;
        break;
      case kind::root_theta:
        d = slope.root_theta * network.root_theta();
        break;
      case kind::common_theta:
        for (const double value : slope.theta) d += value;
        d = (d + slope.root_theta) * network.root_theta();
        break;
      case kind::gamma: {
        const double gamma = network.branch(c.branch).gamma;
        d = slope.gamma[b] * gamma * (1 - gamma);
      }
    }
    result.push_back(-d);
  }
  return result;
}

// +1 or -1: the way from the end near which coordinate i stands, if the log-likelihood rises that way; otherwise 0.
template <class Objective>
double climb_problem<Objective>::direction_from_end(std::size_t i, const vector& x, const vector& slope) const {
  constexpr double near = 7;  // a factor of a thousand
  if (x[i] < lower_[i] + near && slope[i] < 0) return 1;
  const bool has_upper_end = coordinates_[i].what == kind::gamma;
  return has_upper_end && x[i] > upper_[i] - near && slope[i] > 0 ? -1 : 0;
}

template <class Objective>
std::int64_t climb_problem<Objective>::leave_ends(vector& x, double& value, double min_gain) {
  const vector slope = gradient();
  std::int64_t evaluations = 0;
  const auto value_at = [&](const vector& trial) {
    ++evaluations;
    return this->value(trial);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double direction = direction_from_end(i, x, slope);
    if (direction == 0) continue;
    vector best = x, trial = x;
    double best_value = value - min_gain;
    for (int power = 1; power <= 8; ++power) {
      trial[i] = std::clamp(x[i] + power * direction * std::log(10.0), lower_[i], upper_[i]);
      const double trial_value = value_at(trial);
      reject();
      if (!(trial_value < best_value)) continue;
      best = trial;
      best_value = trial_value;
    }
    if (best == x) continue;
    x = best;
    value = value_at(x);
    accept();
  }
  return evaluations;
}

/// One climb from x, which becomes the end; what it costs is added to `result`.
template <class Problem>
double climb_from(Problem& climb, climb_vector& x, std::int64_t number, const optimise_options& options,
                  optimise_result& result) {
  double value = 0;
  std::int64_t iterations = 0;
  for (bool goes_on = true; goes_on;) {
    const lbfgs_options search{.max_iterations = options.max_iterations - iterations, .tolerance = options.tolerance};
    climb.begin_at(number, iterations);
    const lbfgs_report report = lbfgs(climb, climb.lower(), climb.upper(), search).minimise(x);
    iterations += report.iterations;
    result.evaluations += report.evaluations;
    result.converged = report.stop == lbfgs_stop::converged;
    value = report.value;
    if (result.converged) result.evaluations += climb.leave_ends(x, value, options.tolerance);
    goes_on = value < report.value && iterations < options.max_iterations;
    result.converged = result.converged && !(value < report.value);
  }
  result.iterations += iterations;
  result.ends.push_back(-value);
  return value;
}

/// All climbs of optimise(), whose options have been checked; the objective is left at the best end.
template <class Objective>
optimise_result maximise(Objective& likelihood, const optimise_options& options) {
  climb_problem climb(likelihood, options);
  if (climb.empty())
    throw InvalidArgument("there is nothing to optimise: no lengths, no thetas, and no gammas or no reticulations");
  optimise_result result;
  result.start = likelihood.evaluate();
  if (!std::isfinite(result.start))
    throw InvalidArgument(text("the log-likelihood of the start must be finite (it is ", result.start, ")"));
  likelihood.accept();
  const climb_vector first = climb.start();
  climb_vector best = first;
  double best_value = climb_from(climb, best, 0, options, result);
  bool best_converged = result.converged, best_is_last = true;
  for (std::int64_t number = 1; number < options.starts; ++number) {
    climb_vector x = climb.scattered(first, random_stream(options.seed, std::uint64_t(number)));
    const bool is_finite = std::isfinite(climb.value(x));
    climb.accept();
    const double value = is_finite ? climb_from(climb, x, number, options, result) : 0;
    if (!is_finite) result.ends.push_back(-std::numeric_limits<double>::infinity());
    best_is_last = is_finite && value < best_value;
    if (!best_is_last) continue;
    best = x;
    best_value = value;
    best_converged = result.converged;
  }
  if (!best_is_last) {
    best_value = climb.value(best);
    climb.accept();
  }
  result.converged = best_converged;
  result.log_likelihood = -best_value;
  result.parameters = climb.parameters();
  result.at_bounds = climb.at_bounds(best);
  return result;
}

/// Throws InvalidArgument for options out of range.
void check_climb(const optimise_options& options);

}  // namespace quintet::snp
