// Definitions of solve/dae/consistency.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/consistency.hpp>

namespace agrad::detail {

AGRAD_INLINE void dae_consistency::initialise(dae_state& s) {
  if (options_.initial == dae_initial::consistent) {
    check_residual(s);
    return prepare(s);
  }
  if (options_.initial == dae_initial::derivatives) solve_from_guess(s, unknown::state);
  solve_from_guess(s, unknown::rest);
}

AGRAD_INLINE void dae_consistency::differentiate_algebraic(dae_state& s, double end) {
  const dae_splitting& split = *splitting_;
  if (split.r() == split.n()) return;
  const Eigen::VectorXd slope = split.q() * (split.q().transpose() * s.yp);
  Eigen::VectorXd r(split.n());
  const double one = 1;
  system_.tangent(s.at(), {1, system_.knows_time() ? &one : nullptr, slope.data(), nullptr, nullptr}, r.data());
  if (!system_.knows_time()) {
    const double step = std::min(1e-7 * (std::abs(s.t) + std::abs(end - s.t)), end - s.t);
    evaluate(s);
    const Eigen::VectorXd here = residual_;
    evaluate({s.t + step, s.y, s.yp});
    if (step > 0 && residual_.allFinite()) r += (residual_ - here) / step;
  }
  s.yp = slope - split.z() * factors_.solve(r).tail(split.n() - split.r());
}

AGRAD_INLINE dae_jump dae_consistency::jump(const dae_state& s, const Eigen::VectorXd& of_y, const Eigen::VectorXd& of_yp) {
  const dae_splitting& split = *splitting_;
  const Eigen::Index m = system_.parameters();
  refuse_algebraic(of_yp);
  dae_jump j{split.q().transpose() * of_y, Eigen::VectorXd::Zero(m), 0};
  const Eigen::VectorXd seeds = split.parts(of_yp, of_y);
  if (seeds.isZero(0)) return j;
  const Eigen::VectorXd x = -factors_.solve_transposed(seeds);
  Eigen::VectorXd by_state(split.n());
  system_.vjp(s.at(), x.data(), {system_.knows_time() ? &j.time : nullptr, by_state.data(), nullptr, j.parameters.data()});
  if (!by_state.allFinite()) throw_not_finite("the adjoint of y", s.t, by_state);
  if (j.parameters.hasNaN()) throw_not_finite("the gradient with respect to parameter ", s.t, j.parameters);
  j.differential += split.q().transpose() * by_state;
  return j;
}

AGRAD_INLINE Eigen::VectorXd dae_consistency::multipliers(const Eigen::VectorXd& of_differential) const {
  Eigen::VectorXd both = Eigen::VectorXd::Zero(splitting_->n());
  both.head(splitting_->r()) = of_differential;
  return factors_.solve_transposed(both);
}

AGRAD_INLINE Eigen::VectorXd dae_consistency::reach(const Eigen::VectorXd& scale) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(splitting_->n());
  for (Eigen::Index j = 0; j < splitting_->r(); ++j)
    sum += scale[j] * factors_.transposed_sizes(Eigen::VectorXd::Unit(splitting_->n(), j));
  return sum;
}

AGRAD_INLINE void dae_consistency::tangent(const dae_state& s, const Eigen::VectorXd& differential,
                                           const Eigen::VectorXd& parameters, dae_state& to) {
  const dae_splitting& split = *splitting_;
  const Eigen::VectorXd along = split.q() * differential;
  Eigen::VectorXd r(split.n());
  system_.tangent(s.at(), {1, nullptr, along.data(), nullptr, parameters.data()}, r.data());
  if (!r.allFinite()) throw_not_finite("the derivative of the residual", s.t, r);
  const Eigen::VectorXd rest = -factors_.solve(r);
  to.y = along + split.z() * rest.tail(split.n() - split.r());
  to.yp = split.q() * rest.head(split.r());
}

AGRAD_INLINE dae_state dae_consistency::beside(const dae_state& s) {
  const Eigen::VectorXd allowed = tolerances(s.y);
  Eigen::VectorXd distance(s.y.size());
  for (Eigen::Index i = 0; i < s.y.size(); ++i) {
    const double part = 0.6180339887498949 * static_cast<double>(i + 1), share = 1 + part - std::floor(part);
    distance[i] = std::copysign(share / 2 * allowed[i], s.y[i]);
  }
  dae_state along;  // an algebraic state moves with the differential ones, by any number of its tolerances
  tangent(s, splitting_->q().transpose() * distance, Eigen::VectorXd::Zero(system_.parameters()), along);
  const double part = 1e-2 / std::max(1.0, along.y.cwiseAbs().cwiseQuotient(allowed).maxCoeff());
  return {s.t, s.y + part * along.y, s.yp + part * along.yp};
}

