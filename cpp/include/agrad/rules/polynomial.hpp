// Polynomials of numbers and of Eigen arrays.
#pragma once

#include <cstddef>

namespace agrad::detail {

/// Returns c[0] + c[1] x + ... + c[n - 1] x^(n - 1) by halves, whose operations do not wait for each other (Estrin's scheme).
template <int n>
double by_halves(const double* c, double x) {
  if constexpr (n == 1) {
    return c[0];
  } else {
    double pairs[static_cast<std::size_t>((n + 1) / 2)];
    for (int k = 0; k < n / 2; ++k) pairs[k] = c[2 * k] + c[2 * k + 1] * x;
    if constexpr (n % 2 == 1) pairs[n / 2] = c[n - 1];
    return by_halves<(n + 1) / 2>(pairs, x * x);
  }
}

/// Returns c[0] + c[1] x + ... + c[N - 1] x^(N - 1) of an array: as two polynomials of x^2, whose operations do not wait for
/// each other.
template <class A, std::size_t N>
typename A::PlainObject polynomial(const double (&c)[N], const A& x) {
  using array = typename A::PlainObject;
  const array square = x.square();
  array even = array::Constant(x.rows(), x.cols(), c[(N - 1) / 2 * 2]),
        odd = array::Constant(x.rows(), x.cols(), c[N / 2 * 2 - 1]);
  for (std::size_t k = (N - 1) / 2 * 2; k >= 2; k -= 2) even = even * square + c[k - 2];
  for (std::size_t k = N / 2 * 2 - 1; k >= 3; k -= 2) odd = odd * square + c[k - 2];
  return even + x * odd;
}

}  // namespace agrad::detail
