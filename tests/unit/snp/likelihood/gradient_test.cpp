// Derivatives against differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/random_network.hpp"
#include "support/random_snps.hpp"

namespace quintet::test {
namespace {

// Richardson's extrapolation of central differences with steps h and h / 2, error O(h^4).
double difference(const std::function<double(double)>& f, double x) {
  const auto central = [&](double h) { return (f(x + h) - f(x - h)) / (2 * h); };
  const double h = 2e-3 * x;
  return (4 * central(h / 2) - central(h)) / 3;
}

// Derivatives of every parameter of one model by differences, beside the gradient.
struct slopes {
  std::vector<double> found, expected;
};

slopes all_slopes(const snp::Network& network, const snp::Data& data, const snp::model& model, const Device& device) {
  snp::Likelihood likelihood(network, data, model, {.device = device});
  const snp::gradient gradient = likelihood.gradient();
  slopes result;
  const auto compare = [&](double found, double x, const std::function<void(double)>& set) {
    result.found.push_back(found);
    result.expected.push_back(difference(
        [&](double y) {
          set(y);
          const double value = likelihood.evaluate();
          likelihood.reject();
          return value;
        },
        x));
  };
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const snp::branch& one = network.branch(b);
    compare(gradient.length[std::size_t(b)], one.length, [&, b](double x) { likelihood.set_length(b, x); });
    compare(gradient.theta[std::size_t(b)], one.theta, [&, b](double x) { likelihood.set_theta(b, x); });
    if (network.kind(one.child) != snp::node_kind::reticulation) continue;
    compare(gradient.gamma[std::size_t(b)], one.gamma / 2,
            [&, b](double x) { likelihood.set_gamma(b, x + one.gamma / 2); });
  }
  compare(gradient.u, model.u, [&](double x) { likelihood.set_rates(x, model.v); });
  compare(gradient.v, model.v, [&](double x) { likelihood.set_rates(model.u, x); });
  compare(gradient.root_theta, network.root_theta(), [&](double x) { likelihood.set_root_theta(x); });
  return result;
}

TEST(snp_gradient, agrees_with_differences) {
  const std::vector<snp::model> models{
      {.u = .7, .v = 1.6},
      {.u = .7, .v = 1.6, .rate_categories = {.3, 1.7}},
      {.u = 1.2, .v = .4, .mutation_only_at_root = true},
      {.u = 1.2, .v = .4, .polymorphic_only = true},
      {.u = 1.2, .v = .4, .unseen_zeros = 20, .unseen_ones = 5, .ordered_data = true},
  };
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    random_stream random(seed, 81);
    const snp::Network network(random_network(random, 3, std::int64_t(seed % 4)));
    const auto data = random_data(random, network, 12, 2 + int(seed % 3 == 0));
    const auto found = all_slopes(network, data, models[seed % models.size()], Device::host());
    worst = std::max(worst, largest_error(found.found, found.expected, 1));
  }
  expect_error_within("derivative", worst, 1e-7);
}

// Branches with more than 24 lineages have no matrix.
TEST(snp_gradient, of_branches_with_many_lineages) {
  const auto network =
      snp::parse_newick("(((A:0.003,B:0.0005)x:0.002,C:0.01)y:0.004,(D:0.2,E:0.001)z:0.0004)r", {.theta = .1});
  random_stream random(5, 84);
  const auto data = random_data(random, network, 5, 12);
  const auto found = all_slopes(network, data, {.u = .7, .v = 1.6}, Device::host());
  expect_error_within("derivative", largest_error(found.found, found.expected, 1), 1e-6);
  const auto on_host = snp::Likelihood(network, data, {}, {.device = Device::host()}).gradient();
  on_other_devices([&](const Device& device) {
    const auto there = snp::Likelihood(network, data, {}, {.device = device}).gradient();
    expect_near(there.length, on_host.length, 1e-10, 1);
    expect_near(there.theta, on_host.theta, 1e-10, 1);
    EXPECT_NEAR(there.u, on_host.u, 1e-9);
  });
}

// One pattern goes through many lineages by itself, six go side by side.
TEST(snp_gradient, of_many_lineages_is_the_sum_over_patterns) {
  const auto network = snp::parse_newick("((A:0.02,B:0.3):0.01,C:0.2);", {.theta = .1});
  const auto gradient_of = [&](std::int64_t first, std::int64_t count, const Device& device) {
    snp::DataBuilder builder({"A", "B", "C"});
    for (std::int64_t p = first; p < first + count; ++p)
      builder.add_site(std::vector<std::int64_t>{5 * p + 4, p % 3, 1}, std::vector<std::int64_t>{40, 2, 2});
    return snp::Likelihood(network, builder.finish(), {.u = .7, .v = 1.6}, {.device = device}).gradient();
  };
  on_every_device([&](const Device& device) {
    snp::gradient sum = gradient_of(0, 1, device);
    for (std::int64_t p = 1; p < 6; ++p) {
      const snp::gradient one = gradient_of(p, 1, device);
      for (std::size_t b = 0; b < sum.length.size(); ++b) sum.length[b] += one.length[b], sum.theta[b] += one.theta[b];
      sum.u += one.u, sum.v += one.v, sum.root_theta += one.root_theta;
    }
    const snp::gradient all = gradient_of(0, 6, device);
    expect_near(sum.length, all.length, 1e-11, 1);
    expect_near(sum.theta, all.theta, 1e-11, 1);
    EXPECT_NEAR(sum.u, all.u, 1e-11 * std::fabs(all.u));
    EXPECT_NEAR(sum.v, all.v, 1e-11 * std::fabs(all.v));
    EXPECT_NEAR(sum.root_theta, all.root_theta, 1e-11 * std::fabs(all.root_theta));
  });
}

TEST(snp_gradient, is_the_same_on_other_devices) {
  random_stream random(4, 82);
  const snp::Network network(random_network(random, 3, 2));
  const auto data = random_data(random, network, 40, 3);
  const auto on_host = snp::Likelihood(network, data, {}, {.device = Device::host()}).gradient();
  on_other_devices([&](const Device& device) {
    const auto there = snp::Likelihood(network, data, {}, {.device = device}).gradient();
    expect_near(there.length, on_host.length, 1e-11, 1);
    expect_near(there.theta, on_host.theta, 1e-11, 1);
    expect_near(there.gamma, on_host.gamma, 1e-11, 1);
    EXPECT_NEAR(there.u, on_host.u, 1e-10);
    EXPECT_NEAR(there.root_theta, on_host.root_theta, 1e-10);
  });
}

}  // namespace
}  // namespace quintet::test
