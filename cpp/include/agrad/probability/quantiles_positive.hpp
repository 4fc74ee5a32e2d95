// Quantiles of distributions on the positive numbers or a part of them.
#pragma once

#include <agrad/probability/beta_cdf.hpp>
#include <agrad/probability/beta_proportion.hpp>
#include <agrad/probability/chi_square.hpp>
#include <agrad/probability/exponential.hpp>
#include <agrad/probability/frechet.hpp>
#include <agrad/probability/gamma.hpp>
#include <agrad/probability/generalized_pareto.hpp>
#include <agrad/probability/half_cauchy.hpp>
#include <agrad/probability/half_normal.hpp>
#include <agrad/probability/inv_chi_square.hpp>
#include <agrad/probability/inv_gamma.hpp>
#include <agrad/probability/inv_gaussian.hpp>
#include <agrad/probability/loglogistic.hpp>
#include <agrad/probability/pareto.hpp>
#include <agrad/probability/pareto_type_2.hpp>
#include <agrad/probability/quantile.hpp>
#include <agrad/probability/rayleigh.hpp>
#include <agrad/probability/scaled_inv_chi_square.hpp>
#include <agrad/probability/weibull.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/quantiles.hpp>

namespace agrad {

struct exponential_quantile : quantile_of<exponential_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& beta) {
    return -detail::log_above(is_upper, p) / beta;
  }
};
/// Returns the value up to which the probability is p: the inverse of exponential_cdf.
template <class P, class Beta>
auto exponential_qf(const P& p, const Beta& beta) {
  return detail::apply_quantile<exponential_quantile>(false, p, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Beta>
auto exponential_cqf(const P& p, const Beta& beta) {
  return detail::apply_quantile<exponential_quantile>(true, p, beta);
}

struct generalized_pareto_quantile : quantile_of<generalized_pareto_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& sigma, const T& xi) {
    return mu + sigma * detail::shaped_exp(T(-detail::log_above(is_upper, p)), xi);
  }
};
/// Returns the value up to which the probability is p: the inverse of generalized_pareto_cdf.
template <class P, class Mu, class Sigma, class Xi>
auto generalized_pareto_qf(const P& p, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return detail::apply_quantile<generalized_pareto_quantile>(false, p, mu, sigma, xi);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Sigma, class Xi>
auto generalized_pareto_cqf(const P& p, const Mu& mu, const Sigma& sigma, const Xi& xi) {
  return detail::apply_quantile<generalized_pareto_quantile>(true, p, mu, sigma, xi);
}

struct weibull_quantile : quantile_of<weibull_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& sigma) {
    return sigma * pow(-detail::log_above(is_upper, p), 1.0 / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of weibull_cdf.
template <class P, class Alpha, class Sigma>
auto weibull_qf(const P& p, const Alpha& alpha, const Sigma& sigma) {
  return detail::apply_quantile<weibull_quantile>(false, p, alpha, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Sigma>
auto weibull_cqf(const P& p, const Alpha& alpha, const Sigma& sigma) {
  return detail::apply_quantile<weibull_quantile>(true, p, alpha, sigma);
}

struct frechet_quantile : quantile_of<frechet_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& sigma) {
    return sigma * pow(-detail::log_below(is_upper, p), -1.0 / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of frechet_cdf.
template <class P, class Alpha, class Sigma>
auto frechet_qf(const P& p, const Alpha& alpha, const Sigma& sigma) {
  return detail::apply_quantile<frechet_quantile>(false, p, alpha, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Sigma>
auto frechet_cqf(const P& p, const Alpha& alpha, const Sigma& sigma) {
  return detail::apply_quantile<frechet_quantile>(true, p, alpha, sigma);
}

struct rayleigh_quantile : quantile_of<rayleigh_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    return sigma * sqrt(-2.0 * detail::log_above(is_upper, p));
  }
};
/// Returns the value up to which the probability is p: the inverse of rayleigh_cdf.
template <class P, class Sigma>
auto rayleigh_qf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<rayleigh_quantile>(false, p, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Sigma>
auto rayleigh_cqf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<rayleigh_quantile>(true, p, sigma);
}

struct loglogistic_quantile : quantile_of<loglogistic_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    // As powers of the odds that are less than 1, neither do derivatives by a tiny p overflow nor those near 1 cancel.
    const T power = is_upper ? T(-1.0 / beta) : T(1.0 / beta);
    return alpha * either<T>(
                       p > 0 && p < 0.5, [&] { return T(pow(p / (1.0 - p), power)); },    //
                       p >= 0.5 && p < 1, [&] { return T(pow((1.0 - p) / p, -power)); },  //
                       [&] { return T(exp(detail::log_odds_below(is_upper, p) / beta)); });
  }
};
/// Returns the value up to which the probability is p: the inverse of loglogistic_cdf.
template <class P, class Alpha, class Beta>
auto loglogistic_qf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<loglogistic_quantile>(false, p, alpha, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Beta>
auto loglogistic_cqf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<loglogistic_quantile>(true, p, alpha, beta);
}

struct pareto_quantile : quantile_of<pareto_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& y_min, const T& alpha) {
    return y_min * exp(-detail::log_above(is_upper, p) / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of pareto_cdf.
template <class P, class YMin, class Alpha>
auto pareto_qf(const P& p, const YMin& y_min, const Alpha& alpha) {
  return detail::apply_quantile<pareto_quantile>(false, p, y_min, alpha);
}
/// Returns the value beyond which the probability is p.
template <class P, class YMin, class Alpha>
auto pareto_cqf(const P& p, const YMin& y_min, const Alpha& alpha) {
  return detail::apply_quantile<pareto_quantile>(true, p, y_min, alpha);
}

struct pareto_type_2_quantile : quantile_of<pareto_type_2_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& lambda, const T& alpha) {
    return mu + lambda * expm1(-detail::log_above(is_upper, p) / alpha);
  }
};
/// Returns the value up to which the probability is p: the inverse of pareto_type_2_cdf.
template <class P, class Mu, class Lambda, class Alpha>
auto pareto_type_2_qf(const P& p, const Mu& mu, const Lambda& lambda, const Alpha& alpha) {
  return detail::apply_quantile<pareto_type_2_quantile>(false, p, mu, lambda, alpha);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Lambda, class Alpha>
auto pareto_type_2_cqf(const P& p, const Mu& mu, const Lambda& lambda, const Alpha& alpha) {
  return detail::apply_quantile<pareto_type_2_quantile>(true, p, mu, lambda, alpha);
}

namespace detail {
/// Returns the quantile of the standard gamma distribution.
template <class T>
T gamma_quantile_of(bool is_upper, const T& p, const T& shape) {
  return is_upper ? T(apply<gamma_quantile_rule<true>>(p, shape)) : T(apply<gamma_quantile_rule<false>>(p, shape));
}
/// Returns b over this quantile.
template <class T>
T over_gamma_quantile_of(bool is_upper, const T& p, const T& shape, const T& b) {
  return is_upper ? T(apply<over_gamma_quantile_rule<true>>(p, shape, b))
                  : T(apply<over_gamma_quantile_rule<false>>(p, shape, b));
}
/// Returns the quantile of the beta distribution.
template <class T>
T beta_quantile_of(bool is_upper, const T& p, const T& alpha, const T& beta) {
  return is_upper ? T(apply<beta_quantile_rule<true>>(p, alpha, beta)) : T(apply<beta_quantile_rule<false>>(p, alpha, beta));
}
}  // namespace detail

struct gamma_quantile : quantile_of<gamma_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    return detail::gamma_quantile_of(is_upper, p, alpha) / beta;
  }
};
/// Returns the value up to which the probability is p: the inverse of gamma_cdf.
template <class P, class Alpha, class Beta>
auto gamma_qf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<gamma_quantile>(false, p, alpha, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Beta>
auto gamma_cqf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<gamma_quantile>(true, p, alpha, beta);
}

struct chi_square_quantile : quantile_of<chi_square_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu) {
    return 2.0 * detail::gamma_quantile_of(is_upper, p, T(0.5 * nu));
  }
};
/// Returns the value up to which the probability is p: the inverse of chi_square_cdf.
template <class P, class Nu>
auto chi_square_qf(const P& p, const Nu& nu) {
  return detail::apply_quantile<chi_square_quantile>(false, p, nu);
}
/// Returns the value beyond which the probability is p.
template <class P, class Nu>
auto chi_square_cqf(const P& p, const Nu& nu) {
  return detail::apply_quantile<chi_square_quantile>(true, p, nu);
}

