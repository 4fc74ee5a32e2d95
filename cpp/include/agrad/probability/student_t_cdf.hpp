// The distribution functions of Student's t distribution.
//
// The functions are the upper tail of rules/student.hpp, which is exact at any distance from 0, at -z or z.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/student_t_octets.hpp>
#include <agrad/rules/student.hpp>

namespace agrad {

namespace detail {
/// What the distribution functions of Student's t distribution have in common.
struct student_t_cdf_base : probability_rule<4> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"nu", must_be::positive_finite, true},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite}};
  /// Returns the tail beyond distance / scale, or its logarithm.
  template <bool is_log, class N, class Z, class S>
  static auto beyond(const N& nu, const Z& distance, const S& scale) {
    return apply<student_tail_rule<is_log, 0, 0, 0>>(nu, distance, scale);
  }
};
}  // namespace detail

struct student_t_cdf_rule : detail::student_t_cdf_base {
  static constexpr std::string_view
      name = "student_t_cdf",
      text = "Probability of a value up to y, with nu degrees of freedom, location mu, scale sigma.",
      reference =
          "(lambda z: betainc(nu / 2, 0.5, 0, nu / (nu + z * z), regularized=True) / 2 if z < 0"
          " else (1 + betainc(0.5, nu / 2, 0, z * z / (nu + z * z), regularized=True)) / 2)"
          "((y - mu) / sigma)",
      source = "F(y; nu, mu, sigma) = I_{nu / (nu + z^2)}(nu / 2, 1/2) / 2 for z = (y - mu) / sigma < 0";
  static constexpr bool is_product = true;
  template <class P, class Y, class N, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const M& mu, const S& sigma) {
    return beyond<false>(nu, mu - y, sigma);
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
template <class Y, class Nu, class Mu, class Sigma>
auto student_t_cdf(const Y& y, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return apply_probability<student_t_cdf_rule>(y, nu, mu, sigma);
}

struct student_t_lcdf_rule : detail::student_t_cdf_base {
  static constexpr std::string_view name = "student_t_lcdf", text = "Logarithm of student_t_cdf.",
                                    reference =
                                        "(lambda z: log(betainc(nu / 2, 0.5, 0, nu / (nu + z * z), regularized=True) / 2)"
                                        " if z < 0 else"
                                        " log1p(-betainc(nu / 2, 0.5, 0, nu / (nu + z * z), regularized=True) / 2))"
                                        "((y - mu) / sigma)",
                                    source = "log F(y; nu, mu, sigma), F as for student_t_cdf";
  template <class P, class Y, class N, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const M& mu, const S& sigma) {
    return beyond<true>(nu, mu - y, sigma);
  }

  using octets = detail::student_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
template <class Y, class Nu, class Mu, class Sigma>
auto student_t_lcdf(const Y& y, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return apply_probability<student_t_lcdf_rule>(y, nu, mu, sigma);
}

struct student_t_lccdf_rule : detail::student_t_cdf_base {
  static constexpr std::string_view name = "student_t_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with nu degrees of freedom.",
                                    reference =
                                        "(lambda z: log(betainc(nu / 2, 0.5, 0, nu / (nu + z * z), regularized=True) / 2)"
                                        " if z < 0 else"
                                        " log1p(-betainc(nu / 2, 0.5, 0, nu / (nu + z * z), regularized=True) / 2))"
                                        "((mu - y) / sigma)",
                                    source = "log(1 - F(y; nu, mu, sigma)), F as for student_t_cdf";
  template <class P, class Y, class N, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const M& mu, const S& sigma) {
    return beyond<true>(nu, y - mu, sigma);
  }

  using octets = detail::student_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
template <class Y, class Nu, class Mu, class Sigma>
auto student_t_lccdf(const Y& y, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return apply_probability<student_t_lccdf_rule>(y, nu, mu, sigma);
}

namespace rules {
using student_t_cdfs = typelist<student_t_cdf_rule, student_t_lcdf_rule, student_t_lccdf_rule>;
}

}  // namespace agrad
