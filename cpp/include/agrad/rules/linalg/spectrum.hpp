// Spectrum: what derivatives of eigenvectors and singular vectors have in common, divisions by the gaps of a spectrum.
//
// The adjoint V of eigenvectors enters as (S - S') / (w_j - w_i) with S = V' Vbar. Where two values are equal, that is 0 / 0 for
// every function that does not depend on how the vectors within their space were chosen, and anything else has no derivative.
// For spectral functions, <C, g(a)>, the limit of the quotient is known from what else arrives: on such a block S is 2 g C and the
// adjoint of the values is the diagonal of g' C, so the limit is S times their ratio. Where it is not known, DomainError.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/rules/linalg/structure.hpp>

namespace agrad::linalg {

[[noreturn]] AGRAD_COLD inline void fail_degenerate(std::string_view function, Index i, Index j, double value) {
  throw DomainError(agrad::detail::sentence(
      function, "a", -1, "degenerate", "with distinct values where vectors are differentiated",
      "values " + std::to_string(i) + " and " + std::to_string(j) + " are both " + agrad::detail::to_text(value)));
}

/// Differences below this are rounding errors of the decomposition.
template <class In>
double smallest_gap(const In& w) {
  return w.size() == 0 ? 0
                       : 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(w.size()) * w.cwiseAbs().maxCoeff();
}

inline constexpr double recognised_zero = 1e-10;  // of a numerator, relative to the largest

/// Symmetric q with q_ij = (s_ij - s_ji) / 2 (w_j - w_i) and the adjoints of the values on the diagonal.
template <class In>
MatrixXd spectral_quotients(std::string_view function, const MatrixXd& s, const In& w, const Eigen::VectorXd& w_bar) {
  const double gap = smallest_gap(w), zero = s.size() == 0 ? 0 : recognised_zero * s.cwiseAbs().maxCoeff();
  MatrixXd q = w_bar.asDiagonal();
  const auto limit = [&](Index i, Index j) {
    if (std::abs(s(i, j) - s(j, i)) > zero) fail_degenerate(function, i, j, w(i, 0));
    if (std::abs(s(i, j)) <= zero) return 0.0;
    const double squares = s(i, i) * s(i, i) + s(j, j) * s(j, j);
    const double ratio = (s(i, i) * w_bar[i] + s(j, j) * w_bar[j]) / squares;
    const double rest = std::abs(w_bar[i] - ratio * s(i, i)) + std::abs(w_bar[j] - ratio * s(j, j));
    const double known = 1e-7 * (std::abs(w_bar[i]) + std::abs(w_bar[j]));
    if (!(squares > 2 * zero * zero && rest <= known)) fail_degenerate(function, i, j, w(i, 0));
    return ratio * 0.5 * (s(i, j) + s(j, i));
  };
  for (Index j = 0; j < w.rows(); ++j) {
    for (Index i = 0; i < j; ++i) {
      const double difference = w(j, 0) - w(i, 0);
      q(i, j) = q(j, i) = std::abs(difference) > gap ? 0.5 * (s(i, j) - s(j, i)) / difference : limit(i, j);
    }
  }
  return q;
}

/// For tangents: the matrix of numerators must vanish off the diagonal where values are equal.
template <class In>
void check_resolved(std::string_view function, const In& numerators, const In& w) {
  const double gap = smallest_gap(w), zero = numerators.size() == 0 ? 0 : recognised_zero * numerators.cwiseAbs().maxCoeff();
  for (Index j = 0; j < w.rows(); ++j)
    for (Index i = 0; i < j; ++i)
      if (std::abs(w(j, 0) - w(i, 0)) <= gap && std::abs(numerators(i, j)) > zero) fail_degenerate(function, i, j, w(i, 0));
}

/// 1 / x of every entry, 0 where x is at most `zero` in absolute value.
struct reciprocal_rule : rule<1> {
  static constexpr std::string_view name = "reciprocal";
  double zero;
  explicit reciprocal_rule(double largest_zero) : zero(largest_zero) {}
  shapes results_of(const shape& a) const { return {{a}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) y(i, j) = std::abs(a(i, j)) <= zero ? 0 : 1 / a(i, j);
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In& y, const In* y_bar, block* a_bar) const {
    *a_bar -= y_bar->cwiseProduct(y).cwiseProduct(y);
  }
  template <class A, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const Y& y, const D& da) const {
    return times(-1, entrywise(entrywise(y, y), da));
  }
};

/// 1 / (w_j + sign w_i) for all i, j; 0 where the denominator is a rounding error.
template <class W>
auto reciprocal_gaps(const W& w, double sign) {
  const MatrixXd ones = MatrixXd::Ones(w.rows(), 1);
  const auto gaps = linalg::apply(sum_rule(sign), product<false, true>(ones, w), product<false, true>(w, ones));
  return linalg::apply(reciprocal_rule(smallest_gap(primal(w))), gaps);
}

}  // namespace agrad::linalg
