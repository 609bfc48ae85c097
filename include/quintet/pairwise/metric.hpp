// The distances that all-pairs functions can use.
#pragma once

#include <string_view>

namespace quintet {

enum class metric {
  euclidean,  ///< |x - y|
  cosine,     ///< 1 - <x, y> / (|x| |y|); a point with |x| = 0 has no cosine distance and counts as invalid
};

/// "euclidean" or "cosine"; throws InvalidArgument for other text.
metric parse_metric(std::string_view name);
std::string_view to_string(metric value);

}  // namespace quintet
