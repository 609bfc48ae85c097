#include "snp/likelihood/star_likelihood.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/device/device.hpp"
#include "snp/likelihood/generator.hpp"
#include "snp/likelihood/rates.hpp"
#include "snp/likelihood/rules/exponential_kernel.hpp"
#include "snp/likelihood/state_space.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr double difference_of_theta = 1e-6;  // of theta

// Eigenvalues of a symmetric tridiagonal matrix, and the first components of its eigenvectors, by implicit QL steps
// (Golub and Welsch 1969; EISPACK's imtql2). off[k] is between k and k + 1.
void solve_tridiagonal(std::vector<long double>& diagonal, std::vector<long double> off,
                       std::vector<long double>& first) {
  const std::size_t n = diagonal.size();
  off.push_back(0);
  first.assign(n, 0);
  first[0] = 1;
  const long double unit = std::numeric_limits<long double>::epsilon();
  for (std::size_t l = 0; l < n; ++l)
    for (int step = 0;; ++step) {
      std::size_t m = l;
      while (m + 1 < n && std::abs(off[m]) > unit * (std::abs(diagonal[m]) + std::abs(diagonal[m + 1]))) ++m;
      if (m == l || step == 60) break;
      long double g = (diagonal[l + 1] - diagonal[l]) / (2 * off[l]), r = std::hypot(g, 1.0L);
      g = diagonal[m] - diagonal[l] + off[l] / (g + std::copysign(r, g));
      long double s = 1, c = 1, p = 0;
      std::size_t i = m;
      for (; i-- > l;) {
        long double f = s * off[i];
        const long double b = c * off[i];
        off[i + 1] = r = std::hypot(f, g);
        if (r == 0) {
          diagonal[i + 1] -= p;
          off[m] = 0;
          break;
        }
        s = f / r, c = g / r;
        g = diagonal[i + 1] - p;
        r = (diagonal[i] - g) * s + 2 * c * b;
        p = s * r;
        diagonal[i + 1] = g + p;
        g = c * r - b;
        f = first[i + 1];
        first[i + 1] = s * first[i] + c * f;
        first[i] = c * first[i] - s * f;
      }
      if (r == 0 && i + 1 > l) continue;
      diagonal[l] -= p;
      off[l] = g;
      off[m] = 0;
    }
}

// Nodes in rising order, and their weights. The recurrence is that of Jacobi's polynomials on (0, 1), without
// differences of numbers that are nearly equal.
std::vector<std::pair<double, double>> rising_nodes(double a1, double a0, std::int64_t nodes) {
  const long double red = a1, green = a0, a = red + green;
  std::vector<long double> diagonal(at(nodes)), off, first;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const auto k = static_cast<long double>(i);
    diagonal[at(i)] = i == 0   ? red / a
                      : i == 1 ? (2 * green + a * red) / (a * (2 + a))
                               : (2 * k * (k - 1) + 2 * k * a + red * (a - 2)) / ((2 * k - 2 + a) * (2 * k + a));
    if (i == 0) continue;
    const long double square = i == 1 ? red * green / (a * a * (1 + a))
                                      : k * (k - 1 + green) * (k - 1 + red) * (k - 2 + a) /
                                            ((2 * k - 2 + a) * (2 * k - 2 + a) * (2 * k - 1 + a) * (2 * k - 3 + a));
    off.push_back(std::sqrt(square));
  }
  solve_tridiagonal(diagonal, std::move(off), first);
  std::vector<std::pair<double, double>> rule;
  for (std::int64_t i = 0; i < nodes; ++i)
    rule.emplace_back(double(std::clamp(diagonal[at(i)], 0.0L, 1.0L)), double(first[at(i)] * first[at(i)]));
  std::sort(rule.begin(), rule.end());
  return rule;
}

}  // namespace

