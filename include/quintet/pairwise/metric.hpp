// The distances that all-pairs functions can use. Everything here is O(1).
#pragma once

#include <string>
#include <string_view>

namespace quintet {

/// A distance d(x, y) of two points of D coordinates.
enum class metric {
  euclidean,  ///< |x - y|
  /// 1 - <x, y> / (|x| |y|). A point whose 1 / |x| is no normal number of its type (x = 0 above all) has no cosine
  /// distance and counts as invalid.
  cosine,
  /// Geodesic distance in the Poincare ball of curvature -c < 0: (2 / sqrt(c)) asinh(sqrt(t)),
  /// t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)). A point with c |x|^2 >= 1 is not in the ball and counts as
  /// invalid.
  poincare,
};

/// A metric with its parameter. Made from a metric as it is, so that options read {.distance = metric::cosine}.
struct point_metric {
  metric kind = metric::euclidean;  ///< which distance
  double curvature = -1;            ///< of metric::poincare alone: -c with c in [1e-30, 1e30]

  constexpr point_metric() = default;
  /// Implicit. `curvature` counts for metric::poincare alone; functions check it, this does not.
  constexpr point_metric(metric kind, double curvature = -1) : kind(kind), curvature(curvature) {}  // NOLINT: implicit
  /// The same kind and curvature, also where the curvature does not count.
  friend constexpr bool operator==(const point_metric&, const point_metric&) = default;
};

/// "euclidean", "cosine" or "poincare", in this case; throws InvalidArgument for other text.
metric parse_metric(std::string_view name);
/// The name that parse_metric() reads.
std::string_view to_string(metric value);
/// "cosine", "poincare of curvature -1".
std::string to_string(const point_metric& value);

}  // namespace quintet
