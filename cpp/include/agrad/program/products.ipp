// Definitions of program/products.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/products.hpp>

namespace agrad::detail {

AGRAD_INLINE void split_directions(const std::vector<double>& from, std::size_t width, std::size_t m, std::size_t d,
                                   std::size_t here, double* rows) {
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = 0; k < here; ++k) rows[(d + k) * m + i] = from[i * width + k];
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE void jacobian_products(const program& f, workspace& w, const double* x, const double* directions,
                                    std::size_t count, double* y, double* products) {
  f.forward_for_tangents(w, x, y);
  const std::size_t m = f.output_size();
  std::vector<double> out(m * lane_count);
  detail::interrupt_pace pace(f.size());
  detail::for_lanes(f.input_size(), directions, count, [&](auto width, const double* in, std::size_t d, std::size_t here) {
    pace.step();
    f.tangent<width()>(w, in, out.data());
    detail::split_directions(out, width(), m, d, here, products);
  });
}

AGRAD_INLINE void adjoint_products(const program& f, workspace& w, const double* x, const double* adjoints, std::size_t count,
                                   double* y, double* products) {
  f.forward(w, x, y, true);
  f.reverse_rows(w, count, adjoints, products);
}

AGRAD_INLINE void hessian_products(const program& f, workspace& w, const double* x, const double* y_adjoint,
                                   const double* directions, std::size_t count, double* y, double* gradient, double* products) {
  if (count == 0) return f.forward_and_reverse(w, x, y, y_adjoint, gradient);
  {
    const second_ahead ahead;
    f.forward_for_tangents(w, x, y);
  }
  const std::size_t n = f.input_size();
  std::vector<double> out(f.output_size() * lane_count), back(n * lane_count);
  detail::interrupt_pace pace(f.size());
  detail::for_lanes(n, directions, count, [&](auto width, const double* in, std::size_t d, std::size_t here) {
    pace.step();
    f.tangent<width()>(w, in, out.data());
    f.second<width()>(w, y_adjoint, gradient, back.data());
    detail::split_directions(back, width(), n, d, here, products);
  });
}

}  // namespace agrad
