// Adjoint tolerances: the absolute tolerances of an adjoint problem and of its gradient, in the units of the loss.
//
// An adjoint has the units of the loss divided by those of its state, so a state's absolute tolerance says nothing about the
// adjoint: where states are of the size 1e6, with a tolerance of 1, and the loss is of their logarithms, adjoints are of the
// size 1e-6, and a tolerance of 1 would leave them without control. With L the size of the loss, the largest |adjoint| Y of
// the outputs, and Y the size of a state, a tolerance a of a state is the part a / Y of the state, and the same part of the
// adjoint's size L / Y is a L / Y^2. The tolerances returned are this, but never more than the tolerances given.
// Read next: solve/cvodes/backward.hpp and solve/dae/ida_backward.hpp, which use them.
#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace agrad::detail {

/// Returns the size of a parameter, by which a tolerance is divided or, where the tolerance would become zero or infinite, 1.
inline double size_or_one(double x) {
  const double size = std::abs(x);
  return size > 1e-100 && size < 1e100 ? size : 1.0;
}

/// Absolute tolerances, one for each adjoint and one for each parameter.
struct adjoint_tolerances {
  Eigen::VectorXd adjoint, gradient;
};

class loss_units {
 public:
  /// y: states at some times, a column each; absolute: their tolerances; parameters: their values.
  template <class Y>
  loss_units(const Y& y, const Eigen::VectorXd& absolute, double relative, const Eigen::VectorXd& parameters)
      : states_(absolute / relative), parameters_(parameters.size()) {
    for (Eigen::Index k = 0; k < y.cols(); ++k)
      for (Eigen::Index i = 0; i < states_.size(); ++i) states_[i] = std::max(states_[i], std::abs(y(i, k)));
    for (Eigen::Index j = 0; j < parameters.size(); ++j) parameters_[j] = size_or_one(parameters[j]);
    part_ = 1;
    for (Eigen::Index i = 0; i < states_.size(); ++i) part_ = std::min(part_, absolute[i] / states_[i]);
  }

  /// Returns the tolerances for adjoints of states at output times, a column each. absolute, gradient: the upper bounds.
  /// rounding: the part of an adjoint's size L / Y that rounding may be; no tolerance is below.
  template <class Adjoints>
  adjoint_tolerances tolerances(const Adjoints& adjoints, const Eigen::VectorXd& absolute, const Eigen::VectorXd& gradient,
                                double rounding = 0) const {
    double loss = 0;
    for (Eigen::Index k = 0; k < adjoints.cols(); ++k)
      for (Eigen::Index i = 0; i < states_.size(); ++i) loss = std::max(loss, std::abs(adjoints(i, k)) * states_[i]);
    adjoint_tolerances to{absolute, gradient};
    if (!(loss > 0 && loss < 1e200)) return to;
    for (Eigen::Index i = 0; i < absolute.size(); ++i)
      to.adjoint[i] =
          std::max({least, absolute[i] * std::min(1.0, loss / states_[i] / states_[i]), rounding * loss / states_[i]});
    for (Eigen::Index j = 0; j < gradient.size(); ++j)
      to.gradient[j] =
          std::max({least, std::min(part_ * loss / parameters_[j], gradient[j]), rounding * loss / parameters_[j]});
    return to;
  }

 private:
  static constexpr double least = 1e-250;  // below it, the inverse would overflow

  Eigen::VectorXd states_, parameters_;
  double part_ = 1;  // the smallest part of a state that its absolute tolerance is
};

}  // namespace agrad::detail
