// Count octets: parts of the log masses of counts that formulas for octets share, for small counts.
#pragma once

#include <array>

#include <agrad/probability/octets.hpp>
#include <agrad/rules/gamma/gamma.hpp>

namespace agrad::detail {

/// The logarithms of factorials are in a table for counts below this.
inline constexpr std::size_t small_count = 128;

inline std::array<double, small_count> make_log_factorials() {
  std::array<double, small_count> log_of{};
  for (std::size_t n = 2; n < small_count; ++n) log_of[n] = lgamma_rule::value(static_cast<double>(n) + 1);
  return log_of;
}

/// Returns log(n!) for counts below small_count.
inline double log_factorial(double n) {
  static const std::array<double, small_count> log_of = make_log_factorials();
  return log_of[static_cast<std::size_t>(n)];
}
inline octet log_factorial(const octet& n) {
  double lanes[octet::size];
  n.store(lanes);
  for (double& lane : lanes) lane = log_factorial(lane);
  return octet::load(lanes);
}

/// Returns log(N! / (n! (N - n)!)) for N below small_count.
template <class S>
S log_choices(const S& trials, const S& n) {
  return log_factorial(trials) - log_factorial(n) - log_factorial(trials - n);
}

/// Up to this count rising_product is quick, and its product of a shape below 1e9 does not overflow.
inline constexpr double longest_product = 32;

/// The product of (shape + k) / (k + 1), and the sum of 1 / (shape + k), both for k from 0 to n - 1; of one number or eight.
template <class S>
struct rising_product {
  S ratio = 1.0, sum_of_inverses = 0.0;

  rising_product(const S& n, const S& shape) {
    for (double k = 0; !all_hold(n <= k); ++k) {
      const auto goes_on = n > k;
      const S factor = shape + k;
      ratio = chosen(goes_on, ratio * factor * (1.0 / (k + 1)), ratio);
      sum_of_inverses += chosen(goes_on, 1.0 / factor, 0.0);
    }
  }
};

}  // namespace agrad::detail
