// Probe: one function of matrices tested with every engine.
//
// `f` is templated on its scalar: it takes a matrix of T and returns a matrix of T of any shape. The probe weighs the result's
// entries into a scalar, and compares: the tape's gradient with the duals' directional derivative to rounding, with central
// differences, its repetition with itself; the second derivatives (a dual over the tape, a dual over a dual) with each other
// and with differences of gradients.
#pragma once

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <agrad/dual/matrix.hpp>
#include <agrad/tape/matrix/linalg.hpp>
#include <agrad/tape/scope.hpp>
#include <cmath>

#include "finite_differences.hpp"

namespace linalg_probe {

using agrad::dual;
using agrad::var;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
template <class T>
using Mat = Eigen::Matrix<T, -1, -1>;

inline MatrixXd numbers(Index rows, Index cols, double shift = 0.1) {
  MatrixXd x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x(i) = std::sin(1.7 * static_cast<double>(i * i) + shift);
  return x;
}
/// Positive definite with condition number well below 100.
inline MatrixXd spd(Index n, double shift = 0.3) {
  const MatrixXd x = numbers(n, n, shift);
  return x * x.transpose() / static_cast<double>(n + 1) + MatrixXd::Identity(n, n);
}
inline MatrixXd regular(Index n, double shift = 0.7) {
  return numbers(n, n, shift) + std::sqrt(static_cast<double>(n)) * MatrixXd::Identity(n, n);
}
inline double distance(const MatrixXd& a, const MatrixXd& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff() / (1 + b.cwiseAbs().maxCoeff());
}

/// The sum of the result's entries with fixed weights.
template <class T, int C>
T weighed(const Eigen::Matrix<T, -1, C>& y) {
  const MatrixXd w = numbers(y.rows(), y.cols(), 2.1);
  T sum(0.0);
  for (Index i = 0; i < y.size(); ++i) sum += y.data()[i] * w.data()[i];
  return sum;
}
template <class T>
T weighed(const T& y) {
  return y;
}

template <class F>
MatrixXd gradient(const F& f, const MatrixXd& a) {
  const agrad::scope own;
  const Mat<var> va = a.cast<var>();
  const var y = weighed(f(va));
  const var copy = y * 1.0;
  copy.grad();
  MatrixXd g(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) g.data()[i] = va.data()[i].adj();
  copy.grad();  // a second reverse pass gives the same
  for (Index i = 0; i < a.size(); ++i) CHECK(g.data()[i] == va.data()[i].adj());
  return g;
}

template <class T>
Mat<dual<T>> along(const Mat<T>& a, const MatrixXd& direction) {
  Mat<dual<T>> d(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) d.data()[i] = dual<T>(a.data()[i], {T(direction.data()[i])});
  return d;
}

struct tolerances {
  double dot = 1e-12, difference = 1e-7, second = 1e-6, step = 1e-3;
};

template <class F>
void check_first(const F& f, const MatrixXd& a, const tolerances& tol = {}) {
  const MatrixXd g = gradient(f, a), direction = numbers(a.rows(), a.cols(), 5.5);
  const dual<double> y = weighed(f(along<double>(a, direction)));
  const double scale = 1 + g.cwiseAbs().sum();
  CHECK(std::abs(y.tangent[0] - g.cwiseProduct(direction).sum()) <= tol.dot * scale);
  const auto on_line = [&](const VectorXd& t) { return weighed(f(Mat<double>(a + t[0] * direction))); };
  CHECK(std::abs(y.value - on_line(VectorXd::Zero(1))) <= 1e-13 * (1 + std::abs(y.value)));
  if (a.size() > 0)
    CHECK(std::abs(finite_differences::gradient(on_line, VectorXd::Zero(1), tol.step)[0] - y.tangent[0]) <=
          tol.difference * scale);
}

template <class F>
void check_second(const F& f, const MatrixXd& a, const tolerances& tol = {}) {
  const MatrixXd direction = numbers(a.rows(), a.cols(), 5.5), other = numbers(a.rows(), a.cols(), 6.5);
  MatrixXd hv(a.rows(), a.cols());
  {
    const agrad::scope own;
    const Mat<var> va = a.cast<var>();
    const dual<var> y = weighed(f(along<var>(va, direction)));
    var(y.tangent[0] * 1.0).grad();
    for (Index i = 0; i < a.size(); ++i) hv.data()[i] = va.data()[i].adj();
  }
  const auto gradient_along = [&](const VectorXd& t) {
    const MatrixXd g = gradient(f, a + t[0] * direction);
    return VectorXd(Eigen::Map<const VectorXd>(g.data(), g.size()));
  };
  const double scale = 1 + hv.cwiseAbs().sum();
  if (a.size() > 0 && a.size() <= 36) {
    const MatrixXd reference = finite_differences::jacobian(gradient_along, VectorXd::Zero(1), tol.step);
    CHECK((Eigen::Map<const MatrixXd>(reference.data(), a.rows(), a.cols()) - hv).cwiseAbs().maxCoeff() <= tol.second * scale);
  }
  const Mat<dual<dual<double>>> dd = along<dual<double>>(along<double>(a, other), direction);
  const dual<dual<double>> y = weighed(f(dd));
  CHECK(std::abs(y.tangent[0].tangent[0] - hv.cwiseProduct(other).sum()) <= 10 * tol.dot * scale);
}

template <class F>
void check_derivatives(const F& f, const MatrixXd& a, const tolerances& tol = {}) {
  check_first(f, a, tol);
  check_second(f, a, tol);
}

}  // namespace linalg_probe
