// The scaled inverse chi-square distribution.
#pragma once

#include <agrad/families/shared/gamma_tails.hpp>
#include <agrad/families/shared/shape_quantiles.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>

namespace agrad {

namespace detail {
/// What the functions of the scaled inverse chi-square distribution have in common.
struct scaled_inv_chi_square_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"nu", must_be::positive_finite, true}, {"s", must_be::positive_finite, true}};
  template <class Y, class N, class S>
  static auto in_support(const Y& y, const N&, const S&) {
    return y > 0;
  }
};

/// Returns kl_div(1, s^2 / y), also where the square or the quotient underflows.
template <class S, class Y>
promoted_t<S, Y> deviance_of_square(const S& s, const Y& y) {
  using T = promoted_t<S, Y>;
  return either<T>(
      s * s < smallest_argument || s * s < y * smallest_argument, [&] { return T(log(y) - 2.0 * log(s) - 1.0); },
      [&] { return T(quotient_at(s * s, y).deviance_of(1.0)); });
}

/// The argument nu s^2 / (2 y).
template <class N, class B, class S, class Y>
struct square_argument {
  using argument = quotient_argument;
  B b;
  Y y;
  N nu;
  S s;
  promoted_t<B, Y> value() const { return b / y; }
  promoted_t<B, Y> log_value() const { return log(0.5 * nu) + 2.0 * log(s) - log(y); }
  /// Returns the logarithm of gammaincc of an argument so large, or infinite, that its asymptotic series (DLMF 8.11.2) is 1 to
  /// all digits. Derivatives by nu are then no differences of large ones by shape and argument.
  template <class T>
  T log_upper_tail_of_large(const T& shape) const {
    return (shape - 1.0) * log_value() - lgamma(shape) - shape * (s / y) * s;
  }
};
template <class N, class S, class Y>
auto square_over(const N& nu, const S& s, const Y& y) {
  using B = promoted_t<N, S>;
  return square_argument<N, B, S, Y>{B(0.5 * nu * (s * s)), y, nu, s};
}
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
    return T(-0.5 * nu * detail::deviance_of_square(s, y) - log(y) - rest);
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 3> prepare(const parts& included, const each<S>& x) {
      const S shape = 0.5 * x[1], log_scale = log(shape) + 2.0 * log(x[2]);
      return {0.5 * (log_scale + 1.0 - apply<digamma_rule>(shape)),
              shape * log_scale - detail::wanted_lgamma(included, 1, shape), x[1] / x[2]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], 1e-50, 1e50) && within(x[1], 1e-3, 128) && within(x[2], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 3>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      const S log_y = log(x[0]), inverse = 1.0 / x[0], shape = 0.5 * x[1], ratio = x[2] * x[2] * inverse;
      slope[0] = (shape * ratio - (shape + 1.0)) * inverse;
      slope[1] = prepared[0] - 0.5 * (log_y + ratio);
      slope[2] = prepared[2] * (1.0 - ratio);
      return prepared[1] - (shape + 1.0) * log_y - shape * ratio;
    }
  };
};
/// Returns the sum of the scaled inverse chi-square log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Nu, class Scale>
auto scaled_inv_chi_square_lpdf(const Y& y, const Nu& nu, const Scale& s) {
  return apply_probability<scaled_inv_chi_square_lpdf_rule, propto>(y, nu, s);
}

