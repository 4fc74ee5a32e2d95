// Complex: pairs of real and imaginary parts, and their Fourier transforms, under Stan's names.
//
//     const auto power = [](const auto& x) { return agrad::sum(agrad::fft(x).real.array().square()); };   // of any scalar
//
// std::complex is specified for float, double and long double alone, so a complex number or matrix is two real ones here:
// scalars, Eigen matrices or matrix<var>. Read next: rules/fourier/rule.hpp, the derivative.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/cmath.hpp>
#include <agrad/rules/fourier/rule.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad {

/// A complex scalar or matrix: real and imaginary parts of the same type and shape.
template <class X>
struct complex_parts {
  X real, imag;
};

template <class X>
complex_parts<X> to_complex(X real, X imag) {
  return {std::move(real), std::move(imag)};
}
/// Does the same for a plain and a variable part; the result's type is that of the part to which the other one converts.
template <class X, class Y, class = std::enable_if_t<!std::is_same_v<X, Y>>>
auto to_complex(const X& real, const Y& imag) {
  using both = std::conditional_t<std::is_same_v<promoted_t<X>, promoted_t<X, Y>>, X, Y>;
  if constexpr (detail::is_eigen<both>)
    return complex_parts<both>{real.template cast<typename both::Scalar>(), imag.template cast<typename both::Scalar>()};
  else
    return complex_parts<both>{both(real), both(imag)};
}
template <class X>
const X& get_real(const complex_parts<X>& z) {
  return z.real;
}
template <class X>
const X& get_imag(const complex_parts<X>& z) {
  return z.imag;
}
template <class X>
complex_parts<X> conj(const complex_parts<X>& z) {
  return {z.real, X(-z.imag)};
}

// ---- of scalars, and of each entry of matrices ---------------------------------------------------------------------------

/// Returns |z|^2, as std::norm.
template <class T>
T norm(const complex_parts<T>& z) {
  return T(square(z.real) + square(z.imag));
}
/// Returns |z|, without overflow; at 0 without derivatives.
template <class T>
T abs(const complex_parts<T>& z) {
  return T(hypot(z.real, z.imag));
}
/// Returns the angle of z in [-pi, pi]; at 0 without derivatives.
template <class T>
T arg(const complex_parts<T>& z) {
  return T(atan2(z.imag, z.real));
}
/// Returns the number with absolute value r and angle theta.
template <class T>
complex_parts<T> polar(const T& r, const T& theta) {
  return {T(apply<multiply_rule>(r, cos(theta))), T(apply<multiply_rule>(r, sin(theta)))};
}
/// Returns z if z is finite or nan, else the only infinity of the projected plane, as std::proj; of scalars alone.
template <class T>
complex_parts<T> proj(const complex_parts<T>& z) {
  if (!std::isinf(detail::number_of(z.real)) && !std::isinf(detail::number_of(z.imag))) return z;
  return {T(std::numeric_limits<double>::infinity()), T(std::copysign(0.0, detail::number_of(z.imag)))};
}

// ---- Fourier transforms --------------------------------------------------------------------------------------------------

namespace linalg {

/// Transforms of the columns of re + i im, of any algebra; the result has the real parts, then the imaginary parts.
template <class Re, class Im>
auto transformed_columns(const Re& re, const Im& im) {
  return linalg::apply(fourier_rule{}, beside(re, im));
}
template <class M>
auto first_half(const M& z) {
  return columns(z, 0, z.cols() / 2);
}
template <class M>
auto second_half(const M& z) {
  return columns(z, z.cols() / 2, z.cols() / 2);
}
/// Transforms of the columns, then of the rows.
template <class Re, class Im>
auto transformed_plane(const Re& re, const Im& im) {
  const auto down = transformed_columns(re, im);
  const auto across = transformed_columns(linalg::transpose(first_half(down)), linalg::transpose(second_half(down)));
  return beside(linalg::transpose(first_half(across)), linalg::transpose(second_half(across)));
}
template <class X, class M>
complex_parts<decltype(lower<lifting<X>::cols, X>(std::declval<M>()))> lower_parts(const M& re, const M& im) {
  return {lower<lifting<X>::cols, X>(re), lower<lifting<X>::cols, X>(im)};
}
/// Does the same for a result with both parts; `is_inverse`: parts were exchanged before.
template <class X, class M>
auto lower_halves(const M& z, bool is_inverse, Index count) {
  const double factor = is_inverse && count > 0 ? 1 / static_cast<double>(count) : 1;
  const auto first = times(factor, first_half(z)), second = times(factor, second_half(z));
  return is_inverse ? lower_parts<X>(second, first) : lower_parts<X>(first, second);
}

}  // namespace linalg

/// Returns the discrete Fourier transform sum_j exp(-2 pi i f j / n) z_j of a vector of n numbers, or of each column of a
/// matrix.
template <class X, class = linalg::if_matrices<X>>
auto fft(const complex_parts<X>& z) {
  return linalg::lower_halves<X>(linalg::transformed_columns(linalg::lift(z.real), linalg::lift(z.imag)), false, z.real.rows());
}
/// Does the same for real numbers.
template <class X, class = linalg::if_matrices<X>>
auto fft(const X& x) {
  const linalg::MatrixXd zero = linalg::MatrixXd::Zero(x.rows(), x.cols());
  return linalg::lower_halves<X>(linalg::transformed_columns(linalg::lift(x), zero), false, x.rows());
}
/// Returns the inverse of `fft`, with the factor 1 / n.
template <class X, class = linalg::if_matrices<X>>
auto inv_fft(const complex_parts<X>& z) {
  return linalg::lower_halves<X>(linalg::transformed_columns(linalg::lift(z.imag), linalg::lift(z.real)), true, z.real.rows());
}
/// Returns the Fourier transform of a matrix in both dimensions.
template <class X, class = linalg::if_matrices<X>>
auto fft2(const complex_parts<X>& z) {
  return linalg::lower_halves<X>(linalg::transformed_plane(linalg::lift(z.real), linalg::lift(z.imag)), false, z.real.size());
}
/// Returns the inverse of `fft2`, with one over the number of entries as factor.
template <class X, class = linalg::if_matrices<X>>
auto inv_fft2(const complex_parts<X>& z) {
  return linalg::lower_halves<X>(linalg::transformed_plane(linalg::lift(z.imag), linalg::lift(z.real)), true, z.real.size());
}

}  // namespace agrad
