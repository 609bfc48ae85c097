#include "quintet/pairwise/metric.hpp"

#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/words.hpp"

namespace quintet {

metric parse_metric(std::string_view name) {
  std::vector<std::string_view> names;
  for (const metric value : {metric::euclidean, metric::cosine, metric::poincare, metric::manhattan, metric::chebyshev,
                             metric::minkowski, metric::haversine, metric::lorentz, metric::hamming, metric::jaccard}) {
    if (name == to_string(value)) return value;
    names.push_back(to_string(value));
  }
  if (name == "tanimoto") return metric::jaccard;
  throw InvalidArgument(text(
      "metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming or "
      "jaccard (metric=",
      name, ")", detail::did_you_mean(name, names)));
}

std::string_view to_string(metric value) {
  switch (value) {
    case metric::cosine:
      return "cosine";
    case metric::poincare:
      return "poincare";
    case metric::manhattan:
      return "manhattan";
    case metric::chebyshev:
      return "chebyshev";
    case metric::minkowski:
      return "minkowski";
    case metric::haversine:
      return "haversine";
    case metric::lorentz:
      return "lorentz";
    case metric::hamming:
      return "hamming";
    case metric::jaccard:
      return "jaccard";
    case metric::euclidean:
      break;
  }
  return "euclidean";
}

std::string to_string(const point_metric& value) {
  if (value.kind == metric::poincare || value.kind == metric::lorentz)
    return text(to_string(value.kind), " of curvature ", value.curvature);
  if (value.kind == metric::minkowski) return text("minkowski of p ", value.p);
  if (value.kind == metric::haversine)
    return text("haversine of ", value.unit == angle_unit::degrees ? "degrees" : "radians", " and radius ",
                value.sphere_radius);
  if (is_of_bits(value.kind)) return text(to_string(value.kind), " of ", value.bits, " bits");
  return std::string(to_string(value.kind));
}

}  // namespace quintet
