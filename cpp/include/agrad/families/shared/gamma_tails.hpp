// Gamma tails: the distribution functions of the gamma distribution and its relatives.
//
// They are gammainc and gammaincc of a shape and an argument of b and y. Of a small argument x the lower tail is
// x^a / gamma(1 + a) times 1 - a x / (1 + a); its logarithm is finite where x underflows.
#pragma once

#include <agrad/families/shared/gamma_parts.hpp>
#include <agrad/families/shared/gamma_tail_octets.hpp>
#include <agrad/rules/gamma/log_gammainc.hpp>
#include <agrad/rules/links.hpp>

namespace agrad::detail {

/// Returns the logarithm of the lower tail of a small argument.
template <class T, class A, class Of>
T log_lower_tail_of_small(const A& shape, const Of& argument) {
  return shape * argument.log_value() - apply<lgamma1p_rule>(shape) - shape / (1.0 + shape) * argument.value();
}

/// Returns gammainc or gammaincc of a shape and an argument; `at_infinity` is the value where `is_infinite` holds.
template <bool is_upper, class T, class C, class A, class Of>
T gamma_tail_of(const C& is_infinite, double at_infinity, const A& shape, const Of& argument) {
  return either<T>(
      is_infinite, [&] { return T(at_infinity); },  //
      argument.value() < smallest_argument,
      [&] {
        const T log_lower = log_lower_tail_of_small<T>(shape, argument);
        return is_upper ? T(-expm1(log_lower)) : T(exp(log_lower));
      },
      [&] { return T(apply<gamma_tail_of_rule<is_upper, typename Of::argument>>(shape, argument.b, argument.y)); });
}

/// Returns the logarithm of gammainc or gammaincc of a shape and an argument.
template <bool is_upper, class T, class C, class A, class Of>
T log_gamma_tail_of(const C& is_infinite, double at_infinity, const A& shape, const Of& argument) {
  return either<T>(
      is_infinite, [&] { return T(at_infinity); },  //
      argument.value() < 1e-20,
      [&] {
        const T log_lower = log_lower_tail_of_small<T>(shape, argument);
        return is_upper ? T(log1m_exp(log_lower)) : log_lower;
      },
      [&] { return T(apply<log_gamma_tail_of_rule<is_upper, typename Of::argument>>(shape, argument.b, argument.y)); });
}

}  // namespace agrad::detail
