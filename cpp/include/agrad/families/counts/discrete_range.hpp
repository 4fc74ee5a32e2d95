// The discrete uniform distribution on the whole numbers from l to u. All arguments are data.
//
// If l exceeds u, the range is empty, and log masses are -inf.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/between.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/entropy.hpp>

namespace agrad {

namespace detail {
/// What the functions have in common.
struct discrete_range_rule : probability_rule<3> {
  static constexpr density_argument arguments[] = {{"y", must_be::whole}, {"l", must_be::whole}, {"u", must_be::whole}};
};
}  // namespace detail

struct discrete_range_lpmf_rule : detail::discrete_range_rule {
  static constexpr std::string_view name = "discrete_range_lpmf",
                                    text = "Log mass of y among the equally probable whole numbers from l to u.",
                                    reference = "-log(u - l + 1) if l <= y <= u else -inf",
                                    source = "log f(y; l, u) = -log(u - l + 1)";
  static constexpr std::string_view scipy = "randint(low, high {a whole number}): x - loc; low, high - 1";
  template <class Y, class L, class U>
  static auto in_support(const Y& y, const L& lower, const U& upper) {
    return lower <= y && y <= upper;
  }
  template <class P, class Y, class L, class U>
  static auto term(const parts& included, const P&, const Y&, const L& lower, const U& upper) {
    promoted_t<Y, L, U> sum(0.0);
    if (included.of({1, 2})) sum -= log(upper - lower + 1.0);
    return sum;
  }
};
/// Returns the sum of the log masses of y; see normal_lpdf.
template <bool propto = false, class Y, class Lower, class Upper>
auto discrete_range_lpmf(const Y& y, const Lower& lower, const Upper& upper) {
  return apply_probability<discrete_range_lpmf_rule, propto>(y, lower, upper);
}

struct discrete_range_cdf_rule : detail::discrete_range_rule {
  static constexpr std::string_view name = "discrete_range_cdf", text = "Probability of a value up to y, from l to u.",
                                    reference = "0 if y < l else 1 if y >= u else (y - l + 1) / (u - l + 1)",
                                    source = "F(y; l, u) = (y - l + 1) / (u - l + 1)";
  static constexpr bool is_product = true;
  template <class P, class Y, class L, class U>
  static auto term(const parts&, const P&, const Y& y, const L& lower, const U& upper) {
    using T = promoted_t<Y, L, U>;
    return either<T>(
        y < lower, [&] { return T(0.0); }, y >= upper, [&] { return T(1.0); },
        [&] { return T((y - lower + 1.0) / (upper - lower + 1.0)); });
  }
};
/// Returns the product of the probabilities of values up to y; see normal_cdf.
inline constexpr probability_function<discrete_range_cdf_rule> discrete_range_cdf;

struct discrete_range_lcdf_rule : detail::discrete_range_rule {
  static constexpr std::string_view name = "discrete_range_lcdf", text = "Logarithm of discrete_range_cdf.",
                                    reference =
                                        "-inf if y < l else 0 if y >= u else"
                                        " log((y - l + 1) / (u - l + 1))",
                                    source = "log F(y; l, u) = log((y - l + 1) / (u - l + 1))";
  template <class P, class Y, class L, class U>
  static auto term(const parts&, const P&, const Y& y, const L& lower, const U& upper) {
    using T = promoted_t<Y, L, U>;
    return either<T>(
        y < lower, [&] { return T(-infinity); }, y >= upper, [&] { return T(0.0); },
        [&] { return T(apply<detail::log_ratio_rule>(y - lower + 1.0, upper - lower + 1.0)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values up to y.
inline constexpr probability_function<discrete_range_lcdf_rule> discrete_range_lcdf;

struct discrete_range_lccdf_rule : detail::discrete_range_rule {
  static constexpr std::string_view name = "discrete_range_lccdf",
                                    text = "Logarithm of the probability of a value beyond y, from l to u.",
                                    reference = "0 if y < l else -inf if y >= u else log((u - y) / (u - l + 1))",
                                    source = "log(1 - F(y; l, u)) = log((u - y) / (u - l + 1))";
  template <class P, class Y, class L, class U>
  static auto term(const parts&, const P&, const Y& y, const L& lower, const U& upper) {
    using T = promoted_t<Y, L, U>;
    return either<T>(
        y < lower, [&] { return T(0.0); }, y >= upper, [&] { return T(-infinity); },
        [&] { return T(apply<detail::log_ratio_rule>(upper - y, upper - lower + 1.0)); });
  }
};
/// Returns the sum of the logarithms of the probabilities of values beyond y.
inline constexpr probability_function<discrete_range_lccdf_rule> discrete_range_lccdf;

using discrete_range_lbetween_rule =
    log_between_counts<discrete_range_lpmf_rule, discrete_range_lcdf_rule, discrete_range_lccdf_rule>;
/// Returns the sum of the log probabilities of counts from lower to upper, both included.
inline constexpr probability_function<discrete_range_lbetween_rule> discrete_range_lbetween;

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

namespace rules {
using discrete_range_family =
    family<typelist<discrete_range_lpmf_rule, discrete_range_cdf_rule, discrete_range_lcdf_rule, discrete_range_lccdf_rule>,
           typelist<>, typelist<discrete_range_lbetween_rule>>;
}

}  // namespace agrad
