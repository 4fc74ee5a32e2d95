// The multivariate Student t distribution: by scale matrix or its Cholesky factor.
//
// As for one variable, the formula is divided such that neither the value nor derivatives with respect to nu cancel for large
// nu, nor mixed ones far out.
#pragma once

#include <agrad/families/line/student_t.hpp>
#include <agrad/families/multivariate/multi_normal.hpp>
#include <agrad/rules/gamma/half_gamma.hpp>

namespace agrad {

namespace detail {

template <class W, class Parts, class Y, class Nu, class Mu, class L>
auto student_of_factor(const Parts& included, const Y& y, const Nu& nu, const Mu& mu, const L& l) {
  const auto z = whitened<W>(y, mu, l);
  const double n = static_cast<double>(z.cols()), p = static_cast<double>(z.rows());
  // Far out, the parts of nu and of the distance, whose square's square may overflow, are separate.
  const auto kernel = [p](const auto& s, const auto& degrees) {
    using T = promoted_t<decltype(s), decltype(degrees)>;
    return either<T>(
        s < degrees, [&] { return T(-0.5 * (apply<times_log1p_of_share_rule>(degrees, s) + p * log1p(s / degrees))); },
        [&] { return T((degrees + p) * (0.5 * (log(degrees) - log1p(degrees / s)) - log(sqrt(s)))); });
  };
  const auto norm = [p](const auto& degrees) { return apply<half_gamma_rise_rule>(0.0, p, 0.5 * degrees); };
  const auto terms = W::part(
      included.of({0, 1, 2, 3}),
      [&] { return W::sum(W::each(kernel, W::row_sums(W::transposed(W::each(square_of{}, z))), nu)); }, z);
  const auto half_log = W::part(
      included.of({3}), [&] { return log_diagonal<W>(l); }, l);
  const auto gammas = W::part(
      included.of({1}), [&] { return W::each(norm, nu); }, nu);
  const double constant = included.constants() ? -n * p * half_log_two_pi : 0.0;
  return added<W>(weighted<W>(1, terms, -n, half_log, n, gammas), one_number(constant));
}

}  // namespace detail

struct multi_student_t_lpdf_rule : multivariate_rule<4> {
  static constexpr std::string_view
      name = "multi_student_t_lpdf",
      text = "Student's t log density of vectors y with nu degrees of freedom, locations mu and scale matrix Sigma.",
      source = "log f = log(Gamma((nu + p) / 2) / Gamma(nu / 2)) - log det(pi nu Sigma) / 2 - (nu + p) / 2 log(1 + z' z / nu)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', 'p', must_be::finite},
                                                  {"nu", '1', '1', must_be::positive_finite},
                                                  {"mu", 'n', 'p', must_be::finite},
                                                  {"Sigma", 'p', 'p', must_be::positive_definite}};
  template <class W, class Y, class Nu, class Mu, class S>
  static auto log_density(const parts& included, const Y& y, const Nu& nu, const Mu& mu, const S& sigma) {
    return detail::student_of_factor<W>(included, y, nu, mu, W::cholesky(sigma));
  }
};
/// Returns the sum of the multivariate Student t log densities of y: the rows of a matrix, or one vector; so is mu.
template <bool propto = false, class Y, class Nu, class Mu, class S>
auto multi_student_t_lpdf(const Y& y, const Nu& nu, const Mu& mu, const S& sigma) {
  return apply_multivariate<multi_student_t_lpdf_rule, propto>(y, nu, mu, sigma);
}

struct multi_student_t_cholesky_lpdf_rule : multivariate_rule<4> {
  static constexpr std::string_view
      name = "multi_student_t_cholesky_lpdf",
      text = "Student's t log density of vectors y with nu degrees of freedom, locations mu and scale matrix L L'.",
      source = "multi_student_t_lpdf with Sigma = L L'";
  static constexpr matrix_argument arguments[] = {{"y", 'n', 'p', must_be::finite},
                                                  {"nu", '1', '1', must_be::positive_finite},
                                                  {"mu", 'n', 'p', must_be::finite},
                                                  {"L", 'p', 'p', must_be::cholesky_factor}};
  template <class W, class Y, class Nu, class Mu, class L>
  static auto log_density(const parts& included, const Y& y, const Nu& nu, const Mu& mu, const L& l) {
    return detail::student_of_factor<W>(included, y, nu, mu, l);
  }
};
/// Does the same with the Cholesky factor L of the scale matrix.
template <bool propto = false, class Y, class Nu, class Mu, class L>
auto multi_student_t_cholesky_lpdf(const Y& y, const Nu& nu, const Mu& mu, const L& l) {
  return apply_multivariate<multi_student_t_cholesky_lpdf_rule, propto>(y, nu, mu, l);
}

namespace rules {
using multi_student_t_distribution = typelist<multi_student_t_lpdf_rule, multi_student_t_cholesky_lpdf_rule>;
}

}  // namespace agrad
