// Products: derivatives along one direction, at the cost of one or two passes for any number of inputs.
//
//     jvp, gradient_dot_vector, partial_derivative      forward mode, nothing is recorded
//     vjp                                               reverse mode, one recording and one reverse pass
//     hessian_times_vector                              forward over reverse, one recording and one reverse pass
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <utility>

#include <agrad/base/check.hpp>
#include <agrad/dual/dual.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/functionals/independent.hpp>

namespace agrad {

namespace detail {

template <class V>
void check_direction(std::string_view function, std::string_view name, const Eigen::MatrixBase<V>& v, Eigen::Index n,
                     std::string_view what) {
  static_assert(V::IsVectorAtCompileTime, "a direction must be a vector");
  check_size(function, name, static_cast<std::size_t>(v.size()), static_cast<std::size_t>(n), what);
}

/// Returns x + v e, where e^2 = 0: there f is its value and its derivative along v. The caller keeps the result until f's is
/// converted, because f may return an expression of Eigen's that refers to its argument.
template <class F, class X, class V>
argument_t<F, X, dual<double>> along(const Eigen::MatrixBase<X>& x, const V& v) {
  auto at = constants<F, dual<double>>(x);
  for (Eigen::Index i = 0; i < at.size(); ++i) at[i].tangent[0] = v.derived().coeff(i);
  return at;
}

}  // namespace detail

/// Computes the value of a vector function and its derivative along one direction, J v, by forward mode.
///
/// f: callable with a column vector of dual<double>, returns a vector of length m. x, v: of length n. fx: resized to m.
/// product: J v, resized to m. Throws ShapeError if v is not as long as x.
template <class F, class X, class V, class Fx, class P>
void jvp(F&& f, const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<V>& v, Eigen::PlainObjectBase<Fx>& fx,
         Eigen::PlainObjectBase<P>& product) {
  detail::check_direction("jvp", "v", v, x.size(), "the length of x");
  const auto at = detail::along<F>(x, v);
  const vector_of<dual<double>> y = detail::as_vector<dual<double>>("jvp", f(at));
  detail::resize("jvp", "fx", fx, y.size());
  detail::resize("jvp", "Jv", product, y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    fx[i] = y[i].value;
    product[i] = y[i].tangent[0];
  }
}

/// Computes the value of a vector function and w'J, with a weight for each result, by one reverse pass.
///
/// f: callable with a column vector of var, returns a vector of length m. x: of length n. w: of length m. fx: resized to m. wJ:
/// resized to n. Throws ShapeError if w is not as long as f(x).
template <class F, class X, class W, class Fx, class WJ>
void vjp(F&& f, const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<W>& w, Eigen::PlainObjectBase<Fx>& fx,
         Eigen::PlainObjectBase<WJ>& wJ) {
  static_assert(detail::accepts<F, X, var>, "f cannot be called with an Eigen column vector of agrad::var");
  const isolated_scope own;
  const detail::independent<detail::argument_t<F, X, var>> at(detail::point(x));
  const vector_of<var> y = detail::as_vector<var>("vjp", f(at.variables));
  detail::check_direction("vjp", "w", w, y.size(), "the length of f(x)");
  const Eigen::VectorXd seeds = detail::point(w);  // w may be the same vector as fx or wJ
  detail::resize("vjp", "fx", fx, y.size());
  detail::resize("vjp", "wJ", wJ, at.variables.size());
  var sum;
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    fx[i] = y[i].val();
    sum += seeds[i] * y[i];
  }
  detail::tape_access::reverse_from(sum);
  wJ = at.adjoints();
}

/// Computes the value of a scalar function and its derivative along one direction, g'v, by forward mode.
///
/// f: callable with a column vector of dual<double>, returns a dual<double> or a number. x, v: of length n. Throws ShapeError
/// if v is not as long as x.
template <class F, class X, class V>
void gradient_dot_vector(F&& f, const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<V>& v, double& fx, double& gv) {
  detail::check_direction("gradient_dot_vector", "v", v, x.size(), "the length of x");
  const auto at = detail::along<F>(x, v);
  const auto y = detail::as_scalar<dual<double>>(f(at));
  fx = y.value;
  gv = y.tangent[0];
}

/// Computes the value of a scalar function and its derivative with respect to x[i], by forward mode.
///
/// f: callable with a column vector of dual<double>, returns a dual<double> or a number. i counts from 0. Throws
/// std::out_of_range.
template <class F, class X>
void partial_derivative(F&& f, const Eigen::MatrixBase<X>& x, Eigen::Index i, double& fx, double& dfx) {
  if (AGRAD_UNLIKELY(i < 0 || i >= x.size()))
    throw std::out_of_range(
        detail::sentence("partial_derivative", "i", -1, i, "an index of x, from 0 to " + std::to_string(x.size() - 1)));
  gradient_dot_vector(f, x, Eigen::VectorXd::Unit(x.size(), i), fx, dfx);
}

/// Computes the value of a scalar function and the product of its Hessian with a vector by one recording and one reverse pass,
/// without the Hessian.
///
/// f: callable with a column vector of dual<var>, returns a dual<var> or a number. x, v: of length n. fx: the value. product: H
/// v, resized to n. Throws ShapeError if v is not as long as x. Source: Pearlmutter 1994, "Fast exact multiplication by the
/// Hessian".
template <class F, class X, class V, class P>
void hessian_times_vector(F&& f, const Eigen::MatrixBase<X>& x, const Eigen::MatrixBase<V>& v, double& fx,
                          Eigen::PlainObjectBase<P>& product) {
  detail::check_direction("hessian_times_vector", "v", v, x.size(), "the length of x");
  const isolated_scope own;
  const detail::independent<vector_of<var>> leaves(detail::point(x));
  auto duals = detail::duals_of<F, X, dual<var>>(leaves.variables);
  for (Eigen::Index i = 0; i < duals.size(); ++i)
    if (v.derived().coeff(i) != 0) duals[i].tangent[0] = detail::constant_var(v.derived().coeff(i));
  const auto y = detail::as_scalar<dual<var>>(f(std::as_const(duals)));
  detail::tape_access::reverse_from(y.tangent[0]);
  detail::resize("hessian_times_vector", "Hv", product, leaves.variables.size());
  fx = y.value.val();
  product = leaves.adjoints();
}

}  // namespace agrad
