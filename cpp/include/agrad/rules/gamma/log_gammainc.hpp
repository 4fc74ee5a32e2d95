// Logarithms of the regularised incomplete gamma functions, finite wherever the exact value is, with derivatives of any order.
//
// The tails are also given as functions of b and y, where the second argument is b y or b / y: then mixed derivatives of b and
// y do not cancel.
#pragma once

#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gammainc.hpp>
#include <agrad/rules/gamma/log_incomplete_gamma.hpp>
#include <agrad/rules/gamma/rests.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad {

namespace detail {

/// The factor of the lower tail, of orders j of a and k of x.
struct lower_gamma_factor_rule : gamma_order_rule<lower_gamma_factor_rule> {
  static constexpr std::string_view name = "lower_gamma_factor";
  using gamma_order_rule<lower_gamma_factor_rule>::derivative;
  static double value(double order, double a, double x) { return lower_gamma_factor(order, a, x); }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& a, const T& x, const T&) {
    return apply<lower_gamma_factor_rule>(order + static_cast<double>(orders_of_a), a, x);
  }
};

/// The factor of the upper tail with powers j and k. The derivative of v with respect to x is -w / x, that of w is (w^2 - w) /
/// x.
struct upper_gamma_factor_rule : gamma_order_rule<upper_gamma_factor_rule> {
  static constexpr std::string_view name = "upper_gamma_factor";
  using gamma_order_rule<upper_gamma_factor_rule>::derivative;
  static double value(double order, double a, double x) { return upper_gamma_factor(order, a, x); }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& a, const T& x, const T& value) {
    constexpr double step = orders_of_a;
    const T k = floor(order / step), j = order - step * k;
    const T sum = (a - 1.0 - k) * apply<upper_gamma_factor_rule>(order + step, a, x);
    return either<T>(
        order == 0, [&] { return T(-sum / x); },
        [&] { return T(-(sum + k * value + j * apply<upper_gamma_factor_rule>(order + step - 1.0, a, x)) / x); });
  }
};

/// x^a e^-x / gamma(a), of an order of a.
struct gamma_power_rule : gamma_order_rule<gamma_power_rule> {
  static constexpr std::string_view name = "gamma_power";
  using gamma_order_rule<gamma_power_rule>::derivative;
  static double value(double order, double a, double x) {
    const int n = static_cast<int>(order);
    return a > 0 && x > 0 && x < infinity ? times_a(poisson_terms(a, x, n), a).order[n] : 0;
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& a, const T& x, const T& value) {
    const T slope = (a - x) / x * value;
    return either<T>(
        order == 0, [&] { return slope; }, [&] { return T(slope + order / x * apply<gamma_power_rule>(order - 1.0, a, x)); });
  }
};

/// The derivatives of the logarithm of a tail.
template <bool is_upper>
struct log_gamma_slopes {
  /// Returns whether the logarithm of the tail is the sum of the logarithms of its parts, as for the smaller tail.
  template <class T>
  static auto is_small(const T& x, const T& value) {
    if constexpr (is_upper)
      return value < -0.7;
    else
      return value < -0.7 || x < 1;
  }
  /// Returns the derivative of the logarithm of the factor's power by the shape: log(x) - digamma(a), for the lower tail
  /// log(x) - digamma(1 + a).
  template <class T>
  static T of_power(const T& a, const T& x) {
    const auto for_upper = [&] { return T(apply<log_ratio_rule>(x, a) - apply<lgamma_rest_rule>(1.0, a)); };
    if constexpr (is_upper)
      return for_upper();
    else
      return either<T>(
          a < 10, [&] { return T(log(x) - digamma(1.0 + a)); }, [&] { return T(for_upper() - 1.0 / a); });
  }
  template <class T>
  static T of_shape(const T& a, const T& x, const T& value) {
    const auto of_factor = [&] {
      using factor = std::conditional_t<is_upper, upper_gamma_factor_rule, lower_gamma_factor_rule>;
      return T(of_power(a, x) + apply<factor>(1.0, a, x) / apply<factor>(0.0, a, x));
    };
    return either<T>(is_small(x, value), of_factor,
                     [&] { return T(apply<gamma_tail_rule<is_upper>>(1.0, a, x) / tail(a, x)); });
  }
  /// Returns the derivative with respect to a variable on which x depends with this slope; `over_slope` is x / slope.
  template <class T>
  static T of_argument(const T& a, const T& x, const T& over_slope, const T& slope, const T& value) {
    const auto small = [&] {
      return is_upper ? T(-slope / apply<upper_gamma_factor_rule>(0.0, a, x))
                      : T(a / apply<lower_gamma_factor_rule>(0.0, a, x) / over_slope);
    };
    return either<T>(is_small(x, value), small, [&] { return T(of_argument_plain(a, x, over_slope, slope) / tail(a, x)); });
  }
  /// Returns the derivative of the tail itself. A small power of x has a logarithm as its large part; others have x. Beyond 2 a
  /// + 1000 the density is 0, and the slope of a quotient may overflow.
  template <class T>
  static T of_argument_plain(const T& a, const T& x, const T& over_slope, const T& slope) {
    const T derivative = either<T>(
        a > 0.5 && x < 2.0 * a + 1000.0, [&] { return T(slope * apply<gamma_density_rule>(0.0, a, x)); }, x == infinity,
        [] { return T(0.0); },  //
        [&] { return T(apply<gamma_power_rule>(0.0, a, x) / over_slope); });
    return is_upper ? T(-derivative) : derivative;
  }

