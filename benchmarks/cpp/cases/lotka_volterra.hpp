// n steps of the classical Runge-Kutta method on the Lotka-Volterra equations: long chains of small statements.
//
//     u' = a u - b u v,  v' = d u v - c v;  x = (a, b, c, d, u(0), v(0)); the result is u + v after n steps.
#pragma once

#include <array>
#include <vector>

#include "case.hpp"

namespace bench {

class lotka_volterra {
 public:
  static constexpr const char *title = "Lotka-Volterra, n steps of RK4", *form = "loop";
  static constexpr long sizes[] = {10, 1000};
  static constexpr double step = 0.01;

  explicit lotka_volterra(long n) : n_(n) {}
  vector_of<double> start(int seed) const {
    vector_of<double> x(6);
    x << 1.0, 0.5, 1.2, 0.4 + 0.05 * seed, 1.5, 0.8;
    return x;
  }

  template <class T>
  T operator()(const vector_of<T>& x) const {
    T u = x[4], v = x[5];
    for (long i = 0; i < n_; ++i) {
      T du1, dv1, du2, dv2, du3, dv3, du4, dv4;
      slope<T>(x, u, v, du1, dv1);
      slope<T>(x, u + 0.5 * step * du1, v + 0.5 * step * dv1, du2, dv2);
      slope<T>(x, u + 0.5 * step * du2, v + 0.5 * step * dv2, du3, dv3);
      slope<T>(x, u + step * du3, v + step * dv3, du4, dv4);
      u += step / 6 * (du1 + 2.0 * (du2 + du3) + du4);
      v += step / 6 * (dv1 + 2.0 * (dv2 + dv3) + dv4);
    }
    return u + v;
  }

  /// Keeps the four states of each step, then goes back through the steps (discrete adjoint).
  double gradient(const vector_of<double>& x, vector_of<double>& g) const {
    stages_.resize(static_cast<std::size_t>(n_));
    double u = x[4], v = x[5];
    for (stages& s : stages_) {
      std::array<double, 4> du, dv;
      constexpr double reach[] = {0, 0.5 * step, 0.5 * step, step};
      for (int k = 0; k < 4; ++k) {
        s.u[k] = k == 0 ? u : u + reach[k] * du[k - 1];
        s.v[k] = k == 0 ? v : v + reach[k] * dv[k - 1];
        slope<double>(x, s.u[k], s.v[k], du[k], dv[k]);
      }
      u += step / 6 * (du[0] + 2.0 * (du[1] + du[2]) + du[3]);
      v += step / 6 * (dv[0] + 2.0 * (dv[1] + dv[2]) + dv[3]);
    }
    g.setZero();
    g[4] = g[5] = 1;
    for (std::size_t i = stages_.size(); i-- > 0;) reverse_step(x, stages_[i], g);
    return u + v;
  }

 private:
  struct stages {
    std::array<double, 4> u, v;
  };

  template <class T>
  static void slope(const vector_of<T>& x, const T& u, const T& v, T& du, T& dv) {
    const T meetings = u * v;
    du = x[0] * u - x[1] * meetings;
    dv = x[3] * meetings - x[2] * v;
  }

  /// g[4] and g[5] hold the adjoints of the state behind the step, and then of the state before it.
  static void reverse_step(const vector_of<double>& x, const stages& s, vector_of<double>& g) {
    constexpr double weight[] = {step / 6, step / 3, step / 3, step / 6}, reach[] = {0.5 * step, 0.5 * step, step, 0};
    const double u_behind = g[4], v_behind = g[5];
    double u_bar = 0, v_bar = 0;  // adjoints of the state of the stage that comes after this one
    for (int k = 3; k >= 0; --k) {
      const double u = s.u[k], v = s.v[k], meetings = u * v;
      const double du_bar = weight[k] * u_behind + reach[k] * u_bar, dv_bar = weight[k] * v_behind + reach[k] * v_bar;
      g[0] += du_bar * u;
      g[1] -= du_bar * meetings;
      g[2] -= dv_bar * v;
      g[3] += dv_bar * meetings;
      const double meetings_bar = dv_bar * x[3] - du_bar * x[1];
      u_bar = du_bar * x[0] + meetings_bar * v;
      v_bar = meetings_bar * u - dv_bar * x[2];
      g[4] += u_bar;
      g[5] += v_bar;
    }
  }

  long n_;
  mutable std::vector<stages> stages_;  // kept between calls, as a tape keeps its memory
};

}  // namespace bench
