// Every family when the poll of the calling thread throws, at any of its calls: the same exception comes out, nothing
// is leaked, and the next call has the right result. And how long a family goes without polling.
#include "quintet/core/poll.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "core/polled.hpp"
#include "device/emulation.hpp"
#include "quintet/core/error.hpp"
#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "quintet/neighbours/neighbours.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/snp/inference/sampler.hpp"
#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/snp/simulation/simulate.hpp"
#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/randomised.hpp"
#include "robustness/poll_kernels.hpp"
#include "support/ball_points.hpp"
#include "support/points.hpp"
#ifdef QUINTET_TEST_MEMORY
#include "robustness/failing_memory.hpp"
#endif

namespace quintet {
namespace {

using numbers = std::vector<double>;

// Nothing that the library could mistake for one of its own.
struct interruption {
  int number;
};

std::int64_t live_allocations() {
#ifdef QUINTET_TEST_MEMORY
  return test::live_allocations();
#else
  return 0;
#endif
}

template <class... Lists>
numbers all_of(const Lists&... lists) {
  numbers all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

/// Throws at poll `at`.
void expect_interrupted(const std::function<numbers()>& call, const numbers& expected, std::int64_t at) {
  std::int64_t now = 0;
  const poll_scope scope(
      [&] {
        if (++now == at) throw interruption{42};
      },
      std::chrono::seconds(0));
  try {
    const numbers found = call();  // on several threads the number of polls may vary
    EXPECT_LT(now, at);
    EXPECT_EQ(found, expected);
  } catch (const interruption& one) {
    EXPECT_EQ(one.number, 42);
    EXPECT_EQ(now, at) << "work went on";
  }
}

/// Throws at each of the first `dense` polls of `call`, then at ever fewer.
void expect_interruptible(const std::function<numbers()>& call, std::int64_t dense = 8) {
  const numbers expected = call();
  std::int64_t polls = 0;
  {
    const poll_scope count([&] { ++polls; }, std::chrono::seconds(0));
    EXPECT_EQ(call(), expected);
  }
  ASSERT_GT(polls, 0);
  for (std::int64_t at = 1; at <= polls; at += 1 + at / dense) {
    SCOPED_TRACE("poll " + std::to_string(at) + " of " + std::to_string(polls));
    // A call may leave memory for the next one, and each thread at the first tile that it gets; a leak grows every
    // time.
    std::int64_t before = -1, live = -2;
    for (int times = 0; times < 10 && live != before; ++times) {
      before = live;
      expect_interrupted(call, expected, at);
      live = live_allocations();
    }
    EXPECT_EQ(live, before);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(call(), expected);
}

void on_host_and_emulated(const std::function<numbers(const Device&)>& call) {
  for (const int count : {1, 3}) {
    SCOPED_TRACE(std::to_string(count) + " threads");
    set_threads(count);
    expect_interruptible([&] { return call(Device::host()); });
  }
  set_threads(0);
  SCOPED_TRACE("emulated");
  const device::emulated_team_size size(2);
  expect_interruptible([&] { return call(Device::emulated()); }, 1);
}

TEST(poll, only_this_thread_polls_and_only_when_it_is_time) {
  int calls = 0;
  {
    const poll_scope scope([&] { ++calls; }, std::chrono::hours(1));
    poll();
    EXPECT_EQ(calls, 0);
    {
      const poll_scope inner([&] { calls += 100; }, std::chrono::seconds(0));
      poll();
      EXPECT_EQ(calls, 100);
      std::thread([] { poll(); }).join();
      EXPECT_EQ(calls, 100);
    }
    poll();
    EXPECT_EQ(calls, 100);
  }
  poll();
  EXPECT_EQ(calls, 100);
}

TEST(poll, inner_scopes_poll_the_outer_ones_and_calls_from_a_poll_do_not_poll) {
  int outer_calls = 0, inner_calls = 0;
  const poll_scope outer([&] { ++outer_calls; }, std::chrono::seconds(0));
  const poll_scope inner(
      [&] {
        ++inner_calls;
        poll();
      },
      std::chrono::seconds(0));
  poll();
  EXPECT_EQ(outer_calls, 1);
  EXPECT_EQ(inner_calls, 1);
}

TEST(poll, sorts_in_parts) {
  std::vector<std::int64_t> values((std::int64_t{5} << 20) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::int64_t(i * 2654435761u % 1000003);
  std::vector<std::int64_t> expected = values;
  std::sort(expected.begin(), expected.end());
  detail::polled_sort(values.begin(), values.end());
  EXPECT_TRUE(values == expected);
}

// The calling thread has nothing left to do while another one works on.
TEST(poll, the_calling_thread_polls_while_it_waits_for_others) {
  set_threads(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> entered{0};
  int polls = 0;
  const poll_scope scope(
      [&] {
        if (++polls == 20) throw interruption{1};
      },
      std::chrono::milliseconds(1));
  EXPECT_THROW(test::side_by_side(2,
                                  [&](std::int64_t) {
                                    // Both threads get one, or one thread both: then there is no waiting.
                                    ++entered;
                                    if (std::this_thread::get_id() == caller) {
                                      for (int i = 0; entered < 2 && i < 1000; ++i)
                                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                      if (entered == 2) return;
                                    }
                                    while (true) {
                                      poll();
                                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                    }
                                  }),
               interruption);
  EXPECT_EQ(polls, 20);
  set_threads(0);
}

TEST(poll, hdbscan) {
  const auto points = test::clustered_points<float>(400, 5, 1);
  const auto view = points.view();
  const hdbscan::cluster_options options{.min_cluster_size = 5, .min_samples = 3};
  const auto model = hdbscan::cluster(view, options, Device::host());
  on_host_and_emulated([&](const Device& device) {
    const auto found = hdbscan::cluster(view, options, device);
    return all_of(found.labels, found.probabilities, found.core_distances);
  });
  const auto few = test::clustered_points<float>(130, 3, 1);
  const auto small = hdbscan::cluster(few.view(), options, Device::host());
  std::vector<float> matrix(130 * 130);
  on_host_and_emulated([&](const Device& device) {
    const auto joined = hdbscan::approximate_predict(small, few.view(), few.view(), device);
    const auto members = hdbscan::membership_vectors(small, few.view(), few.view(), device);
    const auto index = hdbscan::validity_index(few.view(), small.labels, {}, device);
    hdbscan::core_and_reachability<float>(few.view(), {.min_samples = 3}, {matrix.data(), 130, 130}, {}, device);
    return all_of(joined.labels, members, numbers{index.index}, matrix);
  });
}

TEST(poll, hdbscan_of_few_dimensions_and_of_a_graph) {
  const auto points = test::clustered_points<float>(3000, 2, 1);
  set_threads(3);
  expect_interruptible([&] {
    const auto found = hdbscan::cluster(points.view(), hdbscan::cluster_options{.min_cluster_size = 5}, Device::host());
    return all_of(found.labels, found.probabilities);
  });
  // A ring.
  std::vector<std::int64_t> row_begin{0}, columns;
  std::vector<double> values;
  for (std::int64_t i = 0; i < 100; ++i) {
    columns.push_back((i + 1) % 100);
    values.push_back(1 + double(i % 7));
    row_begin.push_back(i + 1);
  }
  const hdbscan::csr_graph<double> graph{100, row_begin, columns, values};
  expect_interruptible([&] { return all_of(hdbscan::cluster_graph(graph, {.min_cluster_size = 3}).labels); });
  set_threads(0);
}

TEST(poll, hdbscan_of_sets_side_by_side) {
  const auto points = test::clustered_points<float>(90, 4, 1);
  std::vector<std::vector<float>> matrices(5, std::vector<float>(90 * 90));
  std::vector<hdbscan::reachability_task> tasks;
  for (auto& matrix : matrices) tasks.push_back({points.view(), {}, matrix_view<float>(matrix.data(), 90, 90)});
  for (const int count : {1, 3}) {
    set_threads(count);
    expect_interruptible([&] {
      hdbscan::core_and_reachability_batch(tasks, {.min_samples = 3}, {}, Device::host());
      return all_of(matrices[0], matrices[4]);
    });
  }
  set_threads(0);
}

TEST(poll, neighbours) {
  const auto points = test::clustered_points<float>(500, 3, 1);
  on_host_and_emulated([&](const Device& device) {
    const auto nearest = neighbours::nearest(points.view(), 4, {}, device);
    const auto within = neighbours::within_radius(points.view(), 0.05, {}, device);
    return all_of(nearest.index, nearest.distance, within.index, within.distance);
  });
}

TEST(poll, poincare) {
  const auto points = test::ball_points<float>(300, 9, 0, 0.9, 1, 2);
  const auto view = points.view();
  std::vector<float> matrix(300 * 300), rows(300 * 9), mean(9);
  const std::vector<std::int64_t> offsets{0, 300};
  on_host_and_emulated([&](const Device& device) {
    poincare::distances(view, view, matrix_view<float>(matrix.data(), 300, 300), {}, device);
    poincare::mobius_add(view, view, matrix_view<float>(rows.data(), 300, 9), {}, device);
    const auto nearest = poincare::nearest(view, view, 4, {}, device);
    poincare::frechet_mean(view, offsets, {}, matrix_view<float>(mean.data(), 1, 9), {}, device);
    return all_of(matrix, rows, nearest.index, mean);
  });
}

/// A group is the work of one thread, which must not keep Ctrl-C waiting.
TEST(poll, mean_of_a_large_group) {
  const auto points = test::ball_points<float>(150000, 20, 0, 0.9, 1, 2);
  std::vector<float> mean(20);
  const std::vector<std::int64_t> offsets{0, 150000};
  std::int64_t polls = 0;
  const poll_scope scope([&] { ++polls; }, std::chrono::seconds(0));
  const auto report =
      poincare::frechet_mean(points.view(), offsets, {}, matrix_view<float>(mean.data(), 1, 20), {}, Device::host());
  // 3,000,000 coordinates a pass, 2^20 a slice.
  EXPECT_GE(polls, 2 * report.iterations[0]);
}

TEST(poll, svd) {
  const auto values = test::clustered_points<float>(20 * 12, 7, 3);
  const batch_view<const float> batch(values.data.data(), 20, 12, 7);
  const auto large = test::clustered_points<float>(150, 140, 3);
  on_host_and_emulated([&](const Device& device) {
    const auto factors = svd::decompose(batch, {}, device);
    const auto gradient = svd::gradient<float>(factors, factors.u_view(), {}, factors.v_view(), {}, device);
    const auto randomised = svd::randomised(batch, {.rank = 3}, device);
    return all_of(factors.u, factors.s, factors.v, gradient, randomised.factors.s);
  });
  set_threads(3);
  expect_interruptible([&] { return all_of(svd::decompose(large.view(), {}, Device::host()).s); });
  set_threads(0);
}

spgemm::csr<double, std::int32_t> band(std::int32_t rows, std::int32_t width) {
  spgemm::csr<double, std::int32_t> matrix{rows, rows, spgemm::array<std::int64_t>(rows + 1), {}, {}};
  std::vector<std::int32_t> columns;
  matrix.row_pointers[0] = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = std::max(0, i - width); j < std::min(rows, i + width + 1); ++j) columns.push_back(j);
    matrix.row_pointers[i + 1] = std::int64_t(columns.size());
  }
  matrix.columns = spgemm::array<std::int32_t>(std::int64_t(columns.size()));
  matrix.values = spgemm::array<double>(std::int64_t(columns.size()));
  for (std::size_t e = 0; e < columns.size(); ++e) {
    matrix.columns[std::int64_t(e)] = columns[e];
    matrix.values[std::int64_t(e)] = 1 + double(e % 5);
  }
  return matrix;
}

TEST(poll, spgemm) {
  const auto a = band(600, 4);
  const auto view = a.view();
  std::vector<double> x(600 * 2, 1.5), y(600 * 2);
  on_host_and_emulated([&](const Device& device) {
    const auto c = spgemm::multiply(view, view, {}, device);
    const spgemm::plan<spgemm::plus_times, double, std::int32_t> plan(view, view, {}, device);
    const auto again = plan.execute(view, view);
    const auto sum = spgemm::add(2.0, view, 1.0, view, device);
    const auto turned = spgemm::transpose(view, spgemm::memory_source::standard(), device);
    const auto masked = spgemm::multiply_masked(view, view, view, {}, device);
    spgemm::multiply_dense<double, std::int32_t>(view, {x.data(), 600, 2}, {y.data(), 600, 2}, device);
    numbers all(y);
    for (const auto* one : {&c, &again, &sum, &turned, &masked})
      all.insert(all.end(), one->values.begin(), one->values.end());
    return all;
  });
}

struct snp_case {
  snp::Network network =
      snp::parse_newick("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r;", {.theta = 0.1});
  std::vector<std::string> names;
  snp::Data data = make();

  snp::Data make() {
    const auto species = network.species();
    names.assign(species.begin(), species.end());
    snp::DataBuilder builder(names, {});
    const std::vector<std::int64_t> copies(names.size(), 2);
    for (std::int64_t site = 0; site < 27; ++site)
      builder.add_site(std::vector<std::int64_t>{site % 3, site / 3 % 3, site / 9}, copies);
    return builder.finish();
  }
};

TEST(poll, snp_likelihood) {
  const snp_case one;
  on_host_and_emulated([&](const Device& device) {
    snp::Likelihood likelihood(one.network, one.data, {}, {.device = device});
    numbers all{likelihood.evaluate()};
    likelihood.accept();
    likelihood.set_length(0, 0.2);
    all.push_back(likelihood.evaluate());
    const auto slope = likelihood.gradient();
    return all_of(all, slope.length, slope.theta, slope.gamma);
  });
}

// An object that was interrupted goes on with the values of a new one, whatever it was doing.
TEST(poll, an_interrupted_likelihood_goes_on) {
  const snp_case one;
  const std::int64_t branch = one.network.parent_branches(one.network.find("A"))[0];
  const auto fresh = [&](double length) {
    snp::Likelihood likelihood(one.network, one.data, {}, {.device = Device::host()});
    likelihood.set_length(branch, length);
    return likelihood.evaluate();
  };
  const double first = fresh(0.5), second = fresh(0.2), third = fresh(0.7);
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
  std::int64_t interrupted = 0;
  for (std::int64_t at = 1;; ++at) {
    SCOPED_TRACE(at);
    snp::Likelihood likelihood(one.network, one.data, {}, {.device = Device::host()});
    std::int64_t now = 0;
    bool is_done = false;
    try {
      const poll_scope scope(
          [&] {
            if (++now == at) throw interruption{1};
          },
          std::chrono::seconds(0));
      likelihood.evaluate();
      likelihood.accept();
      likelihood.set_length(branch, 0.2);
      likelihood.evaluate();
      likelihood.gradient();
      is_done = true;
    } catch (const interruption&) {
      ++interrupted;
    }
    const bool was_proposed = likelihood.network().branch(branch).length == 0.2;
    ASSERT_TRUE(near(likelihood.evaluate(), was_proposed ? second : first));
    likelihood.set_length(branch, 0.7);
    ASSERT_TRUE(near(likelihood.evaluate(), third));
    if (at % 2 == 0) likelihood.accept();
    likelihood.reject();  // to the first, unless nothing was accepted before or the last was
    const double length = likelihood.network().branch(branch).length;
    ASSERT_TRUE(length == (at % 2 == 0 ? 0.7 : 0.5)) << length;
    ASSERT_TRUE(near(likelihood.evaluate(), at % 2 == 0 ? third : first));
    if (is_done) break;
  }
  EXPECT_GT(interrupted, 10);
}

TEST(poll, snp_optimise_search_and_simulate) {
  const snp_case one;
  for (const int count : {1, 3}) {
    set_threads(count);
    expect_interruptible([&] {
      snp::Likelihood likelihood(one.network, one.data, {}, {.device = Device::host()});
      const auto best = snp::optimise(likelihood, {.max_iterations = 3});
      const auto sites = snp::simulate_sites(one.network, {.copies = {2, 2, 2}, .sites = 500});
      return all_of(numbers{best.log_likelihood}, sites.red);
    });
  }
  set_threads(0);
  expect_interruptible([&] {
    const auto found = snp::search_networks(one.data, {.max_reticulations = 0,
                                                       .starts = 1,
                                                       .patience = 1,
                                                       .optimise = {.max_iterations = 2},
                                                       .likelihood = {.device = Device::host()}});
    return numbers{found.levels[0].log_likelihood};
  });
}

TEST(poll, snp_sampler) {
  const snp_case one;
  const auto names = std::make_shared<const std::vector<std::string>>(one.names);
  const snp::priors prior(
      snp::parse_priors("netdiv = exponential(10)\nturnover = beta(1,1)\norigin = exponential(0.1)\n"
                        "theta = each gamma(2,20)\npi1 = beta(2,2)\n"),
      3, {.max_reticulations = 1});
  for (const snp::Data* data : {static_cast<const snp::Data*>(nullptr), &one.data})
    for (const std::int64_t threads : {1, 3}) {
      SCOPED_TRACE(threads);
      snp::sampler chains(
          names, data, prior,
          {.chains = 2, .temperatures = 2, .iterations = 1000, .burn_in = 0, .sample_every = 100, .threads = threads});
      const auto start = chains.snapshot();
      const auto run = [&] {
        chains.restore(start);
        chains.take_samples();
        chains.advance();
        numbers all;
        for (const auto& chain : chains.take_samples())
          for (const auto& sample : chain) all.push_back(sample.log_likelihood + sample.prior.network);
        return all;
      };
      const numbers expected = run();
      for (const int at : {1, 2, 3, 10, 100, 333}) {
        int now = 0;
        const auto interrupted = [&] {
          const poll_scope scope(
              [&] {
                if (++now == at) throw interruption{1};
              },
              std::chrono::seconds(0));
          run();
        };
        EXPECT_THROW(interrupted(), interruption);
        EXPECT_THROW(chains.advance(), InvalidArgument);
        EXPECT_THROW(chains.snapshot(), InvalidArgument);
        for (const auto& chain : chains.take_samples())
          for (const auto& sample : chain) EXPECT_LE(sample.step, chains.step());
      }
      EXPECT_EQ(run(), expected);
    }
}

// Processor time of this thread, which does not depend on what else the machine does.
double own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void expect_polls_often(const char* what, const std::function<void()>& call) {
  double last = own_seconds(), max = 0;
  const double begin = last;
  const auto note = [&] {
    const double now = own_seconds();
    max = std::max(max, now - last);
    last = now;
  };
  {
    const poll_scope scope(note, std::chrono::milliseconds(1));
    call();
  }
  note();
  EXPECT_LT(max, 0.3) << what;
  std::printf("%s: %.3f s at most without a poll, in %.3f s\n", what, max, last - begin);
}

TEST(poll, every_family_polls_often) {
  set_threads(1);
  const auto high = test::clustered_points<float>(6000, 200, 1);
  expect_polls_often("hdbscan 6000 x 200",
                     [&] { hdbscan::cluster(high.view(), hdbscan::cluster_options{}, Device::host()); });
  const auto flat = test::clustered_points<float>(60000, 2, 1);
  expect_polls_often("hdbscan 60000 x 2",
                     [&] { hdbscan::cluster(flat.view(), hdbscan::cluster_options{}, Device::host()); });
  const auto ball = test::ball_points<float>(6000, 30, 0, 0.9, 1, 2);
  expect_polls_often("poincare nearest 6000 x 30",
                     [&] { poincare::nearest(ball.view(), ball.view(), 4, {}, Device::host()); });
  const auto square = test::clustered_points<double>(500, 500, 1);
  expect_polls_often("svd 500 x 500", [&] { svd::decompose(square.view(), {}, Device::host()); });
  const auto middle = test::clustered_points<double>(40 * 128, 128, 1);
  expect_polls_often("svd 40 x 128 x 128", [&] {
    svd::decompose(batch_view<const double>(middle.data.data(), 40, 128, 128), {}, Device::host());
  });
  // One group of matrices side by side in one tile.
  const auto group = test::clustered_points<double>(8 * 240, 240, 1);
  expect_polls_often("svd 8 x 240 x 240", [&] {
    svd::decompose(batch_view<const double>(group.data.data(), 8, 240, 240), {}, Device::host());
  });
  const auto a = band(20000, 60);
  expect_polls_often("spgemm band", [&] { spgemm::multiply(a.view(), a.view(), {}, Device::host()); });
  const snp::Network network = snp::parse_newick("((A:0.02,B:0.03)x:0.02,(C:0.05,D:0.05)y:0.01)r;", {.theta = 0.1});
  snp::DataBuilder builder({"A", "B", "C", "D"}, {});
  for (std::int64_t site = 0; site < 200; ++site)
    builder.add_site(std::vector<std::int64_t>{site % 21, site % 19, site % 17, site % 13},
                     std::vector<std::int64_t>{20, 20, 20, 20});
  const snp::Data data = builder.finish();
  expect_polls_often("snp optimise", [&] {
    snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
    snp::optimise(likelihood, {.max_iterations = 5});
  });
  set_threads(0);
}

}  // namespace
}  // namespace quintet
