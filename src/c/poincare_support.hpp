// What the C functions of the Poincare ball share.
#pragma once

#include "c/support.hpp"
#include "quintet/c/poincare.h"
#include "quintet/poincare/poincare.hpp"

namespace quintet::c {

/// Options as the library has them; null: the defaults.
quintet_poincare_options known_options(const quintet_poincare_options* given);
poincare::ball_options ball_options(const quintet_poincare_options* given);

inline void give_status(const poincare::row_status& status, std::uint8_t* out) {
  if (out != nullptr)
    std::transform(status.begin(), status.end(), out, [](poincare::point_status s) { return std::uint8_t(s); });
}

}  // namespace quintet::c
