// Standard draws: uniform, exponential, logistic, normal and gamma numbers from any generator of random bits.
//
// A generator is what the standard calls a UniformRandomBitGenerator, such as std::mt19937_64. All formulas are here, because
// the standard's distributions give other numbers with each library: with one generator and one seed, draws differ at most by
// the rounding of the platform's exp and log. Small gamma shapes, whose draws underflow, are drawn as logarithms.
// Read next: families/positive/gamma.hpp, which uses these; random/apply.hpp, the checks of parameters.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <agrad/rules/rule.hpp>

namespace agrad {

namespace detail {

/// Returns the number of bits of which every value is among those of a generator.
constexpr int whole_bits(std::uint64_t range) {
  int bits = 0;
  while (bits < 64 && (bits == 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << bits) - 1) <= range) ++bits;
  return bits;
}

}  // namespace detail

/// Draws a number in (0, 1), a multiple of 2^-53, from any generator of random bits: never 0 or 1.
template <class URBG>
double open_unit_rng(URBG& rng) {
  constexpr std::uint64_t least = static_cast<std::uint64_t>((URBG::min)());
  constexpr int width = detail::whole_bits(static_cast<std::uint64_t>((URBG::max)()) - least);
  static_assert(width > 0, "the generator has a single value");
  constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - width), kept = (std::uint64_t{1} << 53) - 1;
  for (;;) {
    std::uint64_t bits = 0;
    for (int have = 0; have < 53; have += width) {
      std::uint64_t next;
      do next = static_cast<std::uint64_t>(rng()) - least;
      while (next > mask);
      if constexpr (width == 64)
        bits = next >> 11;  // the upper bits, which are the better ones of simple generators
      else
        bits = (bits << width) | next;
    }
    if ((bits & kept) != 0) return static_cast<double>(bits & kept) * 0x1p-53;
  }
}

namespace detail {

/// Draws a standard exponential number, which has a logarithm: the least is 2^-53.
template <class URBG>
double draw_exponential(URBG& rng) {
  return -std::log(open_unit_rng(rng));
}

/// Draws a standard logistic number: the log odds of a uniform one, which has digits in both tails.
template <class URBG>
double draw_logistic(URBG& rng) {
  const double u = open_unit_rng(rng);
  return std::log(u) - std::log1p(-u);
}

/// Draws a standard normal number, by a point in the unit disk.
/// Source: Marsaglia and Bray (1964), SIAM Review 6:260.
template <class URBG>
double draw_normal(URBG& rng) {
  for (;;) {
    const double x = 2 * open_unit_rng(rng) - 1, y = 2 * open_unit_rng(rng) - 1, s = x * x + y * y;
    if (s < 1 && s > 0) return x * std::sqrt(-2 * std::log(s) / s);
  }
}

/// Draws a standard Cauchy number: a ratio of the coordinates of a point in the unit disk.
template <class URBG>
double draw_cauchy(URBG& rng) {
  for (;;) {
    const double x = 2 * open_unit_rng(rng) - 1, y = 2 * open_unit_rng(rng) - 1;
    if (x * x + y * y < 1 && y != 0) return x / y;
  }
}

/// Draws a standard gamma number of a shape from 1 on. Where w is small, the first terms of the logarithm of the ratio of
/// densities cancel, and the rest is a series.
/// Source: Marsaglia and Tsang (2000), ACM Transactions on Mathematical Software 26:363.
template <class URBG>
double draw_large_gamma(double shape, URBG& rng) {
  const double d = shape - 1.0 / 3, c = 1 / (3 * std::sqrt(d));
  for (;;) {
    const double x = draw_normal(rng), w = c * x;
    if (w <= -1) continue;
    const double log_ratio = std::abs(w) < 0.01 ? -d * w * w * w * w * (0.75 - w * (0.6 - w * (0.5 - w * (3.0 / 7))))
                                                : 0.5 * x * x + d * (3 * std::log1p(w) - w * (3 + w * (3 + w)));
    if (log_ratio + draw_exponential(rng) > 0) return d * (1 + w) * (1 + w) * (1 + w);
  }
}

/// Draws the logarithm of a standard gamma number, which is finite where the number underflows. A number of shape a < 1 is one
/// of shape a + 1 times a uniform one to the power 1 / a.
template <class URBG>
double draw_log_gamma(double shape, URBG& rng) {
  if (shape >= 1) return std::log(draw_large_gamma(shape, rng));
  const double log_larger = std::log(draw_large_gamma(shape + 1, rng));
  return log_larger - draw_exponential(rng) / shape;
}

/// Returns factor (G / rate)^power of a standard gamma number G.
template <class URBG>
double draw_gamma_power(double shape, double rate, double power, double factor, URBG& rng) {
  if (shape >= 1) return factor * std::pow(draw_large_gamma(shape, rng) / rate, power);
  return std::exp(std::log(factor) + power * (draw_log_gamma(shape, rng) - std::log(rate)));
}

/// Two gamma numbers divided by their sum: a beta number, and 1 less this number without cancellation.
struct beta_pair {
  double share, rest;
};
template <class URBG>
beta_pair draw_beta(double a, double b, URBG& rng) {
  const double largest = std::fmax(a, b), smallest = std::fmin(a, b);
  if (smallest >= 1) {
    const double x = draw_large_gamma(a, rng), y = draw_large_gamma(b, rng);
    return {1 / (1 + y / x), 1 / (1 + x / y)};
  }
  const double scale = largest < 1e-100 ? 1e-100 / largest : 1;  // one of the two is all of the sum, whichever the scale
  const double log_first = draw_log_gamma(a * scale, rng), log_odds = log_first - draw_log_gamma(b * scale, rng);
  return {1 / (1 + std::exp(-log_odds)), 1 / (1 + std::exp(log_odds))};
}

}  // namespace detail
}  // namespace agrad
