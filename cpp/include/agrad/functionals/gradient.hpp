// Gradient: value and gradient of a scalar function of a vector, by one reverse pass.
//
//     auto f = [](const auto& x) { return x[0] * x[1]; };
//     double fx; Eigen::VectorXd g;
//     agrad::gradient(f, x, fx, g);
//
// Every functional opens a scope of its own: afterwards the tape is as before, even if f throws, and outputs are then
// unchanged. This header includes `jacobian` and `hessian`.
// Read next: functionals/jacobian.hpp, hessian.hpp, products.hpp; functionals/callable.hpp, which describes f.
#pragma once

#include <Eigen/Core>

#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/hessian.hpp>
#include <agrad/functionals/independent.hpp>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/tape/scope.hpp>
#include <agrad/tape/var.hpp>

namespace agrad {

/// Computes the value and the gradient of a scalar function of a vector.
///
/// f: callable with a column vector of var, returns a var, an expression of vars or a number. x: vector of length n (a fixed
/// size is passed to f). fx: the value. g: resized to n. Throws the exceptions of f. f may use variables that it captures; g
/// does not contain derivatives with respect to these.
template <class F, class X, class G>
void gradient(F&& f, const Eigen::MatrixBase<X>& x, double& fx, Eigen::PlainObjectBase<G>& g) {
  static_assert(detail::accepts<F, X, var>, "f cannot be called with an Eigen column vector of agrad::var");
  const isolated_scope own;
  const detail::independent<detail::argument_t<F, X, var>> at(detail::point(x));
  const var y = detail::as_scalar<var>(f(at.variables));
  detail::tape_access::reverse_from(y);
  detail::resize("gradient", "g", g, at.variables.size());
  fx = y.val();
  g = at.adjoints();
}

}  // namespace agrad
