// Array: the engine of Eigen's arrays, vectors and matrices. A rule is applied to every entry; scalars broadcast.
//
//     Eigen::ArrayXd y = agrad::log1p(x);                      // x an ArrayXd
//     Eigen::Matrix<var, -1, 1> z = exp(v);                    // v a vector of var, found by argument-dependent lookup
//
// The result is a plain object of the first array's shape, never an expression, which could outlive its operands.
#pragma once

#include <Eigen/Core>
#include <string>
#include <type_traits>

#include <agrad/base/error.hpp>
#include <agrad/rules/arithmetic.hpp>

namespace agrad {

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using matrix_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

namespace detail {

// Tested by conversion, because a VectorBlock derives from the DenseBase of a Block.
template <class Derived>
std::true_type converts_to_dense(const Eigen::DenseBase<Derived>*);
std::false_type converts_to_dense(const void*);
template <class T>
inline constexpr bool is_eigen = decltype(converts_to_dense(static_cast<const T*>(nullptr)))::value;

/// Numbers of any type count as doubles, as a power of 2 does.
template <class T, class = void>
struct entry : std::conditional<std::is_arithmetic_v<T>, double, T> {};
template <class T>
struct entry<T, std::enable_if_t<is_eigen<T>>> : entry<typename T::Scalar> {};
template <class Rule, class... X>
using entry_result_t = stored_t<std::decay_t<decltype(agrad::apply<Rule>(std::declval<typename entry<X>::type>()...))>>;

template <class Shape, class Scalar>
using same_shape_t = std::conditional_t<std::is_base_of_v<Eigen::ArrayBase<Shape>, Shape>,
                                        Eigen::Array<Scalar, Shape::RowsAtCompileTime, Shape::ColsAtCompileTime,
                                                     Shape::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>,
                                        Eigen::Matrix<Scalar, Shape::RowsAtCompileTime, Shape::ColsAtCompileTime,
                                                      Shape::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>>;

template <class X, class... Rest>
const auto& first_array(const X& x, const Rest&... rest) {
  if constexpr (is_eigen<X>)
    return x;
  else
    return first_array(rest...);
}

[[noreturn]] AGRAD_COLD inline void fail_array_shape(std::string_view function, Eigen::Index rows, Eigen::Index cols,
                                                     Eigen::Index expected_rows, Eigen::Index expected_cols) {
  throw ShapeError(std::string(function) + ": argument is of shape (" + std::to_string(rows) + ", " + std::to_string(cols) +
                   "), but must be of shape (" + std::to_string(expected_rows) + ", " + std::to_string(expected_cols) +
                   "); arrays of one call have one shape, scalars broadcast");
}

template <class Rule, class Shape, class X>
void check_array_shape(const Shape& shape, const X& x) {
  if constexpr (is_eigen<X>) {
    if (AGRAD_UNLIKELY(x.rows() != shape.rows() || x.cols() != shape.cols()))
      fail_array_shape(Rule::name, x.rows(), x.cols(), shape.rows(), shape.cols());
  }
}

template <class X>
decltype(auto) entry_at(const X& x, Eigen::Index row, Eigen::Index col) {
  if constexpr (is_eigen<X> && std::is_arithmetic_v<typename entry<X>::type>) {
    static_assert(fits_double<typename X::Scalar>::value);
    return static_cast<double>(x.coeff(row, col));
  } else if constexpr (is_eigen<X>) {
    return x.coeff(row, col);
  } else if constexpr (std::is_arithmetic_v<X>) {
    static_assert(fits_double<X>::value);
    return static_cast<double>(x);
  } else {
    return (x);
  }
}

}  // namespace detail

struct array_engine {
  static constexpr int rank = detail::array_rank;

  template <class Rule, class... X>
  static auto apply(const X&... arguments) {
    return on_evaluated<Rule>(evaluated(arguments)...);
  }

 private:
  template <class X>
  static decltype(auto) evaluated(const X& x) {
    if constexpr (detail::is_eigen<X>)
      return x.eval();  // evaluates each expression once, whatever its number of entries
    else
      return (x);
  }

  template <class Rule, class... X>
  static auto on_evaluated(const X&... x) {
    const auto& shape = detail::first_array(x...);
    (detail::check_array_shape<Rule>(shape, x), ...);
    using Scalar = detail::entry_result_t<Rule, X...>;
    detail::same_shape_t<std::decay_t<decltype(shape)>, Scalar> result(shape.rows(), shape.cols());
    for (Eigen::Index col = 0; col < shape.cols(); ++col)
      for (Eigen::Index row = 0; row < shape.rows(); ++row)
        result(row, col) = agrad::apply<Rule>(detail::entry_at(x, row, col)...);
    return result;
  }
};

template <class T>
struct engine_of<T, std::enable_if_t<detail::is_eigen<T>>> {
  using type = array_engine;
};

}  // namespace agrad
