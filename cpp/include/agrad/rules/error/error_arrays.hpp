// The error functions of Eigen arrays: the formulas of rules/error/scaled_error.hpp without branches, for packets.
//
// Errors in units in the last place, as measured: erf 2.3, erfc 5.2, ndtr 6.5 and log_ndtr 7 (7.8 and 7.6 by the functions of
// numbers). Read next: rules/error/error.hpp and rules/error/probit.hpp, the rules that use these functions.
#pragma once

#include <agrad/base/lanes.hpp>
#include <agrad/rules/error/scaled_error.hpp>
#include <agrad/rules/polynomial.hpp>

namespace agrad::detail {

/// Returns exp(factor x^2) for a negative factor and |x| below 2^6: x is the sum of a multiple of 2^-20, whose square is exact,
/// and a small rest.
template <class A>
typename A::PlainObject exp_of_squares(const A& x, double factor) {
  using array = typename A::PlainObject;
  constexpr double shift = 6442450944;  // 3/2 2^32: a sum with it is a multiple of 2^-20
  const array large = (x + shift) - shift, rest = factor * (x - large) * (x + large);
  return (factor * large.square()).exp() * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6))));
}

/// Returns erfcx of x >= 0.
template <class A>
typename A::PlainObject erfcx_of(const A& x) {
  using array = typename A::PlainObject;
  return polynomial(erfcx_series, array((x - 3.75) / (x + 3.75))) / (1.0 + 2.0 * x);
}

/// Returns exp(x^2) times the integral of erfc from x to infinity, for x >= 0.
template <class A>
typename A::PlainObject scaled_ierfc_of(const A& x) {
  using array = typename A::PlainObject;
  return polynomial(scaled_ierfc_series, array((x - 3.75) / (x + 3.75))) / (1.0 + 2.0 * x).square();
}

/// Returns erf(x) for |x| <= 1: x times a polynomial of x^2, a Chebyshev series fitted to 60 digits with an error of 2e-17.
template <class A>
typename A::PlainObject central_erf(const A& x) {
  using array = typename A::PlainObject;
  constexpr double of_squares[] = {
      1.1283791670955126,     -0.3761263890318375,     0.11283791670954879,     -0.026866170645076792,  0.0052239776248180145,
      -0.000854832698083379,  0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06, -1.6350312701054695e-07,
      1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11};
  return x * polynomial(of_squares, array(x.square()));
}

/// Returns erfc of |x|.
template <class A>
typename A::PlainObject erfc_of_size(const A& x) {
  using array = typename A::PlainObject;
  const array size = x.abs();
  return erfcx_of(size) * exp_of_squares(size, -1);
}

template <class A>
typename A::PlainObject erf_of(const A& x) {
  using array = typename A::PlainObject;
  const array tail = 1.0 - erfc_of_size(x);
  const array outer = chosen_below<array>(x, 0.0, -tail, tail);
  return chosen_below<array>(x.abs(), 1.0, central_erf(x), outer);
}

template <class A>
typename A::PlainObject erfc_of(const A& x) {
  using array = typename A::PlainObject;
  const array tail = erfc_of_size(x), central = 1.0 - central_erf(x);
  const array outer = chosen_below<array>(x, 0.0, 2.0 - tail, tail);
  return chosen_below<array>(x.abs(), 0.5, central, outer);
}

/// Returns half of erfcx of |x| / sqrt(2), which times exp(-x^2 / 2) is ndtr of -|x|.
template <class A>
typename A::PlainObject scaled_ndtr_of_size(const A& x) {
  return 0.5 * erfcx_of(typename A::PlainObject(x.abs() * inv_sqrt_2));
}

template <class A>
typename A::PlainObject ndtr_of(const A& x) {
  using array = typename A::PlainObject;
  const array tail = scaled_ndtr_of_size(x) * exp_of_squares(x, -0.5);
  return chosen_below<array>(x, 0.0, tail, 1.0 - tail);
}

/// Returns the logarithm of ndtr, and its slope. Beyond 0 the logarithm of the rounded difference is corrected by what the
/// difference has lost.
template <class A>
typename A::PlainObject log_ndtr_of(const A& x, typename A::PlainObject& slope) {
  using array = typename A::PlainObject;
  const array scaled = scaled_ndtr_of_size(x), bell = exp_of_squares(x, -0.5), tail = scaled * bell, rest = 1.0 - tail;
  const array of = chosen_below<array>(x, 0.0, scaled, rest), inverse = of.inverse(), ones = array::Ones(x.rows(), x.cols());
  slope = inv_sqrt_two_pi * chosen_below<array>(x, 0.0, ones, bell) * inverse;
  return of.log() - chosen_below<array>(x, 0.0, 0.5 * x.square(), ((rest - 1.0) + tail) * inverse);
}

}  // namespace agrad::detail
