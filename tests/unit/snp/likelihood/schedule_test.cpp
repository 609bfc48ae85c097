// The schedules that a process keeps.
#include "snp/likelihood/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "quintet/snp/network/newick.hpp"
#include "support/random_network.hpp"

namespace quintet::test {
namespace {

std::vector<std::int64_t> schedule_of(const snp::Network& network, std::int64_t copies) {
  return snp::best_schedule(network, std::vector<std::int64_t>(network.leaves().size(), copies));
}

// Sample `number` of five species with 1 ... 4 copies each.
std::vector<std::int64_t> sample(std::int64_t number) {
  std::vector<std::int64_t> copies;
  for (; copies.size() < 5; number /= 4) copies.push_back(1 + number % 4);
  return copies;
}

snp::Network random_net(std::uint64_t seed, std::int64_t reticulations) {
  random_stream random(seed, 101);
  return snp::Network(random_network(random, 5, reticulations));
}

TEST(snp_schedule, is_searched_for_once_a_topology_and_sample) {
  snp::Network network = random_net(1, 2);
  const auto first = schedule_of(network, 2);
  const std::int64_t searches = snp::schedule_cache().searches;
  for (std::int64_t b = 0; b < network.branches(); ++b) network.set_length(b, 0.5 + double(b));
  EXPECT_EQ(schedule_of(network, 2), first);
  EXPECT_EQ(snp::schedule_cache().searches, searches);
  schedule_of(network, 3);
  EXPECT_EQ(snp::schedule_cache().searches, searches + 1);
  schedule_of(random_net(2, 2), 2);
  EXPECT_EQ(snp::schedule_cache().searches, searches + 2);
}

// Children first: also for networks that share their sizes, so that one is not taken for another.
TEST(snp_schedule, fits_the_network_that_it_is_for) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const snp::Network network = random_net(seed, std::int64_t(seed % 3));
    const auto order = schedule_of(network, 1);
    ASSERT_EQ(std::int64_t(order.size()), network.nodes());
    const auto place = [&](std::int64_t node) { return std::find(order.begin(), order.end(), node); };
    int wrong = 0;
    for (std::int64_t b = 0; b < network.branches(); ++b)
      wrong += place(network.branch(b).child) >= place(network.branch(b).parent);
    EXPECT_EQ(wrong, 0) << seed;
  }
}

TEST(snp_schedule, no_more_than_the_limit_are_kept_and_threads_may_share_them) {
  const snp::Network network = random_net(3, 1);
  const auto expected = schedule_of(network, 1);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t i = 1; i <= 300; ++i) {
        snp::best_schedule(network, sample(i + 100 * std::int64_t(t)));
        wrong[t] += schedule_of(network, 1) != expected;
      }
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
  EXPECT_EQ(snp::schedule_cache().kept, snp::schedule_cache_limit);
}

}  // namespace
}  // namespace quintet::test
