// Definitions of functionals/search/partition.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/search/partition.hpp>

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

AGRAD_INLINE placed substitution::inside() const {
  const auto [low, high] = span();
  return place(low + 0.37 * (high - low));
}

AGRAD_INLINE double substitution::inverse(double x) const {
  const bool exponential = method == quadrature_method::double_exponential;
  double t = 0;
  if (is_bounded()) {
    const double part = std::min(std::max((x - a) / (b == a ? 1.0 : b - a), 0.0), 1.0);
    t = exponential ? std::asinh(std::log(part / (1 - part)) / quadrature_pi) : part;
  } else if (low_finite || high_finite) {
    const double y = std::max(low_finite ? x - a : b - x, 0.0);
    t = exponential ? std::asinh(std::log(y) * 2 / quadrature_pi) : y / (1 + y);
  } else {
    t = exponential ? std::asinh(std::asinh(x) * 2 / quadrature_pi) : 2 * x / (1 + std::sqrt(1 + 4 * x * x));
  }
  const auto [low, high] = span();
  return std::isnan(t) ? low : std::min(std::max(t, low), high);
}

AGRAD_INLINE bool substitution::contains(double x) const {
  if (is_bounded()) return x > std::min(a, b) && x < std::max(a, b);
  if (low_finite) return x > a;
  return high_finite ? x < b : std::isfinite(x);
}

AGRAD_INLINE bool is_inner(const partition& found, const placed& at) {
  return std::isfinite(at.x) && std::isfinite(at.slope) &&
         std::find(found.singular.begin(), found.singular.end(), at.x) == found.singular.end();
}

/// An interval of t with integrals, errors and absolute integrals of all components.
struct measured {
  double left, right;
  std::vector<double> integral, error, absolute;
};

/// A place that is given between the limits, and the integrand of t there, 0 where it is not finite.
struct given_break {
  double t;
  std::vector<double> values;
};

class division {
 public:
  division(const substitution& map, const integrand& f, const quadrature_options& options)
      : map_(map), f_(f), options_(options), size_(f.components), is_empty_(map.is_bounded() && map.a == map.b) {}

  partition run() {
    find_singular();
    for (const double x : options_.points) add_break(x);
    start();
    interrupt_pace pace(4096);
    while (parts_.size() < options_.limit && std::isnan(found_.odd) && goes_on()) {
      pace.step();
      bisect();
    }
    finish();
    return std::move(found_);
  }

 private:
  static constexpr std::size_t least_if_zero = 64;  // intervals in which a function that is zero at all nodes is looked for
  static constexpr double epsilon = std::numeric_limits<double>::epsilon(), nan = std::numeric_limits<double>::quiet_NaN();

  bool are_finite(const double* values) const {
    return std::all_of(values, values + f_.results, [](double v) { return std::isfinite(v); });
  }
  std::vector<double> values_at(const placed& at) const {
    std::vector<double> values(size_);
    f_.values(&at, 1, values.data());
    return values;
  }
  std::vector<double> values_at(double x) const { return values_at({x, 1, nan}); }

  void find_singular() {
    if (options_.takes_distance) return;
    std::vector<double> sites;
    if (map_.low_finite) sites.push_back(map_.a);
    if (map_.high_finite) sites.push_back(map_.b);
    sites.insert(sites.end(), options_.points.begin(), options_.points.end());
    for (const double x : sites)
      if (!are_finite(values_at(x).data())) found_.singular.push_back(x);
  }

  void add_break(double x) {
    has_points_ = has_points_ || map_.contains(x);
    const double t = map_.inverse(x);
    const placed at = map_.place(t);
    given_break one{t, std::vector<double>(size_, 0.0)};
    if (map_.contains(at.x)) one.values = values_at({x, at.slope, at.distance});
    for (double& each : one.values) each = std::isfinite(each * at.slope) ? each * at.slope : 0;
    breaks_.push_back(std::move(one));
  }

