#include "snp/likelihood/schedule.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <queue>
#include <set>

#include "quintet/core/error.hpp"
#include "quintet/core/poll.hpp"

namespace quintet::snp {

namespace {

constexpr int search_limit = 20000;

using branch_set = std::vector<std::int64_t>;  // sorted

// What is done, and the groups of open branches that it leaves.
struct progress_state {
  std::vector<bool> finished;
  std::vector<branch_set> groups;
  double largest = 0, sum = 0;
  std::vector<std::int64_t> order;
};

class search {
 public:
  search(const Network& network, std::span<const std::int64_t> copies)
      : network_(network), leaves_below_(static_cast<std::size_t>(network.branches())) {
    const auto leaves = network.leaves();
    for (std::size_t i = 0; i < leaves.size(); ++i) copies_[leaves[i]] = copies[i];
    for (const std::int64_t node : network.children_first()) {
      std::set<std::int64_t> below;
      if (network.kind(node) == node_kind::leaf) below.insert(node);
      for (const std::int64_t b : network.child_branches(node)) {
        const auto& more = leaves_below_[std::size_t(b)];
        below.insert(more.begin(), more.end());
      }
      for (const std::int64_t b : network.parent_branches(node)) leaves_below_[std::size_t(b)] = below;
    }
  }

  std::int64_t copies_below(const branch_set& branches) const {
    std::set<std::int64_t> leaves;
    for (const std::int64_t b : branches)
      leaves.insert(leaves_below_[std::size_t(b)].begin(), leaves_below_[std::size_t(b)].end());
    std::int64_t copies = 0;
    for (const std::int64_t leaf : leaves) copies += copies_.at(leaf);
    return copies;
  }

  // What the nodes in this order make.
  progress_state replay(std::span<const std::int64_t> order) const {
    progress_state state;
    state.finished.assign(std::size_t(network_.nodes()), false);
    for (const std::int64_t node : order) do_node(state, node);
    return state;
  }

  std::vector<std::int64_t> run() const {
    auto later = [](const progress_state& a, const progress_state& b) {
      return a.largest != b.largest ? a.largest > b.largest : a.sum > b.sum;
    };
    std::priority_queue<progress_state, std::vector<progress_state>, decltype(later)> open(later);
    std::set<std::vector<bool>> visited;
    progress_state start;
    start.finished.assign(std::size_t(network_.nodes()), false);
    do_safe_nodes(start);
    open.push(start);
    for (int looked = 0;; ++looked) {
      poll();
      progress_state state = open.top();
      open.pop();
      if (std::int64_t(state.order.size()) == network_.nodes()) return state.order;
      if (!visited.insert(state.finished).second && looked < search_limit) continue;
      // After the limit only the best successor counts.
      if (looked >= search_limit) open = decltype(open)(later);
      std::vector<progress_state> next;
      for (const std::int64_t node : ready(state)) {
        next.push_back(state);
        do_node(next.back(), node);
        do_safe_nodes(next.back());
      }
      if (looked >= search_limit) {
        open.push(*std::max_element(next.begin(), next.end(), later));
        continue;
      }
      for (progress_state& choice : next) open.push(std::move(choice));
    }
  }

 private:
  std::vector<std::int64_t> ready(const progress_state& state) const {
    std::vector<std::int64_t> nodes;
    for (const std::int64_t node : network_.children_first()) {
      if (state.finished[std::size_t(node)]) continue;
      const auto children = network_.child_branches(node);
      if (std::all_of(children.begin(), children.end(),
                      [&](std::int64_t b) { return state.finished[std::size_t(network_.branch(b).child)]; }))
        nodes.push_back(node);
    }
    return nodes;
  }

  static std::size_t group_of(const progress_state& state, std::int64_t branch) {
    std::size_t g = 0;
    while (!std::binary_search(state.groups[g].begin(), state.groups[g].end(), branch)) ++g;
    return g;
  }

  // Leaves, nodes that close a group, and nodes that join two single branches never make a larger group necessary.
  bool is_safe(const progress_state& state, std::int64_t node) const {
    const auto children = network_.child_branches(node);
    if (children.empty()) return true;
    if (children.size() == 1) return false;
    const std::size_t a = group_of(state, children[0]), b = group_of(state, children[1]);
    return a == b || (state.groups[a].size() == 1 && state.groups[b].size() == 1);
  }

  void do_safe_nodes(progress_state& state) const {
    for (bool progress = true; progress;) {
      progress = false;
      for (const std::int64_t node : ready(state))
        if (is_safe(state, node)) {
          do_node(state, node);
          progress = true;
          break;
        }
    }
  }

