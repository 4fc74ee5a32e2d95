// Body: a function that one operation runs many times, as a growing set of recorded paths.
//
// All paths have the same local inputs and the same outputs. Each path also takes a leading part of the captured values, which
// are constant during a loop; later paths may take more captured values. A run tries the likely path first, then the others;
// when no path is valid, the hook records another one. Paths are only added, so threads read paths without a lock. A path's
// spaces are stored between runs: captured values are written once, and their adjoints are summed there.
// Read next: program/loops/scan.hpp, which runs a body in a loop.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/program.hpp>

namespace agrad {

/// One recorded path: a program of the local inputs and the first `captured` captured values.
struct body_path {
  std::shared_ptr<const program> code;
  std::size_t captured = 0;
};

template <class Archive>
void serialize(Archive& archive, body_path& path) {
  archive(path.code, path.captured);
}

class body {
 public:
  static constexpr std::size_t most_paths = 64;
  /// Records the path for these local inputs; may append captured values. Returns a path without a program on failure.
  using record_hook = std::function<body_path(const double* local, std::vector<double>& captured)>;

  /// inputs: the number of local inputs of every path. The first path determines the number of outputs.
  body(std::string name, std::size_t inputs, record_hook hook = {})
      : name_(std::move(name)), inputs_(inputs), hook_(std::move(hook)) {}

  const std::string& name() const { return name_; }
  std::size_t input_size() const { return inputs_; }
  std::size_t output_size() const { return path(0).code->output_size(); }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const body_path& path(std::size_t i) const { return paths_[i]; }
  /// Returns the present paths.
  std::vector<body_path> paths() const { return {paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(size())}; }

  void add(body_path path);

  /// Records another path after `known` paths were tried, unless another thread has added one. Throws kernels::path_left when
  /// no path can be recorded.
  void grow(std::size_t known, const double* local, std::vector<double>& captured);

  const external_operation* first_without_tangents(int order = 2) const;

  /// Whether the body's loop ends where further steps change its results by little, as Newton's iteration does, so that its
  /// results hardly depend on the number of steps.
  bool converges() const { return converges_; }
  void mark_converging() { converges_ = true; }

 private:
  void append(body_path path);

  std::string name_;
  std::size_t inputs_;
  record_hook hook_;
  fork_safe_mutex mutex_;
  std::array<body_path, most_paths> paths_;
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> converges_{false};
};

namespace detail {

/// Copies few numbers, usually one or two, where a call of memmove would take longer.
void copy_few(const double* from, std::size_t n, double* to);

/// The spaces of one path, used by one run at a time. The spaces of tangents have `Width` numbers for each slot.
class path_spaces {
 public:
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
  std::size_t holds = nothing;                   // the step whose values are here
  bool can_reverse = false;                      // whether its external operations can run a reverse pass
  std::size_t tangents_of = 0, adjoints_of = 0;  // numbers of the passes to which they belong

  path_spaces(const body_path& path, std::size_t inputs);

  /// Writes the captured values of a new run of the loop.
  void begin_values(const std::vector<double>& captured);

  /// Runs the path. Returns false when a comparison differs from the recording.
  bool run(const double* local, bool with_adjoint);
  /// Return the number of computed values, and whether the reverse pass needs no other data.
  std::size_t results() const { return of_.code->size() - first_result_; }
  bool is_plain() const { return code().externals.empty(); }
  void save(double* to) const { std::copy_n(work_.values.data() + first_result_, results(), to); }
  /// Restores the state after a run with these inputs from saved results.
  void restore(const double* local, const double* from);
  double output(std::size_t i) const { return work_.values[of_.code->outputs()[i]]; }

  // ---- tangents

  /// Starts the tangents of a run. captured: `Width` numbers for each captured value.
  template <int Width>
  void begin_tangents(const double* captured, std::size_t number) {
    tangents_of = number;
    has_infinite_tangents_ = !are_finite(captured, of_.captured * Width);
    work_.tangents.assign(of_.code->size() * Width, 0.0);
    for (std::size_t i = 0; i < of_.captured; ++i)
      std::copy_n(captured + i * Width, Width, tangents<Width>(slots()[inputs_ + i]));
  }
  /// carry: how many of the local inputs are the carry.
  template <int Width>
  void run_tangents(const double* local, std::size_t carry) {
    for (std::size_t i = 0; i < inputs_; ++i) std::copy_n(local + i * Width, Width, tangents<Width>(slots()[i]));
    run_tangent<Width>(code(), work_);
    if (AGRAD_UNLIKELY(has_infinite_tangents_ || !are_finite(local, inputs_ * Width) ||
                       of_.code->singular().meet_infinite(work_, Width)))
      run_tangent_carefully(code(), work_, Width, moving_inputs<Width>(carry));
  }
  template <int Width>
  const double* output_tangent(std::size_t i) {
    return tangents<Width>(of_.code->outputs()[i]);
  }

