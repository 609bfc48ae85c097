// The sampler: posteriors known by quadrature, the same bits whatever the threads and interruptions, errors.
#include "quintet/snp/inference/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/mcmc_oracles.hpp"
#include "support/sanitized.hpp"
#include "support/thread_group.hpp"

namespace quintet::test {
namespace {

using rows = std::vector<std::vector<double>>;

// Every number of every sample of all chains, one after another.
rows numbers_of_samples(snp::sampler& chains, const snp::priors& prior) {
  rows result;
  while (!chains.is_done()) {
    chains.advance();
    for (const auto& chain : chains.take_samples())
      for (const snp::sampled_state& one : chain) {
        result.push_back(snp::numbers_of(one.state));
        const auto row = snp::trace_row(one, prior);
        result.back().insert(result.back().end(), row.begin(), row.end());
      }
  }
  return result;
}

bool same_bits(const rows& a, const rows& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].size() != b[i].size() || std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(double)) != 0)
      return false;
  return true;
}

// Everything free, two reticulations, three temperatures.
struct hard_case {
  snp::Data data = counted_sites("ABC", {2, 2, 1}, "000x35 001x3 020x1 121x1 200x1 201x1 211x4 220x3 221x31");
  snp::priors prior{snp::parse_priors("netdiv = exponential(10)\nturnover = beta(1,1)\norigin = exponential(0.1)\n"
                                      "theta = each gamma(2,20)\npi1 = beta(2,2)\n"),
                    3,
                    {.max_reticulations = 2}};
  snp::sampler_options options{
      .chains = 2, .temperatures = 3, .iterations = sized(4500, 2500), .burn_in = 1000, .sample_every = 50, .seed = 3};
  std::unique_ptr<snp::sampler> make() const {
    return std::make_unique<snp::sampler>(names_of(data), &data, prior, options);
  }
};

TEST(snp_sampler, any_number_of_threads_gives_the_same_bits) {
  hard_case one;
  rows first;
  for (const std::int64_t threads : {1, 2, 5}) {
    one.options.threads = threads;
    auto chains = one.make();
    const rows found = numbers_of_samples(*chains, one.prior);
    ASSERT_EQ(std::int64_t(found.size()), 2 * (one.options.iterations - one.options.burn_in) / 50);
    if (first.empty()) first = found;
    EXPECT_TRUE(same_bits(found, first)) << threads;
  }
}

TEST(snp_sampler, every_device_gives_the_same_bits) {
  hard_case one;
  one.options.iterations = sized(400, 150);
  one.options.burn_in = 0;
  one.options.temperatures = 1;
  rows first;
  on_every_device([&](const Device& device) {
    one.options.likelihood.device = device;
    auto chains = one.make();
    const rows found = numbers_of_samples(*chains, one.prior);
    if (first.empty()) first = found;
    EXPECT_TRUE(same_bits(found, first));
  });
}

TEST(snp_sampler, goes_on_from_a_snapshot_with_the_same_bits) {
  for (const bool delayed : {false, true}) {
    hard_case one;
    one.options.delayed_acceptance = delayed;
    one.options.frequent_share = 0.5;
    const rows whole = numbers_of_samples(*one.make(), one.prior);
    auto first = one.make();
    first->advance();
    first->advance();
    rows parts;
    for (const auto& chain : first->take_samples()) EXPECT_EQ(chain.size(), 20u);
    const snp::sampler_snapshot saved = first->snapshot();
    EXPECT_EQ(saved.step, 2000);
    one.options.iterations += 1000;  // may be more than it was
    auto second = one.make();
    second->restore(saved);
    const rows rest = numbers_of_samples(*second, one.prior);
    one.options.iterations -= 1000;
    // In the order of steps 2000 ... of the first run; samples of chain 0 and 1 alternate by thousands.
    const std::size_t skip = 2 * 20, count = whole.size() - skip;
    // The last part of the longer run ends later: compare what both have.
    const std::size_t full = count / 40 * 40;
    ASSERT_GE(rest.size(), full);
    EXPECT_TRUE(same_bits(rows(whole.begin() + skip, whole.begin() + skip + std::ptrdiff_t(full)),
                          rows(rest.begin(), rest.begin() + std::ptrdiff_t(full))));
    // Counters and widths go on too.
    auto third = one.make();
    third->restore(saved);
    for (std::size_t c = 0; c < 2; ++c) EXPECT_EQ(third->exchanges()[c].round_trips, first->exchanges()[c].round_trips);
    const auto before = first->moves(), after = third->moves();
    for (std::size_t m = 0; m < before[0].size(); ++m) {
      EXPECT_EQ(before[0][m].tried, after[0][m].tried);
      EXPECT_EQ(before[0][m].accepted, after[0][m].accepted);
      EXPECT_EQ(before[0][m].width, after[0][m].width);
    }
  }
}

