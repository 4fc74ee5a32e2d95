// The problems of the benchmark of differential equations: right-hand sides for any scalar, and their derivatives by hand.
//
// Each has n states and m parameters, and the loss is sum_k sum_i (s_i (y_i(t_k) - d_ki))^2 with t0 = 0. Numbers come from a
// text file that benchmarks/python/ode/problems.py writes: "n m with_initial_state times 0", p, y0, s, t, d. `kernel`,
// `adjoint` and `jacobian` are what somebody writes for CVODES; agrad calls operator() alone.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <agrad/rules/promote.hpp>

namespace ode_bench {

template <class T>
using vector_of = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class Y, class P, int Size = Eigen::Dynamic>
using slope_of = Eigen::Matrix<agrad::promoted_t<typename Y::Scalar, typename P::Scalar>, Size, 1>;

struct problem {
  std::string name;
  Eigen::Index states = 0, parameters = 0;
  bool with_initial_state = false;
  Eigen::VectorXd p, y0, scale;
  std::vector<double> times;
  Eigen::MatrixXd data;  // a column each time

  bool robertson() const { return name == "P2"; }
  double absolute_tolerance(double relative) const { return robertson() ? 1e-14 : relative; }
};

inline problem read_problem(const std::string& directory, const std::string& name) {
  std::ifstream file(directory + "/" + name + ".txt");
  problem q;
  q.name = name;
  std::size_t times = 0, unused = 0;
  if (!(file >> q.states >> q.parameters >> q.with_initial_state >> times >> unused))
    throw std::runtime_error("no problem " + name + " in " + directory);
  const auto read = [&](double* to, Eigen::Index size) {
    for (Eigen::Index i = 0; i < size; ++i) file >> to[i];
  };
  q.p.resize(q.parameters), q.y0.resize(q.states), q.scale.resize(q.states), q.times.resize(times);
  q.data.resize(q.states, static_cast<Eigen::Index>(times));
  read(q.p.data(), q.parameters), read(q.y0.data(), q.states), read(q.scale.data(), q.states);
  read(q.times.data(), static_cast<Eigen::Index>(times)), read(q.data.data(), q.data.size());
  if (!file) throw std::runtime_error(name + " ends early");
  return q;
}

/// Half-bandwidth of df/dy, of 0 dense.
struct lotka_volterra {
  static constexpr int bandwidth = 0;

  template <class T, class Y, class P>
  slope_of<Y, P, 2> operator()(const T&, const Y& y, const P& p) const {
    slope_of<Y, P, 2> f;
    f[0] = (p[0] - p[1] * y[1]) * y[0];
    f[1] = (p[3] * y[0] - p[2]) * y[1];
    return f;
  }

  void kernel(const double* y, const double* p, double* f) const {
    f[0] = (p[0] - p[1] * y[1]) * y[0];
    f[1] = (p[3] * y[0] - p[2]) * y[1];
  }
  void adjoint(const double* y, const double* p, const double* l, double* g) const {
    g[0] = (p[0] - p[1] * y[1]) * l[0] + p[3] * y[1] * l[1];
    g[1] = (p[3] * y[0] - p[2]) * l[1] - p[1] * y[0] * l[0];
  }
  void parameters(const double* y, const double*, const double* l, double* g) const {
    g[0] = y[0] * l[0], g[1] = -y[0] * y[1] * l[0], g[2] = -y[1] * l[1], g[3] = y[0] * y[1] * l[1];
  }
  template <class Put>
  void jacobian(const double* y, const double* p, const Put& put) const {
    put(0, 0, p[0] - p[1] * y[1]), put(0, 1, -p[1] * y[0]), put(1, 0, p[3] * y[1]), put(1, 1, p[3] * y[0] - p[2]);
  }
};

/// Robertson's kinetics; parameters are logarithms of the rates.
struct robertson {
  static constexpr int bandwidth = 0;

  template <class T, class Y, class P>
  slope_of<Y, P, 3> operator()(const T&, const Y& y, const P& p) const {
    using std::exp;
    slope_of<Y, P, 3> f;
    f[0] = exp(p[1]) * y[1] * y[2] - exp(p[0]) * y[0];
    f[2] = exp(p[2]) * y[1] * y[1];
    f[1] = -f[0] - f[2];
    return f;
  }

  void kernel(const double* y, const double* p, double* f) const {
    f[0] = std::exp(p[1]) * y[1] * y[2] - std::exp(p[0]) * y[0];
    f[2] = std::exp(p[2]) * y[1] * y[1];
    f[1] = -f[0] - f[2];
  }
  void adjoint(const double* y, const double* p, const double* l, double* g) const {
    const double k0 = std::exp(p[0]), k1 = std::exp(p[1]), k2 = std::exp(p[2]);
    g[0] = k0 * (l[1] - l[0]);
    g[1] = k1 * y[2] * (l[0] - l[1]) + 2 * k2 * y[1] * (l[2] - l[1]);
    g[2] = k1 * y[1] * (l[0] - l[1]);
  }
  void parameters(const double* y, const double* p, const double* l, double* g) const {
    g[0] = std::exp(p[0]) * y[0] * (l[1] - l[0]);
    g[1] = std::exp(p[1]) * y[1] * y[2] * (l[0] - l[1]);
    g[2] = std::exp(p[2]) * y[1] * y[1] * (l[2] - l[1]);
  }
  template <class Put>
  void jacobian(const double* y, const double* p, const Put& put) const {
    const double k0 = std::exp(p[0]), k1 = std::exp(p[1]), k2 = std::exp(p[2]);
    put(0, 0, -k0), put(0, 1, k1 * y[2]), put(0, 2, k1 * y[1]);
    put(1, 0, k0), put(1, 1, -k1 * y[2] - 2 * k2 * y[1]), put(1, 2, -k1 * y[1]), put(2, 1, 2 * k2 * y[1]);
  }
};

/// Linear chain: each state feeds the next, with a rate of its own.
struct chain {
  static constexpr int bandwidth = 1;

