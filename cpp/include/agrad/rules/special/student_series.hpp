// The tails of Student's t distribution for moderate degrees of freedom, with first derivatives, as templates on a number or on
// eight of them.
//
// With p = nu / (nu + t^2) and q = 1 - p, the probability between 0 and t > 0 is the incomplete beta function of q, and that
// beyond t the incomplete beta function of p, both as series of positive terms (DLMF 8.17.8): the first one for small t, the
// second one elsewhere. One loop has both series, and their derivatives with respect to nu at a fixed t.
// Read next: rules/special/student_tail.hpp, the tails for all degrees of freedom.
#pragma once

#include <array>

#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/gamma/beta.hpp>
#include <agrad/rules/power.hpp>

namespace agrad::detail {

/// Returns for which nu and z = distance / scale the series are short, and their parts do not overflow.
template <class S>
AGRAD_ALWAYS_INLINE auto has_student_series(const S& nu, const S& distance, const S& scale) {
  return nu > 0.05 && nu < 20.0 && scale > 1e-50 && scale < 1e50 && distance > -1e50 * scale && distance < 1e50 * scale;
}

/// A series whose terms have the ratio r (h + k) / (c + k) from k to k + 1, and the derivative of its logarithm with respect to
/// nu: that of h is 1/2, those of c and log(r) are given.
template <class S>
struct student_series {
  S sum, slope;

  AGRAD_ALWAYS_INLINE student_series(const S& h, const S& c, const S& r, const S& of_c, const S& of_log_r) {
    S total = 1.0, of_total = 0.0, term = 1.0, growth = 0.0;
    for (double k = 0; k < 2000; ++k) {
      const S top = h + k, bottom = c + k, inverse = 1.0 / (top * bottom);
      term = term * (r * (top * top)) * inverse;
      growth = growth + ((0.5 * bottom - of_c * top) * inverse + of_log_r);
      total = total + term;
      of_total = of_total + term * growth;
      if (all_hold(term < 1e-18 * total)) break;
    }
    sum = total;
    slope = of_total / total;
  }
};

/// What depends on nu alone: the logarithm of beta(1/2, nu / 2), and the derivative of -log(sqrt(nu) beta(1/2, nu / 2)).
template <class S>
std::array<S, 2> student_constants(const S& nu) {
  const S half = 0.5 * nu;
  return {apply<betaln_rule>(half, 0.5), -0.5 * (apply<polygamma_difference_rule>(0.0, half, 0.5) + 1.0 / nu)};
}

/// A tail or its logarithm, and the derivatives with respect to nu, z and log(z).
template <class S>
struct student_tail_slopes {
  S value, of_nu, of_z, of_log_z;
};

/// Returns the tail beyond z or its logarithm. Where the second series has the tail, for z > 0, its logarithm is finite also if
/// the tail underflows.
template <class S>
AGRAD_ALWAYS_INLINE student_tail_slopes<S> student_tail_by_series(const std::array<S, 2>& constants, const S& nu, const S& z,
                                                                  bool is_log) {
  const S zero = 0.0, half = 0.5, one = 1.0, square = z * z, whole = nu + square, inverse = 1.0 / whole, q = square * inverse;
  const auto is_central = square <= 2.25 && square <= nu, is_positive = z > 0.0;
  const S per_nu = chosen(is_central, one, 1.0 / nu), of_log_p = q / nu;
  const student_series<S> series(0.5 * nu + half, chosen(is_central, S(1.5), 0.5 * nu + one),
                                 chosen(is_central, q, nu * inverse), chosen(is_central, zero, half),
                                 chosen(is_central, -inverse, of_log_p));
  const S log_p = -apply<log1p_rule>(square / nu), log_power = 0.5 * nu * log_p - constants[0];
  const S power = apply<exp_rule>(log_power), per_root = 1.0 / apply<sqrt_rule>(whole);
  const S density = power * per_root, share = chosen(is_positive, z, -z) * per_root, stretch = z * per_root * power;
  // The probability between 0 and |z|, or that beyond |z|, and the derivative of its logarithm.
  const S factor = share * series.sum * per_nu, mass = power * factor;
  const S of_mass = constants[1] + 0.5 * (log_p + q + of_log_p) + series.slope - chosen(is_central, zero, per_nu);
  const S sign = chosen(is_positive, -one, one), signed_mass = chosen(is_central, sign, -sign) * mass;
  const S tail = chosen(is_central, half, chosen(is_positive, zero, one)) + signed_mass, of_nu = signed_mass * of_mass;
  if (!is_log) return {tail, of_nu, -density, -stretch};
  const S log_beyond = log_power + apply<log_rule>(chosen(is_central, one, factor)), per_tail = 1.0 / tail;
  const S log_tail = chosen(is_central, apply<log_rule>(chosen(is_central, tail, one)), apply<log1p_rule>(-mass));
  const S hazard = nu / series.sum;
  const auto with_beyond = [&](const S& beyond, const S& other) {
    return chosen(is_central, other, chosen(is_positive, beyond, other));
  };
  return {with_beyond(log_beyond, log_tail), with_beyond(of_mass, of_nu * per_tail),
          -with_beyond(hazard / z, density * per_tail), -with_beyond(hazard, stretch * per_tail)};
}

}  // namespace agrad::detail
