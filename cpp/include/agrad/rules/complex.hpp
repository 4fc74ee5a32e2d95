// Complex: std::complex of numbers beside std::complex of variables or duals.
//
//     std::complex<agrad::var> z = std::complex<double>(0, 1) * w;      // w a std::complex<agrad::var>
//
// <complex> has operators for two of one type. Here are also products of a number and a complex of agrad's scalars, and of a
// complex of numbers and a scalar of agrad's. Argument-dependent lookup finds them.
#pragma once

#include <complex>
#include <type_traits>

#include <agrad/rules/arithmetic.hpp>

namespace agrad {

namespace detail {

/// Whether T is a var or a dual, which std::complex holds.
template <class T>
inline constexpr bool is_stored_scalar = rank_of<T> > 0 && rank_of<T> < array_rank&& std::is_same_v<stored_t<T>, T>;
template <class T>
using complex_of = std::enable_if_t<is_stored_scalar<T>, std::complex<T>>;
template <class T>
std::complex<T> complex_constant(const std::complex<double>& z) {
  return {T(z.real()), T(z.imag())};
}

}  // namespace detail

template <class T>
detail::complex_of<T> operator+(const std::complex<double>& a, const std::complex<T>& b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <class T>
detail::complex_of<T> operator+(const std::complex<T>& a, const std::complex<double>& b) {
  return b + a;
}
template <class T>
detail::complex_of<T> operator-(const std::complex<double>& a, const std::complex<T>& b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
template <class T>
detail::complex_of<T> operator-(const std::complex<T>& a, const std::complex<double>& b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
template <class T>
detail::complex_of<T> operator*(const std::complex<double>& a, const std::complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
detail::complex_of<T> operator*(const std::complex<T>& a, const std::complex<double>& b) {
  return b * a;
}
template <class T>
detail::complex_of<T> operator/(const std::complex<T>& a, const std::complex<double>& b) {
  return (1.0 / b) * a;
}
template <class T>
detail::complex_of<T> operator/(const std::complex<double>& a, const std::complex<T>& b) {
  return detail::complex_constant<T>(a) / b;
}

template <class T>
detail::complex_of<T> operator*(const std::complex<double>& a, const T& b) {
  return {a.real() * b, a.imag() * b};
}
template <class T>
detail::complex_of<T> operator*(const T& a, const std::complex<double>& b) {
  return b * a;
}
template <class T>
detail::complex_of<T> operator*(double a, const std::complex<T>& b) {
  return {a * b.real(), a * b.imag()};
}
template <class T>
detail::complex_of<T> operator*(const std::complex<T>& a, double b) {
  return b * a;
}

}  // namespace agrad
