// The Gaussian dynamic linear model: the log density of observations by the Kalman filter.
//
//     y_t = F' theta_t + v_t, v_t ~ N(0, V);  theta_t = G theta_{t-1} + w_t, w_t ~ N(0, W);  theta_0 ~ N(m0, C0)
//
// A missing entry of y_t is one that does not depend on the state: its column of F is 0, its row and column of V are those of
// the unit matrix and its value is 0, so that it adds 0 to the log density.
#pragma once

#include <agrad/families/multivariate/parts.hpp>

namespace agrad {

struct gaussian_dlm_obs_lpdf_rule : multivariate_rule<7> {
  /// Returns x where y was observed, else `otherwise`.
  struct observed_or {
    template <class Y, class X, class Z>
    auto operator()(const Y& y, const X& x, const Z& otherwise) const {
      using T = promoted_t<X, Z>;
      return either<T>(
          y == y, [&] { return T(x); }, [&] { return T(otherwise); });
    }
  };
  /// Returns what an entry of y adds to the log density whatever the arguments are.
  struct constant_of {
    template <class Y>
    auto operator()(const Y& y) const {
      using T = promoted_t<Y>;
      return either<T>(
          y == y, [] { return T(-detail::half_log_two_pi); }, [] { return T(0.0); });
    }
  };

  static constexpr std::string_view
      name = "gaussian_dlm_obs_lpdf",
      text =
          "Log density of observations y, a column for each time, nan where missing, of a Gaussian dynamic linear model:"
          " y_t = F' theta_t + N(0, V), theta_t = G theta_{t-1} + N(0, W), theta_0 = N(m0, C0).",
      source = "West and Harrison (1997), Bayesian Forecasting and Dynamic Models, theorem 4.1";
  static constexpr matrix_argument arguments[] = {{"y", 'r', 't', must_be::finite_or_missing},
                                                  {"F", 'm', 'r', must_be::finite},
                                                  {"G", 'm', 'm', must_be::finite},
                                                  {"V", 'r', 'r', must_be::covariance, '1', shorthand::diagonal},
                                                  {"W", 'm', 'm', must_be::covariance},
                                                  {"m0", '1', 'm', must_be::finite},
                                                  {"C0", 'm', 'm', must_be::covariance}};
  /// Returns the words of a message for the matrix that is factored at time t.
  AGRAD_COLD static std::string factored(std::ptrdiff_t t) {
    return "the covariance of y[:, " + std::to_string(t) + "] given the observations before";
  }
  template <class Words, class Y, class F, class G, class V, class W, class M, class C>
  static auto log_density(const parts& included, const Y& y, const F& f, const G& g, const V& v, const W& w, const M& m0,
                          const C& c0) {
    const auto alike = [&](const auto& x) { return Words::alike(x, y, f, g, v, w, m0, c0); };
    const auto f_turned = Words::transposed(f);
    const auto g_turned = Words::transposed(g);
    const auto by_time = Words::transposed(y);
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(y.rows(), y.rows());
    auto mean = alike(Words::transposed(m0));
    auto covariance = alike(c0);
    auto sum = alike(Words::part(
        included.constants(), [&] { return Words::sum(Words::each(constant_of{}, y)); }, y));
    for (Eigen::Index t = 0; t < y.cols(); ++t) {
      const auto across = Words::row(by_time, t), down = Words::transposed(across);
      const auto state = Words::product(g, mean);
      const auto spread = detail::added<Words>(Words::product(Words::product(g, covariance), g_turned), w);
      const auto observed = Words::each(observed_or{}, down, f_turned, detail::one_number(0));
      const auto noise = Words::each(observed_or{}, down, Words::each(observed_or{}, across, v, unit), unit);
      const auto crossed = Words::product(observed, spread);
      const auto l = Words::template cholesky_at<gaussian_dlm_obs_lpdf_rule>(
          detail::added<Words>(Words::product(crossed, Words::transposed(observed)), noise), t);
      const auto error = Words::each(detail::difference_of{}, Words::each(observed_or{}, down, down, detail::one_number(0)),
                                     Words::product(observed, state));
      const auto z = Words::solve_lower(l, error);
      const auto gain = Words::transposed(Words::solve_lower(l, crossed));
      sum = alike(detail::weighted<Words>(1, sum, -0.5, Words::sum(Words::each(detail::square_of{}, z)), -1,
                                          detail::log_diagonal<Words>(l)));
      mean = alike(detail::added<Words>(state, Words::product(gain, z)));
      covariance = alike(Words::each(detail::difference_of{}, spread, Words::product(gain, Words::transposed(gain))));
    }
    return sum;
  }
};
/// Returns the log density of observations y (r x t), nan where missing, with F (m x r), G (m x m), V (r x r, or its diagonal),
/// W (m x m), m0 (m) and C0 (m x m).
template <bool propto = false, class Y, class F, class G, class V, class W, class M, class C>
auto gaussian_dlm_obs_lpdf(const Y& y, const F& f, const G& g, const V& v, const W& w, const M& m0, const C& c0) {
  return apply_multivariate<gaussian_dlm_obs_lpdf_rule, propto>(y, f, g, v, w, m0, c0);
}

namespace rules {
using gaussian_dlm_distribution = typelist<gaussian_dlm_obs_lpdf_rule>;
}

}  // namespace agrad
