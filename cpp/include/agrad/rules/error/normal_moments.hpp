// Moments of the normal tail: integrals of s^n / n! exp(-v s - s^2 / 2) over s > 0, and what the sum of a normal and an
// exponential variable needs of them.
//
// For n = 0 the integral is Mills' ratio. Moments are positive, and so are the integrals of the distribution function that are
// computed from them; differences of Mills' ratios at near arguments would cancel.
#pragma once

#include <agrad/rules/error/probit.hpp>

namespace agrad::detail {

inline constexpr int most_normal_moments = 48;

/// r[k] = the moment of order k at v, k = 0 .. n: by k r_k = r_{k-2} - v r_{k-1} forwards, or by ratios from above for large v.
inline void normal_tail_moments(int n, double v, double* r) {
  r[0] = sqrt_half_pi * erfcx(inv_sqrt_2 * v);
  if (n == 0) return;
  if (!(v > 1.4)) {
    for (int k = 1; k <= n; ++k) r[k] = ((k == 1 ? 1.0 : r[k - 2]) - v * r[k - 1]) / k;
    return;
  }
  const int first = n + 20 + static_cast<int>(240 / (v * v));
  double ratio = 2 / (v + std::sqrt(v * v + 4.0 * first));
  for (int k = first - 1; k > 0; --k) {
    ratio = 1 / (v + (k + 1) * ratio);
    if (k <= n) r[k] = ratio;
  }
  for (int k = 1; k <= n; ++k) r[k] *= r[k - 1];
}

inline double normal_tail_moment(double order, double v) {
  double r[most_normal_moments];
  normal_tail_moments(static_cast<int>(order), v, r);
  return r[static_cast<int>(order)];
}

/// Returns the integral of s^n / n! exp(-a s) phi(z - s) over s > 0, and phi(z) for n = -1.
inline double shifted_normal_moment(double order, double z, double a) {
  const int n = static_cast<int>(order);
  const double density = inv_sqrt_two_pi * exp_of_square(z, -0.5), v = a - z;
  if (n < 0) return density;
  if (v > 0) return density * normal_tail_moment(order, v);
  double before = density, here = std::exp(-a * (z - 0.5 * a)) * ndtr(-v);
  for (int k = 1; k <= n; ++k) {
    const double next = (before - v * here) / k;
    before = here;
    here = next;
  }
  return here;
}

/// Returns the mean over s in [0, 1] of s^m times the moment of order n > m at t + a s, t >= 0: a series for small a, else by
/// parts.
inline double mean_normal_moment(int n, int m, double t, double a) {
  if (a * (n + 1) > 0.4 * (t + 1)) {
    const double end = normal_tail_moment(n - 1, t + a);
    return ((m == 0 ? normal_tail_moment(n - 1, t) : m * mean_normal_moment(n - 1, m - 1, t, a)) - end) / (n * a);
  }
  double r[most_normal_moments], sum = 0, factor = 1;
  normal_tail_moments(most_normal_moments - 1, t, r);
  for (int k = 0; n + k < most_normal_moments && std::abs(factor) * r[n + k] > 1e-18 * sum; ++k) {
    sum += factor * r[n + k] / (m + k + 1);
    factor *= -a * (n + k + 1) / (k + 1);
  }
  return sum;
}

/// Returns the integral of s^n / n! exp(-a s) Phi(z - s) over s > 0, for z >= 0: a series for small a, else by parts.
inline double shifted_normal_integral(int n, double z, double a) {
  if (a * (1 + z) * (n + 1) > 0.6)
    return ((n == 0 ? ndtr(z) : shifted_normal_integral(n - 1, z, a)) - shifted_normal_moment(n, z, a)) / a;
  // The moments are in units of powers of 1 + z, which alone overflow.
  const double unit = 1 + z, z_in_units = z / unit;
  double before = inv_sqrt_two_pi * exp_of_square(z, -0.5) * unit, here = ndtr(z), sum = 0, factor = 1;
  for (int k = 0; k < most_normal_moments; ++k) {
    const double next = (before / unit / unit + z_in_units * here) / (k + 1);
    before = here;
    here = next;
    if (k < n) continue;
    sum += factor * here;
    factor *= -a * unit * (k + 1) / (k - n + 1);
  }
  for (int k = 0; k <= n; ++k) sum *= unit;
  return sum;
}

/// Derivatives with respect to z have a form for each side of z = a.
struct shifted_normal_moment_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "shifted_normal_moment";
  static double value(double order, double z, double a) { return shifted_normal_moment(order, z, a); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& z, const T& a, const T& value) {
    return either<T>(
        n < 0.0 || z < a, [&] { return T((n + 1.0) * apply<shifted_normal_moment_rule>(n + 1.0, z, a) - z * value); },
        [&] { return T(apply<shifted_normal_moment_rule>(n - 1.0, z, a) - a * value); });
  }
  template <class T>
  static T derivative(wrt<2>, const T& n, const T& z, const T& a, const T&) {
    return -(n + 1.0) * apply<shifted_normal_moment_rule>(n + 1.0, z, a);
  }
};

struct normal_tail_moment_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "normal_tail_moment";
  static double value(double order, double v) { return normal_tail_moment(order, v); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& v, const T&) {
    return -(n + 1.0) * apply<normal_tail_moment_rule>(n + 1.0, v);
  }
};

/// The moment of order n at t less that at t + a, for t and a not negative, without the difference.
struct normal_tail_moment_loss_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "normal_tail_moment_loss";
  static double value(double order, double t, double a) {
    const int n = static_cast<int>(order);
    return (n + 1) * a * mean_normal_moment(n + 1, 0, t, a);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& t, const T& a, const T&) {
    return -(n + 1.0) * apply<normal_tail_moment_loss_rule>(n + 1.0, t, a);
  }
  template <class T>
  static T derivative(wrt<2>, const T& n, const T& t, const T& a, const T&) {
    return (n + 1.0) * apply<normal_tail_moment_rule>(n + 1.0, t + a);
  }
};

/// mean_normal_moment of orders n and m, which are given as n + orders_of_mean m.
struct mean_normal_moment_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "mean_normal_moment";
  static constexpr int orders_of_mean = 64;
  static double value(double orders, double t, double a) {
    const int both = static_cast<int>(orders);
    return mean_normal_moment(both % orders_of_mean, both / orders_of_mean, t, a);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& orders, const T& t, const T& a, const T&) {
    return next<T>(orders, orders + 1.0, t, a);
  }
  template <class T>
  static T derivative(wrt<2>, const T& orders, const T& t, const T& a, const T&) {
    return next<T>(orders, orders + (orders_of_mean + 1.0), t, a);
  }

 private:
  template <class T>
  static T next(const T& orders, const T& higher, const T& t, const T& a) {
    const T n = orders - orders_of_mean * floor(orders / orders_of_mean);
    return -(n + 1.0) * apply<mean_normal_moment_rule>(higher, t, a);
  }
};

struct shifted_normal_integral_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "shifted_normal_integral";
  static double value(double order, double z, double a) { return shifted_normal_integral(static_cast<int>(order), z, a); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& z, const T& a, const T&) {
    return apply<shifted_normal_moment_rule>(n, z, a);
  }
  template <class T>
  static T derivative(wrt<2>, const T& n, const T& z, const T& a, const T&) {
    return -(n + 1.0) * apply<shifted_normal_integral_rule>(n + 1.0, z, a);
  }
};

}  // namespace agrad::detail
