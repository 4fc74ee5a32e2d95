// Octet functions: exponential, logarithm and log(1 + x) of octets, by polynomials and the bits of doubles.
//
// They take half the time of Eigen's packets, which also serve arguments that are not normal numbers; these functions are for
// the intervals in which the rules' packets are accurate (rules/exponential.hpp), and elsewhere, at nan too, their results are
// without meaning. Where formulas are known to be inside, they call exp_inside, log_inside and log1p_inside, because a loop
// with a branch to another function keeps its sums in memory; of one number these are the functions of <cmath>. Errors in
// units in the last place, as measured: exp 1.0, log 0.9, log1p 1.5. The polynomials are minimax fits to 60 digits.
// Read next: rules/density/octet_rules.hpp, where the rules call these functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <agrad/rules/density/octet.hpp>

namespace agrad::detail {

/// Doubles as integers, for N lanes in two halves.
template <std::size_t N, bool is_vector = N <= widest_vector>
struct lane_bits {
  using half = lane_bits<N / 2>;
  using all = lanes<N, false>;
  AGRAD_ALWAYS_INLINE static all split(const all& x, all& exponent) {
    return {half::split(x.low, exponent.low), half::split(x.high, exponent.high)};
  }
  AGRAD_ALWAYS_INLINE static all scaled(const all& x, const all& shifted) {
    return {half::scaled(x.low, shifted.low), half::scaled(x.high, shifted.high)};
  }
};

/// Doubles as integers, for N lanes in one vector.
template <std::size_t N>
struct lane_bits<N, true> {
  /// Returns x / 2^exponent between sqrt(1/2) and sqrt(2), and the exponent, for positive normal numbers. An exponent becomes
  /// a double as the last bits of a number beyond 2^52.
  AGRAD_ALWAYS_INLINE static lanes<N> split(const lanes<N>& x, lanes<N>& exponent) {
    constexpr std::uint64_t root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, fraction = 0x000fffffffffffff;
    constexpr std::uint64_t large = 0x4330000000000000;
    integers above;
    copy_bits(x, above);
    above = above + (one - root);
    exponent = number_of((above >> 52) | large) - lanes<N>::same(4503599627370496.0 + 1023);
    return number_of((above & fraction) + root);
  }
  /// Returns x 2^k, where `shifted` is k + `exponent_shift`.
  AGRAD_ALWAYS_INLINE static lanes<N> scaled(const lanes<N>& x, const lanes<N>& shifted) {
    integers bits, exponents;
    copy_bits(x, bits);
    copy_bits(shifted, exponents);
    return number_of(bits + (exponents << 52));
  }

 private:
#if defined(__GNUC__)
  typedef std::uint64_t integers __attribute__((vector_size(N * sizeof(std::uint64_t))));
#else
  /// Integers that are computed one by one.
  struct integers {
    std::uint64_t of[N];
    template <class Operation>
    integers each(const Operation& operation) const {
      integers y;
      for (std::size_t i = 0; i < N; ++i) y.of[i] = operation(of[i], i);
      return y;
    }
    integers operator+(std::uint64_t y) const {
      return each([y](std::uint64_t x, std::size_t) { return x + y; });
    }
    integers operator+(const integers& y) const {
      return each([&y](std::uint64_t x, std::size_t i) { return x + y.of[i]; });
    }
    integers operator|(std::uint64_t y) const {
      return each([y](std::uint64_t x, std::size_t) { return x | y; });
    }
    integers operator&(std::uint64_t y) const {
      return each([y](std::uint64_t x, std::size_t) { return x & y; });
    }
    integers operator>>(int y) const {
      return each([y](std::uint64_t x, std::size_t) { return x >> y; });
    }
    integers operator<<(int y) const {
      return each([y](std::uint64_t x, std::size_t) { return x << y; });
    }
  };
#endif
  /// Writes where the caller says: clang warns of returned vectors that are wider than the machine's registers.
  AGRAD_ALWAYS_INLINE static void copy_bits(const lanes<N>& x, integers& bits) { std::memcpy(&bits, &x.all, sizeof bits); }
  AGRAD_ALWAYS_INLINE static lanes<N> number_of(const integers& bits) {
    lanes<N> x;
    std::memcpy(&x.all, &bits, sizeof bits);
    return x;
  }
};

/// The sum of a number k below 2^51 in size and this one has k in its last bits.
inline constexpr double exponent_shift = 6755399441055744;
/// log(2) as a double with 32 bits, whose products with exponents are exact, and the rest.
inline constexpr double log_2_head = 0x1.62e42fee00000p-1, log_2_rest = 1.9082149292705877e-10;

/// Returns c[First] + c[First + Step] y + c[First + 2 Step] y^2 + ...
template <std::size_t First, std::size_t Step, std::size_t N>
AGRAD_ALWAYS_INLINE octet every_term(const double (&c)[N], const octet& y) {
  constexpr std::size_t last = First + (N - 1 - First) / Step * Step;
  octet sum = c[last];
  for (std::size_t k = last; k > First; k -= Step) sum = sum * y + c[k - Step];
  return sum;
}
/// Returns c[0] + c[1] x + ... + c[N - 1] x^(N - 1): as two polynomials of x^2, or as four of x^4 if there are many terms;
/// their operations do not wait for each other.
template <std::size_t N>
AGRAD_ALWAYS_INLINE octet polynomial_octet(const double (&c)[N], const octet& x) {
  const octet square = x * x;
  if constexpr (N < 16) {
    return every_term<0, 2>(c, square) + x * every_term<1, 2>(c, square);
  } else {
    const octet fourth = square * square;
    const octet even = every_term<0, 4>(c, fourth) + square * every_term<2, 4>(c, fourth);
    return even + x * (every_term<1, 4>(c, fourth) + square * every_term<3, 4>(c, fourth));
  }
}

/// A power 2^k exp(r) with |r| <= log(2) / 2.
struct reduced_power {
  octet shifted;  // k + exponent_shift
  octet expm1;    // exp(r) - 1

