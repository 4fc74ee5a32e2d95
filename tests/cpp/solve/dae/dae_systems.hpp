// Differential-algebraic residuals, templated on their scalars, that the tests of the DAE solver share.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <agrad/agrad.hpp>
#include <agrad/solve/dae_adjoint.hpp>
#include <agrad/solve/ode_adjoint.hpp>

namespace dae_systems {

using agrad::vector_of;

template <class Y, class P>
using result = vector_of<agrad::promoted_t<Y, std::decay_t<decltype(std::declval<const P&>()[0])>>>;

/// Room for n residuals of y and k.
template <class Y, class K>
result<typename Y::Scalar, K> room_for(int n, const Y&, const K&) {
  return result<typename Y::Scalar, K>(n);
}

/// y0' = -k0 y0 and 0 = y1 - k1 y0^2, with y0 = a exp(-k0 t).
struct square {
  template <class Y, class K>
  auto operator()(double, const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) const {
    result<Y, K> r(2);
    r[0] = yp[0] + k[0] * y[0];
    r[1] = y[1] - k[1] * y[0] * y[0];
    return r;
  }
};

/// (1 + y0^2) y0' = -k0 (y0 + y0^3 / 3), so that y0 + y0^3 / 3 decays as exp(-k0 t), and 0 = y1 + y0 y1^3 - k1.
struct heavy {
  template <class Y, class K>
  auto operator()(double, const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) const {
    result<Y, K> r(2);
    r[1] = (1.0 + y[0] * y[0]) * yp[0] + k[0] * (y[0] + y[0] * y[0] * y[0] / 3.0);
    r[0] = y[1] + y[0] * y[1] * y[1] * y[1] - k[1];
    return r;
  }
};

/// Two nodes with a capacitor c = p2 between them; the source s = p3 feeds one by the resistor p0, the other is earthed by p1.
/// v0 - v1 = s + (u0 - s) exp(-t / ((p0 + p1) c)).
struct capacitor {
  template <class Y, class P>
  auto operator()(double, const vector_of<Y>& v, const vector_of<Y>& vp, const P& p) const {
    result<Y, P> r(2);
    r[0] = p[2] * (vp[0] - vp[1]) + (v[0] - p[3]) / p[0];
    r[1] = p[2] * (vp[1] - vp[0]) + v[1] / p[1];
    return r;
  }
};

/// Robertson's kinetics with the conservation law in the place of the third equation.
struct robertson {
  template <class Y, class K>
  auto operator()(double, const vector_of<Y>& y, const vector_of<Y>& yp, const K& k) const {
    result<Y, K> r(3);
    r[0] = yp[0] + k[0] * y[0] - k[1] * y[1] * y[2];
    r[1] = yp[1] - k[0] * y[0] + k[1] * y[1] * y[2] + k[2] * y[1] * y[1];
    r[2] = y[0] + y[1] + y[2] - 1.0;
    return r;
  }
};

/// A pendulum (x, y, x', y', tension) of length p1 under gravity p0, with the length's constraint differentiated `times` times:
/// index 3, 2 or 1.
struct pendulum {
  int times = 2;
  template <class Y, class P>
  auto operator()(double, const vector_of<Y>& s, const vector_of<Y>& sp, const P& p) const {
    result<Y, P> r(5);
    r[0] = sp[0] - s[2];
    r[1] = sp[1] - s[3];
    r[2] = sp[2] + s[4] * s[0];
    r[3] = sp[3] + s[4] * s[1] + p[0];
    if (times == 0) r[4] = s[0] * s[0] + s[1] * s[1] - p[1] * p[1];
    if (times == 1) r[4] = s[0] * s[2] + s[1] * s[3] + 0.0 * p[1];
    if (times == 2) r[4] = s[2] * s[2] + s[3] * s[3] - p[0] * s[1] - s[4] * p[1] * p[1];
    return r;
  }
};

/// The transistor amplifier of the Bari and Amsterdam test set: eight nodes, five capacitors, of which three are between nodes.
struct transistor_amplifier {
  template <class Y, class P>
  auto operator()(double t, const vector_of<Y>& y, const vector_of<Y>& yp, const P& p) const {
    constexpr double ub = 6, alpha = 0.99, r0 = 1000, r = 9000, pi = 3.141592653589793;
    const auto g = [](const auto& x) { return (1e-6 * (exp(x / 0.026) - 1.0)); };
    const double ue = 0.1 * std::sin(200 * pi * t);
    const auto c = [&p](int k) { return p[0] * (1e-6 * k); };
    result<Y, P> f(8);
    f[0] = c(1) * (yp[1] - yp[0]) - (y[0] - ue) / r0;
    f[1] = c(1) * (yp[0] - yp[1]) + ub / r - y[1] * (2 / r) + (alpha - 1) * g(y[1] - y[2]);
    f[2] = -c(2) * yp[2] + g(y[1] - y[2]) - y[2] / r;
    f[3] = c(3) * (yp[4] - yp[3]) + (ub - y[3]) / r - alpha * g(y[1] - y[2]);
    f[4] = c(3) * (yp[3] - yp[4]) + ub / r - y[4] * (2 / r) + (alpha - 1) * g(y[4] - y[5]);
    f[5] = -c(4) * yp[5] + g(y[4] - y[5]) - y[5] / r;
    f[6] = c(5) * (yp[7] - yp[6]) + (ub - y[6]) / r - alpha * g(y[4] - y[5]);
    f[7] = c(5) * (yp[6] - yp[7]) - y[7] / r;
    return f;
  }
};

inline agrad::dae_options options(Eigen::Index states, double tolerance) {
  return agrad::dae_tolerance_options("dae", states, tolerance, tolerance, 100000);
}

template <class... X>
Eigen::VectorXd vec(X... x) {
  Eigen::VectorXd v(sizeof...(X));
  Eigen::Index i = 0;
  ((v[i++] = x), ...);
  return v;
}

/// A sum of all components at all times with coefficients no two of which are alike.
template <class Vector>
auto weighed_sum(const std::vector<Vector>& y) {
  std::decay_t<decltype(y[0][0])> sum = 0;
  for (std::size_t k = 0; k < y.size(); ++k)
    for (Eigen::Index i = 0; i < y[k].size(); ++i) {
      const double weight = std::cos(1.0 + 3.0 * static_cast<double>(k) + static_cast<double>(i));
      sum += weight * y[k][i] + 0.5 * weight * y[k][i] * y[k][i];
    }
  return sum;
}

/// The derivative of a function of one vector by central differences of fourth order.
template <class Function>
Eigen::VectorXd differences(const Function& f, const Eigen::VectorXd& at, double step) {
  Eigen::VectorXd gradient(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    const auto across = [&](double by) {
      Eigen::VectorXd up = at, down = at;
      up[i] += by, down[i] -= by;
      return f(up) - f(down);
    };
    gradient[i] = (8 * across(step) - across(2 * step)) / (12 * step);
  }
  return gradient;
}

inline Eigen::VectorXd adjoints(const vector_of<agrad::var>& x) {
  Eigen::VectorXd a(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) a[i] = x[i].adj();
  return a;
}

/// Gradients with respect to y0, y'0 and p of `weighed_sum`.
struct gradients {
  double value;
  Eigen::VectorXd y0, yp0, p;
};
template <class F>
gradients gradients_of(const agrad::dae_options& o, const F& f, const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0,
                       const std::vector<double>& times, const Eigen::VectorXd& p) {
  const agrad::scope own;
  const vector_of<agrad::var> y = y0.cast<agrad::var>(), yp = yp0.cast<agrad::var>(), q = p.cast<agrad::var>();
  agrad::var sum = weighed_sum(agrad::dae_solve(o, f, y, yp, 0.0, times, q));
  sum.grad();
  return {sum.val(), adjoints(y), adjoints(yp), adjoints(q)};
}
template <class F>
double value_of(const agrad::dae_options& o, const F& f, const Eigen::VectorXd& y0, const Eigen::VectorXd& yp0,
                const std::vector<double>& times, const Eigen::VectorXd& p) {
  return weighed_sum(agrad::dae_solve(o, f, y0, yp0, 0.0, times, p));
}

}  // namespace dae_systems
