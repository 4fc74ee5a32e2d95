// Ordered regressions: categories between increasing cutpoints of a latent logistic or normal variable.
//
// Categories count from 0: category k lies between the cutpoints k - 1 and k. The probability of an interval of the logistic
// distribution, inv_logit(a) - inv_logit(b), is the product of inv_logit(a), inv_logit(-b) and 1 - exp(b - a), so nothing
// cancels. An interval of the normal distribution is taken on the side of zero where its tail is small, and by a series where
// it is narrow.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/rules/error/normal_slab.hpp>
#include <agrad/rules/error/probit.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// log(inv_logit(eta - lower) - inv_logit(eta - upper)).
struct logistic_interval {
  template <class T>
  static T below(const T& eta, const T& upper) {
    return T(log_inv_logit(upper - eta));
  }
  template <class T>
  static T above(const T& eta, const T& lower) {
    return T(log_inv_logit(eta - lower));
  }
  template <class T>
  static T between(const T& eta, const T& lower, const T& upper) {
    return T(log_inv_logit(eta - lower) + log_inv_logit(upper - eta) + log1m_exp(lower - upper));
  }
};
/// log(ndtr(upper - eta) - ndtr(lower - eta)).
struct normal_interval {
  template <class T>
  static T below(const T& eta, const T& upper) {
    return T(log_ndtr(upper - eta));
  }
  template <class T>
  static T above(const T& eta, const T& lower) {
    return T(log_ndtr(eta - lower));
  }
  template <class T>
  static T between(const T& eta, const T& lower, const T& upper) {
    const auto of_tails = [](const T& greater, const T& less) {
      const T all = log_ndtr(greater);
      return T(all + log1m_exp(log_ndtr(less) - all));
    };
    const T a = upper - eta, b = lower - eta, middle = 0.5 * (a + b), half = 0.5 * (upper - lower);
    const auto narrow = [&] {
      const T excess = apply<normal_slab_rule<0, 0>>(middle * middle, half * half);
      return T(log(upper - lower) - half_log_two_pi - 0.5 * (middle * middle) + log1p(excess));
    };
    return either<T>(
        half * (1.0 + abs(middle)) < narrow_slab, narrow, middle > 0.0, [&] { return of_tails(T(-b), T(-a)); },
        [&] { return of_tails(a, b); });
  }
};

template <class Interval, class W, class Y, class Eta, class C>
auto ordered_log_sum(const Y& y, const Eta& eta, const C& c) {
  const auto last = static_cast<double>(c.cols());
  const auto at_least_zero = [](const auto& k) { return either(k > 0.0, k - 1.0, 0.0 * k); };
  const auto at_most_last = [last](const auto& k) { return either(k < last, k + 0.0, k - 1.0); };
  const auto term = [last](const auto& k, const auto& at, const auto& less, const auto& greater) {
    using T = promoted_t<decltype(k), decltype(at), decltype(less), decltype(greater)>;
    const T x(at), lower(less), upper(greater);
    return either<T>(
        k == 0.0, [&] { return Interval::template below<T>(x, upper); }, k == last,
        [&] { return Interval::template above<T>(x, lower); }, [&] { return Interval::template between<T>(x, lower, upper); });
  };
  const auto lower = W::pick(c, W::each(at_least_zero, y)), upper = W::pick(c, W::each(at_most_last, y));
  return W::sum(W::each(term, y, eta, lower, upper));
}

}  // namespace detail

struct ordered_logistic_lpmf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "ordered_logistic_lpmf",
      text = "Log mass of categories y, which count from 0, with location eta between cutpoints c of a logistic variable.",
      source = "f = inv_logit(eta - c[y - 1]) - inv_logit(eta - c[y]), with c[-1] = -inf and c after the last = inf";
  static constexpr matrix_argument arguments[] = {
      {"y", 'n', '1', must_be::ordered_category, 'c'}, {"eta", 'n', '1', must_be::finite}, {"c", 'n', 'c', must_be::ordered}};
  template <class W, class Y, class Eta, class C>
  static auto log_density(const parts&, const Y& y, const Eta& eta, const C& c) {
    return detail::ordered_log_sum<detail::logistic_interval, W>(y, eta, c);
  }
};
/// Returns the sum of the log masses of ordered categories y from 0 to the number of cutpoints c; y has no derivative.
template <bool propto = false, class Y, class Eta, class C>
auto ordered_logistic_lpmf(const Y& y, const Eta& eta, const C& c) {
  return apply_multivariate<ordered_logistic_lpmf_rule, propto>(y, eta, c);
}

struct ordered_probit_lpmf_rule : multivariate_rule<3> {
  static constexpr std::string_view
      name = "ordered_probit_lpmf",
      text = "Log mass of categories y, which count from 0, with location eta between cutpoints c of a normal variable.",
      source = "f = ndtr(c[y] - eta) - ndtr(c[y - 1] - eta), with c[-1] = -inf and c after the last = inf";
  static constexpr matrix_argument arguments[] = {
      {"y", 'n', '1', must_be::ordered_category, 'c'}, {"eta", 'n', '1', must_be::finite}, {"c", 'n', 'c', must_be::ordered}};
  template <class W, class Y, class Eta, class C>
  static auto log_density(const parts&, const Y& y, const Eta& eta, const C& c) {
    return detail::ordered_log_sum<detail::normal_interval, W>(y, eta, c);
  }
};
/// Does the same with a normal variable.
template <bool propto = false, class Y, class Eta, class C>
auto ordered_probit_lpmf(const Y& y, const Eta& eta, const C& c) {
  return apply_multivariate<ordered_probit_lpmf_rule, propto>(y, eta, c);
}

struct ordered_logistic_glm_lpmf_rule : multivariate_rule<4> {
  static constexpr std::string_view
      name = "ordered_logistic_glm_lpmf",
      text = "Log mass of categories y, which count from 0, with locations x beta between cutpoints c of a logistic variable.",
      source = "ordered_logistic_lpmf(y, x beta, c)";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::ordered_category, 'c'},
                                                  {"x", 'n', 'k', must_be::finite},
                                                  {"beta", '1', 'k', must_be::finite},
                                                  {"c", '1', 'c', must_be::ordered}};
  template <class W, class Y, class X, class B, class C>
  static auto log_density(const parts&, const Y& y, const X& x, const B& beta, const C& c) {
    return detail::ordered_log_sum<detail::logistic_interval, W>(y, W::product(x, W::transposed(beta)), c);
  }
};
/// Returns the sum of the log masses of ordered categories y given predictors x, a row for each y or one for all.
template <bool propto = false, class Y, class X, class B, class C>
auto ordered_logistic_glm_lpmf(const Y& y, const X& x, const B& beta, const C& c) {
  return apply_multivariate<ordered_logistic_glm_lpmf_rule, propto>(y, x, beta, c);
}

namespace rules {
using ordered_distribution = typelist<ordered_logistic_lpmf_rule, ordered_probit_lpmf_rule, ordered_logistic_glm_lpmf_rule>;
}

}  // namespace agrad
