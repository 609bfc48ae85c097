#include "quintet/pairwise/metric.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include "core/parse_number.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/words.hpp"

namespace quintet {

namespace {

using product::factor, product::geometry;

struct named_geometry {
  std::string_view name;
  geometry kind;
  double curvature;
};
constexpr named_geometry geometries[] = {{"euclidean", geometry::euclidean, 0},
                                         {"sphere", geometry::sphere, 1},
                                         {"stereographic", geometry::stereographic, 0},
                                         {"poincare", geometry::stereographic, -1},
                                         {"lorentz", geometry::lorentz, -1}};

/// The words of a text between `separators`; a text without any has one.
std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

/// The number that a whole word is.
template <class Number>
std::optional<Number> number_of(std::string_view word) {
  const char* position = word.data();
  Number number{};
  const char* const end = word.data() + word.size();
  if (parse_number<Number>(&position, end, number) != parse_status::ok || position != end) return std::nullopt;
  return number;
}

factor parse_factor(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : words_of(text, " "))
    if (!word.empty()) words.push_back(word);
  const auto refuse = [&](std::string_view reason) {
    throw InvalidArgument(quintet::text("a factor must be ", reason, " (factor=\"", text, "\")"));
  };
  if (words.size() < 2 || words.size() > 4) refuse("of the form: geometry numbers [curvature [weight]]");
  for (const named_geometry& named : geometries) {
    if (words[0] != named.name) continue;
    const auto dim = number_of<std::int64_t>(words[1]);
    const auto curvature = words.size() > 2 ? number_of<double>(words[2]) : named.curvature;
    const auto weight = words.size() > 3 ? number_of<double>(words[3]) : 1;
    if (!dim || !curvature || !weight) refuse("of a whole number of numbers, then numbers");
    if (named.name == "poincare" && !(*curvature < 0)) refuse("of a curvature < 0 with poincare");
    return {named.kind, *dim, *curvature, *weight};
  }
  refuse("euclidean, sphere, stereographic, poincare or lorentz");
  return {};
}

/// The shortest digits that are this number.
std::string digits_of(double number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

}  // namespace

product_space parse_product_space(std::string_view text) {
  std::vector<factor> factors;
  for (const std::string_view part : words_of(text, ",")) factors.push_back(parse_factor(part));
  return {std::span<const factor>(factors)};
}

std::string to_string(const product_space& space) {
  std::string all;
  for (const factor& f : space.factors()) {
    const bool is_ball = f.kind == geometry::stereographic && f.curvature < 0;
    std::string_view name;
    for (const named_geometry& named : geometries)
      if (f.kind == named.kind && is_ball == (named.name == "poincare")) name = named.name;
    all += text(all.empty() ? "" : ", ", name, " ", f.dim, " ", digits_of(f.curvature), " ", digits_of(f.weight));
  }
  return all;
}

metric parse_metric(std::string_view name) {
  std::vector<std::string_view> names;
  for (const metric value :
       {metric::euclidean, metric::cosine, metric::poincare, metric::manhattan, metric::chebyshev, metric::minkowski,
        metric::haversine, metric::lorentz, metric::hamming, metric::jaccard, metric::integer_euclidean,
        metric::integer_cosine, metric::integer_inner_product, metric::product}) {
    if (name == to_string(value)) return value;
    names.push_back(to_string(value));
  }
  if (name == "tanimoto") return metric::jaccard;
  throw InvalidArgument(
      text("metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming, "
           "jaccard, integer_euclidean, integer_cosine, integer_inner_product or product (metric=",
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
    case metric::product:
      return "product";
    case metric::integer_euclidean:
      return "integer_euclidean";
    case metric::integer_cosine:
      return "integer_cosine";
    case metric::integer_inner_product:
      return "integer_inner_product";
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
  if (value.kind == metric::product) return "product of " + to_string(value.space);
  if (is_of_integers(value.kind)) return text(to_string(value.kind), " of ", value.bits / bits_of_integer, " integers");
  return std::string(to_string(value.kind));
}

}  // namespace quintet
