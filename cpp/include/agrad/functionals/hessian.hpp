// Hessian: second and third derivatives of a scalar function, by duals whose parts are variables of the tape.
//
// A dual propagates a few directions through one recording; a reverse pass from each tangent gives a column of the Hessian.
// Reverse passes of several lanes gain nothing here: tangents have different statements, and a reverse pass skips the
// statements of other tangents. Only one triangle is stored and mirrored, so that the result is symmetric to the last bit.
// `hessian_times_vector` (functionals/products.hpp) needs one reverse pass for any n.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/independent.hpp>

namespace agrad {

namespace detail {

/// Columns of a Hessian per recording: by measurement, 6 to 16 differ by less than a tenth, 1 takes twice to three times as
/// long.
inline constexpr int hessian_lanes = 8;

/// Returns a number on the tape that no reverse pass reaches.
inline var constant_var(double value) { return tape_access::variable(value, 0, tape::current()); }

/// Returns the variables as constants of a dual type over var.
template <class F, class X, class D, class Variables>
argument_t<F, X, D> duals_of(const Variables& variables) {
  static_assert(accepts<F, X, D>, "f cannot be called with an Eigen column vector of duals of agrad::var");
  argument_t<F, X, D> result(variables.size());
  for (Eigen::Index i = 0; i < variables.size(); ++i) result[i] = D(variables[i]);
  return result;
}

}  // namespace detail

/// Computes the value, the gradient and the Hessian of a scalar function.
///
/// f: callable with a column vector of dual<var, K>, returns a dual<var, K> or a number. x: vector of length n. fx: the value.
/// g: resized to n. H: resized to n x n, symmetric to the last bit. A direction in which f is constant adds no nan to H, even
/// where another second derivative is infinite.
template <class F, class X, class G, class H>
void hessian(F&& f, const Eigen::MatrixBase<X>& x, double& fx, Eigen::PlainObjectBase<G>& g,
             Eigen::PlainObjectBase<H>& hessian) {
  using D = dual<var, detail::hessian_lanes>;
  const detail::as_long_as<X, double> at = detail::point(x);
  const Eigen::Index n = at.size();
  for (Eigen::Index first = 0; first == 0 || first < n; first += detail::hessian_lanes) {
    const isolated_scope own;
    const Eigen::Index width = std::min<Eigen::Index>(detail::hessian_lanes, n - first);
    const detail::independent<vector_of<var>> leaves(at);
    auto duals = detail::duals_of<F, X, D>(leaves.variables);
    for (Eigen::Index k = 0; k < width; ++k) duals[first + k].tangent[static_cast<std::size_t>(k)] = detail::constant_var(1);
    const D y = detail::as_scalar<D>(f(std::as_const(duals)));
    if (first == 0) {
      detail::resize("hessian", "g", g, n);
      detail::resize("hessian", "H", hessian, n, n);
    }
    fx = y.value.val();
    for (Eigen::Index j = first; j < first + width; ++j) {
      const var& slope = y.tangent[static_cast<std::size_t>(j - first)];
      g[j] = slope.val();
      detail::tape_access::reverse_from(slope);
      for (Eigen::Index i = j; i < n; ++i) hessian(i, j) = hessian(j, i) = leaves.adjoints()[i];
    }
  }
}

/// Computes the value, the Hessian and the derivative of the Hessian, that is all third derivatives.
///
/// f: callable with a column vector of dual<dual<var, K>>. fx: the value. H: resized to n x n. grad_H: resized to n matrices;
/// grad_H[k](i, j) is the derivative of H(i, j) with respect to x[k]. All results are symmetric to the last bit. The cost is
/// that of n (n + 1) / 2 gradients of a function of the third order.
template <class F, class X, class H>
void grad_hessian(F&& f, const Eigen::MatrixBase<X>& x, double& fx, Eigen::PlainObjectBase<H>& hessian,
                  std::vector<Eigen::MatrixXd>& grad_hessian) {
  using inner = dual<var, detail::hessian_lanes>;
  using D = dual<inner>;
  const detail::as_long_as<X, double> at = detail::point(x);
  const Eigen::Index n = at.size();
  const auto run = [&](Eigen::Index i, Eigen::Index first, Eigen::Index width) {
    const isolated_scope own;
    const detail::independent<vector_of<var>> leaves(at);
    auto duals = detail::duals_of<F, X, D>(leaves.variables);
    if (i < n) duals[i].tangent[0] = inner(detail::constant_var(1));
    for (Eigen::Index k = 0; k < width; ++k)
      duals[first + k].value.tangent[static_cast<std::size_t>(k)] = detail::constant_var(1);
    const D y = detail::as_scalar<D>(f(std::as_const(duals)));
    fx = y.value.value.val();
    if (i == 0 && first == 0) {
      detail::resize("grad_hessian", "H", hessian, n, n);
      grad_hessian.assign(static_cast<std::size_t>(n), Eigen::MatrixXd(n, n));
    }
    const auto third = [&](Eigen::Index a, Eigen::Index b, Eigen::Index c) -> double& {
      return grad_hessian[static_cast<std::size_t>(a)](b, c);
    };
    for (Eigen::Index j = first; j < first + width; ++j) {
      const var& second = y.tangent[0].tangent[static_cast<std::size_t>(j - first)];
      hessian(i, j) = hessian(j, i) = second.val();
      detail::tape_access::reverse_from(second);
      for (Eigen::Index l = j; l < n; ++l)
        third(i, j, l) = third(i, l, j) = third(j, i, l) = third(j, l, i) = third(l, i, j) = third(l, j, i) =
            leaves.adjoints()[l];
    }
  };
  if (n == 0) run(0, 0, 0);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index first = i; first < n; first += detail::hessian_lanes)
      run(i, first, std::min<Eigen::Index>(detail::hessian_lanes, n - first));
}

}  // namespace agrad
