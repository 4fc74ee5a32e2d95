// Reverse estimate: how large the error of a gradient is, from a second adjoint in the reverse pass.
//
// The formulas of a method that estimate the error of a step have weights b and B. Where the reverse pass weighs an adjoint l
// with b, the second adjoint e is weighed with b, and l with b - B on top: e holds what the second formula would change in all
// later steps, propagated to the present one. At the start, e is an estimate of the gradient's error, with sign. A step's
// reverse pass is linear in the adjoints of the record's vectors, so (b - B) l enters as adjoints of these vectors.
// The estimate does not see modes that both formulas damp alike (docs/gradient_trust.md), so it complements the probe.
// Read next: solve/one_step/solver.ipp, which carries the second adjoint.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <vector>

#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad::detail {

class reverse_estimate {
 public:
  reverse_estimate(std::size_t states, std::size_t parameters) : l_(states, 0.0), parameters_(parameters, 0.0) {}

  /// Returns the second adjoint of the states, that of the parameters, and the adjoints of a record's vectors.
  double* states() { return l_.data(); }
  double* parameters() { return parameters_.data(); }
  std::vector<double>& of_record() { return of_record_; }

  /// Returns the size of the second adjoint relative to that of the gradient, with entries in units of their states and
  /// parameters; infinite or nan beside a gradient of zero, zero if both are zero.
  double relative(const ode_system& system, const step_options& options, const ode_required& required,
                  const Eigen::VectorXd& y0, const ode_gradient& g) const;

 private:
  std::vector<double> l_, parameters_, of_record_;
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/solve/one_step/reverse_estimate.ipp>
#endif