TEST(snp_sampler, any_number_of_processes_gives_the_same_bits) {
  hard_case one;
  one.options.iterations = 1200;
  one.options.burn_in = 500;
  one.options.swap_every = 20;  // temperatures move often
  const auto alone = one.make();
  const rows expected = numbers_of_samples(*alone, one.prior);
  const auto expected_moves = alone->moves();
  for (const int processes : {2, 7}) {
    std::vector<rows> found(std::size_t(processes), rows{});
    run_as_group(processes, [&](std::shared_ptr<process_group> group) {
      hard_case mine = one;
      mine.options.shared_by = group;
      mine.options.threads = 1;
      auto chains = mine.make();
      found[std::size_t(group->rank())] = numbers_of_samples(*chains, mine.prior);
      const auto moves = chains->moves();
      for (std::size_t c = 0; c < moves.size(); ++c) {
        EXPECT_EQ(chains->exchanges()[c].accepted, alone->exchanges()[c].accepted);
        EXPECT_EQ(chains->exchanges()[c].heat, alone->exchanges()[c].heat);
        const auto at = chains->current(std::int64_t(c));
        EXPECT_TRUE(same_bits({snp::numbers_of(at.state)}, {snp::numbers_of(alone->current(std::int64_t(c)).state)}));
        for (std::size_t m = 0; m < moves[c].size(); ++m) {
          EXPECT_EQ(moves[c][m].tried, expected_moves[c][m].tried);
          EXPECT_EQ(moves[c][m].accepted, expected_moves[c][m].accepted);
          EXPECT_EQ(moves[c][m].width, expected_moves[c][m].width);
        }
      }
    });
    EXPECT_TRUE(same_bits(found[0], expected)) << processes;
    for (std::size_t rank = 1; rank < found.size(); ++rank) EXPECT_TRUE(found[rank].empty());
  }
}

TEST(snp_sampler, processes_that_share_a_walker_give_the_same_bits) {
  hard_case one;
  one.options.chains = 1;
  one.options.temperatures = 2;
  one.options.iterations = 1000;
  one.options.burn_in = 400;
  one.options.swap_every = 20;
  one.options.delayed_acceptance = true;
  const auto alone = one.make();
  const rows expected = numbers_of_samples(*alone, one.prior);
  for (const int processes : {3, 5}) {
    run_as_group(processes, [&](std::shared_ptr<process_group> group) {
      hard_case mine = one;
      mine.options.shared_by = group;
      auto chains = mine.make();
      const rows found = numbers_of_samples(*chains, mine.prior);
      EXPECT_TRUE(group->rank() == 0 ? same_bits(found, expected) : found.empty()) << processes;
      const auto taken = chains->snapshot();
      EXPECT_TRUE(same_bits({taken.numbers}, {alone->snapshot().numbers}));
      EXPECT_EQ(taken.counts, alone->snapshot().counts);
    });
  }
}

TEST(snp_sampler, another_number_of_processes_goes_on_from_a_snapshot) {
  hard_case one;
  one.options.iterations = 2000;
  const auto alone = one.make();
  alone->advance();
  const snp::sampler_snapshot saved = alone->snapshot();
  alone->take_samples();
  const rows expected = numbers_of_samples(*alone, one.prior);
  snp::sampler_snapshot from_two;
  run_as_group(2, [&](std::shared_ptr<process_group> group) {
    hard_case mine = one;
    mine.options.shared_by = group;
    auto chains = mine.make();
    chains->advance();
    const auto taken = chains->snapshot();
    EXPECT_TRUE(same_bits({taken.numbers}, {saved.numbers}));
    EXPECT_EQ(taken.counts, saved.counts);
    if (group->rank() == 0) from_two = taken;
  });
  rows found;
  run_as_group(3, [&](std::shared_ptr<process_group> group) {
    hard_case mine = one;
    mine.options.shared_by = group;
    auto chains = mine.make();
    chains->restore(from_two);
    const rows rest = numbers_of_samples(*chains, mine.prior);
    if (group->rank() == 0) found = rest;
  });
  EXPECT_TRUE(same_bits(found, expected));
}

