// Between: the log probability of an interval, made from the density and the distribution functions of a family.
//
// A difference of distribution functions loses all digits in the upper tail, and its leading ones where the interval is short
// beside its distance to either end. The parts of `log_between` each keep theirs:
//     both tails small   log(1 - F(lower) - (1 - F(upper)))
//     one tail           the difference of the logarithms of F, or of 1 - F where `lower` is beyond the median
//     a short interval   Gauss and Legendre's rule for the integral of the density, where its eight points show that the
//                        density is smooth; for counts, the sum of the masses of up to eight values
// Derivatives follow from those of the density and the distribution functions. Read next: families/families.hpp, which has
// the families.
#pragma once

#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/probability/apply.hpp>
#include <agrad/probability/density_average.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/links.hpp>
#include <agrad/rules/special/log_probabilities.hpp>

namespace agrad {

namespace detail {

/// The family's name with the end of this function, instead of that of the rule `Below`.
template <class Below>
struct between_name {
  static constexpr std::string_view family = Below::name.substr(0, Below::name.size() - 4), end = "lbetween";
  static constexpr std::size_t size = family.size() + end.size();
  static constexpr std::array<char, size> characters = [] {
    std::array<char, size> name{};
    for (std::size_t i = 0; i < size; ++i) name[i] = i < family.size() ? family[i] : end[i - family.size()];
    return name;
  }();
};

template <class Below, std::size_t... K>
constexpr std::array<density_argument, sizeof...(K) + 2> between_arguments(std::index_sequence<K...>) {
  return {density_argument{"lower", Below::arguments[0].must}, density_argument{"upper", Below::arguments[0].must},
          density_argument{Below::arguments[K + 1].name, Below::arguments[K + 1].must}...};
}
template <class Below, std::size_t... K>
constexpr std::array<density_pair, sizeof...(K) + 1> between_pairs(std::index_sequence<K...>) {
  return {density_pair{0, 1, must_be::at_most},
          density_pair{Below::pairs[K].first + 1, Below::pairs[K].second + 1, Below::pairs[K].must}...};
}

/// Returns the term of a rule, or what the rule is outside of its support.
template <class Rule, class T, class... X>
T term_anywhere(const X&... x) {
  const auto inside = Rule::in_support(x...);
  const auto term = [&] {
    const typename Rule::parts all;
    return T(Rule::term(all, Rule::prepare(all, x...), x...));
  };
  if constexpr (std::is_same_v<std::decay_t<decltype(inside)>, std::true_type>)
    return term();
  else
    return either<T>(inside, term, [] { return T(Rule::outside); });
}

/// Returns the log probability of an interval by the distribution functions. below(x) and above(x) are the logarithms of the
/// probabilities of values below the interval that begins, or beyond that which ends, at x; inner(larger, smaller) is the part
/// that an interval between both tails has, from the logarithms of the probabilities that are subtracted.
template <class T, class Lower, class Upper, class Below, class Above, class Inner>
T log_between(const Lower& lower, const Upper& upper, const Below& below, const Above& above, const Inner& inner) {
  constexpr double small = -1.3862943611198906;  // log(1 / 4)
  const T before = below(lower), after = above(upper);
  return either<T>(
      before < small && after < small, [&] { return T(log1m(exp(before) + exp(after))); },
      [&] {
        const auto is_upper = before > after;
        const T larger = either<T>(
            is_upper, [&] { return T(above(lower)); }, [&] { return T(below(upper)); });
        const T smaller = either<T>(
            is_upper, [&] { return after; }, [&] { return before; });
        return either<T>(
            larger == -infinity, [] { return T(-infinity); }, [&] { return T(inner(larger, smaller)); });
      });
}

/// What the rules of intervals have in common; `Below` is the family's `_lcdf` rule.
template <class Below>
struct between_rule : probability_rule<Below::arity + 1> {
  static constexpr std::string_view name{between_name<Below>::characters.data(), between_name<Below>::size}, reference = {};
  static constexpr auto arguments =
      between_arguments<Below>(std::make_index_sequence<static_cast<std::size_t>(Below::arity) - 1>{});
  static constexpr auto pairs = between_pairs<Below>(std::make_index_sequence<std::size(Below::pairs)>{});
};

}  // namespace detail

/// The log probability of the values of a continuous distribution between lower and upper. Densities are integrated in the
/// given coordinate.
template <class Density, class Below, class Above, class Coordinate = detail::line_coordinate>
struct log_between : detail::between_rule<Below> {
  static constexpr std::string_view text = "Logarithm of the probability of a value between lower and upper.",
                                    source = "log(F(upper) - F(lower))";

  template <class L, class U, class... X>
  static auto in_support(const L& lower, const U& upper, const X&...) {
    return lower < upper;
  }
  template <class Parts, class P, class L, class U, class... X>
  static auto term(const Parts&, const P&, const L& lower, const U& upper, const X&... x) {
    return smooth<promoted_t<L, U, X...>>(lower, upper, x...);
  }

