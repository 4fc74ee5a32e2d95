// Definitions of program/program.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/program.hpp>

namespace agrad {

AGRAD_INLINE program::program(program_code code, std::vector<double> fixed, std::size_t size, std::vector<slot> inputs,
                              std::vector<slot> outputs)
    : code_(std::move(code)), fixed_(std::move(fixed)), size_(size), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  for (std::size_t i = 1; i < inputs_.size(); ++i) inputs_follow_ = inputs_follow_ && inputs_[i] == inputs_[0] + i;
}

AGRAD_INLINE const external_operation* program::first_without_tangents(int order) const {
  for (const auto& f : code_.externals)
    if (const external_operation* found = f->first_without_tangents(order)) return found;
  return nullptr;
}

AGRAD_INLINE void program::forward(workspace& w, const double* x, double* y, bool with_adjoint) const {
  run(w, x, with_adjoint);
  for (std::size_t i = 0; i < outputs_.size(); ++i) y[i] = w.values[outputs_[i]];
}

AGRAD_INLINE void program::begin(space& values) const {
  values.resize(size_);
  std::copy(fixed_.begin(), fixed_.end(), values.begin());
}

AGRAD_INLINE void program::run(workspace& w, const double* x, bool with_adjoint) const {
  if (AGRAD_UNLIKELY(w.program != number_)) prepare(w);
  if (inputs_follow_ && !inputs_.empty())
    std::copy_n(x, inputs_.size(), w.values.data() + inputs_[0]);
  else
    for (std::size_t i = 0; i < inputs_.size(); ++i) w.values[inputs_[i]] = x[i];
  run_forward(code_, w, with_adjoint);
}

AGRAD_INLINE void program::reverse(workspace& w, const double* y_adjoint, double* x_adjoint) const {
  check_follows(w, "reverse");
  seed(w.adjoints, y_adjoint);
  run_reverse(code_, w);
  if (inputs_follow_ && !inputs_.empty())
    std::copy_n(w.adjoints.data() + inputs_[0], inputs_.size(), x_adjoint);
  else
    for (std::size_t i = 0; i < inputs_.size(); ++i) x_adjoint[i] = w.adjoints[inputs_[i]];
}

AGRAD_INLINE void program::reverse_rows(workspace& w, std::size_t count, const double* y_adjoints, double* x_adjoints) const {
  const std::size_t most = rows_together(), passes = (count + most - 1) / most;
  const std::size_t together = count == 0 ? 1 : (count + passes - 1) / passes;
  detail::interrupt_pace pace(size());
  for (std::size_t first = 0; first < count; first += together, pace.step())
    reverse_together(w, std::min(together, count - first), y_adjoints + first * output_size(),
                     x_adjoints + first * input_size());
}

AGRAD_INLINE std::size_t program::rows_together() const {
  return code_.externals.empty() ? 1 : std::clamp<std::size_t>((std::size_t{1} << 22) / size_, 1, 1024);
}

AGRAD_INLINE void program::clear(space& adjoints, std::size_t width) const {
  adjoints.resize(size_ * width);
  for (const slot s : inputs_) std::fill_n(adjoints.begin() + static_cast<std::ptrdiff_t>(s * width), width, 0.0);
  std::fill(adjoints.begin() + static_cast<std::ptrdiff_t>(fixed_.size() * width), adjoints.end(), 0.0);
}

AGRAD_INLINE void program::seed(space& adjoints, const double* y_adjoint) const {
  clear(adjoints, 1);
  for (std::size_t i = 0; i < outputs_.size(); ++i) adjoints[outputs_[i]] += y_adjoint[i];
}

AGRAD_INLINE void program::reverse_together(workspace& w, std::size_t count, const double* y_adjoints,
                                            double* x_adjoints) const {
  if (count == 1) return reverse(w, y_adjoints, x_adjoints);
  check_follows(w, "reverse_rows");
  const std::size_t slots = size_;
  w.adjoints.assign(count * slots, 0.0);
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      w.adjoints[row * slots + outputs_[i]] += y_adjoints[row * outputs_.size() + i];
  run_reverse_rows(code_, w, count);
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      x_adjoints[row * inputs_.size() + i] = w.adjoints[row * slots + inputs_[i]];
}

AGRAD_INLINE void program::check_follows(const workspace& w, const char* function) const {
  if (AGRAD_UNLIKELY(w.program != number_))
    throw std::logic_error(std::string("program: ") + function + " was called before forward");
}

AGRAD_INLINE void program::prepare(workspace& w) const {
  w.program = 0;
  w.states.clear();
  w.tangents.clear();
  begin(w.values);
  w.program = number_;
}

AGRAD_INLINE std::uint64_t program::next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace agrad