TEST(snp_sampler, an_error_in_one_process_is_thrown_in_all) {
  std::vector<std::string> said(3);
  run_as_group(3, [&](std::shared_ptr<process_group> group) {
    hard_case mine;
    mine.options.shared_by = group;
    auto chains = mine.make();
    try {
      while (true)
        chains->advance([&](std::string_view, double) { return group->rank() != 1 || chains->step() < 300; });
    } catch (const Cancelled& e) {
      said[std::size_t(group->rank())] = e.what();
    }
  });
  for (const std::string& one : said) EXPECT_EQ(one, said[1]);
  EXPECT_FALSE(said[1].empty());
}

TEST(snp_sampler, snapshots_are_refused_where_they_do_not_belong) {
  hard_case one;
  one.options.iterations = 1500;
  auto chains = one.make();
  const snp::sampler_snapshot begin = chains->snapshot();
  chains->advance();
  chains->advance();
  expect_invalid([&] { chains->snapshot(); }, "step of a snapshot must be divisible by 1000");
  one.options.temperatures = 2;
  expect_invalid([&] { one.make()->restore(begin); }, "another sampler");
}

TEST(snp_sampler, callback_stops_it) {
  hard_case one;
  auto chains = one.make();
  std::string stages;
  EXPECT_THROW(chains->advance([&](std::string_view stage, double fraction) {
    EXPECT_GT(fraction, 0);
    EXPECT_LE(fraction, 1);
    stages += stage;
    return false;
  }),
               Cancelled);
  EXPECT_EQ(stages, "sample");
}

// Most steps are of the joint move, beside those without which a topology would not be left.
TEST(snp_sampler, the_joint_move_keeps_the_posterior) {
  for (const oracle& one : {oracle_p1(), oracle_p5()}) {
    snp::sampler_options options = with_length(one, sized(60000, 6000));
    options.weights = {{"joint", 100}};
    expect_oracle(one, options, sized(80, 250) * 1e-3);
    const snp::priors prior(snp::parse_priors(one.priors), 2, one.limits);
    options.iterations = 4000;
    options.burn_in = 2000;
    snp::sampler chains(names_of(one.data), &one.data, prior, options);
    while (!chains.is_done()) chains.advance();
    const auto moves = chains.moves();
    for (const snp::move_record& record : moves[0])
      if (record.name == "joint") EXPECT_GT(record.accepted, record.tried / 10);
  }
}

TEST(snp_sampler, widths_freeze_after_burn_in) {
  hard_case one;
  one.options.burn_in = 2000;
  one.options.iterations = 4000;
  auto chains = one.make();
  chains->advance();
  const auto early = chains->moves();
  chains->advance();
  const auto tuned = chains->moves();
  const double heat = chains->exchanges()[0].heat;
  chains->advance();
  const auto late = chains->moves();
  bool has_changed = false;
  for (std::size_t m = 0; m < tuned[0].size(); ++m) {
    has_changed = has_changed || early[0][m].width != tuned[0][m].width;
    EXPECT_EQ(tuned[0][m].width, late[0][m].width) << tuned[0][m].name;
  }
  EXPECT_TRUE(has_changed);
  EXPECT_EQ(chains->exchanges()[0].heat, heat);
  EXPECT_NE(heat, one.options.heat);
  EXPECT_GT(chains->exchanges()[0].tried, 0);
  one.options.tune_heat = false;
  auto others = one.make();
  others->advance();
  EXPECT_EQ(others->exchanges()[0].heat, one.options.heat);
}

