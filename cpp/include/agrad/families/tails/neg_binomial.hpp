// The tails of the negative binomial distribution of a mean and a precision as internal rules, with two orders of derivatives.
//
// The functions of doubles are in families/tails/neg_binomial_tail.hpp.
#pragma once

#include <agrad/families/tails/neg_binomial_tail.hpp>
#include <agrad/rules/gamma/gamma.hpp>

namespace agrad::detail {

/// Derivative (i, j) with respect to mean and precision of the probability of more than n, or of at most n, or of its
/// logarithm; orders above 2 are nan. n is a whole number.
template <bool is_above, bool is_log, int i, int j>
struct neg_binomial_tail_rule : rule<3>, data_arguments<0> {
  static constexpr auto letters = with_digits<i, j>(is_log ? (is_above ? "neg_binomial_log_above" : "neg_binomial_log_up_to")
                                                           : (is_above ? "neg_binomial_above" : "neg_binomial_up_to"));
  static constexpr std::string_view name = letters.data();
  static double value(double n, double mu, double phi) {
    return neg_binomial_tail_derivative(n, mu, phi, is_above, is_log, i, j);
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double n, double mu,
                                 double phi) {
    if (i + j == 0 && n != 0 && has_short_sums(n, mu, phi)) {
      const neg_binomial_tail<double> tail = short_tail(n, mu, phi, is_above, is_log);
      slopes = {0, tail.of_mean, tail.of_precision};
      return tail.value;
    }
    const auto of = [&](int of_mean, int of_precision) {
      if (i + j == 2) return quiet_nan;
      return neg_binomial_tail_derivative(n, mu, phi, is_above, is_log, i + of_mean, j + of_precision);
    };
    slopes = {0, wanted[1] ? of(1, 0) : 0, wanted[2] ? of(0, 1) : 0};
    return value(n, mu, phi);
  }
  using data_arguments::derivative;
  template <int I, class T>
  static T derivative(wrt<I>, const T& n, const T& mu, const T& phi, const T&) {
    if constexpr (i + j == 2)
      return T(quiet_nan);
    else
      return apply<neg_binomial_tail_rule<is_above, is_log, i + (I == 1), j + (I == 2)>>(n, mu, phi);
  }
};

}  // namespace agrad::detail
