// Equation search: Newton's method with damping and Powell's hybrid method, on numbers.
//
// Both linearise the equations at each x by an LU factorisation of the Jacobian with columns scaled to length 1, so that the
// scale of an unknown has no influence. They are the methods of python/agrad/_functionals/search.py. Definitions are in
// functionals/equation_search.ipp. Read next: functionals/roots.hpp, which gives the roots derivatives.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace agrad {

/// When a search for a root ends. `step_tolerance`: no entry of the next step of Newton's method is longer than this times its
/// size, the larger of the same entry of x and of the start. An entry near zero, which has no size, may also end where the step
/// before, computed again with the Jacobian at its end, is the same. `residual_tolerance`: what the largest equation may be
/// off. `max_steps`: the most steps, rejected ones included.
struct root_options {
  double step_tolerance = 1e-10;
  double residual_tolerance = std::numeric_limits<double>::infinity();
  int max_steps = 200;
};

namespace detail {

enum class root_method { newton, powell };

/// Computes the values of the equations at x, and the Jacobian unless the pointer is null.
using equations = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& value, Eigen::MatrixXd* jacobian)>;

/// The equations around x.
class linearized {
 public:
  linearized(const equations& f, const Eigen::VectorXd& x);

  /// Returns the step of Newton's method for other values of the equations, with the Jacobian at x.
  Eigen::VectorXd correction(const Eigen::VectorXd& other) const;
  /// Returns the length of a step in the scale of the columns.
  double length(const Eigen::VectorXd& way) const { return way.cwiseProduct(scale).norm(); }
  /// Returns how far another Jacobian is from this one: the largest entry of the relative change, in scaled columns.
  double change_to(const Eigen::MatrixXd& other) const;
  Eigen::MatrixXd inverse() const;

  Eigen::VectorXd value, scale, step;
  Eigen::MatrixXd jacobian;
  bool is_finite = true, is_regular = true;

 private:
  void factorise();
  void solve(Eigen::VectorXd& b) const;  // with the scaled matrix

  Eigen::MatrixXd lu_;
  std::vector<Eigen::Index> rows_;
};

/// The last accepted step and the values of the equations at its start; empty unless the step was Newton's whole step.
struct accepted_step {
  Eigen::VectorXd step, value;
};

struct found_root {
  Eigen::VectorXd x;
  Eigen::MatrixXd inverse;  // of the Jacobian at x
};

/// Returns the root to which the method leads from x; throws SolverError if there is none or the Jacobian is singular.
found_root find_root(std::string_view function, root_method method, const equations& f, Eigen::VectorXd x,
                     const root_options& options);

}  // namespace detail

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/equation_search.ipp>
#endif
