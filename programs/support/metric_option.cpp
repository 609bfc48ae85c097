#include "support/metric_option.hpp"

#include <cmath>
#include <string_view>
#include <utility>

#include "quintet/core/error.hpp"
#include "support/command_line.hpp"

namespace quintet::driver {

namespace {

/// What other libraries call a metric becomes its name here. Throws InvalidArgument for squared distances.
std::string_view usual_name(std::string_view name) {
  if (name == "sqeuclidean" || name == "squared_euclidean")
    throw InvalidArgument(text("--metric must not be squared (--metric=", name,
                               "): euclidean has the same neighbours and clusters; square its distances, and take the "
                               "root of an epsilon or a radius"));
  for (const auto& [other, usual] :
       {std::pair("l1", "manhattan"), std::pair("cityblock", "manhattan"), std::pair("l2", "euclidean"),
        std::pair("infinity", "chebyshev"), std::pair("p", "minkowski"), std::pair("tanimoto", "jaccard"),
        std::pair("inner_product", "integer_inner_product")})
    if (name == other) return usual;
  return name;
}

}  // namespace

void metric_option::add_to(po::options_description& options) {
  options.add_options()  //
      ("metric", po::value(&name)->default_value("euclidean")->value_name("NAME"),
       "euclidean (or l2), cosine, manhattan (l1, cityblock), chebyshev (infinity), minkowski (p) of --p, poincare or "
       "lorentz: geodesic distances in the ball or on the hyperboloid of --curvature. haversine: great-circle "
       "distances of rows of latitude and longitude. hamming or jaccard (tanimoto): of rows of 0 and 1, the share of "
       "columns that differ, of all or of those that are 1 in either. integer_euclidean, integer_cosine or "
       "integer_inner_product (inner_product; for neighbours alone): of rows of integers from -255 to 255, exact. "
       "product: of spaces of constant curvature, --factors")  //
      ("curvature", po::value<double>()->value_name("C")->notifier([this](double power) {
        require_argument(power < 0 && std::isfinite(power), "--curvature", power, "< 0 and finite");
        curvature = power;
      }),
       "of --metric poincare and lorentz, < 0; -1 by default")  //
      ("p", po::value<double>()->value_name("P")->notifier([this](double power) {
        require_argument(power >= 1, "--p", power, ">= 1");
        p = power;
      }),
       "of --metric minkowski: (sum of |x - y|^P)^(1/P); 1 to 8 (double: 64) or inf, 2 by default")  //
      ("unit", po::value<std::string>()->value_name("NAME")->notifier([this](const std::string& text) { unit = text; }),
       "of --metric haversine: degrees (default) or radians")  //
      ("sphere-radius", po::value<double>()->value_name("R")->notifier([this](double radius) {
        require_argument(radius >= 1e-30 && radius <= 1e30, "--sphere-radius", radius, "in [1e-30, 1e30]");
        sphere_radius = radius;
      }),
       "of --metric haversine: distances are in its unit; 6371008.8 by default, the Earth's in metres")  //
      ("factors", po::value<std::string>()->value_name("LIST")->notifier([this](const std::string& list) {
        try {
          factors = parse_product_space(list);
        } catch (const InvalidArgument& error) {
          throw InvalidArgument(text("--factors: ", error.what()));
        }
      }),
       "of --metric product: geometry and numbers in a row of each, and curvature and weight if they are not 1 or -1: "
       "\"poincare 16, lorentz 8 -0.5, sphere 3 1 2, euclidean 32\"; also stereographic");
}

point_metric metric_option::value() const {
  const auto kind = choice<metric>("--metric", usual_name(name),
                                   {{"euclidean", metric::euclidean},
                                    {"cosine", metric::cosine},
                                    {"manhattan", metric::manhattan},
                                    {"chebyshev", metric::chebyshev},
                                    {"minkowski", metric::minkowski},
                                    {"haversine", metric::haversine},
                                    {"poincare", metric::poincare},
                                    {"lorentz", metric::lorentz},
                                    {"hamming", metric::hamming},
                                    {"jaccard", metric::jaccard},
                                    {"integer_euclidean", metric::integer_euclidean},
                                    {"integer_cosine", metric::integer_cosine},
                                    {"integer_inner_product", metric::integer_inner_product},
                                    {"product", metric::product}});
  if (curvature && kind != metric::poincare && kind != metric::lorentz)
    throw InvalidArgument(text("--curvature needs --metric poincare or lorentz (--metric=", name, ")"));
  if (p && kind != metric::minkowski) throw InvalidArgument(text("--p needs --metric minkowski (--metric=", name, ")"));
  for (const auto& [option, is_set] :
       {std::pair("--unit", unit.has_value()), std::pair("--sphere-radius", sphere_radius.has_value())})
    if (is_set && kind != metric::haversine)
      throw InvalidArgument(text(option, " needs --metric haversine (--metric=", name, ")"));
  if (factors.has_value() != (kind == metric::product))
    throw InvalidArgument(text(factors ? "--factors needs --metric product" : "--metric product needs --factors",
                               " (--metric=", name, ")"));
  constexpr double earth = 6371008.8;
  point_metric result = kind;
  if (kind == metric::haversine) result.sphere_radius = sphere_radius.value_or(earth);
  if (unit)
    result.unit =
        choice<angle_unit>("--unit", *unit, {{"degrees", angle_unit::degrees}, {"radians", angle_unit::radians}});
  result.curvature = curvature.value_or(result.curvature);
  result.p = p.value_or(result.p);
  if (factors) result.space = *factors;
  return result;
}

}  // namespace quintet::driver
