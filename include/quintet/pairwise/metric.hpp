// The distances that all-pairs functions can use.
#pragma once

#include <string_view>

namespace quintet {

enum class metric {
  euclidean,  ///< |x - y|
  /// 1 - <x, y> / (|x| |y|). A point whose 1 / |x| is no normal number of its type (x = 0 above all) has no cosine
  /// distance and counts as invalid.
  cosine,
};

/// "euclidean" or "cosine"; throws InvalidArgument for other text.
metric parse_metric(std::string_view name);
std::string_view to_string(metric value);

}  // namespace quintet
