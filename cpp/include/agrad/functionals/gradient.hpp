// Gradient, Jacobian and Hessian of callables that are templated on their scalar.
//
//     auto f = [](const auto& x) { return x[0] * x[1]; };
//     double fx; Eigen::VectorXd g;
//     agrad::gradient(f, x, fx, g);
//
// Each opens a scope of its own: the tape is afterwards as it was, also when f throws.
#pragma once

#include <Eigen/Core>

#include <agrad/dual/dual.hpp>
#include <agrad/rules/array.hpp>
#include <agrad/tape/eigen.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

namespace agrad {

/// Value and gradient of a scalar function of a vector.
///
/// f: callable with a vector of var, returns a var (or an expression of vars). x: length n. fx: the value. g: resized to n.
template <class F>
void gradient(const F& f, const Eigen::Ref<const Eigen::VectorXd>& x, double& fx, Eigen::VectorXd& g) {
  const scope own;
  const vector_of<var> variables = x.cast<var>();
  const var y = f(variables);
  fx = y.val();
  y.grad(variables, g);
}

/// Value and Jacobian of a vector function of a vector: one reverse sweep a row.
///
/// f: callable with a vector of var, returns a vector of var of length m. fx: resized to m. jacobian: resized to m x n.
template <class F>
void jacobian(const F& f, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::VectorXd& fx, Eigen::MatrixXd& jacobian) {
  const scope own;
  const vector_of<var> variables = x.cast<var>();
  const vector_of<var> y = f(variables);
  fx.resize(y.size());
  jacobian.resize(y.size(), x.size());
  Eigen::VectorXd row;
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    fx[i] = y[i].val();
    y[i].grad(variables, row);
    jacobian.row(i) = row;
  }
}

/// Value, gradient and Hessian of a scalar function: a dual number carries each direction through the tape.
///
/// f: callable with a vector of dual<var>, returns a dual<var>. hessian: resized to n x n; the lower triangle is computed
/// and mirrored, so that it is symmetric to the last bit.
template <class F>
void hessian(const F& f, const Eigen::Ref<const Eigen::VectorXd>& x, double& fx, Eigen::VectorXd& g, Eigen::MatrixXd& hessian) {
  const Eigen::Index n = x.size();
  g.resize(n);
  hessian.resize(n, n);
  if (n == 0) {
    const scope own;
    fx = dual<var>(f(vector_of<dual<var>>())).value.val();
  }
  for (Eigen::Index j = 0; j < n; ++j) {
    const scope own;
    const vector_of<var> variables = x.cast<var>();
    vector_of<dual<var>> duals = variables.template cast<dual<var>>();
    duals[j].tangent[0] = var(1.0);
    const dual<var> y = f(duals);
    fx = y.value.val();
    g[j] = y.tangent[0].val();
    y.tangent[0].grad();
    for (Eigen::Index i = j; i < n; ++i) hessian(i, j) = hessian(j, i) = variables[i].adj();
  }
}

}  // namespace agrad
