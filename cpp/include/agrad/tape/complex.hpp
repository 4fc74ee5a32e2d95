// Complex: std::complex beside real scalars: numbers, variables, duals and expressions.
//
//     std::complex<agrad::var> z = 1 + w / 2 - std::complex<double>(0, 1) / (x * y);      // w a std::complex<agrad::var>
//
// <complex> has operators for a complex number and a real one of its own type, rules/complex.hpp those for two complex numbers
// and products with scalars that are stored. Here is the rest. Argument-dependent lookup finds the operators.
#pragma once

#include <complex>
#include <type_traits>

#include <agrad/rules/complex.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

template <class X>
inline constexpr bool is_scalar = rank_of<X> > 0 && rank_of<X> < array_rank;  // or an expression of scalars
/// Whether std::complex<A> and a real X have no operator in <complex>; whether they have no product in rules/complex.hpp.
template <class A, class X>
inline constexpr bool are_beside = is_stored_scalar<A> ? !std::is_same_v<A, X> && (is_scalar<X> || std::is_arithmetic_v<X>)
                                                       : std::is_same_v<A, double> && is_scalar<X>;
template <class A, class X>
inline constexpr bool are_factors = is_scalar<X> && (is_stored_scalar<A> || !is_stored_scalar<X>);

/// The scalar of the result; drops out of overload resolution where there is another operator.
template <class A, class X>
using sum_t = typename std::enable_if_t<are_beside<A, X>, scalar_in_any<A, X>>::type;
template <class A, class X>
using product_t = typename std::enable_if_t<are_beside<A, X> && are_factors<A, X>, scalar_in_any<A, X>>::type;

}  // namespace detail

template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator+(const std::complex<A>& a, const X& b) {
  return {a.real() + b, a.imag()};
}
template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator+(const X& a, const std::complex<A>& b) {
  return b + a;
}
template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator-(const std::complex<A>& a, const X& b) {
  return {a.real() - b, a.imag()};
}
template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator-(const X& a, const std::complex<A>& b) {
  return {a - b.real(), -b.imag()};
}
template <class A, class X, class T = detail::product_t<A, X>>
std::complex<T> operator*(const std::complex<A>& a, const X& b) {
  return {a.real() * b, a.imag() * b};
}
template <class A, class X, class T = detail::product_t<A, X>>
std::complex<T> operator*(const X& a, const std::complex<A>& b) {
  return b * a;
}
template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator/(const std::complex<A>& a, const X& b) {
  return {a.real() / b, a.imag() / b};
}
template <class A, class X, class T = detail::sum_t<A, X>>
std::complex<T> operator/(const X& a, const std::complex<A>& b) {
  return (A(1) / b) * a;
}

}  // namespace agrad
