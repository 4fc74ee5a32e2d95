// Steady state: finds the state where y' = f(t, y, args...) is at rest, with its gradient on the tape.
//
//     auto f = [](double, const auto& y, const auto& k) { return (k - y.array().square().matrix()).eval(); };
//     Eigen::Matrix<var, -1, 1> y = agrad::steady_state(f, y0, k);
//
// The gradient is that of the implicit function; the iterations towards the steady state are not differentiated.
// Read next: solve/steady/solver.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/record/dual_node.hpp>
#include <agrad/solve/record/tape_node.hpp>
#include <agrad/solve/steady/solver.hpp>
#include <agrad/solve/system/functor/ode.hpp>
#include <agrad/solve/system/functor/second.hpp>

namespace agrad {

namespace detail {

/// Presents the steady state as the one output of a solver. A template, as steady_solver is.
template <class Real = double>
class steady_ode_solver final : public ode_solver {
 public:
  steady_ode_solver(const std::string& function, ode_system& system, const steady_options& options)
      : system_(system), solver_(function, system, options) {}

  const Eigen::MatrixXd& integrate(const Eigen::VectorXd& y0, double, const std::vector<double>&) override {
    return state_ = solver_.solve(y0);
  }
  ode_gradient reverse(const Eigen::Ref<const Eigen::MatrixXd>& adjoints) override { return solver_.reverse(adjoints.col(0)); }

  bool has_tangents() const override { return system_.has_tangents(); }
  void tangent(const ode_directions& along, double* states) override { solver_.tangent(along, states); }
  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& gradient_tangents) override {
    return solver_.second(adjoints.col(0), tangents, gradient_tangents);
  }

  const ode_statistics& statistics() const override { return none_; }

 private:
  ode_system& system_;
  steady_solver<Real> solver_;
  Eigen::MatrixXd state_;
  ode_statistics none_;
};

template <class F, class Y0, class... Args>
auto steady_recorded(const std::string& function, const steady_options& options, const F& f, const Y0& y0,
                     const Args&... args) {
  const auto make = [&](const std::string& name, ode_system& system, ode_required) {
    return std::make_unique<steady_ode_solver<>>(name, system, options);
  };
  if constexpr (hold_duals<Y0, Args...>) {
    return dual_solution<functor_second>(function, make, f, 0.0, {}, y0, args...)[0];
  } else {
    const Eigen::VectorXd initial = argument<Y0>::values(y0);
    using node_type = ode_node<system_of_t<functor_system, F, Args...>>;
    auto node = std::make_unique<node_type>(function, make, ode_required{}, f, initial.size(), args...);
    const Eigen::VectorXd found = node->solver->integrate(initial, 0.0, {}).col(0);
    if constexpr (argument<Y0>::active || (argument<Args>::active || ...)) {
      argument<Y0>::collect(y0, node->initial_state);
      return record_solution(std::move(node), found)[0];
    } else {
      return found;
    }
  }
}

}  // namespace detail

/// Finds the steady state that the system approaches from y0: y with f(0, y, args...) = 0, by damped Newton steps from states
/// along an integration. Newton's method alone is used for a linear system, and for a system at rest at y0.
///
/// f: as for ode_tsit5_tol; f must not depend on t, which is checked at three times. y0: Eigen column vector of double, var or
///   dual, the starting point.
/// Totals that the system conserves keep their values at y0, which selects one of the steady states; the gradient with respect
///   to y0 is through the totals alone.
/// relative_tolerance, absolute_tolerance: of the states, positive and finite. max_iterations: of Newton's method, from each
///   starting point.
///
/// Returns a column vector of promoted_t<y0, args...>. Where the Jacobian is singular beyond the conserved totals, the gradient
///   is that of the smallest change, and second derivatives raise DerivativeError.
/// Raises ShapeError, DomainError for arguments and where f depends on t, SolverError when no steady state is found. Exceptions
///   of f are passed on unchanged.
/// Pitfall: a state equal to y0, or reached from y0 exactly, can be unstable; the report of a steady_solver tells.
template <class F, class Y0, class... Args>
auto steady_state_tol(const F& f, const Eigen::MatrixBase<Y0>& y0, double relative_tolerance, double absolute_tolerance,
                      long max_iterations, const Args&... args) {
  const steady_options options{relative_tolerance, Eigen::VectorXd::Constant(y0.size(), absolute_tolerance), max_iterations};
  return detail::steady_recorded("steady_state_tol", options, f, detail::stored_argument(y0.derived()),
                                 detail::stored_argument(args)...);
}
/// Does the same with tolerances of 1e-10 and 1e-12, and at most 50 iterations.
template <class F, class Y0, class... Args>
auto steady_state(const F& f, const Eigen::MatrixBase<Y0>& y0, const Args&... args) {
  const steady_options options{1e-10, Eigen::VectorXd::Constant(y0.size(), 1e-12), 50};
  return detail::steady_recorded("steady_state", options, f, detail::stored_argument(y0.derived()),
                                 detail::stored_argument(args)...);
}

}  // namespace agrad
