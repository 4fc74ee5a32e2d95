// Powers: parts that the distributions of powers share (Weibull, Frechet, Rayleigh, Pareto, log-logistic).
//
// Their functions depend on z = shape log(y / scale), which keeps its digits for any shape and near y = scale.
#pragma once

#include <agrad/families/shared/hazard_octets.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/quotients.hpp>
#include <agrad/rules/gamma/rests.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/power.hpp>

namespace agrad::detail {

/// Formulas for octets of y, a shape and a scale. Prepared are the inverses of scale and shape, and their logarithms.
struct power_octets : octet_formulas<3> {
  template <class S>
  static std::array<S, 4> prepare(const parts& included, const each<S>& x) {
    return {1.0 / x[2], 1.0 / x[1], included.of({1}) ? S(log(x[1])) : S(0.0), log(x[2])};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-6 * x[2], 1e6 * x[2]) && within(x[1], 0.1, 40) && within(x[2], 1e-50, 1e50);
  }
};

/// The power of y / scale with the shape, or with its negative, as a hazard.
template <int Sign>
struct power_hazard : power_octets {
  template <class S>
  static S hazard(const std::array<S, 4>& prepared, const each<S>& x, each<S>& slope) {
    const S log_y = log_inside(x[0] * prepared[0]), shape = Sign * x[1], power = exp_inside(shape * log_y);
    slope[0] = shape * power / x[0];
    slope[1] = Sign * log_y * power;
    slope[2] = -shape * power * prepared[0];
    return power;
  }
};

/// Returns log(y / scale).
template <class Y, class S>
auto log_scaled(const Y& y, const S& scale) {
  return apply<log_ratio_rule>(y, scale);
}

/// Returns whether a small power of a ratio, with z as its logarithm, is written as such: for shapes near 1, second derivatives
/// of functions of z cancel, because small powers are nearly linear. Ratios that may have lost digits are left to z.
template <class R, class A, class Z>
auto is_plain_power(const R& ratio, const A& shape, const Z& z) {
  return z < -1 && shape > 0.5 && shape < 2 && ratio > smallest_argument;
}

/// Returns (y / scale)^shape.
template <class T, class Y, class A, class S>
T hazard_of(const Y& y, const A& shape, const S& scale) {
  const T z = shape * log_scaled(y, scale), ratio = y / scale;
  return either<T>(
      is_plain_power(ratio, shape, z), [&] { return T(pow(ratio, shape)); }, [&] { return T(exp(z)); });
}

/// Returns exp(x) - 1 - x.
template <class X>
auto exp_rest_of(const X& x) {
  return apply<exp_rest_rule>(x);
}

/// Returns log(1 - exp(-exp(z))): for small exp(z), z is added to a small rest, so that derivatives do not cancel.
template <class T>
T log1m_exp_exp(const T& z) {
  const T w = exp(z);
  return either<T>(
      z < 0, [&] { return T(z + log(exprel(-w))); }, [&] { return log1m_exp(T(-w)); });
}

/// Returns log(1 - exp(-a x)) for positive a and x, the logarithm of x being given.
template <class T, class A, class X, class L>
T log1m_exp_product(const A& a, const X& x, const L& log_x) {
  const T product = a * x;
  return either<T>(
      product < 1, [&] { return T(log(a) + log_x + log(exprel(-product))); }, [&] { return log1m_exp(T(-product)); });
}

}  // namespace agrad::detail
