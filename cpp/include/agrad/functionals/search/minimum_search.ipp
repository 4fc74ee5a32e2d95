// Definitions of functionals/search/minimum_search.hpp.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/search/minimum_search.hpp>

namespace agrad::detail {

/// The function around x: value, gradient and Hessian. Eigenvalues are computed where they are needed: they take ten times as
/// long as the factorisation that suffices for Newton's step where the Hessian is definite.
class curved {
 public:
  curved(const potential& f, const Eigen::VectorXd& x) {
    value = f(x, &gradient, &hessian);
    is_finite = std::isfinite(value) && gradient.allFinite() && hessian.allFinite();
    if (!is_finite) return;
    hessian = (0.5 * (hessian + hessian.transpose())).eval();
    largest = hessian.cwiseAbs().rowwise().sum().maxCoeff();
    factor_.compute(hessian);
  }

  /// Returns Newton's step for a gradient, with the absolute values of the curvatures, each plus a damping.
  Eigen::VectorXd step(double damping, const Eigen::VectorXd& slope) {
    if (damping == 0 && factor_.info() == Eigen::Success) return -factor_.solve(slope);
    decompose();
    const double least = epsilon * (largest > 0 ? largest : 1);
    const Eigen::VectorXd divisors = (curvatures_.cwiseAbs().cwiseMax(least).array() + damping).matrix();
    return -directions_ * (directions_.transpose() * slope).cwiseQuotient(divisors);
  }
  bool is_definite() {
    decompose();
    return curvatures_.minCoeff() > static_cast<double>(curvatures_.size()) * epsilon * curvatures_.maxCoeff();
  }
  /// Returns how far another Hessian is from this one, which is definite: the largest entry of the relative change.
  double change_to(const Eigen::MatrixXd& other) {
    if (!other.allFinite()) return std::numeric_limits<double>::infinity();
    decompose();
    const Eigen::MatrixXd difference = directions_.transpose() * (other - hessian) * directions_;
    return difference.cwiseQuotient(curvatures_.rowwise().replicate(curvatures_.size())).cwiseAbs().maxCoeff();
  }

  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  double value = 0, largest = 0;  // a bound of the curvatures
  bool is_finite = true;

 private:
  void decompose() {
    if (curvatures_.size() > 0) return;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(hessian);
    curvatures_ = found.eigenvalues(), directions_ = found.eigenvectors();
  }

  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd curvatures_;
  Eigen::MatrixXd directions_;
};

inline constexpr double most_damping = 1e12;        // times the largest curvature
inline constexpr double relative_rounding = 1e-13;  // of entries of x: shorter steps are rounding

/// Returns the value at a point that may lie outside of the function's domain; nan there.
AGRAD_INLINE double value_or_nan(const potential& f, const Eigen::VectorXd& x) {
  try {
    return f(x, nullptr, nullptr);
  } catch (const DomainError&) {
  } catch (const SolverError&) {
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Moves x by a damped step if this step makes the function smaller; changes the damping by how well the quadratic model
/// predicted the decrease. Returns whether the damping is still small enough, else x stays.
AGRAD_INLINE bool damped_step(const potential& f, curved& here, const Eigen::VectorXd& newton, Eigen::VectorXd& x,
                              double& damping, accepted_step& last) {
  const Eigen::VectorXd step = damping == 0 ? newton : here.step(damping, here.gradient);
  const double value = value_or_nan(f, x + step);
  const double predicted = -here.gradient.dot(step) - 0.5 * step.dot(here.hessian * step);
  const double gain = std::isfinite(value) ? here.value - value : -std::numeric_limits<double>::infinity();
  const bool is_noise = std::abs(gain) <= 10 * here.epsilon * std::abs(here.value);  // near the minimum
  const bool is_accepted = gain > 1e-4 * predicted || is_noise, is_good = is_accepted && (gain > 0.5 * predicted || is_noise);
  const double least = 1e-3 * here.largest + 1e-300;
  if (is_accepted) {
    x += step;
    last = damping == 0 ? accepted_step{newton, here.gradient} : accepted_step{};
  }
  if (is_good)
    damping = damping > 4 * least ? damping / 4 : 0;
  else if (!is_accepted)
    damping = std::max(4 * damping, least);
  return damping <= most_damping * (here.largest + 1e-300);
}

/// Returns whether the search may end with Newton's step from x.
AGRAD_INLINE bool may_end(curved& here, const Eigen::VectorXd& newton, const Eigen::VectorXd& x, const Eigen::VectorXd& start,
                          const accepted_step& last, const minimum_options& options) {
  if (options.deviations > 0) {
    const auto longest = [](const Eigen::VectorXd& of) { return of.cwiseAbs().maxCoeff(); };
    const double deviations = std::sqrt(std::abs(here.gradient.dot(newton)));
    return deviations <= options.deviations || longest(newton) <= relative_rounding * longest(x);
  }
  const Eigen::VectorXd again = last.step.size() > 0 ? here.step(0, last.from) : Eigen::VectorXd();
  return is_short(newton, x, start, options.relative_tolerance, options.absolute_tolerance, last.step, again);
}

/// Takes the last step, and decides whether the minimum was found.
AGRAD_INLINE minimum_search ended(const potential& f, curved& here, const Eigen::VectorXd& newton, const Eigen::VectorXd& x,
                                  int steps) {
  minimum_search result{search_end::singular, steps, x, {}};
  if (!here.is_definite()) return result;
  if (std::isfinite(value_or_nan(f, x + newton))) result.x += newton;
  const curved at(f, result.x);
  if (!at.is_finite || !(here.change_to(at.hessian) <= most_change)) return result;
  result.end = search_end::found, result.hessian = at.hessian;
  return result;
}

AGRAD_INLINE minimum_search search_minimum(const potential& f, Eigen::VectorXd x, const minimum_options& options) {
  const Eigen::VectorXd start = x;
  accepted_step last;
  double damping = 0;
  interrupt_pace pace(static_cast<std::size_t>(x.size() * x.size() * x.size()));
  for (int steps = 1;; ++steps) {
    pace.step();
    curved here(f, x);
    if (!here.is_finite) return {search_end::undefined, steps, x, {}};
    const Eigen::VectorXd newton = here.step(0, here.gradient);
    if (may_end(here, newton, x, start, last, options)) return ended(f, here, newton, x, steps);
    if (steps == options.max_steps) return {search_end::running, steps, x, {}};
    if (!damped_step(f, here, newton, x, damping, last)) return {search_end::stuck, steps, x, {}};
  }
}

}  // namespace agrad::detail
