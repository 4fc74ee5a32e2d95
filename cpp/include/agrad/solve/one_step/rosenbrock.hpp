// Rosenbrock: linearly implicit methods for stiff systems, Rodas4 and Rodas5P, and the adjoints of their steps.
//
// With J = df/dy and f_t = df/dt at a step's start, stages solve (I / (h g) - J) U_s = f(t + c_s h, Y_s) + sum_j (C_sj / h) U_j
// + d_s h f_t, Y_s = y + sum_j a_sj U_j, and the step ends at Y_s + U_s of its last stage. In the reverse pass V_s solves the
// transposed system with the step's factors for v_s = b_s l + sum_{r>s} (a_rs w_r + (C_rs / h) V_r) plus the adjoint of U_s
// from outputs within the step; w_s = (df/dy)' V_s at Y_s. J also depends on y and p, whose adjoints grow by the derivatives of
// V_s' J U_s, without which the gradient would lose three digits.
// With a mass matrix M, M / (h g) takes the place of I / (h g), M C_sj that of C_sj, and in the reverse pass M' C_rs that of
// C_rs.
// A step's record is its first state, the U_s and the matrix's factors (solve/algebra/newton_matrix.hpp).
// Read next: solve/one_step/rosenbrock_second.hpp (second derivatives), solve/one_step/rosenbrock_tableau.hpp (coefficients).
// Source: Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.7 and code RODAS.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/jacobian_entries.hpp>
#include <agrad/solve/algebra/newton_matrix.hpp>
#include <agrad/solve/one_step/rosenbrock_tableau.hpp>
#include <agrad/solve/one_step/solver.hpp>

namespace agrad {

class rosenbrock : public one_step_solver {
 public:
  rosenbrock(const rosenbrock_tableau& method, const std::string& function, ode_system& system, const step_options& options,
             ode_required required)
      : rosenbrock(method, function, system, options, required,
                   newton_matrix(chosen(method, function, system, options), options.mass ? &*options.mass : nullptr)) {}

  const rosenbrock_tableau& method() const { return method_; }

 private:
  rosenbrock(const rosenbrock_tableau& method, const std::string& function, ode_system& system, const step_options& options,
             ode_required required, newton_matrix matrix);

 protected:
  using vector_map = Eigen::Map<Eigen::VectorXd>;
  using const_vector = Eigen::Map<const Eigen::VectorXd>;

  static chosen_algebra chosen(const rosenbrock_tableau& method, const std::string& function, ode_system& system,
                               const step_options& options);
  Eigen::Index n() const { return static_cast<Eigen::Index>(n_); }
  /// Returns the number of vectors U_s.
  std::size_t vectors() const { return static_cast<std::size_t>(stages_); }
  double time_of(int s, const one_step& at) const { return method_.c[s] == 1 ? at.end : at.t + method_.c[s] * at.h; }

  // ---- the record

  double* solution(double* record, int s) const { return record + (1 + static_cast<std::size_t>(s)) * n_; }
  const double* solution(const double* record, int s) const { return record + (1 + static_cast<std::size_t>(s)) * n_; }
  double* factors(double* record) const { return record + (1 + vectors()) * n_; }
  const double* factors(const double* record) const { return record + (1 + vectors()) * n_; }

  /// Computes Y_s of a record.
  void stage(int s, const double* record, double* y) const;

  // ---- forward pass

  AGRAD_INLINE void begin(double t, double* record) override;

  AGRAD_INLINE double attempt(const one_step& at, double* record, double* next) override;

  AGRAD_INLINE void repeat(const one_step& at, double* record, double* next) override;

  /// Computes J and f_t at the step's start; f_t is a difference quotient, and the reverse pass differentiates this quotient.
  void linearise(const one_step& at, const double* record);
  static double time_difference(const one_step& at);

  void compute_stages(const one_step& at, double* record, double* next);

  /// Adds M sum_j (C_sj / h) U_j to the right-hand side of stage s, for the vectors of a record with `width` numbers for each
  /// state.
  void add_earlier(int s, double h, const double* record, std::size_t width, double* to);

  // ---- the probe, with a record like a step's but without factors

  AGRAD_INLINE double attempt_probe(const one_step& at, const double* record) override;

