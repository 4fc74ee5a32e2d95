// Lift: converts users' matrices to the matrices of the engines, and back.
//
// Eigen::Matrix<T, ...> of double, var or dual becomes the matrix type of T's algebra (one pass over the entries), and results
// become Eigen matrices of T; a matrix<var> is used directly. So `template <class T> T f(const Eigen::Matrix<T, -1, -1>& a) {
// return log_determinant(a); }` works with every scalar. Engines specialise `scalar_algebra` and `lifting`.
#pragma once

#include <agrad/rules/array.hpp>
#include <agrad/rules/linalg/apply.hpp>

namespace agrad::linalg {

/// The matrix type for scalars of type T: `matrix`, `from(eigen)`, `entry(m, i)`.
template <class T>
struct scalar_algebra {};
template <>
struct scalar_algebra<double> {
  using matrix = MatrixXd;
  template <class X>
  static const_block from(const X& x) {
    return const_block(x);
  }
  static double entry(const MatrixXd& m, Index i) { return m.data()[i]; }
};

/// The conversion of a user's argument: `matrix`, `lift(x)`, and whether argument and results are handles such as
/// `matrix<var>`.
template <class A, class = void>
struct lifting {};
/// Whether A is an expression of matrices, and not of arrays.
template <class A, class = void>
inline constexpr bool is_eigen_matrix = false;
template <class A>
inline constexpr bool is_eigen_matrix<A, std::enable_if_t<agrad::detail::is_eigen<A>>> =
    std::is_same_v<typename Eigen::internal::traits<A>::XprKind, Eigen::MatrixXpr>;

template <class A>
struct lifting<A, std::void_t<std::enable_if_t<is_eigen_matrix<A>>, typename scalar_algebra<typename A::Scalar>::matrix>> {
  using matrix = typename scalar_algebra<typename A::Scalar>::matrix;
  static constexpr bool is_handle = false;
  static constexpr int cols = A::ColsAtCompileTime;
  static decltype(auto) lift(const A& a) { return scalar_algebra<typename A::Scalar>::from(a); }
};

/// Removed from overload resolution unless every argument is a matrix of some engine.
template <class... A>
using if_matrices = std::void_t<typename lifting<A>::matrix...>;

template <class A>
decltype(auto) lift(const A& a) {
  return lifting<A>::lift(a);
}

template <class... A>
inline constexpr bool any_handle = (lifting<A>::is_handle || ...);

/// Return a user's result: a scalar for 1 x 1, a matrix like the arguments A; with Cols = 1 a vector.
template <class M>
auto lower_scalar(const M& m) {
  return scalar_algebra<typename algebra<M>::scalar>::entry(m, 0);
}
template <int Cols, class... A, class M>
auto lower(M m) {
  if constexpr (any_handle<A...>) {
    return m;
  } else if constexpr (std::is_same_v<M, MatrixXd>) {
    return Eigen::Matrix<double, Eigen::Dynamic, Cols>(std::move(m));
  } else {
    using T = typename algebra<M>::scalar;
    Eigen::Matrix<T, Eigen::Dynamic, Cols> result(m.rows(), m.cols());
    for (Index i = 0; i < result.size(); ++i) result.data()[i] = scalar_algebra<T>::entry(m, i);
    return result;
  }
}
template <class... A, class M>
auto lower(M m) {
  return lower<Eigen::Dynamic, A...>(std::move(m));
}

}  // namespace agrad::linalg
