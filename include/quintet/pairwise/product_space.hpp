// Factors of a product of spaces of constant curvature, as a value; poincare/product.hpp says what its distances are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "quintet/core/error.hpp"

namespace quintet {

namespace product {

/// The geometry of a factor.
enum class geometry { euclidean, sphere, stereographic, lorentz };

/// A space of the product.
struct factor {
  geometry kind = geometry::euclidean;  ///< what its distances are
  std::int64_t dim = 0;                 ///< numbers in a row, >= 1; of a sphere n + 1 >= 2
  double curvature = 0;                 ///< sphere: > 0; lorentz: < 0; stereographic: any; has no effect on euclidean
  double weight = 1;                    ///< of the squared distance, > 0
  /// The same numbers.
  friend constexpr bool operator==(const factor&, const factor&) = default;
};

}  // namespace product

/// The factors of metric::product, at most max_factors.
class product_space {
 public:
  static constexpr std::int64_t max_factors = 16;  ///< the most factors of a metric

  constexpr product_space() = default;
  /// Throws InvalidArgument for more than max_factors. Functions of points check the factors themselves.
  product_space(std::span<const product::factor> factors) : count_(std::int64_t(factors.size())) {  // NOLINT: implicit
    require_argument(count_ <= max_factors, "factors.size", count_, "at most 16 with metric product");
    std::copy(factors.begin(), factors.end(), factor_.begin());
  }
  /// The same of a list in braces.
  product_space(std::initializer_list<product::factor> factors)
      : product_space(std::span<const product::factor>(factors.begin(), factors.size())) {}

  /// Those of a row, in their order.
  constexpr std::span<const product::factor> factors() const { return {factor_.data(), std::size_t(count_)}; }
  /// The same factors in the same order.
  friend constexpr bool operator==(const product_space&, const product_space&) = default;

 private:
  std::array<product::factor, max_factors> factor_{};
  std::int64_t count_ = 0;
};

/// The factors of a text such as "poincare 16 -1, lorentz 8 -0.5 2, sphere 3, euclidean 32": geometry, numbers in a
/// row, and for those who want it curvature and weight. By default the curvature is 1 of a sphere, -1 of poincare and
/// lorentz and 0 of stereographic, and the weight 1. "poincare" is stereographic of a curvature < 0. Throws
/// InvalidArgument for other text.
product_space parse_product_space(std::string_view text);
/// The text that parse_product_space() reads.
std::string to_string(const product_space& space);

}  // namespace quintet
