// Equation search: Newton's method with damping and Powell's hybrid method, on numbers.
//
// Both linearise the equations at each x by an LU factorisation of the Jacobian with columns scaled to length 1, so that the
// scale of an unknown has no influence. A step to a point outside of the equations' domain is a step that is too long.
// Definitions are in functionals/search/equation_search.ipp.
// Read next: functionals/roots.hpp, which gives the roots derivatives; functionals/search/search_operation.hpp, searches in
// programs.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <agrad/functionals/search/search_end.hpp>

namespace agrad {

/// When a search for a root ends. `step_tolerance`: no entry of the next step of Newton's method is longer than this times its
/// size, the larger of the same entry of x and of the start, and `absolute_tolerance`. An entry near zero, which has no size,
/// may also end where the step before, computed again with the Jacobian at its end, is the same. `residual_tolerance`: what the
/// largest equation may be off. `max_steps`: the most steps, rejected ones included.
struct root_options {
  double step_tolerance = 1e-10;
  double residual_tolerance = std::numeric_limits<double>::infinity();
  int max_steps = 200;
  double absolute_tolerance = 0;
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

/// How a search for a root ended, and where. `inverse`, that of the Jacobian at x, is empty unless the root was found.
struct root_search {
  search_end end;
  int steps;
  Eigen::VectorXd x, value;
  Eigen::MatrixXd inverse;
};

/// Searches for the root to which the method leads from x. Throws what the equations throw at the start.
root_search search_root(root_method method, const equations& f, Eigen::VectorXd x, const root_options& options);

/// Does the same; throws SolverError unless the root was found.
root_search find_root(std::string_view function, root_method method, const equations& f, Eigen::VectorXd x,
                      const root_options& options);

}  // namespace detail

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/functionals/search/equation_search.ipp>
#endif
