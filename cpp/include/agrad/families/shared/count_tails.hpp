// Count tails: log probabilities of the values up to a small count or beyond it, eight at once.
//
// Each tail is a sum of masses over the mass at the count, which needs only ratios of neighbouring masses. With the sums
// `below` and `above`, the probabilities are 1 / (1 + above / below) and 1 / (1 + below / above): nothing cancels in these, nor
// in their derivatives.
// Read first: probability/octets.hpp.
#pragma once

#include <agrad/families/tails/neg_binomial_sums.hpp>
#include <agrad/probability/octets.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// The largest count for which sums are quick, and do not overflow.
inline constexpr double longest_tail = 64;

/// The masses of a binomial distribution up to a count and beyond it, over the mass at the count; of one number or eight. A
/// quotient does not wait for the one before it.
template <class S>
struct binomial_sums {
  S below = 1.0, above = 0.0;

  binomial_sums(const S& hits, const S& misses, const S& inverse_odds, const S& odds) {
    S mass = 1.0;
    for (double k = 0; !all_hold(hits <= k); ++k) below += mass = mass * ((hits - k) * inverse_odds / (misses + (k + 1)));
    above = mass = misses * odds / (hits + 1.0);
    for (double k = 1; !all_hold(misses <= k); ++k) above += mass = mass * ((misses - k) * odds / (hits + (k + 1)));
  }
};
/// Returns whether these sums are quick and exact for a count, the number of trials, and theta.
template <class S>
auto has_short_binomial_sums(const S& n, const S& trials, const S& theta) {
  return n >= 0.0 && n < trials && trials <= longest_tail && theta > 1e-3 && theta < 1 - 1e-3;
}

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
  template <class S>
  static auto suits(const each<S>& x) {
    return has_short_binomial_sums(x[0], x[1], x[2]);
  }
  template <class S>
  static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    const S misses = x[1] - x[0];
    const binomial_sums<S> sums(x[0], misses, prepared[0], prepared[1]);
    slope[0] = slope[1] = 0.0;
    slope[2] = misses * prepared[2] / (is_upper ? sums.above : -sums.below);
    return -log1p(is_upper ? sums.below / sums.above : sums.above / sums.below);
  }
};

/// Formulas for the logarithm of the Poisson distribution function, or of its complement.
template <bool is_upper>
struct poisson_tail_octets : octet_formulas<2> {
  static constexpr bool fills_last = true;
  template <class S>
  static auto suits(const each<S>& x) {
    return x[0] >= 0.0 && x[0] <= longest_tail && within(x[1], 1e-3, 64);
  }
  template <class S>
  static S term(const std::array<S, 0>&, const each<S>& x, const parts&, each<S>& slope) {
    const S n = x[0], rate = x[1], inverse = 1.0 / rate;
    S mass = 1.0, below = 1.0;
    for (double k = 0; !all_hold(n <= k); ++k) below += mass = mass * (n - k) * inverse;
    S above = mass = rate / (n + 1.0);
    for (double k = 2; !all_hold(mass < 1e-17 * above); ++k) above += mass = mass * (rate / (n + k));
    slope[0] = 0.0;
    slope[1] = 1.0 / (is_upper ? above : -below);
    return -log1p(is_upper ? below / above : above / below);
  }
};

/// Formulas for the logarithm of the negative binomial distribution function of a mean and a precision, or of its complement.
template <bool is_upper>
struct neg_binomial_2_tail_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  template <class S>
  static std::array<S, 3> prepare(const parts&, const each<S>& x) {
    return neg_binomial_start(x[1], x[2]);
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return has_short_sums(x[0], x[1], x[2]);
  }
  static octet term(const std::array<octet, 3>& prepared, const each<>& x, const parts&, each<>& slope) {
    const neg_binomial_tail<octet> tail = short_neg_binomial_tail(prepared, x[0], x[1], x[2], is_upper, true);
    slope[0] = 0.0;
    slope[1] = tail.of_mean;
    slope[2] = tail.of_precision;
    return tail.value;
  }
};

/// The same for a shape alpha and an inverse scale beta: the mean is alpha / beta, the precision alpha.
template <bool is_upper>
struct neg_binomial_tail_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  /// The mean, and the start of the sums.
  template <class S>
  static std::array<S, 4> prepare(const parts&, const each<S>& x) {
    const S mean = x[1] / x[2], share = 1.0 / (1.0 + x[2]);
    return {mean, x[2] * share / x[1], share, share - apply<log1p_rule>(1.0 / x[2])};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return has_short_sums(x[0], x[1] / x[2], x[1]);
  }
  static octet term(const std::array<octet, 4>& prepared, const each<>& x, const parts&, each<>& slope) {
    const octet mean = prepared[0];
    const neg_binomial_tail<octet> tail =
        short_neg_binomial_tail({prepared[1], prepared[2], prepared[3]}, x[0], mean, x[1], is_upper, true);
    slope[0] = 0.0;
    slope[1] = tail.of_precision + tail.of_mean / x[2];
    slope[2] = -tail.of_mean * (mean / x[2]);
    return tail.value;
  }
};

}  // namespace agrad::detail
