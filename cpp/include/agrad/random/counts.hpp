// Draws of counts, and of outcomes 0 and 1.
//
// Parameters are numbers or sequences, in the order of the density; the last argument is a generator of random bits. Counts are
// exact below 2^53; a larger one, which a double may not hold, throws DomainError. Read next: random/standard_counts.hpp.
#pragma once

#include <cmath>

#include <agrad/probability/bernoulli.hpp>
#include <agrad/probability/beta_binomial.hpp>
#include <agrad/probability/beta_neg_binomial.hpp>
#include <agrad/probability/binomial.hpp>
#include <agrad/probability/discrete_range.hpp>
#include <agrad/probability/hypergeometric.hpp>
#include <agrad/probability/neg_binomial.hpp>
#include <agrad/probability/poisson.hpp>
#include <agrad/probability/skellam.hpp>
#include <agrad/probability/yule_simon.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>

namespace agrad {

/// Draws outcomes that are 1 with probability theta, else 0.
template <class Theta, class URBG>
auto bernoulli_rng(const Theta& theta, URBG& rng) {
  return detail::draws<bernoulli_lpmf_rule, count_t>(
      "bernoulli_rng", [&](detail::draw_place, double t) { return open_unit_rng(rng) < t; }, theta);
}

/// Draws outcomes that are 1 with log odds alpha, else 0.
template <class Alpha, class URBG>
auto bernoulli_logit_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<bernoulli_logit_lpmf_rule, count_t>(
      "bernoulli_logit_rng", [&](detail::draw_place, double a) { return detail::draw_logistic(rng) < a; }, alpha);
}

/// Draws the number of successes in N trials, each with probability theta.
template <class Trials, class Theta, class URBG>
auto binomial_rng(const Trials& trials, const Theta& theta, URBG& rng) {
  return detail::draws<binomial_lpmf_rule, count_t>(
      "binomial_rng", [&](detail::draw_place, double n, double t) { return detail::draw_binomial(n, t, rng); }, trials, theta);
}

/// Draws the number of successes in N trials whose common probability is a beta number of shapes alpha and beta.
template <class Trials, class Alpha, class Beta, class URBG>
auto beta_binomial_rng(const Trials& trials, const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_binomial_lpmf_rule, count_t>(
      "beta_binomial_rng",
      [&](detail::draw_place, double n, double a, double b) {
        const double t = detail::draw_beta(a, b, rng).share;
        return detail::draw_binomial(n, t, rng);
      },
      trials, alpha, beta);
}

namespace detail {
/// The parameters of Poisson draws, whose rates are bounded.
struct poisson_draw {
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"lambda_", must_be::countable_rate}};
};
struct poisson_log_draw {
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative}, {"alpha", must_be::countable_log_rate}};
};
}  // namespace detail

/// Draws Poisson counts with rate lambda, at most 2^52.
template <class Lambda, class URBG>
auto poisson_rng(const Lambda& lambda_, URBG& rng) {
  return detail::draws<detail::poisson_draw, count_t>(
      "poisson_rng", [&](detail::draw_place place, double l) { return detail::draw_poisson("poisson_rng", l, place, rng); },
      lambda_);
}

/// Draws Poisson counts with log rate alpha, at most log(2^52).
template <class Alpha, class URBG>
auto poisson_log_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<detail::poisson_log_draw, count_t>(
      "poisson_log_rng",
      [&](detail::draw_place place, double a) { return detail::draw_poisson("poisson_log_rng", std::exp(a), place, rng); },
      alpha);
}

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

/// Draws negative binomial counts: Poisson counts whose rates are gamma numbers with shape alpha and rate beta.
template <class Alpha, class Beta, class URBG>
auto neg_binomial_rng(const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<neg_binomial_lpmf_rule, count_t>(
      "neg_binomial_rng",
      [&](detail::draw_place place, double a, double b) {
        return detail::draw_poisson("neg_binomial_rng", detail::draw_gamma_power(a, b, 1, 1, rng), place, rng);
      },
      alpha, beta);
}

