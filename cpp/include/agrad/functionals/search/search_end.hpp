// Search end: how searches of roots and minima end.
// Read next: functionals/search/equation_search.hpp, functionals/search/minimum_search.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace agrad::detail {

/// `running`: the steps did not suffice. `singular`: the Jacobian is, or the Hessian is not positive definite. `stuck`: no step
/// makes the function smaller. `undefined`: the function or its derivatives are not finite.
enum class search_end { running, found, singular, stuck, undefined };

inline constexpr double most_change = 0.25;  // of the derivatives in the last step: at a double root each step halves them

/// The last accepted step and what it was computed from, the values of the equations or the gradient at its start; empty unless
/// the step was Newton's whole step.
struct accepted_step {
  Eigen::VectorXd step, from;
};

/// Returns whether Newton's step from x is short, each entry compared with its own size at x or at the start. An entry of which
/// the result is zero has no size. It is short, too, where the step before, computed `again` with the derivatives at its end,
/// is the same: then the steps converge quadratically, down to rounding. Both are empty where the step before was none of
/// Newton's.
inline bool is_short(const Eigen::VectorXd& step, const Eigen::VectorXd& x, const Eigen::VectorXd& start, double relative,
                     double absolute, const Eigen::VectorXd& before, const Eigen::VectorXd& again) {
  double longest = 0, largest = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double length = std::abs(step[i]), size = std::max(std::abs(x[i]), std::abs(start[i]));
    const bool is_same = before.size() > 0 && std::abs(again[i] - before[i]) <= std::sqrt(relative) * std::abs(before[i]);
    if (!(length <= relative * size + absolute) && !is_same) return false;
    longest = std::max(longest, length);
    largest = std::max(largest, size);
  }
  return longest <= relative * largest + absolute;
}

}  // namespace agrad::detail
