// ODE system: the interface of a right-hand side y' = f(t, y; p) for solvers.
//
// Solvers are not templates. They use this interface; f is a C++ functor (solve/system/functor/ode.hpp), a recorded program or
// written by hand. p holds only the active parameters, whose derivatives are wanted, in a vector.
// Read next: solve/cvodes/adjoint.hpp, which integrates a system and propagates adjoints back through it.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/program/sparse/pattern.hpp>
#include <agrad/solve/system/function.hpp>

namespace agrad {

/// A system of ordinary differential equations. Exceptions of its members pass through the solver unchanged. Entries that are
/// not finite are no error by themselves: the solver first tries a shorter step.
class ode_system {
 public:
  virtual ~ode_system() = default;

  /// Returns the length n of y.
  virtual Eigen::Index states() const = 0;

  /// Returns whether f is known to be independent of t.
  virtual bool is_autonomous() const { return false; }

  /// Returns the length m of p.
  virtual Eigen::Index parameters() const = 0;

  /// Sets all parameters, active or not. By default nothing: the system has the parameters' values from its construction.
  virtual void set_parameters(const double* /*p*/) {}

  /// Computes dydt = f(t, y), n entries.
  virtual void rhs(double t, const double* y, double* dydt) = 0;

  /// Computes J(i, j) = df_i/dy_j, n by n; writes every entry.
  virtual void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) = 0;

  /// Returns where J may have nonzero entries, n x n, as far as the system knows; null: anywhere.
  virtual std::shared_ptr<const csr_pattern> known_pattern() { return nullptr; }

  /// Sets the pattern, and so the order, of the entries of `jacobian_entries`, before its first call.
  virtual void use_pattern(std::shared_ptr<const csr_pattern> pattern) { pattern_ = std::move(pattern); }

  /// Computes the entries of J on the pattern; columns without a common row can be computed together. By default: from the
  /// dense Jacobian.
  inline virtual void jacobian_entries(double t, const double* y, double* entries);

  /// Returns whether the system has `jacobian_adjoint`, `jacobian_tangent` and `jacobian_second`.
  virtual bool has_jacobian_adjoint() { return false; }

  /// Computes y_adjoint = d/dy and parameter_adjoint = d/dp of the sum of weights times entries of J, with the weights in the
  /// pattern's order, or row after row without a pattern; parameter_adjoint may be null.
  inline virtual void jacobian_adjoint(double t, const double* y, const double* weights, double* y_adjoint,
                                       double* parameter_adjoint);

  /// Computes the tangents of J's entries in the same order, along the point's directions: entry e in direction k is number e *
  /// width + k.
  inline virtual void jacobian_tangent(const ode_point& at, double* entry_tangents);

  /// Computes `jacobian_adjoint` and the tangents of its results along the point's directions, for weights with tangents.
  inline virtual void jacobian_second(const ode_point& at, const double* weights, const double* weight_tangents,
                                      const ode_adjoints& to);

  /// Computes to = J v. By default: by `tangent`, or from the dense Jacobian.
  inline virtual void jvp(double t, const double* y, const double* v, double* to);

  /// Computes y_adjoint = lambda^T df/dy, n entries, and parameter_adjoint = lambda^T df/dp, m entries; either may be null.
  virtual void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) = 0;

  /// Prepares products at `points` points, a time and n states each, which must stay unchanged until the last product.
  /// `linear_vjp(k, ...)` is `vjp` at point k.
  virtual void linearize(int /*points*/, const double* t, const double* y) { linear_t_ = t, linear_y_ = y; }
  virtual void linear_vjp(int k, const double* lambda, double* y_adjoint, double* parameter_adjoint) {
    vjp(linear_t_[k], linear_y_ + k * states(), lambda, y_adjoint, parameter_adjoint);
  }

  /// Computes to = (df/dy) v + (df/dp) w at point k. By default: by `tangent`, or without tangents by differences, which
  /// suffice for step control.
  virtual void linear_jvp(int k, const double* v, const double* w, double* to) {
    along(linear_t_[k], linear_y_ + k * states(), v, w, to);
  }
  void along(double t, const double* y, const double* v, const double* w, double* to);

  /// Returns how many numbers the derivatives at the points of `linearize` are; 0: to compute them again is as fast.
  virtual std::size_t linear_size() const { return 0; }
  /// Writes these numbers.
  virtual void keep_linear(double* /*to*/) const {}
  /// Takes back the numbers of as many points, after which the products are those at these points. Returns false where
  /// `linearize` has not been called since for as many.
  virtual bool restore_linear(int /*points*/, const double* /*from*/) { return false; }

  /// Computes dydt = f(t, y; p) with other values p of the active parameters. Returns whether the system supports this call; by
  /// default: without parameters.
  virtual bool rhs_with(double t, const double* y, const double* /*p*/, double* dydt) {
    if (parameters() > 0) return false;
    rhs(t, y, dydt);
    return true;
  }

  /// Writes the active parameters, m entries, whose sizes scale the error control of sensitivities. By default: ones.
  virtual void parameter_values(double* p) const { std::fill_n(p, parameters(), 1.0); }

  /// Writes the size of a generic change of each parameter, m entries: the parameter's own size, 1 for a parameter of zero, or
  /// 0 if its derivative is not wanted. of_states: the sizes of generic changes of the states.
  virtual void parameter_sizes(const double* /*of_states*/, double* sizes) const {
    parameter_values(sizes);
    for (Eigen::Index j = 0; j < parameters(); ++j) sizes[j] = sizes[j] == 0 ? 1 : std::abs(sizes[j]);
  }

  /// Returns whether the system has `tangent` and `second`, for second derivatives through a solve.
  virtual bool has_tangents() const { return false; }

  /// Returns whether the system has `tangent`.
  virtual bool has_first_tangents() const { return has_tangents(); }

  /// Computes (df/dy) y_tangents + (df/dp) parameter_tangents for `width` directions side by side (1 or 8): entry i in
  /// direction k is number i * width + k.
  inline virtual void tangent(int width, double t, const double* y, const double* y_tangents, const double* parameter_tangents,
                              double* dydt_tangents);

  /// Returns whether the system has `moving_tangent`.
  virtual bool has_time_tangents() const { return false; }

  /// Computes `tangent` at a point whose time moves.
  inline virtual void moving_tangent(const ode_point& at, double* dydt_tangents);

  /// Computes `vjp` and the tangents of its results along the directions of `tangent`, for lambda with tangents.
  inline virtual void second(const ode_point& at, const double* lambda, const double* lambda_tangents, const ode_adjoints& to);

 protected:
  std::shared_ptr<const csr_pattern> pattern_;

 private:
  void along_by_products(double t, const double* y, const double* v, const double* w, double* to);

  const double *linear_t_ = nullptr, *linear_y_ = nullptr;
};

