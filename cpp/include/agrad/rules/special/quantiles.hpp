// Quantiles of the standard gamma, beta and Student's t distributions as internal rules: the inverses of their tails.
//
// Each rule solves for the smaller of the two tails, so that no digits of a small probability are lost. Derivatives are those
// of the implicit function F(x; shapes) = p: 1 / f with respect to p and -F_shape / f with respect to a shape, where f is the
// density; they are made of rules with derivatives of their own. At the ends of the support, x does not depend on the shapes.
#pragma once

#include <agrad/rules/error/scaled_error.hpp>
#include <agrad/rules/error/tail_inverse.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/special/quantile_slopes.hpp>

namespace agrad::detail {

/// Returns x at which the lower or upper tail of the standard gamma distribution is p <= 1/2.
inline double gamma_tail_inverse(double p, double a, bool is_upper) {
  // The lower tail is x^a / gamma(a + 1) for small x; Wilson and Hilferty's cube of a normal variable serves elsewhere.
  const double log_p = std::log(p), log_lower = is_upper ? std::log1p(-p) : log_p;
  const double power = (log_lower + (a < 0.5 ? lgamma1p(a) : lgamma_rule::value(1 + a))) / a;
  if (power < -700) return std::exp(power);
  const double z = ndtri(p), cube = 1 - 1 / (9 * a) + (is_upper ? -z : z) / (3 * std::sqrt(a));
  double x = cube > 0.05 ? a * cube * cube * cube : 0;
  if (!is_upper && (x == 0 || power < -2)) x = std::exp(power);
  if (is_upper && (x == 0 || a < 1)) x = std::fmax(-log_p - lgamma_rule::value(a), 1e-3 * a);
  const auto at = [&](double y) {
    const double slope = y * gamma_density_derivative(0, a, y);
    return excess_of(
        p, gamma_tail_derivative(0, a, y, is_upper), is_upper ? -slope : slope, [&] { return log_gamma_tail(a, y, is_upper); },
        [&] { return is_upper ? -y / upper_gamma_factor(0, a, y) : a / lower_gamma_factor(0, a, y); });
  };
  return inverse_of_tail(!is_upper, 0, x, infinity, at, [](double y, double step) { return y + y * std::expm1(step); });
}

/// The x at which the lower, or upper, tail of the standard gamma distribution of shape a is p.
template <bool is_upper>
struct gamma_quantile_rule : rule<2> {
  static constexpr std::string_view name = is_upper ? "gamma_upper_quantile" : "gamma_lower_quantile";
  static double value(double p, double a) {
    if (!(p >= 0 && p <= 1 && a > 0 && a < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? infinity : 0;
    return p <= 0.5 ? gamma_tail_inverse(p, a, is_upper) : gamma_tail_inverse(1 - p, a, !is_upper);
  }
  template <class T>
  static T derivative(wrt<0>, const T& p, const T& a, const T& x) {
    if constexpr (is_upper)
      return apply<gamma_upper_slope_rule>(p, a, x);
    else
      return apply<over_gamma_density_rule>(a, x);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& a, const T& x) {
    return slope_inside<T>(x > 0 && x < infinity, [&] { return T(x * log_gamma_quantile_slope(a, x)); });
  }
};

/// b / q of a quantile q of the standard gamma distribution. Its square may overflow where it does not, so that derivatives are
/// written as multiples of it.
template <bool is_upper>
struct over_gamma_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "over_gamma_upper_quantile" : "over_gamma_lower_quantile";
  static double value(double p, double a, double b) {
    const double q = gamma_quantile_rule<is_upper>::value(p, a);
    if (!(q < 1e-290) || p == 0 || p == 1) return b / q;
    const double log_lower = is_upper ? std::log1p(-p) : std::log(p);  // of the lower tail, q^a / gamma(a + 1)
    const double root = std::exp(-0.5 * (log_lower + (a < 0.5 ? lgamma1p(a) : lgamma_rule::value(1 + a))) / a);
    return b * root * root;
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& a, const T& b, const T& value) {
    const T slope = either<T>(
        value > 0 && value < infinity, [&] { return T(apply<over_inv_gamma_density_rule>(a, b, value)); },
        [] { return T(infinity); });
    return is_upper ? slope : T(-slope);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& a, const T& b, const T& value) {
    return slope_inside<T>(value > 0 && value < infinity,
                           [&] { return T(-value * log_gamma_quantile_slope(a, over_inv_gamma(b, value))); });
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& b, const T& value) {
    return either<T>(
        value < infinity, [&] { return T(value / b); }, [] { return T(infinity); });
  }
};

/// Returns x at which the lower or upper tail of the beta distribution is p <= 1/2.
inline double beta_tail_inverse(double p, double a, double b, bool is_upper) {
  if (b > 1e290 && a < 100) {  // b x alone counts
    const int down = 80 - std::ilogb(b);
    return std::ldexp(beta_tail_inverse(p, a, std::ldexp(b, down), is_upper), down);
  }
  double& shape = is_upper ? a : b;  // the tail is proportional to a tiny shape
  if (shape < 1e-290 && p < 1e4 * shape) {
    const int up = -60 - std::ilogb(shape);
    shape = std::ldexp(shape, up), p = std::ldexp(p, up);
  }
  // Near 0 the lower tail is x^a / (a B(a, b)), near 1 the upper one likewise; else the log odds are about normal.
  const double log_p = std::log(p), log_beta = betaln(a, b);
  const double log_lower = is_upper ? std::log1p(-p) : log_p, log_upper = is_upper ? log_p : std::log1p(-p);
  const double power = (log_lower + std::log(a) + log_beta) / a, rest = (log_upper + std::log(b) + log_beta) / b;
  if (power < -700) return std::exp(power);
  const double z = is_upper ? -ndtri(p) : ndtri(p), mean = std::log(a / b), width = std::sqrt(1 / a + 1 / b);
  double x = 1 / (1 + std::exp(-mean - z * std::fmin(width, 20)));
  if (power < -2 && power <= rest)
    x = std::exp(power);
  else if (rest < -2)
    x = -std::expm1(rest);
  x = std::fmin(std::fmax(x, 1e-305), 1 - 1e-16);
  if (is_upper && a < 1 && b > 1e20) x = std::fmin(x, 0.5 / b);  // from where the tail has all digits
  const auto at = [&](double y) {
    const double sign = is_upper ? -1 : 1, weight = y * (1 - y);
    return excess_of(
        p, beta_tail_derivative(a, b, y, is_upper, false, 0, 0, 0),
        sign * weight * beta_tail_derivative(a, b, y, false, false, 0, 0, 1),
        [&] { return beta_tail_derivative(a, b, y, is_upper, true, 0, 0, 0); },
        [&] { return weight * beta_tail_derivative(a, b, y, is_upper, true, 0, 0, 1); });
  };
  return inverse_of_tail(!is_upper, 0, x, 1, at, [](double y, double step) {
    const double growth = std::expm1(step);  // of the odds
    return y + y * (1 - y) * growth / (1 + y * growth);
  });
}

/// The x at which the lower, or upper, tail of the beta distribution of shapes a and b is p.
template <bool is_upper>
struct beta_quantile_rule : rule<3> {
  static constexpr std::string_view name = is_upper ? "beta_upper_quantile" : "beta_lower_quantile";
  static double value(double p, double a, double b) {
    if (!(p >= 0 && p <= 1 && a > 0 && b > 0)) return quiet_nan;
    if (p == 0 || p == 1) return (p == 0) == is_upper ? 1 : 0;
    if (a == infinity || b == infinity) return a < infinity ? 0 : b < infinity ? 1 : quiet_nan;
    return p <= 0.5 ? beta_tail_inverse(p, a, b, is_upper) : beta_tail_inverse(1 - p, a, b, !is_upper);
  }
  template <int I, class T>
  static T derivative(wrt<I>, const T& p, const T& a, const T& b, const T& x) {
    // Near 1, the distance to 1 has more digits: it is the quantile of the mirrored distribution.
    const auto mirrored = [&] {
      return T(-beta_quantile_rule<!is_upper>::template inner_derivative<(3 - I) % 3>(
          p, b, a, T(apply<beta_quantile_rule<!is_upper>>(p, b, a))));
    };
    return either<T>(x > 0.9, mirrored, [&] { return inner_derivative<I>(p, a, b, x); });
  }