AGRAD_INLINE void dae_consistency::to_slope(const dae_state& s, const Eigen::VectorXd& of_differential,
                                            dae_gradient& gradient) {
  factorise(s, unknown::state);
  const Eigen::VectorXd x = -factors_.solve_transposed(splitting_->q() * of_differential);
  Eigen::VectorXd by_parameters(system_.parameters());
  double by_time = 0;
  gradient.initial_slope.resize(x.size());
  system_.vjp(s.at(), x.data(),
              {system_.knows_time() ? &by_time : nullptr, nullptr, gradient.initial_slope.data(), by_parameters.data()});
  gradient.parameters += by_parameters;
  gradient.initial_time += by_time;
}

AGRAD_INLINE Eigen::MatrixXd dae_consistency::matrix(const dae_state& s, unknown of) {
  const Eigen::Index n = splitting_->n();
  Eigen::MatrixXd by_state(n, n), by_slope(n, n);
  system_.jacobian(s.at(), 1, 0, by_state);
  if (of == unknown::state) return by_state;
  system_.jacobian(s.at(), 0, 1, by_slope);
  splitting_->check_constant(function_, s.t, by_slope);
  return splitting_->joined(by_state, by_slope);
}

AGRAD_INLINE bool dae_consistency::is_regular(const dae_state& s, unknown of) {
  const Eigen::MatrixXd m = matrix(s, of);
  return m.allFinite() && factors_.compute(m);
}

AGRAD_INLINE void dae_consistency::factorise(const dae_state& s, unknown of) {
  const Eigen::MatrixXd m = matrix(s, of);
  if (!m.allFinite()) throw_not_finite("the Jacobian", s.t, m);
  if (!factors_.compute(m)) throw_singular(s.t, of, m);
}

AGRAD_INLINE Eigen::VectorXd dae_consistency::tolerances(const Eigen::VectorXd& of) const {
  return options_.forward.relative * of.cwiseAbs() + options_.forward.absolute;
}

AGRAD_INLINE void dae_consistency::check_residual(const dae_state& s) {
  const Eigen::Index n = splitting_->n();
  evaluate(s);
  if (!residual_.allFinite()) throw_not_finite("the residual", s.t, residual_);
  Eigen::MatrixXd by_state(n, n), by_slope(n, n);
  system_.jacobian(s.at(), 1, 0, by_state);
  system_.jacobian(s.at(), 0, 1, by_slope);
  const Eigen::VectorXd allowed = 10 * (by_state.cwiseAbs() * tolerances(s.y) + by_slope.cwiseAbs() * tolerances(s.yp));
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::abs(residual_[i]) <= allowed[i]) continue;
    throw DomainError(sentence(function_, "the residual at t0, y0 and yp0", i, residual_[i],
                               "0 to within " + to_text(allowed[i]),
                               "correct y0 and yp0, or choose the initial that computes them"));
  }
}

AGRAD_INLINE dae_state dae_consistency::moved(const dae_state& s, unknown of, double factor,
                                              const Eigen::VectorXd& step) const {
  const dae_splitting& split = *splitting_;
  dae_state to = s;
  if (of == unknown::state) {
    to.y += factor * step;
  } else {
    to.yp += factor * (split.q() * step.head(split.r()));
    to.y += factor * (split.z() * step.tail(split.n() - split.r()));
  }
  return to;
}

AGRAD_INLINE double dae_consistency::size_of(const dae_state& s, unknown of, const Eigen::VectorXd& step) const {
  const dae_state to = moved(s, of, 1, step);
  const double of_y = (to.y - s.y).cwiseQuotient(tolerances(s.y)).cwiseAbs().maxCoeff();
  return std::max(of_y, (to.yp - s.yp).cwiseQuotient(tolerances(s.yp)).cwiseAbs().maxCoeff());
}

AGRAD_INLINE bool dae_consistency::is_rounding(const dae_state& s, unknown of, const Eigen::VectorXd& step) const {
  const auto is_small = [](const Eigen::VectorXd& change, const Eigen::VectorXd& value) {
    return change.cwiseAbs().maxCoeff() <= 1e-12 * value.cwiseAbs().maxCoeff();
  };
  const dae_state to = moved(s, of, 1, step);
  return is_small(to.y - s.y, s.y) && is_small(to.yp - s.yp, s.yp);
}

AGRAD_INLINE void dae_consistency::solve_from_guess(dae_state& s, unknown of) {
  const dae_state guess = s;
  try {
    return solve(s, of);
  } catch (const SolverError& e) {
    if (e.code != singular) throw;
  }
  const bool was_regular = is_regular(guess, of);
  bool can_be_regular = was_regular;
  for (const double part : {1e-3, -1e-3, 0.1, -0.1, 1.0, -1.0}) {
    s = near(guess, of, part);
    try {
      if (!is_regular(s, of)) continue;
      can_be_regular = true;
      return solve(s, of);
    } catch (const SolverError&) {
    } catch (const std::domain_error&) {  // outside of the domain of F
    }
  }
  s = guess;
  if (!can_be_regular) throw_singular(s.t, of, matrix(s, of));
  evaluate(s);
  throw_not_found(s, of, was_regular ? "" : "the equations are singular at the guess, and ");
}

