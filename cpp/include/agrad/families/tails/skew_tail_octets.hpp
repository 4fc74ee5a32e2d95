// Skew tail octets: the integrals of eight light tails of the skew normal distribution at once, by Gauss and Legendre's rule.
//
// With b = a h the tail is a difference of normal tails and of T, Owen's function of (h, a), or of (b, 1 / a) where a > 1 (Owen
// 1956, equation 2.3), whose integrand has its poles far off. The difference loses less than two digits up to a depth, beyond
// which the tail's factor (families/tails/skew_tail.hpp) is an integral of its own. At depths beyond both the number of nodes
// is too small.
#pragma once

#include <agrad/rules/density/first_lane.hpp>
#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/gauss_legendre.hpp>
#include <agrad/rules/power.hpp>

namespace agrad::detail {

/// Returns 2 T(p, q) exp(p^2 / 2) for 0 <= q <= 1. The integrand is even, so half of the nodes between -q and q are enough.
inline octet scaled_owens_t_octet(const octet& p, const octet& q) {
  const octet square = q * q, exponent = -0.5 * (p * p) * square;
  octet sum = 0.0;
  for (int i = 0; i < 16; ++i) {
    const double node = gauss_nodes[i] * gauss_nodes[i];
    sum += gauss_weights[i] * exp_inside(exponent * node) / (1.0 + square * node);
  }
  return inv_pi * (q * sum);
}

/// Returns the factor of a light tail at depth h^2 / (8 w^2), where w = sqrt(1 + a^2) - a. With t = (1 / (w x) - w x) / 2 the
/// integral is one over x between 0 and 1. The nodes that are left out have weights below exp(-40) from the least depth on.
inline octet deep_skew_factor_octet(const octet& depth, const octet& a) {
  const octet w = 1.0 / (a + sqrt(1.0 + a * a)), square = w * w, fourth = square * square;
  octet sum = 0.0;
  for (int i = 0; i < 32; ++i) {
    const double x = 0.5 + 0.5 * (i < 16 ? gauss_nodes[i] : -gauss_nodes[31 - i]), x2 = x * x;
    if (x < 0.2) break;
    sum += gauss_weights[i < 16 ? i : 31 - i] * exp_inside(-depth * ((1 / x2 - 1) * (1.0 - fourth * x2))) / (1.0 + square * x2);
  }
  return inv_pi * (w * sum);
}

/// The depths between which the factor's integral has all digits.
inline constexpr double least_skew_depth = 2.8, largest_skew_depth = 18;

/// Returns the depth of the tail; 0 where b <= 3/2, where the difference is enough at any depth.
template <class S>
S skew_tail_depth(const S& h, const S& a) {
  const S root = h * (a + sqrt(1.0 + a * a));
  return chosen(a * h > 1.5, 0.125 * (root * root), S(0.0));
}

/// Returns the tail as a difference; `owen` is 2 T, `core` is erf(h / sqrt(2)), `tail` and `tail_b` are ndtr of -h and -b.
template <class Condition, class S>
S skew_tail_difference(const Condition& turns, const S& owen, const S& core, const S& tail, const S& tail_b) {
  return chosen(turns, owen - tail_b * core, tail - owen);
}

}  // namespace agrad::detail
