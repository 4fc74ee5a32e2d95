// Program system: a recorded right-hand side as an `ode_system`.
//
// The program's inputs are t, the n states and the m parameters, in this order; its outputs are the n derivatives. Jacobians
// come from forward passes with tangents, eight columns each, or from reverse passes if an external operation has no tangents;
// products with the transposed Jacobian come from a single reverse pass. The pattern of the Jacobian is computed from the
// program, once for all systems that share a `program_structure`; columns or rows without a common entry then share a pass. If
// f consists of rules, as most do, a program of its own computes the entries (program/derive/entries_program.hpp), which is
// faster and has derivatives, and another computes the entries at all stages of a step
// (solve/system/program/linearization.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/jacobian.hpp>
#include <agrad/solve/system/ode.hpp>
#include <agrad/solve/system/program/function.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

class program_system : public ode_system {
 public:
  /// n states; the program's other inputs are t and the parameters. Without `differentiated` no parameter is active: their
  /// values are constants of the solve. held: the number of held sides, the program's last inputs.
  program_system(std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
                 std::shared_ptr<program_structure> structure = std::make_shared<program_structure>(), std::size_t held = 0);

  /// Sets which parameters have wanted derivatives, if not all.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }
  AGRAD_INLINE void parameter_sizes(const double* of_states, double* sizes) const override;

  AGRAD_INLINE void set_parameters(const double* p) override;
  /// Sets the held sides.
  AGRAD_INLINE void hold(std::vector<double> sides);

  Eigen::Index states() const override { return f_.states(); }
  bool is_autonomous() const override { return structure_->is_autonomous(f_.code()); }
  Eigen::Index parameters() const override { return f_.parameters(); }

  AGRAD_INLINE void rhs(double t, const double* y, double* dydt) override;

  AGRAD_INLINE void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override;

  AGRAD_INLINE void jvp(double t, const double* y, const double* v, double* to) override;

  std::shared_ptr<const csr_pattern> known_pattern() override { return structure_->pattern(f_.code(), states()); }

  AGRAD_INLINE void use_pattern(std::shared_ptr<const csr_pattern> pattern) override;

  AGRAD_INLINE void jacobian_entries(double t, const double* y, double* entries) override;

  bool has_jacobian_adjoint() override { return find_entries(); }

  AGRAD_INLINE void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                     double* parameter_adjoint) override;

  AGRAD_INLINE void jacobian_tangent(const ode_point& at, double* entry_tangents) override;

  AGRAD_INLINE void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                    const ode_adjoints& to) override;

  AGRAD_INLINE void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override;

  AGRAD_INLINE void linearize(int points, const double* t, const double* y) override;
  AGRAD_INLINE void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) override;

  AGRAD_INLINE void linear_jvp(int k, const double* v, const double* w, double* to) override;

  std::size_t linear_size() const override { return linear_ == nullptr ? 0 : linear_->kept_size(); }
  void keep_linear(double* to) const override { linear_->keep(linear_work_, to); }
  AGRAD_INLINE bool restore_linear(int points, const double* from) override;

  AGRAD_INLINE bool rhs_with(double t, const double* y, const double* p, double* dydt) override;

  void parameter_values(double* p) const override { std::copy_n(f_.parameter_values(), parameters(), p); }

  bool has_tangents() const override { return f_.has(2); }
  bool has_first_tangents() const override { return f_.has(1); }

  AGRAD_INLINE void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
                            double* dydt_tangents) override;

  bool has_time_tangents() const override { return has_tangents(); }
  AGRAD_INLINE void moving_tangent(const ode_point& at, double* dydt_tangents) override;

  AGRAD_INLINE void second(const ode_point& at, const double* lambda, const double* lambda_tangents,
                           const ode_adjoints& to) override;

 protected:
  /// Returns whether a linearization is faster than separate products.
  virtual bool pays(const linearization&) const { return true; }

 private:
  void jacobian_by_rows(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J);

  /// Writes the parts of adjoints of all inputs.
  void write_adjoints(const double* all, double* y_adjoint, double* parameter_adjoint) const;

  /// Returns whether there is a program of the entries; looks once.
  bool find_entries();

  program_function f_;
  std::optional<program_function> entries_;  // of J, on the pattern if there is one
  std::shared_ptr<program_structure> structure_;
  std::shared_ptr<const linearization> linear_;        // null: separate products
  std::shared_ptr<const sparse_jacobian> compressed_;  // for jacobian_entries
  std::vector<bool> active_;                           // of the parameters, or empty
  std::vector<double> held_;
  bool has_searched_ = false;
  int linear_at_ = 0;
  bool is_linear_ready_ = false;  // the work space holds derivatives by `linear_`
  workspace columns_work_;
  linearization::workspace linear_work_;
  std::vector<double> slope_, dense_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/system/program/ode.ipp>
#endif
