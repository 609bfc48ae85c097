// Likelihoods on networks against the rules as they are written, with dense exponentials in long double.
#include <functional>
#include <numeric>
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/snp/likelihood.hpp"
#include "reference/snp_reference.hpp"
#include "support/random_network.hpp"
#include "support/snp_cases.hpp"

namespace quintet::accuracy {

namespace {

using counts = std::vector<std::int64_t>;

// Exponentials of more lineages than this would take minutes in long double; they are in double, with an error of their
// own.
constexpr std::int64_t max_extended = 16;

constexpr double log_bound = 256, large_log_bound = 1e-12 / epsilon_of<double>;
// Mostly the differences' own error: the rounding of the exponentials (1e-19 times the length of a branch in units of
// 1 / n^2 theta) over the step.
constexpr double slope_bound = 2048;

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
    return std::accumulate(copies[site].begin(), copies[site].end(), std::int64_t(0)) <= max_extended;
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
  bool extended = true;
  for (std::size_t s = 0; s < p.red.size(); ++s) {
    exact.push_back(p.exact(s, p.network, p.model.u, p.model.v));
    extended = extended && p.extended(s);
  }
  measure_elements(run, "log-likelihood of a site", exact,
                   {.bound = extended ? log_bound : large_log_bound, .floor = 1, .unit = "eps max(|log L|, 1)"},
                   [&](const Device& device) {
                     return snp::Likelihood(p.network, p.data(), p.model, {.device = device}).site_log_likelihoods();
                   });
}

// All patterns of `copies` copies per species have likelihoods whose sum is 1.
void total(case_run& run) {
  problem p(run.parameters());
  const std::size_t leaves = p.network.species().size();
  const std::int64_t max = run.parameters().integer("copies");
  p.red.clear();
  counts red(leaves, 0);
  for (std::size_t i = 0; i < leaves;) {
    p.red.push_back(red);
    for (i = 0; i < leaves && ++red[i] > max; ++i) red[i] = 0;
  }
  p.copies.assign(p.red.size(), counts(leaves, max));
  measure_elements(run, "total probability", std::vector<double>{1}, {.bound = log_bound, .unit = "eps"},
                   [&](const Device& device) {
                     snp::Likelihood likelihood(p.network, p.data(), p.model, {.device = device});
                     double sum = 0;
                     for (const double one : likelihood.pattern_log_likelihoods()) sum += std::exp(one);
                     return std::vector<double>{sum};
                   });
}

// Central differences with steps h, h / 2 and h / 4, extrapolated twice (Romberg). Smaller steps show more of the
// rounding of the exponentials, larger ones more of the seventh derivative.
long double slope(const std::function<long double(double)>& f, double x) {
  const auto central = [&](double h) {
    const double above = x + h, below = x - h;
    return (f(above) - f(below)) / (static_cast<long double>(above) - below);
  };
  const double h = 1e-2 * x;
  const long double far = central(h), near = central(h / 2), nearest = central(h / 4);
  const long double first = (4 * near - far) / 3, second = (4 * nearest - near) / 3;
  return (16 * second - first) / 15;
}

// Derivatives by every length, theta and gamma, then u, v and the root's theta.
std::vector<long double> exact_slopes(const problem& p) {
  snp::Likelihood proposal(p.network, p.data(), p.model, {.device = Device::host()});
  const auto at = [&](const std::function<void(double)>& set, double x) {
    return slope(
        [&](double y) {
          set(y);
          long double sum = 0;
          for (std::size_t s = 0; s < p.red.size(); ++s)
            sum += p.exact(s, proposal.network(), proposal.model().u, proposal.model().v);
          return sum;
        },
        x);
  };
  std::vector<long double> length, theta, gamma;
  for (std::int64_t b = 0; b < p.network.branches(); ++b) {
    const snp::branch one = p.network.branch(b);
    length.push_back(at([&](double x) { proposal.set_length(b, x); }, one.length));
    proposal.set_length(b, one.length);
    theta.push_back(at([&](double x) { proposal.set_theta(b, x); }, one.theta));
    proposal.set_theta(b, one.theta);
    if (p.network.kind(one.child) != snp::node_kind::reticulation) continue;
    gamma.push_back(at([&](double x) { proposal.set_gamma(b, x + one.gamma / 2); }, one.gamma / 2));
    proposal.set_gamma(b, one.gamma);
  }
  std::vector<long double> all = length;
  for (const auto* more : {&theta, &gamma}) all.insert(all.end(), more->begin(), more->end());
  all.push_back(at([&](double x) { proposal.set_rates(x, p.model.v); }, p.model.u));
  all.push_back(at([&](double x) { proposal.set_rates(p.model.u, x); }, p.model.v));
  proposal.set_rates(p.model.u, p.model.v);
  all.push_back(at([&](double x) { proposal.set_root_theta(x); }, p.network.root_theta()));
  return all;
}

void gradient(case_run& run) {
  const problem p(run.parameters());
  measure_elements(run, "derivative", exact_slopes(p), {.bound = slope_bound, .floor = 1, .unit = "eps max(|x|, 1)"},
                   [&](const Device& device) {
                     snp::Likelihood likelihood(p.network, p.data(), p.model, {.device = device});
                     const snp::gradient found = likelihood.gradient();
                     std::vector<double> all = found.length;
                     all.insert(all.end(), found.theta.begin(), found.theta.end());
                     for (std::int64_t b = 0; b < p.network.branches(); ++b)
                       if (p.network.kind(p.network.branch(b).child) == snp::node_kind::reticulation)
                         all.push_back(found.gamma[std::size_t(b)]);
                     all.insert(all.end(), {found.u, found.v, found.root_theta});
                     return all;
                   });
}

// Alignments of the reference data; what is expected has 10 decimals.
void stored(case_run& run) {
  const test_case& c = run.parameters();
  if (!std::filesystem::exists(test::snp_folder() / c.text("counts")))
    return run.skip("no reference data (QUINTET_DATA_DIR)");
  const auto data = test::snp_counts(test::snp_folder() / c.text("counts"));
  const auto network = test::snp_network(c.text("network"), c.real("theta"));
  const snp::model model{.u = c.real("u"), .v = c.real("v")};
  measure_elements(run, "log-likelihood", std::vector<double>{c.real("expected")},
                   {.bound = 1e-8 / epsilon_of<double>, .sizes = {1}, .unit = "eps"}, [&](const Device& device) {
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
