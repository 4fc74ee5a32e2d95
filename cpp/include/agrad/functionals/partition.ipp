// Definitions of functionals/partition.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/partition.hpp>

namespace agrad::detail {

/// Source: Piessens et al. (1983), QUADPACK, rule qk21.
AGRAD_INLINE const std::array<rule_node, 21>& rule_nodes() {
  static const std::array<rule_node, 21> nodes = [] {
    constexpr rule_node half[] = {
        {0.995657163025808080735527280689003, 0.011694638867371874278064396062192, 0},
        {0.973906528517171720077964012084452, 0.032558162307964727478818972459390, 0.066671344308688137593568809893332},
        {0.930157491355708226001207180059508, 0.054755896574351996031381300244580, 0},
        {0.865063366688984510732096688423493, 0.075039674810919952767043140916190, 0.149451349150580593145863396957658},
        {0.780817726586416897063717578345042, 0.093125454583697605535065465083366, 0},
        {0.679409568299024406234327365114874, 0.109387158802297641899210590325805, 0.219086362515982043995534934228163},
        {0.562757134668604683339000099272694, 0.123491976262065851077958109585166, 0},
        {0.433395394129247190799265943165784, 0.134709217311473325928054001771707, 0.269266719309996355091226921569469},
        {0.294392862701460198131126603103866, 0.142775938577060080797094273138717, 0},
        {0.148874338981631210884826001129720, 0.147739104901338491374841515972068, 0.295524224714752870173815619188769}};
    std::array<rule_node, 21> all{};
    for (std::size_t i = 0; i < 10; ++i) {
      all[i] = {-half[i].place, half[i].kronrod, half[i].gauss};
      all[20 - i] = half[i];
    }
    all[10] = {0, 0.149445554002916905664936468389821, 0};
    return all;
  }();
  return nodes;
}

inline constexpr double quadrature_pi = 3.14159265358979323846;
inline constexpr double end_of_exponential = 6.1;  // exp(-pi sinh(6.1)) = 1e-304, near the smallest number

AGRAD_INLINE substitution::substitution(quadrature_method how, double from, double to)
    : method(how), a(from), b(to), low_finite(std::isfinite(from)), high_finite(std::isfinite(to)) {}

AGRAD_INLINE std::pair<double, double> substitution::span() const {
  if (method == quadrature_method::double_exponential) return {-end_of_exponential, end_of_exponential};
  return {low_finite || high_finite ? 0.0 : -1.0, 1.0};
}

AGRAD_INLINE placed substitution::place(double t) const {
  const bool exponential = method == quadrature_method::double_exponential;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (low_finite && high_finite) {
    const double width = b - a;
    double left = t, right = 1 - t, slope = 1;
    if (exponential) {
      left = 1 / (1 + std::exp(-quadrature_pi * std::sinh(t))), right = 1 / (1 + std::exp(quadrature_pi * std::sinh(t)));
      slope = quadrature_pi * std::cosh(t) * left * right;
    }
    if (left < right) return {a + width * left, width * slope, -width * left};
    return {b - width * right, width * slope, width * right};
  }
  double x = 0, slope = 0;
  const double inner = quadrature_pi / 2 * std::sinh(t), outer = quadrature_pi / 2 * std::cosh(t);
  if (!low_finite && !high_finite) {
    x = exponential ? std::sinh(inner) : t / (1 - t * t);
    slope = exponential ? outer * std::cosh(inner) : (1 + t * t) / ((1 - t * t) * (1 - t * t));
    return {x, slope, nan};
  }
  x = exponential ? std::exp(inner) : t / (1 - t);
  slope = exponential ? outer * x : 1 / ((1 - t) * (1 - t));
  return {low_finite ? a + x : b - x, slope, nan};
}

AGRAD_INLINE double substitution::inside() const {
  const auto [low, high] = span();
  return place(low + 0.37 * (high - low)).x;
}

AGRAD_INLINE bool is_inner(const substitution& map, const partition& found, const placed& at) {
  if (!std::isfinite(at.x) || !std::isfinite(at.slope)) return false;
  return !(found.low_singular && at.x == map.a) && !(found.high_singular && at.x == map.b);
}

/// An interval of t with errors and absolute integrals of all components.
struct measured {
  double left, right;
  std::vector<double> error, absolute;
};

class division {
 public:
  division(std::string_view function, const substitution& map, const integrand_values& f, int components,
           const quadrature_options& options)
      : function_(function), map_(map), f_(f), options_(options), size_(static_cast<std::size_t>(components)) {}

