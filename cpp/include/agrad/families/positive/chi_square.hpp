// The chi-square distribution.
#pragma once

#include <agrad/families/shared/gamma_tails.hpp>
#include <agrad/families/shared/shape_quantiles.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the chi-square distribution have in common.
struct chi_square_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"nu", must_be::positive_finite, true}};
  template <class Y, class N>
  static auto in_support(const Y& y, const N&) {
    return y > 0;
  }
};
}  // namespace detail

struct chi_square_lpdf_rule : detail::chi_square_rule {
  static constexpr std::string_view
      name = "chi_square_lpdf",
      text = "Log density of y > 0 with nu degrees of freedom.",
      reference =
          "-nu / 2 * log(2) - loggamma(nu / 2) + (nu / 2 - 1) * log(y) - y / 2 if 0 < y < inf else"
          " inf if y == 0 and nu < 2 else -log(2) if y == 0 and nu == 2 else -inf",
      source = "log f(y; nu) = -nu / 2 log(2) - lgamma(nu / 2) + (nu / 2 - 1) log(y) - y / 2";
  static constexpr std::string_view scipy = "chi2(df): (x - loc) / scale; df";
  template <class Y, class N>
  static auto in_support(const Y& y, const N&) {
    return y >= 0 && y < infinity;
  }
  template <class Y, class N>
  static auto prepare(const parts& included, const Y&, const N& nu) {
    return detail::wanted_rest(included, 1, promoted_t<N>(0.5 * nu));
  }
  template <class P, class Y, class N>
  static auto term(const parts&, const P& rest, const Y& y, const N& nu) {
    using T = promoted_t<Y, N, P>;
    return detail::gamma_log_density<T>(y, 0.5 * nu, 0.5, rest);
  }

  struct octets : detail::chi_square_octets {
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0]), power = 0.5 * x[1] - 1.0;
      slope[0] = power / x[0] - 0.5;
      slope[1] = prepared[0] + 0.5 * log_y;
      return prepared[1] + power * log_y - 0.5 * x[0];
    }
  };
};
/// Returns the sum of the chi-square log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Nu>
auto chi_square_lpdf(const Y& y, const Nu& nu) {
  return apply_probability<chi_square_lpdf_rule, propto>(y, nu);
}

struct chi_square_cdf_rule : detail::chi_square_rule {
  static constexpr std::string_view name = "chi_square_cdf",
                                    text = "Probability of a value up to y, with nu degrees of freedom.",
                                    reference = "lower_gamma(nu / 2, y / 2) if y > 0 else 0",
                                    source = "F(y; nu) = gammainc(nu / 2, y / 2)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::gamma_tail_of<false, promoted_t<Y, N>>(y == infinity, 1.0, 0.5 * nu, detail::product_at(0.5, y));
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<chi_square_cdf_rule> chi_square_cdf;

struct chi_square_lcdf_rule : detail::chi_square_rule {
  static constexpr std::string_view name = "chi_square_lcdf", text = "Logarithm of chi_square_cdf.",
                                    reference = "log(lower_gamma(nu / 2, y / 2)) if y > 0 else -inf",
                                    source = "log F(y; nu) = log gammainc(nu / 2, y / 2)";
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::log_gamma_tail_of<false, promoted_t<Y, N>>(y == infinity, 0.0, 0.5 * nu, detail::product_at(0.5, y));
  }

  using octets = detail::chi_square_tail_octets<false, detail::product_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<chi_square_lcdf_rule> chi_square_lcdf;

struct chi_square_lccdf_rule : detail::chi_square_rule {
  static constexpr std::string_view name = "chi_square_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with nu degrees of freedom.",
                                    reference = "log(upper_gamma(nu / 2, y / 2)) if y > 0 else 0",
                                    source = "log(1 - F(y; nu)) = log gammaincc(nu / 2, y / 2)";
  static constexpr double outside = 0;
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::log_gamma_tail_of<true, promoted_t<Y, N>>(y == infinity, -infinity, 0.5 * nu, detail::product_at(0.5, y));
  }

  using octets = detail::chi_square_tail_octets<true, detail::product_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<chi_square_lccdf_rule> chi_square_lccdf;

struct chi_square_quantile : quantile_of<chi_square_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu) {
    return 2.0 * detail::gamma_quantile_of(is_upper, p, T(0.5 * nu));
  }
};
/// Returns the value up to which the probability is p: the inverse of chi_square_cdf.
inline constexpr quantile_function<chi_square_quantile> chi_square_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<chi_square_quantile, true> chi_square_cqf;

using chi_square_lbetween_rule =
    log_between<chi_square_lpdf_rule, chi_square_lcdf_rule, chi_square_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<chi_square_lbetween_rule> chi_square_lbetween;

/// Draws chi-square numbers with nu degrees of freedom.
template <class Nu, class URBG>
auto chi_square_rng(const Nu& nu, URBG& rng) {
  return detail::draws<chi_square_lpdf_rule, double>(
      "chi_square_rng", [&](detail::draw_place, double n) { return detail::draw_gamma_power(n / 2, 0.5, 1, 1, rng); }, nu);
}

namespace rules {
using chi_square_family =
    family<typelist<chi_square_lpdf_rule, chi_square_cdf_rule, chi_square_lcdf_rule, chi_square_lccdf_rule>,
           typelist<chi_square_quantile>, typelist<chi_square_lbetween_rule>>;
}

}  // namespace agrad
