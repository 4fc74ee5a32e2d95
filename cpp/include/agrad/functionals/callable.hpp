// Callable: the calls of functions by functionals, and the results that functions may return.
//
// A callable takes a column vector of T: of fixed size if x has a fixed size and the callable accepts it, else of dynamic size.
// The callable returns a T, an expression, a number (for a function that ignores its argument), or a vector of these, as the
// functional needs. The signature determines whether the callable accepts a scalar type: `accepts`.
// Read next: functionals/gradient.hpp.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/rules/array.hpp>

namespace agrad::detail {

// ---- with which scalars ------------------------------------------------------------------------------------------------

template <class X, class = void>
struct scalar_inside {
  using type = void;
};
template <class X>
struct scalar_inside<X, std::void_t<typename X::Scalar>> {
  using type = typename X::Scalar;
};

/// The scalar of a callable's only signature; void for templates and overloads. The signature must be inspected, because every
/// vector of Eigen is convertible to every other by its signature, and the error comes when the conversion is compiled.
template <class F, class = void>
struct only_scalar {
  using type = void;
};
template <class R, class X, bool N>
struct only_scalar<R (*)(X) noexcept(N), void> : scalar_inside<std::decay_t<X>> {};
template <class R, class C, class X, bool N>
struct only_scalar<R (C::*)(X) const noexcept(N), void> : scalar_inside<std::decay_t<X>> {};
template <class R, class C, class X, bool N>
struct only_scalar<R (C::*)(X) noexcept(N), void> : scalar_inside<std::decay_t<X>> {};  // of a mutable lambda
template <class F>
struct only_scalar<F, std::void_t<decltype(&F::operator())>> : only_scalar<decltype(&F::operator())> {};

template <class F, class Vector>
inline constexpr bool accepts_vector = std::is_invocable_v<F&, const Vector&> &&
                                       (std::is_void_v<typename only_scalar<std::decay_t<F>>::type> ||
                                        std::is_same_v<typename only_scalar<std::decay_t<F>>::type, typename Vector::Scalar>);

template <class X, class T>
using as_long_as = Eigen::Matrix<T, X::SizeAtCompileTime, 1>;

/// Whether f can be called with a vector of T as long as an X. A template whose signature accepts T but that does not compile
/// with T is an error in the template.
template <class F, class X, class T>
inline constexpr bool accepts = accepts_vector<F, as_long_as<X, T>> || accepts_vector<F, vector_of<T>>;

/// The vector of T with which f is called at an x of type X.
template <class F, class X, class T>
using argument_t = std::conditional_t<accepts_vector<F, as_long_as<X, T>>, as_long_as<X, T>, vector_of<T>>;

/// Returns the point x as a column in memory; copies x only if it is not a column already.
template <class X>
Eigen::Ref<const as_long_as<X, double>> point(const Eigen::MatrixBase<X>& x) {
  static_assert(X::IsVectorAtCompileTime, "x must be a vector");
  static_assert(std::is_same_v<typename X::Scalar, double>, "x must be a vector of double");
  return x.derived();
}

/// Returns x as constants of another scalar.
template <class F, class T, class X>
argument_t<F, X, T> constants(const Eigen::MatrixBase<X>& x) {
  static_assert(
      accepts<F, X, T>,
      "f cannot be called with an Eigen column vector of this scalar; make f a template of its scalar, and give x a fixed size "
      "where f's argument has one");
  const Eigen::Ref<const as_long_as<X, double>> values = point(x);
  argument_t<F, X, T> result(values.size());
  for (Eigen::Index i = 0; i < values.size(); ++i) result[i] = values[i];
  return result;
}

// ---- results -----------------------------------------------------------------------------------------------------------

/// Whether a result is a vector or matrix that is not of one entry by its type; a product of a row and a column is a number.
template <class R, class T>
inline constexpr bool is_array_of_many = rank_of<R> >= array_rank && !std::is_convertible_v<R, T>;
template <class R>
inline constexpr bool is_standard_vector = false;
template <class T, class Allocator>
inline constexpr bool is_standard_vector<std::vector<T, Allocator>> = true;
template <class T, std::size_t N>
inline constexpr bool is_standard_vector<std::array<T, N>> = true;

template <class T, class R>
T as_scalar(R&& result) {
  using result_type = std::decay_t<R>;
  static_assert(
      !is_array_of_many<result_type, T> && !is_standard_vector<result_type>,
      "f returns a vector, but must return one number here; sum it, or use jacobian, jvp or vjp for vector functions");
  static_assert(std::is_convertible_v<R, T> || std::is_convertible_v<R, stored_t<result_type>>,
                "f must return a scalar of its argument's type, an expression of such scalars, or a number");
  if constexpr (std::is_convertible_v<R, T>)
    return std::forward<R>(result);
  else
    return static_cast<stored_t<result_type>>(result);
}

[[noreturn]] AGRAD_COLD inline void fail_not_a_vector(std::string_view function, Eigen::Index rows, Eigen::Index cols) {
  throw ShapeError(std::string(function) + ": f(x) is of shape (" + std::to_string(rows) + ", " + std::to_string(cols) +
                   "), but must be a vector; return its entries as one column");
}

/// Returns the results as a vector of T; a scalar becomes a vector of length 1.
template <class T, class R>
vector_of<T> as_vector(std::string_view function, R&& result) {
  using result_type = std::decay_t<R>;
  static_assert(!is_standard_vector<result_type>,
                "f returns a std::vector or std::array, but must return a vector of Eigen's or a scalar; return "
                "agrad::vector_of<T>, T the scalar of f's argument");
  if constexpr (std::is_same_v<result_type, vector_of<T>>) {
    return std::forward<R>(result);
  } else if constexpr (is_eigen<result_type>) {
    if (result.rows() != 1 && result.cols() != 1 && result.size() > 0)
      fail_not_a_vector(function, result.rows(), result.cols());
    const typename result_type::PlainObject& values = result;
    vector_of<T> y(values.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = values.data()[i];
    return y;
  } else if constexpr (rank_of<result_type> > array_rank) {  // matrix<var>
    if (result.cols() != 1) fail_not_a_vector(function, result.rows(), result.cols());
    vector_of<T> y(result.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = result[i];
    return y;
  } else {
    return vector_of<T>::Constant(1, as_scalar<T>(std::forward<R>(result)));
  }
}

// ---- outputs -----------------------------------------------------------------------------------------------------------

[[noreturn]] AGRAD_COLD inline void fail_output_shape(std::string_view function, std::string_view name, Eigen::Index rows,
                                                      Eigen::Index cols, Eigen::Index expected_rows,
                                                      Eigen::Index expected_cols) {
  const auto text = [](Eigen::Index r, Eigen::Index c) { return "(" + std::to_string(r) + ", " + std::to_string(c) + ")"; };
  throw ShapeError(std::string(function) + ": " + std::string(name) + " is of the fixed shape " + text(rows, cols) +
                   ", but must be of shape " + text(expected_rows, expected_cols));
}

/// Resizes an output; an output of fixed size must have that size.
template <class Output>
void resize(std::string_view function, std::string_view name, Eigen::PlainObjectBase<Output>& output, Eigen::Index rows,
            Eigen::Index cols = 1) {
  constexpr bool any_rows = Output::RowsAtCompileTime == Eigen::Dynamic, any_cols = Output::ColsAtCompileTime == Eigen::Dynamic;
  if (AGRAD_UNLIKELY((!any_rows && output.rows() != rows) || (!any_cols && output.cols() != cols)))
    fail_output_shape(function, name, output.rows(), output.cols(), rows, cols);
  output.resize(rows, cols);
}

}  // namespace agrad::detail
