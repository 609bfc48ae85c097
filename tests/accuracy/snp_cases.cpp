// Likelihoods on networks against the rules as they are written, with dense exponentials in long double.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

#include "accuracy/bounds.hpp"
#include "accuracy/case_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "reference/snp_reference.hpp"
#include "support/random_network.hpp"
#include "support/snp_cases.hpp"

namespace quintet::accuracy {

namespace {

using counts = std::vector<std::int64_t>;

// Exponentials of more lineages than this would take minutes in long double; they are in double, with an error of their
// own.
constexpr std::int64_t most_extended = 16;

struct problem {
  snp::Network network;
  std::vector<counts> red, copies;
  snp::model model;

  explicit problem(const test_case& c) : problem(c, random_stream(std::uint64_t(c.integer("seed")), 91)) {}
  problem(const test_case& c, random_stream random)
      : network(test::random_network(random, c.integer("leaves"), c.integer("reticulations"))) {
    for (std::int64_t s = 0; s < c.integer("sites"); ++s) {
      red.emplace_back();
      copies.emplace_back();
      for (std::int64_t i = 0; i < c.integer("leaves"); ++i) {
        copies.back().push_back(1 + random.below(std::uint32_t(c.integer("copies"))));
        red.back().push_back(random.below(std::uint32_t(copies.back().back()) + 1));
      }
    }
    model.u = 0.1 + random.uniform<double>();
    model.v = 0.1 + 3 * random.uniform<double>();
  }

  snp::Data data() const {
    const auto species = network.species();
    snp::DataBuilder builder({species.begin(), species.end()}, {.empty = snp::empty_species::keep});
    for (std::size_t s = 0; s < red.size(); ++s) builder.add_site(red[s], copies[s]);
    return builder.finish();
  }

  bool extended(std::size_t site) const {
    return std::accumulate(copies[site].begin(), copies[site].end(), std::int64_t(0)) <= most_extended;
  }

  /// Lineages that may come into a branch from below.
  std::int64_t lineages(std::int64_t branch, std::size_t site) const {
    const std::int64_t node = network.branch(branch).child;
    if (network.kind(node) == snp::node_kind::leaf) {
      const auto leaves = network.leaves();
      return copies[site][std::size_t(std::find(leaves.begin(), leaves.end(), node) - leaves.begin())];
    }
    std::int64_t sum = 0;
    for (const std::int64_t below : network.child_branches(node)) sum += lineages(below, site);
    return sum;
  }

  /// How far log L of a site may be off, in epsilon: L is a sum of products of numbers that are not negative, each with
  /// m + 20 roundings for every branch of m lineages (docs/design/numerics.md: the series for its exponential; joins
  /// and what squarings leave are fewer). They are independent: six standard deviations, as in sum_bound(). Where the
  /// reference's exponentials are in double, by Pade's approximation, each has some products of matrices besides, with
  /// sums over all (n, r).
  double allowed(std::size_t site) const {
    double roundings = 0, of_reference = 0;
    for (std::int64_t b = 0; b < network.branches(); ++b) {
      const double m = double(lineages(b, site));
      roundings += m + 20;
      of_reference += extended(site) ? 0 : 4 * sum_bound((m + 1) * (m + 2) / 2);
    }
    return 3 * std::sqrt(roundings) + of_reference;
  }

