// The sine of octets: by the rest of the division by pi and a polynomial, for arguments below 1e5 in size.
//
// The relative error is below 3.2e-16, as measured, also close to multiples of pi: pi is the sum of three numbers, of which the
// first two have 33 bits, so that their products with the number of half turns are exact.
#pragma once

#include <cmath>

#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/gamma/stirling.hpp>
#include <agrad/rules/polygamma.hpp>

namespace agrad::detail {

/// Returns sin(r) for |r| <= pi / 2: (sin(r) / r - 1) / r^2 is a polynomial of r^2, fitted to 60 digits with an error of 1e-17.
AGRAD_ALWAYS_INLINE octet sine_of_quarter(const octet& r) {
  constexpr double of_squares[] = {-0.16666666666666666,   0.008333333333333316,   -0.00019841269841254966,
                                   2.7557319219160833e-06, -2.505210761669045e-08, 1.6058977292642743e-10,
                                   -7.643969663988074e-13, 2.7314368769379893e-15};
  const octet square = r * r;
  return r + r * (square * polynomial_octet(of_squares, square));
}

/// Returns the whole number that is closest to x, for |x| below 2^51.
AGRAD_ALWAYS_INLINE octet nearest_whole(const octet& x) { return (x + exponent_shift) - exponent_shift; }

/// Returns x less a whole number of half turns, between -pi / 2 and pi / 2, and that number.
AGRAD_ALWAYS_INLINE octet rest_of_half_turns(const octet& x, octet& half_turns) {
  half_turns = nearest_whole(inv_pi * x);
  return ((x - half_turns * 0x1.921fb54400000p+1) - half_turns * 0x1.0b4611a600000p-33) - half_turns * 0x1.3198a2e037073p-68;
}

/// Returns sin(x) or -sin(x).
AGRAD_ALWAYS_INLINE octet sine_but_for_sign(const octet& x) {
  octet half_turns;
  return sine_of_quarter(rest_of_half_turns(x, half_turns));
}

/// Returns sin(x).
AGRAD_ALWAYS_INLINE octet sine_octet(const octet& x) {
  octet half_turns;
  const octet rest = rest_of_half_turns(x, half_turns), half = 0.5 * half_turns;
  const octet odd = 2.0 * (half - nearest_whole(half));  // 0, 1 or -1
  return sine_of_quarter(rest) * (1.0 - 2.0 * (odd * odd));
}

/// Returns the sine of a number or of an octet, in formulas for both.
inline double sine(double x) { return std::sin(x); }
AGRAD_ALWAYS_INLINE octet sine(const octet& x) { return sine_octet(x); }

}  // namespace agrad::detail
