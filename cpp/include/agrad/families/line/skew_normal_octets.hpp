// Skew normal octets: eight log probabilities of the skew normal distribution at once.
//
// With h = |z|, a = |alpha| and b = a h, the probability P and 1 - P are a light tail and its complement, or a heavy tail and
// its complement, which are sums of positive parts. The logarithm is that of the smaller one of P and 1 - P; the derivatives
// are densities over P.
// Read first: families/tails/skew_tail_octets.hpp. Read next: families/line/skew_normal.hpp.
#pragma once

#include <agrad/families/shared/normal_octets.hpp>
#include <agrad/families/tails/skew_tail_octets.hpp>
#include <agrad/probability/octets.hpp>
#include <agrad/rules/error/error.hpp>

namespace agrad::detail {

/// Eight terms, and the lanes whose probability is a light tail or the complement of one.
struct skew_octet {
  octet z, h, a, b;
  octet_condition is_below, is_light, turns;

  skew_octet(const octet& z_, const octet& alpha)
      : z(z_),
        h(abs(z)),
        a(abs(alpha)),
        b(a * h),
        is_below(z <= 0.0),
        is_light(chosen(alpha * z < 0.0, octet(1.0), chosen(is_below && alpha >= 0.0, octet(1.0), 0.0)) > 0.5),
        turns(a > 1.0) {}

  /// Returns where the formulas have all digits.
  octet_condition suits() const {
    return h < 20.0 && b < 20.0 && chosen(h < b, h, b) < 6.0 &&
           chosen(is_light, skew_tail_depth(h, a), 0.0) < largest_skew_depth;
  }

  /// Returns the logarithms of the probabilities below z, and the partial derivatives with respect to z and alpha.
  octet log_probability(octet& by_z, octet& by_alpha) const {
    const octet bell = normal_bell(h), bell_b = normal_bell(b), both = bell * bell_b;
    const octet tail = scaled_ndtr(h) * bell, tail_b = scaled_ndtr(b) * bell_b;
    const octet core = erf(inv_sqrt_2 * h);
    const octet owen = chosen(turns, bell_b, bell) * scaled_owens_t_octet(chosen(turns, b, h), chosen(turns, 1.0 / a, a));
    const octet light = deep_or(skew_tail_difference(turns, owen, core, tail, tail_b), both);
    const octet heavy = chosen(turns, 2.0 * tail * (1.0 - tail_b) + (tail_b - owen), tail + owen),
                rest_of_heavy = chosen(turns, owen + core * (1.0 - tail_b), (1.0 - tail) - owen);
    const octet smaller = chosen(is_light, light, heavy), larger = chosen(is_light, 1.0 - light, rest_of_heavy);
    const octet share = chosen(is_below, smaller, larger), other = chosen(is_below, larger, smaller), inverse = 1.0 / share;
    by_z = (2.0 * inv_sqrt_two_pi) * bell * chosen(is_light, tail_b, 1.0 - tail_b) * inverse;
    by_alpha = -inv_pi * both * inverse / (1.0 + a * a);
    // Above 1/2 the logarithm is that of a rounded difference, corrected by what the difference has lost.
    const octet_condition is_small = share < 0.5;
    const octet rest = 1.0 - other;
    return log(chosen(is_small, share, rest)) + chosen(is_small, 0.0, ((1.0 - rest) - other) / rest);
  }

 private:
  /// Returns the light tails, where they are deep by their own integral.
  octet deep_or(const octet& difference, const octet& both) const {
    const octet depth = chosen(is_light, skew_tail_depth(h, a), 0.0);
    if (all_hold(depth <= least_skew_depth)) return difference;
    const octet_condition is_deep = depth > least_skew_depth;
    return chosen(is_deep, both * deep_skew_factor_octet(chosen(is_deep, depth, least_skew_depth), a), difference);
  }
};

/// Formulas for octets of the log probability below Sign z, with the shape Sign alpha.
template <int Sign>
struct skew_normal_octets : octet_formulas<4> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[2]};
  }
  static auto suits(const each<>& x) {
    const octet d = x[0] - x[1];
    return within(x[2], 1e-50, 1e50) && within(d, -1e50, 1e50) && within(x[3], -1e50, 1e50) &&
           skew_octet(Sign * (d / x[2]), Sign * x[3]).suits();
  }
  static octet term(const std::array<octet, 1>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet z = (x[0] - x[1]) * prepared[0];
    octet by_z, by_alpha;
    const octet value = skew_octet(Sign * z, Sign * x[3]).log_probability(by_z, by_alpha);
    slope[0] = Sign * prepared[0] * by_z;
    slope[1] = -slope[0];
    slope[2] = -z * slope[0];
    slope[3] = Sign * by_alpha;
    return value;
  }
};

}  // namespace agrad::detail
