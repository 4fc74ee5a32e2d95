// Steady solver: finds a state y with f(y; p) = 0 that is reached from y0, and its derivatives.
//
// Conserved totals L (solve/steady/conserved_totals.hpp) make the Jacobian of f singular, and the totals of y0 select one of
// the steady states. So the solver solves g(y; p, y0) = 0, where L (y - y0) = 0 replaces, for each total, one equation of f
// that follows from the others (solve/steady/derivatives.hpp has the derivatives). Which of several steady states the system
// reaches is found by integration over longer and longer times: from the state at the end of each, Newton's method is tried
// until it finds a stable state nearby. Where f is linear along its way to rest, or y0 is at rest, there is only one candidate
// and Newton's method alone suffices. Where steady states lie side by side, as on a line, Newton's method does not tell which
// one the way leads to, so the way is integrated once more, at the tolerances. Newton's method is damped by the natural
// monotonicity test (Deuflhard 2011, Newton Methods for Nonlinear Problems, section 3.3). Where it converges, the totals are
// checked at that state, and all of f must be small, not g alone.
// Read next: solve/steady/integration.hpp, solve/steady/stability.hpp, solve/posed/steady.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/steady/conserved_totals.hpp>
#include <agrad/solve/steady/derivatives.hpp>
#include <agrad/solve/steady/factors.hpp>
#include <agrad/solve/steady/integration.hpp>
#include <agrad/solve/steady/linear_path.hpp>
#include <agrad/solve/steady/options.hpp>
#include <agrad/solve/steady/stability.hpp>

namespace agrad {

/// Finds steady states of one autonomous system, or of a system frozen at a time. The system has to outlive the solver.
/// A template, so that only its users compile the factorisations.
template <class Real = double>
class steady_solver {
 public:
  /// `function` is the name that messages begin with. Throws ShapeError or DomainError for options that do not fit.
  steady_solver(std::string function, ode_system& system, steady_options options)
      : function_(std::move(function)), system_(system), options_(std::move(options)), time_(options_.time.value_or(0)) {
    check_solver_options(function_, options_, system.states());
  }

  /// Says which parameters have derivatives; those of the others are zero. Empty for all.
  void set_active(std::vector<bool> active) { active_ = std::move(active); }

  /// Returns the steady state for y0. Throws SolverError when none is found, or what the system throws.
  const Eigen::VectorXd& solve(const Eigen::VectorXd& y0) {
    const auto n = static_cast<std::size_t>(system_.states());
    check_size(function_, "y0", static_cast<std::size_t>(y0.size()), n, "one for each state");
    if (y0.size() == 0) throw ShapeError(detail::sentence(function_, "y0", -1, "of length 0", "of length 1 or more"));
    check_each(function_, "y0", y0.data(), n, 1, must_be::finite);
    solved_ = false;
    derivatives_.reset();
    report_ = {}, statistics_ = {};
    y0_ = y_ = y0, peak_ = y0.cwiseAbs();
    check_slope();
    totals_ = detail::conserved_totals<Real>(system_, y0, time_);
    measure_start();
    if (!find_at_once()) integrate();
    check_time(y_);
    report_.conserved = totals_.count();
    report_.residual = slope(y_).template lpNorm<Eigen::Infinity>();
    solved_ = true;
    return y_;
  }

  const steady_report& report() const { return report_; }
  /// The costs of the last `solve`'s integration, zeros if nothing was integrated.
  const ode_statistics& statistics() const { return statistics_; }

  /// Returns the gradient with respect to y0 and p of a scalar whose derivative with respect to the steady state is `adjoint`.
  /// This and the following throw DomainError where the steady state has no derivative.
  ode_gradient reverse(const Eigen::VectorXd& adjoint) { return derivatives().reverse(adjoint); }

  /// Computes the steady state's derivatives along directions, `width` numbers for each state.
  void tangent(const ode_directions& along, double* states) { derivatives().tangent(along, states); }

  /// After `tangent`: returns the gradient, with derivatives along the same directions in `back`, for an adjoint with tangents.
  ode_gradient second(const Eigen::VectorXd& adjoint, const double* adjoint_tangents, ode_directions& gradient_tangents) {
    return derivatives().second(adjoint, adjoint_tangents, gradient_tangents);
  }

 private:
  Eigen::VectorXd slope(const Eigen::VectorXd& y) const { return slope(time_, y); }
  Eigen::VectorXd slope(double t, const Eigen::VectorXd& y) const {
    Eigen::VectorXd f(y.size());
    system_.rhs(t, y.data(), f.data());
    return f;
  }
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& y) const {
    Eigen::MatrixXd J(y.size(), y.size());
    system_.jacobian(time_, y.data(), J);
    return J;
  }
  Eigen::VectorXd equation(const Eigen::VectorXd& y) const {
    Eigen::VectorXd g = slope(y);
    totals_.write(g, y - y0_);
    return g;
  }

