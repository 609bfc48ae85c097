#include "reference/lineage_mass_reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace quintet::reference {

namespace {

using real = long double;

struct open_group {
  std::vector<std::int64_t> branches;
  lineage_chances chance;
};

std::size_t place_of(const open_group& g, std::int64_t branch) {
  return std::size_t(std::find(g.branches.begin(), g.branches.end(), branch) - g.branches.begin());
}

// Chances of 0 ... n lineages that n become in a time in which a pair waits theta / 2 on average.
std::vector<real> descendants(int n, real length, real theta) {
  const real rate = real(n) * real(n - 1) * length / theta;
  std::vector<real> now(std::size_t(n) + 1, 0.0L), sum(std::size_t(n) + 1, 0.0L);
  now[std::size_t(n)] = 1;
  real weight = std::exp(-rate);
  const int events = int(rate + 40 * std::sqrt(rate) + 400);
  for (int k = 0; k <= events; ++k) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * now[i];
    weight *= rate / (k + 1);
    for (int i = 1; rate > 0 && i <= n; ++i) {
      const real leaves = real(i) * (i - 1) / (real(n) * (n - 1));
      now[std::size_t(i)] *= 1 - leaves;
      if (i < n) now[std::size_t(i)] += now[std::size_t(i) + 1] * (real(i + 1) * i / (real(n) * (n - 1)));
    }
  }
  return sum;
}

void go_up(open_group& g, std::size_t axis, const snp::branch& at) {
  lineage_chances above;
  std::map<int, std::vector<real>> of;
  for (const auto& [n, chance] : g.chance) {
    const auto& to = of.try_emplace(n[axis], descendants(n[axis], at.length, at.theta)).first->second;
    for (int k = 0; k <= n[axis]; ++k) {
      if (to[std::size_t(k)] == 0) continue;
      std::vector<int> moved = n;
      moved[axis] = k;
      above[moved] += chance * to[std::size_t(k)];
    }
  }
  g.chance = std::move(above);
}

real choose_share(int n, int a, real g) {
  real share = 1;
  for (int i = 1; i <= a; ++i) share = share * (n - a + i) / i * g;
  for (int i = 0; i < n - a; ++i) share *= 1 - g;
  return share;
}

// Without the branches at these places; the first ones of the result are `first`.
std::vector<int> others(const std::vector<int>& n, std::vector<int> first, std::initializer_list<std::size_t> places) {
  for (std::size_t k = 0; k < n.size(); ++k)
    if (std::find(places.begin(), places.end(), k) == places.end()) first.push_back(n[k]);
  return first;
}
std::vector<std::int64_t> other_branches(const open_group& g, std::vector<std::int64_t> first,
                                         std::initializer_list<std::int64_t> gone) {
  for (const std::int64_t b : g.branches)
    if (std::find(gone.begin(), gone.end(), b) == gone.end()) first.push_back(b);
  return first;
}

real drop(lineage_chances& chances, real tau) {
  std::vector<std::pair<real, std::vector<int>>> cells;
  for (const auto& [n, chance] : chances) cells.emplace_back(chance, n);
  std::sort(cells.begin(), cells.end());
  real sum = 0;
  for (const auto& [chance, n] : cells) {
    if (sum + chance > tau) break;
    sum += chance;
    chances.erase(n);
  }
  return sum;
}

}  // namespace

lineage_truncation truncated_lineages(const snp::Network& network, std::span<const std::int64_t> order,
                                      const std::vector<int>& copies, long double tau) {
  lineage_truncation result;
  std::vector<open_group> groups;
  const auto take = [&](std::int64_t branch) {
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const open_group& g) { return place_of(g, branch) < g.branches.size(); });
    open_group g = *at;
    groups.erase(at);
    return g;
  };
  const auto cut = [&](open_group& g) {
    result.dropped += drop(g.chance, tau);
    result.kept.push_back(g.chance);
  };
  for (const std::int64_t node : order) {
    const auto children = network.child_branches(node), parents = network.parent_branches(node);
    open_group g;
    if (children.empty()) {
      const auto leaves = network.leaves();
      g.branches = {parents[0]};
      g.chance[{copies[std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin())]}] = 1;
    } else if (children.size() == 1) {
      const open_group in = take(children[0]);
      const std::size_t x = place_of(in, children[0]);
      g.branches = other_branches(in, {parents[0], parents[1]}, {children[0]});
      for (const auto& [n, chance] : in.chance)
        for (int a = 0; a <= n[x]; ++a) {
          const real share = choose_share(n[x], a, network.branch(parents[0]).gamma);
          if (share > 0) g.chance[others(n, {a, n[x] - a}, {x})] += chance * share;
        }
    } else {
      const std::int64_t above = parents.empty() ? -1 : parents[0];
      const open_group left = take(children[0]);
      const std::size_t x = place_of(left, children[0]), y = place_of(left, children[1]);
      if (y < left.branches.size()) {
        g.branches = other_branches(left, {above}, {children[0], children[1]});
        for (const auto& [n, chance] : left.chance) g.chance[others(n, {n[x] + n[y]}, {x, y})] += chance;
      } else {
        const open_group right = take(children[1]);
        const std::size_t z = place_of(right, children[1]);
        g.branches = other_branches(left, {above}, {children[0]});
        g.branches = other_branches(right, g.branches, {children[1]});
        for (const auto& [n, a] : left.chance)
          for (const auto& [m, b] : right.chance) g.chance[others(m, others(n, {n[x] + m[z]}, {x}), {z})] += a * b;
      }
    }
    if (!children.empty()) cut(g);
    for (std::size_t axis = 0; axis < parents.size(); ++axis) {
      go_up(g, axis, network.branch(parents[axis]));
      cut(g);
    }
    groups.push_back(std::move(g));
  }
  return result;
}

}  // namespace quintet::reference
