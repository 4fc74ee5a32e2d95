// The functions of the benchmark table as templates of their scalar, small: what is fast must be right to every order.
#pragma once

#include <Eigen/Core>
#include <agrad/rules/array.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/eigen.hpp>
#include <cmath>
#include <string>

namespace benchmark_functions {

using agrad::matrix_of;
using agrad::vector_of;
using Eigen::Index;

struct neighbours {
  static constexpr const char* name = "sum of neighbours' products";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    T s = 0;
    for (Index i = 0; i + 1 < x.size(); ++i) s += x[i] * x[i + 1];
    return s;
  }
};

struct product {
  static constexpr const char* name = "product of all";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    T p = 1;
    for (Index i = 0; i < x.size(); ++i) p *= x[i];
    return p;
  }
};

struct exp_sin_log1p {
  static constexpr const char* name = "exp(sin x) log1p(x^2)";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::exp, std::log1p, std::sin;
    T s = 0;
    for (Index i = 0; i < x.size(); ++i) s += exp(sin(x[i])) * log1p(x[i] * x[i]);
    return s;
  }
};

struct log_sum_exp {
  static constexpr const char* name = "log-sum-exp";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::exp, std::log;
    T largest = x[0];
    for (Index i = 1; i < x.size(); ++i)
      if (x[i] > largest) largest = x[i];
    T s = 0;
    for (Index i = 0; i < x.size(); ++i) s += exp(x[i] - largest);
    return largest + log(s);
  }
};

struct normal_density {
  static constexpr const char* name = "normal log density";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::log;
    const T &mu = x[0], &sigma = x[1];
    T lp = 0;
    for (Index i = 2; i < x.size(); ++i) {
      const T z = (x[i] - mu) / sigma;
      lp -= 0.5 * z * z + log(sigma) + 0.918938533204672741780;
    }
    return lp;
  }
};

struct logistic_regression {
  static constexpr const char* name = "logistic regression";
  template <class T>
  T operator()(const vector_of<T>& beta) const {
    using std::exp, std::log1p;
    T lp = 0;
    for (int row = 0; row < 12; ++row) {
      T eta = 0;
      for (Index j = 0; j < beta.size(); ++j) eta += std::sin(1.7 * row + 0.9 * static_cast<double>(j)) * beta[j];
      lp -= row % 3 == 0 ? T(log1p(exp(-eta))) : T(log1p(exp(eta)));
    }
    return lp;
  }
};

struct matrix_product {
  static constexpr const char* name = "matrix product";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    const Index n = x.size() / 4;
    const Eigen::Map<const matrix_of<T>> a(x.data(), 2, n), b(x.data() + 2 * n, n, 2);
    const matrix_of<T> c = a * b;
    return c.squaredNorm() + c(0, 1);
  }
};

struct log_determinant {
  static constexpr const char* name = "log determinant by Cholesky";
  template <class T>
  T operator()(const vector_of<T>& x) const {
    using std::log, std::sqrt;
    matrix_of<T> l(3, 3);
    T sum = 0;
    for (Index j = 0; j < 3; ++j) {
      for (Index i = j; i < 3; ++i) {
        T s = x[i] * x[j] + x[(i + j) % x.size()] * 0.1 + (i == j ? 3.0 : 0.0);
        for (Index k = 0; k < j; ++k) s -= l(i, k) * l(j, k);
        l(i, j) = i == j ? T(sqrt(s)) : T(s / l(j, j));
      }
      sum += 2 * log(l(j, j));
    }
    return sum;
  }
};

struct lotka_volterra {
  static constexpr const char* name = "RK4 steps of Lotka-Volterra";
  template <class T>
  T operator()(const vector_of<T>& p) const {
    const auto slope = [&](const vector_of<T>& z) {
      vector_of<T> dz(2);
      dz[0] = (p[0] - p[1] * z[1]) * z[0];
      dz[1] = (p[2] * z[0] - p[3]) * z[1];
      return dz;
    };
    vector_of<T> z = p.segment(4, 2);
    const double h = 0.1;
    for (int step = 0; step < 5; ++step) {
      const vector_of<T> k1 = slope(z), k2 = slope(z + h / 2 * k1), k3 = slope(z + h / 2 * k2), k4 = slope(z + h * k3);
      z += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return z[0] * z[0] + z[1];
  }
};

/// Calls use(f) with every function.
template <class Use>
void for_each(const Use& use) {
  use(neighbours());
  use(product());
  use(exp_sin_log1p());
  use(log_sum_exp());
  use(normal_density());
  use(logistic_regression());
  use(matrix_product());
  use(log_determinant());
  use(lotka_volterra());
}

inline const Eigen::VectorXd point =
    (Eigen::VectorXd(12) << 0.7, 0.4, 1.3, 0.2, 0.9, 1.1, 0.6, 0.5, 1.2, 0.8, 0.3, 1.4).finished();

}  // namespace benchmark_functions
