// Constrained state: slopes and consistent states of a system M y' = f(t, y, p) with a mass matrix, and their derivatives.
//
// Combinations T of the equations separate differential equations T_d M y' = T_d f and constraints T_a f = 0, with T_a M = 0.
// With the constraints' derivative, K y' = (T_d f, -T_a f_t) for K = [T_d M; T_a f_y], which is regular if the system is of
// index 1. The consistent state y of a state x has M y = M x and T_a f(t, y, p) = 0: Newton steps s solve K s = (0, -T_a f),
// and K dy = (T_d M dx, -T_a (f_t dt + f_p dp)). For adjoints, with K' (m_d, m_a) = l, let r = T_d' m_d and v = -T_a' m_a: the
// adjoint of x is M' r, those of t and p are f_t' v and f_p' v. Where M is regular there are no constraints.
// Source: Hairer and Wanner (1996), Solving Ordinary Differential Equations II, sections VI.1 and VII.1.
// Read next: solve/algebra/constraint_matrix.hpp, K; solve/solver/moving_state.hpp; solve/one_step/rosenbrock.hpp, the steps.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/solve/algebra/constraint_matrix.hpp>
#include <agrad/solve/system/mass_matrix.hpp>
#include <agrad/solve/system/moving_numbers.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

class constrained_state {
 public:
  /// how: the algebra of the steps. small: the size of each state below which a change is absolute, not relative. The system
  /// and M must outlive this object.
  constrained_state(std::string function, ode_system& system, const mass_matrix& mass, const chosen_algebra& how,
                    Eigen::VectorXd small);

  const mass_matrix& mass() const { return mass_; }
  bool has_constraints() const { return matrix_.has_constraints(); }

  /// Computes y'; nan where K is singular.
  void slope(double t, const double* y, double* to);
  /// Computes l' times the derivatives of y' with respect to time, state and parameters, where the system has time tangents.
  void slope_adjoint(double t, const Eigen::VectorXd& y, const Eigen::VectorXd& l, double& of_time, Eigen::VectorXd& of_state,
                     Eigen::VectorXd& of_parameters);

  /// Changes y to the consistent state with the same M y. Throws SolverError where none is found, or K is singular.
  void make_consistent(double t, Eigen::VectorXd& y);

  /// Changes a direction to that of the consistent states at y, for a direction of the parameters. Difference quotients take
  /// the place of tangents that the system does not have.
  void make_direction_consistent(double t, const double* y, const double* of_parameters, double* direction);

  // The derivatives of `make_consistent` at its result y; the time moves, too.

  /// Turns tangents of x, in place, into those of y.
  void tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by, const std::vector<double>& parameter_tangents,
               Eigen::Ref<tangent_rows> tangents);
  /// Turns the adjoint of y into that of x; adds to the adjoints of the time and of the first parameters.
  void adjoint(double t, const Eigen::VectorXd& y, Eigen::VectorXd& state, double& time, Eigen::VectorXd& parameters);
  /// Does the same with tangents. at: y with its tangents, of which the time's are a part.
  void second(const moving_place& at, const std::vector<double>& parameter_tangents, moving_vector& state, moving_number& time,
              moving_vector& parameters);

 private:
  /// The parts r and v of an adjoint.
  struct adjoint_parts {
    Eigen::VectorXd differential, constraint;
  };

  /// Factorises K; returns whether it is regular.
  bool factorise(double t, const double* y);
  void require(double t, const double* y);
  adjoint_parts parts_of(const Eigen::VectorXd& l);
  /// Returns f_t.
  Eigen::VectorXd by_time(double t, const double* y);
  /// Returns the solution of K y = (T_d M x, -T_a c).
  Eigen::VectorXd solve(const Eigen::VectorXd& x, const Eigen::VectorXd& c);
  /// Returns the Newton step at a state; not finite where f is not.
  Eigen::VectorXd newton_step(double t, const Eigen::VectorXd& y);
  double size_of(const Eigen::VectorXd& step, const Eigen::VectorXd& y) const;
  /// Moves by a part of the step that makes the next step with the same factors smaller; returns whether there is one.
  bool descend(double t, Eigen::VectorXd& y, const Eigen::VectorXd& step, double size);
  [[noreturn]] AGRAD_COLD void fail(double t, const std::string& code, const std::string& what,
                                    const std::string& advice) const;

  std::string function_;
  ode_system& system_;
  const mass_matrix& mass_;
  Eigen::Index n_;
  Eigen::VectorXd small_;
  detail::constraint_matrix matrix_;  // K
};

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/algebra/constrained_state.ipp>
#endif