  void check_slope() const {
    const Eigen::VectorXd f = slope(y0_);
    for (Eigen::Index i = 0; i < f.size(); ++i) {
      if (std::isfinite(f[i])) continue;
      const std::string advice = "the derivative of y[" + std::to_string(i) + "] is " + detail::to_text(f[i]) + " at y0";
      throw SolverError(function_ + ": stopped after 0 iterations (NOT_FINITE); " + advice, 0, 0, "NOT_FINITE", advice);
    }
    check_time(y0_);
  }
  /// Compares slopes at three times. At y0 alone a factor of time may meet a zero, so that the solution is checked, too.
  void check_time(const Eigen::VectorXd& y) const {
    if (options_.time) return;
    const Eigen::VectorXd f = slope(y);
    for (const double t : {1.0, 1618.0339887498949})
      if (slope(t, y) != f) throw DomainError(detail::needs_no_time(function_));
  }

  /// Factorises the Jacobian of g at y; returns false if the Jacobian is not finite.
  bool factor_at(const Eigen::VectorXd& y) {
    matrix_ = jacobian_ = jacobian(y);
    not_finite_ = detail::place_not_finite(matrix_);
    if (!not_finite_.empty()) return false;
    terms_ = matrix_.cwiseAbs() * y.cwiseAbs();
    totals_.write_rows(matrix_);
    factors_.compute(matrix_);
    return true;
  }

  detail::steady_derivatives<Real>& derivatives() {
    if (!solved_)
      throw std::logic_error(function_ +
                             ": a derivative was asked for before solve, but must be asked for after solve has succeeded");
    if (derivatives_) return *derivatives_;
    if (!not_finite_.empty()) detail::fail_steady_derivative(function_, not_finite_);
    if (report_.singular) {
      throw DomainError(detail::sentence(function_, "the steady state", -1,
                                         "singular beyond conserved totals, as on a line of "
                                         "steady states",
                                         "one with an invertible Jacobian for derivatives",
                                         "differentiate solve_ivp up to a late time"));
    }
    return derivatives_.emplace(detail::steady_solution<Real>{function_, system_, time_, y0_, y_, totals_, factors_, active_});
  }

  Eigen::ArrayXd allowed(const Eigen::VectorXd& y) const {
    return options_.states.absolute.array() + options_.states.relative * y.array().abs();
  }

  /// Returns whether a step below the tolerances would make g zero; a singular matrix may prevent that.
  bool is_consistent(const Eigen::VectorXd& g, const Eigen::ArrayXd& weights) const {
    return (g.array().abs() <= 2 * (matrix_.cwiseAbs() * weights.matrix()).array()).all();
  }

  /// Computes `rest_` from the slopes at y0 and the slopes that the tolerances allow.
  void measure_start() {
    matrix_ = jacobian(y0_);
    const double by_tolerances = 2 * (matrix_.cwiseAbs() * allowed(y0_).matrix()).maxCoeff();
    rest_ = smallness() * slope(y0_).template lpNorm<Eigen::Infinity>() + (std::isfinite(by_tolerances) ? by_tolerances : 0.0);
  }

  /// Returns whether the slopes at y are negligible beside the terms of f and the slopes at y0. Where a large state multiplies
  /// a small state, the tolerances of the small state alone would allow any slope.
  bool is_at_rest(const Eigen::VectorXd& y) const {
    return (slope(y).array().abs() <= smallness() * terms_.array() + rest_).all();
  }
  double smallness() const { return std::max(1e-6, options_.states.relative); }

  /// Returns whether Newton's method alone has found the wanted state.
  bool find_at_once() {
    if (options_.method == steady_method::integration) return false;
    const bool has_no_choice = options_.method == steady_method::newton || rests_at_start();
    if (!has_no_choice && !totals_.is_linear()) return false;
    if (!newton(y_)) return false;
    const detail::growth found = judge();
    return has_no_choice || (found.is_negative() && totals_.is_everywhere(jacobian_) &&
                             detail::is_linear_along(system_, time_, jacobian_, y0_, y_, -found.rate));
  }
  /// Returns whether the first step of Newton's method is below the tolerances.
  bool rests_at_start() {
    if (!factor_at(y0_)) return false;
    return (factors_.solve(equation(y0_)).array().abs() <= allowed(y0_)).all();
  }

  /// Factorises at the solution, computes the growth rate there, and decides whether the state is stable and whether it is
  /// singular.
  detail::growth judge() {
    if (!factor_at(y_)) return {};
    const Eigen::VectorXd nearby = y_ + allowed(y_).matrix();
    const detail::growth found = detail::growth_of<Real>(totals_.reduced(jacobian_), totals_.reduced(jacobian(nearby)));
    report_.growth_rate = found.rate, report_.stable = !found.is_positive();
    report_.singular = factors_.is_singular_within(uncertainty());
    return found;
  }

