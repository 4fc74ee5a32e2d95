// Deviances of counts: the large parts of log masses, which are not negative and have derivatives without large parts.
//
// A deviance is a sum of terms x log(x / y) - x + y, in which x and y differ by a number that is known without rounding; the
// slopes are logarithms of 1 plus a small quotient, or quotients. All rules are internal.
// Read next: rules/gamma/gamma_rest.hpp, the other part of log masses; families/counts/neg_binomial.hpp.
#pragma once

#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/links.hpp>

namespace agrad {

namespace detail {

/// Returns log(1 + u), where 1 + u = x / y is far from 1 if u rounds badly.
inline double log1p_or_ratio(double u, double x, double y) { return u > -0.5 && u < 1 ? std::log1p(u) : log_ratio(x, y); }

/// Returns x log(x / y) - x + y with y - x = step.
inline double deviance_term(double x, double step, double y) {
  const double u = step / x;
  if (u > -0.6 && u < 1.5) return x * log1p_rest(u);
  return x == 0 ? step : step - x * log_ratio(y, x);
}

/// Returns shaped_deviance below, given gap = (x - mu) / (mu + phi).
inline double shaped_deviance(double x, double mu, double phi, double gap) {
  const double ratio = (x + phi) / (mu + phi);
  return deviance_term(x, -phi * gap, mu * ratio) + deviance_term(phi, phi * gap, phi * ratio);
}

/// Returns x log(x / mu) + (x + phi) log((mu + phi) / (x + phi)), of a count with mean mu and shape phi.
inline double shaped_deviance(double x, double mu, double phi) {
  if (!(x >= 0 && mu >= 0 && phi > 0)) return quiet_nan;
  return shaped_deviance(x, mu, phi, (x - mu) / (mu + phi));
}

/// Returns x - exp(eta), also near eta = 0.
inline double distance_to_exp(double x, double eta) {
  return std::abs(eta) < 0.5 ? (x - 1) - std::expm1(eta) : x - std::exp(eta);
}

/// Returns (x - mu) / (mu + phi) with mu = exp(eta).
inline double shaped_log_gap(double x, double eta, double phi) {
  return eta > 700 ? -1 : distance_to_exp(x, eta) / (std::exp(eta) + phi);
}

/// Returns shaped_deviance of the mean exp(eta), which may be 0 or infinite.
inline double shaped_log_deviance(double x, double eta, double phi) {
  if (eta > -700 && eta < 700) return shaped_deviance(x, std::exp(eta), phi, shaped_log_gap(x, eta, phi));
  const double entropy = x == 0 ? 0 : x * std::log(x);
  if (eta > 0) return phi * eta + entropy - (x + phi) * std::log(x + phi);
  return x == 0 ? std::exp(eta) : entropy - x * eta + (x + phi) * log_ratio(phi, x + phi);
}

/// Returns x log(x / mu) - x + mu with mu = exp(eta).
inline double log_mean_deviance(double x, double eta) {
  const double mu = std::exp(eta);
  if (eta > -700 && eta < 700) return deviance_term(x, -distance_to_exp(x, eta), mu);
  return x == 0 ? mu : mu - x + x * (std::log(x) - eta);
}

/// The derivative of shaped_deviance with respect to phi.
inline double shaped_slope(double x, double mu, double phi, double gap) {
  return gap > -0.5 ? log1p_rest(gap) : gap - log_ratio(x + phi, mu + phi);
}
inline double shaped_log_slope(double x, double eta, double phi) {
  if (eta > 700) return eta - std::log(x + phi) - 1;
  return shaped_slope(x, std::exp(eta), phi, shaped_log_gap(x, eta, phi));
}

struct shaped_slope_rule : rule<3> {
  static constexpr std::string_view name = "shaped_slope";
  static double value(double x, double mu, double phi) { return shaped_slope(x, mu, phi, (x - mu) / (mu + phi)); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& mu, const T& phi, const T&) {
    return (x - mu) / ((x + phi) * (mu + phi));
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& mu, const T& phi, const T&) {
    return (mu - x) / (mu + phi) / (mu + phi);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& mu, const T& phi, const T&) {
    const T u = (x - mu) / (mu + phi);
    return -u * (u / (x + phi));
  }
};

/// The derivative of shaped_deviance with respect to mu.
struct shaped_mean_slope_rule : rule<3> {
  static constexpr std::string_view name = "shaped_mean_slope";
  static double value(double x, double mu, double phi) { return (mu - x) / mu * (phi / (mu + phi)); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& mu, const T& phi, const T&) {
    return -phi / (mu + phi) / mu;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& mu, const T& phi, const T&) {
    return phi / (mu + phi) / (mu + phi) * (x / mu * (2.0 + phi / mu) - 1.0);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& mu, const T& phi, const T&) {
    return (mu - x) / (mu + phi) / (mu + phi);
  }
};

struct shaped_deviance_rule : rule<3> {
  static constexpr std::string_view name = "shaped_deviance";
  static double value(double x, double mu, double phi) { return shaped_deviance(x, mu, phi); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& mu, const T& phi, const T&) {
    return apply<log_ratio_rule>(x, mu) - apply<log_ratio_rule>(x + phi, mu + phi);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& mu, const T& phi, const T&) {
    return apply<shaped_mean_slope_rule>(x, mu, phi);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& mu, const T& phi, const T&) {
    return apply<shaped_slope_rule>(x, mu, phi);
  }
};

struct log_mean_slope_rule : rule<2> {
  static constexpr std::string_view name = "log_mean_slope";
  static double value(double x, double eta) { return -distance_to_exp(x, eta); }
  template <class T>
  static double derivative(wrt<0>, const T&, const T&, const T&) {
    return -1.0;
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T& eta, const T&) {
    return exp(eta);
  }
};

struct log_mean_deviance_rule : rule<2> {
  static constexpr std::string_view name = "log_mean_deviance";
  static double value(double x, double eta) { return log_mean_deviance(x, eta); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& eta, const T&) {
    return log(x) - eta;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& eta, const T&) {
    return apply<log_mean_slope_rule>(x, eta);
  }
};

struct shaped_log_gap_rule : rule<3> {
  static constexpr std::string_view name = "shaped_log_gap";
  static double value(double x, double eta, double phi) { return shaped_log_gap(x, eta, phi); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& eta, const T& phi, const T&) {
    return inv_logit(log(phi) - eta) / phi;
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& eta, const T& phi, const T&) {
    const T odds = eta - log(phi);
    return -inv_logit(odds) * inv_logit(-odds) * (1.0 + x / phi);
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T& eta, const T& phi, const T& value) {
    return -value * (inv_logit(log(phi) - eta) / phi);
  }
};

struct shaped_log_slope_rule : rule<3> {
  static constexpr std::string_view name = "shaped_log_slope";
  static double value(double x, double eta, double phi) { return shaped_log_slope(x, eta, phi); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& eta, const T& phi, const T&) {
    return apply<shaped_log_gap_rule>(x, eta, phi) / (x + phi);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& eta, const T& phi, const T&) {
    return -inv_logit(eta - log(phi)) * apply<shaped_log_gap_rule>(x, eta, phi);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& eta, const T& phi, const T&) {
    const T gap = apply<shaped_log_gap_rule>(x, eta, phi);
    return -gap * (gap / (x + phi));
  }
};

/// The derivative of shaped_log_deviance with respect to eta: phi (mu - x) / (mu + phi) with mu = exp(eta).
struct shaped_log_mean_slope_rule : rule<3> {
  static constexpr std::string_view name = "shaped_log_mean_slope";
  static double value(double x, double eta, double phi) { return -phi * shaped_log_gap(x, eta, phi); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T& eta, const T& phi, const T&) {
    return -inv_logit(log(phi) - eta);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& eta, const T& phi, const T&) {
    const T odds = eta - log(phi);
    return (x + phi) * inv_logit(odds) * inv_logit(-odds);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& eta, const T& phi, const T&) {
    return -inv_logit(eta - log(phi)) * apply<shaped_log_gap_rule>(x, eta, phi);
  }
};

struct shaped_log_deviance_rule : rule<3> {
  static constexpr std::string_view name = "shaped_log_deviance";
  static double value(double x, double eta, double phi) { return shaped_log_deviance(x, eta, phi); }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& eta, const T& phi, const T&) {
    return log(x) - eta - log(x + phi) + log_sum_exp(eta, log(phi));
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& eta, const T& phi, const T&) {
    return apply<shaped_log_mean_slope_rule>(x, eta, phi);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& eta, const T& phi, const T&) {
    return apply<shaped_log_slope_rule>(x, eta, phi);
  }
};

/// The deviance of a count from the mean alpha / beta, with shape alpha and odds beta: its slope with respect to alpha.
struct odds_shape_slope_rule : rule<3> {
  static constexpr std::string_view name = "odds_shape_slope";
  static double value(double x, double alpha, double beta) {
    const double u = (alpha / beta - x) / (x + alpha);
    if (u > -0.5 && u < 1) return std::log1p(u);
    return u < infinity ? log_ratio(alpha + alpha / beta, x + alpha) : std::log(alpha) - std::log(beta) - std::log(x + alpha);
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& alpha, const T&, const T&) {
    return -1.0 / (x + alpha);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& alpha, const T&, const T&) {
    return x / (x + alpha) / alpha;
  }
  template <class T>
  static T derivative(wrt<2>, const T&, const T&, const T& beta, const T&) {
    return -1.0 / (1.0 + beta) / beta;
  }
};

struct odds_slope_rule : rule<3> {
  static constexpr std::string_view name = "odds_slope";
  static double value(double x, double alpha, double beta) { return (x - alpha / beta) / (1 + beta); }
  template <class T>
  static T derivative(wrt<0>, const T&, const T&, const T& beta, const T&) {
    return 1.0 / (1.0 + beta);
  }
  template <class T>
  static T derivative(wrt<1>, const T&, const T&, const T& beta, const T&) {
    return -1.0 / (1.0 + beta) / beta;
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& alpha, const T& beta, const T&) {
    return (alpha / beta * (2.0 + 1.0 / beta) - x) / (1.0 + beta) / (1.0 + beta);
  }
};

struct odds_deviance_rule : rule<3> {
  static constexpr std::string_view name = "odds_deviance";
  static double value(double x, double alpha, double beta) {
    const double step = (alpha - beta * x) / (1 + beta), total = x + alpha;
    return deviance_term(x, step, total / (1 + beta)) + deviance_term(alpha, -step, total * (beta / (1 + beta)));
  }
  template <class T>
  static T derivative(wrt<0>, const T& x, const T& alpha, const T& beta, const T&) {
    return log1p(beta) - log1p(alpha / x);
  }
  template <class T>
  static T derivative(wrt<1>, const T& x, const T& alpha, const T& beta, const T&) {
    return apply<odds_shape_slope_rule>(x, alpha, beta);
  }
  template <class T>
  static T derivative(wrt<2>, const T& x, const T& alpha, const T& beta, const T&) {
    return apply<odds_slope_rule>(x, alpha, beta);
  }
};

}  // namespace detail

}  // namespace agrad