  partition run() {
    if (!options_.takes_distance) {
      found_.low_singular = map_.low_finite && !is_finite_at(map_.a);
      found_.high_singular = map_.high_finite && !is_finite_at(map_.b);
    }
    const auto [low, high] = map_.span();
    for (int i = 0; i < first; ++i)
      parts_.push_back(measure(low + (high - low) * i / first, low + (high - low) * (i + 1) / first));
    const bool is_empty = map_.low_finite && map_.high_finite && map_.a == map_.b;
    interrupt_pace pace(4096);
    while (parts_.size() < static_cast<std::size_t>(options_.limit) &&
           (is_wanting() || (is_zero() && !is_empty && parts_.size() < least_if_zero))) {
      pace.step();
      bisect();
    }
    if (is_zero() && !is_empty)
      fail("the integrand is 0 at all of " + std::to_string(21 * parts_.size()) + " nodes, but must be other than 0 at one",
           "divide the interval at the place of the peak");
    const double hidden = hidden_error(), error = total(&measured::error, 0) + hidden;
    if (is_wanting() || error > allowed(0))
      fail("the estimate of the error is " + to_text(is_wanting() ? worst() : error) + ", but must be at most " +
               to_text(allowed(0)) + "; after " + std::to_string(parts_.size()) + " intervals",
           "loosen the tolerance, raise the number of intervals, or shift a singularity at a limit to 0");
    for (const measured& each : parts_) found_.intervals.emplace_back(each.left, each.right);
    found_.error = error;
    return std::move(found_);
  }

 private:
  static constexpr int first = 8;                   // intervals at the start
  static constexpr std::size_t least_if_zero = 64;  // intervals in which a function that is zero at all nodes is looked for

  bool is_finite_at(double x) {
    std::vector<double> values(size_);
    f_({x, 1, std::numeric_limits<double>::quiet_NaN()}, values.data());
    return std::isfinite(values[0]);
  }

  /// Source: QUADPACK's qk21.
  measured measure(double left, double right) {
    const auto& nodes = rule_nodes();
    const double middle = (left + right) / 2, half = (right - left) / 2;
    std::vector<double> values(21 * size_, 0.0);
    for (std::size_t i = 0; i < 21; ++i) {
      const placed at = map_.place(middle + half * nodes[i].place);
      if (!is_inner(map_, found_, at)) continue;
      double* own = &values[i * size_];
      f_(at, own);
      if (!std::isfinite(own[0]))
        fail("the integrand at x = " + to_text(at.x) + " is " + to_text(own[0]) + ", but must be finite between the limits",
             "divide the interval at the place of the singularity");
      for (std::size_t c = 0; c < size_; ++c) own[c] = std::isfinite(own[c]) ? own[c] * at.slope : 0;
    }
    measured result{left, right, std::vector<double>(size_), std::vector<double>(size_)};
    for (std::size_t c = 0; c < size_; ++c) {
      double kronrod = 0, gauss = 0, absolute = 0, variation = 0;
      for (std::size_t i = 0; i < 21; ++i) {
        const double value = values[i * size_ + c];
        kronrod += nodes[i].kronrod * value, gauss += nodes[i].gauss * value, absolute += nodes[i].kronrod * std::abs(value);
      }
      for (std::size_t i = 0; i < 21; ++i) variation += nodes[i].kronrod * std::abs(values[i * size_ + c] - kronrod / 2);
      const double width = std::abs(half), difference = width * std::abs(kronrod - gauss);
      variation *= width, absolute *= width;
      const double share = variation > 0 ? 200 * difference / variation : 0;
      const double scaled = variation > 0 ? variation * std::min(1.0, share * std::sqrt(share)) : difference;
      result.error[c] = std::max(scaled, 50 * std::numeric_limits<double>::epsilon() * absolute);
      result.absolute[c] = absolute;
    }
    return result;
  }

