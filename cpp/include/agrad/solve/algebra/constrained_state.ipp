// Definitions of solve/algebra/constrained_state.hpp.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/algebra/constrained_state.hpp>

namespace agrad {

AGRAD_INLINE constrained_state::constrained_state(std::string function, ode_system& system, const mass_matrix& mass,
                                                  const chosen_algebra& how, Eigen::VectorXd small)
    : function_(std::move(function)),
      system_(system),
      mass_(mass),
      n_(system.states()),
      small_(std::move(small)),
      matrix_(function_, system, mass, how) {}

AGRAD_INLINE void constrained_state::slope(double t, const double* y, double* to) {
  Eigen::Map<Eigen::VectorXd> slope(to, n_);
  system_.rhs(t, y, to);
  Eigen::VectorXd right = matrix_.differential(slope);
  if (has_constraints()) right -= matrix_.constraint(by_time(t, y));
  if (factorise(t, y))
    slope = matrix_.solve(right);
  else
    slope.setConstant(std::numeric_limits<double>::quiet_NaN());
}

AGRAD_INLINE void constrained_state::slope_adjoint(double t, const Eigen::VectorXd& y, const Eigen::VectorXd& l,
                                                   double& of_time, Eigen::VectorXd& of_state, Eigen::VectorXd& of_parameters) {
  const Eigen::Index m = system_.parameters();
  Eigen::VectorXd along(n_), state = Eigen::VectorXd::Zero(n_), parameters = Eigen::VectorXd::Zero(m);
  slope(t, y.data(), along.data());
  const adjoint_parts parts = parts_of(l);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(m);
  const double one = 1;
  double time = 0;
  of_time = 0, of_state.setZero(n_), of_parameters.setZero(m);
  // The derivative of v' f along (1, y', 0) is a term of l' y'; mixed derivatives commute.
  system_.second({1, t, y.data(), along.data(), none.data(), &one}, parts.constraint.data(), parts.differential.data(),
                 {state.data(), parameters.data(), of_state.data(), of_parameters.data(), &time, &of_time});
}

AGRAD_INLINE void constrained_state::make_consistent(double t, Eigen::VectorXd& y) {
  constexpr double enough = 1e-9, may_be_rounding = 1e-7;  // relative; the next step would be about the square of the last
  if (!has_constraints()) return;
  double before = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    require(t, y.data());
    const Eigen::VectorXd step = newton_step(t, y);
    if (!step.allFinite()) fail(t, "not_finite", "the right-hand side is not finite at the start", "check y0");
    const double size = size_of(step, y);
    if (size <= enough || (size <= may_be_rounding && size >= before / 2)) return void(y += step);
    if (!descend(t, y, step, size)) {
      if (size <= may_be_rounding) return;
      break;
    }
    before = size;
  }
  fail(t, "not_consistent", "no state was found that satisfies the constraints, the equations without derivatives",
       "give a better guess of the algebraic states, or look for a singularity there");
}

AGRAD_INLINE void constrained_state::make_direction_consistent(double t, const double* y, const double* of_parameters,
                                                               double* direction) {
  if (!has_constraints() || !factorise(t, y)) return;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n_);
  Eigen::VectorXd change(n_);
  system_.along(t, y, none.data(), of_parameters, change.data());
  Eigen::Map<Eigen::VectorXd> to(direction, n_);
  to = solve(to, change);
}

AGRAD_INLINE void constrained_state::tangent(double t, const Eigen::VectorXd& y, const Eigen::RowVectorXd& by,
                                             const std::vector<double>& parameter_tangents, Eigen::Ref<tangent_rows> tangents) {
  if (!has_constraints()) return;
  require(t, y.data());
  const tangent_rows none = tangent_rows::Zero(n_, by.size());
  tangent_rows change(n_, by.size());
  system_.tangent(static_cast<int>(by.size()), t, y.data(), none.data(), parameter_tangents.data(), change.data());
  if (!by.isZero(0)) change += by_time(t, y.data()) * by;
  for (Eigen::Index k = 0; k < by.size(); ++k) tangents.col(k) = solve(tangents.col(k), change.col(k)).eval();
}

AGRAD_INLINE void constrained_state::adjoint(double t, const Eigen::VectorXd& y, Eigen::VectorXd& state, double& time,
                                             Eigen::VectorXd& parameters) {
  if (!has_constraints() || state.isZero(0)) return;
  require(t, y.data());
  const adjoint_parts parts = parts_of(state);
  Eigen::VectorXd of_state(n_), of_parameters = Eigen::VectorXd::Zero(system_.parameters());
  system_.vjp(t, y.data(), parts.constraint.data(), of_state.data(), of_parameters.size() > 0 ? of_parameters.data() : nullptr);
  parameters += of_parameters.head(parameters.size());
  time += parts.constraint.dot(by_time(t, y.data()));
  state.setZero();
  mass_.add_transposed_product(parts.differential.data(), 1, state.data());
}

