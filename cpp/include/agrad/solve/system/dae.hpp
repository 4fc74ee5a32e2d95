// DAE system: the interface of a residual F(t, y, y'; p) = 0 for solvers.
//
// F has as many equations as there are states. It is a recorded program (solve/system/program/dae.hpp), a C++ functor
// (solve/system/functor/dae.hpp) or written by hand. p holds only the active parameters.
// Read next: solve/dae/splitting.hpp, which finds the differential states; solve/dae/solver.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <optional>
#include <vector>

namespace agrad {

/// A point at which F is evaluated, with n states and n derivatives.
struct dae_point {
  double t;
  const double *y, *yp;
};

/// Destinations of adjoints, each of its own length; null if not wanted.
struct dae_adjoints {
  double *t = nullptr, *y = nullptr, *yp = nullptr, *parameters = nullptr;
};

/// `width` directions side by side (1 or 8): entry i in direction k is number i * width + k. Null: zero.
struct dae_directions {
  int width = 1;
  const double *t = nullptr, *y = nullptr, *yp = nullptr, *parameters = nullptr;
};

/// A system of differential-algebraic equations. Exceptions of its members pass through the solver unchanged.
class dae_system {
 public:
  virtual ~dae_system() = default;

  /// Returns the length n of y and number of equations.
  virtual Eigen::Index states() const = 0;

  /// Returns the length m of p.
  virtual Eigen::Index parameters() const = 0;

  /// Sets all parameters, active or not. By default nothing: the system has the parameters' values from its construction.
  virtual void set_parameters(const double* /*p*/) {}

  /// Computes r = F, n entries.
  virtual void residual(const dae_point& at, double* r) = 0;

  /// Computes J = of_y dF/dy + of_yp dF/dy', n by n; writes every entry.
  virtual void jacobian(const dae_point& at, double of_y, double of_yp, Eigen::Ref<Eigen::MatrixXd> J) = 0;

  /// Computes lambda^T times the derivatives of F.
  virtual void vjp(const dae_point& at, const double* lambda, const dae_adjoints& to) = 0;

  /// Computes the tangents of F along directions, n * width entries. By default: from Jacobians and products with unit
  /// adjoints.
  inline virtual void tangent(const dae_point& at, const dae_directions& along, double* r);

  /// Returns whether `vjp` and `tangent` have derivatives with respect to t.
  virtual bool knows_time() const { return true; }

  /// Returns which entries of y' F depends on, as far as the system knows; without a value, dF/dy' must show this.
  virtual std::optional<std::vector<bool>> known_derivatives() { return std::nullopt; }

  /// Writes the active parameters, m entries, whose sizes scale the error control of sensitivities.
  virtual void parameter_values(double* p) const { std::fill_n(p, parameters(), 1.0); }
};

inline void dae_system::tangent(const dae_point& at, const dae_directions& along, double* r) {
  using across = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  const Eigen::Index n = states(), m = parameters();
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> to(r, n, along.width);
  to.setZero();
  Eigen::MatrixXd J(n, n);
  if (along.y != nullptr) jacobian(at, 1, 0, J), to += J * across(along.y, n, along.width);
  if (along.yp != nullptr) jacobian(at, 0, 1, J), to += J * across(along.yp, n, along.width);
  if (along.t == nullptr && (along.parameters == nullptr || m == 0)) return;
  Eigen::VectorXd lambda = Eigen::VectorXd::Zero(n);
  Eigen::RowVectorXd by_parameters(m);
  for (Eigen::Index i = 0; i < n; ++i) {
    double by_time = 0;
    lambda[i] = 1;
    vjp(at, lambda.data(), {along.t != nullptr ? &by_time : nullptr, nullptr, nullptr, by_parameters.data()});
    lambda[i] = 0;
    if (along.t != nullptr) to.row(i) += by_time * across(along.t, 1, along.width);
    if (along.parameters != nullptr && m > 0) to.row(i) += by_parameters * across(along.parameters, m, along.width);
  }
}

}  // namespace agrad
