// Eigen: lets Eigen::Matrix<var, ...> and Eigen::Matrix<dual<T, K>, ...> work in Eigen's templates, mixed with doubles.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include <agrad/dual/dual.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/rules/cmath.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/tape/var.hpp>

namespace Eigen {

template <>
struct NumTraits<agrad::var> : GenericNumTraits<double> {
  using Real = agrad::var;
  using NonInteger = agrad::var;
  using Nested = agrad::var;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1, AddCost = 10, MulCost = 10 };
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<agrad::var, double, BinaryOp> {
  using ReturnType = agrad::var;
};
template <class BinaryOp>
struct ScalarBinaryOpTraits<double, agrad::var, BinaryOp> {
  using ReturnType = agrad::var;
};

// An expression that Eigen's templates see as a scalar, for example abs2(x / y), results in a variable.
template <int N>
struct NumTraits<agrad::expression<N>> : NumTraits<agrad::var> {};

template <class T, int K>
struct NumTraits<agrad::dual<T, K>> : GenericNumTraits<double> {
  using Real = agrad::dual<T, K>;
  using NonInteger = agrad::dual<T, K>;
  using Nested = agrad::dual<T, K>;
  using Literal = double;
  enum { RequireInitialization = 1, ReadCost = 1 + K, AddCost = 1 + K, MulCost = 1 + 3 * K };
};
template <class T, int K, class BinaryOp>
struct ScalarBinaryOpTraits<agrad::dual<T, K>, double, BinaryOp> {
  using ReturnType = agrad::dual<T, K>;
};
template <class T, int K, class BinaryOp>
struct ScalarBinaryOpTraits<double, agrad::dual<T, K>, BinaryOp> {
  using ReturnType = agrad::dual<T, K>;
};

namespace internal {
template <class Matrix, int Size>
struct determinant_impl;
/// Computes the determinant of 4 x 4 variables from 2 x 2 minors. Eigen's version needs terms of the scalar's type.
template <int Options>
struct determinant_impl<Matrix<agrad::var, 4, 4, Options, 4, 4>, 4> {
  using matrix = Matrix<agrad::var, 4, 4, Options, 4, 4>;
  static agrad::var run(const matrix& m) {
    const auto minor = [&](Index row, Index i, Index j) -> agrad::var {
      return m(row, i) * m(row + 1, j) - m(row, j) * m(row + 1, i);
    };
    return minor(0, 0, 1) * minor(2, 2, 3) - minor(0, 0, 2) * minor(2, 1, 3) + minor(0, 0, 3) * minor(2, 1, 2) +
           minor(0, 1, 2) * minor(2, 0, 3) - minor(0, 1, 3) * minor(2, 0, 2) + minor(0, 2, 3) * minor(2, 0, 1);
  }
};
}  // namespace internal

}  // namespace Eigen

namespace agrad {

// Functions that Eigen's templates need of a real scalar, found by argument-dependent lookup.
inline const var& conj(const var& x) { return x; }
inline const var& real(const var& x) { return x; }
inline var imag(const var&) { return var(); }
template <class T, int K>
const dual<T, K>& conj(const dual<T, K>& x) {
  return x;
}
template <class T, int K>
const dual<T, K>& real(const dual<T, K>& x) {
  return x;
}
template <class T, int K>
dual<T, K> imag(const dual<T, K>&) {
  return {};
}
/// Stores a tape expression that is a factor or divisor of an Eigen object, as in `-k * y`, in a variable.
template <class E, class M, class = std::enable_if_t<detail::is_expression<E> && detail::is_eigen<M>>>
auto operator*(const E& factor, const M& m) {
  return var(factor) * m;
}
template <class E, class M, class = std::enable_if_t<detail::is_expression<E> && detail::is_eigen<M>>>
auto operator*(const M& m, const E& factor) {
  return m * var(factor);
}
template <class E, class M, class = std::enable_if_t<detail::is_expression<E> && detail::is_eigen<M>>>
auto operator/(const M& m, const E& divisor) {
  return m / var(divisor);
}

namespace detail {
template <class Derived>
std::true_type converts_to_matrix(const Eigen::MatrixBase<Derived>*);
std::false_type converts_to_matrix(const void*);
template <class T>
inline constexpr bool is_matrix = decltype(converts_to_matrix(static_cast<const T*>(nullptr)))::value;
// Whether one of two matrices has numbers, the other agrad's scalars, and their product is not a scalar.
template <class A, class B, bool are_matrices = is_matrix<A>&& is_matrix<B>>
inline constexpr bool are_mixed_factors = false;
template <class A, class B>
inline constexpr bool are_mixed_factors<A, B, true> = (rank_of<typename A::Scalar> == 0) !=
                                                          (rank_of<typename B::Scalar> == 0) &&
                                                      (A::RowsAtCompileTime != 1 || B::ColsAtCompileTime != 1);
}  // namespace detail

/// Multiplies a matrix of numbers by a matrix of variables or duals, or the reverse. Eigen's blocked product of mixed scalars
/// compiles only for processors with fused multiply-add.
template <class A, class B, std::enable_if_t<detail::are_mixed_factors<A, B>, int> = 0>
auto operator*(const A& a, const B& b) {
  return a.lazyProduct(b).eval();
}

// Eigen's Householder reflections call sqrt where Eigen's template and agrad's are visible; these overloads match better.
inline applied<sqrt_rule, var> sqrt(const var& x) { return apply<sqrt_rule>(x); }
template <int N>
expression<N> sqrt(const expression<N>& x) {
  return apply<sqrt_rule>(x);
}
template <class T, int K>
dual<T, K> sqrt(const dual<T, K>& x) {
  return apply<sqrt_rule>(x);
}

}  // namespace agrad
