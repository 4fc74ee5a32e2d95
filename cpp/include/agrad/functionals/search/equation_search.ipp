// Definitions of functionals/search/equation_search.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/base/interrupt_pace.hpp>
#include <agrad/functionals/search/equation_search.hpp>

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

/// Computes the values at a point that may lie outside of the equations' domain; returns whether it does not.
AGRAD_INLINE bool is_in_domain(const equations& f, const Eigen::VectorXd& x, Eigen::VectorXd& value) {
  try {
    f(x, value, nullptr);
  } catch (const DomainError&) {
    return false;
  } catch (const SolverError&) {
    return false;
  }
  return value.allFinite();
}

/// Moves x by a step of Newton's method with damping, accepted where Newton's correction at its end, with the old Jacobian, is
/// shorter by the factor 1 - damping / 4. Returns whether the damping is still large enough.
/// Source: Deuflhard (2011), Newton Methods for Nonlinear Problems, section 3.3.
AGRAD_INLINE bool newton_step(const equations& f, const linearized& here, Eigen::VectorXd& x, double& damping,
                              accepted_step& last) {
  const Eigen::VectorXd there = x + damping * here.step;
  Eigen::VectorXd value;
  const bool accepted =
      is_in_domain(f, there, value) && here.length(here.correction(value)) <= (1 - damping / 4) * here.length(here.step);
  if (accepted) {
    x = there;
    last = damping == 1 ? accepted_step{here.step, here.value} : accepted_step{};
  }
  damping = accepted ? std::min(1.0, 2 * damping) : damping / 2;
  return damping >= smallest_control;
}

/// Moves x along the gradient of the sum of squares, bent towards Newton's step, up to a radius; a radius of 0 stands for
/// Newton's step. Returns whether the radius is still large enough, else x stays.
/// Source: Powell (1970), in Numerical Methods for Nonlinear Algebraic Equations, ed. Rabinowitz, page 87; Moré and Sorensen's
/// update of the radius.
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
  const double before = here.value.squaredNorm(), predicted = before - (here.value + here.jacobian * step).squaredNorm();
  const double gain = is_in_domain(f, there, value) ? before - value.squaredNorm() : -1;
  const double ratio = predicted > 0 ? gain / predicted : 0;
  if (ratio < 0.25)
    radius = 0.25 * scaled.norm();
  else if (ratio > 0.75)
    radius = std::max(radius, 2 * scaled.norm());
  if (!(radius > smallest_control * std::min(newton, here.length(x)) && radius > 0)) return false;
  if (ratio > 1e-4) {
    x = there;
    last = is_whole ? accepted_step{here.step, here.value} : accepted_step{};
  }
  return true;
}

// ---- the search --------------------------------------------------------------------------------------------------------

/// Returns whether the search may end with Newton's step from x; `before` and `again` are those of `is_short`.
AGRAD_INLINE bool is_near(const linearized& here, const Eigen::VectorXd& x, const Eigen::VectorXd& start,
                          const Eigen::VectorXd& before, const Eigen::VectorXd& again, const root_options& options) {
  return here.is_regular && here.value.cwiseAbs().maxCoeff() <= options.residual_tolerance &&
         is_short(here.step, x, start, options.step_tolerance, options.absolute_tolerance, before, again);
}

/// Takes the last step, and decides whether the root was found. Among rounding errors no step makes the equations smaller, and
/// then the root is found where Newton's step is short and the same with the Jacobian at either end.
AGRAD_INLINE root_search ended(const equations& f, const linearized& here, const Eigen::VectorXd& x,
                               const Eigen::VectorXd& start, search_end how, int steps, const root_options& options) {
  root_search result{how, steps, x, here.value, {}};
  if (how != search_end::found && how != search_end::stuck) return result;
  Eigen::VectorXd moved = x + here.step, value;
  if (!is_in_domain(f, moved, value)) moved = x;
  const linearized at(f, moved);
  if (how == search_end::stuck && !is_near(here, x, start, here.step, at.correction(here.value), options)) return result;
  result.x = moved, result.value = at.value;
  const bool is_good = at.is_finite && at.is_regular && here.change_to(at.jacobian) <= most_change;
  result.end = is_good ? search_end::found : search_end::singular;
  if (is_good) result.inverse = at.inverse();
  return result;
}

AGRAD_INLINE root_search search_root(root_method method, const equations& f, Eigen::VectorXd x, const root_options& options) {
  const Eigen::VectorXd start = x;
  const bool is_newton = method == root_method::newton;
  accepted_step last;
  double control = is_newton ? 1 : 0;
  interrupt_pace pace(static_cast<std::size_t>(x.size() * x.size() * x.size()));
  for (int steps = 1;; ++steps) {
    pace.step();
    const linearized here(f, x);
    const auto end = [&](search_end how) { return ended(f, here, x, start, how, steps, options); };
    if (!here.is_finite) return end(search_end::undefined);
    const Eigen::VectorXd again = last.step.size() > 0 ? here.correction(last.from) : Eigen::VectorXd();
    if (is_near(here, x, start, last.step, again, options)) return end(search_end::found);
    if (steps == options.max_steps) return end(search_end::running);
    if (is_newton && !here.is_regular) return end(search_end::singular);
    const bool goes_on = is_newton ? newton_step(f, here, x, control, last) : powell_step(f, here, x, control, last);
    if (!goes_on) return end(here.is_regular ? search_end::stuck : search_end::singular);
  }
}

[[noreturn]] AGRAD_COLD AGRAD_INLINE void fail_root(std::string_view function, const root_search& at) {
  std::string place, fault, remedy = "start from another guess";
  for (Eigen::Index i = 0; i < at.x.size(); ++i) place += (i ? ", " : "") + to_text(at.x[i]);
  if (at.end == search_end::undefined) {
    fault = "the equations or their Jacobian are not finite, but must be finite";
  } else if (at.end == search_end::singular) {
    fault = "the Jacobian is singular, but must be of full rank, to find a root and its derivatives";
    remedy += "; a double root has no derivatives";
  } else if (at.end == search_end::stuck) {
    fault = "the largest equation is not 0, but must be 0 at a root; no step makes it smaller";
  } else {
    fault = "the number of steps is " + std::to_string(at.steps) + ", but must suffice";
    remedy = "raise max_steps, loosen the tolerances, or start from another guess";
  }
  throw SolverError(std::string(function) + ": " + fault + "; x is (" + place + "), and the largest equation is off by " +
                        to_text(at.value.cwiseAbs().maxCoeff()) + "; " + remedy,
                    std::numeric_limits<double>::quiet_NaN(), at.steps, fault, remedy);
}

AGRAD_INLINE root_search find_root(std::string_view function, root_method method, const equations& f, Eigen::VectorXd x,
                                   const root_options& options) {
  root_search result = search_root(method, f, std::move(x), options);
  if (result.end != search_end::found) fail_root(function, result);
  return result;
}

}  // namespace agrad::detail
