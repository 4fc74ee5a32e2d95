// Products of a program's derivatives with vectors: Jacobian times directions, adjoints times Jacobian, Hessian times
// directions.
//
// A single direction is propagated alone, several directions eight at a time. Hessian products are forward over reverse: the
// reverse pass propagates the derivatives of the adjoints along the directions as well. External operations without tangents
// throw; `program::first_without_tangents` finds these beforehand. Matrices are row-major, one direction per row. Read next:
// program/jacobian.hpp, which computes the whole Jacobian.
#pragma once

#include <algorithm>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

namespace detail {

/// Calls run(width, x_tangents, d, here) for `here` rows of `directions` (count x n) from d on, interleaved.
template <class Run>
void for_lanes(std::size_t n, const double* directions, std::size_t count, const Run& run) {
  if (count == 1) return run(std::integral_constant<int, 1>{}, directions, std::size_t{0}, std::size_t{1});
  std::vector<double> in(n * lane_count);
  for (std::size_t d = 0; d < count; d += lane_count) {
    const std::size_t here = std::min<std::size_t>(lane_count, count - d);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < lane_count; ++k) in[j * lane_count + k] = k < here ? directions[(d + k) * n + j] : 0;
    run(std::integral_constant<int, lane_count>{}, in.data(), d, here);
  }
}

/// Copies the first `here` of `width` numbers of each of m slots to the rows from d on.
void split_directions(const std::vector<double>& from, std::size_t width, std::size_t m, std::size_t d, std::size_t here,
                      double* rows);

}  // namespace detail

/// Computes y = f(x) and J times each of `count` directions (count x n): products, count x m.
void jacobian_products(const program& f, workspace& w, const double* x, const double* directions, std::size_t count, double* y,
                       double* products);

/// Computes y = f(x) and J' times each of `count` adjoints of y (count x m): products, count x n; with one forward pass for
/// all.
void adjoint_products(const program& f, workspace& w, const double* x, const double* adjoints, std::size_t count, double* y,
                      double* products);

/// Computes for g(x) = y_adjoint . f(x): y, the gradient of g (n), and the Hessian of g times each of `count` directions (count
/// x n).
void hessian_products(const program& f, workspace& w, const double* x, const double* y_adjoint, const double* directions,
                      std::size_t count, double* y, double* gradient, double* products);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/products.ipp>
#endif
