// Log shares: log(exp(x_j) / sum(exp(x))) of the entries of a line, weighted by counts and added up.
//
// The largest entry is `top`. With the sum of exp(x_j - x_top) over the others, `rest`, the share of the top is 1 / (1 + rest)
// and what it lacks from 1 is rest / (1 + rest), so that neither the logarithm nor the derivatives of a nearly certain category
// lose digits. Where the top has less than half, 1 minus a share keeps its digits, and derivatives relative to the top would
// cancel: there a constant takes the place of x_top. Read next: rules/arrays/reduce.hpp, log_softmax;
// program/kernels/log_shares.hpp.
#pragma once

#include <cstddef>

#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad::detail {

/// Returns the place of the first of the largest of n exponents x(j).
template <class X>
std::size_t top_of(std::size_t n, const X& x) {
  double largest = number_of(x(0));
  for (std::size_t j = 1; j < n; ++j) {  // without a branch
    const double each = number_of(x(j));
    largest = each > largest ? each : largest;
  }
  std::size_t top = 0;
  while (top + 1 < n && number_of(x(top)) != largest) ++top;
  return top;
}

/// Returns the sum of counts(j) times the logarithms of the shares of the n exponents x(j).
template <class S, class Counts, class X>
S sum_of_log_shares(std::size_t n, const Counts& counts, const X& x) {
  if (n == 0) return S(0.0);
  const std::size_t top = top_of(n, x);
  const double largest = number_of(x(top));
  S rest(0.0), sum(0.0);
  double others = 0;  // the counts of all but the top
  for (std::size_t j = 0; j < n; ++j) {
    if (j == top) continue;
    const S below = x(j) - largest;
    rest += exp(below);
    others += counts(j);
    if (counts(j) != 0) sum += counts(j) * below;
  }
  const double total = others + counts(top);
  const S lift = x(top) - largest;  // 0, with the derivatives of x(top)
  if (number_of(rest) < 1) return sum - others * lift - total * log1p(rest * exp(-lift));
  return sum + counts(top) * lift - total * log(rest + exp(lift));
}

/// Calls add(j, slope) with the derivative of this sum with respect to each x(j); `powers` has room for n numbers.
template <class S, class Counts, class X, class Add>
void slopes_of_log_shares(std::size_t n, const Counts& counts, const X& x, S* powers, const Add& add) {
  if (n == 0) return;
  const std::size_t top = top_of(n, x);
  const double largest = number_of(x(top));
  for (std::size_t j = 0; j < n; ++j) powers[j] = exp(x(j) - largest);
  S rest(0.0);
  double others = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (j == top) continue;
    others += counts(j);
    rest += powers[j];
  }
  const double total = others + counts(top);
  if (!(number_of(rest) < 1)) {
    const S unit = total / (powers[top] + rest);
    for (std::size_t j = 0; j < n; ++j) add(j, S(counts(j) - powers[j] * unit));
    return;
  }
  const S over_top = 1.0 / powers[top], of_top = 1.0 / (1.0 + rest * over_top), unit = total * over_top * of_top;
  for (std::size_t j = 0; j < n; ++j)
    add(j, j == top ? S((counts(top) * (rest * over_top) - others) * of_top) : S(counts(j) - powers[j] * unit));
}

}  // namespace agrad::detail
