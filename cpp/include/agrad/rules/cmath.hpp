// The rest of <cmath> for agrad's scalars: functions made of rules, and functions of the value alone.
//
// hypot of three arguments, modf, frexp, remquo and scalbn are compositions of rules. Classification (isnan and similar
// functions) and conversion to integers (lround and similar functions) have no derivative and read the number behind a
// variable, an expression or a dual. logb, ilogb and nextafter are left out: they have jumps, or are not functions of reals.
#pragma once

#include <cmath>

#include <agrad/rules/piecewise.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

namespace detail {
// An operand for agrad's functions: <cmath> would handle integers alone.
template <class X>
using real_operand = std::conditional_t<std::is_arithmetic_v<X>, double, X>;
}  // namespace detail

// ---- made of rules -----------------------------------------------------------------------------------------------------

/// Returns sqrt(x^2 + y^2 + z^2) without overflow; the derivative at (0, 0, 0) is defined as 0.
template <class X, class Y, class Z, class = detail::if_scalar_operands<X, Y, Z>>
auto hypot(const X& x, const Y& y, const Z& z) {
  using real_x = detail::real_operand<X>;
  using real_y = detail::real_operand<Y>;
  return apply<hypot_rule>(apply<hypot_rule>(static_cast<const real_x&>(x), static_cast<const real_y&>(y)), z);
}

/// Returns x times 2^exponent: scalbn and scalbln equal ldexp because the radix is 2.
template <class X, class = detail::if_scalar_operands<X>>
auto scalbn(const X& x, int exponent) {
  return ldexp(x, exponent);
}
template <class X, class = detail::if_scalar_operands<X>>
auto scalbln(const X& x, long exponent) {
  return apply<ldexp_rule>(x, static_cast<double>(exponent));
}

/// Returns the fraction of x, with the sign of x and derivative 1; `*whole` becomes the whole part of x.
template <class X, class = detail::if_scalar_operands<X>>
detail::stored_t<X> modf(const X& x, detail::stored_t<X>* whole) {
  const detail::stored_t<X> given = x;
  *whole = trunc(given);
  if (std::isinf(detail::number_of(given))) return copysign(0.0, given);
  return fmod(given, 1.0);
}

/// Returns the significand of x, of absolute value in [1/2, 1) or 0; `*exponent` becomes e in x = significand 2^e.
template <class X, class = detail::if_scalar_operands<X>>
auto frexp(const X& x, int* exponent) {
  *exponent = 0;
  std::frexp(detail::number_of(x), exponent);
  return ldexp(x, -*exponent);
}

/// Returns remainder(x, y); `*quotient` becomes the last bits, with sign, of the whole number nearest to x / y.
template <class X, class Y, class = detail::if_scalar_operands<X, Y>>
auto remquo(const X& x, const Y& y, int* quotient) {
  *quotient = 0;
  std::remquo(detail::number_of(x), detail::number_of(y), quotient);
  return remainder(x, y);
}

// ---- by value alone ----------------------------------------------------------------------------------------------------

template <class X, class = detail::if_scalar_operands<X>>
bool isfinite(const X& x) {
  return std::isfinite(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
bool isinf(const X& x) {
  return std::isinf(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
bool isnan(const X& x) {
  return std::isnan(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
bool isnormal(const X& x) {
  return std::isnormal(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
bool signbit(const X& x) {
  return std::signbit(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
int fpclassify(const X& x) {
  return std::fpclassify(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
long lround(const X& x) {
  return std::lround(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
long long llround(const X& x) {
  return std::llround(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
long lrint(const X& x) {
  return std::lrint(detail::number_of(x));
}
template <class X, class = detail::if_scalar_operands<X>>
long long llrint(const X& x) {
  return std::llrint(detail::number_of(x));
}

}  // namespace agrad
