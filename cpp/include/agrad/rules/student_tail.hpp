// The upper tail of Student's t distribution and its logarithm, with derivatives up to order 2, as doubles.
//
// With s = sqrt(nu) sinh(u), the tail is the integral of cosh(u)^-nu over u, divided by beta(1/2, nu / 2). A derivative with
// respect to nu puts the derivative of the log density at s into the integral; at a fixed s it is of the order 1 / nu^2, while
// those of the incomplete beta function, which the tail is, are of the order 1 / nu and would cancel. Where the log density
// increases with nu at t, and so at all smaller s, the integral from 0 to t is computed, elsewhere that beyond t: the
// derivatives then are sums of terms of one sign. Read next: rules/student.hpp, the rules.
#pragma once

#include <cmath>

#include <agrad/rules/beta_factor.hpp>

namespace agrad::detail {

/// Derivative of order 1 or 2 of the logarithm of gamma((nu + 1) / 2) / (gamma(nu / 2) sqrt(nu)).
inline double student_constant(int order, double nu) {
  if (nu < 40) {
    const double half = 0.5 * nu;
    if (order == 1) return 0.5 * digamma_difference(half, half + 0.5, 0.5) - 0.5 / nu;
    return 0.5 / nu / nu - 0.25 * polygamma_difference(1, half, 0.5);
  }
  // from log(gamma(x + 1/2) / gamma(x)) = log(x) / 2 - 1 / (8 x) + ..., DLMF 5.11.8
  constexpr double c[] = {-1.0 / 4, 1.0 / 24, -1.0 / 20, 17.0 / 112, -31.0 / 36, 691.0 / 88};
  double sum = 0;
  for (int k = 5; k >= 0; --k) {
    const double power = 2 * k + 1;
    sum = sum / nu / nu + (order == 1 ? -power : power * (power + 1)) * c[k];
  }
  return order == 1 ? sum / nu / nu : sum / nu / nu / nu;
}

/// A point s of the distribution: q = s^2 / (nu + s^2), and derivatives of the log density with respect to nu.
struct student_point {
  double q, slope, bend;
  /// log_cosh is log(1 + s^2 / nu) / 2.
  student_point(double nu, double q_, double log_cosh, double constant, double constant_slope) : q(q_) {
    const double rest = q < 0.5 ? log1p_rest(-q) : 2 * log_cosh - q;
    slope = constant + 0.5 * (q / nu - rest);
    bend = constant_slope + 0.5 * (q * q - q * (2 - q) / nu) / nu;
  }
};

/// The integral over one side of t >= 0, and means over it.
struct student_integral {
  bool is_tail;
  double value = 0;  // relative to cosh(u)^-nu at t for a tail
  double slope = 0, square = 0, bend = 0,
         difference = 0;  // means of the derivatives of the log density, squares from that at t
  double tanh_rest = 0;   // mean of tanh(u) - tanh at t
  double log_cosh, cosh, slope_at_t;
};

inline student_integral integrate_student(double nu, double t) {
  constexpr double nodes[] = {0.9931285991850949, 0.9639719272779138, 0.912234428251326,  0.8391169718222188,
                              0.7463319064601508, 0.636053680726515,  0.5108670019508271, 0.37370608871541955,
                              0.2277858511416451, 0.07652652113349734};
  constexpr double weights[] = {0.017614007139152118, 0.04060142980038694, 0.06267204833410907, 0.08327674157670475,
                                0.10193011981724044,  0.11819453196151841, 0.13168863844917664, 0.14209610931838204,
                                0.14917298647260374,  0.15275338713072584};
  const double root = std::sqrt(nu), length = std::hypot(root, t), cosh = length / root, tanh = t / length;
  const double log_cosh = t < root ? 0.5 * std::log1p(t / root * (t / root)) : std::log(length) - std::log(root);
  const double constant = student_constant(1, nu), constant_slope = student_constant(2, nu);
  const student_point at_t(nu, tanh * tanh, log_cosh, constant, constant_slope);
  student_integral sum;
  sum.is_tail = at_t.slope < 0;
  sum.log_cosh = log_cosh, sum.cosh = cosh, sum.slope_at_t = at_t.slope;
  const auto log_ratio_of = [&](double v) {  // log(cosh(u + v) / cosh(u)) at t
    const double half = std::sinh(0.5 * v);
    return v > 300 ? v + std::log(0.5 * (1 + tanh)) : std::log1p(2 * half * half + tanh * std::sinh(v));
  };
  const auto add = [&](double v, double weight) {  // at u + v, or at v for the integral from 0
    const double g = sum.is_tail ? log_ratio_of(v) : v > 300 ? v - log_2 : std::log1p(2 * std::pow(std::sinh(0.5 * v), 2));
    const double tanh_here = sum.is_tail ? (tanh + std::tanh(v)) / (1 + tanh * std::tanh(v)) : std::tanh(v);
    const student_point here(nu, tanh_here * tanh_here, sum.is_tail ? log_cosh + g : g, constant, constant_slope);
    const double step = std::tanh(v) / cosh / cosh / (1 + tanh * std::tanh(v));  // tanh_here - tanh, for a tail
    const double term = weight * std::exp(-nu * g);
    const double difference =
        sum.is_tail && at_t.q > 0.5 ? 0.5 * step * (tanh + tanh_here) * (1 + 1 / nu) - g : here.slope - at_t.slope;
    sum.value += term, sum.slope += term * here.slope, sum.bend += term * here.bend;
    sum.difference += term * difference;
    sum.square += term * (sum.is_tail ? difference * difference : here.slope * here.slope);
    if (sum.is_tail) sum.tanh_rest += term * step;
  };
  const auto add_panel = [&](double from, double to) {
    const double half = 0.5 * (to - from);
    for (int i = 0; i < 20; ++i)
      add(from + half * (i < 10 ? 1 - nodes[i] : 1 + nodes[i - 10]), half * weights[i < 10 ? i : i - 10]);
  };
  constexpr double deepest = 42, far = 20;  // beyond `far`, cosh is an exponential function
  double end = t < root ? std::asinh(t / root) : log_cosh + std::log1p(tanh);
  if (sum.is_tail) {
    end = 2 * deepest / (nu * tanh + std::sqrt(nu * tanh * nu * tanh + 2 * deepest * nu / cosh / cosh));
    for (int i = 0; i < 40 && end < 1e3; ++i) {  // Newton's method
      const double over = nu * log_ratio_of(end) - deepest;
      if (std::abs(over) < 2) break;
      end -= over / (nu * (tanh + std::tanh(end)) / (1 + tanh * std::tanh(end)));
    }
  }
  const double panels = sum.is_tail && end <= far ? end : far;
  double from = 0;
  for (const double to : {0.08 * panels, 0.3 * panels, panels, end}) {
    add_panel(from, to < end ? to : end);
    from = to < end ? to : end;
    if (to >= end || (sum.is_tail && to >= far)) break;
  }
  if (sum.is_tail && end > far) {  // the rest is exponential: moments of the difference, which is `first` - (v - far)
    const double g = far + std::log(0.5 * (1 + tanh)), rest = 1 / cosh / cosh, mean = 1 / nu;
    const double term = std::exp(-nu * g) / nu, first = 0.5 * rest * (1 + 1 / nu) - g - mean;
    const student_point here(nu, 1, log_cosh + g, constant, constant_slope);
    sum.value += term, sum.slope += term * (here.slope - mean), sum.bend += term * here.bend;
    sum.difference += term * first;
    sum.square += term * (first * first + mean * mean);
    sum.tanh_rest += term * (1 - tanh);
  }
  if (sum.value > 0)
    for (double* mean : {&sum.slope, &sum.square, &sum.bend, &sum.difference, &sum.tanh_rest}) *mean /= sum.value;
  return sum;
}

/// The density at t.
inline double student_density(double nu, double t) {
  const double root = std::sqrt(nu), size = std::abs(t);
  const double log_cosh =
      size < root ? 0.5 * std::log1p(t / root * (t / root)) : std::log(std::hypot(root, t)) - std::log(root);
  return std::exp(-(nu + 1) * log_cosh - betaln(0.5, 0.5 * nu)) / root;
}

/// Derivative (m, k) with respect to nu and t of the tail beyond t or of its logarithm, for m + k <= 2.
inline double student_tail_derivative(double nu, double t, bool is_log, int m, int k) {
  if (!(nu > 0 && nu < infinity) || std::isnan(t)) return quiet_nan;
  if (std::isinf(t)) return m + k > 0 ? 0 : t < 0 ? (is_log ? 0 : 1) : (is_log ? -infinity : 0);
  const student_integral part = integrate_student(nu, std::abs(t));
  const double log_beta = betaln(0.5, 0.5 * nu), scale = std::exp(-log_beta - (part.is_tail ? nu * part.log_cosh : 0));
  const bool is_direct = part.is_tail && t > 0;
  const double half_width = std::sqrt(nu) * part.cosh;
  if (is_log && is_direct) {
    const double hazard = 1 / part.value / half_width;
    if (k == 0 && m == 0) return std::log(part.value) - nu * part.log_cosh - log_beta;
    if (k == 0) return m == 1 ? part.slope : part.bend + (part.square - part.difference * part.difference);
    if (k == 1) return m == 0 ? -hazard : hazard * part.difference;
    return -hazard * (nu * part.tanh_rest - t / half_width) / half_width;
  }
  const double sign = part.is_tail == (t > 0) ? 1 : -1, mass = scale * part.value;
  const double value = is_direct ? mass : part.is_tail ? 1 - mass : 0.5 + sign * mass;
  const double slope = sign * mass * part.slope;
  const double square = part.is_tail ? part.square + part.slope_at_t * (2 * part.difference + part.slope_at_t) : part.square;
  const double bend = sign * mass * (square + part.bend);
  const double density = student_density(nu, t), steepness = -(nu + 1) * (t / half_width) / half_width;
  const double of_t = -density, of_both = -density * part.slope_at_t, of_t_twice = -density * steepness;
  if (!is_log) return k == 0 ? (m == 0 ? value : m == 1 ? slope : bend) : k == 2 ? of_t_twice : m == 0 ? of_t : of_both;
  if (k == 0 && m == 0) return value > 0.5 ? std::log1p(-(part.is_tail ? mass : 0.5 - sign * mass)) : std::log(value);
  if (k == 0) return m == 1 ? slope / value : bend / value - slope / value * (slope / value);
  if (k == 2) return of_t_twice / value - of_t / value * (of_t / value);
  return m == 0 ? of_t / value : of_both / value - of_t / value * (slope / value);
}

}  // namespace agrad::detail
