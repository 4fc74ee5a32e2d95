// Families: all distributions of a number, the only list of them, and what derives from it.
//
// A family stands in one header: density, distribution functions, quantile, log probability of an interval, draws. Each
// function is the sum, or for distribution functions the product, over the terms of its arguments, which are numbers or
// sequences of a common length; quantiles are entries. The log probability of an interval is log(F(upper) - F(lower)), for
// counts log(F(upper) - F(lower - 1)): the likelihood of an observation of which only an interval is known, and what a density
// is divided by where values beyond the ends are not observed. See probability/between.hpp.
#pragma once

#include <agrad/families/bounded/beta.hpp>
#include <agrad/families/bounded/beta_proportion.hpp>
#include <agrad/families/bounded/uniform.hpp>
#include <agrad/families/bounded/von_mises.hpp>
#include <agrad/families/counts/bernoulli.hpp>
#include <agrad/families/counts/beta_binomial.hpp>
#include <agrad/families/counts/beta_neg_binomial.hpp>
#include <agrad/families/counts/binomial.hpp>
#include <agrad/families/counts/discrete_range.hpp>
#include <agrad/families/counts/hypergeometric.hpp>
#include <agrad/families/counts/neg_binomial.hpp>
#include <agrad/families/counts/poisson.hpp>
#include <agrad/families/counts/skellam.hpp>
#include <agrad/families/counts/yule_simon.hpp>
#include <agrad/families/line/cauchy.hpp>
#include <agrad/families/line/double_exponential.hpp>
#include <agrad/families/line/exp_mod_normal.hpp>
#include <agrad/families/line/generalized_extreme_value.hpp>
#include <agrad/families/line/gumbel.hpp>
#include <agrad/families/line/logistic.hpp>
#include <agrad/families/line/normal.hpp>
#include <agrad/families/line/skew_double_exponential.hpp>
#include <agrad/families/line/skew_normal.hpp>
#include <agrad/families/line/student_t.hpp>
#include <agrad/families/positive/chi_square.hpp>
#include <agrad/families/positive/exponential.hpp>
#include <agrad/families/positive/frechet.hpp>
#include <agrad/families/positive/gamma.hpp>
#include <agrad/families/positive/generalized_pareto.hpp>
#include <agrad/families/positive/half_cauchy.hpp>
#include <agrad/families/positive/half_normal.hpp>
#include <agrad/families/positive/inv_chi_square.hpp>
#include <agrad/families/positive/inv_gamma.hpp>
#include <agrad/families/positive/inv_gaussian.hpp>
#include <agrad/families/positive/loglogistic.hpp>
#include <agrad/families/positive/lognormal.hpp>
#include <agrad/families/positive/pareto.hpp>
#include <agrad/families/positive/pareto_type_2.hpp>
#include <agrad/families/positive/rayleigh.hpp>
#include <agrad/families/positive/scaled_inv_chi_square.hpp>
#include <agrad/families/positive/weibull.hpp>

namespace agrad::rules {

using families =
    typelist<normal_family, lognormal_family, student_t_family, cauchy_family, double_exponential_family,
             skew_double_exponential_family, generalized_extreme_value_family, gumbel_family, logistic_family,
             skew_normal_family, exp_mod_normal_family, von_mises_family, uniform_family, exponential_family, gamma_family,
             chi_square_family, weibull_family, frechet_family, rayleigh_family, loglogistic_family, pareto_family,
             inv_gamma_family, beta_family, bernoulli_family, beta_binomial_family, beta_neg_binomial_family,
             beta_proportion_family, binomial_family, discrete_range_family, hypergeometric_family, inv_chi_square_family,
             neg_binomial_family, pareto_type_2_family, generalized_pareto_family, poisson_family, scaled_inv_chi_square_family,
             yule_simon_family, half_normal_family, half_cauchy_family, inv_gaussian_family, skellam_family>;

/// The rules of a list of families, by what they compute.
template <class Families>
struct lists_of;
template <class... Family>
struct lists_of<typelist<Family...>> {
  using functions = concat_t<typename Family::functions...>;
  using quantiles = concat_t<typename Family::quantiles...>;
  using intervals = concat_t<typename Family::intervals...>;
};

using probability = lists_of<families>::functions;
using quantiles = lists_of<families>::quantiles;
using intervals = lists_of<families>::intervals;

}  // namespace agrad::rules