  double total(std::vector<double> measured::*what, std::size_t component) const {
    double sum = 0;
    for (const measured& each : parts_) sum += (each.*what)[component];
    return sum;
  }
  double allowed(std::size_t component) const {
    const double relative = options_.relative_tolerance * total(&measured::absolute, component);
    return component == 0 ? std::max(relative, options_.absolute_tolerance) : relative;
  }
  bool is_wanting() const {
    for (std::size_t c = 0; c < size_; ++c)
      if (total(&measured::error, c) > allowed(c)) return true;
    return false;
  }
  double worst() const {
    std::size_t found = 0;
    for (std::size_t c = 0; c < size_; ++c)
      if (total(&measured::error, c) > allowed(c)) found = c;
    return total(&measured::error, found);
  }
  bool is_zero() const {
    for (std::size_t c = 0; c < size_; ++c)
      if (total(&measured::absolute, c) > 0) return false;
    return true;
  }

  void bisect() {
    std::vector<double> limits(size_);
    for (std::size_t c = 0; c < size_; ++c) limits[c] = std::max(allowed(c), std::numeric_limits<double>::min());
    const bool blank = is_zero();
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const measured& each = parts_[i];
      const double width = each.right - each.left;
      double share = blank ? width : 0;
      for (std::size_t c = 0; c < size_; ++c) share = std::max(share, each.error[c] / limits[c]);
      // an interval whose halves rounding would make empty stays whole
      if (width <= 4 * std::numeric_limits<double>::epsilon() * std::abs(each.left + each.right)) share = -1;
      if (share > most) most = share, best = i;
    }
    const double left = parts_[best].left, right = parts_[best].right, middle = (left + right) / 2;
    parts_[best] = measure(left, middle);
    parts_.push_back(measure(middle, right));
  }

  /// Returns the errors that nodes do not show: of the gap between a singular limit and the number next to it, and of the ends
  /// of t, where a double exponential substitution is cut.
  double hidden_error() {
    std::vector<double> values(size_);
    double error = 0;
    for (const bool high : {false, true}) {
      if (!(high ? found_.high_singular : found_.low_singular)) continue;
      const double x = high ? map_.b : map_.a, inward = high == (map_.b > map_.a) ? -1 : 1;
      const double step = std::numeric_limits<double>::epsilon() * std::abs(x);
      f_({x + inward * step, 1, std::numeric_limits<double>::quiet_NaN()}, values.data());
      if (std::isfinite(values[0])) error += 2 * step * std::abs(values[0]);
    }
    if (map_.method == quadrature_method::double_exponential)
      for (const double t : {map_.span().first, map_.span().second}) {
        const placed at = map_.place(t);
        if (!is_inner(map_, found_, at)) continue;
        f_(at, values.data());
        if (std::isfinite(values[0] * at.slope)) error += std::abs(values[0] * at.slope);
      }
    return error;
  }

  [[noreturn]] AGRAD_COLD void fail(const std::string& fault, const std::string& remedy) const {
    throw SolverError(std::string(function_) + ": " + fault + "; " + remedy, std::numeric_limits<double>::quiet_NaN(),
                      static_cast<long>(parts_.size()), fault, remedy);
  }

  std::string_view function_;
  const substitution& map_;
  const integrand_values& f_;
  const quadrature_options& options_;
  std::size_t size_;
  std::vector<measured> parts_;
  partition found_{};
};

AGRAD_INLINE partition divide(std::string_view function, const substitution& map, const integrand_values& f, int components,
                              const quadrature_options& options) {
  return division(function, map, f, components, options).run();
}

}  // namespace agrad::detail
