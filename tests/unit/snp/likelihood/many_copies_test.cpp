// More than 1000 gene copies over all species: binomials are no doubles any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/network/newick.hpp"
#include "support/devices.hpp"

namespace quintet::test {
namespace {

using real = long double;

struct leaf_counts {
  std::int64_t red, copies;
};
using site = std::vector<leaf_counts>;

snp::Likelihood likelihood_of(const std::string& newick, const std::vector<site>& sites, const snp::model& m,
                              const Device& device = Device::host(), bool dominant = false,
                              double truncation = snp::default_truncation) {
  const snp::Network network = snp::parse_newick(newick);
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()}, {.dominant = dominant, .empty = snp::empty_species::keep});
  for (const site& one : sites) {
    std::vector<std::int64_t> red, copies;
    for (const leaf_counts& leaf : one) red.push_back(leaf.red), copies.push_back(leaf.copies);
    builder.add_site(red, copies);
  }
  return {network, builder.finish(), m, {.device = device, .truncation = truncation}};
}

double log_of(const std::string& newick, const site& one, const snp::model& m, const Device& device = Device::host()) {
  return likelihood_of(newick, {one}, m, device).evaluate();
}

real log_choose(real n, real r) { return std::lgamma(n + 1) - std::lgamma(r + 1) - std::lgamma(n - r + 1); }

// log Pr(r of n lineages are red) of one population at stationarity: beta-binomial.
real log_stationary(real n, real r, real a1, real a0) {
  return log_choose(n, r) + std::lgamma(a1 + r) + std::lgamma(a0 + n - r) - std::lgamma(a1 + a0 + n) - std::lgamma(a1) -
         std::lgamma(a0) + std::lgamma(a1 + a0);
}

// Sums of lgamma of some thousands cancel.
double bound(real expected) { return 1e-13 * std::fabs(double(expected)) + 1e-12; }

#ifdef QUINTET_LONG_TEST
constexpr std::int64_t most = 3000;
constexpr bool is_long = true;
#else
constexpr std::int64_t most = 1030;
constexpr bool is_long = false;
#endif

// The length of the branch does not matter where the population above the root is as large as that below.
TEST(snp_many_copies, one_population_is_beta_binomial) {
  constexpr real theta = 0.02L;
  const snp::model m{.u = 0.7, .v = 1.3};
  std::vector<site> sites;
  sites.push_back({{37, most}, {0, 0}});
  if (is_long)
    for (const std::int64_t red : {std::int64_t{0}, most / 10, most}) sites.push_back({{red, most}, {0, 0}});
  sites.push_back({{300, 1010}, {0, 0}});
  for (const char* length : is_long ? std::vector{"0", "2e-7"} : std::vector{"2e-7"}) {
    const auto logs =
        likelihood_of(text("[0.02](A:", length, ":0.02,B:0.1:0.02)r;"), sites, m).pattern_log_likelihoods();
    for (std::size_t p = 0; p < sites.size(); ++p) {
      const leaf_counts& leaf = sites[p][0];
      const real expected = log_stationary(real(leaf.copies), real(leaf.red), theta * m.v, theta * m.u);
      EXPECT_NEAR(logs[p], double(expected), bound(expected)) << leaf.red << " of " << leaf.copies << ", " << length;
    }
  }
  if (is_long) {
    // All come together, in many stages of many states.
    const std::int64_t copies = 1500;
    const real together =
        log_stationary(real(copies), 70, theta * m.v, theta * m.u) + log_stationary(301, 5, theta * m.v, theta * m.u);
    EXPECT_NEAR(log_of("[0.02](A:1e3:0.02,B:1e3:0.02)r;", {{70, copies}, {5, 301}}, m), double(together),
                bound(together));
  }
  on_every_device([&](const Device& device) {
    for (const char* length : is_long ? std::vector{"0", "5e-7"} : std::vector{"5e-7"}) {
      const real expected = log_stationary(1005, 100, theta * m.v, theta * m.u);
      EXPECT_NEAR(log_of(text("[0.02](A:", length, ":0.02,B:0.1:0.02)r;"), {{100, 1005}, {0, 0}}, m, device),
                  double(expected), bound(expected))
          << length;
    }
  });
}

// Without time nothing coalesces: which of all copies are whose is hypergeometric.
TEST(snp_many_copies, species_without_time_are_one_population) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const site one{{310, 800}, {20, 700}};
  const real expected = log_choose(800, 310) + log_choose(700, 20) - log_choose(1500, 330) +
                        log_stationary(1500, 330, 0.02L * m.v, 0.02L * m.u);
  on_every_device([&](const Device& device) {
    EXPECT_NEAR(log_of("[0.02](A:0:0.02,B:0:0.03)r;", one, m, device), double(expected), bound(expected));
  });
}

