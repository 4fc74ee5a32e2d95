// Variance and standard deviation of a sample, under Stan's names: the sums of squares are divided by n - 1.
//
// Arguments are Eigen's arrays, vectors and matrices of any scalar, matrix<var>, and std::vector. The first entry is subtracted
// from all before their mean is: where entries are equal the result is exactly 0, and where their mean is large beside their
// differences no digits are lost. Read next: rules/arrays/reduce.hpp, the sums.
#pragma once

#include <cmath>
#include <vector>

#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

template <class X>
using if_array = std::enable_if_t<(rank_of<X> >= array_rank)>;

/// Returns x minus its mean.
template <class X>
auto around_mean(const char* function, const X& x) {
  if (AGRAD_UNLIKELY(x.size() == 0)) fail_empty(function);
  const promoted_t<X> first = x(0, 0);
  const auto shifted = agrad::apply<subtract_rule>(x, first);
  const promoted_t<X> centre = mean(shifted);
  return agrad::apply<subtract_rule>(shifted, centre);
}
/// Returns n - 1, and 1 for a single entry, whose variance is 0.
inline double degrees_of_freedom(Eigen::Index n) { return n > 1 ? static_cast<double>(n - 1) : 1; }

template <class T>
auto as_column(const std::vector<T>& x) {
  return Eigen::Map<const vector_of<T>>(x.data(), static_cast<Eigen::Index>(x.size()));
}
}  // namespace detail

/// Returns the variance of all entries, their squared distance from the mean divided by n - 1; 0 for a single entry. Throws
/// ShapeError for an empty array.
template <class X, class = detail::if_array<X>>
promoted_t<X> variance(const X& x) {
  return squared_norm(detail::around_mean("variance", x)) / detail::degrees_of_freedom(x.size());
}
template <class T>
promoted_t<T> variance(const std::vector<T>& x) {
  return variance(detail::as_column(x));
}

/// Returns the standard deviation of all entries, the square root of `variance`, also where the variance overflows. Where all
/// entries are equal there is no derivative; the gradient is defined as zero there, as that of `norm`.
template <class X, class = detail::if_array<X>>
promoted_t<X> sd(const X& x) {
  return norm(detail::around_mean("sd", x)) / std::sqrt(detail::degrees_of_freedom(x.size()));
}
template <class T>
promoted_t<T> sd(const std::vector<T>& x) {
  return sd(detail::as_column(x));
}

}  // namespace agrad