  long double exact(std::size_t site, const snp::Network& changed, double u, double v) const {
    std::vector<reference::snp_state> states;
    for (std::size_t i = 0; i < red[site].size(); ++i) states.emplace_back(int(copies[site][i]), int(red[site][i]));
    const auto precision =
        extended(site) ? reference::exponentials::in_long_double : reference::exponentials::in_double;
    return std::log(reference::snp_likelihood(changed, states, u, v, precision));
  }
};

void sites(case_run& run) {
  const problem p(run.parameters());
  std::vector<long double> exact;
  tolerance allowed{.bound = 0, .unit = "eps (1 + |log L| / bound)"};
  for (std::size_t site = 0; site < p.red.size(); ++site) {
    exact.push_back(p.exact(site, p.network, p.model.u, p.model.v));
    allowed.bound = std::max(allowed.bound, p.allowed(site));
  }
  // An error of L relative to itself is one of log L as it is; the logarithm is rounded.
  for (const long double one : exact) allowed.sizes.push_back(1 + double(std::fabs(one)) / allowed.bound);
  measure_elements(run, "log-likelihood of a site", exact, allowed, [&](const Device& device) {
    return snp::Likelihood(p.network, p.data(), p.model, {.device = device}).site_log_likelihoods();
  });
}

// All patterns of `copies` copies a species have likelihoods whose sum is 1.
void total(case_run& run) {
  problem p(run.parameters());
  const std::size_t leaves = p.network.species().size();
  const std::int64_t most = run.parameters().integer("copies");
  p.red.clear();
  counts red(leaves, 0);
  for (std::size_t i = 0; i < leaves;) {
    p.red.push_back(red);
    for (i = 0; i < leaves && ++red[i] > most; ++i) red[i] = 0;
  }
  p.copies.assign(p.red.size(), counts(leaves, most));
  // Errors of probabilities, weighted with these.
  measure_elements(run, "total probability", std::vector<double>{1}, {.bound = p.allowed(0), .unit = "eps"},
                   [&](const Device& device) {
                     snp::Likelihood likelihood(p.network, p.data(), p.model, {.device = device});
                     double sum = 0;
                     for (const double one : likelihood.pattern_log_likelihoods()) sum += std::exp(one);
                     return std::vector<double>{sum};
                   });
}

// Central differences with steps h, h / 2, h / 4 and h / 8, extrapolated three times (Romberg): what is left is h^8 /
// 2^12 times the ninth derivative over 9!, some 1e-16 of the slope. Smaller steps show more of the rounding of the
// exponentials.
long double slope(const std::function<long double(double)>& f, double x, double step) {
  std::vector<long double> table;
  for (double h = step; table.size() < 4; h /= 2) {
    const double above = x + h, below = x - h;
    table.push_back((f(above) - f(below)) / (static_cast<long double>(above) - below));
  }
  for (long double power = 4; table.size() > 1; power *= 4) {
    for (std::size_t i = 0; i + 1 < table.size(); ++i) table[i] = (power * table[i + 1] - table[i]) / (power - 1);
    table.pop_back();
  }
  return table.front();
}

// Derivatives by every length, theta and gamma, by u and v, and by the root's theta.
using slopes = std::map<std::string, std::vector<long double>>;

slopes exact_slopes(const problem& p) {
  snp::Likelihood proposal(p.network, p.data(), p.model, {.device = Device::host()});
  // Lengths and rates are known by their logarithm; log L is a smooth function of gamma itself.
  const auto at = [&](const std::function<void(double)>& set, double x, double step = 0) {
    return slope(
        [&](double y) {
          set(y);
          long double sum = 0;
          for (std::size_t s = 0; s < p.red.size(); ++s)
            sum += p.exact(s, proposal.network(), proposal.model().u, proposal.model().v);
          return sum;
        },
        x, step > 0 ? step : 0.04 * x);
  };
  slopes all;
  for (std::int64_t b = 0; b < p.network.branches(); ++b) {
    const snp::branch one = p.network.branch(b);
    all["by length"].push_back(at([&](double x) { proposal.set_length(b, x); }, one.length));
    proposal.set_length(b, one.length);
    all["by theta"].push_back(at([&](double x) { proposal.set_theta(b, x); }, one.theta));
    proposal.set_theta(b, one.theta);
    if (p.network.kind(one.child) != snp::node_kind::reticulation) continue;
    const double room = std::min({0.04, 0.4 * one.gamma, 0.4 * (1 - one.gamma)});
    all["by gamma"].push_back(at([&](double x) { proposal.set_gamma(b, x); }, one.gamma, room));
    proposal.set_gamma(b, one.gamma);
  }
  all["by rates"].push_back(at([&](double x) { proposal.set_rates(x, p.model.v); }, p.model.u));
  all["by rates"].push_back(at([&](double x) { proposal.set_rates(p.model.u, x); }, p.model.v));
  proposal.set_rates(p.model.u, p.model.v);
  all["by the root's theta"] = {at([&](double x) { proposal.set_root_theta(x); }, p.network.root_theta())};
  return all;
}

void gradient(case_run& run) {
  const problem p(run.parameters());
  // x d log L / dx is a difference of likelihoods of about that size, and as wrong as these; sites are independent.
  double squares = 0;
  for (std::size_t site = 0; site < p.red.size(); ++site) squares += p.allowed(site) * p.allowed(site);
  for (const auto& [name, exact] : exact_slopes(p)) {
    measure_elements(run, name, exact, {.bound = std::sqrt(squares), .floor = 1, .unit = "eps max(|x|, 1)"},
                     [&](const Device& device) {
                       snp::Likelihood likelihood(p.network, p.data(), p.model, {.device = device});
                       const snp::gradient found = likelihood.gradient();
                       if (name == "by length") return found.length;
                       if (name == "by theta") return found.theta;
                       if (name == "by rates") return std::vector<double>{found.u, found.v};
                       if (name == "by the root's theta") return std::vector<double>{found.root_theta};
                       std::vector<double> gamma;
                       for (std::int64_t b = 0; b < p.network.branches(); ++b)
                         if (p.network.kind(p.network.branch(b).child) == snp::node_kind::reticulation)
                           gamma.push_back(found.gamma[std::size_t(b)]);
                       return gamma;
                     });
  }
}

// Alignments of the reference data; what is expected has 10 decimals, and sums of so many sites an ulp or two.
void stored(case_run& run) {
  const test_case& c = run.parameters();
  if (!std::filesystem::exists(test::snp_folder() / c.text("counts")))
    return run.skip("no reference data (QUINTET_DATA_DIR)");
  const auto data = test::snp_counts(test::snp_folder() / c.text("counts"));
  const auto network = test::snp_network(c.text("network"), c.real("theta"));
  const snp::model model{.u = c.real("u"), .v = c.real("v")};
  measure_elements(run, "log-likelihood", std::vector<double>{c.real("expected")},
                   {.bound = 1,
                    .sizes = {(0.5e-10 / epsilon_of<double>)+2 * std::fabs(c.real("expected"))},
                    .unit = "of half a unit of the last decimal"},
                   [&](const Device& device) {
                     return std::vector<double>{snp::Likelihood(network, data, model, {.device = device}).evaluate()};
                   });
}

}  // namespace

void run_snp(case_run& run) {
  const std::string& operation = run.parameters().operation;
  if (operation == "site_log_likelihood") return sites(run);
  if (operation == "total_probability") return total(run);
  if (operation == "gradient") return gradient(run);
  if (operation == "stored") return stored(run);
  throw std::runtime_error("unknown operation: " + run.parameters().id());
}

}  // namespace quintet::accuracy
