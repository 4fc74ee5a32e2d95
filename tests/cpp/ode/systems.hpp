// Hand-written systems that the tests of the CVODES engine share.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <agrad/solve/cvodes_adjoint.hpp>

namespace systems {

/// y' = -k y, with y = y0 exp(-k (t - t0)).
class decay : public agrad::ode_system {
 public:
  explicit decay(double rate) : k(rate) {}
  double k;
  Eigen::Index states() const override { return 1; }
  Eigen::Index parameters() const override { return 1; }
  void rhs(double, const double* y, double* dydt) override { dydt[0] = -k * y[0]; }
  void jacobian(double, const double*, Eigen::Ref<Eigen::MatrixXd> J) override { J(0, 0) = -k; }
  void vjp(double, const double* y, const double* lambda, double* y_adjoint, double* p_adjoint) override {
    if (y_adjoint != nullptr) y_adjoint[0] = -k * lambda[0];
    if (p_adjoint != nullptr) p_adjoint[0] = -y[0] * lambda[0];
  }
};

/// x'' = -w^2 x, without parameters to differentiate by.
class oscillator : public agrad::ode_system {
 public:
  explicit oscillator(double frequency) : w(frequency) {}
  double w;
  Eigen::Index states() const override { return 2; }
  Eigen::Index parameters() const override { return 0; }
  void rhs(double, const double* y, double* dydt) override { dydt[0] = y[1], dydt[1] = -w * w * y[0]; }
  void jacobian(double, const double*, Eigen::Ref<Eigen::MatrixXd> J) override { J << 0, 1, -w * w, 0; }
  void vjp(double, const double*, const double* lambda, double* y_adjoint, double*) override {
    if (y_adjoint != nullptr) y_adjoint[0] = -w * w * lambda[1], y_adjoint[1] = lambda[0];
  }
};

/// Lotka-Volterra: u' = (a - b v) u, v' = (-c + d u) v, with counters and places for faults.
class lotka_volterra : public agrad::ode_system {
 public:
  explicit lotka_volterra(Eigen::Vector4d rates) : p(std::move(rates)) {}
  Eigen::Vector4d p;
  double throw_in_rhs_after = std::numeric_limits<double>::infinity();
  double throw_in_vjp_before = -std::numeric_limits<double>::infinity();
  double throw_in_quadrature_before = -std::numeric_limits<double>::infinity();
  double nan_after = std::numeric_limits<double>::infinity();
  double nan_jacobian_after = std::numeric_limits<double>::infinity();
  double nan_in_vjp_before = -std::numeric_limits<double>::infinity();
  double latest = -std::numeric_limits<double>::infinity();
  long rhs_calls = 0;

  Eigen::Index states() const override { return 2; }
  Eigen::Index parameters() const override { return 4; }
  void rhs(double t, const double* y, double* dydt) override {
    ++rhs_calls;
    latest = std::max(latest, t);
    if (t > throw_in_rhs_after) throw std::domain_error("the rhs refuses");
    dydt[0] = (p[0] - p[1] * y[1]) * y[0];
    dydt[1] = (-p[2] + p[3] * y[0]) * y[1];
    if (t > nan_after) dydt[1] = std::numeric_limits<double>::quiet_NaN();
  }
  void jacobian(double t, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override {
    J << p[0] - p[1] * y[1], -p[1] * y[0], p[3] * y[1], -p[2] + p[3] * y[0];
    if (t > nan_jacobian_after) J(1, 0) = std::numeric_limits<double>::quiet_NaN();
  }
  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* p_adjoint) override {
    if (y_adjoint != nullptr) {
      if (t < throw_in_vjp_before) throw std::domain_error("the vjp refuses");
      y_adjoint[0] = (p[0] - p[1] * y[1]) * lambda[0] + p[3] * y[1] * lambda[1];
      y_adjoint[1] = -p[1] * y[0] * lambda[0] + (-p[2] + p[3] * y[0]) * lambda[1];
      if (t < nan_in_vjp_before) y_adjoint[0] = std::numeric_limits<double>::quiet_NaN();
    }
    if (p_adjoint != nullptr) {
      if (t < throw_in_quadrature_before) throw std::domain_error("the quadrature refuses");
      p_adjoint[0] = y[0] * lambda[0], p_adjoint[1] = -y[0] * y[1] * lambda[0];
      p_adjoint[2] = -y[1] * lambda[1], p_adjoint[3] = y[0] * y[1] * lambda[1];
    }
  }
};

/// Robertson's stiff kinetics with rates p.
class robertson : public agrad::ode_system {
 public:
  Eigen::Vector3d p{0.04, 1e4, 3e7};
  Eigen::Index states() const override { return 3; }
  Eigen::Index parameters() const override { return 3; }
  void rhs(double, const double* y, double* dydt) override {
    dydt[0] = -p[0] * y[0] + p[1] * y[1] * y[2];
    dydt[2] = p[2] * y[1] * y[1];
    dydt[1] = -dydt[0] - dydt[2];
  }
  void jacobian(double, const double* y, Eigen::Ref<Eigen::MatrixXd> J) override {
    J.row(0) << -p[0], p[1] * y[2], p[1] * y[1];
    J.row(2) << 0, 2 * p[2] * y[1], 0;
    J.row(1) = -J.row(0) - J.row(2);
  }
  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* p_adjoint) override {
    const Eigen::Map<const Eigen::Vector3d> l(lambda);
    if (y_adjoint != nullptr) {
      Eigen::MatrixXd J(3, 3);
      jacobian(t, y, J);
      Eigen::Map<Eigen::Vector3d>(y_adjoint, 3) = J.transpose() * l;
    }
    if (p_adjoint != nullptr) {
      p_adjoint[0] = y[0] * (l[1] - l[0]);
      p_adjoint[1] = y[1] * y[2] * (l[0] - l[1]);
      p_adjoint[2] = y[1] * y[1] * (l[2] - l[1]);
    }
  }
};

inline agrad::ode_adjoint_options options(Eigen::Index states, double tolerance) {
  agrad::ode_adjoint_options o;
  o.relative_tolerance_forward = o.relative_tolerance_backward = o.relative_tolerance_quadrature = tolerance;
  o.absolute_tolerance_forward = Eigen::VectorXd::Constant(states, tolerance);
  o.absolute_tolerance_backward = Eigen::VectorXd::Constant(states, tolerance);
  o.absolute_tolerance_quadrature = tolerance;
  o.max_num_steps = 100000;
  return o;
}

inline std::vector<double> steps_of(double step, int count) {
  std::vector<double> times;
  for (int k = 1; k <= count; ++k) times.push_back(step * k);
  return times;
}

inline constexpr agrad::ode_wanted everything{true, true, true};

}  // namespace systems