  void start() {
    const auto [low, high] = map_.span();
    std::vector<double> ends;
    for (std::size_t i = 0; i <= first_intervals; ++i)
      ends.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(first_intervals));
    for (const given_break& each : breaks_) ends.push_back(each.t);
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) parts_.push_back(measure(ends[i - 1], ends[i]));
  }

  /// Source: QUADPACK's qk21.
  measured measure(double left, double right) {
    const auto& nodes = rule_nodes();
    const double middle = (left + right) / 2, half = (right - left) / 2, width = std::abs(half);
    const std::vector<double> values = values_at_nodes(middle, half);
    measured result{left, right, std::vector<double>(size_), std::vector<double>(size_), std::vector<double>(size_)};
    for (std::size_t c = 0; c < size_; ++c) {
      double kronrod = 0, gauss = 0, absolute = 0, variation = 0;
      for (std::size_t i = 0; i < 21; ++i) {
        const double value = values[i * size_ + c];
        kronrod += nodes[i].kronrod * value, gauss += nodes[i].gauss * value, absolute += nodes[i].kronrod * std::abs(value);
      }
      for (std::size_t i = 0; i < 21; ++i) variation += nodes[i].kronrod * std::abs(values[i * size_ + c] - kronrod / 2);
      const double difference = width * std::abs(kronrod - gauss);
      variation *= width, absolute *= width;
      const double share = variation > 0 ? 200 * difference / variation : 0;
      const double scaled = variation > 0 ? variation * std::min(1.0, share * std::sqrt(share)) : difference;
      result.error[c] = std::max(scaled, 50 * epsilon * absolute) + unseen(left, right, c, values[c], values[20 * size_ + c]);
      result.absolute[c] = absolute, result.integral[c] = half * kronrod;
    }
    return result;
  }
  /// Returns the integrand of t at the nodes of an interval; zeros where it is not finite.
  std::vector<double> values_at_nodes(double middle, double half) {
    std::vector<placed> inner;
    std::array<std::size_t, 21> place{};
    for (std::size_t i = 0; i < 21; ++i) {
      const placed at = map_.place(middle + half * rule_nodes()[i].place);
      if (is_inner(found_, at)) place[inner.size()] = i, inner.push_back(at);
    }
    std::vector<double> values(21 * size_, 0.0), found(inner.size() * size_);
    if (!inner.empty()) f_.values(inner.data(), inner.size(), found.data());
    for (std::size_t k = 0; k < inner.size(); ++k) {
      const double *from = &found[k * size_], slope = inner[k].slope;
      if (!are_finite(from)) {
        found_.odd = std::isnan(found_.odd) ? inner[k].x : std::max(found_.odd, inner[k].x);
        continue;
      }
      for (std::size_t c = 0; c < size_ && slope != 0; ++c)
        if (std::isfinite(from[c])) values[place[k] * size_ + c] = from[c] * slope;
    }
    return values;
  }
  /// Returns the error beside points: a peak at a point need not reach the nearest node. low, high: the component at the first
  /// and at the last node.
  double unseen(double left, double right, std::size_t c, double low, double high) const {
    const double gap = (1 - rule_nodes()[20].place) * (right - left) / 2;
    double error = 0;
    for (const given_break& each : breaks_) {
      if (each.values[c] == 0) continue;
      if (left == each.t) error += gap * std::abs(each.values[c] - low);
      if (right == each.t) error += gap * std::abs(each.values[c] - high);
    }
    return error;
  }

  double total(std::vector<double> measured::*what, std::size_t component) const {
    double sum = 0;
    for (const measured& each : parts_) sum += (each.*what)[component];
    return sum;
  }
  double allowed(std::size_t component) const {
    const double relative = options_.relative_tolerance * total(&measured::absolute, component);
    return component < f_.results ? std::max(relative, options_.absolute_tolerance) : relative;
  }
  bool are_zero(std::vector<double> measured::*what) const {
    for (std::size_t c = 0; c < size_; ++c)
      if (total(what, c) > 0) return false;
    return true;
  }
  bool goes_on() const {
    for (std::size_t c = 0; c < size_; ++c)
      if (total(&measured::error, c) > allowed(c)) return true;
    return !has_points_ && !is_empty_ && parts_.size() < least_if_zero && are_zero(&measured::absolute);
  }

  void bisect() {
    std::vector<double> limits(size_);
    for (std::size_t c = 0; c < size_; ++c) limits[c] = allowed(c) > 0 ? allowed(c) : 1;
    const bool blank = are_zero(&measured::error);
    std::size_t best = 0;
    double most = -2;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const measured& each = parts_[i];
      const double width = each.right - each.left;
      double share = blank ? width : 0;
      for (std::size_t c = 0; c < size_; ++c) share = std::max(share, each.error[c] / limits[c]);
      // an interval whose halves rounding would make empty stays whole
      if (width <= 4 * epsilon * std::abs(each.left + each.right)) share = -1;
      if (share > most) most = share, best = i;
    }
    const double left = parts_[best].left, right = parts_[best].right, middle = (left + right) / 2;
    parts_[best] = measure(left, middle);
    parts_.push_back(measure(middle, right));
  }

  void finish() {
    std::vector<double> hidden(size_, 0.0);
    add_gaps(hidden);
    if (map_.method == quadrature_method::double_exponential) add_ends(hidden);
    found_.has_values = has_points_ || is_empty_ || !are_zero(&measured::absolute);
    found_.is_accurate = found_.has_values && std::isnan(found_.odd);
    for (std::size_t c = 0; c < size_; ++c) {
      found_.integral.push_back(total(&measured::integral, c));
      found_.error.push_back(total(&measured::error, c) + hidden[c]);
      found_.allowed.push_back(allowed(c));
      found_.is_accurate = found_.is_accurate && found_.error[c] <= found_.allowed[c];
    }
    for (const measured& each : parts_) found_.intervals.emplace_back(each.left, each.right);
  }
  /// Adds the integrals between singular sites and the numbers next to them, with a reserve.
  void add_gaps(std::vector<double>& hidden) const {
    for (const double site : found_.singular) {
      double step = epsilon * std::abs(site);
      if (map_.is_bounded()) step = std::min(step, std::abs(map_.b - map_.a) / 4);
      for (const double x : {site - step, site + step}) {
        if (!map_.contains(x)) continue;
        const std::vector<double> values = values_at(x);
        for (std::size_t c = 0; c < f_.results; ++c)
          if (std::isfinite(values[c])) hidden[c] += 2 * step * std::abs(values[c]);
      }
    }
  }
  /// Adds the size of the integrand at the ends of t, where a double exponential substitution is cut.
  void add_ends(std::vector<double>& hidden) const {
    for (const double t : {map_.span().first, map_.span().second}) {
      const placed at = map_.place(t);
      if (!is_inner(found_, at)) continue;
      const std::vector<double> values = values_at(at);
      for (std::size_t c = 0; c < f_.results; ++c)
        if (std::isfinite(values[c] * at.slope)) hidden[c] += std::abs(values[c] * at.slope);
    }
  }

  const substitution& map_;
  const integrand& f_;
  const quadrature_options& options_;
  std::size_t size_;
  bool is_empty_, has_points_ = false;  // whether a = b, and whether a point is between the limits
  std::vector<given_break> breaks_;
  std::vector<measured> parts_;
  partition found_{};
};