// The nodes near 1 from those of the other allele near 0, where they have all their digits.
beta_rule beta_quadrature(double a1, double a0, std::int64_t nodes) {
  const auto of_one = rising_nodes(a1, a0, nodes), of_zero = rising_nodes(a0, a1, nodes);
  beta_rule rule;
  for (std::size_t i = 0; i < of_one.size(); ++i) {
    rule.x.push_back(of_one[i].first);
    rule.rest.push_back(of_zero[of_one.size() - 1 - i].first);
    rule.weight.push_back(of_one[i].second);
  }
  return rule;
}

bool star_likelihood::fits(const Data& data, const model& m) {
  const auto most = data.sampled_copies();
  return !data.dominant() && !m.mutation_only_at_root && !m.ordered_data && m.unseen_zeros == 0 && m.unseen_ones == 0 &&
         m.rate_categories.size() == 1 && m.rate_categories[0] == 1 && m.u > 0 && m.v > 0 &&
         std::all_of(most.begin(), most.end(), [](std::int64_t n) { return n <= max_copies; });
}

star_likelihood::star_likelihood(std::vector<species_counts> counts, const model& m)
    : counts_(std::move(counts)), model_(m) {
  for (const species_counts& species : counts_)
    for (const auto& [copies, red] : species) max_ = std::max(max_, copies);
  nodes_ = 3 * max_ / 2 + 1;
}

star_likelihood::population_rule star_likelihood::rule_of(double theta) const {
  const auto [a1, a0] = scaled_rates(theta, model_.v, model_.u);
  population_rule rule{theta, beta_quadrature(a1, a0, nodes_), {}};
  rule.powers.resize(at(state_count(max_) * nodes_));
  for (std::int64_t m = 0; m <= max_; ++m)
    for (std::int64_t k = 0; k <= m; ++k)
      for (std::int64_t q = 0; q < nodes_; ++q)
        rule.powers[at(state_index(m, k) * nodes_ + q)] =
            std::pow(rule.nodes.x[at(q)], double(k)) * std::pow(rule.nodes.rest[at(q)], double(m - k));
  return rule;
}

void star_likelihood::begin(double theta, bool has_slopes) {
  has_slopes_ = has_slopes;
  rules_.assign(1, rule_of(theta));
  if (has_slopes) rules_.push_back(rule_of(theta + difference_of_theta * theta));
  ways_.clear();
  numbers_.clear();
}

std::int64_t star_likelihood::add(std::int64_t species, double length) {
  const auto [place, is_new] = numbers_.try_emplace({species, length}, std::int64_t(ways_.size()));
  if (is_new) ways_.push_back({species, length, {}, {}, {}});
  return place->second;
}

void star_likelihood::compute(worker_team& workers) {
  workers.run(std::int64_t(ways_.size()), [&](std::int64_t i) {
    leaf_way& each = ways_[at(i)];
    compute(each, each.value, has_slopes_ ? &each.slope : nullptr, rules_[0]);
    if (has_slopes_) compute(each, each.value_of_more, nullptr, rules_[1]);
  });
}

