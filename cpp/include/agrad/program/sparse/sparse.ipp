// Definitions of program/sparse/sparse.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/second_order.hpp>
#include <agrad/program/sparse/sparse.hpp>

namespace agrad {

AGRAD_INLINE sparse_jacobian::sparse_jacobian(const program& f, std::vector<std::uint32_t> required, csr_pattern pattern)
    : required_(std::move(required)),
      pattern_(std::move(pattern)),
      colours_(chosen(f)),
      recovery_(colours_.by_rows ? recover_rows(pattern_, colours_.colours) : recover_columns(pattern_, colours_.colours)) {}

AGRAD_INLINE void sparse_jacobian::operator()(const program& f, workspace& w, const double* x, double* y,
                                              double* entries) const {
  f.forward_for_tangents(w, x, y);
  by_rows() ? by_adjoints(f, w, entries) : by_tangents(f, w, entries);
}

AGRAD_INLINE double sparse_jacobian::cost(bool by_rows, std::size_t colours) {
  const auto n = static_cast<double>(colours);
  if (by_rows) return n;
  const double left = n - lane_count * std::floor(n / lane_count);
  return 6 * std::floor(n / lane_count) + (left < detail::enough_for_lanes ? 2 * left : 6);
}

AGRAD_INLINE jacobian_colouring sparse_jacobian::chosen(const program& f) const {
  const bool is_forward = f.first_without_tangents(1) == nullptr && f.first_without_tangents(0) == nullptr;
  if (!is_forward) return {true, colour_rows(pattern_)};
  return colour_jacobian(pattern_, cost);
}

AGRAD_INLINE void sparse_jacobian::by_tangents(const program& f, workspace& w, double* entries) const {
  std::vector<double> out(f.output_size() * lane_count);
  detail::for_colours(f, required_, colours(), [&](auto width, const double* in, std::uint32_t c, std::uint32_t here) {
    f.tangent<width()>(w, in, out.data());
    for (std::uint32_t lane = 0; lane < here; ++lane)
      recovery_.recover(
          c + lane, [&](std::uint32_t i) { return out[i * std::size_t{width()} + lane]; }, entries);
  });
}

AGRAD_INLINE void sparse_jacobian::by_adjoints(const program& f, workspace& w, double* entries) const {
  std::vector<double> seed(f.output_size()), row(f.input_size());
  detail::interrupt_pace pace(f.size());
  for (std::uint32_t c = 0; c < colours().count; ++c) {
    pace.step();
    for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = colours().colour[i] == c ? 1 : 0;
    f.reverse(w, seed.data(), row.data());
    recovery_.recover(
        c, [&](std::uint32_t j) { return row[required_[j]]; }, entries);
  }
}

AGRAD_INLINE sparse_hessian::sparse_hessian(const program& f, std::vector<std::uint32_t> required)
    : required_(std::move(required)),
      pattern_(hessian_pattern(f, required_)),
      colours_(star_colouring(pattern_)),
      recovery_(recover_symmetric(pattern_, colours_)) {}

AGRAD_INLINE void sparse_hessian::operator()(const program& f, workspace& w, const double* x, const double* y_adjoint,
                                             double* y, double* gradient, double* entries) const {
  if (colours_.count == 0) return f.forward_and_reverse(w, x, y, y_adjoint, gradient);
  {
    const second_ahead ahead;
    f.forward_for_tangents(w, x, y);
  }
  std::vector<double> out(f.output_size() * lane_count), back(f.input_size() * lane_count);
  detail::for_colours(f, required_, colours_, [&](auto width, const double* in, std::uint32_t c, std::uint32_t here) {
    f.tangent<width()>(w, in, out.data());
    f.second<width()>(w, y_adjoint, gradient, back.data());
    for (std::uint32_t lane = 0; lane < here; ++lane)
      recovery_.recover(
          c + lane, [&](std::uint32_t j) { return back[required_[j] * std::size_t{width()} + lane]; }, entries);
  });
}

}  // namespace agrad