struct scaled_inv_chi_square_cdf_rule : detail::scaled_inv_chi_square_rule {
  static constexpr std::string_view name = "scaled_inv_chi_square_cdf",
                                    text = "Probability of a value up to y, with nu degrees of freedom and scale s.",
                                    reference = "upper_gamma(nu / 2, nu * s ** 2 / (2 * y)) if y > 0 else 0",
                                    source = "F(y; nu, s) = gammaincc(nu / 2, nu s^2 / (2 y))";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class N, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const S& s) {
    return detail::gamma_tail_of<true, promoted_t<Y, N, S>>(y == infinity, 1.0, 0.5 * nu, detail::square_over(nu, s, y));
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<scaled_inv_chi_square_cdf_rule> scaled_inv_chi_square_cdf;

struct scaled_inv_chi_square_lcdf_rule : detail::scaled_inv_chi_square_rule {
  static constexpr std::string_view name = "scaled_inv_chi_square_lcdf", text = "Logarithm of scaled_inv_chi_square_cdf.",
                                    reference = "log(upper_gamma(nu / 2, nu * s ** 2 / (2 * y))) if y > 0 else -inf",
                                    source = "log F(y; nu, s) = log gammaincc(nu / 2, nu s^2 / (2 y))";
  template <class P, class Y, class N, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const S& s) {
    using T = promoted_t<Y, N, S>;
    const auto argument = detail::square_over(nu, s, y);
    const T shape = 0.5 * nu;
    return either<T>(
        argument.value() > 1e30 * (1.0 + nu) && y < infinity, [&] { return argument.log_upper_tail_of_large(shape); },
        [&] { return T(detail::log_gamma_tail_of<true, T>(y == infinity, 0.0, shape, argument)); });
  }

  using octets = detail::square_over_tail_octets<true>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<scaled_inv_chi_square_lcdf_rule> scaled_inv_chi_square_lcdf;

struct scaled_inv_chi_square_lccdf_rule : detail::scaled_inv_chi_square_rule {
  static constexpr std::string_view
      name = "scaled_inv_chi_square_lccdf",
      text = "Logarithm of the probability of a value beyond y, with nu degrees of freedom and scale s.",
      reference = "log(lower_gamma(nu / 2, nu * s ** 2 / (2 * y))) if y > 0 else 0",
      source = "log(1 - F(y; nu, s)) = log gammainc(nu / 2, nu s^2 / (2 y))";
  static constexpr double outside = 0;
  template <class P, class Y, class N, class S>
  static auto term(const parts&, const P&, const Y& y, const N& nu, const S& s) {
    return detail::log_gamma_tail_of<false, promoted_t<Y, N, S>>(y == infinity, -infinity, 0.5 * nu,
                                                                 detail::square_over(nu, s, y));
  }

  using octets = detail::square_over_tail_octets<false>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<scaled_inv_chi_square_lccdf_rule> scaled_inv_chi_square_lccdf;

struct scaled_inv_chi_square_quantile : quantile_of<scaled_inv_chi_square_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu, const T& s) {
    return 0.5 * nu * s * detail::over_gamma_quantile_of(!is_upper, p, T(0.5 * nu), s);
  }
};
/// Returns the value up to which the probability is p: the inverse of scaled_inv_chi_square_cdf.
inline constexpr quantile_function<scaled_inv_chi_square_quantile> scaled_inv_chi_square_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<scaled_inv_chi_square_quantile, true> scaled_inv_chi_square_cqf;

using scaled_inv_chi_square_lbetween_rule = log_between<scaled_inv_chi_square_lpdf_rule, scaled_inv_chi_square_lcdf_rule,
                                                        scaled_inv_chi_square_lccdf_rule, detail::steep_log_coordinate>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<scaled_inv_chi_square_lbetween_rule> scaled_inv_chi_square_lbetween;

/// Draws nu s^2 divided by chi-square numbers with nu degrees of freedom.
template <class Nu, class S, class URBG>
auto scaled_inv_chi_square_rng(const Nu& nu, const S& s, URBG& rng) {
  return detail::draws<scaled_inv_chi_square_lpdf_rule, double>(
      "scaled_inv_chi_square_rng",
      [&](detail::draw_place, double n, double scale) {
        const double root = detail::draw_gamma_power(n / 2, n / 2, -0.5, scale, rng);
        return root * root;
      },
      nu, s);
}

namespace rules {
using scaled_inv_chi_square_family =
    family<typelist<scaled_inv_chi_square_lpdf_rule, scaled_inv_chi_square_cdf_rule, scaled_inv_chi_square_lcdf_rule,
                    scaled_inv_chi_square_lccdf_rule>,
           typelist<scaled_inv_chi_square_quantile>, typelist<scaled_inv_chi_square_lbetween_rule>>;
}

}  // namespace agrad
