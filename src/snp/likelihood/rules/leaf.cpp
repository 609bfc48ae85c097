#include "snp/likelihood/rules/leaf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "snp/likelihood/plan_builder.hpp"

namespace quintet::snp {

namespace {

double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= std::min(k, n - k); ++i) value = value * (n - std::min(k, n - k) + i) / i;
  return value;
}

// A number that may be larger than a double.
struct scaled_number {
  double value;  // in [1/2, 1)
  int exponent;
};

scaled_number normal(double value, int exponent) {
  int more = 0;
  value = std::frexp(value, &more);
  return {value, exponent + more};
}

scaled_number scaled_binomial(int n, int k) {
  scaled_number one = normal(1, 0);
  for (int i = 1; i <= std::min(k, n - k); ++i)
    one = normal(one.value * (n - std::min(k, n - k) + i) / i, one.exponent);
  return one;
}

scaled_number operator*(const scaled_number& a, const scaled_number& b) {
  return normal(a.value * b.value, a.exponent + b.exponent);
}

}  // namespace

group leaf_rule::encode(plan_builder& builder, std::int64_t branch, std::span<const leaf_counts> rows, bool dominant,
                        std::span<const std::int64_t> part) {
  std::vector<leaf_counts> own;
  for (const std::int64_t row : part) own.push_back(rows[std::size_t(row)]);
  const std::span<const leaf_counts> computed = part.empty() ? rows : std::span<const leaf_counts>(own);
  std::map<std::pair<int, int>, std::int32_t> pattern_of;
  for (const leaf_counts& row : computed) pattern_of.emplace(std::pair(row.copies, row.red), 0);
  std::map<lineage_counts, std::int64_t> blocks;
  for (const leaf_counts& row : rows) blocks.emplace(lineage_counts{row.copies}, 0);
  std::int32_t patterns = 0;
  for (auto& [count, pattern] : pattern_of) pattern = patterns++;
  group result;
  result.states = layout({branch}, blocks);
  result.partial = builder.add_partial(result.states, patterns);
  for (const leaf_counts& row : computed) result.pattern_of_row.push_back(pattern_of.at({row.copies, row.red}));
  const std::int32_t padded = builder.shape(result.partial).padded;
  leaf_rule leaf{result.partial, std::vector<double>(std::size_t(result.states.entries() * padded), 0.0)};
  const bool is_scaled = builder.result().is_scaled;
  if (is_scaled) {
    leaf.exponents.assign(std::size_t(padded), 0);
    result.scale = result.partial;
  }
  for (const auto& [count, pattern] : pattern_of) {
    const auto [n, red] = count;
    const std::int64_t base = result.states.find({n}), column = pattern;
    // C(n, r) F(n, r).
    const auto at = [&](int r) -> double& { return leaf.content[std::size_t((base + r) * padded + column)]; };
    if (is_scaled) {
      const auto number = [&](int r) {
        return dominant ? scaled_number{1, 2 * red - r} * scaled_binomial(n / 2, red) * scaled_binomial(red, r - red)
                        : scaled_binomial(n, red);
      };
      std::int32_t& exponent = leaf.exponents[std::size_t(column)];
      for (int r = red; r <= (dominant ? 2 * red : red); ++r)
        exponent = std::max(r == red ? std::numeric_limits<std::int32_t>::min() : exponent, number(r).exponent);
      for (int r = red; r <= (dominant ? 2 * red : red); ++r)
        at(r) = std::ldexp(number(r).value, number(r).exponent - exponent);
      continue;
    }
    if (!dominant) at(red) = binomial(n, red);
    for (int r = red; dominant && r <= 2 * red; ++r)
      at(r) = std::exp2(2 * red - r) * binomial(n / 2, red) * binomial(red, r - red);
  }
  builder.add(std::move(leaf));
  return result;
}

}  // namespace quintet::snp
