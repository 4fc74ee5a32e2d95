// The exponential distribution: density and distribution functions.
//
// The model for a new family: each rule with its overload, the typelist at the end.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/hazard_octets.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/quotients.hpp>

namespace agrad {

namespace detail {
/// What the functions of the exponential distribution have in common.
struct exponential_rule : probability_rule<2> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}, {"beta", must_be::positive_finite, true}};
  template <class Y, class B>
  static auto in_support(const Y& y, const B&) {
    return y >= 0;
  }
};

struct exponential_hazard : octet_formulas<2> {
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], 1e-50, 1e50) && within(x[1], 1e-50, 1e50);
  }
  template <class S>
  static S hazard(const std::array<S, 0>&, const each<S>& x, each<S>& slope) {
    slope[0] = x[1];
    slope[1] = x[0];
    return x[1] * x[0];
  }
};
}  // namespace detail

struct exponential_lpdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lpdf", text = "Log density of y >= 0 with rate beta.",
                                    reference = "log(beta) - beta * y if y >= 0 else -inf",
                                    source = "log f(y; beta) = log beta - beta y";
  static constexpr std::string_view scipy = "expon: x - loc; 1 / scale";
  template <class Y, class B>
  static auto prepare(const parts& included, const Y&, const B& beta) {
    return included.of({1}) ? log(beta) : decltype(log(beta))(0.0);
  }
  template <class P, class Y, class B>
  static auto term(const parts&, const P& log_beta, const Y& y, const B& beta) {
    return log_beta - beta * y;
  }

  struct octets : octet_formulas<2> {
    template <class S>
    static std::array<S, 2> prepare(const parts& included, const each<S>& x) {
      return {exponential_lpdf_rule::prepare(included, x[0], x[1]), 1.0 / x[1]};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return x[0] >= 0.0 && within(x[0], -1.0, 1e50) && within(x[1], 1e-50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 2>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = -x[1];
      slope[1] = prepared[1] - x[0];
      return prepared[0] - x[1] * x[0];
    }
  };
};
/// Returns the sum of the exponential log densities of y; see normal_lpdf.
template <bool propto = false, class Y, class Beta>
auto exponential_lpdf(const Y& y, const Beta& beta) {
  return apply_probability<exponential_lpdf_rule, propto>(y, beta);
}

struct exponential_cdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_cdf", text = "Probability of a value up to y, with rate beta.",
                                    reference = "-expm1(-beta * y) if y >= 0 else 0", source = "F(y; beta) = 1 - exp(-beta y)";
  static constexpr bool is_product = true;
  static constexpr double outside = 0;
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    return -expm1(-beta * y);
  }

  using octets = detail::hazard_rest_octets<detail::exponential_hazard>;
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
template <class Y, class Beta>
auto exponential_cdf(const Y& y, const Beta& beta) {
  return apply_probability<exponential_cdf_rule>(y, beta);
}

struct exponential_lcdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lcdf", text = "Logarithm of exponential_cdf.",
                                    reference = "log(-expm1(-beta * y)) if y >= 0 else -inf",
                                    source = "log F(y; beta) = log(1 - exp(-beta y)), near 0 by log y";
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    using T = promoted_t<Y, B>;
    return either<T>(
        beta * y < 1, [&] { return T(log(beta) + log(y) + log(exprel(-beta * y))); }, [&] { return T(log1m_exp(-beta * y)); });
  }

  using octets = detail::hazard_complement_octets<detail::exponential_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
template <class Y, class Beta>
auto exponential_lcdf(const Y& y, const Beta& beta) {
  return apply_probability<exponential_lcdf_rule>(y, beta);
}

struct exponential_lccdf_rule : detail::exponential_rule {
  static constexpr std::string_view name = "exponential_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, with rate beta.",
                                    reference = "-beta * y if y >= 0 else 0", source = "log(1 - F(y; beta)) = -beta y";
  static constexpr double outside = 0;
  template <class P, class Y, class B>
  static auto term(const parts&, const P&, const Y& y, const B& beta) {
    return -beta * y;
  }

  using octets = detail::hazard_octets<detail::exponential_hazard>;
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
template <class Y, class Beta>
auto exponential_lccdf(const Y& y, const Beta& beta) {
  return apply_probability<exponential_lccdf_rule>(y, beta);
}

namespace rules {
using exponential_distribution =
    typelist<exponential_lpdf_rule, exponential_cdf_rule, exponential_lcdf_rule, exponential_lccdf_rule>;
}

}  // namespace agrad
