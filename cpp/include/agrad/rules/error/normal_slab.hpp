// The probability that a normal variable is in a narrow interval, relative to the density at its middle.
//
// The mean of the density over the interval of half width h around z is phi(z) times the sum of He_2k(z) h^2k / (2 k + 1)!
// over k >= 0 (Taylor's series; DLMF 18.5.13 has Hermite's polynomials). Differences of distribution functions would cancel.
#pragma once

#include <agrad/rules/apply.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

/// The intervals for which the series has all digits have h (1 + |z|) below this.
inline constexpr double narrow_slab = 0.25;

/// The coefficients of z^2j h^2k in derivative (m, n) of the series with respect to z^2 and h^2, as if the powers were kept.
template <int m, int n>
struct normal_slab_series {
  static constexpr int most = 8;
  double at[most + 1][most + 1] = {};

  constexpr normal_slab_series() {
    for (int k = 0; k <= most; ++k) {
      double term = 1;  // of He_2k / (2 k + 1)!, from j = k downwards
      for (int i = 2; i <= 2 * k + 1; ++i) term /= i;
      for (int j = k; j >= 0; --j) {
        at[k][j] = term * falling(j, m) * falling(k, n);
        term *= -(2.0 * j) * (2 * j - 1) / (2.0 * (k - j + 1));
      }
    }
  }
  static constexpr double falling(int x, int count) {
    double product = 1;
    for (int i = 0; i < count; ++i) product *= x - i;
    return product;
  }
};

/// Returns derivative (m, n) with respect to q = z^2 and g = h^2 of the series, without its first term, 1.
template <int m, int n>
double normal_slab_excess(double q, double g) {
  constexpr normal_slab_series<m, n> series;
  constexpr int first = n > 1 ? n : 1;
  double sum = 0;
  for (int k = series.most; k >= first; --k) {
    double polynomial = 0;
    for (int j = k; j >= m; --j) polynomial = polynomial * q + series.at[k][j];
    sum = sum * g + polynomial;
  }
  return n == 0 ? g * sum : sum;
}

template <int m, int n>
struct normal_slab_rule : rule<2> {
  static constexpr auto letters = with_digits<m, n>("normal_slab");
  static constexpr std::string_view name = letters.data();
  static double value(double q, double g) { return normal_slab_excess<m, n>(q, g); }
  template <int I, class T>
  static auto derivative(wrt<I>, const T& q, const T& g, const T&) {
    if constexpr (m + n == 3)
      return T(quiet_nan);
    else
      return apply<normal_slab_rule<m + (I == 0), n + (I == 1)>>(q, g);
  }
};

}  // namespace agrad::detail
