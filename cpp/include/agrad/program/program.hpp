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
#include <agrad/base/finite.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/base/settings.hpp>
#include <agrad/program/fixed_values.hpp>
#include <agrad/program/machine/careful.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/tiles/plan.hpp>
#include <agrad/program/tiles/run.hpp>
#include <agrad/program/tiles/slot_list.hpp>

namespace agrad {

class program {
 public:
  /// code: the operations in order. fixed: the values of the slots before all results: inputs and constants. size: the number
  /// of slots. inputs, outputs: their slots.
  program(program_code code, fixed_values fixed, std::size_t size, std::vector<slot> inputs, std::vector<slot> outputs)
      : code_(std::move(code)),
        fixed_(std::move(fixed)),
        size_(size),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        tiles_(code_, outputs_.slots()),
        singular_(code_),
        singular_outside_(code_, [&](std::size_t operation) { return !tiles_.has(operation); }) {
    fixed_.share(inputs_.slots());
    for (const operation& op : code_.operations)
      if (op.what == &kernels::external && op.operands[0].active)
        differentiated_.push_back(code_.externals[code_.integers[op.data]].get());
  }

  std::size_t input_size() const { return inputs_.size(); }
  std::size_t output_size() const { return outputs_.size(); }
  std::size_t size() const { return size_; }
  const program_code& code() const { return code_; }
  const fixed_values& fixed() const { return fixed_; }
  const std::vector<slot>& inputs() const { return inputs_.slots(); }
  const std::vector<slot>& outputs() const { return outputs_.slots(); }

  const detail::tile_plan& tiles() const { return tiles_; }
  const detail::singular_entries& singular() const { return singular_; }

  /// Returns the first external operation without second-order tangents (order 2), without tangents (order 1), or with tangents
  /// that agree with its adjoints only within tolerances (order 0); null if there is none.
  const external_operation* first_without_tangents(int order = 2) const {
    for (const external_operation* f : differentiated_)
      if (const external_operation* found = f->first_without_tangents(order)) return found;
    return nullptr;
  }

  /// Computes y = f(x), x of input_size, y of output_size entries: numbers side by side, or parts of these lists
  /// (program/tiles/slot_list.hpp). Throws kernels::path_left if a comparison differs from the recording. with_adjoint:
  /// whether `reverse` or `tangent` follows.
  template <class X, class Y>
  void forward(workspace& w, const X& x, Y&& y, bool with_adjoint = true) const {
    run(w, x, with_adjoint);
    outputs_.read(w.values.data(), y);
  }
  /// Does the same as `forward` for passes with tangents, which need the values of all operations.
  void forward_for_tangents(workspace& w, const double* x, double* y) const {
    begin_run(w, x);
    run_forward(code_, w, true);
    w.held = values_are::complete;
    outputs_.read(w.values.data(), y);
  }
  /// Makes a space of the program's size with the constants.
  void begin(space& values) const { fixed_.begin_space(values, size_); }
  /// Does the same as `forward`, but y stays in w.values, at the slots `outputs()`.
  template <class X>
  void run(workspace& w, const X& x, bool with_adjoint = false) const {
    begin_run(w, x);
    if (tiles_.is_empty())
      run_forward(code_, w, with_adjoint);
    else
      detail::run_forward_tiled(code_, tiles_, w, with_adjoint);
  }

  /// Sets `count` inputs from number `first` on, after a run; the others keep their values.
  void set_inputs(workspace& w, std::size_t first, std::size_t count, const double* x) const {
    for (std::size_t i = 0; i < count; ++i) w.values[inputs_[first + i]] = x[i];
  }
  /// Does the same as `forward` without derivatives, with the inputs in the work space: `code` has at least the operations that
  /// depend on inputs set since the last run.
  void forward_again(const program_code& code, workspace& w, double* y) const {
    check_follows(w, "forward_again");
    complete(w);
    run_forward(code, w, false);
    outputs_.read(w.values.data(), y);
  }

  /// Computes x_adjoint = J' y_adjoint at the x of the last `forward`.
  template <class X>
  void reverse(workspace& w, const double* y_adjoint, X&& x_adjoint) const {
    check_follows(w, "reverse");
    end_reverse(w, y_adjoint, meets_zero(w, y_adjoint), x_adjoint);
  }

