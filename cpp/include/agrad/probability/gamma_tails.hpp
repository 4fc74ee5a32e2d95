// Gamma tails: the distribution functions of the gamma distribution and its relatives.
#pragma once

#include <agrad/probability/gamma_parts.hpp>
#include <agrad/rules/log_gammainc.hpp>

namespace agrad::detail {

/// gammainc or gammaincc of a shape and b y; `at_infinity` is the value where `is_infinite` holds.
template <bool is_upper, class T, class C, class A, class B, class Y>
T gamma_tail_of(const C& is_infinite, double at_infinity, const A& shape, const B& b, const Y& y) {
  return either<T>(
      is_infinite, [&] { return T(at_infinity); }, [&] { return T(apply<gamma_tail_of_product_rule<is_upper>>(shape, b, y)); });
}

/// The logarithm of gammainc or gammaincc of a shape and b y.
template <bool is_upper, class T, class C, class A, class B, class Y>
T log_gamma_tail_of(const C& is_infinite, double at_infinity, const A& shape, const B& b, const Y& y) {
  return either<T>(
      is_infinite, [&] { return T(at_infinity); },
      [&] { return T(apply<log_gamma_tail_of_product_rule<is_upper>>(shape, b, y)); });
}

}  // namespace agrad::detail
