#include "quintet/pairwise/metric.hpp"

#include "quintet/core/error.hpp"

namespace quintet {

metric parse_metric(std::string_view name) {
  for (const metric value : {metric::euclidean, metric::cosine, metric::poincare})
    if (name == to_string(value)) return value;
  require_argument(false, "metric", name, "euclidean, cosine or poincare");
  return {};
}

std::string_view to_string(metric value) {
  switch (value) {
    case metric::cosine:
      return "cosine";
    case metric::poincare:
      return "poincare";
    case metric::euclidean:
      break;
  }
  return "euclidean";
}

std::string to_string(const point_metric& value) {
  return value.kind == metric::poincare ? text("poincare of curvature ", value.curvature)
                                        : std::string(to_string(value.kind));
}

}  // namespace quintet