  AGRAD_ALWAYS_INLINE octet value() const { return of(1.0 + expm1); }
  /// Returns the power less 1, which keeps its digits near 0.
  AGRAD_ALWAYS_INLINE octet less_one() const {
    const octet scale = of(1.0);
    return scale * expm1 + (scale - 1.0);
  }

 private:
  AGRAD_ALWAYS_INLINE octet of(const octet& x) const { return octet(lane_bits<octet::size>::scaled(x.all, shifted.all)); }
};

/// Returns exp(x) for -708 < x < 709; (exp(r) - 1 - r) / r^2 is a polynomial.
AGRAD_ALWAYS_INLINE reduced_power power_octet(const octet& x) {
  constexpr double rest[] = {0.5000000000000011,     0.16666666666666413,    0.04166666666653017,    0.008333333333494551,
                             0.001388888894362871,   0.00019841269506384643, 2.4801493099874702e-05, 2.755758654420492e-06,
                             2.7630248170596205e-07, 2.5000009274772652e-08};
  constexpr double inv_log_2 = 1.442695040888963407359924681;
  const octet shifted = x * inv_log_2 + exponent_shift, k = shifted - exponent_shift;
  const octet r = (x - k * log_2_head) - k * log_2_rest;
  return {shifted, r + (r * r) * polynomial_octet(rest, r)};
}
AGRAD_ALWAYS_INLINE octet exp_inside(const octet& x) { return power_octet(x).value(); }
AGRAD_ALWAYS_INLINE double exp_inside(double x) { return std::exp(x); }

/// A logarithm k log_2_head + rest, of which the first product is exact.
struct reduced_logarithm {
  octet k, rest;

  AGRAD_ALWAYS_INLINE octet head() const { return k * log_2_head; }
};

/// Returns log(x) for positive normal x = 2^k m: with f = m - 1 and s = f / (2 + f), log(m) = 2 atanh(s) = f - s (f - s^2 R),
/// where R = 2/3 + 2/5 s^2 + ... is a polynomial of s^2.
AGRAD_ALWAYS_INLINE reduced_logarithm logarithm_octet(const octet& x) {
  constexpr double series[] = {0.6666666666666734,  0.39999999999414654, 0.28571428742391597, 0.2222219857284058,
                               0.18183564342216418, 0.1531405016237555,  0.1479595352397251};
  octet k;
  const octet f = octet(lane_bits<octet::size>::split(x.all, k.all)) - 1.0;
  const octet s = f / (2.0 + f), square = s * s;
  return {k, f - (s * (f - square * polynomial_octet(series, square)) - k * log_2_rest)};
}
AGRAD_ALWAYS_INLINE octet log_inside(const octet& x) {
  const reduced_logarithm log_x = logarithm_octet(x);
  return log_x.head() + log_x.rest;
}

AGRAD_ALWAYS_INLINE double log_inside(double x) { return std::log(x); }

/// Returns log(1 + x) for x > -1: the logarithm of the rounded sum, corrected by the rounding error.
AGRAD_ALWAYS_INLINE octet log1p_inside(const octet& x) {
  const octet sum = 1.0 + x;
  return log_inside(sum) + (x - (sum - 1.0)) / sum;
}
AGRAD_ALWAYS_INLINE double log1p_inside(double x) { return std::log1p(x); }

}  // namespace agrad::detail
