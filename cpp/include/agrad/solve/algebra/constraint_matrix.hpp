// Constraint matrix: factorises K, the differential equations' rows of a mass matrix M over the constraints' rows of J = df/dy.
//
// Where the nonzero rows of M are independent, these are the differential equations, and K is dense, banded or sparse like the
// matrices of the steps. Else rows T of combinations, from a QR factorisation, separate the equations: T_d M has full rank,
// T_a M = 0, and K has the rows T_d M and T_a J, dense. Equations and states may differ in size by many orders of magnitude,
// which must not look like a singular matrix.
// Read next: solve/algebra/constrained_state.hpp, the user.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <agrad/solve/algebra/newton_matrix.hpp>
#include <agrad/solve/algebra/pattern.hpp>
#include <agrad/solve/algebra/scaled_factors.hpp>
#include <agrad/solve/system/mass_matrix.hpp>

namespace agrad::detail {

class constraint_matrix {
 public:
  /// how: the algebra of the steps, whose pattern has the entries of M. M must outlive this object.
  constraint_matrix(const std::string& function, ode_system& system, const mass_matrix& mass, const chosen_algebra& how);

  bool has_constraints() const { return constraints_.any(); }

  /// Factorises K at a state. sizes: of the states. Returns whether K is regular.
  bool factorise(double t, const double* y, const Eigen::VectorXd& sizes);

  Eigen::VectorXd solve(const Eigen::VectorXd& b);
  Eigen::VectorXd solve_transposed(const Eigen::VectorXd& b);

  /// Returns T x, with the entries of the differential equations or with those of the constraints; the others are zero.
  Eigen::VectorXd differential(const Eigen::VectorXd& x) const { return constraints_.select(0, combined(x)); }
  Eigen::VectorXd constraint(const Eigen::VectorXd& x) const { return constraints_.select(combined(x), 0); }
  /// Return T_d' x_d and T_a' x_a.
  Eigen::VectorXd from_differential(const Eigen::VectorXd& x) const { return separated(constraints_.select(0, x)); }
  Eigen::VectorXd from_constraint(const Eigen::VectorXd& x) const { return separated(constraints_.select(x, 0)); }

 private:
  Eigen::VectorXd combined(const Eigen::VectorXd& x) const { return rows_.size() > 0 ? Eigen::VectorXd(rows_ * x) : x; }
  Eigen::VectorXd separated(const Eigen::VectorXd& x) const {
    return rows_.size() > 0 ? Eigen::VectorXd(rows_.transpose() * x) : x;
  }

  /// Separates the equations by a QR factorisation of M.
  void separate();
  /// Factorises the entries on the pattern; returns whether the matrix is regular.
  bool factorise_entries(const Eigen::VectorXd& sizes);
  /// Factorises K, or T_d M over T_a J, as a dense matrix.
  bool factorise_dense();

  const mass_matrix& mass_;
  state_jacobian jacobian_;
  Eigen::Array<bool, Eigen::Dynamic, 1> constraints_;  // of each row of K
  Eigen::MatrixXd rows_, of_mass_;                     // T, empty for the identity; T M, for dense algebra
  scaled_factors dense_;
  std::optional<newton_matrix> sparse_;                 // banded or sparse algebra
  std::vector<double> entries_, on_pattern_, factors_;  // of K; M's on the pattern
  Eigen::VectorXd scale_;                               // of K's rows, for `sparse_`
  bool is_factorised_ = false, is_regular_ = false;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/constraint_matrix.ipp>
#endif
