// Every family when memory runs out at any one of its allocations: a clear exception, nothing leaked, the input as it
// was, and the right result when the call is made again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/plan.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/gradient.hpp"
#include "quintet/svd/randomised.hpp"
#include "robustness/failing_memory.hpp"
#include "support/ball_points.hpp"
#include "support/points.hpp"

namespace quintet {
namespace {

enum class outcome { done, failed_clearly, failed_otherwise };

template <class Call>
outcome attempt(const Call& call) {
  try {
    call();
    return outcome::done;
  } catch (const OutOfMemory&) {
    return outcome::failed_clearly;
  } catch (const std::bad_alloc&) {
    return outcome::failed_clearly;
  } catch (...) {
    return outcome::failed_otherwise;
  }
}

using numbers = std::vector<double>;

/// What a call returned, as numbers.
template <class... Ranges>
numbers numbers_of(const Ranges&... ranges) {
  numbers result;
  (result.insert(result.end(), std::begin(ranges), std::end(ranges)), ...);
  return result;
}

/// Lets the allocations of `call` fail, one a time: each of the first 200, then ever fewer. The call after it has the
/// result of the first.
void expect_survives(const std::function<numbers()>& call) {
  const numbers expected = call();  // also what the program makes once and keeps
  ASSERT_FALSE(expected.empty());
  const std::int64_t before = test::allocation_count();
  call();
  const std::int64_t allocations = test::allocation_count() - before;
  ASSERT_GT(allocations, 0);
  std::int64_t failures = 0;
  for (std::int64_t which = 0; which < allocations; which += 1 + which / 200) {
    const std::int64_t live = test::live_allocations();
    test::fail_allocation_after(which);
    const outcome found = attempt(call);
    test::fail_allocation_after(-1);
    ASSERT_NE(found, outcome::failed_otherwise) << "allocation " << which << " of " << allocations;
    ASSERT_EQ(test::live_allocations(), live) << "allocation " << which << " of " << allocations;
    failures += found == outcome::failed_clearly;
    if (which % 64 == 0) ASSERT_EQ(call(), expected) << "after allocation " << which << " of " << allocations;
  }
  // Nobody may swallow a failure, but a call may do with less memory than it asks for.
  EXPECT_GT(failures, 0);
}

/// Calls of one family on the host and on the emulated device; `input` must stay as it is.
template <class Input>
void on_both_devices(const Input& input, const std::function<numbers(const Device&)>& call) {
  const Input original = input;
  for (const Device& device : {Device::host(), Device::emulated()}) {
    SCOPED_TRACE(device.name());
    expect_survives([&] { return call(device); });
    EXPECT_TRUE(std::equal(input.begin(), input.end(), original.begin(), original.end()));
  }
}

TEST(allocation_failure, hdbscan) {
  const auto points = test::clustered_points<float>(130, 3, 1);
  const auto view = points.view();
  const hdbscan::cluster_options options{.min_cluster_size = 5, .min_samples = 3};
  const auto model = hdbscan::cluster(view, options, Device::host());
  std::vector<float> matrix(130 * 130);
  on_both_devices(points.data, [&](const Device& device) {
    const auto found = hdbscan::cluster(view, options, device);
    return numbers_of(found.labels, found.probabilities, found.outlier_scores);
  });
  on_both_devices(points.data, [&](const Device& device) {
    return numbers_of(hdbscan::core_distances(view, {.min_samples = 3}, device).distances);
  });
  on_both_devices(points.data, [&](const Device& device) {
    hdbscan::core_and_reachability<float>(view, {.min_samples = 3}, {matrix.data(), 130, 130}, {}, device);
    return numbers_of(matrix);
  });
  on_both_devices(points.data, [&](const Device& device) {
    const auto found = hdbscan::approximate_predict(model, view, view, device);
    return numbers_of(found.labels, found.probabilities);
  });
  on_both_devices(points.data,
                  [&](const Device& device) { return hdbscan::membership_vectors(model, view, view, device); });
  on_both_devices(points.data, [&](const Device& device) {
    return numbers_of(hdbscan::validity_index(view, model.labels, {}, device).cluster_validity);
  });
  on_both_devices(points.data, [&](const Device& device) {
    return numbers_of(hdbscan::medoids(view, model.labels, {}, {}, device));
  });
  std::vector<float> distances(matrix.size(), 1);
  for (std::int64_t i = 0; i < 130; ++i) distances[i * 131] = 0;
  on_both_devices(distances, [&](const Device&) {
    return numbers_of(hdbscan::cluster_distances({distances.data(), 130, 130}, options).labels);
  });
}

// Sets side by side: the exception of one thread reaches the caller, and the others end.
TEST(allocation_failure, sets_of_several_threads) {
  const auto points = test::clustered_points<float>(40, 3, 1);
  std::vector<std::vector<float>> matrices(3, std::vector<float>(40 * 40));
  std::vector<hdbscan::reachability_task> tasks;
  for (auto& matrix : matrices) tasks.push_back({points.view(), {}, matrix_view<float>(matrix.data(), 40, 40)});
  const int threads = quintet::threads();
  set_threads(3);
  // On the host, where they are side by side.
  expect_survives([&] {
    for (auto& matrix : matrices) std::fill(matrix.begin(), matrix.end(), -1.0f);
    hdbscan::core_and_reachability_batch(tasks, {.min_samples = 3}, {}, Device::host());
    return numbers_of(matrices[0], matrices[1], matrices[2]);
  });
  set_threads(threads);
}

TEST(allocation_failure, poincare) {
  const auto points = test::ball_points<float>(60, 9, 0, 0.9, 1, 2);
  const auto view = points.view();
  std::vector<float> matrix(60 * 60), rows(60 * 9);
  on_both_devices(points.data, [&](const Device& device) {
    poincare::distances(view, view, matrix_view<float>(matrix.data(), 60, 60), {}, device);
    return numbers_of(matrix);
  });
  on_both_devices(points.data, [&](const Device& device) {
    const auto found = poincare::nearest(view, view, 4, {}, device);
    return numbers_of(found.index, found.distance);
  });
  on_both_devices(points.data, [&](const Device& device) {
    poincare::mobius_add(view, view, matrix_view<float>(rows.data(), 60, 9), {}, device);
    return numbers_of(rows);
  });
}

TEST(allocation_failure, svd) {
  const auto given = test::clustered_points<float>(2 * 9, 5, 3);
  const batch_view<const float> batch(given.data.data(), 2, 9, 5);
  const auto factors = svd::decompose(batch, {}, Device::host());
  on_both_devices(given.data, [&](const Device& device) {
    const auto found = svd::decompose(batch, {}, device);
    return numbers_of(found.u, found.s, found.v);
  });
  on_both_devices(given.data, [&](const Device& device) {
    const auto found = svd::randomised(batch, {.rank = 3}, device).factors;
    return numbers_of(found.u, found.s, found.v);
  });
  on_both_devices(given.data, [&](const Device& device) {
    return numbers_of(svd::gradient<float>(factors, factors.u_view(), {}, factors.v_view(), {}, device));
  });
}

TEST(allocation_failure, spgemm) {
  // A tridiagonal matrix.
  std::vector<std::int64_t> pointers{0};
  std::vector<std::int32_t> columns;
  for (std::int32_t i = 0; i < 300; ++i) {
    for (std::int32_t j = std::max(0, i - 1); j < std::min(300, i + 2); ++j) columns.push_back(j);
    pointers.push_back(std::int64_t(columns.size()));
  }
  const std::vector<double> values(columns.size(), 1.5);
  const spgemm::csr_view<double, std::int32_t> a{300, 300, pointers.data(), columns.data(), values.data()};
  on_both_devices(values, [&](const Device& device) {
    const auto c = spgemm::multiply(a, a, {}, device);
    return numbers_of(c.row_pointers, c.columns, c.values);
  });
}

TEST(allocation_failure, snp) {
  const snp::Network network =
      snp::parse_newick("(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r;", {.theta = 0.1});
  const auto species = network.species();
  const std::vector<std::string> names(species.begin(), species.end());
  snp::DataBuilder builder(names, {});
  const std::vector<std::int64_t> copies(names.size(), 2);
  for (std::int64_t site = 0; site < 27; ++site)
    builder.add_site(std::vector<std::int64_t>{site % 3, site / 3 % 3, site / 9}, copies);
  const snp::Data data = builder.finish();
  on_both_devices(names, [&](const Device& device) {
    snp::Likelihood likelihood(network, data, {}, {.device = device});
    const double first = likelihood.evaluate();
    likelihood.set_length(0, 0.2);
    const double second = likelihood.evaluate();
    likelihood.reject();
    return numbers_of(numbers{first, second}, likelihood.gradient().length);
  });
}

// A proposal that ends for lack of memory leaves nothing behind: what follows has the values of a new Likelihood. The
// lengths change how many of the 30 lineages are negligible on the branches, which is noted for the accepted parameters
// and for the proposed ones.
TEST(allocation_failure, proposals_of_many_lineages_go_on_afterwards) {
  const snp::Network network = snp::parse_newick("((A:0.02,B:0.03)x:0.02,(C:0.05,D:0.05)y:0.01)r;", {.theta = 0.1});
  snp::DataBuilder builder({"A", "B", "C", "D"}, {});
  const std::vector<std::int64_t> copies{30, 30, 2, 2};
  for (std::int64_t site = 0; site < 8; ++site)
    builder.add_site(std::vector<std::int64_t>{4 * site, 30 - 3 * site, site % 3, site / 3}, copies);
  const snp::Data data = builder.finish();
  const std::int64_t a = network.parent_branches(network.find("A"))[0];
  const auto fresh = [&](double length) {
    snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
    likelihood.set_length(a, length);
    return likelihood.evaluate();
  };
  const std::vector<double> lengths{0.01, 0.4, 0.02, 0.2}, expected{fresh(0.01), fresh(0.4), fresh(0.02), fresh(0.2)};
  std::int64_t failures = 0;
  for (std::int64_t which = 0;; ++which) {
    snp::Likelihood likelihood(network, data, {}, {.device = Device::host()});
    likelihood.evaluate();
    likelihood.accept();
    likelihood.set_length(a, 0.3);
    test::fail_allocation_after(which);
    const outcome found = attempt([&] { likelihood.evaluate(); });
    test::fail_allocation_after(-1);
    ASSERT_NE(found, outcome::failed_otherwise) << "allocation " << which;
    likelihood.reject();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      likelihood.set_length(a, lengths[i]);
      ASSERT_NEAR(likelihood.evaluate(), expected[i], 1e-9 * std::abs(expected[i])) << "allocation " << which;
      likelihood.reject();
    }
    if (found == outcome::done) break;
    ++failures;
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace quintet
