// Count tails: log probabilities of the values up to a small count or beyond it, eight at once.
//
// Each tail is a sum of masses over the mass at the count, which needs only ratios of neighbouring masses. With the sums
// `below` and `above`, the probabilities are 1 / (1 + above / below) and 1 / (1 + below / above): nothing cancels in these, nor
// in their derivatives.
// Read first: probability/octets.hpp.
#pragma once

#include <agrad/probability/octets.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// The largest count for which sums are quick, and do not overflow.
inline constexpr double longest_tail = 64;

/// Formulas for the logarithm of the binomial distribution function, or of its complement.
template <bool is_upper>
struct binomial_tail_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  /// The inverse odds, the odds and 1 / (1 - theta).
  template <class S>
  static std::array<S, 3> prepare(const parts&, const each<S>& x) {
    const S rest = 1.0 - x[2];
    return {rest / x[2], x[2] / rest, 1.0 / rest};
  }
  static auto suits(const each<>& x) {
    return x[0] >= 0.0 && x[0] < x[1] && x[1] <= longest_tail && within(x[2], 1e-3, 1 - 1e-3);
  }
  static octet term(const std::array<octet, 3>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet hits = x[0], misses = x[1] - x[0];
    octet mass = 1.0, below = 1.0;
    for (double k = 0; !all_hold(hits <= k); ++k) below += mass = mass * (hits - k) * prepared[0] / (misses + (k + 1));
    octet above = mass = misses * prepared[1] / (hits + 1.0);
    for (double k = 1; !all_hold(misses <= k); ++k) above += mass = mass * (misses - k) * prepared[1] / (hits + (k + 1));
    slope[0] = slope[1] = 0.0;
    slope[2] = misses * prepared[2] / (is_upper ? above : -below);
    return -log1p(is_upper ? below / above : above / below);
  }
};

/// Formulas for the logarithm of the Poisson distribution function, or of its complement.
template <bool is_upper>
struct poisson_tail_octets : octet_formulas<2> {
  static constexpr bool fills_last = true;
  static auto suits(const each<>& x) { return x[0] >= 0.0 && x[0] <= longest_tail && within(x[1], 1e-3, 64); }
  static octet term(const std::array<octet, 0>&, const each<>& x, const parts&, each<>& slope) {
    const octet n = x[0], rate = x[1], inverse = 1.0 / rate;
    octet mass = 1.0, below = 1.0;
    for (double k = 0; !all_hold(n <= k); ++k) below += mass = mass * (n - k) * inverse;
    octet above = mass = rate / (n + 1.0);
    for (double k = 2; !all_hold(mass < 1e-17 * above); ++k) above += mass = mass * rate / (n + k);
    slope[0] = 0.0;
    slope[1] = 1.0 / (is_upper ? above : -below);
    return -log1p(is_upper ? below / above : above / below);
  }
};

}  // namespace agrad::detail
