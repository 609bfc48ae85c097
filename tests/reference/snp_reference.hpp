// The likelihood of one site on a network, as the rules are written: a group is a list of branches and a table from
// (n1, r1), ..., (nK, rK) to a number. In the coordinates of the literature, with dense exponentials (Eigen) and the
// root's vector from its recursion. Slow; shares nothing with the library but the network. Real is double or long
// double.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <unsupported/Eigen/MatrixFunctions>
#include <utility>
#include <vector>

#include "quintet/snp/network.hpp"

namespace quintet::reference {

template <class Real>
using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

template <class Real = double>
Real choose(int n, int k) {
  if (k < 0 || k > n) return 0;
  Real value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// A of section 3 of Bryant et al. in block form, states (n, r) with n <= most, (0, 0) included.
template <class Real>
matrix<Real> snp_generator(int most, Real theta, Real u, Real v) {
  const auto index = [](int n, int r) { return n * (n + 1) / 2 + r; };
  matrix<Real> a = matrix<Real>::Zero(index(most + 1, 0), index(most + 1, 0));
  for (int n = 1; n <= most; ++n)
    for (int r = 0; r <= n; ++r) {
      a(index(n, r), index(n, r)) = -n * (n - 1) / theta - (n - r) * v - r * u;
      if (r < n) a(index(n, r), index(n, r + 1)) = (n - r) * v;
      if (r > 0) a(index(n, r), index(n, r - 1)) = r * u;
      if (n == most) continue;
      a(index(n, r), index(n + 1, r)) = (n - r) * (n + 1) / theta;
      a(index(n, r), index(n + 1, r + 1)) = r * (n + 1) / theta;
    }
  return a;
}

/// Pr(r of n lineages are red at the root), n <= most, from x A = 0.
template <class Real>
std::vector<std::vector<Real>> snp_root_vector(int most, Real theta, Real u, Real v) {
  std::vector<std::vector<Real>> x{{1}, {u / (u + v), v / (u + v)}};
  for (int n = 2; n <= most; ++n) {
    matrix<Real> left = matrix<Real>::Zero(n + 1, n + 1);
    Eigen::Vector<Real, Eigen::Dynamic> right = Eigen::Vector<Real, Eigen::Dynamic>::Zero(n + 1);
    const std::vector<Real>& last = x.back();
    for (int r = 0; r <= n; ++r) {
      left(r, r) = -n * (n - 1) / theta - (n - r) * v - r * u;
      if (r > 0) {
        left(r, r - 1) = (n - r + 1) * v;
        right(r) -= (r - 1) * n / theta * last[std::size_t(r - 1)];
      }
      if (r < n) {
        left(r, r + 1) = (r + 1) * u;
        right(r) -= (n - 1 - r) * n / theta * last[std::size_t(r)];
      }
    }
    const Eigen::Vector<Real, Eigen::Dynamic> solution = left.fullPivLu().solve(right);
    x.emplace_back(solution.data(), solution.data() + n + 1);
  }
  return x;
}

/// Lineages and red ones among them on one branch.
using snp_state = std::pair<int, int>;

template <class Real>
struct snp_group {
  std::vector<std::int64_t> branches;
  std::map<std::vector<snp_state>, Real> table;
};

template <class Real = double>
class snp_site {
 public:
  /// counts[i] = (copies, red) of network.leaves()[i]; dominant: red counts individuals.
  snp_site(const snp::Network& network, std::vector<snp_state> counts, Real u, Real v, bool dominant = false)
      : network_(network), counts_(std::move(counts)), u_(u), v_(v), dominant_(dominant) {}

  Real likelihood() {
    for (const std::int64_t node : network_.children_first()) {
      if (network_.kind(node) == snp::node_kind::leaf) leaf(node);
      if (network_.kind(node) == snp::node_kind::tree) add(joined(node, network_.parent_branches(node)[0]));
      if (network_.kind(node) == snp::node_kind::reticulation) reticulation(node);
    }
    return at_root(joined(network_.root(), -1));
  }

 private:
  using snp_group = reference::snp_group<Real>;
  // Rule 0.
  void leaf(std::int64_t node) {
    const auto leaves = network_.leaves();
    const auto [copies, red] = counts_[std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin())];
    snp_group group{{network_.parent_branches(node)[0]}, {}};
    if (!dominant_) group.table[{{copies, red}}] = 1;
    for (int k = red; dominant_ && k <= 2 * red; ++k)
      group.table[{{copies, k}}] = choose<Real>(copies / 2, red) * choose<Real>(red, k - red) *
                                   std::pow(Real(2), 2 * red - k) / choose<Real>(copies, k);
    add(std::move(group));
  }

  // Rule 1 on every branch that is new, then the group is one of the open ones.
  void add(snp_group group) { groups_.push_back(std::move(group)); }

  void to_top(snp_group& group, std::int64_t branch) const {
    const std::size_t axis =
        std::size_t(std::find(group.branches.begin(), group.branches.end(), branch) - group.branches.begin());
    int most = 0;
    for (const auto& [states, value] : group.table) most = std::max(most, states[axis].first);
    const snp::branch& one = network_.branch(branch);
    const matrix<Real> p = (snp_generator<Real>(most, one.theta, u_, v_) * Real(one.length)).exp();
    std::map<std::vector<snp_state>, Real> table;
    for (const auto& [states, value] : group.table) {
      const auto [n, r] = states[axis];
      auto above = states;
      for (int n2 = 0; n2 <= n; ++n2)
        for (int r2 = 0; r2 <= n2; ++r2) {
          above[axis] = {n2, r2};
          const Real weight = p(n2 * (n2 + 1) / 2 + r2, n * (n + 1) / 2 + r);
          if (weight != 0) table[above] += weight * value;
        }
    }
    group.table = std::move(table);
  }

  // Takes the group with a branch, brought to its top, out of the open ones; the branch becomes its first axis.
  snp_group take(std::int64_t branch) {
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const snp_group& g) {
      return std::find(g.branches.begin(), g.branches.end(), branch) != g.branches.end();
    });
    snp_group group = std::move(*found);
    groups_.erase(found);
    to_top(group, branch);
    return first(group, branch, 0);
  }

  static snp_group first(const snp_group& group, std::int64_t branch, std::size_t place) {
    const std::size_t axis =
        std::size_t(std::find(group.branches.begin(), group.branches.end(), branch) - group.branches.begin());
    snp_group moved{group.branches, {}};
    std::swap(moved.branches[place], moved.branches[axis]);
    for (const auto& [states, value] : group.table) {
      auto swapped = states;
      std::swap(swapped[place], swapped[axis]);
      moved.table[swapped] += value;
    }
    return moved;
  }

  static Real join_weight(snp_state a, snp_state b) {
    return choose<Real>(a.first, a.second) * choose<Real>(b.first, b.second) /
           choose<Real>(a.first + b.first, a.second + b.second);
  }

  // Rules 2 and 4.
  snp_group joined(std::int64_t node, std::int64_t above) {
    const std::int64_t a = network_.child_branches(node)[0], b = network_.child_branches(node)[1];
    snp_group g = take(a);
    const bool together = std::find(g.branches.begin(), g.branches.end(), b) != g.branches.end();
    if (together) {
      to_top(g, b);
      g = first(g, b, 1);
    } else {
      const snp_group h = take(b);
      snp_group product{g.branches, {}};
      product.branches.insert(product.branches.begin() + 1, h.branches.begin(), h.branches.end());
      for (const auto& [left, x] : g.table)
        for (const auto& [right, y] : h.table) {
          auto states = left;
          states.insert(states.begin() + 1, right.begin(), right.end());
          product.table[states] += x * y;
        }
      g = product;
    }
    snp_group out{{above}, {}};
    out.branches.insert(out.branches.end(), g.branches.begin() + 2, g.branches.end());
    for (const auto& [states, value] : g.table) {
      std::vector<snp_state> to{{states[0].first + states[1].first, states[0].second + states[1].second}};
      to.insert(to.end(), states.begin() + 2, states.end());
      out.table[to] += join_weight(states[0], states[1]) * value;
    }
    return out;
  }

  // Rule 3.
  void reticulation(std::int64_t node) {
    const snp_group in = take(network_.child_branches(node)[0]);
    const std::int64_t y = network_.parent_branches(node)[0], z = network_.parent_branches(node)[1];
    const Real gamma = network_.branch(y).gamma;
    snp_group out{{y, z}, {}};
    out.branches.insert(out.branches.end(), in.branches.begin() + 1, in.branches.end());
    for (const auto& [states, value] : in.table) {
      const auto [n, r] = states[0];
      for (int ny = 0; ny <= n; ++ny)
        for (int ry = std::max(0, r - (n - ny)); ry <= std::min(ny, r); ++ry) {
          std::vector<snp_state> to{{ny, ry}, {n - ny, r - ry}};
          to.insert(to.end(), states.begin() + 1, states.end());
          out.table[to] += choose<Real>(n, ny) * std::pow(gamma, ny) * std::pow(1 - gamma, n - ny) * value;
        }
    }
    add(std::move(out));
  }

  Real at_root(const snp_group& group) const {
    int most = 1;
    for (const auto& [states, value] : group.table) most = std::max(most, states[0].first);
    const auto x = snp_root_vector<Real>(most, network_.root_theta(), u_, v_);
    Real sum = 0;
    for (const auto& [states, value] : group.table)
      sum += value * x[std::size_t(states[0].first)][std::size_t(states[0].second)];
    return sum;
  }

  const snp::Network& network_;
  std::vector<snp_state> counts_;
  Real u_, v_;
  bool dominant_;
  std::vector<snp_group> groups_;
};

}  // namespace quintet::reference
