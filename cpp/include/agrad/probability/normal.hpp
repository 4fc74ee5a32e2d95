// The normal distribution: the standard normal density, and distribution functions. normal_lpdf is in rules/density/normal.hpp,
// the lognormal distribution functions in probability/lognormal.hpp.
#pragma once

#include <agrad/probability/location_scale.hpp>
#include <agrad/probability/normal_octets.hpp>
#include <agrad/rules/density/normal.hpp>
#include <agrad/rules/probit.hpp>

namespace agrad {

namespace detail {

/// Return the distribution function of the standard normal distribution, and its logarithm, with the limits at infinite z.
template <class T>
T normal_cdf_of(const T& z) {
  return with_limits(z, 0, 1, [&] { return T(ndtr(z)); });
}
template <class T>
T normal_lcdf_of(const T& z) {
  return with_limits(z, -infinity, 0, [&] { return T(log_ndtr(z)); });
}

/// The standard distribution function. Far out a rounding error of z would count.
struct standard_normal_cdf {
  static constexpr double limit = 8;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S bell = normal_bell(z), tail = scaled_ndtr(z) * bell;
    slope = inv_sqrt_two_pi * bell;
    return chosen(z < 0.0, tail, 1.0 - tail);
  }
};

/// `normal_lcdf_of` Sign z. Far above 0 a rounding error of z would count in the derivatives.
template <int Sign>
struct standard_normal_lcdf {
  static constexpr double limit = 20;
  template <class S>
  AGRAD_ALWAYS_INLINE static S at(const S& z, S& slope) {
    const S value = detail::log_ndtr(Sign * z, slope);
    slope = Sign * slope;
    return value;
  }
};

/// Formulas for octets of such a function of y itself.
template <class Standard>
struct standard_octets : octet_formulas<1> {
  template <class S>
  static auto suits(const each<S>& x) {
    return within(x[0], -Standard::limit, Standard::limit);
  }
  template <class S>
  static S term(const std::array<S, 0>&, const each<S>& x, const parts&, each<S>& slope) {
    return Standard::at(x[0], slope[0]);
  }
};

using normal_cdf_octets = standardised_octets<standard_normal_cdf>;
template <int Sign>
using normal_lcdf_octets = standardised_octets<standard_normal_lcdf<Sign>>;
template <int Sign>
using std_normal_lcdf_octets = standard_octets<standard_normal_lcdf<Sign>>;

/// The argument of the standard normal distribution.
struct std_normal_rule : probability_rule<1> {
  static constexpr density_argument arguments[] = {{"y", must_be::not_nan}};
};

}  // namespace detail

struct std_normal_lpdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lpdf", text = "Standard normal log density of y.",
                                    reference = "-y ** 2 / 2 - log(2 * pi) / 2", source = "log f(y) = -y^2 / 2 - log(2 pi) / 2";
  template <class P, class Y>
  static auto term(const parts& included, const P&, const Y& y) {
    return -0.5 * (y * y) + (included.constants() ? -detail::half_log_two_pi : 0.0);
  }

  struct octets : octet_formulas<1> {
    template <class S>
    static std::array<S, 1> prepare(const parts& included, const each<S>&) {
      return {S(included.constants() ? -detail::half_log_two_pi : 0.0)};
    }
    template <class S>
    static auto suits(const each<S>& x) {
      return within(x[0], -1e50, 1e50);
    }
    template <class S>
    static S term(const std::array<S, 1>& prepared, const each<S>& x, const parts&, each<S>& slope) {
      slope[0] = -x[0];
      return prepared[0] - 0.5 * (x[0] * x[0]);
    }
  };
};
/// Returns the sum of the standard normal log densities of y; see normal_lpdf.
template <bool propto = false, class Y>
auto std_normal_lpdf(const Y& y) {
  return apply_probability<std_normal_lpdf_rule, propto>(y);
}

struct normal_cdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "normal_cdf",
                                    text = "Probability of a value up to y, with mean mu and standard deviation sigma.",
                                    reference = "ncdf((y - mu) / sigma)", source = "F(y; mu, sigma) = Phi((y - mu) / sigma)";
  static constexpr std::string_view scipy = "norm: x; loc, scale";
  static constexpr bool is_product = true;
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_cdf_of(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::normal_cdf_octets;
};
/// Returns the product of the normal probabilities of values up to y; each argument is a number or a sequence of a common
/// length.
template <class Y, class Mu, class Sigma>
auto normal_cdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<normal_cdf_rule>(y, mu, sigma);
}

