// Quantiles of distributions on the whole line, with the lognormal and the uniform distribution.
#pragma once

#include <agrad/probability/cauchy.hpp>
#include <agrad/probability/double_exponential.hpp>
#include <agrad/probability/exp_mod_normal_quantile.hpp>
#include <agrad/probability/generalized_extreme_value.hpp>
#include <agrad/probability/gumbel.hpp>
#include <agrad/probability/logistic.hpp>
#include <agrad/probability/lognormal.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/probability/skew_double_exponential.hpp>
#include <agrad/probability/skew_normal_quantile.hpp>
#include <agrad/probability/student_t_cdf.hpp>
#include <agrad/probability/uniform.hpp>
#include <agrad/probability/von_mises_quantile.hpp>
#include <agrad/rules/entropy.hpp>
#include <agrad/rules/normal_quantiles.hpp>
#include <agrad/rules/quantiles.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad {

struct std_normal_quantile : quantile_of<std_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p) {
    return detail::reflected(is_upper, T(ndtri(p)));
  }
};
/// Returns the value up to which the probability is p: the inverse of std_normal_cdf.
template <class P>
auto std_normal_qf(const P& p) {
  return detail::apply_quantile<std_normal_quantile>(false, p);
}
/// Returns the value beyond which the probability is p.
template <class P>
auto std_normal_cqf(const P& p) {
  return detail::apply_quantile<std_normal_quantile>(true, p);
}

struct normal_quantile : quantile_of<normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return mu + sigma * std_normal_quantile::term(is_upper, p);
  }
};
/// Returns the value up to which the probability is p: the inverse of normal_cdf.
template <class P, class Mu, class Sigma>
auto normal_qf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<normal_quantile>(false, p, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma>
auto normal_cqf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<normal_quantile>(true, p, mu, sigma);
}

struct lognormal_quantile : quantile_of<lognormal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return exp(normal_quantile::term(is_upper, p, mu, sigma));
  }
};
/// Returns the value up to which the probability is p: the inverse of lognormal_cdf.
template <class P, class Mu, class Sigma>
auto lognormal_qf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<lognormal_quantile>(false, p, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma>
auto lognormal_cqf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<lognormal_quantile>(true, p, mu, sigma);
}

