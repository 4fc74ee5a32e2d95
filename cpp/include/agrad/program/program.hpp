// Program: a finished recording. Immutable, shared between threads; each thread brings a workspace.
//
//     program f = schedule(recording, outputs);
//     workspace<double> w;
//     f.forward(w, x, y);                    // y = f(x)
//     f.reverse(w, y_adjoint, x_adjoint);    // x_adjoint = J' y_adjoint at that x
//
// With workspace<lanes> the same calls carry four directions at once: Jacobian columns, and Hessian products backwards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/program/code.hpp>

namespace agrad {

class program {
 public:
  /// code: the operations in order. image: the value space with all constants in place. inputs, outputs: their slots.
  program(program_code code, std::vector<double> image, std::vector<slot> inputs, std::vector<slot> outputs)
      : code_(std::move(code)), image_(std::move(image)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::size_t input_size() const { return inputs_.size(); }
  std::size_t output_size() const { return outputs_.size(); }
  std::size_t size() const { return image_.size(); }
  const program_code& code() const { return code_; }
  const std::vector<slot>& inputs() const { return inputs_; }
  const std::vector<slot>& outputs() const { return outputs_; }
  const std::vector<double>& image() const { return image_; }
  bool has_externals() const { return !code_.externals.empty(); }

  /// y = f(x), x of input_size, y of output_size entries. Throws kernels::path_left when a comparison goes another way than
  /// at recording. `with_adjoint`: whether `reverse` will follow.
  template <class S>
  void forward(workspace<S>& w, const S* x, S* y, bool with_adjoint = true) const {
    if (AGRAD_UNLIKELY(w.program != number_)) prepare(w);
    for (std::size_t i = 0; i < inputs_.size(); ++i) w.values[inputs_[i]] = x[i];
    run_forward(code_, w, with_adjoint);
    for (std::size_t i = 0; i < outputs_.size(); ++i) y[i] = w.values[outputs_[i]];
  }

  /// x_adjoint = J' y_adjoint at the x of the last `forward`.
  template <class S>
  void reverse(workspace<S>& w, const S* y_adjoint, S* x_adjoint) const {
    if (AGRAD_UNLIKELY(w.program != number_)) throw std::logic_error("program: reverse was called before forward");
    w.adjoints.assign(image_.size(), S(0));
    for (std::size_t i = 0; i < outputs_.size(); ++i) w.adjoints[outputs_[i]] += y_adjoint[i];
    run_reverse(code_, w);
    for (std::size_t i = 0; i < inputs_.size(); ++i) x_adjoint[i] = w.adjoints[inputs_[i]];
  }

 private:
  // A workspace comes without anything or from another program.
  template <class S>
  AGRAD_COLD void prepare(workspace<S>& w) const {
    w.program = 0;
    w.states.clear();
    w.values.assign(image_.begin(), image_.end());
    w.program = number_;
  }

  // Numbers, because an address may come back.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::uint64_t number_ = next_number();
  program_code code_;
  std::vector<double> image_;
  std::vector<slot> inputs_;
  std::vector<slot> outputs_;
};

}  // namespace agrad