 private:
  template <class T>
  static T tail(const T& a, const T& x) {
    return is_upper ? T(gammaincc(a, x)) : T(gammainc(a, x));
  }
};

/// Base of rules of a and an argument of b and y: their value and first derivatives from one sum or integral.
template <class Rule, bool is_upper, bool is_log, class Argument>
struct gamma_tail_base : rule<3> {
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double a, double b,
                                 double y) {
    double of_log_argument;
    double value = gamma_tail_with_slopes(a, Argument::of(b, y), is_upper, is_log, slopes[0], of_log_argument);
    if (value == value) {
      slopes[1] = of_log_argument / b, slopes[2] = of_log_argument / Argument::over_slope(y);
      return value;
    }
    value = Rule::value(a, b, y);
    slopes = {wanted[0] ? Rule::derivative(wrt<0>{}, a, b, y, value) : 0,
              wanted[1] ? Rule::derivative(wrt<1>{}, a, b, y, value) : 0,
              wanted[2] ? Rule::derivative(wrt<2>{}, a, b, y, value) : 0};
    return value;
  }
};

/// gammainc or gammaincc of a and an argument of b and y.
template <bool is_upper, class Argument>
struct gamma_tail_of_rule : gamma_tail_base<gamma_tail_of_rule<is_upper, Argument>, is_upper, false, Argument> {
  using slopes = log_gamma_slopes<is_upper>;
  static constexpr std::string_view name = Argument::is_quotient ? (is_upper ? "gammaincc_of_quotient" : "gammainc_of_quotient")
                                                                 : (is_upper ? "gammaincc_of_product" : "gammainc_of_product");
  static double value(double a, double b, double y) { return gamma_tail_derivative(0, a, Argument::of(b, y), is_upper); }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& y, const T&) {
    return apply<gamma_tail_rule<is_upper>>(1.0, a, Argument::of(b, y));
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& y, const T&) {
    return slopes::of_argument_plain(a, T(Argument::of(b, y)), b, T(Argument::factor(y)));
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& y, const T&) {
    return slopes::of_argument_plain(a, T(Argument::of(b, y)), T(Argument::over_slope(y)), T(Argument::slope(b, y)));
  }
};

/// log_gammainc or log_gammaincc of a and an argument of b and y.
template <bool is_upper, class Argument>
struct log_gamma_tail_of_rule : gamma_tail_base<log_gamma_tail_of_rule<is_upper, Argument>, is_upper, true, Argument> {
  using slopes = log_gamma_slopes<is_upper>;
  static constexpr std::string_view name = Argument::is_quotient
                                               ? (is_upper ? "log_gammaincc_of_quotient" : "log_gammainc_of_quotient")
                                               : (is_upper ? "log_gammaincc_of_product" : "log_gammainc_of_product");
  static double value(double a, double b, double y) { return log_gamma_tail(a, Argument::of(b, y), is_upper); }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& y, const T& value) {
    return slopes::of_shape(a, T(Argument::of(b, y)), value);
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& y, const T& value) {
    return slopes::of_argument(a, T(Argument::of(b, y)), b, T(Argument::factor(y)), value);
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& y, const T& value) {
    return slopes::of_argument(a, T(Argument::of(b, y)), T(Argument::over_slope(y)), T(Argument::slope(b, y)), value);
  }
};

}  // namespace detail

struct log_gammainc_rule : rule<2> {
  static constexpr std::string_view name = "log_gammainc", text = "Logarithm of gammainc, also where gammainc underflows.",
                                    reference = "log(lower_gamma(x, y))", source = "see gammainc";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::log_gamma_tail(x, y, false); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return detail::log_gamma_slopes<false>::of_shape(x, y, value);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return detail::log_gamma_slopes<false>::of_argument(x, y, y, T(1.0), value);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_gammainc_rule, X, Y> log_gammainc(const X& x, const Y& y) {
  return apply<log_gammainc_rule>(x, y);
}

struct log_gammaincc_rule : rule<2> {
  static constexpr std::string_view name = "log_gammaincc", text = "Logarithm of gammaincc, also where gammaincc underflows.",
                                    reference = "log(upper_gamma(x, y))", source = "see gammainc";
  static constexpr interval domain[] = {{0, infinity}, {0, infinity}};
  static double value(double x, double y) { return detail::log_gamma_tail(x, y, true); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& value) {
    return detail::log_gamma_slopes<true>::of_shape(x, y, value);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& value) {
    return detail::log_gamma_slopes<true>::of_argument(x, y, y, T(1.0), value);
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_gammaincc_rule, X, Y> log_gammaincc(const X& x, const Y& y) {
  return apply<log_gammaincc_rule>(x, y);
}

}  // namespace agrad