// Without data every exchange is accepted: a walker passes one temperature after the other, waits one exchange at each
// end, and is back after 2 T of them.
TEST(snp_sampler, walkers_pass_all_temperatures_without_turning_back) {
  const hard_case one;
  for (const std::int64_t temperatures : {2, 3, 4, 7}) {
    SCOPED_TRACE(temperatures);
    const snp::sampler_options options{
        .chains = 2, .temperatures = temperatures, .iterations = 3000, .burn_in = 0, .swap_every = 5, .threads = 1};
    snp::sampler chains(names_of(one.data), nullptr, one.prior, options),
        resumed(names_of(one.data), nullptr, one.prior, options);
    chains.advance();
    resumed.restore(chains.snapshot());
    while (!chains.is_done()) chains.advance();
    while (!resumed.is_done()) resumed.advance();
    // The way of walker w: where it is, whether it was at the hot end.
    std::int64_t tried = 0, trips = 0;
    std::vector<std::int64_t> place(std::size_t(temperatures), 0);
    for (std::size_t w = 0; w < place.size(); ++w) place[w] = std::int64_t(w);
    std::vector<bool> was_hot(place.size(), false);
    for (std::int64_t round = 1; round <= 600; ++round) {
      const std::int64_t odd = temperatures == 2 ? 0 : round % 2;
      for (std::int64_t lower = odd; lower + 1 < temperatures; lower += 2) ++tried;
      for (std::size_t w = 0; w < place.size(); ++w) {
        const bool goes_up = (place[w] - odd) % 2 == 0;
        if (place[w] >= odd) place[w] += goes_up ? (place[w] + 1 < temperatures ? 1 : 0) : -1;
        if (place[w] == 0) trips += was_hot[w] ? 1 : 0;
        if (place[w] == 0 || place[w] + 1 == temperatures) was_hot[w] = place[w] != 0;
      }
    }
    EXPECT_GE(trips, 600 / 2 - 2 * temperatures);  // T walkers, each once in 2 T exchanges
    for (snp::sampler* run : {&chains, &resumed})
      for (const snp::exchange_record& found : run->exchanges()) {
        EXPECT_EQ(found.tried, tried);
        EXPECT_EQ(found.accepted, tried);
        EXPECT_EQ(found.round_trips, trips);
      }
  }
}

TEST(snp_sampler, one_topology_two_parameters) {  // P1
  const oracle p1 = oracle_p1();
  expect_oracle(p1, with_length(p1, sized(40000, 4000)), sized(60, 250) * 1e-3);
}

TEST(snp_sampler, three_topologies) {  // P2
  const oracle p2 = oracle_p2();
  expect_oracle(p2, with_length(p2, sized(40000, 4000)), sized(60, 200) * 1e-3);
}

TEST(snp_sampler, one_gamma) {  // P3
  const oracle p3 = oracle_p3();
  expect_oracle(p3, with_length(p3, sized(8000, 2000)), sized(40, 100) * 1e-3);
}

TEST(snp_sampler, jumps) {  // P4
  const oracle p4 = oracle_p4();
  expect_oracle(p4, with_length(p4, sized(100000, 8000)), sized(60, 250) * 1e-3);
}

TEST(snp_sampler, jumps_with_a_theta_for_every_branch) {  // P5
  const oracle p5 = oracle_p5();
  expect_oracle(p5, with_length(p5, sized(60000, 6000)), sized(80, 300) * 1e-3);
}

TEST(snp_sampler, temperatures_leave_the_posterior) {
  const oracle p4 = oracle_p4();
  snp::sampler_options options = with_length(p4, sized(40000, 4000));
  options.temperatures = 3;
  options.swap_every = 20;
  expect_oracle(p4, options, sized(100, 350) * 1e-3);
}

// A number of the state that says nothing: the surrogate that is worst.
double hash_of_state(const snp::network_state& state) {
  std::uint64_t hash = 1469598103934665603u;
  for (const double x : snp::numbers_of(state)) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return double(hash >> 11) * 0x1p-53;
}

TEST(snp_sampler, delayed_acceptance_leaves_the_posterior) {
  const oracle p1 = oracle_p1();
  snp::sampler_options options = with_length(p1, sized(40000, 4000));
  options.surrogate = [](const snp::network_state&) { return 3.0; };
  expect_oracle(p1, options, sized(100, 300) * 1e-3);
  options.surrogate = [](const snp::network_state& state) { return 2 * hash_of_state(state); };
  expect_oracle(p1, options, sized(120, 350) * 1e-3);
  options.surrogate = nullptr;
  options.delayed_acceptance = true;
  options.frequent_share = 0.4;
  expect_oracle(p1, options, sized(100, 300) * 1e-3);
}

