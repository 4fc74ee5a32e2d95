// Hand-written systems and a reference gradient that the tests of the CVODES engine share.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <agrad/solve/cvodes/adjoint.hpp>

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
  o.forward.relative = o.backward.relative = o.quadrature.relative = tolerance;
  o.forward.absolute = Eigen::VectorXd::Constant(states, tolerance);
  o.backward.absolute = Eigen::VectorXd::Constant(states, tolerance);
  o.quadrature.absolute = Eigen::VectorXd::Constant(1, tolerance);
  o.max_num_steps = 100000;
  return o;
}

inline std::vector<double> steps_of(double step, int count) {
  std::vector<double> times;
  for (int k = 1; k <= count; ++k) times.push_back(step * k);
  return times;
}

inline constexpr agrad::ode_required everything{true, true, true};

inline const Eigen::Vector4d rates(0.55, 0.028, 0.84, 0.026);
inline const Eigen::Vector2d pelts(33.956, 5.933);

// Observations and gradient (rates, then initial state) of a sum of squares: forward sensitivities at rtol 1e-12.
inline constexpr std::array<double, 40> observed{
    48.807285126605308, 4.7836388559887162, 61.728520947373717, 15.179459075705159, 56.6318483717547,   32.618174238679465,
    33.529040249409647, 48.111592527464879, 17.332445937505859, 32.28199400795183,  15.362184333622871, 19.337190464628961,
    17.497608364275546, 10.065195604600099, 11.279439009086744, 7.450228225086815,  27.770788618210752, 6.2837254703877621,
    39.606401206794217, 5.4271741215147317, 53.6908410429226,   9.3829349688032675, 63.874511826690082, 15.522118937090303,
    46.561068395575084, 37.245167740851379, 25.879280922214548, 48.535741381780909, 18.61043707396389,  30.13577413216013,
    10.960193506799252, 21.317482436206674, 13.891123894472843, 7.986029839876049,  13.646503815994929, 9.9047803436036546,
    22.542314316399352, 8.7254586587077831, 39.658845836786192, 2.8979245050617504};
inline constexpr double reference_loss = 401.52249329942384;
inline constexpr std::array<double, 6> reference_gradient{-9403.4012495278839, -73834.867961281692, -4457.3158303816126,
                                                          -174843.54687025549, -95.632925885538228, -261.35453914212889};

inline Eigen::MatrixXd residuals(const Eigen::MatrixXd& states) {
  return states - Eigen::Map<const Eigen::MatrixXd>(observed.data(), 2, 20);
}

inline double largest_relative_difference(const agrad::ode_gradient& g) {
  double largest = 0;
  for (int i = 0; i < 6; ++i) {
    const double value = i < 4 ? g.parameters[i] : g.initial_state[i - 4];
    const double reference = reference_gradient[static_cast<std::size_t>(i)];
    largest = std::max(largest, std::abs(value / reference - 1));
  }
  return largest;
}

/// What an exception says, for comparison with the whole sentence.
inline std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// Bit for bit.
inline void check_same(const agrad::ode_gradient& a, const agrad::ode_gradient& b) {
  CHECK(a.parameters == b.parameters);
  CHECK(a.initial_state == b.initial_state);
  CHECK(a.initial_time == b.initial_time);
  CHECK(a.times == b.times);
}

}  // namespace systems