 protected:
  /// Returns the term of an interval inside of which the density has no kink.
  template <class T, class L, class U, class... X>
  static T smooth(const L& lower, const U& upper, const X&... x) {
    return of_tails<T>([&](const T& larger, const T& smaller) { return within<T>(larger, smaller, lower, upper, x...); }, lower,
                       upper, x...);
  }

  /// Returns the term, of which inner(larger, smaller) is the part that an interval between both tails has.
  template <class T, class Inner, class L, class U, class... X>
  static T of_tails(const Inner& inner, const L& lower, const U& upper, const X&... x) {
    return detail::log_between<T>(
        lower, upper, [&](const auto& y) { return detail::term_anywhere<Below, T>(y, x...); },
        [&](const auto& y) { return detail::term_anywhere<Above, T>(y, x...); }, inner);
  }

 private:
  static constexpr double resolved = 1e9;  // logarithms of this size have differences with seven digits

  /// Returns the term of an interval between both tails, by the integral or by the difference of two logarithms.
  template <class T, class L, class U, class... X>
  static T within(const T& larger, const T& smaller, const L& lower, const U& upper, const X&... x) {
    const auto difference = [&] {  // far out both are the same number, because the end beyond is negligible
      return either<T>(
          larger == smaller && larger < -resolved, [&] { return larger; }, [&] { return T(log_diff_exp(larger, smaller)); });
    };
    using Y = promoted_t<L, U>;
    return either<T>(
        smaller > -resolved && larger - smaller < 1.5, [&] { return integral<T>(difference, Y(lower), Y(upper), x...); },
        difference);
  }

  /// Returns the logarithm of the density's integral, or otherwise() if the density changes too much.
  template <class T, class Otherwise, class Y, class... X>
  static T integral(const Otherwise& otherwise, const Y& lower, const Y& upper, const X&... x) {
    const Y length = Coordinate::length(lower, upper);
    const detail::density_average<T> density([&](double place) {
      const Y y = Coordinate::at(lower, length, 0.5 + 0.5 * place);
      return T(detail::term_anywhere<Density, T>(y, x...) + Coordinate::log_slope(y));
    });
    return either<T>(
        density.is_smooth() && length < Coordinate::longest, [&] { return density.log_integral(T(length)); }, otherwise);
  }
};

/// The same for a density with a kink at its location mu, the first parameter.
template <class Density, class Below, class Above>
struct kinked_log_between : log_between<Density, Below, Above> {
  template <class Parts, class P, class L, class U, class M, class... X>
  static auto term(const Parts&, const P&, const L& lower, const U& upper, const M& mu, const X&... x) {
    using T = promoted_t<L, U, M, X...>;
    const auto smooth = [&](const auto& from, const auto& to) {
      return kinked_log_between::template smooth<T>(from, to, mu, x...);
    };
    return either<T>(
        lower < mu && mu < upper,
        [&] {
          const auto of_sides = [&](const T&, const T&) { return T(log_sum_exp(smooth(lower, mu), smooth(mu, upper))); };
          return kinked_log_between::template of_tails<T>(of_sides, lower, upper, mu, x...);
        },
        [&] { return smooth(lower, upper); });
  }
};

/// The log probability of the values of a distribution of counts from lower to upper, both included.
template <class Mass, class Below, class Above>
struct log_between_counts : detail::between_rule<Below> {
  static constexpr std::string_view text = "Logarithm of the probability of a value from lower to upper, both included.",
                                    source = "log(F(upper) - F(lower - 1))";

  template <class Parts, class P, class L, class U, class... X>
  static auto term(const Parts&, const P&, const L& lower, const U& upper, const X&... x) {
    using T = promoted_t<L, U, X...>;
    return detail::log_between<T>(
        lower - 1.0, upper, [&](const auto& n) { return detail::term_anywhere<Below, T>(n, x...); },
        [&](const auto& n) { return detail::term_anywhere<Above, T>(n, x...); },
        [&](const T& larger, const T& smaller) {
          return either<T>(
              upper - lower < double{most_masses}, [&] { return sum_of_masses<T>(lower, upper, x...); },
              [&] { return T(log_diff_exp(larger, smaller)); });
        });
  }

 private:
  static constexpr int most_masses = 8;

  template <class T, class L, class U, class... X>
  static T sum_of_masses(const L& lower, const U& upper, const X&... x) {
    constexpr std::string_view must = Mass::arguments[0].must.name;
    constexpr double first = must == must_be::whole.name ? -infinity : 0,
                     last = must == must_be::zero_or_one.name ? 1 : infinity;
    T sum(-infinity);
    for (int k = 0; k < most_masses; ++k) {
      const auto n = lower + static_cast<double>(k);
      sum = log_sum_exp(sum, either<T>(
                                 n >= first && n <= last && n <= upper, [&] { return detail::term_anywhere<Mass, T>(n, x...); },
                                 [] { return T(-infinity); }));
    }
    return sum;
  }
};

}  // namespace agrad
