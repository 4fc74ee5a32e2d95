// Program: a finished recording. Immutable, shared between threads; each thread has its own workspace.
//
//     std::shared_ptr<const program> f = schedule(recording, outputs);
//     workspace w;
//     f->forward(w, x, y);                                  // y = f(x)
//     f->reverse(w, y_adjoint, x_adjoint);                  // x_adjoint = J' y_adjoint at that x
//     f->tangent<lane_count>(w, x_tangents, y_tangents);    // after forward: J times eight directions, side by side
//     f->second<lane_count>(w, ...);                        // after tangent: the reverse pass, and its derivatives
//
// Read next: program/products.hpp, which computes products and matrices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/base/settings.hpp>
#include <agrad/program/machine/code.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

class program {
 public:
  /// code: the operations in order. fixed: the values of the slots before all results: inputs and constants. size: the number
  /// of slots. inputs, outputs: their slots.
  program(program_code code, std::vector<double> fixed, std::size_t size, std::vector<slot> inputs, std::vector<slot> outputs);

  std::size_t input_size() const { return inputs_.size(); }
  std::size_t output_size() const { return outputs_.size(); }
  std::size_t size() const { return size_; }
  const program_code& code() const { return code_; }
  const std::vector<double>& fixed() const { return fixed_; }
  const std::vector<slot>& inputs() const { return inputs_; }
  const std::vector<slot>& outputs() const { return outputs_; }

  /// Returns the first external operation without second-order tangents (order 2), without tangents (order 1), or with tangents
  /// that agree with its adjoints only within tolerances (order 0); null if there is none.
  const external_operation* first_without_tangents(int order = 2) const;

  /// Computes y = f(x), x of input_size, y of output_size entries. Throws kernels::path_left if a comparison differs from the
  /// recording. with_adjoint: whether `reverse` or `tangent` follows.
  void forward(workspace& w, const double* x, double* y, bool with_adjoint = true) const;
  /// Resizes `values` to the program's size and copies the constants.
  void begin(space& values) const;
  /// As `forward`, but y stays in w.values, at the slots `outputs()`.
  void run(workspace& w, const double* x, bool with_adjoint = false) const;

  /// Computes x_adjoint = J' y_adjoint at the x of the last `forward`.
  void reverse(workspace& w, const double* y_adjoint, double* x_adjoint) const;

  /// The same for `count` adjoints of y (count x output_size), into count x input_size. External operations, such as solutions
  /// of differential equations, propagate several adjoints together.
  void reverse_rows(workspace& w, std::size_t count, const double* y_adjoints, double* x_adjoints) const;
  /// The number of rows that `reverse_rows` propagates at once. Each row has its own adjoints of all slots, at most 32 MB in
  /// all.
  std::size_t rows_together() const;

  /// Computes y_tangents = J x_tangents at the x of the last `forward`, for Width directions side by side.
  template <int Width>
  void tangent(workspace& w, const double* x_tangents, double* y_tangents) const {
    check_follows(w, "tangent");
    if (w.tangents.size() != size_ * Width) w.tangents.assign(size_ * Width, 0.0);  // tangents of constants stay zero
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      std::copy_n(x_tangents + i * Width, Width, w.tangents.data() + inputs_[i] * std::size_t{Width});
    run_tangent<Width>(code_, w);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      std::copy_n(w.tangents.data() + outputs_[i] * std::size_t{Width}, Width, y_tangents + i * Width);
  }

  /// Computes x_adjoint = J' y_adjoint, and its derivatives along the directions of the last `tangent`. y_adjoint_tangents: the
  /// derivatives of y_adjoint along these directions; null where y_adjoint is constant.
  template <int Width>
  void second(workspace& w, const double* y_adjoint, double* x_adjoint, double* x_adjoint_tangents,
              const double* y_adjoint_tangents = nullptr) const {
    check_follows(w, "second");
    seed(w.adjoints, y_adjoint);
    clear(w.adjoint_tangents, Width);
    for (std::size_t i = 0; i < outputs_.size() * Width && y_adjoint_tangents != nullptr; ++i)
      w.adjoint_tangents[outputs_[i / Width] * std::size_t{Width} + i % Width] += y_adjoint_tangents[i];
    run_second<Width>(code_, w);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      x_adjoint[i] = w.adjoints[inputs_[i]];
      std::copy_n(w.adjoint_tangents.data() + inputs_[i] * std::size_t{Width}, Width, x_adjoint_tangents + i * Width);
    }
  }

 private:
  /// Sets the adjoints of inputs and results to zero, `width` per slot. Adjoints of constants are never read, and data may be
  /// large.
  void clear(space& adjoints, std::size_t width) const;

  void seed(space& adjoints, const double* y_adjoint) const;

  void reverse_together(workspace& w, std::size_t count, const double* y_adjoints, double* x_adjoints) const;

  void check_follows(const workspace& w, const char* function) const;

  // Prepares a workspace that is new or was used by another program.
  AGRAD_COLD void prepare(workspace& w) const;

  // Programs have numbers, because an address may be used again.
  static std::uint64_t next_number();

  std::uint64_t number_ = next_number();
  program_code code_;
  std::vector<double> fixed_;
  std::size_t size_;
  std::vector<slot> inputs_;
  std::vector<slot> outputs_;
  bool inputs_follow_ = true;  // whether inputs are consecutive slots, the usual case
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/program.ipp>
#endif