AGRAD_INLINE partition divide(const substitution& map, const integrand& f, const quadrature_options& options) {
  return division(map, f, options).run();
}

AGRAD_INLINE void check_accuracy(std::string_view function, const partition& found) {
  if (found.is_accurate) return;
  const std::size_t count = found.intervals.size();
  std::string fault, remedy;
  if (!std::isnan(found.odd)) {
    fault = "the integrand at x = " + to_text(found.odd) + " is not finite, but must be finite between the limits";
    remedy = "divide the interval at the place of the singularity";
  } else if (!found.has_values) {
    fault = "the integrand is 0 at all of " + std::to_string(21 * count) + " nodes, but must be other than 0 at one";
    remedy = "divide the interval at the place of the peak";
  } else {
    std::size_t worst = 0;
    for (std::size_t c = 0; c < found.error.size(); ++c)
      if (found.error[c] - found.allowed[c] > found.error[worst] - found.allowed[worst]) worst = c;
    fault = "the estimate of the error is " + to_text(found.error[worst]) + ", but must be at most " +
            to_text(found.allowed[worst]) + "; after " + std::to_string(count) + " intervals";
    remedy = "loosen the tolerance, raise the number of intervals, or shift a singularity at a limit to 0";
  }
  throw SolverError(std::string(function) + ": " + fault + "; " + remedy, std::numeric_limits<double>::quiet_NaN(),
                    static_cast<long>(count), fault, remedy);
}

}  // namespace agrad::detail
