// Definitions of functionals/equation_search.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/equation_search.hpp>

namespace agrad::detail {

AGRAD_INLINE linearized::linearized(const equations& f, const Eigen::VectorXd& x) {
  f(x, value, &jacobian);
  is_finite = value.allFinite() && jacobian.allFinite();
  const Eigen::Index n = x.size();
  lu_ = is_finite ? jacobian : Eigen::MatrixXd::Identity(n, n);
  scale = lu_.colwise().norm();
  for (Eigen::Index j = 0; j < n; ++j) {
    if (scale[j] == 0) scale[j] = 1;
    lu_.col(j) /= scale[j];
  }
  factorise();
  step = correction(value);
}

// By rows with partial pivoting; small pivots, which make the matrix singular, become 1, so that steps stay numbers. Eigen's
// PartialPivLU has no such rule: its solve would divide by a pivot of zero.
AGRAD_INLINE void linearized::factorise() {
  const Eigen::Index n = lu_.rows();
  rows_.resize(static_cast<std::size_t>(n));
  std::iota(rows_.begin(), rows_.end(), Eigen::Index{0});
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index best = k;
    for (Eigen::Index i = k + 1; i < n; ++i)
      if (std::abs(lu_(i, k)) > std::abs(lu_(best, k))) best = i;
    if (best != k) {
      lu_.row(k).swap(lu_.row(best));
      std::swap(rows_[static_cast<std::size_t>(k)], rows_[static_cast<std::size_t>(best)]);
    }
    if (!(std::abs(lu_(k, k)) > static_cast<double>(n) * std::numeric_limits<double>::epsilon())) {
      is_regular = false;
      lu_(k, k) = 1;
    }
    for (Eigen::Index i = k + 1; i < n; ++i) {
      const double factor = lu_(i, k) /= lu_(k, k);
      for (Eigen::Index j = k + 1; j < n; ++j) lu_(i, j) -= factor * lu_(k, j);
    }
  }
}

AGRAD_INLINE void linearized::solve(Eigen::VectorXd& b) const {
  const Eigen::Index n = lu_.rows();
  const Eigen::VectorXd given = b;
  for (Eigen::Index i = 0; i < n; ++i) {
    b[i] = given[rows_[static_cast<std::size_t>(i)]];
    for (Eigen::Index j = 0; j < i; ++j) b[i] -= lu_(i, j) * b[j];
  }
  for (Eigen::Index i = n; i-- > 0;) {
    for (Eigen::Index j = i + 1; j < n; ++j) b[i] -= lu_(i, j) * b[j];
    b[i] /= lu_(i, i);
  }
}

AGRAD_INLINE Eigen::VectorXd linearized::correction(const Eigen::VectorXd& other) const {
  Eigen::VectorXd b = -other;
  for (Eigen::Index i = 0; i < b.size(); ++i)
    if (!std::isfinite(b[i])) b[i] = 0;
  solve(b);
  return b.cwiseQuotient(scale);
}

AGRAD_INLINE double linearized::change_to(const Eigen::MatrixXd& other) const {
  if (!other.allFinite()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (Eigen::Index j = 0; j < other.cols(); ++j) {
    Eigen::VectorXd column = (other.col(j) - jacobian.col(j)) / scale[j];
    solve(column);
    largest = std::max(largest, column.cwiseAbs().maxCoeff());
  }
  return largest;
}

AGRAD_INLINE Eigen::MatrixXd linearized::inverse() const {
  const Eigen::Index n = lu_.rows();
  Eigen::MatrixXd result(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::VectorXd column = Eigen::VectorXd::Unit(n, j);
    solve(column);
    result.col(j) = column.cwiseQuotient(scale);
  }
  return result;
}

// ---- the two methods ---------------------------------------------------------------------------------------------------

inline constexpr double smallest_control = 1e-12;  // of damping factors and trust regions, relative to Newton's step
inline constexpr double most_change = 0.25;        // of the Jacobian in the last step: at a double root each step halves it

[[noreturn]] AGRAD_COLD AGRAD_INLINE void fail_root(std::string_view function, const Eigen::VectorXd& x,
                                                    const Eigen::VectorXd& value, int steps, const std::string& fault,
                                                    const std::string& remedy) {
  std::string at;
  for (Eigen::Index i = 0; i < x.size(); ++i) at += (i ? ", " : "") + to_text(x[i]);
  throw SolverError(std::string(function) + ": " + fault + "; x is (" + at + "), and the largest equation is off by " +
                        to_text(value.cwiseAbs().maxCoeff()) + "; " + remedy,
                    std::numeric_limits<double>::quiet_NaN(), steps, fault, remedy);
}

/// Returns whether Newton's step from x is short, each entry compared with its own size at x or at the start. An entry of which
/// the root is zero has no size. It is short, too, where the step before, computed again with the Jacobian at its end, is the
/// same: then the steps converge quadratically, down to rounding.
AGRAD_INLINE bool is_short(const linearized& here, const Eigen::VectorXd& x, const Eigen::VectorXd& start,
                           const accepted_step& last, double tolerance) {
  Eigen::VectorXd again;
  if (last.step.size()) again = here.correction(last.value);
  double longest = 0, largest = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double step = std::abs(here.step[i]), size = std::max(std::abs(x[i]), std::abs(start[i]));
    const bool is_same = again.size() && std::abs(again[i] - last.step[i]) <= std::sqrt(tolerance) * std::abs(last.step[i]);
    if (!(step <= tolerance * size) && !is_same) return false;
    longest = std::max(longest, step);
    largest = std::max(largest, size);
  }
  return longest <= tolerance * largest;
}

