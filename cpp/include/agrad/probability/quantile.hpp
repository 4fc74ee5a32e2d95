// Quantile: the inverse of a distribution function, stated once for its probability and for that of its complement.
//
// A quantile derives from quantile_of<Rule>, where Rule is the family's `_lcdf` rule, and has one member,
//     term(is_upper, p, x...)   the value up to which, or with is_upper beyond which, the probability is p
// on scalars T: numbers, duals, variables, or whole arrays of a recording. From the rule it has its name (gamma_qf and, for the
// complement, gamma_cqf), its arguments and their conditions, also those on two arguments together. Results are entries, not
// sums. Derivatives follow from the rules that `term` consists of. An inverse without a closed form is nan where the search for
// it does not end. Read next: families/positive/weibull.hpp; rules/special/quantiles.hpp, inverses without a closed form.
#pragma once

#include <string>
#include <utility>

#include <agrad/probability/apply.hpp>

namespace agrad {

namespace detail {
template <class Rule, std::size_t... K>
constexpr std::array<density_argument, sizeof...(K) + 1> quantile_arguments(std::index_sequence<K...>) {
  return {density_argument{"p", must_be::probability}, Rule::arguments[K + 1]...};
}
}  // namespace detail

template <class Rule>
struct quantile_of {
  using log_cdf = Rule;
  static constexpr int arity = Rule::arity;
  static constexpr auto pairs = Rule::pairs;
  static constexpr auto arguments =
      detail::quantile_arguments<Rule>(std::make_index_sequence<static_cast<std::size_t>(Rule::arity) - 1>{});
  /// The family's name, without "_lcdf".
  static constexpr std::string_view family = Rule::name.substr(0, Rule::name.size() - 5);
  static std::string name(bool is_upper) { return std::string(family).append(is_upper ? "_cqf" : "_qf"); }
};

namespace detail {

template <class Quantile>
AGRAD_COLD void fail_quantile(bool is_upper, std::size_t k, double value) {
  const density_argument& argument = Quantile::arguments[k];
  fail_check(Quantile::name(is_upper), argument.name, -1, value, argument.must, {});
}
template <class Quantile>
AGRAD_COLD void fail_quantile(bool is_upper, const density_pair& pair, double x, double y) {
  fail_relation(Quantile::name(is_upper), Quantile::arguments[pair.first].name, -1, x, pair.must,
                Quantile::arguments[pair.second].name, y);
}

template <class Quantile, class... X>
promoted_t<X...> apply_quantile(bool is_upper, const X&... x) {
  static_assert(sizeof...(X) == Quantile::arity, "the function takes another number of arguments");
  using T = promoted_t<X...>;
  const double values[] = {primal_value(stored_t<X>(x))...};
  for (std::size_t k = 0; k < sizeof...(X); ++k)
    if (AGRAD_UNLIKELY(!Quantile::arguments[k].must.holds(values[k]))) fail_quantile<Quantile>(is_upper, k, values[k]);
  for (const density_pair& pair : Quantile::pairs)
    if (AGRAD_UNLIKELY(!pair.must.holds(values[pair.first], values[pair.second])))
      fail_quantile<Quantile>(is_upper, pair, values[pair.first], values[pair.second]);
  return Quantile::term(is_upper, T(x)...);
}

/// Returns the logarithms of the probabilities of values up to, and beyond, the quantile.
template <class T>
T log_below(bool is_upper, const T& p) {
  return is_upper ? T(log1m(p)) : T(log(p));
}
template <class T>
T log_above(bool is_upper, const T& p) {
  return log_below(!is_upper, p);
}
/// Returns the log odds of a value up to the quantile.
template <class T>
T log_odds_below(bool is_upper, const T& p) {
  return is_upper ? T(-logit(p)) : T(logit(p));
}
/// Returns x, or -x where the probability is that of the complement of a symmetric distribution.
template <class T>
T reflected(bool is_upper, const T& x) {
  return is_upper ? T(-x) : x;
}

}  // namespace detail

/// The inverse of a distribution function, or with is_upper of its complement, of the arguments that the quantile names.
template <class Quantile, bool is_upper = false>
struct quantile_function {
  template <class... X>
  auto operator()(const X&... x) const {
    return detail::apply_quantile<Quantile>(is_upper, x...);
  }
};

}  // namespace agrad
