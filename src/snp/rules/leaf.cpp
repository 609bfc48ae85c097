#include "snp/rules/leaf.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "snp/plan_builder.hpp"

namespace quintet::snp {

namespace {

double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= std::min(k, n - k); ++i) value = value * (n - std::min(k, n - k) + i) / i;
  return value;
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
  group made;
  made.states = layout({branch}, blocks);
  made.partial = builder.add_partial(made.states, patterns);
  for (const leaf_counts& row : computed) made.pattern_of_row.push_back(pattern_of.at({row.copies, row.red}));
  const std::int32_t padded = builder.shape(made.partial).padded;
  leaf_rule leaf{made.partial, std::vector<double>(std::size_t(made.states.entries() * padded), 0.0)};
  for (const auto& [count, pattern] : pattern_of) {
    const auto [n, red] = count;
    const std::int64_t base = made.states.find({n}), column = pattern;
    // C(n, r) F(n, r).
    const auto at = [&](int r) -> double& { return leaf.content[std::size_t((base + r) * padded + column)]; };
    if (!dominant) at(red) = binomial(n, red);
    for (int r = red; dominant && r <= 2 * red; ++r)
      at(r) = std::exp2(2 * red - r) * binomial(n / 2, red) * binomial(red, r - red);
  }
  builder.add(std::move(leaf));
  return made;
}

}  // namespace quintet::snp
