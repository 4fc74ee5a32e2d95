// Powers: parts that the distributions of powers share (Weibull, Frechet, Rayleigh, Pareto, log-logistic).
//
// Their functions depend on z = shape log(y / scale), which keeps its digits for any shape and near y = scale.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/quotients.hpp>
#include <agrad/rules/rests.hpp>

namespace agrad::detail {

/// log(y / scale).
template <class Y, class S>
auto log_scaled(const Y& y, const S& scale) {
  return apply<log_ratio_rule>(y, scale);
}

/// exp(x) - 1 - x.
template <class X>
auto exp_rest_of(const X& x) {
  return apply<exp_rest_rule>(x);
}

/// log(1 - exp(-exp(z))): for small exp(z), z is added to a small rest, so that derivatives do not cancel.
template <class T>
T log1m_exp_exp(const T& z) {
  const T w = exp(z);
  return either<T>(
      z < 0, [&] { return T(z + log(exprel(-w))); }, [&] { return log1m_exp(T(-w)); });
}

/// log(1 - exp(-a x)) for positive a and x, the logarithm of x being given.
template <class T, class A, class X, class L>
T log1m_exp_product(const A& a, const X& x, const L& log_x) {
  const T product = a * x;
  return either<T>(
      product < 1, [&] { return T(log(a) + log_x + log(exprel(-product))); }, [&] { return log1m_exp(T(-product)); });
}

}  // namespace agrad::detail
