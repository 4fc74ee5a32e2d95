// Gamma tails, eight at once: the logarithms of the distribution functions of the gamma distribution and of its relatives.
//
// Of the two tails one is computed directly, as exp(log_power) times a factor of rules/gamma/gamma_factors.hpp: the lower tail
// up to a little above the shape, beyond it the upper tail. The other tail is 1 minus this one, which is at most 0.95.
// Read first: probability/octets.hpp.
#pragma once

#include <agrad/probability/octets.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/gamma_factors.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>
#include <agrad/rules/gamma/rests.hpp>

namespace agrad::detail {

/// The logarithm of a tail, and its derivatives with respect to the shape and to the argument.
struct log_gamma_tail_octet {
  octet value, of_shape, of_argument;
};

/// What depends on the shape alone: the rest of log(gamma(1 + shape)), and its derivative.
template <class S>
std::array<S, 2> prepared_shape(const S& shape) {
  return {apply<factorial_rest_rule>(shape), apply<digamma_rule>(shape + 1.0) - log(shape)};
}

/// Returns for which lanes the factors take few terms, and the tails lose no digits.
AGRAD_ALWAYS_INLINE octet_condition suits_gamma_tails(const octet& shape, const octet& x) {
  return shape > 0.25 && shape < 64.0 && x > 1e-50 && x < 1e4;
}

/// Returns the logarithm of the upper or the lower tail.
template <bool is_upper>
AGRAD_ALWAYS_INLINE log_gamma_tail_octet log_gamma_tail_at(const std::array<octet, 2>& prepared, const octet& a,
                                                           const octet& x) {
  const octet log_ratio = log(x / a), excess = x - a, log_power = a * log_ratio - excess - prepared[0];
  const octet of_power = log_ratio - prepared[1];
  const octet_condition is_below = excess < 0.75;
  octet factor = 1.0, of_shape, of_argument;
  if (!all_hold(excess >= 0.75)) {  // lanes above are given an argument for which the series is short
    const gamma_factor<octet> sum = lower_gamma_sum(a, chosen(is_below, x, 0.0));
    factor = sum.value;
    of_shape = sum.slope;
    of_argument = a / (x * sum.value);
  }
  if (!all_hold(is_below)) {
    const gamma_factor<octet> fraction = upper_gamma_fraction(a, chosen(is_below, 2.0 * a + 100.0, x));
    factor = chosen(is_below, factor, a / fraction.value);
    of_shape = chosen(is_below, of_shape, 1.0 / a - fraction.slope);
    of_argument = chosen(is_below, of_argument, -fraction.value / x);
  }
  of_shape = of_shape + of_power;
  const octet direct = log_power + log(factor), tail = exp(direct), odds = tail / (1.0 - tail);
  const octet other = log1p(-tail);
  const auto of = [&](const octet& if_below, const octet& if_above) {
    return is_upper ? chosen(is_below, if_above, if_below) : chosen(is_below, if_below, if_above);
  };
  return {of(direct, other), of_shape * of(1.0, -odds), of_argument * of(1.0, -odds)};
}

/// Formulas for a shape and an argument b y or b / y of y and b, as the gamma and the inverse gamma distribution have.
template <bool is_upper, class Argument>
struct gamma_tail_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 2> prepare(const parts&, const each<S>& x) {
    return prepared_shape(x[1]);
  }
  static auto suits(const each<>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[2], 1e-50, 1e50) && suits_gamma_tails(x[1], Argument::of(x[2], x[0]));
  }
  static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
    const log_gamma_tail_octet tail = log_gamma_tail_at<is_upper>(prepared, x[1], Argument::of(x[2], x[0]));
    slope[0] = tail.of_argument * Argument::slope(x[2], x[0]);
    slope[1] = tail.of_shape;
    slope[2] = tail.of_argument * Argument::factor(x[0]);
    return tail.value;
  }
};

/// Formulas for y and nu with the shape nu / 2 and b = 1/2, as the chi-square and the inverse chi-square distribution have.
template <bool is_upper, class Argument>
struct chi_square_tail_octets : octet_formulas<2> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 2> prepare(const parts&, const each<S>& x) {
    return prepared_shape(S(0.5 * x[1]));
  }
  static auto suits(const each<>& x) {
    return within(x[0], 1e-50, 1e50) && suits_gamma_tails(0.5 * x[1], Argument::of(octet(0.5), x[0]));
  }
  static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet half = 0.5;
    const log_gamma_tail_octet tail = log_gamma_tail_at<is_upper>(prepared, 0.5 * x[1], Argument::of(half, x[0]));
    slope[0] = tail.of_argument * Argument::slope(half, x[0]);
    slope[1] = 0.5 * tail.of_shape;
    return tail.value;
  }
};

/// Formulas for y, nu and s with the shape nu / 2 and the argument nu s^2 / (2 y).
template <bool is_upper>
struct square_over_tail_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 2> prepare(const parts&, const each<S>& x) {
    return prepared_shape(S(0.5 * x[1]));
  }
  static auto suits(const each<>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[2], 1e-50, 1e50) &&
           suits_gamma_tails(0.5 * x[1], 0.5 * x[1] * (x[2] * x[2]) / x[0]);
  }
  static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet ratio = x[2] * x[2] / x[0], shape = 0.5 * x[1];
    const log_gamma_tail_octet tail = log_gamma_tail_at<is_upper>(prepared, shape, shape * ratio);
    slope[0] = -tail.of_argument * shape * ratio / x[0];
    slope[1] = 0.5 * (tail.of_shape + tail.of_argument * ratio);
    slope[2] = tail.of_argument * x[1] * x[2] / x[0];
    return tail.value;
  }
};

}  // namespace agrad::detail
