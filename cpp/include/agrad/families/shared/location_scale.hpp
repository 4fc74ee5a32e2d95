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

/// The same arguments for densities, which are 0 at infinite y.
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

/// Formulas for octets of z = (y - mu) / sigma. Prepared are 1 / sigma, and what the rule prepares.
template <class Rule>
struct location_scale_octets : octet_formulas<3> {
  template <class S>
  static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
    return {1.0 / x[2], Rule::prepare(included, x[0], x[1], x[2])};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0] - x[1], -1e50, 1e50) && within(x[2], 1e-50, 1e50);
  }

 protected:
  /// Returns where exp(z) does not overflow for |z| below `limit`, and 1 - exp(z) has lost less than three digits.
  template <class S>
  static auto suits_exponential(const each<S>& x, double limit) {
    const S size = abs(x[0] - x[1]);
    return within(x[2], 1e-50, 1e50) && within(size, 1e-3 * x[2], limit * x[2]);
  }
};

/// Formulas for octets of distribution functions of z = (y - mu) / sigma. Prepared is 1 / sigma.
struct scaled_distance_octets : octet_formulas<3> {
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / x[2]};
  }

 protected:
  /// Returns where |z| is below `limit`.
  template <class S>
  static auto suits_distance(const each<S>& x, double limit) {
    return within(x[2], 1e-50, 1e50) && abs(x[0] - x[1]) < limit * x[2];
  }
  /// Writes the partial derivatives, from the partial derivative with respect to z.
  template <class S>
  AGRAD_ALWAYS_INLINE static void write_slopes(const S& by_z, const S& z, const S& inverse, each<S>& slope) {
    slope[0] = by_z * inverse;
    slope[1] = -slope[0];
    slope[2] = -z * slope[0];
  }
};

/// Formulas for octets of a function of z: at(z, slope), used where |z| is below `limit`.
template <class Standard>
struct standardised_octets : scaled_distance_octets {
  template <class S>
  static auto suits(const each<S>& x) {
    return suits_distance(x, Standard::limit);
  }
  template <class S>
  static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    const S z = (x[0] - x[1]) * prepared[0];
    S by_z;
    const S value = Standard::at(z, by_z);
    write_slopes(by_z, z, prepared[0], slope);
    return value;
  }
};

/// Returns `below` or `above`, with derivatives of 0, where z is infinite, and formula() elsewhere.
template <class T, class Formula>
T with_limits(const T& z, double below, double above, const Formula& formula) {
  return either<T>(
      z == -infinity, [&] { return T(below); }, z == infinity, [&] { return T(above); }, formula);
}

}  // namespace agrad::detail