TEST(snp_sampler, frequent_patterns_keep_the_weight) {
  const snp::Data data = oracle_p1().data, kept = snp::frequent_patterns(data, 0.3);
  EXPECT_EQ(kept.patterns(), 3);
  double sum = 0;
  for (const double w : kept.weights()) sum += w;
  EXPECT_NEAR(sum, 200, 1e-9);
  EXPECT_EQ(kept.red(0, 0), 0);
  EXPECT_EQ(kept.red(1, 0), 2);
  expect_invalid([&] { snp::frequent_patterns(data, 0); }, "share must be in (0, 1]");
}

TEST(snp_sampler, columns_belong_to_rows) {
  hard_case one;
  auto chains = one.make();
  const auto columns = snp::trace_columns({"A", "B", "C"}, one.prior);
  const auto row = snp::trace_row(chains->current(0), one.prior);
  ASSERT_EQ(columns.size(), row.size());
  const auto value = [&](const std::string& name) {
    return row[std::size_t(std::find(columns.begin(), columns.end(), name) - columns.begin())];
  };
  EXPECT_EQ(value("posterior"), value("likelihood") + value("prior"));
  EXPECT_NEAR(value("u"), 0.5 / value("pi1"), 1e-15 / value("pi1"));
  EXPECT_NEAR(value("lambda") - value("nu"), chains->current(0).state.netdiv, 1e-12 * value("lambda"));
  EXPECT_GT(value("origin"), value("root_height"));
  EXPECT_EQ(value("theta_B"), chains->current(0).state.theta(2));
}

TEST(snp_sampler, errors) {
  hard_case one;
  const auto fails = [&](auto change, const std::string& words) {
    hard_case bad;
    change(bad.options);
    expect_invalid([&] { bad.make(); }, words);
  };
  using options = snp::sampler_options&;
  fails([](options o) { o.chains = 0; }, "chains must be >= 1 (chains=0)");
  fails([](options o) { o.temperatures = 0; }, "temperatures must be >= 1");
  fails([](options o) { o.iterations = 0; }, "iterations must be >= 1");
  fails([](options o) { o.burn_in = o.iterations + 1; }, "burn_in must be in [0, iterations");
  fails([](options o) { o.sample_every = 0; }, "sample_every must be >= 1");
  fails([](options o) { o.swap_every = 300; }, "swap_every must be a divisor of 1000");
  fails([](options o) { o.heat = 0; }, "heat must be finite and > 0");
  fails([](options o) { o.fix_topology = true; }, "only with a start");
  fails([](options o) { o.weights = {{"jiggle", 1}}; }, "there is no move jiggle");
  // A start of other species, outside the class, of likelihood 0.
  const auto start = [&](const std::string& newick) {
    return snp::state_of(snp::parse_newick(newick, {.theta = .05}), names_of(one.data), {});
  };
  EXPECT_THROW(start("((A:.1,B:.1):.1,D:.2)"), Error);
  const std::string two_below = "((((A:.01)#H1:.02::.5,#H1:.02):.03)#H2:.01::.5,#H2:.01)x:.03";
  const std::string three = "((((" + two_below + ")#H3:.01::.5,#H3:.01):.01,B:.12):.05,C:.17)r";
  fails([&](options o) { o.start = start(three); }, "in the class of networks that is sampled (reticulations=3");
  const snp::Data constant = counted_sites("ABC", {2, 2, 1}, "000x35 221x31");
  expect_invalid([&] { snp::sampler(names_of(constant), &constant, one.prior); }, "data without variation");
  const auto other = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"A", "B", "D"});
  expect_invalid([&] { snp::sampler(other, &one.data, one.prior); }, "the species must be those of the data");
  const snp::priors four(snp::prior_options{}, 4);
  expect_invalid([&] { snp::sampler(names_of(one.data), &one.data, four); }, "species must be those of the prior, 4");
  const snp::priors improper(snp::parse_priors("network = phylonet"), 3);
  expect_invalid([&] { snp::sampler(names_of(one.data), nullptr, improper); }, "without data the prior must be proper");
}

}  // namespace
}  // namespace quintet::test
