#include "support/metric_option.hpp"

#include <cmath>

#include "quintet/core/error.hpp"
#include "support/command_line.hpp"

namespace quintet::driver {

void metric_option::add_to(po::options_description& options) {
  options.add_options()  //
      ("metric", po::value(&name)->default_value("euclidean")->value_name("NAME"),
       "euclidean, cosine, manhattan, chebyshev, minkowski (of --p), or poincare: geodesic distances in the ball of "
       "--curvature")  //
      ("curvature", po::value<double>()->value_name("C")->notifier([this](double given) {
        require_argument(given < 0 && std::isfinite(given), "--curvature", given, "< 0 and finite");
        curvature = given;
      }),
       "of --metric poincare, < 0; -1 by default")  //
      ("p", po::value<double>()->value_name("P")->notifier([this](double given) {
        require_argument(given >= 1, "--p", given, ">= 1");
        p = given;
      }),
       "of --metric minkowski: (sum of |x - y|^P)^(1/P); 1 to 8 (double: 64) or inf, 2 by default");
}

point_metric metric_option::value() const {
  const auto kind = choice<metric>("--metric", name,
                                   {{"euclidean", metric::euclidean},
                                    {"cosine", metric::cosine},
                                    {"manhattan", metric::manhattan},
                                    {"chebyshev", metric::chebyshev},
                                    {"minkowski", metric::minkowski},
                                    {"poincare", metric::poincare}});
  if (curvature && kind != metric::poincare)
    throw InvalidArgument(text("--curvature needs --metric poincare (--metric=", name, ")"));
  if (p && kind != metric::minkowski) throw InvalidArgument(text("--p needs --metric minkowski (--metric=", name, ")"));
  point_metric result = kind;
  result.curvature = curvature.value_or(result.curvature);
  result.p = p.value_or(result.p);
  return result;
}

}  // namespace quintet::driver
