// Terms of log masses and densities of shares, for the multinomial and the Dirichlet distribution: x log(share), and logarithms
// of gamma functions, of which the large parts cancel for large counts or weights.
//
// Where the total of a row's x is large, each term has the deviance of x from total * share, and each gamma function its rest:
// x log(total) - x moves from the gamma function of the total to the terms, and x log(x) - x from a gamma function to its term.
// The moved parts add up to zero in every derivative, too, so that the derivatives of what has moved are left out: the total is
// an argument that says where the parts are and has no derivative, and slopes move their parts in the same way. Only sums over
// a row have a meaning, and shares must have the sum 1: the deviances are those of shares without rounding errors.
// The Dirichlet-multinomial distribution has deviances of a table with the rows x and the counts that were drawn.
// Rules are internal. Read next: families/multivariate/dirichlet.hpp.
#pragma once

#include <agrad/families/tails/count_deviance.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>
#include <agrad/rules/gamma/rests.hpp>

namespace agrad::detail {

/// Below this total the plain terms lose three digits at most, and take half the time.
inline constexpr double large_total = 256;

/// Returns log(total * share / x) without the rounding error of the product.
inline double log_share_ratio(double x, double total, double share) {
  const double u = std::fma(total, share, -x) / x;
  return u > -0.5 && u < 1 ? std::log1p(u) : std::log(share) + log_ratio(total, x);
}

/// x log(share) of a count x, which is data; 0 where x is 0.
struct count_of_share_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "count_of_share";
  static double value(double x, double total, double share) {
    return total < large_total ? xlogy_rule::value(x, share) : -kl_div_rule::value(x, total * share);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& x, const T&, const T& share, const T&) {
    return xlogy_rule::derivative(wrt<1>(), x, share, x);
  }
};

/// log(x!) of a count x, which is data.
struct count_of_total_rule : rule<2>, data_arguments<0, 1> {
  static constexpr std::string_view name = "count_of_total";
  static double value(double x, double total) { return total < large_total ? lgamma_rule::value(1 + x) : factorial_rest(x); }
  using data_arguments::derivative;
};

/// The derivative of (x - 1) log(share) with respect to x.
struct weight_slope_rule : rule<3>, data_arguments<0, 1> {
  static constexpr std::string_view name = "weight_slope";
  static double value(double x, double total, double share) {
    return total < large_total ? std::log(share) : log_share_ratio(x, total, share);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& share, const T&) {
    return 1.0 / share;
  }
};

/// (x - 1) log(share) of a weight x; 0 where x is 1.
struct weight_of_share_rule : rule<3>, data_arguments<1> {
  static constexpr std::string_view name = "weight_of_share";
  static double value(double x, double total, double share) {
    if (total < large_total) return xlogy_rule::value(x - 1, share);
    if (share * total > smallest_argument) return -kl_div_rule::value(x, total * share) - std::log(share);
    return xlogy_rule::value(x - 1, share) + x * log_ratio(total, x) + x - total * share;
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& total, const T& share, const T&) {
    return apply<weight_slope_rule>(x, total, share);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<2>, const T& x, const T&, const T& share, const T&) {
    return xlogy_rule::derivative(wrt<1>(), T(x - 1.0), share, x);
  }
};

/// The derivative of log(gamma(x)).
struct weight_digamma_rule : rule<2>, data_arguments<1> {
  static constexpr std::string_view name = "weight_digamma";
  static double value(double x, double total) {
    if (total < large_total) return digamma(x);
    return x < 10 ? digamma(x) - std::log(x) : -digamma_rest(x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&, const T&) {
    return trigamma(x);
  }
  using data_arguments::derivative;
};

/// log(gamma(x)) of a weight x.
struct weight_of_total_rule : rule<2>, data_arguments<1> {
  static constexpr std::string_view name = "weight_of_total";
  static double value(double x, double total) { return total < large_total ? lgamma_rule::value(x) : lgamma_rest(0, x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& total, const T&) {
    return apply<weight_digamma_rule>(x, total);
  }
  using data_arguments::derivative;
};

/// Whether the large parts of log masses of counts that were drawn by weights cancel.
inline bool draws_are_large(double counts, double weights) { return counts >= large_total && weights >= large_total; }

/// Returns n all_weights - x all, with all digits but the last.
inline double cross_difference(double n, double x, double all, double all_weights) {
  const double product = x * all, lost = std::fma(x, all, -product);
  return std::fma(n, all_weights, -product) - lost;
}

/// The derivative of drawn_count_rule with respect to x.
struct drawn_count_slope_rule : rule<4>, data_arguments<0, 2, 3> {
  static constexpr std::string_view name = "drawn_count_slope";
  static double value(double n, double x, double all, double all_weights) {
    if (!draws_are_large(all, all_weights)) return -polygamma_difference(0, x, n);
    if (!(x >= 10)) return -polygamma_difference(0, x, n) - log1p_quotient(all, all_weights);
    const double u = cross_difference(n, x, all, all_weights) / x / (all + all_weights);
    const double ratio = u > -0.5 && u < 1 ? std::log1p(u) : std::log1p(n / x) - log1p_quotient(all, all_weights);
    return ratio + (digamma_rest(x) - digamma_rest(x + n));
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& x, const T&, const T&, const T&) {
    return -apply<polygamma_difference_rule>(1.0, x, n);
  }
};

/// log(gamma(x + n) / (gamma(x) n!)) of a weight x and a count n, which is data.
struct drawn_count_rule : rule<4>, data_arguments<0, 2, 3> {
  static constexpr std::string_view name = "drawn_count";
  static double value(double n, double x, double all, double all_weights) {
    if (!draws_are_large(all, all_weights)) return n == 0 ? 0 : -std::log(n) - betaln(x, n);
    const double sum = all + all_weights, step = cross_difference(n, x, all, all_weights) / sum;
    const double deviance =
        deviance_term(n, -step, (n + x) * (all / sum)) + deviance_term(x, step, (n + x) * (all_weights / sum));
    return rising_rest(x, n) - factorial_rest(n) - deviance;
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& x, const T& all, const T& all_weights, const T&) {
    return apply<drawn_count_slope_rule>(n, x, all, all_weights);
  }
};

/// The derivative of drawn_total_rule with respect to the weights.
struct drawn_total_slope_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "drawn_total_slope";
  static double value(double counts, double weights) {
    if (!draws_are_large(counts, weights)) return polygamma_difference(0, weights, counts);
    return digamma_rest(weights + counts) - digamma_rest(weights);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& counts, const T& weights, const T&) {
    return apply<polygamma_difference_rule>(1.0, weights, counts);
  }
};

/// log(gamma(weights) counts! / gamma(weights + counts)) of the totals of weights and of counts, which are data.
struct drawn_total_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "drawn_total";
  static double value(double counts, double weights) {
    if (!draws_are_large(counts, weights)) return counts == 0 ? 0 : std::log(counts) + betaln(weights, counts);
    return factorial_rest(counts) - rising_rest(weights, counts);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& counts, const T& weights, const T&) {
    return apply<drawn_total_slope_rule>(counts, weights);
  }
};

}  // namespace agrad::detail