  /// Does the same as `forward` and `reverse`, in less time.
  template <class X, class XAdjoint>
  void forward_and_reverse(workspace& w, const X& x, double* y, const double* y_adjoint, XAdjoint&& x_adjoint) const {
    if (!tiles_.has_joint_groups()) {
      forward(w, x, y);
      return reverse(w, y_adjoint, x_adjoint);
    }
    begin_run(w, x);
    seed_tiled(w, y_adjoint);
    const bool met_zero = detail::run_both_tiled(code_, tiles_, w);
    outputs_.read(w.values.data(), y);
    end_reverse(w, y_adjoint, singular_outside_.meet_zero(code_, w, w.adjoints.data()) || met_zero, x_adjoint);
  }

  /// Does the same for `count` adjoints of y (count x output_size), into count x input_size. External operations, such as
  /// solutions of differential equations, propagate several adjoints together.
  void reverse_rows(workspace& w, std::size_t count, const double* y_adjoints, double* x_adjoints) const {
    const std::size_t most = rows_together(), passes = (count + most - 1) / most;
    const std::size_t together = count == 0 ? 1 : (count + passes - 1) / passes;
    detail::interrupt_pace pace(size());
    for (std::size_t first = 0; first < count; first += together, pace.step())
      reverse_together(w, std::min(together, count - first), y_adjoints + first * output_size(),
                       x_adjoints + first * input_size());
  }
  /// Returns the number of rows that `reverse_rows` propagates at once. Each row has its own adjoints of all slots, at most 32
  /// MB in all.
  std::size_t rows_together() const {
    return code_.externals.empty() ? 1 : std::clamp<std::size_t>((std::size_t{1} << 22) / size_, 1, 1024);
  }

  /// Computes y_tangents = J x_tangents at the x of the last `forward`, for Width directions side by side.
  template <int Width>
  void tangent(workspace& w, const double* x_tangents, double* y_tangents) const {
    check_follows(w, "tangent");
    complete(w);
    if (w.tangents.size() != size_ * Width) clear_tangents(w.tangents, Width);
    inputs_.write(x_tangents, w.tangents.data(), Width);
    run_tangent<Width>(code_, w);
    const bool meets_infinity = !detail::are_finite(x_tangents, inputs_.size() * Width) || singular_.meet_infinite(w, Width);
    if (AGRAD_UNLIKELY(meets_infinity && w.is_careful)) detail::run_tangent_carefully(code_, w, Width, wanted(w));
    outputs_.read(w.tangents.data(), y_tangents, Width);
  }

  /// Computes x_adjoint = J' y_adjoint, and its derivatives along the directions of the last `tangent`. y_adjoint_tangents: the
  /// derivatives of y_adjoint along these directions; null where y_adjoint is constant.
  template <int Width>
  void second(workspace& w, const double* y_adjoint, double* x_adjoint, double* x_adjoint_tangents,
              const double* y_adjoint_tangents = nullptr) const {
    check_follows(w, "second");
    seed_second<Width>(w, y_adjoint, y_adjoint_tangents);
    run_second<Width>(code_, w);
    if (AGRAD_UNLIKELY(w.is_careful && singular_.meet_zero_of_second(code_, w))) {
      seed_second<Width>(w, y_adjoint, y_adjoint_tangents);
      detail::careful_reverse(code_, w, Width, wanted(w)).run();
    }
    inputs_.read(w.adjoints.data(), x_adjoint);
    inputs_.read(w.adjoint_tangents.data(), x_adjoint_tangents, Width);
  }

 private:
  template <class X>
  void begin_run(workspace& w, const X& x) const {
    if (AGRAD_UNLIKELY(w.program != number_)) prepare(w);
    inputs_.write(x, w.values.data());
  }

  /// Sets the adjoints of inputs and results to zero, `width` per slot. Adjoints of constants are never read, and data may be
  /// large.
  void clear(space& adjoints, std::size_t width) const {
    adjoints.resize(size_ * width);
    inputs_.clear(adjoints.data(), width);
    detail::fill_zero(adjoints.data() + fixed_.size() * width, (size_ - fixed_.size()) * width);
  }

  /// Sets all tangents to zero; those of constants stay zero.
  void clear_tangents(space& tangents, std::size_t width) const {
    tangents = space();  // an interrupt leaves no tangents behind
    tangents = detail::zeros(size_ * width);
  }