  /// Returns how much entries of G are uncertain: by rounding, and by a state that is zero but for the tolerances. Tolerances
  /// above the states' own sizes do not count.
  Eigen::MatrixXd uncertainty() const {
    const Eigen::VectorXd largest = peak_.cwiseMax(y_.cwiseAbs());
    const Eigen::VectorXd nearby = y_ + allowed(y_).min(1e-10 * largest.array()).matrix();
    Eigen::MatrixXd elsewhere = jacobian(nearby);
    if (!elsewhere.allFinite()) elsewhere = jacobian_;
    totals_.write_rows(elsewhere);
    return (elsewhere - matrix_).cwiseAbs() + 8 * std::numeric_limits<double>::epsilon() * matrix_.cwiseAbs();
  }

  /// Searches a solution from y by Newton's method. Returns whether there is one; y is then the solution.
  bool newton(Eigen::VectorXd& y) {
    Eigen::VectorXd at = y;
    for (long iteration = 0; iteration < options_.max_iterations; ++iteration) {
      ++report_.iterations;
      if (!factor_at(at)) return false;
      const Eigen::VectorXd g = equation(at), step = -factors_.solve(g);
      const Eigen::ArrayXd weights = allowed(at);
      const double length = (step.array() / weights).abs().maxCoeff();
      if (!std::isfinite(length)) return false;
      if (length <= 1) {
        if (totals_.revise(system_, at)) continue;
        if (!is_consistent(g, weights)) return false;
        if (equation(at + step).allFinite()) at += step;
        if (!is_at_rest(at)) return false;
        y = at;
        return true;
      }
      if (!advance(at, step, weights, length)) return false;
    }
    return false;
  }

  /// Moves by the largest part of a step after which the next step would be shorter; returns false when there is none.
  bool advance(Eigen::VectorXd& at, const Eigen::VectorXd& step, const Eigen::ArrayXd& weights, double length) const {
    for (double part = 1; part > 1e-4; part /= 2) {
      const Eigen::VectorXd trial = at + part * step, g = equation(trial);
      if (!g.allFinite()) continue;
      if ((factors_.solve(g).array() / weights).abs().maxCoeff() <= (1 - part / 4) * length) {
        at = trial;
        return true;
      }
    }
    return false;
  }

  void integrate() {
    if (options_.method == steady_method::newton)
      fail("Newton's method did not converge" + (not_finite_.empty() ? "" : ": " + not_finite_),
           "use a method that integrates");
    detail::steady_integration path(function_, system_, y0_, options_);
    while (path.advance()) {
      y_ = path.state(), peak_ = path.peak();
      totals_.revise(system_, y_);
      if (!newton(y_) || !path.is_near(y_)) continue;
      judge();
      if (!report_.stable && !path.is_over()) continue;  // the system may be passing the state
      report_.by_integration = true;
      report_.integrated_time = path.time();
      statistics_ = path.statistics();
      if (report_.singular) follow();
      return;
    }
    fail_after(path);
  }

  /// Integrates at the tolerances until Newton's method ends at the same state from two times: the state among others beside it
  /// that the way leads to.
  void follow() {
    detail::steady_integration path(function_, system_, y0_, options_, true);
    const double least = report_.integrated_time;
    Eigen::VectorXd before;
    while (path.advance()) {
      if (path.time() < least) continue;
      y_ = path.state();
      if (!newton(y_) || !path.is_near(y_)) {
        before.resize(0);
        continue;
      }
      if (before.size() > 0 && ((y_ - before).array().abs() <= allowed(y_)).all()) {
        judge();
        report_.integrated_time = path.time();
        statistics_ += path.statistics();
        return;
      }
      before = y_;
    }
    fail_after(path);
  }

  [[noreturn]] AGRAD_COLD void fail_after(const detail::steady_integration& path) {
    report_.integrated_time = path.time();
    fail(path.message(), "the system may oscillate, grow without bound or change ever more slowly" +
                             std::string(options_.method == steady_method::automatic
                                             ? "; method newton also finds steady states that the system does not approach"
                                             : ""));
  }

  [[noreturn]] AGRAD_COLD void fail(const std::string& what, const std::string& advice) const {
    throw SolverError(function_ + ": stopped at t = " + detail::to_text(report_.integrated_time) + " after " +
                          std::to_string(report_.iterations) + " iterations (NO_STEADY_STATE); " + what + "; " + advice,
                      report_.integrated_time, report_.iterations, "NO_STEADY_STATE", advice);
  }

  std::string function_;
  ode_system& system_;
  steady_options options_;
  std::vector<bool> active_;  // parameters with derivatives, empty for all
  double time_;
  Eigen::VectorXd y0_, y_;
  Eigen::VectorXd peak_;  // largest size of each state on the way
  detail::conserved_totals<Real> totals_;
  Eigen::MatrixXd jacobian_, matrix_;  // of f, and G of g, at the last factorisation
  std::string not_finite_;             // the entry that is not finite, where a factorisation was refused
  Eigen::VectorXd terms_;              // |J| |y|, at the last factorisation of G
  double rest_ = 0;                    // largest negligible slope
  detail::steady_factors<Real> factors_;
  std::optional<detail::steady_derivatives<Real>> derivatives_;
  bool solved_ = false;
  steady_report report_;
  ode_statistics statistics_;
};

}  // namespace agrad
