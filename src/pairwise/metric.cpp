#include "quintet/pairwise/metric.hpp"

#include "quintet/core/error.hpp"

namespace quintet {

metric parse_metric(std::string_view name) {
  require_argument(name == "euclidean" || name == "cosine", "metric", name, "euclidean or cosine");
  return name == "cosine" ? metric::cosine : metric::euclidean;
}

std::string_view to_string(metric value) { return value == metric::cosine ? "cosine" : "euclidean"; }

}  // namespace quintet
