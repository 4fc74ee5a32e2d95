// The light tail of the skew normal distribution: the probability below -h <= 0 with a shape a >= 0, twice the integral of
// phi(t) Phi(-a t) over t > h.
//
// With t = a + s in the integral of Owen's T function, the tail is exp(-h^2 (1 + a^2) / 2) times a factor, the mean over s > 0
// of exp(-h^2 (2 a s + s^2) / 2) / (1 + (a + s)^2), which neither underflows nor cancels. The derivatives of the factor are
// such integrals, too; where they are not small, differences of closed forms are enough.
// Read next: families/tails/skew_tail_octets.hpp, integrals with fewer nodes for all but the deepest tails.
#pragma once

#include <array>
#include <cmath>

#include <agrad/families/tails/skew_tail_octets.hpp>
#include <agrad/rules/error/owens_t.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// Returns the integral over s > 0 of exp(-h^2 (2 a s + s^2) / 2) / (1 + (a + s)^2) times a weight of s and t = a + s, over pi;
/// the weight is a function of octets.
template <class Weight>
double skew_tail_integral(double h, double a, const Weight& weight) {
  constexpr double deepest = 42;
  const double product = h * a;
  const double end = 2 * deepest / h / (product + std::sqrt(product * product + 2 * deepest));  // where the exponent is -42
  double sum = 0, length = 2 * (1 + a);
  for (double begin = 0; begin < end; begin += length, length *= 4) {
    const double here = std::fmin(length, end - begin);
    octet parts = 0.0;
    for (int i = 0; i < 32; i += 8) {  // the nodes of the first half of the interval, and of the second half
      const octet node = octet::load(gauss_nodes + i % 16), s = begin + here * (0.5 + (i < 16 ? -0.5 : 0.5) * node), t = a + s;
      const octet decay = exp(-h * s * (product + 0.5 * h * s));
      parts += octet::load(gauss_weights + i % 16) * decay / (1.0 + t * t) * weight(s, t);
    }
    const double part = parts.sum();
    sum += part * 0.5 * here;
    if (part * here < 1e-18 * sum) break;
  }
  return sum * inv_pi;
}

/// Returns the factor of a tail that is not deep: by a difference.
inline double shallow_skew_factor(double h, double a) {
  const double b = a * h, bell = std::exp(-0.5 * h * h), bell_b = std::exp(-0.5 * b * b);
  const bool turns = a > 1;
  const double owen =
      turns ? bell_b * first_lane(scaled_owens_t_octet(b, 1 / a)) : bell * first_lane(scaled_owens_t_octet(h, a));
  const double core = std::erf(inv_sqrt_2 * h), tail = 0.5 * erfcx(inv_sqrt_2 * h) * bell,
               tail_b = 0.5 * erfcx(inv_sqrt_2 * b) * bell_b;
  return skew_tail_difference(turns, owen, core, tail, tail_b) / (bell * bell_b);
}

/// Returns the factor.
inline double skew_tail_factor(double h, double a) {
  if (!(h >= 0 && a >= 0 && h < infinity && a < infinity)) return quiet_nan;
  const double depth = skew_tail_depth(h, a);
  if (depth <= least_skew_depth && h < 20) return shallow_skew_factor(h, a);
  if (depth < largest_skew_depth && depth > 0) return first_lane(deep_skew_factor_octet(depth, a));
  return skew_tail_integral(h, a, [](const octet&, const octet&) { return octet(1.0); });
}

/// Returns minus the derivatives of the factor with respect to h (order 1) and a (order 2).
inline double skew_tail_loss(double order, double h, double a, double factor) {
  const bool is_small = h * (1 + a) > 0.5;
  if (order == 1) {
    if (is_small) return h * skew_tail_integral(h, a, [&](const octet& s, const octet&) { return s * (2 * a + s); });
    return inv_sqrt_two_pi * erfcx(a * h * inv_sqrt_2) - h * (1 + a * a) * factor;
  }
  if (is_small)
    return skew_tail_integral(h, a, [&](const octet& s, const octet& t) { return h * s * h + 2.0 * t / (1.0 + t * t); });
  return inv_pi / (1 + a * a) - h * a * (h * factor);
}

/// The factor (order 0), and minus its derivatives with respect to h (order 1) and a (order 2).
struct skew_tail_factor_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "skew_tail_factor";
  static double value(double order, double h, double a) {
    const double factor = skew_tail_factor(h, a);
    return order == 0 ? factor : skew_tail_loss(order, h, a, factor);
  }
  static double value_and_slopes(std::array<double, 3>& slopes, const std::array<bool, 3>& wanted, double order, double h,
                                 double a) {
    const double of_order = value(order, h, a);
    slopes[0] = 0;
    if (wanted[1]) slopes[1] = order == 0 ? -skew_tail_loss(1, h, a, of_order) : derivative(wrt<1>{}, order, h, a, of_order);
    if (wanted[2]) slopes[2] = order == 0 ? -skew_tail_loss(2, h, a, of_order) : derivative(wrt<2>{}, order, h, a, of_order);
    return of_order;
  }
  using data_arguments::derivative;
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
  static double value(double h, double a) { return two_pi * owens_t_density_rule::value(h, a) * skew_tail_factor(h, a); }
  static double value_and_slopes(std::array<double, 2>& slopes, const std::array<bool, 2>&, double h, double a) {
    const double density = owens_t_density_rule::value(h, a);
    slopes = {by_size(h, a, density), by_shape(a, density)};
    return two_pi * density * skew_tail_factor(h, a);
  }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T&) {
    return by_size(h, a, apply<owens_t_density_rule>(h, a));
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T&) {
    return by_shape(a, apply<owens_t_density_rule>(h, a));
  }

 private:
  template <class T>
  static T by_size(const T& h, const T& a, const T& density) {
    return -sqrt_two_pi * density * erfcx(inv_sqrt_2 * (a * h));
  }
  template <class T>
  static T by_shape(const T& a, const T& density) {
    return -2.0 * density / (1.0 + a * a);
  }
};

/// The logarithm of the tail.
struct log_skew_tail_rule : rule<2> {
  static constexpr std::string_view name = "log_skew_tail";
  static double value(double h, double a) { return of_factor(h, a, skew_tail_factor(h, a)); }
  static double value_and_slopes(std::array<double, 2>& slopes, const std::array<bool, 2>&, double h, double a) {
    const double factor = skew_tail_factor(h, a);
    slopes = {by_size(h, a, factor), by_shape(a, factor)};
    return of_factor(h, a, factor);
  }
  template <class T>
  static T derivative(wrt<0>, const T& h, const T& a, const T&) {
    return by_size(h, a, apply<skew_tail_factor_rule>(0.0, h, a));
  }
  template <class T>
  static T derivative(wrt<1>, const T& h, const T& a, const T&) {
    return by_shape(a, apply<skew_tail_factor_rule>(0.0, h, a));
  }

 private:
  static double of_factor(double h, double a, double factor) {
    return std::log(factor) - 0.5 * (h * h) - 0.5 * (h * a) * (h * a);
  }
  template <class T>
  static T by_size(const T& h, const T& a, const T& factor) {
    return -inv_sqrt_two_pi * erfcx(inv_sqrt_2 * (a * h)) / factor;
  }
  template <class T>
  static T by_shape(const T& a, const T& factor) {
    return -inv_pi / ((1.0 + a * a) * factor);
  }
};

}  // namespace agrad::detail
