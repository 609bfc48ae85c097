// Old names of views that know their device.
#pragma once

#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet {

/// See matrix_view.
template <class T>
using any_rows = matrix_view<T>;
/// See vector_view.
template <class T>
using any_values = vector_view<T>;

}  // namespace quintet
