// One step of the pre-order pass: what the rules' preorder() read and write.
#pragma once

#include "snp/likelihood/partials_store.hpp"

namespace quintet::snp {

/// What all the rest of the network says about one partial likelihood: see preorder_plan.hpp.
struct preorder_partial {
  bool is_valid = false;
  Buffer<double> entries;                             ///< [entries, patterns of the root]
  const std::int32_t* exponents = nullptr;            ///< of all that is not below it, null: zero
  Buffer<std::int32_t> own_exponents, sum_exponents;  ///< of the join above, where there is one
};

/// From the result of a rule to one of its inputs. All belongs to accepted parameters.
struct preorder_context {
  partials_store& values;
  const parameters& params;
  const preorder_partial& above;
  preorder_partial& partial;
  tile_range tiles;       ///< of the rule, with the root's patterns
  std::int32_t patterns;  ///< of the root, padded
  bool is_left;           ///< to the first input

  const double* from() const { return above.entries.data(); }
  double* to() const { return partial.entries.data(); }
};

}  // namespace quintet::snp
