// The Skellam distribution, of the difference of two Poisson counts.
//
// The derivatives of a distribution function with respect to the rates are masses.
// Read first: families/tails/skellam.hpp, the parts of the mass; families/counts/skellam_tails.hpp, the tails.
#pragma once

#include <agrad/families/counts/skellam_tails.hpp>
#include <agrad/families/tails/skellam.hpp>
#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad {

namespace detail {
/// What the functions of the Skellam distribution have in common.
struct skellam_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"n", must_be::whole}, {"mu1", must_be::positive_finite}, {"mu2", must_be::positive_finite}};
};

/// Returns the logarithm of a mass: with the power series, that of the Poisson count from which n comes if the other is 0.
template <class T>
T log_skellam_mass(const T& n, const T& mu1, const T& mu2) {
  const auto by_series = [&] {
    const auto is_first = n >= 0.0;
    const T count = abs(n), of_count = either<T>(
                                is_first, [&] { return mu1; }, [&] { return mu2; });
    const T other = either<T>(
        is_first, [&] { return mu2; }, [&] { return mu1; });
    const T poisson = -kl_div(count, of_count) - apply<factorial_rest_rule>(count);
    return T(poisson + (apply<log_bessel_sum_rule>(count, mu1 * mu2) - other));
  };
  const auto by_expansion = [&] {
    const T log_z = log_2 + 0.5 * (log(mu1) + log(mu2));
    return T(apply<bessel_rest_rule<0>>(n, log_z) - apply<skellam_deviance_rule>(n, mu1, mu2));
  };
  return either<T>(skellam_radius(n, mu1, mu2) < large_skellam_radius, by_series, by_expansion);
}

/// The probability of a value up to n, or beyond it, or its logarithm.
template <bool is_upper, bool is_log>
struct skellam_tail_rule : rule<3>, data_arguments<0> {
  static constexpr auto letters = with_digits<is_upper, is_log>("skellam_tail");
  static constexpr std::string_view name = letters.data();
  static double value(double n, double mu1, double mu2) {
    if (!(mu1 > 0 && mu2 > 0 && mu1 < infinity && mu2 < infinity)) return quiet_nan;
    const double log = log_skellam_tail(n, mu1, mu2, is_upper);
    return is_log ? log : log < -log_2 ? std::exp(log) : -std::expm1(log_skellam_tail(n, mu1, mu2, !is_upper));
  }
  using data_arguments::derivative;
  template <int I, class T>
  static T derivative(wrt<I>, const T& n, const T& mu1, const T& mu2, const T& value) {
    const T log_mass = log_skellam_mass(I == 1 ? n : T(n + 1.0), mu1, mu2);
    const T size = exp(is_log ? T(log_mass - value) : log_mass);
    return (I == 1) == is_upper ? size : T(-size);
  }
};
}  // namespace detail

struct skellam_lpmf_rule : detail::skellam_rule {
  static constexpr std::string_view
      name = "skellam_lpmf",
      text = "Log mass of n, the difference of two Poisson counts with rates mu1 and mu2.",
      reference = "n * log(mu1 / mu2) / 2 - mu1 - mu2 + log(besseli(n, 2 * sqrt(mu1 * mu2)))",
      source =
          "Skellam (1946), Journal of the Royal Statistical Society 109:296: log f(n; mu1, mu2) = -mu1 - mu2"
          " + n log(mu1 / mu2) / 2 + log I_n(2 sqrt(mu1 mu2))";
  static constexpr std::string_view scipy = "skellam(mu1, mu2): x - loc; mu1, mu2";
  template <class P, class N, class L, class M>
  static auto term(const parts&, const P&, const N& n, const L& mu1, const M& mu2) {
    using T = promoted_t<N, L, M>;
    return detail::log_skellam_mass(T(n), T(mu1), T(mu2));
  }
};
/// Returns the sum of the Skellam log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Mu1, class Mu2>
auto skellam_lpmf(const N& n, const Mu1& mu1, const Mu2& mu2) {
  return apply_probability<skellam_lpmf_rule, propto>(n, mu1, mu2);
}

struct skellam_cdf_rule : detail::skellam_rule {
  static constexpr std::string_view name = "skellam_cdf",
                                    text = "Probability of a difference of two Poisson counts up to n, with rates mu1 and mu2.",
                                    reference = "skellam_share(n, mu1, mu2)[0]",
                                    source = "F(n; mu1, mu2) is an integral over a circle around 0 (Cauchy's formula)";
  static constexpr bool is_product = true;
  template <class P, class N, class L, class M>
  static auto term(const parts&, const P&, const N& n, const L& mu1, const M& mu2) {
    return apply<detail::skellam_tail_rule<false, false>>(n, mu1, mu2);
  }
};
/// Returns the product of the probabilities of values up to n; see normal_cdf.
inline constexpr probability_function<skellam_cdf_rule> skellam_cdf;

struct skellam_lcdf_rule : detail::skellam_rule {
  static constexpr std::string_view name = "skellam_lcdf", text = "Logarithm of skellam_cdf.",
                                    reference = "log(skellam_share(n, mu1, mu2)[0])", source = "log F(n; mu1, mu2)";
  template <class P, class N, class L, class M>
  static auto term(const parts&, const P&, const N& n, const L& mu1, const M& mu2) {
    return apply<detail::skellam_tail_rule<false, true>>(n, mu1, mu2);
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to n.
inline constexpr probability_function<skellam_lcdf_rule> skellam_lcdf;

struct skellam_lccdf_rule : detail::skellam_rule {
  static constexpr std::string_view
      name = "skellam_lccdf",
      text = "Logarithm of the probability of a difference of two Poisson counts beyond n, with rates mu1 and mu2.",
      reference = "log(skellam_share(n, mu1, mu2)[1])", source = "log(1 - F(n; mu1, mu2))";
  template <class P, class N, class L, class M>
  static auto term(const parts&, const P&, const N& n, const L& mu1, const M& mu2) {
    return apply<detail::skellam_tail_rule<true, true>>(n, mu1, mu2);
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond n.
inline constexpr probability_function<skellam_lccdf_rule> skellam_lccdf;

using skellam_lbetween_rule = log_between_counts<skellam_lpmf_rule, skellam_lcdf_rule, skellam_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<skellam_lbetween_rule> skellam_lbetween;

/// Draws differences of two Poisson counts with rates mu1 and mu2, each at most 2^52.
template <class Mu1, class Mu2, class URBG>
auto skellam_rng(const Mu1& mu1, const Mu2& mu2, URBG& rng) {
  return detail::draws<skellam_lpmf_rule, count_t>(
      "skellam_rng",
      [&](detail::draw_place place, double m, double n) {
        const double first = detail::draw_poisson("skellam_rng", m, place, rng);
        return first - detail::draw_poisson("skellam_rng", n, place, rng);
      },
      mu1, mu2);
}

namespace rules {
using skellam_family = family<typelist<skellam_lpmf_rule, skellam_cdf_rule, skellam_lcdf_rule, skellam_lccdf_rule>, typelist<>,
                              typelist<skellam_lbetween_rule>>;
}

}  // namespace agrad