struct inv_gamma_quantile : quantile_of<inv_gamma_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    return detail::over_gamma_quantile_of(!is_upper, p, alpha, beta);
  }
};
/// Returns the value up to which the probability is p: the inverse of inv_gamma_cdf.
template <class P, class Alpha, class Beta>
auto inv_gamma_qf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<inv_gamma_quantile>(false, p, alpha, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Beta>
auto inv_gamma_cqf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<inv_gamma_quantile>(true, p, alpha, beta);
}

struct inv_chi_square_quantile : quantile_of<inv_chi_square_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu) {
    return detail::over_gamma_quantile_of(!is_upper, p, T(0.5 * nu), T(0.5));
  }
};
/// Returns the value up to which the probability is p: the inverse of inv_chi_square_cdf.
template <class P, class Nu>
auto inv_chi_square_qf(const P& p, const Nu& nu) {
  return detail::apply_quantile<inv_chi_square_quantile>(false, p, nu);
}
/// Returns the value beyond which the probability is p.
template <class P, class Nu>
auto inv_chi_square_cqf(const P& p, const Nu& nu) {
  return detail::apply_quantile<inv_chi_square_quantile>(true, p, nu);
}

struct scaled_inv_chi_square_quantile : quantile_of<scaled_inv_chi_square_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& nu, const T& s) {
    return 0.5 * nu * s * detail::over_gamma_quantile_of(!is_upper, p, T(0.5 * nu), s);
  }
};
/// Returns the value up to which the probability is p: the inverse of scaled_inv_chi_square_cdf.
template <class P, class Nu, class S>
auto scaled_inv_chi_square_qf(const P& p, const Nu& nu, const S& s) {
  return detail::apply_quantile<scaled_inv_chi_square_quantile>(false, p, nu, s);
}
/// Returns the value beyond which the probability is p.
template <class P, class Nu, class S>
auto scaled_inv_chi_square_cqf(const P& p, const Nu& nu, const S& s) {
  return detail::apply_quantile<scaled_inv_chi_square_quantile>(true, p, nu, s);
}

