// Density terms: the terms of the densities of rules/density as probability rules, where entries are wanted instead of sums.
#pragma once

#include <agrad/probability/lognormal.hpp>

namespace agrad {

/// The terms of a density of rules/density.
template <class Density>
struct terms_of_density;

template <>
struct terms_of_density<normal_lpdf_rule> : detail::location_scale_density {
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    const promoted_t<Y, M, S> z = (y - mu) / sigma;
    return -detail::half_log_two_pi - log(sigma) - 0.5 * (z * z);
  }
};

template <>
struct terms_of_density<lognormal_lpdf_rule> : probability_rule<3> {
  static constexpr auto& arguments = lognormal_lpdf_rule::arguments;
  template <class Y, class M, class S>
  static auto in_support(const Y& y, const M&, const S&) {
    return y > 0 && y < infinity;
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts& included, const P& nothing, const Y& y, const M& mu, const S& sigma) {
    return terms_of_density<normal_lpdf_rule>::term(included, nothing, log(y), mu, sigma) - log(y);
  }
};

}  // namespace agrad