  template <class T, class Y, class P>
  slope_of<Y, P> operator()(const T&, const Y& y, const P& p) const {
    const Eigen::Index n = y.size();
    slope_of<Y, P> f = -(p.array() * y.array()).matrix();
    for (Eigen::Index i = 1; i < n; ++i) f[i] += p[i - 1] * y[i - 1];
    return f;
  }

  Eigen::Index n;
  void kernel(const double* y, const double* p, double* f) const {
    double before = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double out = p[i] * y[i];
      f[i] = before - out;
      before = out;
    }
  }
  void adjoint(const double*, const double* p, const double* l, double* g) const {
    for (Eigen::Index i = 0; i + 1 < n; ++i) g[i] = p[i] * (l[i + 1] - l[i]);
    g[n - 1] = -p[n - 1] * l[n - 1];
  }
  void parameters(const double* y, const double*, const double* l, double* g) const {
    for (Eigen::Index i = 0; i + 1 < n; ++i) g[i] = y[i] * (l[i + 1] - l[i]);
    g[n - 1] = -y[n - 1] * l[n - 1];
  }
  template <class Put>
  void jacobian(const double*, const double* p, const Put& put) const {
    for (Eigen::Index i = 0; i < n; ++i) {
      put(i, i, -p[i]);
      if (i + 1 < n) put(i + 1, i, p[i]);
    }
  }
};

/// Brusselator on a line: u and v of a cell beside each other, diffusion to the neighbours, a parameter b for each cell.
struct brusselator {
  static constexpr int bandwidth = 2;

  Eigen::Index cells;
  double diffusion() const { return 0.02 * static_cast<double>((cells + 1) * (cells + 1)); }

  template <class T, class Y, class P>
  slope_of<Y, P> operator()(const T&, const Y& y, const P& p) const {
    using state = typename Y::Scalar;
    const double d = diffusion();
    slope_of<Y, P> f(2 * cells);
    for (Eigen::Index i = 0; i < cells; ++i) {
      const state &u = y[2 * i], &v = y[2 * i + 1];
      const state uuv = u * u * v;
      const state u0 = i > 0 ? y[2 * i - 2] : state(1), u1 = i + 1 < cells ? y[2 * i + 2] : state(1);
      const state v0 = i > 0 ? y[2 * i - 1] : state(3), v1 = i + 1 < cells ? y[2 * i + 3] : state(3);
      f[2 * i] = 1 + uuv - (p[i] + 1) * u + d * (u0 - 2 * u + u1);
      f[2 * i + 1] = p[i] * u - uuv + d * (v0 - 2 * v + v1);
    }
    return f;
  }

  void kernel(const double* y, const double* p, double* f) const {
    const double d = diffusion();
    for (Eigen::Index i = 0; i < cells; ++i) {
      const double u = y[2 * i], v = y[2 * i + 1], uuv = u * u * v;
      const bool first = i == 0, last = i + 1 == cells;
      f[2 * i] = 1 + uuv - (p[i] + 1) * u + d * ((first ? 1 : y[2 * i - 2]) - 2 * u + (last ? 1 : y[2 * i + 2]));
      f[2 * i + 1] = p[i] * u - uuv + d * ((first ? 3 : y[2 * i - 1]) - 2 * v + (last ? 3 : y[2 * i + 3]));
    }
  }
  void adjoint(const double* y, const double* p, const double* l, double* g) const {
    const double d = diffusion();
    for (Eigen::Index i = 0; i < cells; ++i) {
      const double u = y[2 * i], v = y[2 * i + 1], a = l[2 * i], b = l[2 * i + 1];
      const bool first = i == 0, last = i + 1 == cells;
      g[2 * i] = (2 * u * v) * (a - b) - (p[i] + 1) * a + p[i] * b +
                 d * ((first ? 0 : l[2 * i - 2]) - 2 * a + (last ? 0 : l[2 * i + 2]));
      g[2 * i + 1] = u * u * (a - b) + d * ((first ? 0 : l[2 * i - 1]) - 2 * b + (last ? 0 : l[2 * i + 3]));
    }
  }
  void parameters(const double* y, const double*, const double* l, double* g) const {
    for (Eigen::Index i = 0; i < cells; ++i) g[i] = y[2 * i] * (l[2 * i + 1] - l[2 * i]);
  }
  template <class Put>
  void jacobian(const double* y, const double* p, const Put& put) const {
    const double d = diffusion();
    const Eigen::Index n = 2 * cells;
    for (Eigen::Index i = 0; i < n; i += 2) {
      const double u = y[i], v = y[i + 1];
      put(i, i, 2 * u * v - (p[i / 2] + 1) - 2 * d), put(i, i + 1, u * u);
      put(i + 1, i, p[i / 2] - 2 * u * v), put(i + 1, i + 1, -u * u - 2 * d);
      for (const Eigen::Index of : {i, i + 1}) {
        if (of >= 2) put(of, of - 2, d);
        if (of + 2 < n) put(of, of + 2, d);
      }
    }
  }
};

/// Calls `use` with the problem's right-hand side.
template <class Use>
auto with_system(const problem& q, const Use& use) {
  if (q.name == "P1") return use(lotka_volterra{});
  if (q.name == "P2") return use(robertson{});
  if (q.name.rfind("P3_", 0) == 0) return use(chain{q.states});
  return use(brusselator{q.states / 2});
}

}  // namespace ode_bench
