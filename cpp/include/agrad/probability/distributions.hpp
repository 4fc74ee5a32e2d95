// Distributions: all families of probability rules, and the only list of these families.
#pragma once

#include <agrad/probability/bernoulli.hpp>
#include <agrad/probability/beta.hpp>
#include <agrad/probability/beta_binomial.hpp>
#include <agrad/probability/beta_binomial_cdf.hpp>
#include <agrad/probability/beta_cdf.hpp>
#include <agrad/probability/beta_neg_binomial.hpp>
#include <agrad/probability/beta_neg_binomial_cdf.hpp>
#include <agrad/probability/beta_proportion.hpp>
#include <agrad/probability/binomial.hpp>
#include <agrad/probability/binomial_cdf.hpp>
#include <agrad/probability/cauchy.hpp>
#include <agrad/probability/chi_square.hpp>
#include <agrad/probability/discrete_range.hpp>
#include <agrad/probability/double_exponential.hpp>
#include <agrad/probability/exp_mod_normal.hpp>
#include <agrad/probability/exp_mod_normal_tails.hpp>
#include <agrad/probability/exponential.hpp>
#include <agrad/probability/frechet.hpp>
#include <agrad/probability/gamma.hpp>
#include <agrad/probability/generalized_extreme_value.hpp>
#include <agrad/probability/generalized_pareto.hpp>
#include <agrad/probability/gumbel.hpp>
#include <agrad/probability/half_cauchy.hpp>
#include <agrad/probability/half_normal.hpp>
#include <agrad/probability/hypergeometric.hpp>
#include <agrad/probability/inv_chi_square.hpp>
#include <agrad/probability/inv_gamma.hpp>
#include <agrad/probability/inv_gaussian.hpp>
#include <agrad/probability/logistic.hpp>
#include <agrad/probability/loglogistic.hpp>
#include <agrad/probability/lognormal.hpp>
#include <agrad/probability/neg_binomial.hpp>
#include <agrad/probability/neg_binomial_cdf.hpp>
#include <agrad/probability/normal.hpp>
#include <agrad/probability/pareto.hpp>
#include <agrad/probability/pareto_type_2.hpp>
#include <agrad/probability/poisson.hpp>
#include <agrad/probability/rayleigh.hpp>
#include <agrad/probability/scaled_inv_chi_square.hpp>
#include <agrad/probability/skellam.hpp>
#include <agrad/probability/skew_double_exponential.hpp>
#include <agrad/probability/skew_normal.hpp>
#include <agrad/probability/skew_normal_cdf.hpp>
#include <agrad/probability/student_t.hpp>
#include <agrad/probability/student_t_cdf.hpp>
#include <agrad/probability/uniform.hpp>
#include <agrad/probability/von_mises.hpp>
#include <agrad/probability/von_mises_cdf.hpp>
#include <agrad/probability/weibull.hpp>
#include <agrad/probability/yule_simon.hpp>

namespace agrad::rules {

using probability =
    concat_t<normal_distribution, lognormal_distribution, student_t_cdfs, student_t_distribution, cauchy_distribution,
             double_exponential_distribution, skew_double_exponential_distribution, generalized_extreme_value_distribution,
             gumbel_distribution, logistic_distribution, skew_normal_cdfs, skew_normal_distribution, exp_mod_normal_cdfs,
             exp_mod_normal_distribution, von_mises_cdfs, von_mises_distribution, uniform_distribution,
             exponential_distribution, gamma_distribution, chi_square_distribution, weibull_distribution, frechet_distribution,
             rayleigh_distribution, loglogistic_distribution, pareto_distribution, inv_gamma_distribution, beta_cdfs,
             beta_distribution, bernoulli_distribution, beta_binomial_cdfs, beta_binomial_distribution, beta_neg_binomial_cdfs,
             beta_neg_binomial_distribution, beta_proportion_distribution, binomial_cdfs, binomial_distribution,
             discrete_range_distribution, hypergeometric_distribution, inv_chi_square_distribution, neg_binomial_cdfs,
             neg_binomial_distribution, pareto_type_2_distribution, generalized_pareto_distribution, poisson_distribution,
             scaled_inv_chi_square_distribution, yule_simon_distribution, half_normal_distribution, half_cauchy_distribution,
             inv_gaussian_distribution, skellam_distribution>;

}  // namespace agrad::rules