  // ---- adjoints and, for Width > 0, their tangents; adjoints of captured values are summed until `add_adjoints_to`

  template <int Width>
  void begin_adjoints(std::size_t number) {
    adjoints_of = number;
    work_.adjoints.assign(of_.code->size(), 0.0);
    work_.adjoint_tangents.assign(of_.code->size() * Width, 0.0);
  }
  /// Sets all adjoints to zero, except those of captured values.
  template <int Width>
  void clear_adjoints() {
    for (std::size_t i = first_result_; i < work_.adjoints.size(); ++i) work_.adjoints[i] = 0;
    for (std::size_t i = 0; i < inputs_; ++i) work_.adjoints[slots()[i]] = 0;
    if constexpr (Width > 0) {
      std::fill(work_.adjoint_tangents.begin() + static_cast<std::ptrdiff_t>(first_result_ * Width),
                work_.adjoint_tangents.end(), 0.0);
      for (std::size_t i = 0; i < inputs_; ++i)
        std::fill_n(work_.adjoint_tangents.data() + slots()[i] * std::size_t{Width}, Width, 0.0);
    }
  }
  template <int Width>
  void seed(std::size_t output, double adjoint, const double* adjoint_tangent) {
    const slot at = of_.code->outputs()[output];
    work_.adjoints[at] += adjoint;
    for (std::size_t k = 0; k < Width; ++k) work_.adjoint_tangents[at * Width + k] += adjoint_tangent[k];
  }
  template <int Width>
  void reverse() {
    if constexpr (Width == 0)
      run_reverse(code(), work_);
    else
      run_second<Width>(code(), work_);
  }
  /// Returns whether the pass met a zero at a slope that is not finite.
  template <int Width>
  bool met_zero() {
    const singular_entries& singular = of_.code->singular();
    if constexpr (Width == 0)
      return singular.meet_zero(code(), work_, work_.adjoints.data());
    else
      return singular.meet_zero_of_second(code(), work_);
  }
  /// Returns whether a derivative of an order up to `order` may be infinite in this step.
  bool has_infinite_slope(int order) { return !is_plain() || of_.code->singular().have_infinite_slope(code(), work_, order); }
  /// Returns a careful pass over the seeded adjoints, with derivatives by the inputs of these slots.
  careful_reverse begin_careful(int width, const std::vector<slot>& inputs) { return {code(), work_, width, inputs}; }
  /// Return the slots of inputs, also captured ones, and outputs.
  slot input_slot(std::size_t i) const { return slots()[i]; }
  slot output_slot(std::size_t i) const { return of_.code->outputs()[i]; }
  /// Adds the adjoints of n inputs from number `first` to the arguments.
  template <int Width>
  void add_adjoints_to(std::size_t first, std::size_t n, double* adjoint, double* adjoint_tangent) const {
    for (std::size_t i = 0; i < n; ++i) {
      const slot at = slots()[first + i];
      adjoint[i] += work_.adjoints[at];
      for (std::size_t k = 0; k < Width; ++k) adjoint_tangent[i * Width + k] += work_.adjoint_tangents[at * Width + k];
    }
  }
  /// Copies the adjoints of the first n inputs.
  template <int Width>
  void get(std::size_t n, double* adjoint, double* adjoint_tangent) const {
    for (std::size_t i = 0; i < n; ++i) adjoint[i] = work_.adjoints[slots()[i]];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < Width; ++k)
        adjoint_tangent[i * Width + k] = work_.adjoint_tangents[slots()[i] * std::size_t{Width} + k];
  }
  std::size_t captured() const { return of_.captured; }

 private:
  const program_code& code() const { return of_.code->code(); }
  const std::vector<slot>& slots() const { return of_.code->inputs(); }
  /// Returns the slots of the carry and of all other inputs that have a tangent: those without may be constants.
  template <int Width>
  std::vector<slot> moving_inputs(std::size_t carry) {
    std::vector<slot> moving;
    for (std::size_t i = 0; i < slots().size(); ++i) {
      const double* along = tangents<Width>(slots()[i]);
      if (i < carry || std::any_of(along, along + Width, [](double each) { return each != 0; })) moving.push_back(slots()[i]);
    }
    return moving;
  }
  template <int Width>
  double* tangents(slot at) {
    return work_.tangents.data() + at * std::size_t{Width};
  }

  body_path of_;
  std::size_t inputs_;
  std::size_t first_result_;  // all earlier slots are inputs and constants
  workspace work_;
  bool has_infinite_tangents_ = false;  // of captured values
};

}  // namespace detail

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/body.ipp>
#endif
