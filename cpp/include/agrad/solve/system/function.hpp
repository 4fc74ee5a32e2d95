// Differentiable function: a function F(t, y; p) of named parts, with values, adjoints, tangents and second derivatives.
//
// The parts are time, state and parameters; the state may be several vectors in a row. A recorded right-hand side, a recorded
// residual (whose state is y and y'), the entries of a recorded Jacobian (solve/system/program/function.hpp), and the root and
// the reset of an event, recorded or a C++ callable (solve/system/functor/event.hpp), are such functions. What F can do is
// asked for by `order`, and no member needs an earlier call of another one.
// Read next: solve/system/ode.hpp, solve/system/event.hpp.
#pragma once

#include <Eigen/Core>

#include <agrad/base/error.hpp>

namespace agrad {

/// A point with directions of the parts, `width` side by side (1 or 8): entry i in direction k is number i * width + k. Time
/// does not move where `t_tangents` is null.
struct ode_point {
  int width;
  double t;
  const double *y, *y_tangents, *parameter_tangents;
  const double* t_tangents = nullptr;
};

/// Adjoints of the parts, with tangents; null pointers for time where its adjoint is not needed.
struct ode_adjoints {
  double *y, *parameters, *y_tangents, *parameter_tangents;
  double *t = nullptr, *t_tangents = nullptr;
};

class differentiable_function {
 public:
  virtual ~differentiable_function() = default;

  virtual Eigen::Index outputs() const = 0;
  virtual Eigen::Index parameters() const = 0;
  /// Sets the parameters. By default nothing: the function has the parameters' values from its construction.
  virtual void set_parameters(const double* /*p*/) {}

  /// Computes to = F.
  virtual void value(double t, const double* y, double* to) = 0;

  /// Computes to = F, and lambda' times the derivatives of F with respect to time, state and, unless null, parameters.
  virtual void vjp(double t, const double* y, const double* lambda, double* to, double& t_adjoint, double* y_adjoint,
                   double* parameter_adjoint) = 0;

  /// Returns the order of the derivatives along directions: 0 for none, 1 with `tangent`, 2 with `second`, too.
  virtual int order() const = 0;

  /// Computes the tangents of F along the point's directions.
  inline virtual void tangent(const ode_point& at, double* to);

  /// Adds to zeros lambda' times the derivatives of F, and their tangents along the directions, for lambda with tangents.
  inline virtual void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to);
};

inline void differentiable_function::tangent(const ode_point&, double*) {
  throw DerivativeError("differentiable_function: the function has derivatives by reverse mode only");
}
inline void differentiable_function::second(const ode_point&, const double*, const double*, const ode_adjoints&) {
  throw DerivativeError("differentiable_function: the function has first derivatives only");
}

}  // namespace agrad
