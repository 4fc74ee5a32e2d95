// Location and scale: what families of z = (y - mu) / sigma have in common.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/piecewise.hpp>

namespace agrad::detail {

/// The arguments of families with a location mu and a scale sigma.
struct location_scale_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"mu", must_be::finite}, {"sigma", must_be::positive_finite, true}};
};

/// The same for densities, which are 0 at infinite y.
struct location_scale_density : location_scale_rule {
  template <class Y, class M, class S>
  static auto in_support(const Y& y, const M&, const S&) {
    return abs(y) < infinity;
  }
};

/// Returns constant - log(scale), the parts of a log density that do not depend on y; the scale is argument K.
template <int K, class Parts, class S>
promoted_t<S> log_density_of_scale(const Parts& included, double constant, const S& scale) {
  promoted_t<S> sum(included.constants() ? constant : 0.0);
  if (included.of({K})) sum -= log(scale);
  return sum;
}

/// Returns `below` or `above`, with derivatives of 0, where z is infinite, and formula() elsewhere.
template <class T, class Formula>
T with_limits(const T& z, double below, double above, const Formula& formula) {
  return either<T>(
      z == -infinity, [&] { return T(below); }, z == infinity, [&] { return T(above); }, formula);
}

}  // namespace agrad::detail
