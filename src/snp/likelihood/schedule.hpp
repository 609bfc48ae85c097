// The order in which the nodes of a network are done, and the groups of open branches that it makes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Number of states (n1, r1), ..., (nK, rK) with n_i <= max[i] and at most `total` lineages altogether.
double count_states(std::span<const std::int64_t> max, std::int64_t total);

/// Gene copies sampled in the leaves below every branch, each leaf once. copies[i] belongs to network.leaves()[i].
std::vector<std::int64_t> copies_below_branches(const Network& network, std::span<const std::int64_t> copies);

/// The nodes, children first, in the order that keeps the largest group of open branches small (counted by
/// count_states); among equals, the sum over all groups. Found by a search over sets of nodes done, which is exact as
/// long as it looks at no more than 20000 of them, and greedy from the best one after that. Kept for the next network
/// with the same topology and copies, whatever its parameters: the last schedule_cache_limit ones of the process.
/// May be called by several threads at the same time.
std::vector<std::int64_t> best_schedule(const Network& network, std::span<const std::int64_t> copies);

/// States of the largest group that a schedule makes.
double largest_group(const Network& network, std::span<const std::int64_t> copies,
                     std::span<const std::int64_t> schedule);

/// The reticulations that make a group of these open branches large, for messages: those of which both ways up end in
/// branches of the group.
std::string reticulations_below(const Network& network, const std::vector<std::int64_t>& branches);

constexpr std::size_t schedule_cache_limit = 256;
/// Schedules that were found and are kept; searches made so far.
struct schedule_cache_report {
  std::size_t kept = 0;
  std::int64_t searches = 0;
};
schedule_cache_report schedule_cache();

}  // namespace quintet::snp
