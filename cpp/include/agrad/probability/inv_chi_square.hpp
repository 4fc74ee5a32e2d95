// Inverse chi-square distribution: log density and distribution functions.
#pragma once

#include <agrad/probability/gamma_tails.hpp>

namespace agrad {

namespace detail {
/// What the functions of the inverse chi-square distribution have in common.
struct inv_chi_square_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"nu", must_be::positive_finite, true}};
  template <class Y, class N>
  static auto in_support(const Y& y, const N&) {
    return y > 0;
  }
};
}  // namespace detail

struct inv_chi_square_lpdf_rule : detail::inv_chi_square_rule {
  static constexpr std::string_view
      name = "inv_chi_square_lpdf",
      text = "Log density of y > 0 with nu degrees of freedom.",
      reference = "-nu / 2 * log(2) - loggamma(nu / 2) - (nu / 2 + 1) * log(y) - 1 / (2 * y) if 0 < y < inf else -inf",
      source = "log f(y; nu) = -nu / 2 log(2) - lgamma(nu / 2) - (nu / 2 + 1) log(y) - 1 / (2 y)";
  template <class Y, class N>
  static auto in_support(const Y& y, const N&) {
    return y > 0 && y < infinity;
  }
  template <class Y, class N>
  static auto prepare(const parts& included, const Y&, const N& nu) {
    return detail::wanted_rest(included, 1, promoted_t<N>(0.5 * nu));
  }
  template <class P, class Y, class N>
  static auto term(const parts&, const P& rest, const Y& y, const N& nu) {
    using T = promoted_t<Y, N, P>;
    return T(-detail::quotient_at(0.5, y).deviance_of(0.5 * nu) - log(y) - rest);
  }

  struct octets : detail::chi_square_octets {
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0]), inverse = 1.0 / x[0], power = 0.5 * x[1] + 1.0;
      slope[0] = (0.5 * inverse - power) * inverse;
      slope[1] = prepared[0] - 0.5 * log_y;
      return prepared[1] - power * log_y - 0.5 * inverse;
    }
  };
};
/// Returns the sum of the inverse chi-square log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Nu>
auto inv_chi_square_lpdf(const Y& y, const Nu& nu) {
  return apply_probability<inv_chi_square_lpdf_rule, propto>(y, nu);
}

struct inv_chi_square_cdf_rule : detail::inv_chi_square_rule {
  static constexpr std::string_view name = "inv_chi_square_cdf",
                                    text = "Probability of a value up to y, with nu degrees of freedom.",
                                    reference = "upper_gamma(nu / 2, 1 / (2 * y)) if y > 0 else 0",
                                    source = "F(y; nu) = gammaincc(nu / 2, 1 / (2 y))";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::gamma_tail_of<true, promoted_t<Y, N>>(y == infinity, 1.0, 0.5 * nu, detail::quotient_at(0.5, y));
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
template <class Y, class Nu>
auto inv_chi_square_cdf(const Y& y, const Nu& nu) {
  return apply_probability<inv_chi_square_cdf_rule>(y, nu);
}

struct inv_chi_square_lcdf_rule : detail::inv_chi_square_rule {
  static constexpr std::string_view name = "inv_chi_square_lcdf", text = "Logarithm of inv_chi_square_cdf.",
                                    reference = "log(upper_gamma(nu / 2, 1 / (2 * y))) if y > 0 else -inf",
                                    source = "log F(y; nu) = log gammaincc(nu / 2, 1 / (2 y))";
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::log_gamma_tail_of<true, promoted_t<Y, N>>(y == infinity, 0.0, 0.5 * nu, detail::quotient_at(0.5, y));
  }

  using octets = detail::chi_square_tail_octets<true, detail::quotient_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
template <class Y, class Nu>
auto inv_chi_square_lcdf(const Y& y, const Nu& nu) {
  return apply_probability<inv_chi_square_lcdf_rule>(y, nu);
}

struct inv_chi_square_lccdf_rule : detail::inv_chi_square_rule {
  static constexpr std::string_view name = "inv_chi_square_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with nu degrees of freedom.",
                                    reference = "log(lower_gamma(nu / 2, 1 / (2 * y))) if y > 0 else 0",
                                    source = "log(1 - F(y; nu)) = log gammainc(nu / 2, 1 / (2 y))";
  static constexpr double outside = 0;
  template <class P, class Y, class N>
  static auto term(const parts&, const P&, const Y& y, const N& nu) {
    return detail::log_gamma_tail_of<false, promoted_t<Y, N>>(y == infinity, -infinity, 0.5 * nu, detail::quotient_at(0.5, y));
  }

  using octets = detail::chi_square_tail_octets<false, detail::quotient_argument>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
template <class Y, class Nu>
auto inv_chi_square_lccdf(const Y& y, const Nu& nu) {
  return apply_probability<inv_chi_square_lccdf_rule>(y, nu);
}

namespace rules {
using inv_chi_square_distribution =
    typelist<inv_chi_square_lpdf_rule, inv_chi_square_cdf_rule, inv_chi_square_lcdf_rule, inv_chi_square_lccdf_rule>;
}

}  // namespace agrad
