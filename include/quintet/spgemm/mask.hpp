// Which entries of a product are wanted, as a template parameter of multiply_masked.
#pragma once

#include "quintet/core/compiler.hpp"

namespace quintet::spgemm {

/// Entries where the mask has an entry, whatever its value. Nothing is computed elsewhere.
struct structural_mask {};
/// Entries where the mask has none: what is new. Computed like the whole product, and left out before it is stored.
struct complement_mask {};

}  // namespace quintet::spgemm
