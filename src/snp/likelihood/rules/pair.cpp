#include "snp/likelihood/rules/pair.hpp"

#include <map>

#include "snp/likelihood/plan_builder.hpp"

namespace quintet::snp {

void pair_rule::encode_tables(plan_builder& builder, const layout& first, const layout& two,
                              const std::map<lineage_counts, std::int32_t>& families_of) {
  using record = pair_record<std::int32_t>;
  const std::int32_t size = record::size(max, max1, max2), padded = builder.shape(in).padded;
  std::vector<std::int32_t> table(families_of.size() * std::size_t(size), -1);
  const auto record_of = [&](const lineage_counts& rest) {
    return record{&table[std::size_t(families_of.at(rest) * size)], max, max1, max2};
  };
  std::vector<std::int64_t> columns;
  for (const auto& [rest, family] : families_of) {
    record_of(rest).columns() = std::int32_t(block_entries(rest));
    columns.push_back(block_entries(rest) * padded);
  }
  for (const auto& [counts, base] : first.blocks())
    record_of(without(counts, 0, 1)).single(counts[0]) = std::int32_t(base);
  for (const auto& [counts, base] : two.blocks())
    record_of(without(counts, 0, 2)).both(counts[0], counts[1]) = std::int32_t(base);
  families = builder.add_table(table);
  family_count_ = std::int32_t(families_of.size());
  tiles = builder.add_tiles(columns);
  operations = double(two.entries()) * padded;
}

std::vector<std::int64_t> pair_rule::columns(const std::vector<std::int32_t>& tables) const {
  using record = pair_record<const std::int32_t>;
  std::vector<std::int64_t> result;
  for (std::int32_t f = 0; f < family_count_; ++f)
    result.push_back(
        record{&tables[std::size_t(families + f * record::size(max, max1, max2))], max, max1, max2}.columns());
  return result;
}

}  // namespace quintet::snp