struct beta_quantile : quantile_of<beta_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& alpha, const T& beta) {
    return detail::beta_quantile_of(is_upper, p, alpha, beta);
  }
};
/// Returns the value up to which the probability is p: the inverse of beta_cdf.
template <class P, class Alpha, class Beta>
auto beta_qf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<beta_quantile>(false, p, alpha, beta);
}
/// Returns the value beyond which the probability is p.
template <class P, class Alpha, class Beta>
auto beta_cqf(const P& p, const Alpha& alpha, const Beta& beta) {
  return detail::apply_quantile<beta_quantile>(true, p, alpha, beta);
}

struct beta_proportion_quantile : quantile_of<beta_proportion_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& kappa) {
    return detail::beta_quantile_of(is_upper, p, T(mu * kappa), T((1.0 - mu) * kappa));
  }
};
/// Returns the value up to which the probability is p: the inverse of beta_proportion_cdf.
template <class P, class Mu, class Kappa>
auto beta_proportion_qf(const P& p, const Mu& mu, const Kappa& kappa) {
  return detail::apply_quantile<beta_proportion_quantile>(false, p, mu, kappa);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Kappa>
auto beta_proportion_cqf(const P& p, const Mu& mu, const Kappa& kappa) {
  return detail::apply_quantile<beta_proportion_quantile>(true, p, mu, kappa);
}

struct half_normal_quantile : quantile_of<half_normal_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    const T x = is_upper ? T(erfcinv(p)) : T(erfinv(p));
    return sigma * (x / detail::inv_sqrt_2);
  }
};
/// Returns the value up to which the probability is p: the inverse of half_normal_cdf.
template <class P, class Sigma>
auto half_normal_qf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<half_normal_quantile>(false, p, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Sigma>
auto half_normal_cqf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<half_normal_quantile>(true, p, sigma);
}

struct half_cauchy_quantile : quantile_of<half_cauchy_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& sigma) {
    const T x = either<T>(  // the quantile of the complement is the reciprocal
        p < 0.5, [&] { return T(tan((0.5 * detail::pi) * p)); }, [&] { return T(1.0 / tan((0.5 * detail::pi) * (1.0 - p))); });
    return is_upper ? T(sigma / x) : T(sigma * x);
  }
};
/// Returns the value up to which the probability is p: the inverse of half_cauchy_cdf.
template <class P, class Sigma>
auto half_cauchy_qf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<half_cauchy_quantile>(false, p, sigma);
}
/// Returns the value beyond which the probability is p.
template <class P, class Sigma>
auto half_cauchy_cqf(const P& p, const Sigma& sigma) {
  return detail::apply_quantile<half_cauchy_quantile>(true, p, sigma);
}

struct inv_gaussian_quantile : quantile_of<inv_gaussian_lcdf_rule> {
  template <class T>
  static T term(bool is_upper, const T& p, const T& mu, const T& lambda) {
    return is_upper ? T(apply<detail::inv_gaussian_quantile_rule<true>>(p, mu, lambda))
                    : T(apply<detail::inv_gaussian_quantile_rule<false>>(p, mu, lambda));
  }
};
/// Returns the value up to which the probability is p: the inverse of inv_gaussian_cdf.
template <class P, class Mu, class Lambda>
auto inv_gaussian_qf(const P& p, const Mu& mu, const Lambda& lambda) {
  return detail::apply_quantile<inv_gaussian_quantile>(false, p, mu, lambda);
}
/// Returns the value beyond which the probability is p.
template <class P, class Mu, class Lambda>
auto inv_gaussian_cqf(const P& p, const Mu& mu, const Lambda& lambda) {
  return detail::apply_quantile<inv_gaussian_quantile>(true, p, mu, lambda);
}

namespace rules {
using quantiles_positive =
    typelist<exponential_quantile, weibull_quantile, frechet_quantile, rayleigh_quantile, loglogistic_quantile, pareto_quantile,
             pareto_type_2_quantile, generalized_pareto_quantile, gamma_quantile, chi_square_quantile, inv_gamma_quantile,
             inv_chi_square_quantile, scaled_inv_chi_square_quantile, beta_quantile, beta_proportion_quantile,
             half_normal_quantile, half_cauchy_quantile, inv_gaussian_quantile>;
}

}  // namespace agrad
