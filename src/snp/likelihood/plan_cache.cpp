#include "snp/likelihood/plan_cache.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "snp/likelihood/constant_patterns.hpp"
#include "snp/likelihood/state_count.hpp"

namespace quintet::snp {

namespace {

// The patterns of the data by leaf, and after them the pairs of constant ones that the model needs.
count_table counts_of(const Network& network, const Data& data, const model& m, const likelihood_options& options) {
  const auto columns = columns_of_leaves(network, data);
  count_table table;
  table.leaves = std::int64_t(columns.size());
  table.dominant = data.dominant();
  const auto add = [&](std::int64_t copies, std::int64_t red) {
    table.copies.push_back(std::int16_t(copies));
    table.red.push_back(std::int16_t(red));
  };
  for (std::int64_t p = 0; p < data.patterns(); ++p)
    for (const std::int64_t column : columns) add(data.copies(p, column), data.red(p, column));
  table.rows = data.patterns();
  if (options.shared_by) {
    const share_of_range share = share_here(data.patterns(), options.shared_by.get());
    for (std::int64_t i = 0; i < share.count; ++i) table.part.push_back(share.first + i);
    if (share.count == 0) table.part.push_back(0);  // computed by another process too, and not counted here
  }
  const constant_patterns constants(data, m);
  for (const auto& copies : constants.copies)
    for (const bool ones : {false, true})
      for (const std::int64_t column : columns) {
        const std::int64_t all = copies[std::size_t(column)];
        add(all, !ones ? 0 : data.dominant() ? all / 2 : all);
      }
  const auto pairs = std::int64_t(constants.copies.size());
  if (options.shared_by) {
    const share_of_range share = share_here(pairs, options.shared_by.get());
    for (std::int64_t i = 0; i < 2 * share.count; ++i) table.part.push_back(table.rows + 2 * share.first + i);
  }
  table.rows += 2 * pairs;
  return table;
}

// Everything that a plan is made of.
struct plan_key {
  std::vector<std::int64_t> topology;
  count_table counts;
  double byte_limit;
  device_kind kind;
  auto tied() const {
    return std::tie(topology, counts.rows, counts.leaves, counts.dominant, byte_limit, kind, counts.part, counts.copies,
                    counts.red);
  }
  friend bool operator<(const plan_key& a, const plan_key& b) { return a.tied() < b.tied(); }
};

std::vector<std::int64_t> topology_of(const Network& network) {
  std::vector<std::int64_t> numbers{network.nodes()};
  for (std::int64_t b = 0; b < network.branches(); ++b)
    numbers.insert(numbers.end(), {network.branch(b).parent, network.branch(b).child});
  numbers.insert(numbers.end(), network.leaves().begin(), network.leaves().end());
  return numbers;
}

std::int64_t bytes_of(const plan_key& key, const sized_plan& blocks) {
  std::size_t bytes = key.counts.copies.size() * 4 + key.topology.size() * 8;
  for (const row_block& block : blocks.blocks) {
    const plan& steps = block.steps.host;
    bytes += steps.tables.size() * 8 + steps.tiles.size() * 3 * sizeof(rule_tile) + steps.rules.size() * 512;
    for (const leaf_rule& leaf : steps.leaves) bytes += leaf.content.size() * 2 * sizeof(double);
  }
  return std::int64_t(bytes);
}

// The last plans of the process: an inference comes back to the same topologies with the same data again and again.
// Only those in host memory, which may be given back at any time until the process ends.
struct kept_plans {
  std::mutex mutex;
  std::map<plan_key, std::pair<std::shared_ptr<const sized_plan>, std::int64_t>> plans;
  std::deque<decltype(plans)::iterator> oldest;
  std::int64_t bytes = 0;
};
/// Made by the first call: the library runs nothing before main() (core/processor.hpp).
kept_plans& shared_plans() {
  static kept_plans plans;
  return plans;
}
constexpr std::size_t max_plans = 256;
constexpr std::int64_t max_plan_bytes = std::int64_t{64} << 20;

}  // namespace

void check_model(const model& m) {
  require_argument(m.u >= 0 && std::isfinite(m.u), "u", m.u, "finite and >= 0");
  require_argument(m.v >= 0 && std::isfinite(m.v), "v", m.v, "finite and >= 0");
  require_argument(m.u + m.v > 0, "u + v", m.u + m.v, "> 0");
  require_argument(!m.rate_categories.empty(), "rate_categories", "none", "at least one rate");
  for (const double rate : m.rate_categories)
    require_argument(rate > 0 && std::isfinite(rate), "rate category", rate, "finite and > 0");
  require_argument(m.unseen_zeros >= 0 && std::isfinite(m.unseen_zeros), "unseen_zeros", m.unseen_zeros, ">= 0");
  require_argument(m.unseen_ones >= 0 && std::isfinite(m.unseen_ones), "unseen_ones", m.unseen_ones, ">= 0");
  if (m.polymorphic_only && (m.unseen_zeros > 0 || m.unseen_ones > 0))
    throw InvalidArgument(text("unseen_zeros and unseen_ones must be 0 with polymorphic_only (unseen_zeros=",
                               m.unseen_zeros, ", unseen_ones=", m.unseen_ones, ")"));
  if (m.full_samples && !m.polymorphic_only)
    throw InvalidArgument("full_samples needs polymorphic_only, because it says at which copies sites are constant");
}

share_of_range share_here(std::int64_t n, const process_group* group) {
  return group != nullptr ? share_of(n, group->rank(), group->size()) : share_of_range{0, n};
}

double bytes_of_evaluation(const likelihood_options& options) {
  const std::int64_t memory = options.device.memory_bytes();
  return options.memory_limit != 0 ? double(options.memory_limit) : memory > 0 ? double(memory) / 2 : 1e18;
}

namespace {

// Whether a cut of the network's states pays.
std::optional<plan_cut> cut_of(const Network& network, const count_table& counts, const plan_limits& limits,
                               const Device& device) {
  const std::vector<std::int64_t> most = most_copies(counts);
  std::int64_t all = 0;
  for (const std::int64_t copies : most) all += copies;
  if (all > max_lineages) return {};
  const std::vector<std::int64_t> schedule = best_schedule(network, most);
  if (largest_group(network, most, schedule) <= max_uncut_states) return {};
  const leaf_copies copies = copies_that_occur(counts);
  return plan_cut{counts, limits, device, copies, schedule, largest_uncut_group(network, schedule, copies)};
}

}  // namespace

std::shared_ptr<const sized_plan> cut_again(const plan_cut& cut, const Network& network, double tau) {
  plan_cut renewed = cut;
  renewed.cells = cut_lineages(network, cut.schedule, cut.copies, tau);
  auto blocks = make_plan(network, cut.counts, cut.limits, &renewed.cells);
  return std::make_shared<const sized_plan>(std::move(blocks), cut.device, std::move(renewed));
}

std::shared_ptr<const sized_plan> without_cut(const plan_cut& cut, const Network& network) {
  if (cut.largest_untruncated * line * sizeof(double) > cut.limits.bytes) return nullptr;
  try {
    return std::make_shared<const sized_plan>(make_plan(network, cut.counts, cut.limits), cut.device);
  } catch (const InvalidArgument&) {  // its groups together are too large
    return nullptr;
  }
}

std::shared_ptr<const sized_plan> plan_of(const Network& network, const Data& data, const model& m,
                                          const likelihood_options& options) {
  check_model(m);
  require_argument(options.memory_limit >= 0, "memory_limit", options.memory_limit, ">= 0");
  require_argument(options.truncation >= 0 && options.truncation <= max_truncation, "truncation", options.truncation,
                   text("in [0, ", max_truncation, "]"));
  require_argument(data.patterns() > 0, "patterns of the data", data.patterns(), "> 0");
  const plan_limits limits{bytes_of_evaluation(options)};
  plan_key key{topology_of(network), counts_of(network, data, m, options), limits.bytes, options.device.kind()};
  if (options.truncation > 0)
    if (const auto cut = cut_of(network, key.counts, limits, options.device))
      return cut_again(*cut, network, first_tau);
  const auto make = [&] {
    return std::make_shared<const sized_plan>(make_plan(network, key.counts, limits), options.device);
  };
  if (!options.device.shares_host_memory()) return make();
  kept_plans& cache = shared_plans();
  {
    const std::lock_guard lock(cache.mutex);
    if (const auto it = cache.plans.find(key); it != cache.plans.end()) return it->second.first;
  }
  const auto plan = make();
  const std::int64_t bytes = bytes_of(key, *plan);
  const std::lock_guard lock(cache.mutex);
  const auto [place, is_new] = cache.plans.try_emplace(std::move(key), plan, bytes);
  if (!is_new) return place->second.first;
  cache.oldest.push_back(place);
  cache.bytes += bytes;
  while (cache.oldest.size() > max_plans || (cache.bytes > max_plan_bytes && !cache.oldest.empty())) {
    cache.bytes -= cache.oldest.front()->second.second;
    cache.plans.erase(cache.oldest.front());
    cache.oldest.pop_front();
  }
  return plan;
}

}  // namespace quintet::snp
