// Sparse Jacobians and Hessians of a program: analysed once, then computed from as many products as there are colours.
//
//     sparse_jacobian j(f);                                   // pattern, colouring, recovery
//     workspace w;
//     j(f, w, x, y, entries);                                 // y = f(x) and the entries of j.pattern(), in its order
//
// Both are immutable once made and shared between threads, as programs are. Entries of the pattern that happen to be zero at x
// are there as zeros: the structure is the same at every x. Read first: program/sparsity.hpp and program/recovery.hpp.
#pragma once

#include <agrad/program/recovery.hpp>
#include <agrad/program/sparsity.hpp>
#include <agrad/program/star_colouring.hpp>

namespace agrad {

namespace detail {

/// Calls run(in, c, here) for the colours c .. c + here; `in` are the tangents whose columns of these colours are 1.
template <class Run>
void for_colours(const program& f, const std::vector<std::uint32_t>& wanted, const colouring& colours, const Run& run) {
  std::vector<double> in(f.input_size() * lane_count, 0.0);
  for (std::uint32_t c = 0; c < colours.count; c += lane_count) {
    const std::uint32_t here = std::min<std::uint32_t>(lane_count, colours.count - c);
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const std::uint32_t lane = colours.colour[j] - c;  // no colour, and those that were, are far above
      for (std::uint32_t k = 0; k < lane_count; ++k)
        in[wanted[j] * std::size_t{lane_count} + k] = colours.colour[j] >= c && lane == k ? 1 : 0;
    }
    run(in.data(), c, here);
  }
}

}  // namespace detail

class sparse_jacobian {
 public:
  /// Of the outputs with respect to the inputs `wanted`.
  sparse_jacobian(const program& f, std::vector<std::uint32_t> wanted)
      : wanted_(std::move(wanted)),
        pattern_(jacobian_pattern(f, wanted_)),
        colours_(chosen(f)),
        recovery_(colours_.by_rows ? recover_rows(pattern_, colours_.colours) : recover_columns(pattern_, colours_.colours)) {}
  explicit sparse_jacobian(const program& f) : sparse_jacobian(f, all_inputs(f)) {}

  const csr_pattern& pattern() const { return pattern_; }
  /// Colours of columns, or of rows when these are cheaper.
  const colouring& colours() const { return colours_.colours; }
  bool by_rows() const { return colours_.by_rows; }

  /// y = f(x) and the entries of the Jacobian in the order of the pattern. f is the program that this was made for.
  void operator()(const program& f, workspace& w, const double* x, double* y, double* entries) const {
    f.forward(w, x, y, true);
    by_rows() ? by_adjoints(f, w, entries) : by_tangents(f, w, entries);
  }

 private:
  /// A run that carries tangents costs as much as this many sweeps back.
  static constexpr double tangent_cost = 2;

  jacobian_colouring chosen(const program& f) const {
    if (f.first_without_tangents() != nullptr) return {true, colour_rows(pattern_)};
    return colour_jacobian(pattern_, lane_count, tangent_cost);
  }

  void by_tangents(const program& f, workspace& w, double* entries) const {
    std::vector<double> out(f.output_size() * lane_count);
    detail::for_colours(f, wanted_, colours(), [&](const double* in, std::uint32_t c, std::uint32_t here) {
      f.tangent<lane_count>(w, in, out.data());
      for (std::uint32_t lane = 0; lane < here; ++lane)
        recovery_.take(
            c + lane, [&](std::uint32_t i) { return out[i * std::size_t{lane_count} + lane]; }, entries);
    });
  }

  void by_adjoints(const program& f, workspace& w, double* entries) const {
    std::vector<double> seed(f.output_size()), row(f.input_size());
    for (std::uint32_t c = 0; c < colours().count; ++c) {
      for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = colours().colour[i] == c ? 1 : 0;
      f.reverse(w, seed.data(), row.data());
      recovery_.take(
          c, [&](std::uint32_t j) { return row[wanted_[j]]; }, entries);
    }
  }

  std::vector<std::uint32_t> wanted_;
  csr_pattern pattern_;
  jacobian_colouring colours_;
  recovery recovery_;
};

class sparse_hessian {
 public:
  /// Of a combination of the outputs with respect to the inputs `wanted`.
  sparse_hessian(const program& f, std::vector<std::uint32_t> wanted)
      : wanted_(std::move(wanted)),
        pattern_(hessian_pattern(f, wanted_)),
        colours_(star_colouring(pattern_)),
        recovery_(recover_symmetric(pattern_, colours_)) {}
  explicit sparse_hessian(const program& f) : sparse_hessian(f, all_inputs(f)) {}

  const csr_pattern& pattern() const { return pattern_; }
  const colouring& colours() const { return colours_; }

  /// For g(x) = y_adjoint . f(x): y, the gradient of g with respect to all inputs, and the entries of its Hessian in the order of
  /// the pattern, symmetric to the bit. f is the program that this was made for, without external operations.
  void operator()(const program& f, workspace& w, const double* x, const double* y_adjoint, double* y, double* gradient,
                  double* entries) const {
    f.forward(w, x, y, true);
    if (colours_.count == 0) return f.reverse(w, y_adjoint, gradient);
    std::vector<double> out(f.output_size() * lane_count), back(f.input_size() * lane_count);
    detail::for_colours(f, wanted_, colours_, [&](const double* in, std::uint32_t c, std::uint32_t here) {
      f.tangent<lane_count>(w, in, out.data());
      f.second<lane_count>(w, y_adjoint, gradient, back.data());
      for (std::uint32_t lane = 0; lane < here; ++lane)
        recovery_.take(
            c + lane, [&](std::uint32_t j) { return back[wanted_[j] * std::size_t{lane_count} + lane]; }, entries);
    });
  }

 private:
  std::vector<std::uint32_t> wanted_;
  csr_pattern pattern_;
  colouring colours_;
  recovery recovery_;
};

}  // namespace agrad
