// The first passage of a Wiener process with drift (diffusion model of decisions): density at the upper boundary.
//
// In units of alpha^2 the time is s, and the series of images (small s) or of sines (large s) is taken, whichever needs few
// terms: six images or five sines are exact to rounding on their side of 0.45. Both are on the log scale with their largest
// term in front, so that values and derivatives are finite in the tails. Images are paired about the nearer boundary, so that
// nothing cancels beside it.
#pragma once

#include <agrad/families/multivariate/parts.hpp>
#include <agrad/rules/polygamma.hpp>
#include <agrad/rules/trigonometric.hpp>

namespace agrad {

namespace detail {

/// Returns the log density of the first passage at scaled time s; v is the distance of the start from the other boundary.
template <class T>
T log_first_passage(const T& s, const T& v) {
  const T u = 1.0 - v;
  const auto images = [&] {
    const auto beside_lower = [&] {
      T sum(0.0);
      for (const double m : {1.0, 3.0, 5.0}) {
        const T pair = -2.0 * v - (m + v) * expm1(-2.0 * m * v / s);
        sum = sum + (m == 1.0 ? pair : T(pair * exp((m - 1.0) * (v - 0.5 * (m + 1.0)) / s)));
      }
      return sum;
    };
    const auto beside_upper = [&] {
      T sum = u;
      for (const double m : {2.0, 4.0, 6.0})
        sum = sum + (2.0 * u + (m + u) * expm1(-2.0 * m * u / s)) * exp(m * (u - 0.5 * m) / s);
      return sum;
    };
    return T(log(either<T>(v < 0.5, beside_lower, beside_upper)) - 0.5 * (u * u) / s - 1.5 * log(s) - half_log_two_pi);
  };
  const auto sines = [&] {
    T sum(0.0);
    for (int i = 0; i < 5; ++i) {
      const double k = i + 1.0, sign = i % 2 == 0 ? 1.0 : -1.0;
      const T wave = either<T>(
          v < 0.5, [&] { return T(sign * sin(k * pi * v)); }, [&] { return T(sin(k * pi * u)); });
      sum = sum + k * wave * exp(-0.5 * pi * pi * (k * k - 1.0) * s);
    }
    return T(log(sum) - 0.5 * pi * pi * s + log_pi);
  };
  return either<T>(s < 0.45, images, sines);
}

}  // namespace detail

struct wiener_lpdf_rule : multivariate_rule<5> {
  static constexpr std::string_view
      name = "wiener_lpdf",
      text =
          "Log density of the first passage times y through the upper of two boundaries: alpha is their distance, tau the"
          " time before the process begins, beta the start as a share of alpha, delta the drift.",
      source = "Feller (1968), chapter XIV; Navarro and Fuss (2009), Journal of Mathematical Psychology 53:222";
  static constexpr matrix_argument arguments[] = {{"y", 'n', '1', must_be::positive_finite},
                                                  {"alpha", 'n', '1', must_be::positive_finite},
                                                  {"tau", 'n', '1', must_be::nonnegative_finite},
                                                  {"beta", 'n', '1', must_be::inner_probability},
                                                  {"delta", 'n', '1', must_be::finite}};
  template <class W, class Y, class A, class T0, class B, class D>
  static auto log_density(const parts&, const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
    const auto term = [](const auto& at, const auto& a, const auto& start, const auto& b, const auto& drift) {
      using T = promoted_t<decltype(at), decltype(a), decltype(start), decltype(b), decltype(drift)>;
      const T time = at - start;
      return either<T>(
          time > 0.0,
          [&] {
            const T s = time / (a * a), share(b);
            return T(drift * (a * (1.0 - share) - 0.5 * drift * time) - 2.0 * log(a) + detail::log_first_passage<T>(s, share));
          },
          [] { return T(-infinity); });
    };
    return W::sum(W::each(term, y, alpha, tau, beta, delta));
  }
};
/// Returns the sum of the log densities of first passage times y through the upper boundary, -inf where y is not beyond tau.
/// For the lower boundary pass 1 - beta and -delta.
template <bool propto = false, class Y, class A, class T0, class B, class D>
auto wiener_lpdf(const Y& y, const A& alpha, const T0& tau, const B& beta, const D& delta) {
  return apply_multivariate<wiener_lpdf_rule, propto>(y, alpha, tau, beta, delta);
}

namespace rules {
using wiener_distribution = typelist<wiener_lpdf_rule>;
}

}  // namespace agrad
