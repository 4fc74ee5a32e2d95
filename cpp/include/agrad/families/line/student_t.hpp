// Student's t distribution.
//
// For large nu the density is nearly normal, and the derivative with respect to nu is of the order of 1 / nu^2, while the parts
// of the textbook formula change by 1 / nu and more. So the formula is divided into nu log(1 + z^2 / nu) and the ratio of gamma
// functions, as rules with derivatives of their own.
//
// Distribution functions are the upper tail of rules/special/student.hpp, which is exact at any distance from 0, at -z or z.
#pragma once

#include <agrad/families/line/student_t_octets.hpp>
#include <agrad/families/shared/location_scale.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/half_gamma.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/special/quantiles.hpp>
#include <agrad/rules/special/student.hpp>

namespace agrad {

namespace detail {

/// log(1 + u) - u / (1 + u).
struct log1p_surplus_rule : rule<1> {
  static constexpr std::string_view name = "log1p_surplus";
  static double value(double u) { return u < 1 ? log1p_rest(-u / (1 + u)) : std::log1p(u) - u / (1 + u); }
  template <class T>
  static T derivative(wrt<0>, const T& u, const T&) {
    return u / ((1.0 + u) * (1.0 + u));
  }
};

/// nu log(1 + s / nu).
struct times_log1p_of_share_rule : rule<2> {
  static constexpr std::string_view name = "times_log1p_of_share";
  static double value(double nu, double s) { return nu * std::log1p(s / nu); }
  template <class T>
  static T derivative(wrt<0>, const T& nu, const T& s, const T&) {
    return apply<log1p_surplus_rule>(s / nu);
  }
  template <class T>
  static T derivative(wrt<1>, const T& nu, const T& s, const T&) {
    return 1.0 / (1.0 + s / nu);
  }
};

/// Returns -log(sigma) - (nu + 1) / 2 log(1 + (d / sigma)^2 / nu), where the square may overflow. Where it is large the parts
/// of d, sigma and nu are separate, and log(sigma) has the factor nu, so that no derivatives cancel.
template <class T>
T student_t_kernel(const T& nu, const T& d, const T& sigma) {
  const auto small = [&] {
    const T z = d / sigma, s = z * z;
    return T(-log(sigma) - 0.5 * (apply<times_log1p_of_share_rule>(nu, s) + log1p(s / nu)));
  };
  const auto large = [&] {
    const T size = abs(d), inverse = sigma / d;
    return T(0.5 * (nu + 1.0) * (log(nu) - log1p(nu * inverse * inverse)) - nu * apply<log_ratio_rule>(size, sigma) -
             log(size));
  };
  return either<T>(abs(d) < sqrt(nu) * sigma, small, large);
}

}  // namespace detail

struct student_t_lpdf_rule : probability_rule<4> {
  static constexpr std::string_view
      name = "student_t_lpdf",
      text = "Student's t log density of y with nu degrees of freedom, location mu and scale sigma.",
      reference =
          "loggamma((nu + 1) / 2) - loggamma(nu / 2) - log(pi * nu) / 2 - log(sigma)"
          " - (nu + 1) / 2 * log1p(((y - mu) / sigma) ** 2 / nu)",
      source = "log f = log(Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(pi nu) sigma)) - (nu + 1) / 2 log(1 + z^2 / nu)";
  static constexpr std::string_view scipy = "t(df): x; df, loc, scale";
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan},
                                                   {"nu", must_be::positive_finite, true},
                                                   {"mu", must_be::finite},
                                                   {"sigma", must_be::positive_finite, true}};
  template <class Y, class N, class M, class S>
  static auto in_support(const Y& y, const N&, const M&, const S&) {
    return abs(y) < infinity;
  }
  template <class Y, class N, class M, class S>
  static auto prepare(const parts& included, const Y&, const N& nu, const M&, const S& sigma) {
    promoted_t<N, S> sum(included.constants() ? -detail::half_log_two_pi : 0.0);
    if (included.of({1})) sum += apply<detail::half_gamma_ratio_rule>(0.0, 0.5 * nu);
    if (!included.of({3})) sum += log(sigma);  // the kernel has -log(sigma)
    return sum;
  }
  template <class P, class Y, class N, class M, class S>
  static auto term(const parts&, const P& of_scale, const Y& y, const N& nu, const M& mu, const S& sigma) {
    using T = promoted_t<Y, N, M, S>;
    return of_scale + detail::student_t_kernel(T(nu), T(y - mu), T(sigma));
  }

  struct octets : octet_formulas<4> {
    template <class S>
    static std::array<S, 4> prepare(const parts& included, const each<S>& x) {
      const S of_scale = student_t_lpdf_rule::prepare(included, x[0], x[1], x[2], x[3]) - log(x[3]);
      return {1.0 / x[3], of_scale, 0.5 * apply<detail::half_gamma_ratio_rule>(S(1.0), S(0.5 * x[1])), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0] - x[2], -1e50, 1e50) && within(x[1], 0.01, 64) && within(x[3], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 4>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S inverse = prepared[0], z = (x[0] - x[2]) * inverse, square = z * z, u = square * prepared[3];
      const S log_power = log1p(u), rest = 1.0 / (1.0 + u), share = inverse * rest, half = 0.5 * (x[1] + 1.0);
      slope[2] = (x[1] + 1.0) * z * share * prepared[3];
      slope[0] = -slope[2];
      slope[3] = (square - 1.0) * share;
      slope[1] = prepared[2] - 0.5 * (log_power - u * rest * (1.0 + prepared[3]));
      return prepared[1] - half * log_power;
    }
  };
};
/// Returns the sum of Student's t log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Nu, class Mu, class Sigma>
auto student_t_lpdf(const Y& y, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return apply_probability<student_t_lpdf_rule, propto>(y, nu, mu, sigma);
}

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
inline constexpr probability_function<student_t_cdf_rule> student_t_cdf;

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
inline constexpr probability_function<student_t_lcdf_rule> student_t_lcdf;

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
inline constexpr probability_function<student_t_lccdf_rule> student_t_lccdf;

struct student_t_quantile : quantile_of<student_t_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu, const T& mu, const T& sigma) {
    return mu + sigma * detail::reflected(is_upper, T(apply<detail::student_quantile_rule>(p, nu)));
  }
};
/// Returns the value up to which the probability is p: the inverse of student_t_cdf.
inline constexpr quantile_function<student_t_quantile> student_t_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<student_t_quantile, true> student_t_cqf;

using student_t_lbetween_rule = log_between<student_t_lpdf_rule, student_t_lcdf_rule, student_t_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<student_t_lbetween_rule> student_t_lbetween;

/// Draws numbers of Student's t distribution with nu degrees of freedom, location mu and scale sigma.
template <class Nu, class Mu, class Sigma, class URBG>
auto student_t_rng(const Nu& nu, const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<student_t_lpdf_rule, double>(
      "student_t_rng",
      [&](detail::draw_place, double n, double m, double s) {
        const double z = detail::draw_normal(rng);
        return m + z * detail::draw_gamma_power(n / 2, n / 2, -0.5, s, rng);
      },
      nu, mu, sigma);
}

namespace rules {
using student_t_family = family<typelist<student_t_lpdf_rule, student_t_cdf_rule, student_t_lcdf_rule, student_t_lccdf_rule>,
                                typelist<student_t_quantile>, typelist<student_t_lbetween_rule>>;
}

}  // namespace agrad
