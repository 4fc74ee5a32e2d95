// Square roots of many numbers, rounded as std::sqrt rounds them.
//
// std::sqrt sets errno, so compilers do not vectorise it, and Eigen's packets approximate roots where a processor has AVX-512.
#pragma once

#include <Eigen/Core>
#include <cmath>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace agrad::detail {

/// Returns the square roots of an array.
template <class A>
typename A::PlainObject square_roots(const A& x) {
#if defined(__SSE2__)
  typename A::PlainObject root = x;
  double* at = root.data();
  Eigen::Index left = root.size();
#if defined(__AVX__)
  for (; left >= 4; left -= 4, at += 4) _mm256_storeu_pd(at, _mm256_sqrt_pd(_mm256_loadu_pd(at)));
#endif
  for (; left >= 2; left -= 2, at += 2) _mm_storeu_pd(at, _mm_sqrt_pd(_mm_loadu_pd(at)));
  if (left == 1) *at = std::sqrt(*at);
  return root;
#else
  return x.unaryExpr([](double of) { return std::sqrt(of); });
#endif
}

}  // namespace agrad::detail
