// Definitions of solve/algebra/band_lu.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/band_lu.hpp>

namespace agrad::detail {

AGRAD_INLINE bool band_lu::factorise(double* a) const {
  double* exchanges = a + n * stride();
  const std::size_t diagonal = lower + upper, step = stride() - 1;  // from an entry to its right neighbour
  std::size_t last = 0;                                             // last column of U's rows so far
  double& any = a[size() - 1] = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double* pivot = a + j * stride() + diagonal;
    const std::size_t below = std::min(lower, n - 1 - j);
    const std::size_t k = largest(pivot, below);
    exchanges[j] = static_cast<double>(k);
    if (k != 0) any = 1;
    if (!(std::abs(pivot[k]) > 0)) return false;
    last = std::max(last, std::min(j + upper + k, n - 1));
    if (k != 0)
      for (std::size_t c = 0; c <= last - j; ++c) std::swap(pivot[c * step], pivot[c * step + k]);
    const double inverse = pivot[0] = 1 / pivot[0];
    for (std::size_t i = 1; i <= below; ++i) pivot[i] *= inverse;
    for (std::size_t c = 1; c <= last - j; ++c) {
      double* column = pivot + c * step;
      const double factor = column[0];
      if (factor == 0) continue;
      for (std::size_t i = 1; i <= below; ++i) column[i] -= factor * pivot[i];
      column[0] = factor * inverse;
    }
  }
  return true;
}

AGRAD_INLINE void band_lu::solve(const double* a, double* x) const {
  with_widths(a, [&](auto below, auto above) {
    const view f = view_of(a);
    if (has_exchanges(a))
      exchange_and_eliminate(a, x, below);
    else
      sweep(
          x, below, downwards(), [&](std::size_t j) { return x[j]; },
          [&](std::size_t j, std::size_t i) { return f.below(j - i, i); });
    sweep(
        x, above, upwards(), [&](std::size_t j) { return x[j] * f.inverse(j); },
        [&](std::size_t j, std::size_t i) { return f.above(j + i, i); });
  });
}

AGRAD_INLINE void band_lu::solve_transposed(const double* a, double* x) const {
  with_widths(a, [&](auto below, auto above) {
    const view f = view_of(a);
    sweep(
        x, above, downwards(), [&](std::size_t j) { return x[j]; },
        [&](std::size_t j, std::size_t i) { return f.above(j, i); });
    const auto factor = [&](std::size_t j, std::size_t i) { return f.below(j, i); };
    if (!has_exchanges(a))
      return sweep(
          x, below, upwards(), [&](std::size_t j) { return x[j] * f.inverse(j); }, factor);
    const double* exchanges = a + n * stride();
    for (std::size_t j = 0; j < n; ++j) x[j] *= f.inverse(j);
    for (std::size_t j = n; j-- > 0;) {
      for (std::size_t i = std::min<std::size_t>(below, n - 1 - j); i > 0; --i) x[j] -= factor(j, i) * x[j + i];
      std::swap(x[j], x[j + static_cast<std::size_t>(exchanges[j])]);
    }
  });
}

AGRAD_INLINE std::size_t band_lu::largest(const double* x, std::size_t below) {
  std::size_t k = 0;
  double most = std::abs(x[0]);
  for (std::size_t i = 1; i <= below; ++i)
    if (std::abs(x[i]) > most) most = std::abs(x[i]), k = i;
  return k;
}

}  // namespace agrad::detail
