// Arguments of functions that take a matrix, a batch of matrices or values in a line: views, and every type that can be
// seen as one. Types of elements are deduced.
//
//   cluster(points)   // matrix_view, io::matrix, std::mdspan or its like, an Eigen matrix with quintet/eigen.hpp
//
// Types of other libraries join by a specialisation of matrix_access, batch_access or vector_access. Everything is O(1)
// and copies nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"

namespace quintet {

/// A matrix of type M (without const) seen as rows. A specialisation has element_type (const if M's elements cannot be
/// written), `static constexpr bool by_rows`, false for a matrix with contiguous columns, and
/// `static matrix_view<...> view(M or const M&)`.
template <class M>
struct matrix_access {};

/// Values of type V (without const) in a line: element_type, and `static vector_view<...> view(...)`.
template <class V>
struct vector_access {};

/// A batch of type B (without const): element_type, and `static batch_view<...> view(...)`. Every matrix is a batch of
/// one.
template <class B>
struct batch_access {};

namespace detail {

/// matrix.view() is a matrix_view.
template <class M>
concept has_matrix_view = requires(M& m) {
  { m.view() } -> std::same_as<matrix_view<typename decltype(m.view())::element_type>>;
};

/// std::mdspan of rank 2 and its like.
template <class M>
concept mdspan_like = requires(const M& m) {
  requires M::rank() == 2;
  { m.extent(0) } -> std::convertible_to<std::int64_t>;
  { m.stride(0) } -> std::convertible_to<std::int64_t>;
  requires std::is_pointer_v<std::remove_cvref_t<decltype(m.data_handle())>>;
};

/// For the static_asserts: false, when it is looked at.
template <class...>
constexpr bool never = false;

}  // namespace detail

/// \cond specialisations
template <class T>
struct matrix_access<matrix_view<T>> {
  using element_type = T;
  static constexpr bool by_rows = true;
  static const matrix_view<T>& view(const matrix_view<T>& m) { return m; }
};

template <detail::has_matrix_view M>
struct matrix_access<M> {
  using element_type = typename decltype(std::declval<M&>().view())::element_type;
  static constexpr bool by_rows = true;
  template <class Matrix>
  static auto view(Matrix& m) {
    return m.view();
  }
};

template <detail::mdspan_like M>
struct matrix_access<M> {
  using element_type = std::remove_pointer_t<std::remove_cvref_t<decltype(std::declval<const M&>().data_handle())>>;
  static constexpr bool by_rows = true;
  static matrix_view<element_type> view(const M& m) {
    if (m.extent(1) > 1 && m.stride(1) != 1)
      throw InvalidArgument(text(
          "the elements of a row must be adjacent: stride(1) must be 1 (stride(1)=", std::int64_t(m.stride(1)), ")"));
    const std::int64_t cols = m.extent(1), stride = m.extent(0) > 1 ? std::int64_t(m.stride(0)) : cols;
    return {m.data_handle(), std::int64_t(m.extent(0)), cols, stride};
  }
};

template <class T>
struct batch_access<batch_view<T>> {
  using element_type = T;
  static const batch_view<T>& view(const batch_view<T>& b) { return b; }
};

template <class T>
struct vector_access<vector_view<T>> {
  using element_type = T;
  static const vector_view<T>& view(const vector_view<T>& v) { return v; }
};

template <class T>
struct vector_access<Buffer<T>> {
  using element_type = T;
  template <class B>
  static auto view(B& buffer) {
    return vector_view(buffer);
  }
};

template <std::ranges::contiguous_range V>
  requires std::ranges::sized_range<V>
struct vector_access<V> {
  using element_type = std::remove_reference_t<std::ranges::range_reference_t<V>>;
  template <class Range>
  static auto view(Range& values) {
    using element = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
    return vector_view<element>(std::ranges::data(values), std::int64_t(std::ranges::size(values)));
  }
};
/// \endcond

namespace detail {

/// matrix_of() sees it as a matrix.
template <class M>
concept accessible_matrix = requires {
  typename matrix_access<M>::element_type;
  matrix_access<M>::by_rows;
};

/// A matrix of Eigen, or something like it, where quintet/eigen.hpp is not included.
template <class M>
concept matrix_of_eigen = requires(const M& m) {
  m.rows();
  m.cols();
  m.derived();
} && !accessible_matrix<M>;

/// Values without rows and columns, or rows in separate memory.
template <class M>
concept range_without_rows = std::ranges::range<const M> && !matrix_of_eigen<M> && !accessible_matrix<M>;

/// What is refused with a sentence; false is for the compiler, which looks at it when M is known.
template <class M>
constexpr bool is_matrix() {
  static_assert(!matrix_of_eigen<M>,
                "quintet: a matrix of Eigen is an argument with #include \"quintet/eigen.hpp\", before it is used");
  static_assert(
      !range_without_rows<M>,
      "quintet: values have no rows and columns: pass quintet::matrix_view(values.data(), rows, cols) of values "
      "that are adjacent");
  return accessible_matrix<M>;
}

}  // namespace detail

/// Something that matrix_of() sees as a matrix, of whatever elements and order, or refuses with a sentence: a matrix of
/// Eigen without quintet/eigen.hpp, values without rows and columns.
template <class M>
concept matrix_argument =
    detail::accessible_matrix<std::remove_cvref_t<M>> || detail::matrix_of_eigen<std::remove_cvref_t<M>> ||
    detail::range_without_rows<std::remove_cvref_t<M>>;

/// Something that batch_of() sees as a batch of matrices.
template <class B>
concept batch_argument =
    matrix_argument<B> || requires { typename batch_access<std::remove_cvref_t<B>>::element_type; };

/// Something that values_of() sees as values in a line.
template <class V>
concept vector_argument = requires { typename vector_access<std::remove_cvref_t<V>>::element_type; };

namespace detail {

template <class A>
struct argument_element {};
template <class A>
  requires requires { typename batch_access<A>::element_type; }
struct argument_element<A> {
  using type = std::remove_const_t<typename batch_access<A>::element_type>;
};
template <accessible_matrix A>
  requires(!requires { typename batch_access<A>::element_type; })
struct argument_element<A> {
  using type = std::remove_const_t<typename matrix_access<A>::element_type>;
};
template <class A>
  requires(!requires { typename batch_access<A>::element_type; } && (matrix_of_eigen<A> || range_without_rows<A>))
struct argument_element<A> {
  using type = std::conditional_t<is_matrix<A>(), double, double>;
};

}  // namespace detail

/// The type of the elements of a matrix or a batch, without const: float, double, half or bfloat16.
template <class A>
using element_of =
    typename detail::checked_storage<typename detail::argument_element<std::remove_cvref_t<A>>::type>::type;

/// A matrix as a view: of const elements if it is const. Throws InvalidArgument if it turns out at run time that the
/// elements of a row are not adjacent.
template <matrix_argument M>
auto matrix_of(M&& matrix) {
  using access = matrix_access<std::remove_cvref_t<M>>;
  if constexpr (!detail::accessible_matrix<std::remove_cvref_t<M>>) {
    detail::is_matrix<std::remove_cvref_t<M>>();
    return matrix_view<double>();
  } else {
    static_assert(
        access::by_rows,
        "quintet: rows are meant here, and this matrix is stored by columns: use a row-major matrix (of Eigen: "
        "Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>), or pass its transpose() if its "
        "columns are the points");
    if constexpr (access::by_rows)
      return access::view(matrix);
    else
      return matrix_view<typename access::element_type>();
  }
}

/// A batch of matrices, or one matrix, as a view.
template <batch_argument B>
auto batch_of(B&& batch) {
  if constexpr (requires { typename batch_access<std::remove_cvref_t<B>>::element_type; }) {
    return batch_access<std::remove_cvref_t<B>>::view(batch);
  } else {
    const auto matrix = matrix_of(batch);
    return batch_view<typename decltype(matrix_of(batch))::element_type>(matrix);
  }
}

/// Values in a line as a view: of const values where they are const.
template <vector_argument V>
auto values_of(V&& values) {
  return vector_access<std::remove_cvref_t<V>>::view(values);
}

}  // namespace quintet
