// Quantile slopes: what derivatives of quantiles of the gamma, beta and Student's t distributions consist of.
//
// By its probability a quantile has the derivative 1 / f, where f is the density. Rules of 1 / f have derivatives that are
// multiples of 1 / f, so that squares of f, which leave the range of doubles long before the result does, occur nowhere. By a
// shape, the derivative is a ratio of derivatives of the logarithm of a tail. Far out, where a tail is a power to all digits,
// that ratio has a closed form. Read next: rules/special/quantiles.hpp.
#pragma once

#include <agrad/rules/beta/beta_density.hpp>
#include <agrad/rules/beta/betainc.hpp>
#include <agrad/rules/gamma/gamma.hpp>
#include <agrad/rules/gamma/log_gammainc.hpp>
#include <agrad/rules/special/student.hpp>

namespace agrad::detail {

/// Returns the derivative by a shape, slope(), for x inside of the support, else 0.
template <class T, class C, class Slope>
T slope_inside(const C& is_inside, const Slope& slope) {
  return either<T>(is_inside, slope, [] { return T(0.0); });
}

// ---- gamma -------------------------------------------------------------------------------------------------------------

/// The inverse of the density x^(a - 1) e^-x / gamma(a).
struct over_gamma_density_rule : rule<2> {
  static constexpr std::string_view name = "over_gamma_density";
  static double value(double a, double x) { return 1 / gamma_density_derivative(0, a, x); }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& x, const T& value) {
    return slope_inside<T>(value != 0, [&] { return T(-value * log_gamma_slopes<true>::of_power(a, x)); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& x, const T& value) {
    // A small quantile underflows to 0, where the product has a limit.
    return either<T>(
        x > 0, [&] { return T(value / x * (x - (a - 1.0))); }, a == 1, [&] { return value; }, a < 1, [] { return T(0.0); },
        [&] { return T(-infinity * value); });
  }
};

/// Returns b / y without overflow of a derivative.
template <class T>
T over_inv_gamma(const T& b, const T& y) {
  return either<T>(
      y < 1e150 * b, [&] { return T(b / y); }, [&] { return T(exp(log(b) - log(y))); });
}

/// The inverse of the density of b / x, of an x with the gamma distribution, at y = b / x.
struct over_inv_gamma_density_rule : rule<3> {
  static constexpr std::string_view name = "over_inv_gamma_density";
  static double value(double a, double b, double y) { return y / gamma_power_rule::value(0, a, over_inv_gamma(b, y)); }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& y, const T& value) {
    return -value * log_gamma_slopes<true>::of_power(a, over_inv_gamma(b, y));
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& y, const T& value) {
    return value / b * (over_inv_gamma(b, y) - a);
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& y, const T& value) {
    return value / y * (1.0 + a - over_inv_gamma(b, y));
  }
};

/// Returns the derivative of the logarithm of a gamma quantile x > 0 by the shape a.
template <class T>
T log_gamma_quantile_slope(const T& a, const T& x) {
  const auto lower = [&] {
    return T((log_gamma_slopes<false>::of_power(a, x) * apply<lower_gamma_factor_rule>(0.0, a, x) +
              apply<lower_gamma_factor_rule>(1.0, a, x)) /
             -a);
  };
  const auto upper = [&] {
    return T((log_gamma_slopes<true>::of_power(a, x) * apply<upper_gamma_factor_rule>(0.0, a, x) +
              apply<upper_gamma_factor_rule>(1.0, a, x)) /
             x);
  };
  return either<T>(x < a || x < 1, lower, upper);
}

/// The derivative of a gamma quantile x by the probability p beyond it. The derivatives are total ones, with x as the quantile
/// of p and the shape; by x itself there is none. As the upper factor over p, that by the shape does not cancel for small
/// shapes.
struct gamma_upper_slope_rule : rule<3> {
  static constexpr std::string_view name = "gamma_upper_slope";
  static double value(double, double a, double x) { return -1 / gamma_density_derivative(0, a, x); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& a, const T& x, const T& value) {
    return over_gamma_density_rule::derivative(wrt<1>{}, a, x, value) * value;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& a, const T& x, const T& value) {
    const auto of_x = [&] { return T(x * log_gamma_quantile_slope(a, x)); };
    const auto above = [&] {
      const T factor = apply<upper_gamma_factor_rule>(0.0, a, x);
      const T by_x = upper_gamma_factor_rule::derivative(wrt<2>{}, T(0.0), a, x, factor);
      return T((apply<upper_gamma_factor_rule>(1.0, a, x) + by_x * of_x()) / factor * value);
    };
    return either<T>(
        !(x > 0 && x < infinity), [] { return T(0.0); }, x >= a && x >= 1, above,
        [&] {
          return T(over_gamma_density_rule::derivative(wrt<0>{}, a, x, value) +
                   over_gamma_density_rule::derivative(wrt<1>{}, a, x, value) * of_x());
        });
  }
  template <class T>
  static double derivative(wrt<2>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
};

// ---- beta --------------------------------------------------------------------------------------------------------------

/// The inverse of the density x^(a - 1) (1 - x)^(b - 1) / beta(a, b) at the quantile x of p, the tail below x or above it. From
/// a tiny p the value has digits that the exponent of the density has lost.
template <bool is_upper>
struct over_beta_density_rule : rule<4>, data_arguments<3> {
  static constexpr std::string_view name = is_upper ? "over_beta_density_above" : "over_beta_density_below";
  using data_arguments::derivative;
  static double value(double a, double b, double x, double p) {
    if (p > 0 && p < 1e-100 && x > 0 && x < 1) return 1 / p / std::abs(beta_tail_derivative(a, b, x, is_upper, true, 0, 0, 1));
    return 1 / beta_tail_derivative(a, b, x, false, false, 0, 0, 1);
  }
  template <class T>
  static T derivative(wrt<0>, const T& a, const T& b, const T& x, const T&, const T& value) {
    return slope_inside<T>(value > 0, [&] { return T(-value * apply<beta_slope_rule>(a, b, x)); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& a, const T& b, const T& x, const T&, const T& value) {
    return slope_inside<T>(value > 0, [&] { return T(-value * apply<beta_other_slope_rule>(a, b, x)); });
  }
  template <class T>
  static T derivative(wrt<2>, const T& a, const T& b, const T& x, const T&, const T& value) {
    const auto inside = [&] { return T(value / x * (((1.0 - a) * (1.0 - x) + (b - 1.0) * x) / (1.0 - x))); };
    return either<T>(
        x > 0, inside, a == 1, [&] { return T((b - 1.0) * value); }, a < 1, [] { return T(0.0); }, [] { return T(-infinity); });
  }
};

/// Returns whether the part of a beta distribution up to x is a power of x to all digits.
template <class T>
auto is_beta_power(const T& b, const T& x) {
  return x > 0 && x < 1e-20 && x * b < 1e-20;
}
/// Returns the derivative of a beta quantile x by the shape a (I = 1) or b (I = 2) where the probability up to x is x^a / (a
/// beta(a, b)).
template <int I, class T>
T beta_power_slope(const T& a, const T& b, const T& x) {
  if constexpr (I == 1)
    return T((x * (digamma(1.0 + a) - digamma(a + b)) - xlogy(x, x)) / a);
  else
    return T(x / a * apply<polygamma_difference_rule>(0.0, b, a));
}

// ---- Student's t -------------------------------------------------------------------------------------------------------

/// The inverse of the density of nu degrees of freedom at t.
struct over_student_density_rule : rule<2> {
  static constexpr std::string_view name = "over_student_density";
  static double value(double nu, double t) { return 1 / student_density(nu, t); }
  template <class T>
  static T derivative(wrt<0>, const T& nu, const T& t, const T& value) {
    const T size = abs(t);
    const auto central = [&] {
      return T(apply<student_tail_rule<false, 1, 1, 0>>(nu, size, 1.0) /
               apply<student_tail_rule<false, 0, 1, 0>>(nu, size, 1.0));
    };
    const auto far = [&] {  // the density is the tail times the slope of its logarithm, and may underflow
      return T(apply<student_tail_rule<true, 1, 0, 0>>(nu, size, 1.0) +
               apply<student_tail_rule<true, 1, 1, 0>>(nu, size, 1.0) / apply<student_tail_rule<true, 0, 1, 0>>(nu, size, 1.0));
    };
    return T(-value * either<T>(size < 2, central, far));
  }
  template <class T>
  static T derivative(wrt<1>, const T& nu, const T& t, const T& value) {
    const auto far = [&] { return T((nu + 1.0) / (t + nu / t)); };
    return T(value * either<T>(abs(t) > 1, far, [&] { return T((nu + 1.0) * t / (nu + t * t)); }));
  }
};

/// Returns whether the tail beyond |t| is a power of t to all digits.
template <class T>
auto is_student_power(const T& nu, const T& t) {
  return abs(t) > 1e9 * (1.0 + nu);
}
/// Returns the derivative by nu of a quantile t beyond which the probability is nu^(nu / 2 - 1) t^-nu / beta(nu / 2, 1 / 2).
template <class T>
T student_power_slope(const T& nu, const T& t) {
  const T of_constant = log(nu) + 1.0 + apply<polygamma_difference_rule>(0.0, 0.5 + 0.5 * nu, 0.5);
  return T(t / nu * (0.5 * of_constant - log(abs(t))));
}

}  // namespace agrad::detail