AGRAD_INLINE void constrained_state::second(const moving_place& at, const std::vector<double>& parameter_tangents,
                                            moving_vector& state, moving_number& time, moving_vector& parameters) {
  if (!has_constraints() || state.is_zero()) return;
  require(at.t, at.y.data());
  const Eigen::Index width = at.by.size(), m = system_.parameters();
  const bool moves = system_.has_time_tangents();
  const adjoint_parts parts = parts_of(state.value);
  moving_vector of_state, of_parameters;
  moving_number of_time;
  tangent_rows differential(n_, width), constraint = tangent_rows::Zero(n_, width);
  const ode_point point{static_cast<int>(width),       at.t, at.y.data(), at.tangents.data(), parameter_tangents.data(),
                        moves ? at.by.data() : nullptr};
  const auto evaluate = [&] {
    of_state = moving_vector::zero(n_, width), of_parameters = moving_vector::zero(m, width);
    of_time = {0, Eigen::RowVectorXd::Zero(width)};
    ode_adjoints to{of_state.value.data(), of_parameters.value.data(), of_state.tangents.data(), of_parameters.tangents.data()};
    if (moves) to.t = &of_time.value, to.t_tangents = of_time.tangents.data();
    system_.second(point, parts.constraint.data(), constraint.data(), to);
  };
  evaluate();  // of_state's tangents are then K's change, transposed, times (r, v)
  for (Eigen::Index k = 0; k < width; ++k) {
    const adjoint_parts moved = parts_of(state.tangents.col(k) + of_state.tangents.col(k));
    differential.col(k) = moved.differential, constraint.col(k) = moved.constraint;
  }
  evaluate();
  state = moving_vector::zero(n_, width);
  mass_.add_transposed_product(parts.differential.data(), 1, state.value.data());
  mass_.add_transposed_product(differential.data(), static_cast<std::size_t>(width), state.tangents.data());
  time.value += of_time.value, time.tangents += of_time.tangents;
  parameters += of_parameters;
}

AGRAD_INLINE bool constrained_state::factorise(double t, const double* y) {
  return matrix_.factorise(t, y, Eigen::Map<const Eigen::VectorXd>(y, n_).cwiseAbs() + small_);
}

AGRAD_INLINE void constrained_state::require(double t, const double* y) {
  if (!factorise(t, y))
    fail(t, "singular", "the system is of index 2 or more, or singular",
         "differentiate the equations without derivatives, or add some");
}

AGRAD_INLINE constrained_state::adjoint_parts constrained_state::parts_of(const Eigen::VectorXd& l) {
  const Eigen::VectorXd m = matrix_.solve_transposed(l);
  return {matrix_.from_differential(m), -matrix_.from_constraint(m)};
}

AGRAD_INLINE Eigen::VectorXd constrained_state::by_time(double t, const double* y) {
  Eigen::VectorXd change = Eigen::VectorXd::Zero(n_);
  if (system_.is_autonomous()) return change;
  if (system_.has_time_tangents()) {
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(std::max(n_, system_.parameters()));
    const double one = 1;
    system_.moving_tangent({1, t, y, none.data(), none.data(), &one}, change.data());
    return change;
  }
  const double delta = 6e-6 * std::max(std::abs(t), 1e-3), later = t + delta, earlier = t - delta;
  Eigen::VectorXd behind(n_);
  system_.rhs(later, y, change.data());
  system_.rhs(earlier, y, behind.data());
  return (change - behind) / (later - earlier);
}

AGRAD_INLINE Eigen::VectorXd constrained_state::solve(const Eigen::VectorXd& x, const Eigen::VectorXd& c) {
  Eigen::VectorXd moved = Eigen::VectorXd::Zero(n_);
  mass_.add_product(x.data(), 1, moved.data());
  return matrix_.solve(matrix_.differential(moved) - matrix_.constraint(c));
}

AGRAD_INLINE Eigen::VectorXd constrained_state::newton_step(double t, const Eigen::VectorXd& y) {
  Eigen::VectorXd f(n_);
  system_.rhs(t, y.data(), f.data());
  return solve(Eigen::VectorXd::Zero(n_), f);
}

AGRAD_INLINE double constrained_state::size_of(const Eigen::VectorXd& step, const Eigen::VectorXd& y) const {
  return step.cwiseQuotient(y.cwiseAbs() + small_).cwiseAbs().maxCoeff();
}

AGRAD_INLINE bool constrained_state::descend(double t, Eigen::VectorXd& y, const Eigen::VectorXd& step, double size) {
  for (double factor = 1; factor > 1e-8; factor /= 2) {
    const Eigen::VectorXd there = y + factor * step, next = newton_step(t, there);
    if (!next.allFinite() || size_of(next, y) > (1 - factor / 4) * size) continue;
    y = there;
    return true;
  }
  return false;
}

AGRAD_INLINE void constrained_state::fail(double t, const std::string& code, const std::string& what,
                                          const std::string& advice) const {
  throw SolverError(function_ + ": stopped at t = " + detail::to_text(t) + " (" + code + "); " + what + "; " + advice, t, 0,
                    code, advice);
}

}  // namespace agrad
