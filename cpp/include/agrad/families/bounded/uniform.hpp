// The uniform distribution.
#pragma once

#include <cmath>

#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard.hpp>
#include <agrad/rules/exponential.hpp>

namespace agrad {

namespace detail {

/// (y - a) / (b - a) for y between a and b. The derivatives with respect to both ends are products, because a difference of
/// slopes would cancel at one end.
struct share_of_interval_rule : rule<3> {
  static constexpr std::string_view name = "share_of_interval";
  static double value(double y, double a, double b) { return (y - a) / (b - a); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& a, const T& b, const T&) {
    return 1.0 / (b - a);
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& a, const T& b, const T&) {
    return -((b - y) / (b - a)) / (b - a);
  }
  template <class T>
  static T derivative(wrt<2>, const T& y, const T& a, const T& b, const T&) {
    return -((y - a) / (b - a)) / (b - a);
  }
};

/// The logarithm of (y - a) / (b - a).
struct log_share_of_interval_rule : rule<3> {
  static constexpr std::string_view name = "log_share_of_interval";
  static double value(double y, double a, double b) {
    const double below = y - a, above = b - y;
    return above < below ? std::log1p(-above / (b - a)) : std::log(below / (b - a));
  }
  template <class T>
  static T derivative(wrt<0>, const T& y, const T& a, const T&, const T&) {
    return 1.0 / (y - a);
  }
  template <class T>
  static T derivative(wrt<1>, const T& y, const T& a, const T& b, const T&) {
    return either<T>(
        b - y < y - a, [&] { return T(-((b - y) / (b - a)) / (y - a)); }, [&] { return T(1.0 / (b - a) - 1.0 / (y - a)); });
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T& a, const T& b, const T&) {
    return -1.0 / (b - a);
  }
};

/// What the functions of the uniform distribution have in common.
struct uniform_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {
      {"y", must_be::not_nan}, {"alpha", must_be::finite, true}, {"beta", must_be::finite, true}};
  static constexpr std::array<density_pair, 1> pairs{{{1, 2, must_be::less_than}}};
};

/// Formulas for octets of the logarithm of the share of the interval below y, or with the sign -1 of that above y.
template <int Sign>
struct log_share_octets : octet_formulas<3> {
  template <class S>
  static std::array<S, 1> prepare(const parts&, const each<S>& x) {
    return {1.0 / (x[2] - x[1])};
  }
  template <class S>
  static auto suits(const each<S>& x) {
    return x[1] < x[0] && x[0] < x[2] && within(x[2] - x[1], 1e-50, 1e50) && within(abs(x[0]), 1e-50, 1e50);
  }
  template <class S>
  static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts&, each<S>& slope) {
    constexpr std::size_t from = Sign > 0 ? 1 : 2, to = 3 - from;
    const S length = Sign * (x[0] - x[from]), other = Sign * (x[to] - x[0]), inverse = 1.0 / length;
    slope[0] = Sign * inverse;
    slope[from] = -Sign * (other * prepared[0]) * inverse;
    slope[to] = -Sign * prepared[0];
    // Near the other end the share is 1 minus a small number, and its logarithm is corrected by the digits that the share has
    // lost.
    const S missing = other * prepared[0], rest = 1.0 - missing;
    const auto is_near = other < length;
    const S value = log_inside(chosen(is_near, rest, length * prepared[0]));
    return value + chosen(is_near, ((1.0 - rest) - missing) / rest, 0.0);
  }
};

/// Returns `below` or `above`, with derivatives of 0, where y is not between the ends a and b, and formula() elsewhere.
template <class T, class Formula>
T within_interval(const T& y, const T& a, const T& b, double below, double above, const Formula& formula) {
  return either<T>(
      y <= a, [&] { return T(below); }, y >= b, [&] { return T(above); }, formula);
}

}  // namespace detail

struct uniform_lpdf_rule : detail::uniform_rule {
  static constexpr std::string_view name = "uniform_lpdf",
                                    text = "Log density of y that is uniform between alpha and beta, alpha < beta.",
                                    reference = "-log(beta - alpha) if alpha <= y <= beta else -inf",
                                    source = "log f(y; alpha, beta) = -log(beta - alpha)";
  static constexpr std::string_view scipy = "uniform: (x - loc) / scale; 0.0, 1.0";
  template <class Y, class A, class B>
  static auto in_support(const Y& y, const A& alpha, const B& beta) {
    return alpha <= y && y <= beta;
  }
  template <class Y, class A, class B>
  static auto prepare(const parts& included, const Y&, const A& alpha, const B& beta) {
    using T = promoted_t<A, B>;
    return included.of({1, 2}) ? T(-log(beta - alpha)) : T(0.0);
  }
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P& minus_log_width, const Y&, const A&, const B&) {
    return minus_log_width;
  }

  struct octets : octet_formulas<3> {
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      return {uniform_lpdf_rule::prepare(included, x[0], x[1], x[2]), 1.0 / (x[2] - x[1])};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[1] <= x[0] && x[0] <= x[2] && within(x[2] - x[1], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>&, const parts&, each<S>& slope) {
      slope[0] = 0.0;
      slope[1] = prepared[1];
      slope[2] = -prepared[1];
      return prepared[0];
    }
  };
};
/// Returns the sum of the uniform log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Alpha, class Beta>
auto uniform_lpdf(const Y& y, const Alpha& alpha, const Beta& beta) {
  return apply_probability<uniform_lpdf_rule, propto>(y, alpha, beta);
}

