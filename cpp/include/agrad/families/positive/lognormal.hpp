// The lognormal distribution. lognormal_lpdf is in rules/density/normal.hpp.
#pragma once

#include <cmath>

#include <agrad/families/line/normal.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// The distribution functions are those of the normal distribution at log(y) where y is positive.
struct lognormal_rule : location_scale_rule {
  template <class Y, class M, class S>
  static auto in_support(const Y& y, const M&, const S&) {
    return y > 0.0;
  }
};

/// Formulas for octets: those of the normal distribution at log(y).
template <class Normal>
struct lognormal_octets : Normal {
  using formulas = Normal;
  using typename formulas::parts;
  template <class S>
  using each = typename formulas::template each<S>;
  template <class S>
  static auto suits(const each<S>& x) {
    return formulas::within(x[0], 1e-300, 1e300) && formulas::suits(at_log(x));
  }
  template <class S>
  static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts& included, each<S>& slope) {
    const S value = formulas::term(prepared, at_log(x), included, slope);
    slope[0] = slope[0] / x[0];
    return value;
  }

 private:
  template <class S>
  static each<S> at_log(const each<S>& x) {
    return {log_inside(x[0]), x[1], x[2]};
  }
};
}  // namespace detail

struct lognormal_cdf_rule : detail::lognormal_rule {
  static constexpr std::string_view name = "lognormal_cdf",
                                    text = "Probability of a value up to y whose logarithm has mean mu and deviation sigma.",
                                    reference = "ncdf((log(y) - mu) / sigma) if y > 0 else 0",
                                    source = "F(y; mu, sigma) = Phi((log y - mu) / sigma)";
  static constexpr std::string_view scipy = "lognorm(s): x - loc; log(scale), s";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_cdf_of(promoted_t<Y, M, S>((log(y) - mu) / sigma));
  }

  using octets = detail::lognormal_octets<detail::normal_cdf_octets>;
};
/// Returns the product of the lognormal probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<lognormal_cdf_rule> lognormal_cdf;

struct lognormal_lcdf_rule : detail::lognormal_rule {
  static constexpr std::string_view name = "lognormal_lcdf", text = "Logarithm of lognormal_cdf.",
                                    reference =
                                        "(-inf if y <= 0 else log(ncdf((log(y) - mu) / sigma)) if log(y) < mu"
                                        " else log1p(-ncdf((mu - log(y)) / sigma)))",
                                    source = "log F(y; mu, sigma) = log Phi((log y - mu) / sigma)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((log(y) - mu) / sigma));
  }

  using octets = detail::lognormal_octets<detail::normal_lcdf_octets<1>>;
};
/// Returns the sum of the logarithms of the lognormal probabilities of values up to y.
inline constexpr probability_function<lognormal_lcdf_rule> lognormal_lcdf;

struct lognormal_lccdf_rule : detail::lognormal_rule {
  static constexpr std::string_view
      name = "lognormal_lccdf",
      text = "Logarithm of the probability of a value beyond y whose logarithm has mean mu and deviation sigma.",
      reference =
          "(0 if y <= 0 else log(ncdf((mu - log(y)) / sigma)) if log(y) > mu"
          " else log1p(-ncdf((log(y) - mu) / sigma)))",
      source = "log(1 - F(y; mu, sigma)) = log Phi((mu - log y) / sigma)";
  static constexpr double outside = 0;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((mu - log(y)) / sigma));
  }

  using octets = detail::lognormal_octets<detail::normal_lcdf_octets<-1>>;
};
/// Returns the sum of the logarithms of the lognormal probabilities of values beyond y.
inline constexpr probability_function<lognormal_lccdf_rule> lognormal_lccdf;

struct lognormal_quantile : quantile_of<lognormal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return exp(normal_quantile::term(is_upper, p, mu, sigma));
  }
};
/// Returns the value up to which the probability is p: the inverse of lognormal_cdf.
inline constexpr quantile_function<lognormal_quantile> lognormal_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<lognormal_quantile, true> lognormal_cqf;

template <>
struct terms_of_density<lognormal_lpdf_rule> : detail::location_scale_rule {
  template <class Y, class M, class S>
  static auto in_support(const Y& y, const M&, const S&) {
    return y > 0 && y < infinity;
  }
  template <class P, class Y, class M, class S>
  static auto term(const parts& included, const P& nothing, const Y& y, const M& mu, const S& sigma) {
    const promoted_t<Y> log_y(log(y));
    return terms_of_density<normal_lpdf_rule>::term(included, nothing, log_y, mu, sigma) - log_y;
  }
};

using lognormal_lbetween_rule =
    log_between<terms_of_density<lognormal_lpdf_rule>, lognormal_lcdf_rule, lognormal_lccdf_rule, detail::log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<lognormal_lbetween_rule> lognormal_lbetween;

/// Draws numbers whose logarithms are normal with mean mu and standard deviation sigma.
template <class Mu, class Sigma, class URBG>
auto lognormal_rng(const Mu& mu, const Sigma& sigma, URBG& rng) {
  return detail::draws<lognormal_lpdf_rule, double>(
      "lognormal_rng", [&](detail::draw_place, double m, double s) { return std::exp(m + s * detail::draw_normal(rng)); }, mu,
      sigma);
}

namespace rules {
using lognormal_family = family<typelist<lognormal_cdf_rule, lognormal_lcdf_rule, lognormal_lccdf_rule>,
                                typelist<lognormal_quantile>, typelist<lognormal_lbetween_rule>>;
}

}  // namespace agrad
