// Scaled inverse chi-square distribution: log density and distribution functions.
#pragma once

#include <agrad/probability/gamma_parts.hpp>

namespace agrad {

namespace detail {
/// What the functions of the scaled inverse chi-square distribution have in common.
struct scaled_inv_chi_square_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"nu", must_be::positive_finite, true}, {"s", must_be::positive_finite}};
  template <class Y, class N, class S>
  static auto in_support(const Y& y, const N&, const S&) {
    return y > 0;
  }
};
}  // namespace detail

struct scaled_inv_chi_square_lpdf_rule : detail::scaled_inv_chi_square_rule {
  static constexpr std::string_view
      name = "scaled_inv_chi_square_lpdf",
      text = "Log density of y > 0 with nu degrees of freedom and scale s.",
      reference =
          "nu / 2 * log(nu / 2) - loggamma(nu / 2) + nu * log(s) - (nu / 2 + 1) * log(y) - nu * s ** 2 / (2 * y)"
          " if 0 < y < inf else -inf",
      source = "log f(y; nu, s) = nu / 2 log(nu / 2) - lgamma(nu / 2) + nu log(s) - (nu / 2 + 1) log(y) - nu s^2 / (2 y)";
  template <class Y, class N, class S>
  static auto in_support(const Y& y, const N&, const S&) {
    return y > 0 && y < infinity;
  }
  template <class Y, class N, class S>
  static auto prepare(const parts& included, const Y&, const N& nu, const S&) {
    return detail::wanted_rest(included, 1, promoted_t<N>(0.5 * nu));
  }
  template <class P, class Y, class N, class S>
  static auto term(const parts&, const P& rest, const Y& y, const N& nu, const S& s) {
    using T = promoted_t<Y, N, S, P>;
    return T(-0.5 * nu * detail::deviance<T>(1.0, s / y * s) - log(y) - rest);
  }
};
/// Sum of the scaled inverse chi-square log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Nu, class Scale>
auto scaled_inv_chi_square_lpdf(const Y& y, const Nu& nu, const Scale& s) {
  return apply_probability<scaled_inv_chi_square_lpdf_rule, propto>(y, nu, s);
}

namespace rules {
using scaled_inv_chi_square_distribution = typelist<scaled_inv_chi_square_lpdf_rule>;
}

}  // namespace agrad
