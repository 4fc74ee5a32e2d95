// Count octets: parts of the log masses of counts that formulas for octets share, for small counts.
#pragma once

#include <array>
#include <cmath>

#include <agrad/probability/octets.hpp>

namespace agrad::detail {

/// Counts below this have tables.
inline constexpr double small_count = 128;

inline std::array<double, static_cast<std::size_t>(small_count)> make_log_factorials() {
  std::array<double, static_cast<std::size_t>(small_count)> log_of{};
  for (std::size_t n = 2; n < log_of.size(); ++n) log_of[n] = lgamma_rule::value(static_cast<double>(n) + 1);
  return log_of;
}

/// log(n!) for counts below small_count.
inline octet log_factorial(const octet& n) {
  static const std::array<double, static_cast<std::size_t>(small_count)> log_of = make_log_factorials();
  double lanes[octet::size];
  n.store(lanes);
  for (double& lane : lanes) lane = log_of[static_cast<std::size_t>(lane)];
  return octet::load(lanes);
}

/// log(N! / (n! (N - n)!)) for N below small_count.
inline octet log_choices(const octet& trials, const octet& n) {
  return log_factorial(trials) - log_factorial(n) - log_factorial(trials - n);
}

/// Counts up to this have products of as many factors.
inline constexpr double longest_product = 32;

/// The product of (shape + k) / (k + 1), and the sum of 1 / (shape + k), both for k from 0 to n - 1.
struct rising_product {
  octet ratio = 1.0, sum_of_inverses = 0.0;

  rising_product(const octet& n, const octet& shape) {
    for (double k = 0; !all_hold(n <= k); ++k) {
      const auto goes_on = n > k;
      const octet factor = shape + k;
      ratio = chosen(goes_on, ratio * factor * (1.0 / (k + 1)), ratio);
      sum_of_inverses += chosen(goes_on, 1.0 / factor, 0.0);
    }
  }
};

}  // namespace agrad::detail