struct student_t_quantile : quantile_of<student_t_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu, const T& mu, const T& sigma) {
    return mu + sigma * detail::reflected(is_upper, T(apply<detail::student_quantile_rule>(p, nu)));
  }
};
/// Returns the value up to which the probability is p: the inverse of student_t_cdf.
template <class P, class Nu, class Mu, class Sigma>
auto student_t_qf(const P& p, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<student_t_quantile>(false, p, nu, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Nu, class Mu, class Sigma>
auto student_t_cqf(const P& p, const Nu& nu, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<student_t_quantile>(true, p, nu, mu, sigma);
}

struct cauchy_quantile : quantile_of<cauchy_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    const auto low = p < 0.25;
    const auto high = p > 0.75;
    const T x = either<T>(
        low, [&] { return T(-1.0 / tan(detail::pi * p)); },          //
        high, [&] { return T(1.0 / tan(detail::pi * (1.0 - p))); },  //
        [&] { return T(tan(detail::pi * (p - 0.5))); });
    return mu + sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of cauchy_cdf.
template <class P, class Mu, class Sigma>
auto cauchy_qf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<cauchy_quantile>(false, p, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma>
auto cauchy_cqf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<cauchy_quantile>(true, p, mu, sigma);
}

struct double_exponential_quantile : quantile_of<double_exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    const T x = either<T>(
        p < 0.5, [&] { return T(log(2.0 * p)); }, [&] { return T(-log(2.0 * (1.0 - p))); });
    return mu + sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of double_exponential_cdf.
template <class P, class Mu, class Sigma>
auto double_exponential_qf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<double_exponential_quantile>(false, p, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma>
auto double_exponential_cqf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<double_exponential_quantile>(true, p, mu, sigma);
}

struct skew_double_exponential_quantile : quantile_of<skew_double_exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& tau) {
    // tau is the probability below mu, and `near` that of the side where the quantiles of small p are.
    const T rest = 1.0 - tau, near = is_upper ? rest : tau, far = is_upper ? tau : rest;
    // near - p, which counts near mu, from a difference that is exact there.
    const auto from_rest = [&] {
      return either<T>(
          p > 0.5, [&] { return T((1.0 - p) - tau); }, [&] { return T(rest - p); });
    };
    const T excess = is_upper ? from_rest() : T(tau - p);
    const auto is_far_out = 2.0 * p < near;
    const auto is_in_near = excess > 0.0;
    const auto is_beside = -2.0 * excess < far;
    const T x = either<T>(
        is_far_out, [&] { return T(apply<detail::log_ratio_rule>(p, near) / far); },  //
        is_in_near, [&] { return T(log1p(-excess / near) / far); },                   //
        is_beside, [&] { return T(-log1p(excess / far) / near); },
        [&] { return T(apply<detail::log_ratio_rule>(far, T(1.0 - p)) / near); });
    return mu + 0.5 * sigma * detail::reflected(is_upper, x);
  }
};
/// Returns the value up to which the probability is p: the inverse of skew_double_exponential_cdf.
template <class P, class Mu, class Sigma, class Tau>
auto skew_double_exponential_qf(const P& p, const Mu& mu, const Sigma& sigma, const Tau& tau) {
  return detail::apply_quantile<skew_double_exponential_quantile>(false, p, mu, sigma, tau);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma, class Tau>
auto skew_double_exponential_cqf(const P& p, const Mu& mu, const Sigma& sigma, const Tau& tau) {
  return detail::apply_quantile<skew_double_exponential_quantile>(true, p, mu, sigma, tau);
}

struct gumbel_quantile : quantile_of<gumbel_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& beta) {
    return mu - beta * log(-detail::log_below(is_upper, p));
  }
};
/// Returns the value up to which the probability is p: the inverse of gumbel_cdf.
template <class P, class Mu, class Beta>
auto gumbel_qf(const P& p, const Mu& mu, const Beta& beta) {
  return detail::apply_quantile<gumbel_quantile>(false, p, mu, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Beta>
auto gumbel_cqf(const P& p, const Mu& mu, const Beta& beta) {
  return detail::apply_quantile<gumbel_quantile>(true, p, mu, beta);
}

struct generalized_extreme_value_quantile : quantile_of<generalized_extreme_value_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& xi) {
    return mu + sigma * detail::shaped_exp(T(-log(-detail::log_below(is_upper, p))), xi);
  }
};
/// Returns the value up to which the probability is p: the inverse of generalized_extreme_value_cdf.
template <class P, class Mu, class Sigma, class Xi>
auto generalized_extreme_value_qf(const P& p, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return detail::apply_quantile<generalized_extreme_value_quantile>(false, p, mu, sigma, xi);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma, class Xi>
auto generalized_extreme_value_cqf(const P& p, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return detail::apply_quantile<generalized_extreme_value_quantile>(true, p, mu, sigma, xi);
}

struct logistic_quantile : quantile_of<logistic_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma) {
    return mu + sigma * detail::log_odds_below(is_upper, p);
  }
};
/// Returns the value up to which the probability is p: the inverse of logistic_cdf.
template <class P, class Mu, class Sigma>
auto logistic_qf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<logistic_quantile>(false, p, mu, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma>
auto logistic_cqf(const P& p, const Mu& mu, const Sigma& sigma) {
  return detail::apply_quantile<logistic_quantile>(true, p, mu, sigma);
}

struct exp_mod_normal_quantile : quantile_of<exp_mod_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& lambda) {
    return mu + (is_upper ? T(apply<detail::exp_mod_normal_quantile_rule<true>>(p, sigma, lambda))
                          : T(apply<detail::exp_mod_normal_quantile_rule<false>>(p, sigma, lambda)));
  }
};
/// Returns the value up to which the probability is p: the inverse of exp_mod_normal_cdf.
template <class P, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_qf(const P& p, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return detail::apply_quantile<exp_mod_normal_quantile>(false, p, mu, sigma, lambda);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma, class Lambda>
auto exp_mod_normal_cqf(const P& p, const Mu& mu, const Sigma& sigma, const Lambda& lambda) {
  return detail::apply_quantile<exp_mod_normal_quantile>(true, p, mu, sigma, lambda);
}

struct skew_normal_quantile : quantile_of<skew_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& xi, const T& omega, const T& alpha) {
    return xi + omega * (is_upper ? T(apply<detail::skew_normal_quantile_rule<true>>(p, alpha))
                                  : T(apply<detail::skew_normal_quantile_rule<false>>(p, alpha)));
  }
};
/// Returns the value up to which the probability is p: the inverse of skew_normal_cdf.
template <class P, class Xi, class Omega, class Alpha>
auto skew_normal_qf(const P& p, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return detail::apply_quantile<skew_normal_quantile>(false, p, xi, omega, alpha);
}
/// Returns the value beyond which the probability is p.
template <class P, class Xi, class Omega, class Alpha>
auto skew_normal_cqf(const P& p, const Xi& xi, const Omega& omega, const Alpha& alpha) {
  return detail::apply_quantile<skew_normal_quantile>(true, p, xi, omega, alpha);
}

struct von_mises_quantile : quantile_of<von_mises_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& kappa) {
    const T angle = apply<detail::reduced_angle_rule>(mu);
    return is_upper ? T(apply<detail::von_mises_quantile_rule<true>>(p, angle, kappa))
                    : T(apply<detail::von_mises_quantile_rule<false>>(p, angle, kappa));
  }
};
/// Returns the angle between -pi and pi up to which the probability is p: the inverse of von_mises_cdf.
template <class P, class Mu, class Kappa>
auto von_mises_qf(const P& p, const Mu& mu, const Kappa& kappa) {
  return detail::apply_quantile<von_mises_quantile>(false, p, mu, kappa);
}
/// Returns the angle beyond which the probability is p.
template <class P, class Mu, class Kappa>
auto von_mises_cqf(const P& p, const Mu& mu, const Kappa& kappa) {
  return detail::apply_quantile<von_mises_quantile>(true, p, mu, kappa);
}

struct uniform_quantile : quantile_of<uniform_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    const T below = (beta - alpha) * p;
    return is_upper ? T(beta - below) : T(alpha + below);
  }
};
/// Returns the value up to which the probability is p: the inverse of uniform_cdf.
template <class P, class Alpha, class Beta>
auto uniform_qf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<uniform_quantile>(false, p, alpha, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Beta>
auto uniform_cqf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<uniform_quantile>(true, p, alpha, beta);
}

namespace rules {
using quantiles_line =
    typelist<std_normal_quantile, normal_quantile, lognormal_quantile, student_t_quantile, cauchy_quantile,
             double_exponential_quantile, skew_double_exponential_quantile, generalized_extreme_value_quantile, gumbel_quantile,
             logistic_quantile, exp_mod_normal_quantile, skew_normal_quantile, von_mises_quantile, uniform_quantile>;
}

}  // namespace agrad