#ifdef QUINTET_LONG_TEST
// F(n, r) as Bryant et al. 2012 have it, no number above 1, for at most `max_red` red lineages: with few red copies and
// next to no mutation there are no more.
class reference_branch {
 public:
  reference_branch(const leaf_counts& leaf, std::int64_t max_red, real length, real theta, real u, real v)
      : copies_(leaf.copies), max_red_(max_red), f_(std::size_t((copies_ + 1) * (max_red + 1)), 0) {
    f_[place(copies_, leaf.red)] = 1;
    const real fastest = real(copies_) * real(copies_ - 1) / theta + real(copies_) * std::max(u, v);
    const real jumps = fastest * length;
    std::vector<real> term = f_, next = f_;
    real weight = std::exp(-jumps);
    for (real& one : f_) one *= weight;
    for (std::int64_t k = 1; real(k) < jumps + 14 * std::sqrt(jumps) + 60; ++k) {
      weight *= jumps / real(k);
      for (std::int64_t n = 1; n <= copies_; ++n)
        for (std::int64_t r = 0; r <= std::min(n, max_red_); ++r) {
          const auto at = [&](std::int64_t i, std::int64_t j) {
            return i <= copies_ && j >= 0 && j <= std::min(i, max_red_) ? term[place(i, j)] : real(0);
          };
          const real red = real(r), green = real(n - r), pairs = real(n) + 1;
          real slope = -(real(n) * real(n - 1) / theta + green * v + red * u) * at(n, r);
          slope += green * v * at(n, r + 1) + red * u * at(n, r - 1);
          slope += (green * pairs * at(n + 1, r) + red * pairs * at(n + 1, r + 1)) / theta;
          next[place(n, r)] = at(n, r) + slope / fastest;
        }
      term.swap(next);
      for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += weight * term[i];
    }
  }
  std::int64_t copies() const { return copies_; }
  real at(std::int64_t n, std::int64_t r) const { return r <= max_red_ ? f_[place(n, r)] : 0; }

 private:
  std::size_t place(std::int64_t n, std::int64_t r) const { return std::size_t(n * (max_red_ + 1) + r); }
  std::int64_t copies_, max_red_;
  std::vector<real> f_;
};

TEST(snp_many_copies, two_populations_are_those_of_the_literature) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const std::int64_t max_red = 12;
  const reference_branch a({4, 1020}, max_red, 3e-6L, 0.02L, m.u, m.v), b({1, 3}, 3, 0.003L, 0.01L, m.u, m.v);
  real expected = 0;
  for (std::int64_t n1 = 1; n1 <= a.copies(); ++n1)
    for (std::int64_t r1 = 0; r1 <= std::min(n1, max_red); ++r1) {
      if (a.at(n1, r1) < 1e-60L) continue;
      for (std::int64_t n2 = 1; n2 <= b.copies(); ++n2)
        for (std::int64_t r2 = 0; r2 <= n2; ++r2) {
          const real n = real(n1 + n2), r = real(r1 + r2);
          const real log_weight = log_choose(real(n1), real(r1)) + log_choose(real(n2), real(r2)) - log_choose(n, r) +
                                  log_stationary(n, r, 0.03L * m.v, 0.03L * m.u);
          expected += a.at(n1, r1) * b.at(n2, r2) * std::exp(log_weight);
        }
    }
  const double found = log_of("[0.03](A:3e-6:0.02,B:0.003:0.01)r;", {{4, 1020}, {1, 3}}, m);
  EXPECT_NEAR(found, double(std::log(expected)), 1e-11);
}
#endif

// L(n - 1, r) = (n - r) / n L(n, r) + (r + 1) / n L(n, r + 1): 1000 copies are computed without exponents, 1001 with.
TEST(snp_many_copies, a_copy_more_says_nothing_of_the_others) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const std::string newick = "[0.03](A:1e-6:0.02,B:0.003:0.01)r;";
  const auto logs = likelihood_of(newick, {{{400, 999}, {1, 2}}, {{401, 999}, {1, 2}}}, m).pattern_log_likelihoods();
  const double fewer = log_of(newick, {{400, 998}, {1, 2}}, m);
  EXPECT_NEAR(std::exp(logs[0] - fewer) * (999 - 400) / 999 + std::exp(logs[1] - fewer) * 401 / 999, 1, 1e-11);
}

