// Log probabilities of intervals by distributions of counts.
#pragma once

#include <agrad/probability/bernoulli.hpp>
#include <agrad/probability/beta_binomial.hpp>
#include <agrad/probability/beta_binomial_cdf.hpp>
#include <agrad/probability/beta_neg_binomial.hpp>
#include <agrad/probability/beta_neg_binomial_cdf.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/binomial.hpp>
#include <agrad/probability/binomial_cdf.hpp>
#include <agrad/probability/discrete_range.hpp>
#include <agrad/probability/neg_binomial.hpp>
#include <agrad/probability/neg_binomial_cdf.hpp>
#include <agrad/probability/poisson.hpp>
#include <agrad/probability/skellam.hpp>
#include <agrad/probability/yule_simon.hpp>

namespace agrad {

using bernoulli_lbetween_rule = log_between_counts<bernoulli_lpmf_rule, bernoulli_lcdf_rule, bernoulli_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto bernoulli_lbetween(const X&... x) {
  return apply_probability<bernoulli_lbetween_rule>(x...);
}

using beta_binomial_lbetween_rule =
    log_between_counts<beta_binomial_lpmf_rule, beta_binomial_lcdf_rule, beta_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto beta_binomial_lbetween(const X&... x) {
  return apply_probability<beta_binomial_lbetween_rule>(x...);
}

using beta_neg_binomial_lbetween_rule =
    log_between_counts<beta_neg_binomial_lpmf_rule, beta_neg_binomial_lcdf_rule, beta_neg_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto beta_neg_binomial_lbetween(const X&... x) {
  return apply_probability<beta_neg_binomial_lbetween_rule>(x...);
}

using binomial_lbetween_rule = log_between_counts<binomial_lpmf_rule, binomial_lcdf_rule, binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto binomial_lbetween(const X&... x) {
  return apply_probability<binomial_lbetween_rule>(x...);
}

using discrete_range_lbetween_rule =
    log_between_counts<discrete_range_lpmf_rule, discrete_range_lcdf_rule, discrete_range_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto discrete_range_lbetween(const X&... x) {
  return apply_probability<discrete_range_lbetween_rule>(x...);
}

using neg_binomial_lbetween_rule = log_between_counts<neg_binomial_lpmf_rule, neg_binomial_lcdf_rule, neg_binomial_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto neg_binomial_lbetween(const X&... x) {
  return apply_probability<neg_binomial_lbetween_rule>(x...);
}

using neg_binomial_2_lbetween_rule =
    log_between_counts<neg_binomial_2_lpmf_rule, neg_binomial_2_lcdf_rule, neg_binomial_2_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto neg_binomial_2_lbetween(const X&... x) {
  return apply_probability<neg_binomial_2_lbetween_rule>(x...);
}

using poisson_lbetween_rule = log_between_counts<poisson_lpmf_rule, poisson_lcdf_rule, poisson_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto poisson_lbetween(const X&... x) {
  return apply_probability<poisson_lbetween_rule>(x...);
}

using skellam_lbetween_rule = log_between_counts<skellam_lpmf_rule, skellam_lcdf_rule, skellam_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto skellam_lbetween(const X&... x) {
  return apply_probability<skellam_lbetween_rule>(x...);
}

using yule_simon_lbetween_rule = log_between_counts<yule_simon_lpmf_rule, yule_simon_lcdf_rule, yule_simon_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
template <class... X>
auto yule_simon_lbetween(const X&... x) {
  return apply_probability<yule_simon_lbetween_rule>(x...);
}

namespace rules {
using intervals_counts =
    typelist<bernoulli_lbetween_rule, beta_binomial_lbetween_rule, beta_neg_binomial_lbetween_rule, binomial_lbetween_rule,
             discrete_range_lbetween_rule, neg_binomial_lbetween_rule, neg_binomial_2_lbetween_rule, poisson_lbetween_rule,
             skellam_lbetween_rule, yule_simon_lbetween_rule>;
}

}  // namespace agrad
