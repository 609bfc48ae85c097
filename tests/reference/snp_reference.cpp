#include "reference/snp_reference.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <unsupported/Eigen/MatrixFunctions>

namespace quintet::reference {

namespace {

using real = long double;
template <class Real>
using square = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

real binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  real value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// A of section 3 of Bryant et al. in block form, states (n, r) with n <= most, (0, 0) included.
square<real> snp_generator(int max, real theta, real u, real v) {
  const auto index = [](int n, int r) { return n * (n + 1) / 2 + r; };
  square<real> a = square<real>::Zero(index(max + 1, 0), index(max + 1, 0));
  for (int n = 1; n <= max; ++n)
    for (int r = 0; r <= n; ++r) {
      a(index(n, r), index(n, r)) = -n * (n - 1) / theta - (n - r) * v - r * u;
      if (r < n) a(index(n, r), index(n, r + 1)) = (n - r) * v;
      if (r > 0) a(index(n, r), index(n, r - 1)) = r * u;
      if (n == max) continue;
      a(index(n, r), index(n + 1, r)) = (n - r) * (n + 1) / theta;
      a(index(n, r), index(n + 1, r + 1)) = r * (n + 1) / theta;
    }
  return a;
}

/// exp(a), computed in Real.
template <class Real>
square<real> exponential(const square<real>& a) {
  const square<Real> argument = a.template cast<Real>();
  const square<Real> result = argument.exp();
  return result.template cast<real>();
}

/// Solves a tridiagonal system in place, without pivots: the columns of A have the larger part on the diagonal.
std::vector<real> solved(const std::vector<real>& below, std::vector<real> diagonal, const std::vector<real>& above,
                         std::vector<real> x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1; i < n; ++i) {
    const real factor = below[i] / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    x[i] -= factor * x[i - 1];
  }
  x[n - 1] /= diagonal[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) x[i] = (x[i] - above[i] * x[i + 1]) / diagonal[i];
  return x;
}

/// Pr(r of n lineages are red at the root), n <= most, from x A = 0.
std::vector<std::vector<real>> snp_root_vector(int max, real theta, real u, real v) {
  std::vector<std::vector<real>> x{{1}, {u / (u + v), v / (u + v)}};
  for (int n = 2; n <= max; ++n) {
    std::vector<real> below, diagonal, above, right;
    const std::vector<real>& last = x.back();
    for (int r = 0; r <= n; ++r) {
      below.push_back(r > 0 ? (n - r + 1) * v : 0);
      diagonal.push_back(-n * (n - 1) / theta - (n - r) * v - r * u);
      above.push_back(r < n ? (r + 1) * u : 0);
      right.push_back((r > 0 ? -(r - 1) * n / theta * last[std::size_t(r - 1)] : 0) -
                      (r < n ? (n - 1 - r) * n / theta * last[std::size_t(r)] : 0));
    }
    x.push_back(solved(below, diagonal, above, right));
  }
  return x;
}

struct snp_group {
  std::vector<std::int64_t> branches;
  std::map<std::vector<snp_state>, real> table;
};

class snp_site {
 public:
  snp_site(const snp::Network& network, std::vector<snp_state> counts, real u, real v, exponentials precision,
           bool dominant)
      : network_(network),
        counts_(std::move(counts)),
        u_(u),
        v_(v),
        exponential_(precision == exponentials::in_double ? exponential<double> : exponential<real>),
        dominant_(dominant) {}

  real likelihood() {
    for (const std::int64_t node : network_.children_first()) {
      if (network_.kind(node) == snp::node_kind::leaf) leaf(node);
      if (network_.kind(node) == snp::node_kind::tree) add(joined(node, network_.parent_branches(node)[0]));
      if (network_.kind(node) == snp::node_kind::reticulation) reticulation(node);
    }
    return at_root(joined(network_.root(), -1));
  }

 private:
  // Rule 0.
  void leaf(std::int64_t node) {
    const auto leaves = network_.leaves();
    const auto [copies, red] = counts_[std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin())];
    snp_group group{{network_.parent_branches(node)[0]}, {}};
    if (!dominant_) group.table[{{copies, red}}] = 1;
    for (int k = red; dominant_ && k <= 2 * red; ++k)
      group.table[{{copies, k}}] =
          binomial(copies / 2, red) * binomial(red, k - red) * std::pow(real(2), 2 * red - k) / binomial(copies, k);
    add(std::move(group));
  }

  // Rule 1 on every branch that is new, then the group is one of the open ones.
  void add(snp_group group) { groups_.push_back(std::move(group)); }

  void to_top(snp_group& group, std::int64_t branch) const {
    const std::size_t axis =
        std::size_t(std::find(group.branches.begin(), group.branches.end(), branch) - group.branches.begin());
    int max = 0;
    for (const auto& [states, value] : group.table) max = std::max(max, states[axis].first);
    const snp::branch& one = network_.branch(branch);
    const square<real> p = exponential_(snp_generator(max, one.theta, u_, v_) * real(one.length));
    std::map<std::vector<snp_state>, real> table;
    for (const auto& [states, value] : group.table) {
      const auto [n, r] = states[axis];
      auto above = states;
      for (int n2 = 0; n2 <= n; ++n2)
        for (int r2 = 0; r2 <= n2; ++r2) {
          above[axis] = {n2, r2};
          const real weight = p(n2 * (n2 + 1) / 2 + r2, n * (n + 1) / 2 + r);
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

  static real join_weight(snp_state a, snp_state b) {
    return binomial(a.first, a.second) * binomial(b.first, b.second) / binomial(a.first + b.first, a.second + b.second);
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
    const real gamma = network_.branch(y).gamma;
    snp_group out{{y, z}, {}};
    out.branches.insert(out.branches.end(), in.branches.begin() + 1, in.branches.end());
    for (const auto& [states, value] : in.table) {
      const auto [n, r] = states[0];
      for (int ny = 0; ny <= n; ++ny)
        for (int ry = std::max(0, r - (n - ny)); ry <= std::min(ny, r); ++ry) {
          std::vector<snp_state> to{{ny, ry}, {n - ny, r - ry}};
          to.insert(to.end(), states.begin() + 1, states.end());
          out.table[to] += binomial(n, ny) * std::pow(gamma, ny) * std::pow(1 - gamma, n - ny) * value;
        }
    }
    add(std::move(out));
  }

  real at_root(const snp_group& group) const {
    int max = 1;
    for (const auto& [states, value] : group.table) max = std::max(max, states[0].first);
    const auto x = snp_root_vector(max, network_.root_theta(), u_, v_);
    real sum = 0;
    for (const auto& [states, value] : group.table)
      sum += value * x[std::size_t(states[0].first)][std::size_t(states[0].second)];
    return sum;
  }

  const snp::Network& network_;
  std::vector<snp_state> counts_;
  real u_, v_;
  square<real> (*exponential_)(const square<real>&);
  bool dominant_;
  std::vector<snp_group> groups_;
};

}  // namespace

double choose(int n, int k) { return double(binomial(n, k)); }

long double snp_likelihood(const snp::Network& network, const std::vector<snp_state>& counts, long double u,
                           long double v, exponentials precision, bool dominant) {
  return snp_site(network, counts, u, v, precision, dominant).likelihood();
}

}  // namespace quintet::reference
