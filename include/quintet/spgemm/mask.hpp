// The entries of a masked product, as a template parameter of multiply_masked.
#pragma once

#include "quintet/core/compiler.hpp"

namespace quintet::spgemm {

/// Entries where the mask has an entry, whatever its value. Nothing is computed elsewhere.
struct structural_mask {};
/// Entries outside the mask: the new ones. Computed like the whole product, and left out before they are stored.
struct complement_mask {};

}  // namespace quintet::spgemm