TEST(snp_many_copies, dominant_markers_are_sums_over_copies) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const std::int64_t individuals = 520, bands = 200;
  real expected = 0;
  for (std::int64_t r = bands; r <= 2 * bands; ++r)
    expected += std::exp(log_choose(individuals, bands) + log_choose(bands, real(r - bands)) +
                         real(2 * bands - r) * std::log(2.0L) - log_choose(2 * individuals, real(r)) +
                         log_stationary(2 * individuals, real(r), 0.02L * m.v, 0.02L * m.u));
  auto found =
      likelihood_of("[0.02](A:1e-6:0.02,B:0.1:0.02)r;", {{{bands, 2 * individuals}, {0, 0}}}, m, Device::host(), true);
  EXPECT_NEAR(found.evaluate(), double(std::log(expected)), 1e-10);
}

// One copy takes one way or the other.
TEST(snp_many_copies, a_reticulation_of_few_copies) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const site one{{30, 1002}, {1, 1}, {1, 3}};
  const auto with = [&](double gamma) {
    auto likelihood = likelihood_of(
        "[0.03](A:1e-6:0.02,((B:0.001:0.02)#H1:0.001:0.02:0.5,"
        "(C:0.001:0.02,#H1:0.0002:0.01:0.5)b:0.001:0.02)c:0.01:0.02)r;",
        {one}, m);
    const snp::Network& network = likelihood.network();
    const std::int64_t node = network.reticulations()[0];
    likelihood.set_gamma(network.parent_branches(node)[0], gamma);
    return std::exp(likelihood.evaluate());
  };
  EXPECT_NEAR(with(0.3) / (0.3 * with(1) + 0.7 * with(0)), 1, 1e-12);
}

TEST(snp_many_copies, proposals_have_the_bits_of_full_evaluations) {
  const snp::model m{.u = 0.7, .v = 1.3};
  std::vector<site> sites{{{37, 1001}, {3, 40}}};
  if (is_long) sites.push_back({{500, 1001}, {10, 40}});
  const std::string before = "[0.03](A:1e-6:0.02,B:1e-4:0.01)r;", after = "[0.03](A:1e-6:0.02,B:2e-4:0.01)r;";
  auto likelihood = likelihood_of(before, sites, m);
  const double first = likelihood.evaluate();
  const auto species = likelihood.network().species();
  const std::int64_t leaf = likelihood.network().leaves()[species[0] == "B" ? 0 : 1];
  likelihood.set_length(likelihood.network().parent_branches(leaf)[0], 2e-4);
  const double proposed = likelihood.evaluate();
  EXPECT_EQ(proposed, likelihood_of(after, sites, m).evaluate());
  EXPECT_NE(proposed, first);
  likelihood.reject();
  EXPECT_EQ(likelihood.evaluate(), first);
}

const char* const below_reticulation =
    "[0.03]((A:1e-6:0.02,(B:0.001:0.02)#H1:0.001:0.02:0.5)a:0.01:0.02,"
    "(C:0.004:0.02,#H1:0.002:0.01:0.5)b:0.008:0.02)r;";

template <class Function>
void expect_refused(Function&& f, const std::string& what) {
  try {
    f();
    ADD_FAILURE() << "not refused: " << what;
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
  }
}

TEST(snp_many_copies, what_is_refused) {
  const std::string newick = "[0.02](A:1e-6:0.02,B:0.1:0.02)r;";
  const snp::model m{.u = 0.7, .v = 1.3};
  expect_refused([&] { log_of(newick, {{1, 8000}, {0, 1}}, m); }, "gene copies of all species must be <= 8000");
  expect_refused([&] { likelihood_of(newick, {{{1, 1200}, {0, 1}}}, m).gradient(); }, "gradients take at most 1000");
  expect_refused([&] { log_of(newick, {{1, 1200}, {0, 1}}, {.u = 1e6, .v = 1}); }, "expected mutations");
  expect_refused([&] { likelihood_of(below_reticulation, {{{1, 2}, {1, 1001}, {1, 2}}}, m, Device::host(), false, 0); },
                 "lineages below reticulation #H1 must be <= 1000");
}

#ifdef QUINTET_LONG_TEST
// Almost all of the copies have merged before the reticulation, and it keeps none of the numbers that are left over.
TEST(snp_many_copies, below_a_reticulation_few_are_kept) {
  const snp::model m{.u = 0.7, .v = 1.3};
  const site one{{1, 2}, {1, 1001}, {1, 2}};
  auto likelihood = likelihood_of(below_reticulation, {one}, m);
  const snp::Network& network = likelihood.network();
  likelihood.set_gamma(network.parent_branches(network.reticulations()[0])[0], 1);
  const double tree = log_of("[0.03]((A:1e-6:0.02,B:0.002:0.02)a:0.01:0.02,C:0.012:0.02)r;", one, m);
  const double value = likelihood.evaluate();
  EXPECT_NEAR(value, tree, 1e-9);
  EXPECT_LE(likelihood.truncation().bound, 1e-9);
}
#endif

}  // namespace
}  // namespace quintet::test
