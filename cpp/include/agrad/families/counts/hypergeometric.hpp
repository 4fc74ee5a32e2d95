// The hypergeometric distribution. All arguments are data.
//
// The log mass is minus the deviance of the table of drawn and left, successes and failures, from its expected cells, plus the
// rests of Stirling's formulas for the nine factorials. If a cell is 0, the log mass is the logarithm of a ratio of two rising
// factorials, which may be small.
#pragma once

#include <agrad/probability/apply.hpp>
#include <agrad/probability/family.hpp>
#include <agrad/random/apply.hpp>
#include <agrad/random/standard_counts.hpp>
#include <agrad/rules/gamma/entropy.hpp>
#include <agrad/rules/gamma/gamma_rest.hpp>

namespace agrad {

struct hypergeometric_lpmf_rule : probability_rule<4> {
  static constexpr std::string_view
      name = "hypergeometric_lpmf",
      text = "Log mass of n successes in N draws, N <= a + b, from a successes and b failures.",
      reference =
          "log(binomial(a, n)) + log(binomial(b, N - n)) - log(binomial(a + b, N)) if n <= a and 0 <= N - n <= b else -inf",
      source =
          "log f(n; N, a, b) = log(a! / (n! (a - n)!)) + log(b! / ((N - n)! (b - N + n)!)) - log((a + b)! / (N! (a + b - N)!))";
  static constexpr std::string_view scipy = "hypergeom(M {a whole number, not negative}, n, N): x - loc; N, n, M - n";
  static constexpr density_argument arguments[] = {{"n", must_be::whole_nonnegative},
                                                   {"N", must_be::whole_nonnegative},
                                                   {"a", must_be::whole_nonnegative},
                                                   {"b", must_be::whole_nonnegative}};
  static constexpr density_sum sums[] = {{1, 2, 3, must_be::at_most}};
  template <class N, class S, class A, class B>
  static auto in_support(const N& n, const S& draws, const A& a, const B& b) {
    return n <= draws && n <= a && draws - n <= b;
  }
  template <class P, class N, class S, class A, class B>
  static auto term(const parts& included, const P&, const N& n, const S& draws, const A& a, const B& b) {
    using T = promoted_t<N, S, A, B>;
    if (!included.of({0, 1, 2, 3})) return T(0.0);
    const T failures = draws - n, left = a - n, left_failures = b - failures, all = a + b, rest = all - draws;
    const auto part = [](const T& cell, const T& row, const T& column, const T& total) {
      return T(-apply<detail::factorial_rest_rule>(cell) - kl_div(cell, row * (column / total)));
    };
    const auto whole = [](const T& count) { return apply<detail::factorial_rest_rule>(count); };
    const auto ratio = [](const T& opposite, const T& row, const T& column) {  // if a cell is 0
      return [=] { return T(apply<detail::log_rising_ratio_rule>(opposite + 1.0, row, column)); };
    };
    const auto general = [&] {
      return T(whole(a) + whole(b) + whole(draws) + whole(rest) - whole(all) + part(n, a, draws, all) +
               part(failures, b, draws, all) + part(left, a, rest, all) + part(left_failures, b, rest, all));
    };
    return either<T>(n == 0, ratio(left_failures, a, draws), failures == 0, ratio(left, b, draws), left == 0,
                     ratio(failures, a, rest), left_failures == 0, ratio(n, b, rest), general);
  }
};
/// Returns the sum of the hypergeometric log masses of n; see normal_lpdf.
template <bool propto = false, class N, class Draws, class A, class B>
auto hypergeometric_lpmf(const N& n, const Draws& draws, const A& a, const B& b) {
  return apply_probability<hypergeometric_lpmf_rule, propto>(n, draws, a, b);
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

namespace rules {
using hypergeometric_family = family<typelist<hypergeometric_lpmf_rule>>;
}

}  // namespace agrad