inline void ode_system::jacobian_entries(double t, const double* y, double* entries) {
  Eigen::MatrixXd J(states(), states());
  jacobian(t, y, J);
  for (std::size_t i = 0; i < pattern_->rows(); ++i)
    for (const auto j : pattern_->row(i)) *entries++ = J(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
}
inline void ode_system::jvp(double t, const double* y, const double* v, double* to) {
  if (has_first_tangents()) {
    const std::vector<double> none(static_cast<std::size_t>(parameters()), 0.0);
    return tangent(1, t, y, v, none.data(), to);
  }
  Eigen::MatrixXd J(states(), states());
  jacobian(t, y, J);
  Eigen::Map<Eigen::VectorXd>(to, states()) = J * Eigen::Map<const Eigen::VectorXd>(v, states());
}

inline void ode_system::along(double t, const double* y, const double* v, const double* w, double* to) {
  if (has_first_tangents()) return tangent(1, t, y, v, w, to);
  using vector = Eigen::VectorXd;
  using given = Eigen::Map<const vector>;
  const given at(y, states()), direction(v, states()), of_parameters(w, parameters());
  vector p(parameters()), ahead(states()), behind(states());
  parameter_values(p.data());
  const auto largest = [](const vector& from, const given& by) {  // largest relative change of an entry
    const double least = std::max(1e-3 * from.lpNorm<Eigen::Infinity>(), 1e-6);
    return by.cwiseQuotient(from.cwiseAbs().cwiseMax(least)).lpNorm<Eigen::Infinity>();
  };
  const double size = std::max(states() > 0 ? largest(at, direction) : 0.0, parameters() > 0 ? largest(p, of_parameters) : 0.0);
  const double epsilon = 6e-6 / (size > 0 && std::isfinite(size) ? size : 1.0);
  bool is_known = true;
  const auto move = [&](double by, vector& slope) {
    is_known = rhs_with(t, vector(at + by * direction).data(), vector(p + by * of_parameters).data(), slope.data());
    return is_known && slope.allFinite();
  };
  const bool has_ahead = move(epsilon, ahead);
  if (!is_known) return along_by_products(t, y, v, w, to);
  const bool has_behind = move(-epsilon, behind);
  double span = 2 * epsilon;
  if (has_ahead != has_behind) move(0, has_ahead ? behind : ahead), span = epsilon;  // at the border of where f is finite
  Eigen::Map<vector>(to, states()) = (ahead - behind) / span;
}
inline void ode_system::along_by_products(double t, const double* y, const double* v, const double* w, double* to) {
  jvp(t, y, v, to);
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(states()), row(parameters());
  for (Eigen::Index i = 0; i < states(); ++i) {
    unit[i] = 1;
    vjp(t, y, unit.data(), nullptr, row.data());
    unit[i] = 0;
    to[i] += row.dot(Eigen::Map<const Eigen::VectorXd>(w, parameters()));
  }
}

inline void ode_system::tangent(int, double, const double*, const double*, const double*, double*) {
  throw DerivativeError("ode_system: the right-hand side has first derivatives only");
}
inline void ode_system::moving_tangent(const ode_point&, double*) {
  throw DerivativeError("ode_system: the right-hand side has no derivative with respect to time");
}
inline void ode_system::jacobian_adjoint(double, const double*, const double*, double*, double*) {
  throw DerivativeError("ode_system: the Jacobian of the right-hand side has no derivatives");
}
inline void ode_system::jacobian_tangent(const ode_point&, double*) {
  throw DerivativeError("ode_system: the Jacobian of the right-hand side has no derivatives");
}
inline void ode_system::jacobian_second(const ode_point&, const double*, const double*, const ode_adjoints&) {
  throw DerivativeError("ode_system: the Jacobian of the right-hand side has no derivatives");
}
inline void ode_system::second(const ode_point&, const double*, const double*, const ode_adjoints&) {
  throw DerivativeError("ode_system: the right-hand side has first derivatives only");
}

}  // namespace agrad
