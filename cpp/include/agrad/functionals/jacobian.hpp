// Jacobian: value and Jacobian of a vector function of a vector.
//
// Forward mode computes a few columns per pass and records nothing; reverse mode records once and needs one reverse pass for a
// few rows. `jacobian` chooses the mode with the smaller count; `forward_jacobian` and `reverse_jacobian` are the two modes.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <utility>

#include <agrad/dual/dual.hpp>
#include <agrad/functionals/callable.hpp>
#include <agrad/functionals/independent.hpp>

namespace agrad {

namespace detail {

/// Columns of a Jacobian per pass of duals: by measurement, 8 is best for up to 8 inputs, and 16 gains a third with hundreds of
/// inputs.
inline constexpr int jacobian_lanes = 8;

/// Sets row i of `rows` to the derivatives of y[i] with respect to the variables: `tape::lanes` rows per reverse pass.
template <class Y, class Variables, class Rows>
void reverse_rows(const Eigen::MatrixBase<Y>& y, const independent<Variables>& at, Eigen::MatrixBase<Rows>& rows) {
  tape& t = at.on;
  for (Eigen::Index begin = 0; begin < y.size(); begin += tape::lanes) {
    const Eigen::Index end = std::min<Eigen::Index>(begin + tape::lanes, y.size());
    if (end - begin == 1) {
      tape_access::reverse_from(y[begin]);
      rows.row(begin) = at.adjoints();
      continue;
    }
    do {
      t.clear_lanes();
      for (Eigen::Index i = begin; i < end; ++i) t.seed_lane(y[i].index(), static_cast<std::size_t>(i - begin));
    } while (!t.reverse_lanes());
    for (Eigen::Index j = 0; j < at.variables.size(); ++j) {
      const double* lanes = t.lane_adjoints(at.first + static_cast<tape::index_type>(j));
      for (Eigen::Index i = begin; i < end; ++i) rows(i, j) = lanes[i - begin];
    }
  }
}

}  // namespace detail

/// Computes the value and the Jacobian by reverse mode: f is recorded once; a reverse pass gives `tape::lanes` rows.
///
/// f: callable with a column vector of var, returns a vector of var, of expressions' values or of numbers, of length m. x:
/// vector of length n. fx: resized to m. J: resized to m x n.
template <class F, class X, class Fx, class J>
void reverse_jacobian(F&& f, const Eigen::MatrixBase<X>& x, Eigen::PlainObjectBase<Fx>& fx,
                      Eigen::PlainObjectBase<J>& jacobian) {
  static_assert(detail::accepts<F, X, var>, "f cannot be called with an Eigen column vector of agrad::var");
  const isolated_scope own;
  const detail::independent<detail::argument_t<F, X, var>> at(detail::point(x));
  const vector_of<var> y = detail::as_vector<var>("jacobian", f(at.variables));
  detail::resize("jacobian", "fx", fx, y.size());
  detail::resize("jacobian", "J", jacobian, y.size(), at.variables.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) fx[i] = y[i].val();
  detail::reverse_rows(y, at, jacobian);
}

/// Computes the value and the Jacobian by forward mode: Lanes columns per call of f; nothing is recorded.
///
/// f: callable with a column vector of dual<double, Lanes>, returns a vector of duals or of numbers. Otherwise as
/// `reverse_jacobian`; with n = 0, f is called once, for its value.
template <int Lanes = detail::jacobian_lanes, class F, class X, class Fx, class J>
void forward_jacobian(F&& f, const Eigen::MatrixBase<X>& x, Eigen::PlainObjectBase<Fx>& fx,
                      Eigen::PlainObjectBase<J>& jacobian) {
  using D = dual<double, Lanes>;
  auto at = detail::constants<F, D>(x);
  const Eigen::Index n = at.size();
  for (Eigen::Index first = 0; first == 0 || first < n; first += Lanes) {
    const Eigen::Index width = std::min<Eigen::Index>(Lanes, n - first);
    for (Eigen::Index k = 0; k < width; ++k) at[first + k].tangent[static_cast<std::size_t>(k)] = 1;
    const vector_of<D> y = detail::as_vector<D>("jacobian", f(std::as_const(at)));
    if (first == 0) {
      detail::resize("jacobian", "fx", fx, y.size());
      detail::resize("jacobian", "J", jacobian, y.size(), n);
    }
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      fx[i] = y[i].value;
      for (Eigen::Index k = 0; k < width; ++k) jacobian(i, first + k) = y[i].tangent[static_cast<std::size_t>(k)];
    }
    for (Eigen::Index k = 0; k < width; ++k) at[first + k].tangent[static_cast<std::size_t>(k)] = 0;
  }
}

/// Computes the value and the Jacobian of a vector function of a vector, in the mode that costs less.
///
/// f: callable with a column vector of var, and optionally of double and of duals; returns a vector of length m (a scalar is a
/// vector of length 1). x: vector of length n. fx: resized to m. J: resized to m x n. Forward mode is used if f accepts duals,
/// and all columns fit into one pass or n <= m. Pitfall: the signature of a lambda with `const auto&` accepts duals; if the
/// lambda does not compile with duals, write `const agrad::vector_of<agrad::var>&`, or call `reverse_jacobian`.
template <class F, class X, class Fx, class J>
void jacobian(F&& f, const Eigen::MatrixBase<X>& x, Eigen::PlainObjectBase<Fx>& fx, Eigen::PlainObjectBase<J>& jacobian) {
  if constexpr (detail::accepts<F, X, dual<double, detail::jacobian_lanes>>) {
    if (x.size() <= detail::jacobian_lanes) return forward_jacobian(f, x, fx, jacobian);
    if constexpr (detail::accepts<F, X, double>) {
      const auto at = detail::constants<F, double>(x);
      if (x.size() <= detail::as_vector<double>("jacobian", f(at)).size()) return forward_jacobian(f, x, fx, jacobian);
    }
  }
  reverse_jacobian(f, x, fx, jacobian);
}

}  // namespace agrad
