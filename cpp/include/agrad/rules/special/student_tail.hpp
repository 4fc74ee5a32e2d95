// The upper tail of Student's t distribution and its logarithm, with derivatives up to order 2, as doubles.
//
// With s = sqrt(nu) sinh(u), the tail is the integral of cosh(u)^-nu over u, divided by beta(1/2, nu / 2). A derivative with
// respect to nu puts the derivative of the log density at s into the integral; at a fixed s it is of the order 1 / nu^2, while
// those of the incomplete beta function, which the tail is, are of the order 1 / nu and would cancel. Where the log density
// increases with nu at t, and so at all smaller s, the integral from 0 to t is computed, elsewhere that beyond t: the
// derivatives then are sums of terms of one sign. Far out the tail is a power of t, and derivatives with respect to a scale of
// t have formulas of their own, because the chain rule's terms cancel there. For moderate nu, values and first derivatives are
// those of rules/special/student_series.hpp, which take less time. Read next: rules/special/student.hpp, the rules.
#pragma once

#include <cmath>

#include <agrad/rules/beta/beta_factor.hpp>
#include <agrad/rules/gauss_legendre.hpp>
#include <agrad/rules/special/student_series.hpp>

namespace agrad::detail {

/// Returns the derivative of order 1 or 2 of the logarithm of gamma((nu + 1) / 2) / (gamma(nu / 2) sqrt(nu)).
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

/// Returns log(cosh(u)) at t = sqrt(nu) sinh(u).
inline double student_log_cosh(double nu, double t) {
  const double root = std::sqrt(nu), size = std::abs(t);
  return size < root ? 0.5 * std::log1p(t / root * (t / root)) : std::log(std::hypot(root, t)) - std::log(root);
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

/// tanh(v) and log(cosh(u + v) / cosh(u)) for v >= 0 and a given tanh(u), from one exponential function.
struct hyperbolic_step {
  double tanh_v, log_ratio;
  hyperbolic_step(double v, double tanh_u) {
    if (v > 300) {
      tanh_v = 1;
      log_ratio = v + std::log(0.5 * (1 + tanh_u));
      return;
    }
    const double grown = std::expm1(v), inverse = 1 / (1 + grown);
    const double cosh_less_1 = 0.5 * grown * grown * inverse, sinh = 0.5 * grown * (1 + inverse);
    tanh_v = sinh / (1 + cosh_less_1);
    log_ratio = std::log1p(cosh_less_1 + tanh_u * sinh);
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

/// `beyond`: whether to compute the integral beyond t even where the derivatives of the other one are sums of one sign.
inline student_integral integrate_student(double nu, double t, bool beyond = false) {
  const double root = std::sqrt(nu), length = std::hypot(root, t), cosh = length / root, tanh = t / length;
  const double log_cosh = student_log_cosh(nu, t);
  const double constant = student_constant(1, nu), constant_slope = student_constant(2, nu);
  const student_point at_t(nu, tanh * tanh, log_cosh, constant, constant_slope);
  student_integral sum;
  sum.is_tail = beyond || at_t.slope < 0;
  sum.log_cosh = log_cosh, sum.cosh = cosh, sum.slope_at_t = at_t.slope;
  const double start = sum.is_tail ? tanh : 0, per_cosh = 1 / cosh;
  const auto add = [&](double v, double weight) {  // at u + v, or at v for the integral from 0
    const hyperbolic_step step_to(v, start);
    const double g = step_to.log_ratio, inverse = 1 / (1 + start * step_to.tanh_v);
    const double tanh_here = (start + step_to.tanh_v) * inverse;
    const student_point here(nu, tanh_here * tanh_here, sum.is_tail ? log_cosh + g : g, constant, constant_slope);
    const double step = step_to.tanh_v * inverse * per_cosh * per_cosh;  // tanh_here - tanh, for a tail
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
      add(from + half * (i < 10 ? 1 - gauss_nodes_20[i] : 1 + gauss_nodes_20[i - 10]),
          half * gauss_weights_20[i < 10 ? i : i - 10]);
  };
  constexpr double deepest = 42, far = 20;  // beyond `far`, cosh is an exponential function
  double end = t < root ? std::asinh(t / root) : log_cosh + std::log1p(tanh);
  if (sum.is_tail) {
    end = 2 * deepest / (nu * tanh + std::sqrt(nu * tanh * nu * tanh + 2 * deepest * nu / cosh / cosh));
    for (int i = 0; i < 40 && end < 1e3; ++i) {  // Newton's method
      const hyperbolic_step at_end(end, tanh);
      const double over = nu * at_end.log_ratio - deepest;
      if (std::abs(over) < 2) break;
      end -= over / (nu * (tanh + at_end.tanh_v) / (1 + tanh * at_end.tanh_v));
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
    sum.tanh_rest += term * rest / (1 + tanh);
  }
  if (sum.value > 0)
    for (double* mean : {&sum.slope, &sum.square, &sum.bend, &sum.difference, &sum.tanh_rest}) *mean /= sum.value;
  return sum;
}

/// Returns the density at t.
inline double student_density(double nu, double t) {
  return std::exp(-(nu + 1) * student_log_cosh(nu, t) - betaln(0.5, 0.5 * nu)) / std::sqrt(nu);
}

/// Returns t times the density at t; it underflows later than the density.
inline double student_stretch(double nu, double t) {
  return t / std::hypot(std::sqrt(nu), t) * std::exp(-nu * student_log_cosh(nu, t) - betaln(0.5, 0.5 * nu));
}

/// How the tail or its logarithm, f, changes along t.
struct student_hazard {
  double value;    // -f'
  double stretch;  // -t f', the derivative with respect to the logarithm of the scale
  double by_nu;    // the derivative of log(value) with respect to nu
};
/// How the hazard changes along t.
struct student_bend {
  double of_value;    // minus the derivative of log(value) with respect to t
  double of_stretch;  // the derivative of stretch with respect to t, over value: 1 - t of_value
};

/// The tail beyond t = distance / scale, which is finite, and its logarithm, with derivatives that share one integral.
class student_tail {
 public:
  student_tail(double nu, double distance, double scale)
      : nu_(nu),
        t_(distance / scale),
        scale_(scale),
        part_(integrate_student(nu, std::abs(t_))),
        log_beta_(betaln(0.5, 0.5 * nu)),
        half_width_(std::sqrt(nu) * part_.cosh) {
    const double mass_side = part_.is_tail == (t_ > 0) ? 1 : -1;
    mass_ = std::exp(-log_beta_ - (part_.is_tail ? nu * part_.log_cosh : 0)) * part_.value;
    signed_mass_ = mass_side * mass_;
    value_ = is_direct() ? mass_ : part_.is_tail ? 1 - mass_ : 0.5 + signed_mass_;
  }

  /// Returns derivative (m, j, k) with respect to nu, distance and scale, for m + j + k <= 2.
  double derivative(bool is_log, int m, int j, int k) const {
    if (j + k == 0) return !is_log ? of_value(m) : is_direct() ? of_direct_log(m) : of_log(m);
    const student_hazard at = hazard(is_log);
    if (j + k == 1) return (j == 1 ? -at.value : at.stretch) * (m == 1 ? at.by_nu : 1) / scale_;
    const student_bend by_t = bend(is_log);
    const double of_unit_scale = j == 2   ? at.value * by_t.of_value
                                 : j == 1 ? at.value * by_t.of_stretch
                                          : -at.stretch * (1 + by_t.of_stretch);
    return of_unit_scale / scale_ / scale_;
  }

 private:
  /// Returns whether the integral is the tail.
  bool is_direct() const { return part_.is_tail && t_ > 0; }

  double of_value(int m) const {
    if (m == 0) return value_;
    if (m == 1) return signed_mass_ * part_.slope;
    const double at_t = part_.slope_at_t,
                 square = part_.is_tail ? part_.square + at_t * (2 * part_.difference + at_t) : part_.square;
    return signed_mass_ * (square + part_.bend);
  }
  double of_direct_log(int m) const {
    if (m == 0) return std::log(part_.value) - nu_ * part_.log_cosh - log_beta_;
    return m == 1 ? part_.slope : part_.bend + (part_.square - part_.difference * part_.difference);
  }
  double of_log(int m) const {
    if (m == 0) return value_ > 0.5 ? std::log1p(-(part_.is_tail ? mass_ : 0.5 - signed_mass_)) : std::log(value_);
    const double slope = of_value(1) / value_;
    return m == 1 ? slope : of_value(2) / value_ - slope * slope;
  }

  /// The density with respect to u, which is the density at t times half_width.
  double density_of_u() const { return std::exp(-nu_ * part_.log_cosh - log_beta_); }
  student_hazard hazard(bool is_log) const {
    const double tanh = t_ / half_width_;
    if (is_log && is_direct()) return {1 / part_.value / half_width_, tanh / part_.value, -part_.difference};
    const double whole = is_log ? value_ : 1;
    return {density_of_u() / half_width_ / whole, tanh * density_of_u() / whole,
            part_.slope_at_t - (is_log ? of_value(1) / value_ : 0)};
  }
  student_bend bend(bool is_log) const {
    const double tanh = t_ / half_width_, rest_of_square = 1 / part_.cosh / part_.cosh;  // 1 - tanh^2
    if (is_log && t_ > 0 && (part_.is_tail || tanh * tanh > 0.5)) {
      // stretch = nu tanh (tanh + tanh_rest), so that nothing cancels where the tail is a power of t
      const double rest = nu_ * (part_.is_tail ? part_ : integrate_student(nu_, t_, true)).tanh_rest;
      return {(tanh - rest) / half_width_, rest_of_square + tanh * rest};
    }
    const student_hazard at = is_log ? hazard(true) : student_hazard{};
    return {(nu_ + 1) * tanh / half_width_ - at.value, rest_of_square - nu_ * tanh * tanh + at.stretch};
  }

  double nu_, t_, scale_;
  student_integral part_;
  double log_beta_, half_width_, mass_, signed_mass_, value_;
};

/// Returns whether the tail has a closed form: at infinite t, and where nu is out of its domain.
inline bool is_student_limit(double nu, double t) { return !(nu > 0 && nu < infinity) || !(std::abs(t) < infinity); }

inline double student_limit(double nu, double t, bool is_log, int order) {
  if (!(nu > 0 && nu < infinity) || std::isnan(t)) return quiet_nan;
  return order > 0 ? 0 : t < 0 ? (is_log ? 0 : 1) : (is_log ? -infinity : 0);
}

/// Returns the tail of numbers that have the series, or its logarithm.
AGRAD_NEVER_INLINE inline student_tail_slopes<double> student_tail_of_number(double nu, double z, bool is_log) {
  return student_tail_by_series(student_constants(nu), nu, z, is_log);
}

/// Returns derivative (m, j, k) with respect to nu, distance and scale of the tail beyond distance / scale or of its logarithm,
/// for m + j + k <= 2.
inline double student_tail_derivative(double nu, double distance, double scale, bool is_log, int m, int j, int k) {
  const double t = distance / scale;
  if (is_student_limit(nu, t)) return student_limit(nu, t, is_log, m + j + k);
  if (m + j + k < 2 && has_student_series(nu, distance, scale)) {
    const student_tail_slopes<double> tail = student_tail_of_number(nu, t, is_log);
    return m == 1 ? tail.of_nu : j == 1 ? tail.of_z / scale : k == 1 ? -tail.of_log_z / scale : tail.value;
  }
  if (!is_log && m == 0 && j + k == 1) return (j == 1 ? -student_density(nu, t) : student_stretch(nu, t)) / scale;
  return student_tail(nu, distance, scale).derivative(is_log, m, j, k);
}

}  // namespace agrad::detail
