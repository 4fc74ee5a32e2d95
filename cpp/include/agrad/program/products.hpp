// Products of a program's derivatives with vectors: Jacobian times directions, adjoints times Jacobian, Hessian times directions.
//
// Tangents run four at a time. The Hessian products are forward over reverse: the sweep back carries lanes, so that an adjoint
// is the gradient and its tangents are the gradient's derivatives in four directions. External operations cannot carry lanes
// and throw; `first_external` tells beforehand. Matrices are row-major, one direction a row.
// Read next: program/jacobian.hpp, which has the whole Jacobian.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <agrad/program/program.hpp>

namespace agrad {

namespace detail {

/// Calls run(in, d, here) for directions d .. d + here of the rows of `directions`, as tangents of x.
template <class Run>
void for_lanes(const program& f, const double* x, const double* directions, std::size_t count, const Run& run) {
  const std::size_t n = f.input_size();
  std::vector<lanes> in(x, x + n);
  for (std::size_t d = 0; d < count || d == 0; d += lane_count) {  // once without directions: the value is wanted
    const std::size_t here = std::min<std::size_t>(lane_count, count - d);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < lane_count; ++k) in[j].tangent[k] = k < here ? directions[(d + k) * n + j] : 0;
    run(in.data(), d, here);
  }
}

/// The values of m lanes into `values` and their first `here` tangents into the rows from d on.
inline void take_apart(const std::vector<lanes>& from, std::size_t d, std::size_t here, double* values, double* rows) {
  const std::size_t m = from.size();
  for (std::size_t i = 0; i < m; ++i) {
    values[i] = from[i].value;
    for (std::size_t k = 0; k < here; ++k) rows[(d + k) * m + i] = from[i].tangent[k];
  }
}

}  // namespace detail

/// The name of the first external operation, which has first derivatives in reverse mode only; empty without any.
inline std::string_view first_external(const program& f) {
  return f.has_externals() ? f.code().externals.front()->name() : std::string_view();
}

/// y = f(x) and J times each of `count` directions (count x n): products, count x m.
inline void jacobian_products(const program& f, workspace<lanes>& w, const double* x, const double* directions,
                              std::size_t count, double* y, double* products) {
  std::vector<lanes> out(f.output_size());
  detail::for_lanes(f, x, directions, count, [&](const lanes* in, std::size_t d, std::size_t here) {
    f.forward(w, in, out.data(), false);
    detail::take_apart(out, d, here, y, products);
  });
}

/// y = f(x) and J' times each of `count` adjoints of y (count x m): products, count x n; one run forward for all.
inline void adjoint_products(const program& f, workspace<double>& w, const double* x, const double* adjoints, std::size_t count,
                             double* y, double* products) {
  f.forward(w, x, y, true);
  for (std::size_t d = 0; d < count; ++d) f.reverse(w, adjoints + d * f.output_size(), products + d * f.input_size());
}

/// For g(x) = y_adjoint . f(x): y, the gradient of g (n), and its Hessian times each of `count` directions (count x n).
inline void hessian_products(const program& f, workspace<lanes>& w, const double* x, const double* y_adjoint,
                             const double* directions, std::size_t count, double* y, double* gradient, double* products) {
  const std::vector<lanes> seeds(y_adjoint, y_adjoint + f.output_size());
  std::vector<lanes> out(f.output_size()), back(f.input_size());
  detail::for_lanes(f, x, directions, count, [&](const lanes* in, std::size_t d, std::size_t here) {
    f.forward(w, in, out.data(), true);
    f.reverse(w, seeds.data(), back.data());
    for (std::size_t i = 0; i < out.size(); ++i) y[i] = out[i].value;
    detail::take_apart(back, d, here, gradient, products);
  });
}

}  // namespace agrad