/// Draws negative binomial counts with mean mu and shape phi; for large phi they are Poisson counts.
template <class Mu, class Phi, class URBG>
auto neg_binomial_2_rng(const Mu& mu, const Phi& phi, URBG& rng) {
  return detail::draws<neg_binomial_2_lpmf_rule, count_t>(
      "neg_binomial_2_rng",
      [&](detail::draw_place place, double m, double p) {
        return detail::draw_poisson("neg_binomial_2_rng", detail::draw_gamma_power(p, p, 1, m, rng), place, rng);
      },
      mu, phi);
}

/// Draws negative binomial counts with log mean eta and shape phi.
template <class Eta, class Phi, class URBG>
auto neg_binomial_2_log_rng(const Eta& eta, const Phi& phi, URBG& rng) {
  return detail::draws<neg_binomial_2_log_lpmf_rule, count_t>(
      "neg_binomial_2_log_rng",
      [&](detail::draw_place place, double e, double p) {
        const double log_share =
            p < 1 ? detail::draw_log_gamma(p, rng) - std::log(p) : std::log(detail::draw_gamma_power(p, p, 1, 1, rng));
        return detail::draw_poisson("neg_binomial_2_log_rng", std::exp(e + log_share), place, rng);
      },
      eta, phi);
}

/// Draws counts of failures before the r-th success, whose probability is a beta number of shapes alpha and beta. Throws
/// DomainError where a count has a rate beyond 2^52, which is frequent for small alpha.
template <class R, class Alpha, class Beta, class URBG>
auto beta_neg_binomial_rng(const R& r, const Alpha& alpha, const Beta& beta, URBG& rng) {
  return detail::draws<beta_neg_binomial_lpmf_rule, count_t>(
      "beta_neg_binomial_rng",
      [&](detail::draw_place place, double n, double a, double b) {
        double log_rate = detail::draw_log_gamma(n, rng);
        log_rate += detail::draw_log_gamma(b, rng);
        log_rate -= detail::draw_log_gamma(a, rng);
        return detail::draw_poisson("beta_neg_binomial_rng", std::exp(log_rate), place, rng);
      },
      r, alpha, beta);
}

/// Draws Yule-Simon counts, from 1 on, with shape alpha: geometric counts, minus whose log probability is exponential. Throws
/// DomainError where a count is beyond 2^53, which is frequent for small alpha.
template <class Alpha, class URBG>
auto yule_simon_rng(const Alpha& alpha, URBG& rng) {
  return detail::draws<yule_simon_lpmf_rule, count_t>(
      "yule_simon_rng",
      [&](detail::draw_place place, double a) {
        const double log_success = -detail::draw_exponential(rng) / a, log_failure = log1m_exp(log_success);
        const double n = 1 + std::floor(-detail::draw_exponential(rng) / log_failure);
        if (!must_be::countable.holds(n)) detail::fail_draw("yule_simon_rng", "a draw", n, must_be::countable.name, place);
        return n;
      },
      alpha);
}

/// Draws whole numbers from l to u, both included.
template <class L, class U, class URBG>
auto discrete_range_rng(const L& l, const U& u, URBG& rng) {
  return detail::draws<discrete_range_lpmf_rule, count_t>(
      "discrete_range_rng",
      [&](detail::draw_place place, double lower, double upper) {
        if (!(lower <= upper))
          detail::fail_draw("discrete_range_rng", "u", upper, "l or greater", place, "l is " + detail::to_text(lower));
        return detail::draw_whole(lower, upper, rng);
      },
      l, u);
}

/// Draws the number of successes in N draws without replacement from a successes and b failures.
template <class Number, class A, class B, class URBG>
auto hypergeometric_rng(const Number& number, const A& a, const B& b, URBG& rng) {
  return detail::draws<hypergeometric_lpmf_rule, count_t>(
      "hypergeometric_rng",
      [&](detail::draw_place place, double draws, double good, double bad) {
        if (!(draws <= good + bad)) detail::fail_draw("hypergeometric_rng", "N", draws, "at most a + b", place);
        return detail::draw_hypergeometric(draws, good, bad, rng);
      },
      number, a, b);
}

}  // namespace agrad
