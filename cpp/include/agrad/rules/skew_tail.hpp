// The light tail of the skew normal distribution: the probability below -h <= 0 with a shape a >= 0, twice the integral of
// phi(t) Phi(-a t) over t > h.
//
// With t = a + s in the integral of Owen's T function, the tail is exp(-h^2 (1 + a^2) / 2) times a factor, the mean over s > 0
// of exp(-h^2 (2 a s + s^2) / 2) / (1 + (a + s)^2), which neither underflows nor cancels. The derivatives of the factor are
// such integrals, too; where they are not small, differences of closed forms are enough.
#pragma once

#include <cmath>

#include <agrad/rules/gauss_legendre.hpp>
#include <agrad/rules/owens_t.hpp>

namespace agrad::detail {

/// Returns the integral over s > 0 of exp(-h^2 (2 a s + s^2) / 2) / (1 + (a + s)^2) times a weight of s and t = a + s, over pi.
template <class Weight>
double skew_tail_integral(double h, double a, const Weight& weight) {
  constexpr double deepest = 42;
  const double product = h * a;
  const double end = 2 * deepest / h / (product + std::sqrt(product * product + 2 * deepest));  // where the exponent is -42
  double sum = 0, length = 2 * (1 + a);
  for (double begin = 0; begin < end; begin += length, length *= 4) {
    const double here = std::fmin(length, end - begin);
    double part = 0;
    for (int i = 0; i < 32; ++i) {
      const double node = i < 16 ? -gauss_nodes[i] : gauss_nodes[31 - i], s = begin + here * (0.5 + 0.5 * node), t = a + s;
      const double decay = std::exp(-h * s * (product + 0.5 * h * s));
      part += gauss_weights[i < 16 ? i : 31 - i] * decay / (1 + t * t) * weight(s, t);
    }
    sum += part * 0.5 * here;
    if (part * here < 1e-18 * sum) break;
  }
  return sum * inv_pi;
}

/// Returns the factor (order 0), and minus its derivatives with respect to h (order 1) and a (order 2).
inline double skew_tail_factor(double order, double h, double a) {
  if (!(h >= 0 && a >= 0 && h < infinity && a < infinity)) return quiet_nan;
  const auto factor = [&] {
    if (h * (1 + a) < 1e-18) return inv_pi * std::atan2(1.0, a);
    return skew_tail_integral(h, a, [](double, double) { return 1.0; });
  };
  const bool is_small = h * (1 + a) > 0.5;
  if (order == 0) return factor();
  if (order == 1) {
    if (is_small) return h * skew_tail_integral(h, a, [&](double s, double) { return s * (2 * a + s); });
    return inv_sqrt_two_pi * erfcx(a * h * inv_sqrt_2) - h * (1 + a * a) * factor();
  }
  if (is_small) return skew_tail_integral(h, a, [&](double s, double t) { return h * s * h + 2 * t / (1 + t * t); });
  return inv_pi / (1 + a * a) - h * a * (h * factor());
}

struct skew_tail_factor_rule : rule<3> {
  static constexpr std::string_view name = "skew_tail_factor";
  static double value(double order, double h, double a) { return skew_tail_factor(order, h, a); }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&, const T&) {
    return 0.0;
  }
  template <class T>
  static T derivative(wrt<1>, const T& order, const T& h, const T& a, const T& value) {
    const T square = 1.0 + a * a;
    const auto of_factor = [&] { return T(-apply<skew_tail_factor_rule>(1.0, h, a)); };
    const auto of_first = [&] {
      const T ratio = inv_sqrt_two_pi * (inv_sqrt_2 * a) * apply<scaled_ierfc_rule>(1.0, a * h * inv_sqrt_2);
      return T(h * square * value - square * apply<skew_tail_factor_rule>(0.0, h, a) - 2.0 * ratio);
    };
    const auto of_second = [&] {
      return T(h * a * (h * apply<skew_tail_factor_rule>(1.0, h, a) - 2.0 * apply<skew_tail_factor_rule>(0.0, h, a)));
    };
    return either<T>(order == 0, of_factor, order == 1, of_first, of_second);
  }
  template <class T>
  static T derivative(wrt<2>, const T& order, const T& h, const T& a, const T& value) {
    const T square = 1.0 + a * a;
    const auto of_factor = [&] { return T(-apply<skew_tail_factor_rule>(2.0, h, a)); };
    const auto of_first = [&] { return derivative(wrt<1>{}, T(order + 1.0), h, a, apply<skew_tail_factor_rule>(2.0, h, a)); };
    const auto of_second = [&] {
      return T(h * h * (a * value - apply<skew_tail_factor_rule>(0.0, h, a)) - 2.0 * inv_pi * a / (square * square));
    };
    return either<T>(order == 0, of_factor, order == 1, of_first, of_second);
  }
};

/// The tail. Its slopes are those of Owen's T function, and of the normal distribution.
struct skew_tail_rule : rule<2> {
  static constexpr std::string_view name = "skew_tail";
  static double value(double h, double a) { return two_pi * owens_t_density_rule::value(h, a) * skew_tail_factor(0, h, a); }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T&) {
    constexpr double sqrt_two_pi = 2.50662827463100050241576528481104525;
    return -sqrt_two_pi * apply<owens_t_density_rule>(h, a) * erfcx(inv_sqrt_2 * (a * h));
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T&) {
    return -2.0 * apply<owens_t_density_rule>(h, a) / (1.0 + a * a);
  }
};

/// The logarithm of the tail.
struct log_skew_tail_rule : rule<2> {
  static constexpr std::string_view name = "log_skew_tail";
  static double value(double h, double a) {
    return std::log(skew_tail_factor(0, h, a)) - 0.5 * (h * h) - 0.5 * (h * a) * (h * a);
  }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T&) {
    return -inv_sqrt_two_pi * erfcx(inv_sqrt_2 * (a * h)) / apply<skew_tail_factor_rule>(0.0, h, a);
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T&) {
    return -inv_pi / ((1.0 + a * a) * apply<skew_tail_factor_rule>(0.0, h, a));
  }
};

}  // namespace agrad::detail