void star_likelihood::compute(leaf_way& of, std::vector<double>& value, std::vector<double>* slope,
                              const population_rule& rule) const {
  using kernel = exponential_kernel<host_exponential, false>;
  const species_counts& counts = counts_[at(of.species)];
  std::int64_t most = 0;
  for (const auto& [copies, red] : counts) most = std::max(most, copies);
  const std::int64_t size = column_block(most + 1) + exponential_padding;
  std::vector<double> matrix(at(size)), work(at(kernel::work_parts * size));
  exponential_job job = exponential_of(std::int32_t(most), of.length, rule.theta, model_.u, model_.v);
  job.out = matrix.data();
  job.work = work.data();
  device::launch(kernel{&job}, 1, Device::host());
  const generator rates{1 / rule.theta, model_.u, model_.v, 0};
  const std::vector<double> binomials = binomial_table(std::int32_t(most));
  value.assign(counts.size() * at(nodes_), 0);
  if (slope != nullptr) slope->assign(value.size(), 0);
  std::vector<double> column;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    const auto [n, r] = counts[code];
    column.clear();
    for (std::int64_t state = 0; state < state_count(n); ++state)
      column.push_back(binomials[at(n * (most + 1) + r)] * matrix[at(element_index(state, n, r))]);
    const auto add = [&](std::vector<double>& to, std::int64_t state, double entry) {
      const double* const powers = &rule.powers[at(state * nodes_)];
      for (std::int64_t q = 0; q < nodes_; ++q) to[code * at(nodes_) + at(q)] += entry * powers[q];
    };
    for (std::int64_t m = 0; m <= n; ++m)
      for (std::int64_t k = 0; k <= m; ++k) {
        const std::int64_t state = state_index(m, k), more = state_index(m + 1, k);
        add(value, state, column[at(state)]);
        if (slope == nullptr) continue;
        add(*slope, state,
            rates.row(
                int(m), int(k), m < n, [&](int i) { return column[at(state + i)]; },
                [&](int i) { return column[at(more + i)]; }));
      }
  }
}

double star_likelihood::probability(const star_rows::row& row, const std::array<const double*, 3>& tables,
                                    const population_rule& rule) const {
  const double *const a = tables[0] + row[0] * nodes_, *const b = tables[1] + row[1] * nodes_,
                      *const c = tables[2] + row[2] * nodes_;
  double sum = 0;
  for (std::int64_t q = 0; q < nodes_; ++q) sum += rule.nodes.weight[at(q)] * a[q] * b[q] * c[q];
  return sum;
}

star_likelihood::sums star_likelihood::log_likelihood(const star_rows& rows,
                                                      const std::array<std::int64_t, 3>& ways) const {
  // Tables of values, then those with one slope in place of a value, then those of the larger theta.
  std::array<std::array<const double*, 3>, 5> tables;
  for (std::size_t i = 0; i < 3; ++i) {
    const leaf_way& each = ways_[at(ways[i])];
    for (std::size_t t = 0; t < 4; ++t) tables[t][i] = t == i + 1 ? each.slope.data() : each.value.data();
    tables[4][i] = each.value_of_more.data();
  }
  const std::size_t count = has_slopes_ ? tables.size() : 1;
  std::array<double, 5> sums{};  // log-likelihood, its slopes by lengths, log-likelihood of the larger theta
  // Of a row and, where there is another, the complement of both.
  const auto add = [&](double weight, const star_rows::row& row, const star_rows::row* other) {
    std::array<double, 5> p{};
    for (std::size_t t = 0; t < count; ++t) {
      const population_rule& rule = rules_[t == 4 ? 1 : 0];
      p[t] = probability(row, tables[t], rule) + (other != nullptr ? probability(*other, tables[t], rule) : 0);
    }
    const double sign = other != nullptr ? -1 : 1;
    const auto log = [&](double value) { return other != nullptr ? std::log1p(-value) : std::log(value); };
    sums[0] += sign * weight * log(p[0]);
    if (!has_slopes_) return;
    for (std::size_t t = 1; t < 4; ++t) sums[t] += weight * p[t] / (other != nullptr ? 1 - p[0] : p[0]);
    sums[4] += sign * weight * log(p[4]);
  };
  for (std::size_t p = 0; p < rows.patterns.size(); ++p)
    if (rows.weights[p] > 0) add(rows.weights[p], rows.patterns[p], nullptr);
  for (std::size_t i = 0; i < rows.constants.size(); ++i)
    if (rows.condition_weights[i] > 0) add(rows.condition_weights[i], rows.constants[i][0], &rows.constants[i][1]);
  if (!has_slopes_) return {sums[0], 0, {}};
  return {sums[0], (sums[4] - sums[0]) / (rules_[1].theta - rules_[0].theta), {sums[1], sums[2], sums[3]}};
}

}  // namespace quintet::snp
