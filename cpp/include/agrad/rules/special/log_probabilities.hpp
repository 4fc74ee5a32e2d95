// Probabilities on the logarithmic scale: differences and mixtures of exponentials and of logistic functions, and the loss of a
// probability; and two more inverse links.
//
// Values are sums of logarithms with one sign, or of what remains beside the largest exponential; derivatives are quotients of
// exponentials that do not grow.
#pragma once

#include <agrad/rules/links.hpp>
#include <agrad/rules/passing.hpp>

namespace agrad {

namespace detail {

/// exp(x - exp(x)), with more digits within, because the size of the exponent multiplies its relative error.
struct exp_minus_exp_rule : rule<1> {
  static constexpr std::string_view name = "exp_minus_exp";
  static double value(double x) {
    const long double wide = x;
    return x > 7 ? 0.0 : static_cast<double>(std::exp(wide - std::exp(wide)));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    return -value * expm1(x);
  }
};

/// Returns exp(-x) / (1 - exp(-x)).
template <class T>
T odds_of_exp(const T& x) {
  return -exp(-x) / expm1(-x);
}

/// The odds of exp(y) in exp(x) for x >= y: exp(y) / (exp(x) - exp(y)). They are infinite for equal exponents, of which both
/// may be -infinity: as a function of x - y they would be nan there.
struct odds_between_rule : rule<2> {
  static constexpr std::string_view name = "odds_between";
  static double value(double x, double y) {
    if (x == y) return x < infinity ? infinity : quiet_nan;
    return x - y < 700 ? 1 / std::expm1(x - y) : std::exp(y - x);
  }
  template <class T>
  static T derivative(wrt<0>, const T&, const T&, const T& value) {
    return -value * (1.0 + value);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T& value) {
    return value * (1.0 + value);
  }
};

}  // namespace detail

struct inv_cloglog_rule : rule<1> {
  static constexpr std::string_view name = "inv_cloglog", text = "Inverse of the complementary log-log link, 1 - exp(-exp(x)).",
                                    reference = "-expm1(-exp(min(x, 20)))";
  static double value(double x) { return -std::expm1(-std::exp(x)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return apply<detail::exp_minus_exp_rule>(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<inv_cloglog_rule, X> inv_cloglog(const X& x) {
  return apply<inv_cloglog_rule>(x);
}

struct ndtr_approx_rule : rule<1> {
  static constexpr std::string_view name = "ndtr_approx",
                                    text = "Logistic approximation of ndtr, inv_logit(0.07056 x^3 + 1.5976 x).",
                                    reference = "1 / (1 + exp(-(mpf(0.07056) * x ** 3 + mpf(1.5976) * x)))",
                                    stan = "Phi_approx",
                                    source = "Bowling et al. (2009), Journal of Industrial Engineering and Management 2:114";
  static double value(double x) {  // with more digits within, because the size of the exponent multiplies its relative error
    const long double wide = x, e = std::exp(-std::abs((cubic * (wide * wide) + linear) * wide));
    return static_cast<double>((x < 0 ? e : 1) / (1 + e));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& value) {
    const T bend = value * apply<ndtr_approx_rule>(-x);
    return either<T>(
        bend == 0, [&] { return bend; }, [&] { return T(bend * (3.0 * cubic * (x * x) + linear)); });
  }

 private:
  static constexpr double cubic = 0.07056, linear = 1.5976;
};
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtr_approx_rule, X> ndtr_approx(const X& x) {
  return apply<ndtr_approx_rule>(x);
}
/// Does the same as `ndtr_approx`; this is Stan's name.
template <class X>
AGRAD_ALWAYS_INLINE applied<ndtr_approx_rule, X> Phi_approx(const X& x) {
  return apply<ndtr_approx_rule>(x);
}

struct log1m_inv_logit_rule : rule<1> {
  static constexpr std::string_view name = "log1m_inv_logit",
                                    text = "Logarithm of the complement of the logistic function, -log(1 + exp(x)).",
                                    reference = "-log1p(exp(x))";
  static double value(double x) { return -log1p_exp_rule::value(x); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T&) {
    return -inv_logit(x);
  }
};
template <class X>
AGRAD_ALWAYS_INLINE applied<log1m_inv_logit_rule, X> log1m_inv_logit(const X& x) {
  return apply<log1m_inv_logit_rule>(x);
}

struct log_diff_exp_rule : rule<2> {
  static constexpr std::string_view name = "log_diff_exp", text = "log(exp(x) - exp(y)) for x >= y.",
                                    reference = "x + log1p(-exp(y - x)) if x >= y else nan";
  static double value(double x, double y) {
    if (x == y) return x < infinity ? -infinity : quiet_nan;
    return x + log1m_exp_rule::value(y - x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return either<T>(
        x >= y, [&] { return T(1.0 + apply<detail::odds_between_rule>(x, y)); }, [&] { return T(quiet_nan); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x >= y, [&] { return T(-apply<detail::odds_between_rule>(x, y)); }, [&] { return T(quiet_nan); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_diff_exp_rule, X, Y> log_diff_exp(const X& x, const Y& y) {
  return apply<log_diff_exp_rule>(x, y);
}

struct log_inv_logit_diff_rule : rule<2> {
  static constexpr std::string_view name = "log_inv_logit_diff", text = "log(inv_logit(x) - inv_logit(y)) for x >= y.",
                                    reference = "log1p(-exp(y - x)) - log1p(exp(y)) - log1p(exp(-x)) if x >= y else nan";
  static double value(double x, double y) {
    if (x == y) return std::abs(x) < infinity ? -infinity : quiet_nan;
    return log_inv_logit_rule::value(x) + log1m_inv_logit_rule::value(y) + log1m_exp_rule::value(y - x);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T&) {
    return either<T>(
        x >= y, [&] { return T(inv_logit(-x) + detail::odds_of_exp(T(x - y))); }, [&] { return T(quiet_nan); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x >= y, [&] { return T(-inv_logit(y) - detail::odds_of_exp(T(x - y))); }, [&] { return T(quiet_nan); });
  }
};
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<log_inv_logit_diff_rule, X, Y> log_inv_logit_diff(const X& x, const Y& y) {
  return apply<log_inv_logit_diff_rule>(x, y);
}

struct log_mix_rule : rule<3> {
  static constexpr std::string_view name = "log_mix", text = "log(x exp(y) + (1 - x) exp(z)), a mixture with the share x of y.",
                                    reference = "max(y, z) + log(x * exp(y - max(y, z)) + (1 - x) * exp(z - max(y, z)))";
  static constexpr interval domain[] = {{0, 1}, {}, {}};
  static double value(double x, double y, double z) {
    if (!(x > 0 && x < 1)) return x == 1 ? y : x == 0 ? z : quiet_nan;
    if (y == z) return y;
    const double share = y < z ? x : 1 - x, below = -std::abs(y - z), change = share * std::expm1(below);
    const double kept = y < z ? 1 - x : x;
    return std::fmax(y, z) + (change > -0.5 ? std::log1p(change) : std::log(kept + share * std::exp(below)));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& y, const T& z, const T&) {
    return either<T>(
        y < z, [&] { return T(expm1(y - z) / (1.0 - x + x * exp(y - z))); },
        [&] { return T(-expm1(z - y) / (x + (1.0 - x) * exp(z - y))); });
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T& z, const T&) {
    return share(x, T(1.0 - x), T(y - z));
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& y, const T& z, const T&) {
    return share(T(1.0 - x), x, T(z - y));
  }

 private:
  /// Returns the share of p exp(d) in p exp(d) + q; where it is near 1, one minus the share of q, whose derivatives do not
  /// cancel.
  template <class T>
  static T share(const T& p, const T& q, const T& d) {
    const T size = either<T>(  // abs(d), but with a slope at 0, where equal logarithms have a derivative
        d < 0, [&] { return T(-d); }, [&] { return d; });
    const T small = p * exp(-size), large = q * exp(-size);
    return either<T>(
        d < 0 && small < q, [&] { return T(small / (small + q)); }, d < 0, [&] { return T(1.0 - q / (small + q)); }, p < large,
        [&] { return T(p / (p + large)); }, [&] { return T(1.0 - large / (p + large)); });
  }
};
template <class X, class Y, class Z>
AGRAD_ALWAYS_INLINE applied<log_mix_rule, X, Y, Z> log_mix(const X& x, const Y& y, const Z& z) {
  return apply<log_mix_rule>(x, y, z);
}

struct binary_log_loss_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "binary_log_loss",
                                    text =
                                        "Minus the logarithm of the probability of the outcome x, 1 or 0, where 1 has the "
                                        "probability y.",
                                    reference = "-log(y) if x == 1 else -log1p(-y) if x == 0 else nan";
  static constexpr interval domain[] = {{0, 1, true}, {0, 1}};
  static double value(double x, double y) {
    return !(y >= 0 && y <= 1) ? quiet_nan : x == 1 ? -std::log(y) : x == 0 ? -std::log1p(-y) : quiet_nan;
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& y, const T&) {
    return either<T>(
        x == 1, [&] { return T(-1.0 / y); }, [&] { return T(1.0 / (1.0 - y)); });
  }
};
/// The outcome is a whole number: an int, not a variable.
template <class X>
AGRAD_ALWAYS_INLINE applied<binary_log_loss_rule, double, X> binary_log_loss(int outcome, const X& x) {
  return apply<binary_log_loss_rule>(static_cast<double>(outcome), x);
}

namespace rules {
using log_probabilities = typelist<inv_cloglog_rule, ndtr_approx_rule, log1m_inv_logit_rule, log_diff_exp_rule,
                                   log_inv_logit_diff_rule, log_mix_rule, binary_log_loss_rule>;
}

}  // namespace agrad