/// Moves x by a step of Newton's method with damping, accepted where Newton's correction at its end, with the old Jacobian, is
/// shorter by the factor 1 - damping / 4. Returns whether the damping is still large enough.
/// Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, section 3.3.
AGRAD_INLINE bool newton_step(const equations& f, const linearized& here, Eigen::VectorXd& x, double& damping,
                              accepted_step& last) {
  const Eigen::VectorXd there = x + damping * here.step;
  Eigen::VectorXd value;
  f(there, value, nullptr);
  const bool accepted = value.allFinite() && here.length(here.correction(value)) <= (1 - damping / 4) * here.length(here.step);
  if (accepted) {
    x = there;
    last = damping == 1 ? accepted_step{here.step, here.value} : accepted_step{};
  }
  damping = accepted ? std::min(1.0, 2 * damping) : damping / 2;
  return damping >= smallest_control;
}

/// Moves x along the gradient of the sum of squares, bent towards Newton's step, up to a radius; a radius of 0 stands for
/// Newton's step. Returns whether the radius is still large enough.
/// Source: Powell (1970), in Numerical Methods for Nonlinear Algebraic Equations, ed. Rabinowitz, page 87.
AGRAD_INLINE bool powell_step(const equations& f, const linearized& here, Eigen::VectorXd& x, double& radius,
                              accepted_step& last) {
  const double newton = here.length(here.step);
  if (radius == 0) radius = std::max(newton, here.length(x));
  const Eigen::VectorXd slope = (here.jacobian.transpose() * here.value).cwiseQuotient(here.scale);
  const double steepness = slope.norm();
  if (!(steepness > 0) || !std::isfinite(steepness)) return false;
  const double bottom = steepness * steepness * steepness / (here.jacobian * slope.cwiseQuotient(here.scale)).squaredNorm();
  Eigen::VectorXd scaled = -std::min(bottom, radius) / steepness * slope;
  const bool is_whole = here.is_regular && newton <= radius;
  if (is_whole) {
    scaled = here.step.cwiseProduct(here.scale);
  } else if (here.is_regular && bottom < radius) {
    const Eigen::VectorXd rest = here.step.cwiseProduct(here.scale) - scaled;
    const double a = rest.squaredNorm(), b = rest.dot(scaled), c = scaled.squaredNorm() - radius * radius;
    scaled += std::min(1.0, std::max(0.0, -c / (b + std::sqrt(std::max(0.0, b * b - a * c))))) * rest;
  }
  const Eigen::VectorXd step = scaled.cwiseQuotient(here.scale), there = x + step;
  Eigen::VectorXd value;
  f(there, value, nullptr);
  const double before = here.value.squaredNorm(), predicted = before - (here.value + here.jacobian * step).squaredNorm();
  const double gain = value.allFinite() ? before - value.squaredNorm() : -1;
  const double ratio = predicted > 0 ? gain / predicted : 0;
  if (ratio < 0.25)
    radius = 0.25 * scaled.norm();
  else if (ratio > 0.75)
    radius = std::max(radius, 2 * scaled.norm());
  const bool goes_on = radius > smallest_control * std::min(newton, here.length(x)) && radius > 0;
  if (ratio > 1e-4) {
    x = there;
    last = is_whole ? accepted_step{here.step, here.value} : accepted_step{};
  }
  return goes_on;
}

AGRAD_INLINE found_root find_root(std::string_view function, root_method method, const equations& f, Eigen::VectorXd x,
                                  const root_options& options) {
  const Eigen::VectorXd start = x;
  accepted_step last;
  double control = method == root_method::newton ? 1 : 0;
  interrupt_pace pace(static_cast<std::size_t>(x.size() * x.size() * x.size()));
  const std::string singular = "the Jacobian is singular, but must be of full rank, to find a root and its derivatives";
  for (int steps = 1;; ++steps) {
    pace.step();
    const linearized here(f, x);
    if (!here.is_finite)
      fail_root(function, x, here.value, steps, "the equations or their Jacobian are not finite, but must be finite",
                "start from another guess");
    if (here.is_regular && is_short(here, x, start, last, options.step_tolerance) &&
        here.value.cwiseAbs().maxCoeff() <= options.residual_tolerance) {
      x += here.step;
      const linearized at(f, x);
      if (!at.is_regular || !at.is_finite || here.change_to(at.jacobian) > most_change)
        fail_root(function, x, at.value, steps, singular, "a double root has no derivatives");
      return {x, at.inverse()};
    }
    if (steps == options.max_steps)
      fail_root(function, x, here.value, steps, "the number of steps is " + std::to_string(steps) + ", but must suffice",
                "raise max_steps, loosen the tolerances, or start from another guess");
    if (method == root_method::newton && !here.is_regular)
      fail_root(function, x, here.value, steps, singular, "start from another guess");
    const bool goes_on =
        method == root_method::newton ? newton_step(f, here, x, control, last) : powell_step(f, here, x, control, last);
    if (!goes_on)
      fail_root(function, x, here.value, steps,
                here.is_regular ? "the largest equation is not 0, but must be 0 at a root; no step makes it smaller" : singular,
                "start from another guess");
  }
}

}  // namespace agrad::detail
