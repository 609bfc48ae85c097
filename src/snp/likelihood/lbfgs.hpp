// Minimisation in a box with the gradient: projected L-BFGS (Nocedal and Wright, Numerical Optimization, 2006,
// algorithms 7.4 and 3.1). Variables that stand at a bound and want to leave the box are held; the others take a
// quasi-Newton step, shortened until the value falls enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

namespace quintet::snp {

struct lbfgs_options {
  std::int64_t max_iterations = 200;
  double tolerance = 1e-6;  ///< done when two steps in a row gain less, and promise less
  double longest_step = 2;  ///< most that a variable changes in one step
  std::size_t memory = 10;  ///< pairs of differences
};

enum class lbfgs_stop { converged, iterations, no_descent };

struct lbfgs_report {
  lbfgs_stop stop = lbfgs_stop::iterations;
  double value = 0;
  std::int64_t iterations = 0, evaluations = 0;
};

/// Minimises over lower <= x <= upper from x, which holds the best point afterwards. Problem has
///   double value(const std::vector<double>& x);   at a trial point; may be infinite or NaN, which is never taken
///   void accept(); void reject();                 of the last trial point
///   std::vector<double> gradient();               at the last point that was accepted
///   void report(std::int64_t iteration);            before every iteration; may throw to stop the work
/// The starting value must be finite.
template <class Problem>
class lbfgs {
 public:
  using vector = std::vector<double>;

  lbfgs(Problem& problem, const vector& lower, const vector& upper, const lbfgs_options& options)
      : problem_(problem), lower_(lower), upper_(upper), options_(options) {}

  lbfgs_report minimise(vector& x) {
    clamp(x);
    report_.value = evaluate(x);
    problem_.accept();
    vector slope = problem_.gradient();
    for (std::int64_t small_gains = 0; report_.iterations < options_.max_iterations; ++report_.iterations) {
      problem_.report(report_.iterations);
      hold(x, slope);
      vector step = direction(slope);
      const double promised = -dot(slope, step) / 2;
      if (promised == 0) return stop(lbfgs_stop::converged);
      vector next = x;
      const double gain = search(x, step, slope, next);
      if (gain < 0) {
        // Rounding, or bad memory of the curvature: once more without memory.
        if (pairs_.empty()) return stop(promised < options_.tolerance ? lbfgs_stop::converged : lbfgs_stop::no_descent);
        pairs_.clear();
        continue;
      }
      vector next_slope = problem_.gradient();
      remember(x, next, slope, next_slope);
      x = next;
      slope = std::move(next_slope);
      small_gains = gain < options_.tolerance && promised < options_.tolerance ? small_gains + 1 : 0;
      if (small_gains == 2) {
        ++report_.iterations;
        return stop(lbfgs_stop::converged);
      }
    }
    return report_;
  }

 private:
  struct pair {
    vector s, y;
  };

  lbfgs_report stop(lbfgs_stop reason) {
    report_.stop = reason;
    return report_;
  }

  double evaluate(const vector& x) {
    ++report_.evaluations;
    return problem_.value(x);
  }

  void clamp(vector& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::clamp(x[i], lower_[i], upper_[i]);
  }

  // Sums over the variables that are not held.
  double dot(const vector& a, const vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += free_[i] ? a[i] * b[i] : 0;
    return sum;
  }

  void hold(const vector& x, const vector& slope) {
    free_.assign(x.size(), true);
    for (std::size_t i = 0; i < x.size(); ++i)
      free_[i] = !((x[i] <= lower_[i] && slope[i] > 0) || (x[i] >= upper_[i] && slope[i] < 0));
  }

  // The two loops of L-BFGS over the free variables, downhill by construction.
  vector direction(const vector& slope) const {
    vector step = slope;
    std::vector<double> alpha(pairs_.size(), 0), curvature(pairs_.size(), 0);
    const auto add = [&](const vector& v, double factor) {
      for (std::size_t i = 0; i < step.size(); ++i) step[i] += factor * v[i];
    };
    double scale = 0;
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      curvature[k] = dot(pairs_[k].s, pairs_[k].y);
      if (!(curvature[k] > 0)) continue;  // of the free variables alone it may be negative
      if (scale == 0) scale = curvature[k] / dot(pairs_[k].y, pairs_[k].y);
      alpha[k] = dot(pairs_[k].s, step) / curvature[k];
      add(pairs_[k].y, -alpha[k]);
    }
    if (scale == 0) scale = 1 / std::max(1.0, std::sqrt(dot(slope, slope)));
    for (double& v : step) v *= scale;
    for (std::size_t k = 0; k < pairs_.size(); ++k)
      if (curvature[k] > 0) add(pairs_[k].s, alpha[k] - dot(pairs_[k].y, step) / curvature[k]);
    double longest = 0;
    for (std::size_t i = 0; i < step.size(); ++i) {
      if (!free_[i]) step[i] = 0;
      longest = std::max(longest, std::fabs(step[i]));
    }
    const double factor = longest > options_.longest_step ? -options_.longest_step / longest : -1;
    for (double& v : step) v *= factor;
    return step;
  }

  // Backtracking; the gain, or -1 when nothing was found, and then nothing has changed.
  double search(const vector& x, const vector& step, const vector& slope, vector& next) {
    for (double factor = 1; factor > 1e-12; factor /= 2) {
      for (std::size_t i = 0; i < x.size(); ++i) next[i] = x[i] + factor * step[i];
      clamp(next);
      double descent = 0;
      for (std::size_t i = 0; i < x.size(); ++i) descent += slope[i] * (next[i] - x[i]);
      const double value = evaluate(next);
      if (std::isfinite(value) && descent < 0 && value <= report_.value + 1e-4 * descent) {
        problem_.accept();
        const double gain = report_.value - value;
        report_.value = value;
        return gain;
      }
      problem_.reject();
    }
    return -1;
  }

  void remember(const vector& x, const vector& next, const vector& slope, const vector& next_slope) {
    pair p{next, next_slope};
    double sy = 0, ss = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      p.s[i] -= x[i];
      p.y[i] -= slope[i];
      sy += p.s[i] * p.y[i];
      ss += p.s[i] * p.s[i];
      yy += p.y[i] * p.y[i];
    }
    if (!(sy > 1e-10 * std::sqrt(ss * yy))) return;
    pairs_.push_back(std::move(p));
    if (pairs_.size() > options_.memory) pairs_.pop_front();
  }

  Problem& problem_;
  const vector &lower_, &upper_;
  const lbfgs_options& options_;
  lbfgs_report report_;
  std::deque<pair> pairs_;
  std::vector<bool> free_;
};

}  // namespace quintet::snp