AGRAD_INLINE dae_state dae_consistency::near(const dae_state& s, unknown of, double part) const {
  const dae_splitting& split = *splitting_;
  if (of == unknown::state) return moved(s, of, 1, probe_step(s.y, part));
  Eigen::VectorXd step(split.n());
  step << probe_step(split.q().transpose() * s.yp, part), probe_step(split.z().transpose() * s.y, part);
  return moved(s, of, 1, step);
}

AGRAD_INLINE void dae_consistency::solve(dae_state& s, unknown of) {
  constexpr double enough = 1e-4;  // part of the tolerances; the next step would be about the square of the last
  evaluate(s);
  if (!residual_.allFinite()) throw_not_finite("the residual", s.t, residual_);
  double before = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    factorise(s, of);
    Eigen::VectorXd step = -factors_.solve(residual_);
    const double size = size_of(s, of, step);
    if (size <= enough) return void(s = moved(s, of, 1, step));
    const bool may_be_rounding = size <= 1 || is_rounding(s, of, step);
    if (may_be_rounding && size >= before / 2) return void(s = moved(s, of, 1, step));
    if (!descend(s, of, step, size)) {
      if (may_be_rounding) return;
      break;
    }
    step = -factors_.solve(residual_);
    if (size_of(s, of, step) <= enough * std::min(1.0, size)) return void(s = moved(s, of, 1, step));
    before = size;
  }
  throw_not_found(s, of, "");
}

AGRAD_INLINE bool dae_consistency::descend(dae_state& s, unknown of, const Eigen::VectorXd& step, double size) {
  const dae_state from = s;
  for (double factor = 1; factor > 1e-5; factor /= 2) {
    s = moved(from, of, factor, step);
    evaluate(s);
    if (residual_.allFinite() && size_of(from, of, factors_.solve(residual_)) <= (1 - factor / 4) * size) return true;
  }
  s = from;
  evaluate(s);
  return false;
}

AGRAD_INLINE void dae_consistency::refuse_algebraic(const Eigen::VectorXd& of_yp) const {
  const dae_splitting& split = *splitting_;
  if (of_yp.isZero(0) || split.r() == split.n()) return;
  const Eigen::VectorXd hidden = split.z() * (split.z().transpose() * of_yp);
  Eigen::Index i = 0;
  if (hidden.cwiseAbs().maxCoeff(&i) <= 1e-12 * of_yp.cwiseAbs().maxCoeff()) return;
  throw DerivativeError(function_ + ": the gradient of yp[" + std::to_string(i) +
                        "] is asked for, but must not be; the derivative of an algebraic state needs second derivatives "
                        "of the residual; make the derivative a state of the system");
}

AGRAD_INLINE void dae_consistency::throw_not_finite(const std::string& what, double t, const Eigen::MatrixXd& values) const {
  ode_fault fault;
  fault.expect_finite(what, t, values);
  throw SolverError(function_ + ": " + fault.place(), t, 0, "IDA_FIRST_RES_FAIL", fault.place());
}

AGRAD_INLINE void dae_consistency::throw_singular(double t, unknown of, const Eigen::MatrixXd& m) const {
  const Eigen::MatrixXd spanned = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(m.transpose()).householderQ();
  Eigen::VectorXd open = spanned.col(m.cols() - 1).cwiseAbs();                 // orthogonal to all rows, or nearly
  if (of == unknown::rest) open.tail(splitting_->n() - splitting_->r()) *= 2;  // prefers the name of an algebraic state
  Eigen::Index k = 0;
  open.maxCoeff(&k);
  const std::string name = of == unknown::state ? "y[" + std::to_string(k) + "]" : splitting_->name(k);
  std::string advice = name.empty() ? "" : name + " is not determined by the equations there";
  std::string text = function_ + ": the system ";
  text += of == unknown::state ? "does not determine y0: dF/dy is singular at t = " + to_text(t)
                               : "is of index 2 or more, or singular at t = " + to_text(t);
  if (of == unknown::rest) advice += std::string(advice.empty() ? "" : "; ") + "differentiate algebraic equations, or add some";
  throw SolverError(text + (advice.empty() ? "" : "; " + advice), t, 0, singular, advice);
}

AGRAD_INLINE void dae_consistency::throw_not_found(const dae_state& s, unknown of, const std::string& because) {
  Eigen::Index i = 0;
  residual_.cwiseAbs().maxCoeff(&i);
  const std::string advice = of == unknown::state
                                 ? "give a better guess of y0"
                                 : "give a better guess of y0's algebraic entries and of yp0, or look for a singularity there";
  throw SolverError(function_ + ": " + because + "no consistent values were found at t = " + to_text(s.t) +
                        "; the residual of equation " + std::to_string(i) + " is " + to_text(residual_[i]) + "; " + advice,
                    s.t, 0, "NOT_CONSISTENT", advice);
}

}  // namespace agrad::detail