  void do_node(progress_state& state, std::int64_t node) const {
    branch_set group;
    for (const std::int64_t b : network_.child_branches(node)) {
      const auto it = std::find_if(state.groups.begin(), state.groups.end(),
                                   [&](const branch_set& g) { return std::binary_search(g.begin(), g.end(), b); });
      if (it == state.groups.end()) continue;  // the other child was in the same group
      group.insert(group.end(), it->begin(), it->end());
      state.groups.erase(it);
    }
    for (const std::int64_t b : network_.child_branches(node)) std::erase(group, b);
    const auto parents = network_.parent_branches(node);
    group.insert(group.end(), parents.begin(), parents.end());
    std::sort(group.begin(), group.end());
    const double size = cost(group);
    state.largest = std::max(state.largest, size);
    state.sum += size;
    if (!group.empty()) state.groups.push_back(std::move(group));
    state.finished[std::size_t(node)] = true;
    state.order.push_back(node);
  }

  double cost(const branch_set& group) const {
    std::vector<std::int64_t> max;
    for (const std::int64_t b : group) max.push_back(copies_below({b}));
    return count_states(max, copies_below(group));
  }

  const Network& network_;
  std::vector<std::set<std::int64_t>> leaves_below_;
  std::map<std::int64_t, std::int64_t> copies_;
};

// Everything that the search looks at.
std::vector<std::int64_t> topology_key(const Network& network, std::span<const std::int64_t> copies) {
  std::vector<std::int64_t> key{network.nodes()};
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    key.push_back(network.branch(b).parent);
    key.push_back(network.branch(b).child);
  }
  const auto leaves = network.leaves();
  key.insert(key.end(), leaves.begin(), leaves.end());
  key.insert(key.end(), copies.begin(), copies.end());
  return key;
}

struct kept_schedules {
  std::mutex mutex;
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> schedules;
  std::deque<decltype(schedules)::iterator> oldest;
  std::int64_t searches = 0;
};
/// Made by the first call: the library runs nothing before main() (core/processor.hpp).
kept_schedules& shared_schedules() {
  static kept_schedules schedules;
  return schedules;
}

}  // namespace

double count_states(std::span<const std::int64_t> max, std::int64_t total) {
  // counts[n]: states with n lineages altogether.
  std::vector<double> counts(std::size_t(total) + 1, 0.0);
  counts[0] = 1;
  for (const std::int64_t m : max) {
    std::vector<double> next(counts.size(), 0.0);
    for (std::size_t have = 0; have < counts.size(); ++have)
      for (std::size_t n = 0; n <= std::size_t(m) && have + n < counts.size(); ++n)
        next[have + n] += counts[have] * double(n + 1);
    counts = std::move(next);
  }
  double sum = 0;
  for (const double count : counts) sum += count;
  return sum;
}

std::vector<std::int64_t> copies_below_branches(const Network& network, std::span<const std::int64_t> copies) {
  const search below(network, copies);
  std::vector<std::int64_t> result;
  for (std::int64_t b = 0; b < network.branches(); ++b) result.push_back(below.copies_below({b}));
  return result;
}

std::vector<std::int64_t> best_schedule(const Network& network, std::span<const std::int64_t> copies) {
  const std::vector<std::int64_t> key = topology_key(network, copies);
  kept_schedules& cache = shared_schedules();
  const std::lock_guard lock(cache.mutex);
  if (const auto it = cache.schedules.find(key); it != cache.schedules.end()) return it->second;
  ++cache.searches;
  const auto entry = cache.schedules.emplace(key, search(network, copies).run()).first;
  cache.oldest.push_back(entry);
  if (cache.oldest.size() > schedule_cache_limit) {
    cache.schedules.erase(cache.oldest.front());
    cache.oldest.pop_front();
  }
  return entry->second;
}

double largest_group(const Network& network, std::span<const std::int64_t> copies,
                     std::span<const std::int64_t> schedule) {
  return search(network, copies).replay(schedule).largest;
}

namespace {

bool is_below(const Network& network, std::int64_t node, std::int64_t branch) {
  const std::int64_t child = network.branch(branch).child;
  if (child == node) return true;
  const auto children = network.child_branches(child);
  return std::any_of(children.begin(), children.end(), [&](std::int64_t b) { return is_below(network, node, b); });
}

}  // namespace

std::string reticulations_below(const Network& network, const std::vector<std::int64_t>& branches) {
  std::string names;
  for (const std::int64_t node : network.reticulations()) {
    int ways = 0;
    for (const std::int64_t b : branches) ways += b >= 0 && is_below(network, node, b);
    if (ways < 2) continue;
    names += names.empty() ? "reticulation " : ", ";
    names += network.name(node).empty() ? text("node ", node) : network.name(node);
  }
  return names.empty() ? "the number of gene copies" : names;
}

schedule_cache_report schedule_cache() {
  kept_schedules& cache = shared_schedules();
  const std::lock_guard lock(cache.mutex);
  return {cache.schedules.size(), cache.searches};
}

}  // namespace quintet::snp
