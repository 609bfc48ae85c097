#include "snp/likelihood/state_count.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "snp/likelihood/schedule.hpp"

namespace quintet::snp {

namespace {

constexpr double max_counted = 1e6;

// Copies by the branches of a group that they can be on: [set of branches], a bit for each branch.
struct shared_copies {
  std::vector<std::int64_t> copies;
  std::vector<bool> is_certain;  // some of them are there in every pattern

  std::size_t sets() const { return copies.size(); }
  // The most lineages on the branches of a set together.
  std::int64_t most(std::size_t set) const {
    std::int64_t sum = 0;
    for (std::size_t other = 1; other < sets(); ++other)
      if ((other & set) != 0) sum += copies[other];
    return sum;
  }
  // Whether all copies can be on the branches of a set.
  bool can_end_on(std::size_t set) const {
    for (std::size_t other = 1; other < sets(); ++other)
      if (is_certain[other] && (other & set) == 0) return false;
    return true;
  }
};

// Sum of the products of (n_i + 1) over all n_i >= 1 with sum of n_i over A <= most[A], for every set A of the axes.
double count_states_within(const std::vector<std::int64_t>& most, std::size_t axes) {
  for (std::size_t k = 0; k < axes; ++k)
    if (most[std::size_t{1} << k] < 1) return 0;
  if (axes == 1) return double(most[1]) * double(most[1] + 3) / 2;
  double sum = 0;
  std::vector<std::int64_t> rest(most.size() / 2);
  for (std::int64_t n = 1; n <= most[1]; ++n) {
    for (std::size_t set = 0; set < rest.size(); ++set) rest[set] = std::min(most[2 * set], most[2 * set + 1] - n);
    sum += double(n + 1) * count_states_within(rest, axes - 1);
  }
  return sum;
}

// The limits of the branches of a set alone, the branch with the fewest copies first.
std::vector<std::int64_t> most_on_subsets(const shared_copies& shared, std::size_t set) {
  std::vector<std::size_t> axes;
  for (std::size_t bit = 1; bit < shared.sets(); bit *= 2)
    if ((set & bit) != 0) axes.push_back(bit);
  std::sort(axes.begin(), axes.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(shared.most(a), a) < std::pair(shared.most(b), b); });
  std::vector<std::int64_t> limits(std::size_t{1} << axes.size(), 0);
  for (std::size_t part = 1; part < limits.size(); ++part) {
    std::size_t branches = 0;
    for (std::size_t k = 0; k < axes.size(); ++k)
      if ((part >> k & 1) != 0) branches |= axes[k];
    limits[part] = shared.most(branches);
  }
  return limits;
}

double count_states_of(const shared_copies& shared) {
  const std::size_t all = shared.sets() - 1;
  const std::vector<std::int64_t> limits = most_on_subsets(shared, all);
  std::vector<std::int64_t> max;
  double combinations = 1;
  for (std::size_t bit = 1; bit <= all; bit *= 2) {
    if (!max.empty()) combinations *= double(max.back());
    max.push_back(limits[bit]);
  }
  if (max.size() > 3 && combinations > max_counted) return count_states(max, limits[all]);
  double states = shared.can_end_on(0) ? 1 : 0;
  for (std::size_t set = 1; set <= all; ++set)
    if (shared.can_end_on(set))
      states += count_states_within(most_on_subsets(shared, set), std::size_t(std::popcount(set)));
  return states;
}

// Of the population above the root, from the lineages of its children.
double count_root_states(const shared_copies& children) {
  std::int64_t least = 0, most = children.most(3);
  for (const std::size_t set : {std::size_t{3}, std::size_t{2}, std::size_t{1}})
    if (children.can_end_on(set) &&
        count_states_within(most_on_subsets(children, set), std::size_t(std::popcount(set))) > 0)
      least = std::popcount(set);
  double states = children.can_end_on(0) ? 1 : 0;
  for (std::int64_t n = std::max<std::int64_t>(least, 1); n <= most; ++n) states += double(n + 1);
  return states;
}

class group_counter {
 public:
  group_counter(const Network& network, const leaf_copies& copies)
      : network_(network), copies_(copies), below_(std::size_t(network.nodes())) {
    const auto leaves = network.leaves();
    for (const std::int64_t node : network.children_first()) {
      auto& below = below_[std::size_t(node)];
      below.assign(leaves.size(), false);
      for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        below[leaf] = leaves[leaf] == node;
        for (const std::int64_t b : network.child_branches(node))
          below[leaf] = below[leaf] || below_[std::size_t(network.branch(b).child)][leaf];
      }
    }
  }

  double largest(std::span<const std::int64_t> schedule) const {
    double largest = 0;
    std::vector<std::set<std::int64_t>> open;
    for (const std::int64_t node : schedule) {
      std::set<std::int64_t> group;
      const auto children = network_.child_branches(node), parents = network_.parent_branches(node);
      std::erase_if(open, [&](const std::set<std::int64_t>& other) {
        if (std::none_of(children.begin(), children.end(), [&](std::int64_t b) { return other.contains(b); }))
          return false;
        group.insert(other.begin(), other.end());
        return true;
      });
      if (parents.empty()) return std::max(largest, count_root_states(shared_by({children.begin(), children.end()})));
      for (const std::int64_t b : children) group.erase(b);
      group.insert(parents.begin(), parents.end());
      largest = std::max(largest, count_states_of(shared_by({group.begin(), group.end()})));
      open.push_back(std::move(group));
    }
    return largest;
  }

 private:
  shared_copies shared_by(const std::vector<std::int64_t>& branches) const {
    shared_copies shared{std::vector<std::int64_t>(std::size_t{1} << branches.size(), 0), {}};
    shared.is_certain.assign(shared.sets(), false);
    for (std::size_t leaf = 0; leaf < copies_.size(); ++leaf) {
      std::size_t set = 0;
      for (std::size_t k = 0; k < branches.size(); ++k)
        if (below_[std::size_t(network_.branch(branches[k]).child)][leaf]) set |= std::size_t{1} << k;
      if (set == 0) continue;
      shared.copies[set] += copies_[leaf].back();
      if (copies_[leaf].front() > 0) shared.is_certain[set] = true;
    }
    return shared;
  }

  const Network& network_;
  const leaf_copies& copies_;
  std::vector<std::vector<bool>> below_;  // [node][leaf]
};

}  // namespace

double largest_uncut_group(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies) {
  return group_counter(network, copies).largest(schedule);
}

}  // namespace quintet::snp
