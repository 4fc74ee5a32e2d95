// Steady solver: finds a state y with f(y; p) = 0 that is reached from y0, and its derivatives.
//
// Conserved totals L (solve/steady/conserved_totals.hpp) make the Jacobian of f singular, and the totals of y0 select one of
// the steady states. So the solver solves g(y; p, y0) = 0, where L (y - y0) = 0 replaces, for each total, one equation of f
// that follows from the others. With G the derivative of g, derivatives are
//     dy = G^-1 (L dy0 in the replaced equations, -f_p dp in the others).
// Which of several steady states the system reaches is found by integration over longer and longer times: from the state at the
// end of each, Newton's method is tried until it finds a stable state nearby. Where f is linear, or y0 is at rest, there is
// only one candidate and Newton's method alone suffices. The method is damped by the natural monotonicity test (Deuflhard 2011,
// Newton Methods for Nonlinear Problems, section 3.3). Where it converges, the totals are checked at that state, and all of f
// must be small, not g alone.
// Read next: solve/steady/integration.hpp, solve/steady/stability.hpp, solve/posed/steady.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/steady/conserved_totals.hpp>
#include <agrad/solve/steady/factors.hpp>
#include <agrad/solve/steady/integration.hpp>
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

  /// Returns the steady state for y0. Throws SolverError when none is found, or what the system throws.
  const Eigen::VectorXd& solve(const Eigen::VectorXd& y0) {
    const auto n = static_cast<std::size_t>(system_.states());
    check_size(function_, "y0", static_cast<std::size_t>(y0.size()), n, "one for each state");
    if (y0.size() == 0) throw ShapeError(detail::sentence(function_, "y0", -1, "of length 0", "of length 1 or more"));
    check_each(function_, "y0", y0.data(), n, 1, must_be::finite);
    solved_ = factored_ = false;
    report_ = {}, statistics_ = {};
    y0_ = y_ = y0;
    check_slope();
    totals_ = detail::conserved_totals<Real>(system_, y0, time_);
    measure_start();
    if (!find_at_once()) integrate();
    report_.conserved = totals_.count();
    report_.residual = slope(y_).template lpNorm<Eigen::Infinity>();
    solved_ = true;
    return y_;
  }

  const steady_report& report() const { return report_; }
  /// The costs of the last `solve`'s integration, zeros if nothing was integrated.
  const ode_statistics& statistics() const { return statistics_; }

  /// Returns the gradient with respect to y0 and p of a scalar whose derivative with respect to the steady state is `adjoint`.
  ode_gradient reverse(const Eigen::VectorXd& adjoint) {
    factor();
    Eigen::VectorXd w = factors_.solve_transposed(adjoint);
    ode_gradient gradient{totals_.extract_adjoint(w), 0, {}, Eigen::VectorXd(system_.parameters())};
    if (system_.parameters() > 0) system_.vjp(time_, y_.data(), w.data(), nullptr, gradient.parameters.data());
    gradient.parameters = -gradient.parameters;
    if (adjoint.allFinite() && gradient.parameters.hasNaN()) fail_derivative("the gradient with respect to a parameter is nan");
    return gradient;
  }

  /// Computes the steady state's derivatives along directions, `width` numbers for each state.
  void tangent(const ode_directions& along, double* states) {
    factor();
    const int width = along.width;
    along_ = along;
    const std::vector<double> none(static_cast<std::size_t>(y_.size() * width), 0.0);
    tangents_.resize(none.size());
    system_.tangent(width, time_, y_.data(), none.data(), along.parameters.data(), tangents_.data());
    for (int k = 0; k < width; ++k) {
      auto column = across(tangents_.data(), width, k);
      Eigen::VectorXd right = -column;
      totals_.write(right, across(along_.initial_state.data(), width, k));
      column = factors_.solve(right);
    }
    std::copy(tangents_.begin(), tangents_.end(), states);
  }

  /// After `tangent`: returns the gradient, with derivatives along the same directions in `back`, for an adjoint with tangents.
  ode_gradient second(const Eigen::VectorXd& adjoint, const double* adjoint_tangents, ode_directions& gradient_tangents) {
    if (report_.singular) {
      throw DerivativeError(function_ +
                            ": the Jacobian is singular, but must be invertible apart from conserved totals; a derivative of "
                            "minimum norm has no second derivative");
    }
    const int width = along_.width;
    const auto n = static_cast<std::size_t>(y_.size() * width), m = static_cast<std::size_t>(system_.parameters() * width);
    Eigen::VectorXd w = factors_.solve_transposed(adjoint);
    const Eigen::VectorXd initial_state = totals_.extract_adjoint(w);
    std::vector<double> w_tangents(n, 0.0), turned(n), ignored(static_cast<std::size_t>(y_.size()));
    gradient_tangents.width = width, gradient_tangents.initial_state.resize(n), gradient_tangents.parameters.resize(m);
    Eigen::VectorXd parameters(system_.parameters());
    const ode_point at{width, time_, y_.data(), tangents_.data(), along_.parameters.data()};
    const ode_adjoints to{ignored.data(), parameters.data(), turned.data(), gradient_tangents.parameters.data()};
    system_.second(at, w.data(), w_tangents.data(), to);  // turned: the change of J^T w along the directions
    for (int k = 0; k < width; ++k) {
      const Eigen::VectorXd changed = across(adjoint_tangents, width, k) - across(turned.data(), width, k);
      Eigen::VectorXd dw = factors_.solve_transposed(changed);
      across(gradient_tangents.initial_state.data(), width, k) = totals_.extract_adjoint(dw);
      across(w_tangents.data(), width, k) = dw;
    }
    system_.second(at, w.data(), w_tangents.data(), to);
    for (double& x : gradient_tangents.parameters) x = -x;
    return {initial_state, 0, {}, -parameters};
  }

 private:
  template <class Number>
  static auto across(Number* of, int width, int k, Eigen::Index n) {
    using vector = std::conditional_t<std::is_const_v<Number>, const Eigen::VectorXd, Eigen::VectorXd>;
    return Eigen::Map<vector, 0, Eigen::InnerStride<>>(of + k, n, Eigen::InnerStride<>(width));
  }
  /// Entries of direction k, where the entries of `width` directions are interleaved.
  template <class Number>
  auto across(Number* of, int width, int k) const {
    return across(of, width, k, y_.size());
  }

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
    for (const double t : {1.0, 1618.0339887498949}) {
      if (!options_.time && slope(t, y0_) != f) throw DomainError(detail::needs_no_time(function_));
    }
  }

  /// Factorises the Jacobian of g at y; returns false if the Jacobian is not finite.
  bool factor_at(const Eigen::VectorXd& y) {
    matrix_ = jacobian(y);
    not_finite_ = detail::place_not_finite(matrix_);
    if (!not_finite_.empty()) return false;
    terms_ = matrix_.cwiseAbs() * y.cwiseAbs();
    totals_.write_rows(matrix_);
    factors_.compute(matrix_);
    return true;
  }

  void factor() {
    if (!solved_)
      throw std::logic_error(function_ +
                             ": a derivative was asked for before solve, but must be asked for after solve has succeeded");
    if (factored_) return;
    if (!factor_at(y_)) fail_derivative(not_finite_);
    report_.singular = factors_.singular();
    factored_ = true;
  }

  Eigen::ArrayXd allowed(const Eigen::VectorXd& y) const {
    return options_.absolute_tolerance.array() + options_.relative_tolerance * y.array().abs();
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
  double smallness() const { return std::max(1e-6, options_.relative_tolerance); }

  /// Returns whether Newton's method alone has found the wanted state.
  bool find_at_once() {
    if (options_.method == steady_method::integration) return false;
    const bool has_no_choice = options_.method == steady_method::newton || rests_at_start();
    if (!has_no_choice && !totals_.is_linear()) return false;
    if (!newton(y_)) return false;
    judge();
    return has_no_choice || (report_.stable && totals_.is_everywhere(jacobian(y_)));
  }
  /// Returns whether the first step of Newton's method is below the tolerances.
  bool rests_at_start() {
    if (!factor_at(y0_)) return false;
    return (factors_.solve(equation(y0_)).array().abs() <= allowed(y0_)).all();
  }

  /// Computes the growth rate and decides whether the state is stable.
  void judge() {
    const Eigen::VectorXd nearby = y_ + allowed(y_).matrix();
    const detail::growth found = detail::growth_of<Real>(totals_.reduced(jacobian(y_)), totals_.reduced(jacobian(nearby)));
    report_.growth_rate = found.rate, report_.stable = !found.is_positive();
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
      y_ = path.state();
      totals_.revise(system_, y_);
      if (!newton(y_) || !path.is_near(y_)) continue;
      judge();
      if (!report_.stable && !path.is_over()) continue;  // the system may be passing the state
      report_.by_integration = true;
      report_.integrated_time = path.time();
      statistics_ = path.statistics();
      return;
    }
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

  [[noreturn]] AGRAD_COLD void fail_derivative(const std::string& what) const {
    throw SolverError(function_ + ": the derivative of the steady state is not finite (NOT_FINITE); " + what, 0, 0,
                      "NOT_FINITE", what);
  }

  std::string function_;
  ode_system& system_;
  steady_options options_;
  double time_;
  Eigen::VectorXd y0_, y_;
  detail::conserved_totals<Real> totals_;
  Eigen::MatrixXd matrix_;  // Jacobian G of g
  std::string not_finite_;  // the entry that is not finite, where a factorisation was refused
  Eigen::VectorXd terms_;   // |J| |y|, at the last factorisation of G
  double rest_ = 0;         // largest negligible slope
  detail::steady_factors<Real> factors_;
  ode_directions along_;
  std::vector<double> tangents_;
  bool solved_ = false, factored_ = false;
  steady_report report_;
  ode_statistics statistics_;
};

}  // namespace agrad
