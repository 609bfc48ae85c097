// What is wrong with a point of the Lorentz model, in words.
#pragma once

#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::lorentz {

/// Throws InvalidArgument for the first row with a status, "name[i] must be ...", where row 0 is called first_row.
inline void require_usable(const std::vector<poincare::point_status>& statuses, const char* name,
                           std::int64_t first_row = 0) {
  const std::int64_t i = poincare::first_invalid(statuses);
  if (i < 0) return;
  const bool is_finite = statuses[i] == poincare::point_status::outside;
  require_argument(false, text(name, "[", first_row + i, "]"),
                   is_finite ? "a time part of another point" : "not finite",
                   is_finite ? "finite with t = sqrt(1 / c + |x|^2)" : "finite");
}

}  // namespace quintet::lorentz