 private:
  friend struct beta_quantile_rule<!is_upper>;

  /// Returns the derivative with respect to argument I at a quantile x; by a shape for tiny p from the logarithm of the tail.
  template <int I, class T>
  static T inner_derivative(const T& p, const T& a, const T& b, const T& x) {
    if constexpr (I == 0) {
      const T slope = apply<over_beta_density_rule<is_upper>>(a, b, x, p);
      return is_upper ? T(-slope) : slope;
    } else {
      const auto of = [&](auto tail_by_shape, auto tail_by_x) {
        return T(-apply<decltype(tail_by_shape)>(a, b, x) / apply<decltype(tail_by_x)>(a, b, x));
      };
      return either<T>(
          is_beta_power(b, x), [&] { return beta_power_slope<I>(a, b, x); },  //
          !(x > 0 && x < 1), [] { return T(0.0); },                           //
          p < 1e-100,
          [&] { return of(beta_tail_rule<is_upper, true, I == 1, I == 2, 0>{}, beta_tail_rule<is_upper, true, 0, 0, 1>{}); },
          [&] { return of(beta_tail_rule<false, false, I == 1, I == 2, 0>{}, beta_tail_rule<false, false, 0, 0, 1>{}); });
    }
  }
};

/// Returns t >= 0 beyond which Student's t distribution has the probability p <= 1/2.
inline double student_tail_inverse(double p, double nu) {
  // The tail is nu^(nu / 2 - 1) t^-nu / B(nu / 2, 1 / 2) far out; for large nu it is about normal before.
  const double power = ((0.5 * nu - 1) * std::log(nu) - betaln(0.5, 0.5 * nu) - std::log(p)) / nu;
  if (power > 700) return std::exp(power);
  const double t = power > 0.5 * std::log(nu) + 1 ? std::exp(power) : std::fmax(-ndtri(p), 0.0);
  const auto at = [&](double y) {
    const double unit = std::hypot(1, y);
    return excess_of(
        p, student_tail_derivative(nu, y, 1, false, 0, 0, 0), -unit * student_density(nu, y),
        [&] { return student_tail_derivative(nu, y, 1, true, 0, 0, 0); },
        [&] { return unit * student_tail_derivative(nu, y, 1, true, 0, 1, 0); });
  };
  return inverse_of_tail(false, -1, t, infinity, at,
                         [](double y, double step) { return y * std::cosh(step) + std::hypot(1, y) * std::sinh(step); });
}

/// The t at which the lower tail of Student's t distribution is p.
struct student_quantile_rule : rule<2> {
  static constexpr std::string_view name = "student_quantile";
  static double value(double p, double nu) {
    if (!(p >= 0 && p <= 1 && nu > 0 && nu < infinity)) return quiet_nan;
    if (p == 0 || p == 1) return p == 0 ? -infinity : infinity;
    if (p == 0.5) return 0;
    return p < 0.5 ? -student_tail_inverse(p, nu) : student_tail_inverse(1 - p, nu);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& nu, const T& t) {
    return either<T>(
        abs(t) < infinity, [&] { return T(apply<over_student_density_rule>(nu, t)); }, [] { return T(infinity); });
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& nu, const T& t) {
    const auto central = [&] {
      return T(apply<student_tail_rule<false, 1, 0, 0>>(nu, -t, 1.0) / apply<student_tail_rule<false, 0, 1, 0>>(nu, -t, 1.0));
    };
    const auto far = [&] {  // where the density may underflow
      const T size = abs(t);
      return T(-(t / size) * apply<student_tail_rule<true, 1, 0, 0>>(nu, size, 1.0) /
               apply<student_tail_rule<true, 0, 1, 0>>(nu, size, 1.0));
    };
    return either<T>(
        abs(t) < 2, central, !(abs(t) < infinity), [] { return T(0.0); }, is_student_power(nu, t),
        [&] { return student_power_slope(nu, t); }, far);
  }
};

}  // namespace agrad::detail
