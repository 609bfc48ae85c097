// What Rules 3 and 4 share: the tables of one axis and of the two axes that it splits into or is made of.
#pragma once

#include <map>
#include <vector>

#include "snp/likelihood/layout.hpp"
#include "snp/likelihood/rules/rule.hpp"

namespace quintet::snp {

class plan_builder;

/// A family is one choice of the lineages on the other axes.
template <class Number>
struct pair_record {
  Number* at;
  std::int32_t max, max1, max2;

  static std::int32_t size(std::int32_t max, std::int32_t max1, std::int32_t max2) {
    return 2 + max + (max1 + 1) * (max2 + 1);
  }
  Number& columns() const { return at[0]; }  ///< behind the axes, without patterns
  ///@{
  /// First entry of the block with n lineages on the one axis, with (n1, n2) on the two; -1: none.
  Number& single(int n) const { return at[1 + n]; }
  Number& both(int n1, int n2) const { return at[2 + max + n1 * (max2 + 1) + n2]; }
  ///@}
};

struct pair_rule : rule_base {
  std::int32_t max = 0, max1 = 0, max2 = 0;
  std::int64_t families = -1;

  std::vector<std::int64_t> columns(const std::vector<std::int32_t>& tables) const;

 protected:
  /// Tables for `single`, whose first axis is the one, and `both`, whose first two axes are the two.
  void encode_tables(plan_builder& builder, const layout& single, const layout& both,
                     const std::map<lineage_counts, std::int32_t>& rest);

 private:
  std::int32_t family_count_ = 0;
};

}  // namespace quintet::snp