struct normal_lcdf_rule : detail::location_scale_rule {
  static constexpr std::string_view name = "normal_lcdf", text = "Logarithm of normal_cdf.",
                                    reference = "log(ncdf((y - mu) / sigma)) if y < mu else log1p(-ncdf((mu - y) / sigma))",
                                    source = "log F(y; mu, sigma) = log Phi((y - mu) / sigma)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((y - mu) / sigma));
  }

  using octets = detail::normal_lcdf_octets<1>;
};
/// Returns the sum of the logarithms of the normal probabilities of values up to y.
template <class Y, class Mu, class Sigma>
auto normal_lcdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<normal_lcdf_rule>(y, mu, sigma);
}

struct normal_lccdf_rule : detail::location_scale_rule {
  static constexpr std::string_view
      name = "normal_lccdf",
      text = "Logarithm of the probability of a value beyond y, with mean mu and standard deviation sigma.",
      reference = "log(ncdf((mu - y) / sigma)) if y > mu else log1p(-ncdf((y - mu) / sigma))",
      source = "log(1 - F(y; mu, sigma)) = log Phi((mu - y) / sigma)";
  template <class P, class Y, class M, class S>
  static auto term(const parts&, const P&, const Y& y, const M& mu, const S& sigma) {
    return detail::normal_lcdf_of(promoted_t<Y, M, S>((mu - y) / sigma));
  }

  using octets = detail::normal_lcdf_octets<-1>;
};
/// Returns the sum of the logarithms of the normal probabilities of values beyond y.
template <class Y, class Mu, class Sigma>
auto normal_lccdf(const Y& y, const Mu& mu, const Sigma& sigma) {
  return apply_probability<normal_lccdf_rule>(y, mu, sigma);
}

struct std_normal_cdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_cdf", text = "Standard normal probability of a value up to y.",
                                    reference = "ncdf(y)", source = "F(y) = Phi(y)";
  static constexpr bool is_product = true;
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_cdf_of(promoted_t<Y>(y));
  }
};
/// Returns the product of the standard normal probabilities of values up to y; see normal_cdf.
template <class Y>
auto std_normal_cdf(const Y& y) {
  return apply_probability<std_normal_cdf_rule>(y);
}

struct std_normal_lcdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lcdf", text = "Logarithm of std_normal_cdf.",
                                    reference = "log(ncdf(y)) if y < 0 else log1p(-ncdf(-y))", source = "log F(y) = log Phi(y)";
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_lcdf_of(promoted_t<Y>(y));
  }

  using octets = detail::std_normal_lcdf_octets<1>;
};
/// Returns the sum of the logarithms of the standard normal probabilities of values up to y.
template <class Y>
auto std_normal_lcdf(const Y& y) {
  return apply_probability<std_normal_lcdf_rule>(y);
}

struct std_normal_lccdf_rule : detail::std_normal_rule {
  static constexpr std::string_view name = "std_normal_lccdf",
                                    text = "Logarithm of the standard normal probability of a value beyond y.",
                                    reference = "log(ncdf(-y)) if y > 0 else log1p(-ncdf(y))",
                                    source = "log(1 - F(y)) = log Phi(-y)";
  template <class P, class Y>
  static auto term(const parts&, const P&, const Y& y) {
    return detail::normal_lcdf_of(promoted_t<Y>(-y));
  }

  using octets = detail::std_normal_lcdf_octets<-1>;
};
/// Returns the sum of the logarithms of the standard normal probabilities of values beyond y.
template <class Y>
auto std_normal_lccdf(const Y& y) {
  return apply_probability<std_normal_lccdf_rule>(y);
}

namespace rules {
using normal_distribution = typelist<std_normal_lpdf_rule, normal_cdf_rule, normal_lcdf_rule, normal_lccdf_rule,
                                     std_normal_cdf_rule, std_normal_lcdf_rule, std_normal_lccdf_rule>;
}

}  // namespace agrad
