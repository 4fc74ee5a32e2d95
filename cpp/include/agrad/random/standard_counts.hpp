// Standard draws of counts: binomial, Poisson and hypergeometric numbers of any size below 2^53, in a logarithmic number of
// steps.
//
// A large number of trials, of expected events, or of successes is split by a beta or gamma number, until few are left, which
// are drawn one by one. So no acceptance compares logarithms of large factorials, whose digits cancel. Counts are doubles here.
// Read next: families/counts/poisson.hpp.
#pragma once

#include <cmath>

#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace must_be {
inline constexpr condition countable_rate{"nonnegative and at most 2^52, so that doubles count",
                                          [](double x) { return x >= 0 && x <= 0x1p52; }};
inline constexpr condition countable_log_rate{"a number, not nan, at most log(2^52), so that doubles count",
                                              [](double x) { return std::exp(x) <= 0x1p52; }};
}  // namespace must_be

namespace detail {

/// Draws the number of successes in n trials with probability p. Of n ordered uniform numbers the middle one is a beta number:
/// either it and all before are successes, or none from it on is.
/// Source: Devroye, Non-uniform random variate generation (1986), section X.4.3.
template <class URBG>
double draw_binomial(double n, double p, URBG& rng) {
  double k = 0;
  while (n > 15 && p > 0 && p < 1) {
    const double middle = std::floor(n / 2) + 1;
    const beta_pair u = draw_beta(middle, n + 1 - middle, rng);
    if (p < u.share) {
      n = middle - 1;
      p = p / u.share;
    } else {
      k += middle;
      n -= middle;
      p = (p - u.share) / u.rest;
    }
  }
  if (p <= 0) return k;
  if (p >= 1) return k + n;
  for (; n > 0; --n)
    if (open_unit_rng(rng) < p) ++k;
  return k;
}

/// Draws the number of events in the time `rate`: many of the expected events pass at once, at a gamma distributed time.
/// Source: Ahrens and Dieter (1974), Computing 12:223.
template <class URBG>
double draw_poisson(std::string_view function, double rate, draw_place place, URBG& rng) {
  if (AGRAD_UNLIKELY(!must_be::countable_rate.holds(rate)))
    fail_draw(function, "a rate of counts", rate, must_be::countable_rate.name, place);
  double k = 0;
  while (rate > 12) {
    const double m = std::floor(0.875 * rate), last = draw_large_gamma(m, rng);
    if (last >= rate) return k + draw_binomial(m - 1, rate / last, rng);  // the others are uniform up to the last
    k += m;
    rate -= last;
  }
  for (double t = draw_exponential(rng); t < rate; t += draw_exponential(rng)) ++k;
  return k;
}

/// Draws the number of successes in n draws without replacement from a successes and b failures. In a sequence of all of them,
/// the number of failures before the middle success is beta binomial; the part that is drawn whole, or not at all, is left out.
template <class URBG>
double draw_hypergeometric(double n, double a, double b, URBG& rng) {
  if (a > b) return n - draw_hypergeometric(n, b, a, rng);
  double k = 0;
  while (a > 0 && n > 0) {
    const double middle = std::floor((a + 1) / 2);
    const double before = draw_binomial(b, draw_beta(middle, a + 1 - middle, rng).share, rng);
    if (middle + before <= n) {
      k += middle;
      n -= middle + before;
      a -= middle;
      b -= before;
    } else {
      a = middle - 1;
      b = before;
    }
  }
  return k;
}

/// Draws a whole number from l to u. Equal parts of the 2^53 - 1 numbers of open_unit_rng are accepted; too large a range is
/// halved.
template <class URBG>
double draw_whole(double l, double u, URBG& rng) {
  while (u - l >= 0x1p52) {
    const double middle = std::floor(l / 2 + u / 2);
    if (open_unit_rng(rng) < (middle - l + 1) / (u - l + 1))
      u = middle;
    else
      l = middle + 1;
  }
  const double parts = u - l + 1, size = std::floor((0x1p53 - 1) / parts);
  for (;;) {
    const double part = std::floor((open_unit_rng(rng) * 0x1p53 - 1) / size);
    if (part < parts) return l + part;
  }
}

}  // namespace detail
}  // namespace agrad
