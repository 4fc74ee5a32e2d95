// Parts of the Skellam distribution, of the difference k of two Poisson counts with rates mu1 and mu2, as internal rules.
//
// With r = sqrt(k^2 + 4 mu1 mu2) the counts m1 = (r + k) / 2 and m2 = (r - k) / 2 are the most probable ones of difference k,
// and m1 m2 = mu1 mu2. The large part of a log mass is minus the deviances of m1 from mu1 and m2 from mu2, which do not cancel,
// nor do their derivatives, 1 - m1 / mu1 and 1 - m2 / mu2. What is left is the series of Debye's expansion of the Bessel
// function; where r is small the power series takes its place. Read next: families/counts/skellam.hpp.
#pragma once

#include <agrad/families/tails/count_deviance.hpp>
#include <agrad/rules/bessel/log_bessel_i.hpp>

namespace agrad::detail {

/// From this r on Debye's expansion has all digits.
inline constexpr double large_skellam_radius = 30;

template <class T>
T skellam_radius(const T& k, const T& mu1, const T& mu2) {
  return hypot(k, 2.0 * (sqrt(mu1) * sqrt(mu2)));
}

/// m / mu, or its distance to 1, of the count whose rate is mu; the count of the rate `other` is less by k.
template <bool is_distance>
struct skellam_share_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = is_distance ? "skellam_share_distance" : "skellam_share";
  static double value(double k, double mu, double other) {
    const double r = std::hypot(k, 2 * (std::sqrt(mu) * std::sqrt(other)));
    if (is_distance && 2 * mu > k) {  // by k - mu + other, without rounding errors of the difference of the rates
      const double difference = mu - other, back = mu - difference, lost = (mu - (difference + back)) + (back - other);
      return 2 * ((k - difference) - lost) / ((2 * mu - k) + r);
    }
    const double share = k > 0 ? 0.5 * (r + k) / mu : 2 * (other / (r - k));
    return is_distance ? share - 1 : share;
  }
  using data_arguments::derivative;
  template <int I, class T>
  static T derivative(wrt<I>, const T& k, const T& mu, const T& other, const T&) {
    const T inverse = 1.0 / skellam_radius(k, mu, other);
    if constexpr (I == 2) return inverse;
    const T share = apply<skellam_share_rule<false>>(k, mu, other);
    return -share * (share * inverse);
  }
};

/// The sum of the deviances of m1 from mu1 and of m2 from mu2.
struct skellam_deviance_rule : rule<3>, data_arguments<0> {
  static constexpr std::string_view name = "skellam_deviance";
  static double value(double k, double mu1, double mu2) { return of(k, mu1, mu2) + of(-k, mu2, mu1); }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& k, const T& mu1, const T& mu2, const T&) {
    return -apply<skellam_share_rule<true>>(k, mu1, mu2);
  }
  template <class T>
  static T derivative(wrt<2>, const T& k, const T& mu1, const T& mu2, const T&) {
    return -apply<skellam_share_rule<true>>(-k, mu2, mu1);
  }

 private:
  static double of(double k, double mu, double other) {
    const double distance = skellam_share_rule<true>::value(k, mu, other);
    return deviance_term(mu * skellam_share_rule<false>::value(k, mu, other), -mu * distance, mu);
  }
};

/// Derivative n with respect to log z of log I_k(z) without its large part, r - k asinh(k / z), from r = 30 on.
template <int n>
struct bessel_rest_rule : rule<2>, data_arguments<0> {
  static constexpr auto letters = with_digits<n>("bessel_rest");
  static constexpr std::string_view name = letters.data();
  static double value(double k, double log_z) {
    const double z = std::exp(log_z), r = std::hypot(k, z);
    return r >= large_skellam_radius && r < infinity ? log_debye_sum(std::abs(k) / r, z / r * (z / r), r).at[0][n] : quiet_nan;
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& k, const T& log_z, const T&) {
    if constexpr (n == highest_log_bessel_derivative)
      return T(quiet_nan);
    else
      return apply<bessel_rest_rule<n + 1>>(k, log_z);
  }
};

/// The logarithm of the sum of w^j n! / (j! (n + j)!) over j >= 0, for moderate w.
struct log_bessel_sum_rule : rule<2>, data_arguments<0> {
  static constexpr std::string_view name = "log_bessel_sum";
  static double value(double n, double w) {
    if (!(w <= large_skellam_radius * large_skellam_radius)) return quiet_nan;
    double rest = 0, term = 1;
    for (int j = 1; term > 1e-18 * rest; ++j) rest += term *= w / (j * (n + j));
    return std::log1p(rest);
  }
  using data_arguments::derivative;
  template <class T>
  static T derivative(wrt<1>, const T& n, const T& w, const T& value) {
    return exp(apply<log_bessel_sum_rule>(n + 1.0, w) - value) / (n + 1.0);
  }
};

}  // namespace agrad::detail
