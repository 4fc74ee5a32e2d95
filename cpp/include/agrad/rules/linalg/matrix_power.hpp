// Powers of square matrices with whole exponents, by repeated squaring.
//
// The products are those of the matrices' algebra (rules/linalg/algebra.hpp), which have the derivatives of all orders.
#pragma once

#include <optional>
#include <utility>

#include <agrad/base/check.hpp>
#include <agrad/rules/linalg/lift.hpp>
#include <agrad/rules/linalg/structure.hpp>

namespace agrad {

namespace linalg {

/// Returns x^n for n > 0, in the algebra of x, by at most 2 log2(n) products.
template <class M>
M raised(M x, int n) {
  std::optional<M> result;
  for (;; x = product(x, x)) {
    if (n % 2 == 1) result.emplace(result ? product(*result, x) : x);
    n /= 2;
    if (n == 0) return std::move(*result);
  }
}

}  // namespace linalg

/// Returns the product of n factors a, the unit matrix for n = 0.
///
/// a: k x k, else ShapeError is thrown; n: at least 0, else DomainError; a power of `inverse(a)` is what a negative one means.
template <class A, class = linalg::if_matrices<A>>
auto matrix_power(const A& a, int n) {
  constexpr std::string_view name = "matrix_power";
  linalg::check_square(name, "a", {a.rows(), a.cols()});
  check(name, "n", n, must_be::nonnegative, -1, "take a power of inverse(a)");
  using result = decltype(linalg::lower<A>(linalg::times(1, linalg::lift(a))));
  if (n == 0) {
    const linalg::MatrixXd unit = linalg::MatrixXd::Identity(a.rows(), a.rows());
    if constexpr (linalg::any_handle<A>)
      return result(unit);
    else
      return result(unit.template cast<typename result::Scalar>());
  }
  return linalg::lower<A>(linalg::raised(linalg::times(1, linalg::lift(a)), n));
}

}  // namespace agrad
