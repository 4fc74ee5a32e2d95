// Quantiles of the standard gamma and of the beta distribution, from which those of their relatives are made.
#pragma once

#include <agrad/probability/quantile.hpp>
#include <agrad/rules/special/quantiles.hpp>

namespace agrad::detail {

/// Returns the quantile of the standard gamma distribution.
template <class T>
T gamma_quantile_of(bool is_upper, const T& p, const T& shape) {
  return is_upper ? T(apply<gamma_quantile_rule<true>>(p, shape)) : T(apply<gamma_quantile_rule<false>>(p, shape));
}
/// Returns b over this quantile.
template <class T>
T over_gamma_quantile_of(bool is_upper, const T& p, const T& shape, const T& b) {
  return is_upper ? T(apply<over_gamma_quantile_rule<true>>(p, shape, b))
                  : T(apply<over_gamma_quantile_rule<false>>(p, shape, b));
}
/// Returns the quantile of the beta distribution.
template <class T>
T beta_quantile_of(bool is_upper, const T& p, const T& alpha, const T& beta) {
  return is_upper ? T(apply<beta_quantile_rule<true>>(p, alpha, beta)) : T(apply<beta_quantile_rule<false>>(p, alpha, beta));
}

}  // namespace agrad::detail
