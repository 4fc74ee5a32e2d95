// Determinant: the derivative is the matrix of cofactors, which is finite for singular matrices, too.
//
// Cofactors are det(a) a^-T for an invertible matrix. For (nearly) singular matrices, and for second derivatives of any matrix,
// rules/linalg/cofactors.hpp computes the cofactors without a division.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/rules/linalg/cofactors.hpp>
#include <agrad/rules/linalg/general.hpp>

namespace agrad {
namespace linalg {

template <class LU>
double determinant_of(const LU& lu) {
  wide_product<> y;
  for (Index i = 0; i < lu.size(); ++i) y *= lu.pivot(i);
  return lu.sign() * y.value();
}

/// Returns whether a pivot has lost all its digits, so that an inverse would be noise.
template <class LU>
bool is_nearly_singular(const LU& lu) {
  double smallest = infinity, largest = 0;
  for (Index i = 0; i < lu.size(); ++i) {
    smallest = std::min(smallest, std::abs(lu.pivot(i)));
    largest = std::max(largest, std::abs(lu.pivot(i)));
  }
  return smallest <= 1e-12 * largest;
}

template <class LU, class In>
MatrixXd cofactors_of(const LU& lu, const In& a) {
  if (is_nearly_singular(lu) || !std::isnormal(determinant_of(lu))) return complete_factors<>(a).cofactors();
  return determinant_of(lu) * lu.inverse_transposed();
}

/// The matrix of cofactors. Its derivative, which is also its adjoint, uses complete pivoting; the derivative of that
/// derivative uses the inverse, and needs an invertible matrix.
struct cofactors_rule : rule<1> {
  static constexpr std::string_view name = "determinant", text = "Matrix of cofactors, det(a) a^-T.",
                                    source = "differential of det(a) a^-T: dC = <C, dA> A^-T - A^-T dA' C";
  shapes results_of(const shape& a) const { return {{a}}; }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a) const {
    return factor_lu(room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In& a, Out y) const {
    y = cofactors_of(lu, a);
  }
  template <class In>
  void adjoint(const lu_factor&, const In& a, const In&, const In* y_bar, block* a_bar) const {
    *a_bar += complete_factors<>(a).change(*y_bar);
  }
  template <class A, class Y, class D>
  auto tangent(wrt<0>, const lu_factor& lu, const nothing&, const A& a, const Y& y, const D& da) const {
    if constexpr (std::is_same_v<strongest_t<A, D>, MatrixXd>) {
      return complete_factors<>(a).change(da);
    } else {
      check_regular(lu);
      const auto t = linalg::transpose(apply_prepared(inverse_rule{}, lu, a));
      return minus(scaled_by(linalg::dot(y, da), t), product(t, product<true>(da, y)));
    }
  }

 private:
  static void check_regular(const lu_factor& lu) {
    if (AGRAD_UNLIKELY(is_nearly_singular(lu)))
      throw LinAlgError(agrad::detail::sentence(name, "a", -1, "singular", "invertible",
                                                "third derivatives of the determinant of a singular matrix are not computed"));
  }
};

struct determinant_rule : rule<1> {
  static constexpr std::string_view name = "determinant", text = "Determinant.",
                                    source = "Giles 2008, section 2.2.4; Jacobi's formula: A += ybar cofactors(A)",
                                    numpy = "det";
  static constexpr unsigned transposed_arguments = 1;
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{{1, 1}}};
  }
  template <class Room, class In>
  lu_factor prepare(Room& room, const In& a) const {
    return factor_lu(room, a);
  }
  template <class In, class Out>
  void value(const lu_factor& lu, const In&, Out y) const {
    y(0, 0) = determinant_of(lu);
  }
  template <class In>
  void adjoint(const lu_factor& lu, const In& a, const In&, const In* y_bar, block* a_bar) const {
    *a_bar += (*y_bar)(0, 0) * cofactors_of(lu, a);
  }
  template <class A, class Y>
  auto linearize(const lu_factor& lu, const A& a, const Y&) const {
    return apply_prepared(cofactors_rule{}, lu, a);
  }
  template <class C, class A, class Y, class D>
  auto tangent(wrt<0>, const lu_factor&, const C& cofactors, const A&, const Y&, const D& da) const {
    return linalg::dot(cofactors, da);
  }
};

}  // namespace linalg

/// Returns the determinant of a square matrix, 1 for 0 x 0. The gradient, the matrix of cofactors, and the Hessian are right
/// for singular matrices, too; third derivatives throw DomainError there. Determinants easily over- or underflow: prefer
/// `log_determinant`.
template <class A, class = linalg::if_matrices<A>>
auto determinant(const A& a) {
  return linalg::lower_scalar(linalg::apply(linalg::determinant_rule{}, linalg::lift(a)));
}

}  // namespace agrad
