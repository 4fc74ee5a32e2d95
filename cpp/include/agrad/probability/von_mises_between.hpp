// The log probability of an arc by the von Mises distribution.
//
// An arc is turned so that the mode is at 0 and the antimode, where the density is least, at both ends of the circle. An arc
// without the antimode is an interval as of any distribution; one with the antimode consists of both tails.
#pragma once

#include <agrad/probability/between.hpp>
#include <agrad/probability/von_mises.hpp>
#include <agrad/probability/von_mises_cdf.hpp>

namespace agrad {

struct von_mises_lbetween_rule : log_between<von_mises_lpdf_rule, von_mises_lcdf_rule, von_mises_lccdf_rule> {
  template <class Parts, class P, class L, class U, class M, class K>
  static auto term(const Parts&, const P&, const L& lower, const U& upper, const M& mu, const K& kappa) {
    using T = promoted_t<L, U, M, K>;
    const auto mean = apply<detail::reduced_angle_rule>(mu);  // of a large mu, lower would vanish beside it
    const T from(lower - mean);
    const T turn = either<T>(
        from > detail::pi, [] { return T(-2.0 * detail::pi); }, from < -detail::pi, [] { return T(2.0 * detail::pi); },
        [] { return T(0.0); });
    const T begin = from + turn, end = (upper - mean) + turn;
    return either<T>(
        end <= detail::pi, [&] { return smooth<T>(begin, end, 0.0, kappa); },
        [&] { return of_both_tails(begin, T(end - 2.0 * detail::pi), T(kappa)); });
  }

 private:
  /// Returns the log probability of the angles beyond `begin`, or up to `end`.
  template <class T>
  static T of_both_tails(const T& begin, const T& end, const T& kappa) {
    const T others = smooth<T>(end, begin, 0.0, kappa);
    return either<T>(
        others < -0.7, [&] { return T(log1m(exp(others))); },
        [&] {
          return T(log_sum_exp(detail::term_anywhere<von_mises_lccdf_rule, T>(begin, 0.0, kappa),
                               detail::term_anywhere<von_mises_lcdf_rule, T>(end, 0.0, kappa)));
        });
  }
};
/// Returns the sum of the logarithms of the probabilities of angles between lower and upper, which are between -pi and pi.
template <class Lower, class Upper, class Mu, class Kappa>
auto von_mises_lbetween(const Lower& lower, const Upper& upper, const Mu& mu, const Kappa& kappa) {
  return apply_probability<von_mises_lbetween_rule>(lower, upper, mu, kappa);
}

}  // namespace agrad
