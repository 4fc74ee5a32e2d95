// Matrix exponential: scaling, a Pade approximant, squaring; the derivative is the derivative of that algorithm.
//
// The algorithm is a template for any type with products and sums. For a `perturbed` matrix (a, e) the result is exp(a)
// together with the Frechet derivative L(a, e) (Al-Mohy & Higham 2009). The adjoint of L(a, .) is L(a', .), so that the reverse
// pass uses the same code.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/base/check.hpp>
#include <agrad/rules/linalg/general.hpp>

namespace agrad {
namespace linalg {

/// A matrix and a tangent of the matrix.
template <class M, class D>
struct perturbed {
  M value;
  D change;
};

namespace pade {

template <class M>
auto multiply(const M& a, const M& b) {
  return product(a, b);
}
template <class M, class D>
perturbed<M, D> multiply(const perturbed<M, D>& a, const perturbed<M, D>& b) {
  return {product(a.value, b.value), plus(product(a.value, b.change), product(a.change, b.value))};
}
/// Returns a + factor b.
template <class M>
M add(const M& a, double factor, const M& b) {
  return linalg::apply(sum_rule(factor), a, b);
}
template <class M, class D>
perturbed<M, D> add(const perturbed<M, D>& a, double factor, const perturbed<M, D>& b) {
  return {add(a.value, factor, b.value), add(a.change, factor, b.change)};
}
template <class M>
M scale(double factor, const M& a) {
  return times(factor, a);
}
template <class M, class D>
perturbed<M, D> scale(double factor, const perturbed<M, D>& a) {
  return {times(factor, a.value), times(factor, a.change)};
}
/// Returns a + factor I.
template <class M>
M shift(const M& a, double factor) {
  return plus(a, MatrixXd(factor * MatrixXd::Identity(a.rows(), a.rows())));
}
template <class M, class D>
perturbed<M, D> shift(const perturbed<M, D>& a, double factor) {
  return {shift(a.value, factor), a.change};
}
template <class M>
M solved(const M& a, const M& b) {
  return linalg::apply(solve_rule{}, a, b);
}
template <class M, class D>
perturbed<M, D> solved(const perturbed<M, D>& a, const perturbed<M, D>& b) {
  const M x = solved(a.value, b.value);
  return {x, linalg::apply(solve_rule{}, a.value, minus(b.change, product(a.change, x)))};
}

/// Approximants of degree m, for norms up to the bound of table 6.1 in Al-Mohy & Higham 2009, with accurate derivatives, too.
struct approximant {
  int degree;
  double bound;
  double coefficients[14];
};
inline constexpr approximant approximants[] = {
    {3, 1.08e-2, {120, 60, 12, 1}},
    {5, 2.00e-1, {30240, 15120, 3360, 420, 30, 1}},
    {7, 7.83e-1, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9, 1.78, {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
    {13,
     4.74,
     {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800,
      33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}}};

/// Returns the value of the approximant at a: q(-a)^-1 q(a), with odd and even parts of q from powers of a^2.
template <class X>
X evaluate(const approximant& p, const X& a) {
  const double* b = p.coefficients;
  const X a2 = multiply(a, a), a4 = p.degree >= 5 ? multiply(a2, a2) : a2, a6 = p.degree >= 7 ? multiply(a4, a2) : a2;
  const auto low = [&](int parity) {  // of degree 6 at most; odd coefficients have one more power
    X sum = shift(scale(b[2 + parity], a2), b[parity]);
    if (p.degree >= 5) sum = add(sum, b[4 + parity], a4);
    return p.degree >= 7 ? add(sum, b[6 + parity], a6) : sum;
  };
  X odd = low(1), even = low(0);
  if (p.degree == 9) {
    const X a8 = multiply(a4, a4);
    odd = add(odd, b[9], a8);
    even = add(even, b[8], a8);
  } else if (p.degree == 13) {
    const auto high = [&](int parity) {
      return multiply(a6, add(add(scale(b[8 + parity], a2), b[10 + parity], a4), b[12 + parity], a6));
    };
    odd = add(odd, 1, high(1));
    even = add(even, 1, high(0));
  }
  odd = multiply(a, odd);
  return solved(add(even, -1, odd), add(even, 1, odd));
}

inline constexpr const approximant& largest = approximants[4];

/// Returns the larger of the norms by columns and by rows, which transposition does not change.
template <class In>
double norm_of(const In& a) {
  return std::max(a.cwiseAbs().colwise().sum().maxCoeff(), a.cwiseAbs().rowwise().sum().maxCoeff());
}

/// Returns how often 2^exponent a must be halved until the first power that the approximant neglects, |a|^27 of the entries'
/// sizes, is below the rounding (Al-Mohy & Higham 2009, A new scaling and squaring algorithm for the matrix exponential).
template <class M>
double halvings_by_sizes(const M& a, double exponent) {
  constexpr double log2_of_coefficient = -116.447;  // of the power 27
  M sums = M::Ones(a.rows(), 2);
  const M sizes = a.cwiseAbs(), across = sizes.transpose();
  double log2_of_power = 0;
  for (int k = 0; k < 27; ++k) {
    sums.col(0) = (across * sums.col(0)).eval(), sums.col(1) = (sizes * sums.col(1)).eval();
    const double largest_sum = sums.maxCoeff();
    if (!(largest_sum > 0)) return 0;
    sums /= largest_sum, log2_of_power += std::log2(largest_sum);
  }
  return (log2_of_coefficient + log2_of_power - std::log2(norm_of(a)) + 53) / 26 + exponent;
}

/// Returns the size of a: the norm, or for a large norm the smaller size that powers of a have, which in matrices with entries
/// of very different sizes is far smaller. Scaling by the norm would lose the digits of small entries.
template <class M>
double size_of(const M& a) {
  const double norm = norm_of(a);
  if (!(norm > 16 * largest.bound) || !std::isfinite(norm)) return norm;
  const double exponent = std::ilogb(norm);
  const M unit = std::ldexp(1.0, -static_cast<int>(exponent)) * a, second = unit * unit, fourth = second * second,
          sixth = second * fourth;
  const double of_6 = norm_of(sixth), of_8 = norm_of(M(fourth * fourth)), of_10 = norm_of(M(fourth * sixth));
  const bool may_underflow = (unit.array() != 0 && unit.array().abs() < 1e-30).any();
  if (may_underflow && std::min({of_6, of_8, of_10}) == 0) return norm;  // else a zero is that of a nilpotent matrix
  const double by_6 = std::log2(of_6) / 6, by_8 = std::log2(of_8) / 8, by_10 = std::log2(of_10) / 10;
  const double of_powers = std::max(by_8, std::min(by_6, by_10)) + exponent - std::log2(largest.bound);
  const double of_sizes = halvings_by_sizes(unit, exponent);
  const double halvings = std::max({0.0, std::ceil(of_powers), std::ceil(of_sizes)});
  return std::min(norm, std::exp2(halvings) * largest.bound);
}

/// Returns exp(a), scaled as `size`, a norm of a or of its powers, requires.
template <class X>
X exponential(const X& a, double size) {
  for (const approximant& p : approximants)
    if (size <= p.bound) return evaluate(p, a);
  const double doublings = std::log2(size / largest.bound);  // infinite or nan if a sum of finite entries overflows
  const int squarings = doublings < 1024 ? static_cast<int>(std::ceil(doublings)) : 0;
  X y = evaluate(largest, scale(std::ldexp(1.0, -squarings), a));
  for (int i = 0; i < squarings; ++i) y = multiply(y, y);
  return y;
}

}  // namespace pade

struct matrix_exp_rule : rule<1> {
  static constexpr std::string_view name = "matrix_exp", text = "Exponential of a square matrix.",
                                    source = "Higham 2005 (value); Al-Mohy & Higham 2009 (scaling, derivative)", numpy = "expm";
  shapes results_of(const shape& a) const {
    check_square(name, "a", a);
    return {{a}};
  }
  template <class Room, class In>
  nothing prepare(Room&, const In& a) const {
    for (Index i = 0; !is_filled<Room> && i < a.size(); ++i) {
      const double entry = a(i % a.rows(), i / a.rows());
      check(name, "a", entry, must_be::finite, i, "entries are counted column after column");
    }
    return {};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    if (a.size() != 0) y = pade::exponential(MatrixXd(a), pade::size_of(MatrixXd(a)));
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In* y_bar, block* a_bar) const {
    *a_bar += pade::exponential(perturbed<MatrixXd, MatrixXd>{a.transpose(), *y_bar}, pade::size_of(MatrixXd(a))).change;
  }
  template <class A, class Y, class D>
  D tangent(wrt<0>, const nothing&, const nothing&, const A& a, const Y&, const D& da) const {
    if (da.rows() == 0) return da;
    const auto value = times(1, a);
    return pade::exponential(perturbed<std::decay_t<decltype(value)>, D>{value, da}, pade::size_of(MatrixXd(primal(a)))).change;
  }
};

}  // namespace linalg

/// Returns the exponential of a square matrix, exp(0) = 1. The gradient costs three exponentials, with an error of the size of
/// the value's. Throws DomainError if an entry is not finite.
template <class A, class = linalg::if_matrices<A>>
auto matrix_exp(const A& a) {
  return linalg::lower<A>(linalg::apply(linalg::matrix_exp_rule{}, linalg::lift(a)));
}

}  // namespace agrad
