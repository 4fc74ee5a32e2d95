// Body function: a body as a function of one vector, on numbers: values, Jacobian, gradient and Hessian.
//
// Searches and integrals, whose own steps are C++, evaluate recorded functions this way. The captured values are constants; an
// evaluation may add to them, while the recording around the body is open. Errors of an evaluation leave the object usable.
// Read next: functionals/search/search_operation.hpp, the user.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/program/loops/scan_run.hpp>

namespace agrad::detail {

class body_function {
 public:
  /// The first path must be recorded.
  explicit body_function(body& of);

  std::size_t inputs() const { return body_.input_size(); }
  std::size_t outputs() const { return body_.output_size(); }
  const std::vector<double>& captured() const { return captured_; }
  void set_captured(std::vector<double> values) { captured_ = std::move(values), has_run_ = false; }

  /// Computes y = f(x).
  void value(const double* x, double* y) { run(x, y, false); }
  /// Computes y and the Jacobian, column by column: by tangents, or by adjoints where an operation has no tangents.
  void jacobian(const double* x, double* y, double* to);
  /// For a function with one result: computes y, the gradient and the Hessian. Throws DerivativeError where an operation has no
  /// second derivatives.
  void hessian(const double* x, double& y, double* gradient, double* to);

 private:
  /// Adjoints of captured values and inputs, and `Width` tangents of each.
  struct adjoints {
    std::vector<double> values, tangents;
  };

  void run(const double* x, double* y, bool with_adjoint);
  /// Calls use(first, count) after the tangents along up to `Width` unit vectors from input `first` on have been propagated.
  template <int Width, class Use>
  void along_inputs(const Use& use);
  template <int Width>
  void reverse(const std::vector<double>& y_adjoints, adjoints& x);
  template <int Width>
  void columns(double* to);
  void rows(double* to);
  template <int Width>
  void second(double* gradient, double* to);

  body& body_;
  scan_loop loop_;
  scan_run run_;
  std::vector<double> captured_, along_, tangents_;
  bool has_run_ = false;  // with the captured values
};

}  // namespace agrad::detail

#ifndef AGRAD_COMPILED
#include <agrad/program/loops/body_function.ipp>
#endif
