// Sparse Jacobians and Hessians of a program: analysed once, then computed from as many products as there are colours.
//
//     sparse_jacobian j(f);                                   // pattern, colouring, recovery
//     workspace w;
//     j(f, w, x, y, entries);                                 // y = f(x) and the entries of j.pattern(), in its order
//
// Both classes are immutable and shared between threads, as programs are. Entries of the pattern that are zero at x are stored
// as zeros: the structure is the same at every x. Read first: program/sparse/sparsity.hpp and program/sparse/recovery.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <agrad/program/sparse/recovery.hpp>
#include <agrad/program/sparse/sparsity.hpp>
#include <agrad/program/sparse/star_colouring.hpp>

namespace agrad {

namespace detail {

/// If fewer directions than this remain, each is propagated alone: eight together cost as much as three to eight alone.
inline constexpr std::uint32_t enough_for_lanes = 4;

/// Calls run(width, in, c, here) for the `here` colours from c on; `in` are tangents, 1 in the columns of these colours.
template <int Width, class Run>
std::uint32_t run_colours(const std::vector<std::uint32_t>& required, const colouring& colours, std::uint32_t c,
                          std::vector<double>& in, const Run& run) {
  std::fill(in.begin(), in.end(), 0.0);
  for (std::size_t j = 0; j < required.size(); ++j)
    for (std::uint32_t k = 0; k < Width; ++k)
      if (colours.colour[j] == c + k) in[required[j] * std::size_t{Width} + k] = 1;
  const std::uint32_t here = std::min<std::uint32_t>(Width, colours.count - c);
  run(std::integral_constant<int, Width>{}, in.data(), c, here);
  return here;
}

/// Calls `run` for all colours, each once.
template <class Run>
void for_colours(const program& f, const std::vector<std::uint32_t>& required, const colouring& colours, const Run& run) {
  std::vector<double> in(f.input_size() * (colours.count < enough_for_lanes ? 1 : lane_count));
  std::uint32_t c = 0;
  interrupt_pace pace(f.size());
  for (; colours.count - c >= enough_for_lanes; pace.step()) c += run_colours<lane_count>(required, colours, c, in, run);
  for (; c < colours.count; pace.step()) c += run_colours<1>(required, colours, c, in, run);
}

}  // namespace detail

class sparse_jacobian {
 public:
  /// Computes the Jacobian of the outputs with respect to the inputs `required`.
  sparse_jacobian(const program& f, const std::vector<std::uint32_t>& required)
      : sparse_jacobian(f, required, jacobian_pattern(f, required)) {}
  /// Does the same with a given pattern, outputs x required, which must contain all entries.
  sparse_jacobian(const program& f, std::vector<std::uint32_t> required, csr_pattern pattern);
  explicit sparse_jacobian(const program& f) : sparse_jacobian(f, all_inputs(f)) {}

  const csr_pattern& pattern() const { return pattern_; }
  /// Returns the colours of columns, or of rows where these cost less.
  const colouring& colours() const { return colours_.colours; }
  bool by_rows() const { return colours_.by_rows; }

  /// Computes y = f(x) and the entries of the Jacobian in the order of the pattern. f: the program of the constructor.
  void operator()(const program& f, workspace& w, const double* x, double* y, double* entries) const;

 private:
  /// Returns the cost in reverse passes, as measured on Brusselators of 64 to 2048 states: one tangent costs 1.5 to 2.5, eight
  /// cost 4 to 10.
  static double cost(bool by_rows, std::size_t colours);

  jacobian_colouring chosen(const program& f) const;

  void by_tangents(const program& f, workspace& w, double* entries) const;

  void by_adjoints(const program& f, workspace& w, double* entries) const;

  std::vector<std::uint32_t> required_;
  csr_pattern pattern_;
  jacobian_colouring colours_;
  recovery recovery_;
};

class sparse_hessian {
 public:
  /// Computes the Hessian of a combination of the outputs with respect to the inputs `required`.
  sparse_hessian(const program& f, std::vector<std::uint32_t> required);
  explicit sparse_hessian(const program& f) : sparse_hessian(f, all_inputs(f)) {}

  const csr_pattern& pattern() const { return pattern_; }
  const colouring& colours() const { return colours_; }

  /// Computes for g(x) = y_adjoint . f(x): y, the gradient of g with respect to all inputs, and the entries of the Hessian of g
  /// in the order of the pattern, symmetric to the bit. f: the program of the constructor, without external operations.
  void operator()(const program& f, workspace& w, const double* x, const double* y_adjoint, double* y, double* gradient,
                  double* entries) const;

 private:
  std::vector<std::uint32_t> required_;
  csr_pattern pattern_;
  colouring colours_;
  recovery recovery_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/sparse/sparse.ipp>
#endif
