#include "reference/spgemm_reference.hpp"

#include <Eigen/SparseCore>
#include <algorithm>
#include <limits>

namespace {

using quintet::test::formula;

/// A number of the semiring that is being multiplied: Eigen knows no others.
thread_local formula current = formula::plus_times;

template <class Value>
struct number {
  Value value;

  number(Value v = Value(0)) : value(v) {}
  /// The product; one that comparisons pass over (NaN, when sums are minima or maxima) becomes the neutral element.
  friend number operator*(const number& a, const number& b) {
    constexpr Value infinity = std::numeric_limits<Value>::infinity();
    const Value x = a.value, y = b.value;
    switch (current) {
      case formula::plus_times:
        return x * y;
      case formula::min_plus:
        return x + y < infinity ? x + y : infinity;
      case formula::or_and:
        return Value(x != 0 && y != 0);
      case formula::max_times:
        return std::max(std::numeric_limits<Value>::lowest(), x * y);
      case formula::max_min:
        return std::max(-infinity, std::min(x, y));
    }
    return Value(0);
  }
  friend number operator+(const number& a, const number& b) {
    const Value x = a.value, y = b.value;
    switch (current) {
      case formula::plus_times:
        return x + y;
      case formula::min_plus:
        return std::min(x, y);
      case formula::or_and:
        return Value(x != 0 || y != 0);
      case formula::max_times:
      case formula::max_min:
        return std::max(x, y);
    }
    return Value(0);
  }
  number& operator+=(const number& other) { return *this = *this + other; }
  friend bool operator==(const number& a, const number& b) { return a.value == b.value; }
};

}  // namespace

template <class Value>
struct Eigen::NumTraits<number<Value>> : Eigen::GenericNumTraits<number<Value>> {
  using Real = number<Value>;
  using NonInteger = number<Value>;
  using Nested = number<Value>;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};

namespace quintet::test {

template <class Value>
plain_matrix<Value> eigen_product(formula semiring, const plain_matrix<Value>& a, const plain_matrix<Value>& b) {
  using matrix = Eigen::SparseMatrix<number<Value>, Eigen::RowMajor, int>;
  current = semiring;
  const auto mapped = [](const plain_matrix<Value>& m, const std::vector<number<Value>>& values) {
    return Eigen::Map<const matrix>(m.rows, m.cols, int(values.size()), m.row_pointers.data(), m.columns.data(),
                                    values.data());
  };
  const std::vector<number<Value>> a_values(a.values.begin(), a.values.end()),
      b_values(b.values.begin(), b.values.end());
  plain_matrix<Value> result{a.rows, b.cols, std::vector<int>(std::size_t(a.rows + 1)), {}, {}};
  if (a.rows == 0 || a.cols == 0 || b.cols == 0) return result;
  matrix c = mapped(a, a_values) * mapped(b, b_values);
  c.makeCompressed();
  result.row_pointers.assign(c.outerIndexPtr(), c.outerIndexPtr() + c.rows() + 1);
  result.columns.assign(c.innerIndexPtr(), c.innerIndexPtr() + c.nonZeros());
  for (Eigen::Index k = 0; k < c.nonZeros(); ++k) result.values.push_back(c.valuePtr()[k].value);
  return result;
}

template plain_matrix<float> eigen_product(formula, const plain_matrix<float>&, const plain_matrix<float>&);
template plain_matrix<double> eigen_product(formula, const plain_matrix<double>&, const plain_matrix<double>&);
template plain_matrix<long double> eigen_product(formula, const plain_matrix<long double>&,
                                                 const plain_matrix<long double>&);

}  // namespace quintet::test
