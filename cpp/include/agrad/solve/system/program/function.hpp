// Program function: a recorded function of time, state and parameters with its work space, as a `differentiable_function`.
//
// The program's inputs are t, the entries of the state and the parameters, in this order, and behind them held sides, if any
// (solve/system/jumps/held_code.hpp), which have no derivatives.
// Read next: solve/system/program/ode.hpp, solve/system/program/dae.hpp and solve/system/event.hpp, the users.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/program/program.hpp>
#include <agrad/solve/system/function.hpp>

namespace agrad {

class program_function final : public differentiable_function {
 public:
  /// n: number of entries of the state. Without `differentiated` no parameter is active: their values are constants. held: the
  /// number of held sides.
  program_function(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated = true, std::size_t held = 0);

  const program& code() const { return *f_; }
  Eigen::Index states() const { return n_; }
  Eigen::Index outputs() const override { return static_cast<Eigen::Index>(f_->output_size()); }
  Eigen::Index parameters() const override { return active_; }
  void set_parameters(const double* p) override {
    std::copy_n(p, m_, inputs_.begin() + 1 + n_);
    has_run_ = false;
  }
  const double* parameter_values() const { return inputs_.data() + 1 + n_; }
  void hold(const std::vector<double>& sides) {
    std::copy(sides.begin(), sides.end(), inputs_.begin() + 1 + n_ + m_);
    has_run_ = false;
  }
  /// Sets the operations that depend on time and states, null for all: `value` then computes the others once for all calls with
  /// the same parameters.
  void use_moving(std::shared_ptr<const program_code> code) { moving_ = std::move(code); }

  AGRAD_INLINE void value(double t, const double* y, double* to) override;
  AGRAD_INLINE void vjp(double t, const double* y, const double* lambda, double* to, double& t_adjoint, double* y_adjoint,
                        double* parameter_adjoint) override;
  int order() const override { return has(2) ? 2 : has(1) ? 1 : 0; }
  bool has(int order) const { return f_->first_without_tangents(order) == nullptr; }
  AGRAD_INLINE void tangent(const ode_point& at, double* to) override;
  /// Does the same, and writes the value.
  void value_and_tangent(const ode_point& at, double* value, double* to);
  AGRAD_INLINE void second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                           const ode_adjoints& to) override;

  // ---- the same by all inputs together

  /// Checks for an interrupt from time to time.
  void poll() { pace_.step(); }
  /// Sets time and state and returns all inputs.
  const double* set(double t, const double* y);
  /// Runs the program, for the two members that follow.
  void run(double t, const double* y);
  /// Returns lambda' times the derivatives with respect to all inputs.
  const double* adjoints(const double* lambda);
  /// Computes the tangents along the directions. `directions` sets the directions of all inputs to zero and returns their
  /// numbers.
  void tangent(int width, double* to);
  double* directions(int width);

 private:
  template <class Use>
  static void by_width(int width, const Use& use) {
    if (width == 1)
      use(std::integral_constant<int, 1>{});
    else
      use(std::integral_constant<int, lane_count>{});
  }

  std::shared_ptr<const program> f_;
  std::shared_ptr<const program_code> moving_;
  Eigen::Index n_, m_, active_;
  bool has_run_ = false;  // with the present parameters
  detail::interrupt_pace pace_{f_->size()};
  workspace work_;
  std::vector<double> inputs_, outputs_, adjoints_, directions_, tangents_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/function.ipp>
#endif
