// Definitions of functionals/latent_mode.hpp.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/latent_mode.hpp>

namespace agrad::detail {

/// The potential around z: value, gradient and Hessian. Eigenvalues are computed where they are needed: they take ten times as
/// long as the factorisation that suffices for Newton's step where the Hessian is definite.
class curved {
 public:
  curved(const latent_potential& f, const Eigen::VectorXd& z) {
    value = f(z, &gradient, &hessian);
    is_finite = std::isfinite(value) && gradient.allFinite() && hessian.allFinite();
    if (!is_finite) return;
    hessian = (0.5 * (hessian + hessian.transpose())).eval();
    largest = hessian.cwiseAbs().rowwise().sum().maxCoeff();
    factor_.compute(hessian);
  }

  /// Returns Newton's step with the absolute values of the curvatures, each plus a damping.
  Eigen::VectorXd step(double damping) {
    if (damping == 0 && factor_.info() == Eigen::Success) return -factor_.solve(gradient);
    decompose();
    const double least = epsilon * (largest > 0 ? largest : 1);
    const Eigen::VectorXd divisors = (curvatures_.cwiseAbs().cwiseMax(least).array() + damping).matrix();
    return -directions_ * (directions_.transpose() * gradient).cwiseQuotient(divisors);
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

inline constexpr double most_damping = 1e12;           // times the largest curvature
inline constexpr double relative_rounding = 1e-13;     // of entries of z: shorter steps are rounding
inline constexpr double most_curvature_change = 0.25;  // in the last step: at a degenerate minimum each step halves it

[[noreturn]] AGRAD_COLD AGRAD_INLINE void fail_mode(std::string_view function, int steps, const std::string& fault,
                                                    const std::string& remedy) {
  throw SolverError(std::string(function) + ": " + fault + "; " + remedy, std::numeric_limits<double>::quiet_NaN(), steps,
                    fault, remedy);
}

/// Moves z by a damped step if this step makes the potential smaller; changes the damping by how well the quadratic model
/// predicted the decrease.
/// Returns whether the damping is still small enough.
AGRAD_INLINE bool damped_step(const latent_potential& f, curved& here, Eigen::VectorXd& z, double& damping) {
  const Eigen::VectorXd step = here.step(damping);
  const double value = f(z + step, nullptr, nullptr);
  const double predicted = -here.gradient.dot(step) - 0.5 * step.dot(here.hessian * step);
  const double gain = std::isfinite(value) ? here.value - value : -std::numeric_limits<double>::infinity();
  const bool is_noise = std::abs(gain) <= 10 * here.epsilon * std::abs(here.value);  // near the minimum
  const bool is_accepted = gain > 1e-4 * predicted || is_noise, is_good = is_accepted && (gain > 0.5 * predicted || is_noise);
  const double least = 1e-3 * here.largest + 1e-300;
  if (is_good)
    damping = damping > 4 * least ? damping / 4 : 0;
  else if (!is_accepted)
    damping = std::max(4 * damping, least);
  if (is_accepted) z += step;
  return damping <= most_damping * (here.largest + 1e-300);
}

AGRAD_INLINE latent_mode find_mode(std::string_view function, const latent_potential& f, Eigen::VectorXd z,
                                   const laplace_options& options) {
  const auto longest = [](const Eigen::VectorXd& x) { return x.cwiseAbs().maxCoeff(); };
  const std::string indefinite = "Hessian at the mode is singular or indefinite, but must be positive definite",
                    elsewhere = "start from another theta_0";
  double damping = 0;
  interrupt_pace pace(static_cast<std::size_t>(z.size() * z.size() * z.size()));
  for (int steps = 0; steps < options.max_num_steps; ++steps) {
    pace.step();
    curved here(f, z);
    if (!here.is_finite)
      fail_mode(function, steps, "log likelihood or its derivatives are not finite, but must be finite", elsewhere);
    const Eigen::VectorXd newton = here.step(0);
    const double deviations = std::sqrt(std::abs(here.gradient.dot(newton)));  // of the posterior, that the step is long
    if (deviations <= options.tolerance || longest(newton) <= relative_rounding * longest(z)) {
      if (!here.is_definite()) fail_mode(function, steps, indefinite, elsewhere);
      z += newton;
      latent_mode found{z, {}};
      Eigen::VectorXd gradient;
      f(z, &gradient, &found.hessian);
      if (!(here.change_to(found.hessian) <= most_curvature_change)) fail_mode(function, steps, indefinite, elsewhere);
      return found;
    }
    if (!damped_step(f, here, z, damping))
      fail_mode(function, steps, "posterior density does not rise along its slope, but must, to find its mode",
                "a derivative may be wrong, or the log likelihood have a kink");
  }
  fail_mode(function, options.max_num_steps,
            "number of steps is " + std::to_string(options.max_num_steps) + ", but must suffice",
            "raise max_num_steps, start from another theta_0, or see that the posterior has a mode");
}

}  // namespace agrad::detail