  /// Returns a slope for `observe`: with a mass matrix the mean slope of the step, because y' needs another factorisation.
  const double* observed_slope(const one_step& at, const double* record);

  /// Computes the probe's tangent of the difference quotient in time.
  void probe_by_time(const one_step& at, const double* record);

  /// Computes to += (dJ/dy v + dJ/dp w) u for the probe v and w; a difference along u if the system has no Jacobian
  /// derivatives.
  void add_moved_jacobian(double t, const double* y, const double* u, double* to);

  void factorise(double h, double* record);

  AGRAD_INLINE std::string place_of_fault(const one_step& at, const double* record) override;

  AGRAD_INLINE detail::step_outputs::weights interpolant(double part, double /*h*/) const override;

  // ---- reverse pass

  /// Returns V_s of the present step.
  const double* adjoint_of(int s) const { return v_.data() + static_cast<std::size_t>(s) * n_; }

  AGRAD_INLINE void reverse_step(const one_step& at, const double* record, double* of_record, double* l,
                                 double* parameters) override;

  AGRAD_INLINE void reverse_error(const one_step& at, const double* l, std::vector<double>& of_record) const override;

  void linearize_stages(const one_step& at, const double* record);
  int linearize_step(const one_step& at, const double* record) override { return linearize_stages(at, record), stages_; }

  /// Adds to v_s what later stages give: sum_r (a_rs w_r + M' (C_rs / h) V_r).
  void add_later(int s, double h, double* v);

  /// Computes to = (df/dy)' v; adds factor (df/dp)' v to the parameters' adjoint.
  void add_vjp(double factor, double t, const double* y, const double* v, double* to, double* parameters);
  void add_part(double factor, double* parameters);

  // The derivatives of sum_s V_s' J(y) U_s with respect to y and the parameters: exact if the system has the Jacobian's adjoint
  // or tangents; tangents need one direction a stage, or a colour of J's columns if colours are fewer.

  void reverse_matrices(const one_step& at, const double* record, double* parameters);

  /// Returns the factor of entry (i, j) of J in sum_s V_s' J U_s.
  double weight(const double* record, std::size_t i, std::size_t j) const;

  template <class Use>
  void each_entry(const Use& use) const {
    detail::each_entry(pattern(), n_, use);
  }
  const csr_pattern* pattern() const { return jacobian_.how().pattern ? &*jacobian_.how().pattern : nullptr; }

  /// Computes the columns of colour c as a direction, and the vector whose product with J times that direction is needed: entry
  /// i is the sum over the stages of V_i U_j for the column j of colour c that has an entry in row i.
  void colour_product(const double* record, std::uint32_t c);

  void reverse_matrix(const one_step& at, const double* record, const double* u, const double* v, double* parameters);

  /// Returns the largest ratio of u to the size of a state, which is the state's value plus the ratio of its tolerances.
  double relative_size(const double* u, const double* y) const;

  /// Takes the difference along U_s, where J' V_s remains of the size of the adjoints however stiff J is.
  void reverse_matrix_by_differences(const one_step& at, const double* record, int s, double* parameters);

  /// Adds the derivatives of v' (f(t + delta, y) - f(t, y)), where v is the sum of all stages' parts.
  void reverse_time(const one_step& at, const double* record, double* parameters);

  const rosenbrock_tableau& method_;
  int stages_;
  state_jacobian jacobian_;
  newton_matrix matrix_;
  std::vector<double> entries_;  // of the Jacobian at the step's start
  colouring colours_;            // of the Jacobian's columns, for reverse_matrices
  bool is_autonomous_, is_linearised_ = false, is_singular_ = false;
  std::vector<double> slope_, by_time_, stage_, right_;
  std::vector<double> stage_states_;  // of all stages
  std::vector<double> stage_times_;
  std::vector<double> probe_record_, entry_tangents_;  // of the probe; of J's entries along the probe
  std::vector<double> coupled_;                        // sums that M multiplies
  std::vector<double> w_, v_, time_adjoint_, sum_, part_, part_tangents_, time_states_, time_parameters_, adjoint_, none_,
      direction_, product_, weights_;
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/rosenbrock.ipp>
#endif