  /// Runs an ordinary reverse pass. Returns whether the pass may have met a zero adjoint at a slope that is not finite.
  bool meets_zero(workspace& w, const double* y_adjoint) const {
    if (tiles_.is_empty()) {
      seed(w.adjoints, y_adjoint);
      run_reverse(code_, w);
      return w.is_careful && singular_.meet_zero(code_, w, w.adjoints.data());
    }
    if (AGRAD_UNLIKELY(w.held == values_are::partial)) complete(w);
    seed_tiled(w, y_adjoint);
    const bool met_zero = detail::run_reverse_tiled(code_, tiles_, w);
    return singular_outside_.meet_zero(code_, w, w.adjoints.data()) || met_zero;
  }

  /// Ends a reverse pass: repeats it carefully if it met a zero at a slope that is not finite.
  template <class X>
  void end_reverse(workspace& w, const double* y_adjoint, bool met_zero, X&& x_adjoint) const {
    if (AGRAD_UNLIKELY(met_zero && w.is_careful)) {
      complete(w);
      seed(w.adjoints, y_adjoint);
      detail::careful_reverse(code_, w, 0, wanted(w)).run();
    }
    inputs_.read(w.adjoints.data(), x_adjoint);
  }

  /// Does the same as `seed`, but for results whose adjoints are in registers.
  void seed_tiled(workspace& w, const double* y_adjoint) const {
    w.adjoints.resize(size_);
    inputs_.clear(w.adjoints.data());
    tiles_.each_in_memory(fixed_.size(), size_, [&](std::size_t first, std::size_t end) {
      detail::fill_zero(w.adjoints.data() + first, end - first);
    });
    outputs_.add(y_adjoint, w.adjoints.data());
  }

  /// Computes the values of the last run that only its tiles held.
  void complete(workspace& w) const {
    if (AGRAD_UNLIKELY(w.held != values_are::complete)) detail::complete_values(code_, tiles_, w);
  }

  void seed(space& adjoints, const double* y_adjoint) const {
    clear(adjoints, 1);
    outputs_.add(y_adjoint, adjoints.data());
  }

  /// Returns the slots of the inputs with respect to which derivatives are wanted.
  std::vector<slot> wanted(const workspace& w) const {
    if (w.wanted == nullptr) return inputs_.slots();
    std::vector<slot> slots;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if ((*w.wanted)[i]) slots.push_back(inputs_[i]);
    return slots;
  }

  template <int Width>
  void seed_second(workspace& w, const double* y_adjoint, const double* y_adjoint_tangents) const {
    seed(w.adjoints, y_adjoint);
    clear(w.adjoint_tangents, Width);
    if (y_adjoint_tangents != nullptr) outputs_.add(y_adjoint_tangents, w.adjoint_tangents.data(), Width);
  }

  void reverse_together(workspace& w, std::size_t count, const double* y_adjoints, double* x_adjoints) const {
    if (count == 1) return reverse(w, y_adjoints, x_adjoints);
    check_follows(w, "reverse_rows");
    complete(w);
    const std::size_t slots = size_;
    w.adjoints.assign(count * slots, 0.0);
    for (std::size_t row = 0; row < count; ++row)
      outputs_.add(y_adjoints + row * outputs_.size(), w.adjoints.data() + row * slots);
    run_reverse_rows(code_, w, count);
    std::vector<std::size_t> careful;  // rows
    for (std::size_t row = 0; row < count; ++row) {
      inputs_.read(w.adjoints.data() + row * slots, x_adjoints + row * inputs_.size());
      if (AGRAD_UNLIKELY(w.is_careful && singular_.meet_zero(code_, w, w.adjoints.data() + row * slots)))
        careful.push_back(row);
    }
    for (const std::size_t row : careful) reverse(w, y_adjoints + row * outputs_.size(), x_adjoints + row * inputs_.size());
  }

  void check_follows(const workspace& w, const char* function) const {
    if (AGRAD_UNLIKELY(w.program != number_))
      throw std::logic_error(std::string("program: ") + function + " was called before forward");
  }

  // Prepares a workspace that is new or was used by another program.
  AGRAD_COLD void prepare(workspace& w) const {
    w.program = 0;
    w.held = values_are::complete;
    w.states.clear();
    w.tangents.clear();
    begin(w.values);
    w.program = number_;
  }

  // Programs have numbers, because an address may be used again.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::uint64_t number_ = next_number();
  program_code code_;
  fixed_values fixed_;
  std::size_t size_;
  slot_list inputs_, outputs_;
  detail::tile_plan tiles_;
  detail::singular_entries singular_, singular_outside_;   // of all operations, of those outside of groups
  std::vector<const external_operation*> differentiated_;  // those that derivatives of outputs pass through
};

}  // namespace agrad