struct uniform_cdf_rule : detail::uniform_rule {
  static constexpr std::string_view name = "uniform_cdf",
                                    text = "Probability of a value up to y, uniform between alpha and beta, alpha < beta.",
                                    reference = "(y - alpha) / (beta - alpha) if alpha < y < beta else 0 if y <= alpha else 1",
                                    source = "F(y; alpha, beta) = (y - alpha) / (beta - alpha)";
  static constexpr bool is_product = true;
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T at(y), a(alpha), b(beta);
    return detail::within_interval(at, a, b, 0, 1, [&] { return T(apply<detail::share_of_interval_rule>(at, a, b)); });
  }
};
/// Returns the product of the uniform probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<uniform_cdf_rule> uniform_cdf;

struct uniform_lcdf_rule : detail::uniform_rule {
  static constexpr std::string_view name = "uniform_lcdf", text = "Logarithm of uniform_cdf.",
                                    reference =
                                        "log((y - alpha) / (beta - alpha)) if alpha < y < beta else -inf if y <= alpha else 0",
                                    source = "log F(y; alpha, beta) = log((y - alpha) / (beta - alpha))";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T at(y), a(alpha), b(beta);
    const auto formula = [&] { return T(apply<detail::log_share_of_interval_rule>(at, a, b)); };
    return detail::within_interval(at, a, b, -infinity, 0, formula);
  }

  using octets = detail::log_share_octets<1>;
};
/// Returns the sum of the logarithms of the uniform probabilities of values up to y.
inline constexpr probability_function<uniform_lcdf_rule> uniform_lcdf;

struct uniform_lccdf_rule : detail::uniform_rule {
  static constexpr std::string_view
      name = "uniform_lccdf",
      text = "Logarithm of the probability of a value beyond y, uniform between alpha and beta, alpha < beta.",
      reference = "log((beta - y) / (beta - alpha)) if alpha < y < beta else 0 if y <= alpha else -inf",
      source = "log(1 - F(y; alpha, beta)) = log((beta - y) / (beta - alpha))";
  template <class P, class Y, class A, class B>
  static auto term(const parts&, const P&, const Y& y, const A& alpha, const B& beta) {
    using T = promoted_t<Y, A, B>;
    const T at(y), a(alpha), b(beta);
    const auto formula = [&] { return T(apply<detail::log_share_of_interval_rule>(-at, -b, -a)); };
    return detail::within_interval(at, a, b, 0, -infinity, formula);
  }

  using octets = detail::log_share_octets<-1>;
};
/// Returns the sum of the logarithms of the uniform probabilities of values beyond y.
inline constexpr probability_function<uniform_lccdf_rule> uniform_lccdf;

struct uniform_quantile : quantile_of<uniform_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    const T below = (beta - alpha) * p;
    return is_upper ? T(beta - below) : T(alpha + below);
  }
};
/// Returns the value up to which the probability is p: the inverse of uniform_cdf.
inline constexpr quantile_function<uniform_quantile> uniform_qf;
/// Returns the value beyond which the probability is p.
inline constexpr quantile_function<uniform_quantile, true> uniform_cqf;

using uniform_lbetween_rule = log_between<uniform_lpdf_rule, uniform_lcdf_rule, uniform_lccdf_rule>;
/// Returns the sum of the log probabilities of values between lower and upper.
inline constexpr probability_function<uniform_lbetween_rule> uniform_lbetween;

/// Draws uniform numbers between alpha and beta, alpha < beta.
template <class Alpha, class Beta, class URBG>
auto uniform_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<uniform_lpdf_rule, double>(
      "uniform_rng",
      [&](detail::draw_place place, double a, double b) {
        if (!(a < b))
          detail::fail_draw("uniform_rng", "beta", b, "greater than alpha", place, "alpha is " + detail::to_text(a));
        const double u = open_unit_rng(rng);
        return std::fmin(std::fmax(a * (1 - u) + b * u, a), b);
      },
      alpha, beta);
}

namespace rules {
using uniform_family = family<typelist<uniform_lpdf_rule, uniform_cdf_rule, uniform_lcdf_rule, uniform_lccdf_rule>,
                              typelist<uniform_quantile>, typelist<uniform_lbetween_rule>>;
}

}  // namespace agrad
