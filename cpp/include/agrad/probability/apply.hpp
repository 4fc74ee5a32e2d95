// Apply probability: computes a probability rule on numbers, duals and variables of the tape.
//
// An argument is a number or a sequence of a common length, as for the densities of rules/density, whose checks and operands
// are used here. Terms are computed on the arguments' own scalars: what is a plain number costs no derivative. Terms with
// variables are computed on duals with one tangent for each variable argument; the partial derivatives enter the tape as one
// statement or closure. Read next: probability/recorded.hpp, the same for arrays of a recording.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <agrad/dual/density.hpp>
#include <agrad/probability/octets.hpp>
#include <agrad/probability/rule.hpp>
#include <agrad/tape/density.hpp>

namespace agrad {

namespace detail {

template <std::size_t K>
using place = std::integral_constant<std::size_t, K>;

/// Calls use(i, term) for the terms from begin to end. read(place<K>, i) returns argument K of term i; `first` is what is
/// prepared for term 0.
template <class Rule, class Prepared, class Read, class Use, std::size_t... K>
void each_probability_term(std::size_t begin, std::size_t end, const typename Rule::parts& included, const Prepared& first,
                           bool prepares_each, const Read& read, const Use& use, std::index_sequence<K...>) {
  Prepared prepared = first;
  for (std::size_t i = begin; i < end; ++i) {
    if (prepares_each && i != 0) prepared = Rule::prepare(included, read(place<K>{}, i)...);
    if (Rule::in_support(read(place<K>{}, i)...))
      use(i, Rule::term(included, prepared, read(place<K>{}, i)...));
    else
      use(i, Rule::outside);
  }
}

/// Returns whether terms of a rule are added in octets: where it has formulas and an argument is an array.
template <class Rule, bool propto, class... Operand>
constexpr bool adds_octets() {
  if constexpr (has_octets<Rule> && !Rule::is_product)
    return (!propto || Rule::octets::has_propto) && (Operand::is_array || ...);
  else
    return false;
}

/// Returns whether single terms are computed by formulas, as doubles or as the first lane of an octet.
template <class Rule, bool propto>
constexpr bool has_formulas_for_one() {
  if constexpr (has_octets<Rule>)
    return (!propto || Rule::octets::has_propto) && (has_single_formulas<Rule> || Rule::octets::fills_last);
  else
    return false;
}

/// Returns whether argument k of a rule is data, which have no derivative.
template <class Rule>
constexpr bool is_data(std::size_t k) {
  return Rule::arguments[k].must.whole;
}

/// Returns the parts of a rule that are computed: `active` tells which arguments have derivatives.
template <class Rule>
typename Rule::parts probability_parts(bool propto, const std::array<bool, std::size_t{Rule::arity}>& active) {
  typename Rule::parts parts;
  parts.propto = propto;
  parts.active = active;
  return parts;
}

/// Computes a rule on S, a number or a dual; arguments of numbers remain numbers.
template <class Rule, class S, bool propto>
struct probability_on {
  template <class... X>
  static S apply(std::size_t n, const X&... x) {
    return of_operands(std::index_sequence_for<X...>{}, n, std::tuple<density_operand<scalar_of_t<X>, X>...>(x...),
                       std::is_same_v<scalar_of_t<X>, S>...);
  }

 private:
  template <std::size_t... K, class Operands, class... IsActive>
  static S of_operands(std::index_sequence<K...> places, std::size_t n, const Operands& operands, IsActive... is_active) {
    const auto in = std::make_tuple(std::get<K>(operands).input(is_active)...);
    density_check<Rule>(n, in);
    const auto included = probability_parts<Rule>(propto, {(is_active && !std::is_same_v<S, double> && !is_data<Rule>(K))...});
    S total(Rule::is_product ? 1.0 : 0.0);
    if (is_nothing<Rule>(n, included)) return total;
    const auto read = [&](auto k, std::size_t i) {
      const auto& value = std::get<k>(in).values[i * std::get<k>(in).stride];
      if constexpr (is_data<Rule>(k))
        return primal_value(value);
      else
        return value;
    };
    const bool prepares_each = ((Rule::arguments[K].prepared && std::get<K>(in).stride != 0) || ...);
    const auto add = [&](std::size_t, const auto& term) {
      if constexpr (Rule::is_product)
        total *= S(term);
      else
        total += S(term);
    };
    const auto prepared = Rule::prepare(included, read(place<K>{}, 0)...);
    const auto add_each = [&](std::size_t begin, std::size_t end) {
      each_probability_term<Rule>(begin, end, included, prepared, prepares_each, read, add, places);
    };
    std::size_t done = 0;
    if constexpr (std::is_same_v<S, double> && adds_octets<Rule, propto, std::tuple_element_t<K, Operands>...>())
      if (fills_octets<Rule>(n)) {
        formula_sums<Rule, octet, std::tuple_element_t<K, Operands>::is_array...> sums;
        done = sums.template add<((void)K, false)...>(0, n, {std::get<K>(in)...}, included, {}, add_each);
        total += sums.value;
      }
    add_each(done, n);
    return total;
  }
};

/// Computes a rule on variables of the tape.
template <class Rule, bool propto>
struct probability_on<Rule, var, propto> {
  template <class... X>
  static var apply(std::size_t size, const X&... x) {
    return with_operands(
        size, [](std::size_t n, auto&&... operand) { return record(std::index_sequence_for<X...>{}, n, operand...); }, x...);
  }

 private:
  template <std::size_t... K, class... Operand>
  static var record(std::index_sequence<K...> places, std::size_t n, Operand&... operand) {
    constexpr bool is_variable[] = {(Operand::leaves + Operand::sequences > 0)...};
    constexpr bool is_active[] = {(is_variable[K] && !is_data<Rule>(K))...};
    constexpr std::size_t variables = ((is_active[K] ? 1U : 0U) + ...);
    using T = dual<double, static_cast<int>(variables == 0 ? 1 : variables)>;
    const auto included = probability_parts<Rule>(propto, {is_active[K]...});
    if constexpr (has_formulas_for_one<Rule, propto>() && !(Operand::is_array || ...)) {
      std::array<double, sizeof...(K)> slope;
      double value = 0;
      if (!is_nothing<Rule>(1, included) && formulas_for_one<Rule>({*operand.input().values...}, included, value, slope)) {
        ((is_variable[K] ? void(*operand.partial() = is_active[K] ? slope[K] : 0.0) : void()), ...);
        return density_engine<var>::result(value, operand...);
      }
    }
    const std::array<density_input<double>, sizeof...(K)> in{operand.input()...};
    const std::array<double*, sizeof...(K)> partial{operand.partial()...};
    density_check<Rule>(n, in);
    const auto read = [&](auto k, std::size_t i) {
      const double value = in[k].values[i * in[k].stride];
      if constexpr (is_active[k])
        return seeded<T>(value, lane_of(is_active, k));
      else
        return value;
    };
    const bool prepares_each = ((Rule::arguments[K].prepared && in[K].stride != 0) || ...);
    const std::vector<double> others = Rule::is_product && n > 1 ? products_of_others(places, n, in) : std::vector<double>();
    double total = Rule::is_product ? 1.0 : 0.0;
    T sums(0.0);
    const auto add = [&](std::size_t i, const auto& given) {
      const T term(given);
      const double weight = others.empty() ? 1.0 : others[i];
      total = Rule::is_product ? total * term.value : total + term.value;
      for (std::size_t k = 0; k < sizeof...(K); ++k) {
        if (!is_active[k]) continue;
        const std::size_t lane = lane_of(is_active, k);
        const double slope = passed(term.tangent[lane], weight);
        if (in[k].stride == 0)
          sums.tangent[lane] += slope;
        else
          partial[k][i] = slope;
      }
    };
    std::optional<decltype(Rule::prepare(included, read(place<K>{}, 0)...))> prepared;
    const auto add_each = [&](std::size_t begin, std::size_t end) {
      if (!prepared) prepared.emplace(Rule::prepare(included, read(place<K>{}, 0)...));
      each_probability_term<Rule>(begin, end, included, *prepared, prepares_each, read, add, places);
    };
    const auto add_by_formulas = [&](auto scalar, std::size_t begin) {
      formula_sums<Rule, decltype(scalar), Operand::has_stride...> by_formulas;
      const std::size_t end = by_formulas.template add<is_active[K]...>(begin, n, in, included, partial, add_each);
      total += by_formulas.value;
      ((is_active[K] ? void(sums.tangent[lane_of(is_active, K)] += by_formulas.partials[K]) : void()), ...);
      return end;
    };
    if (!is_nothing<Rule>(n, included)) {
      std::size_t done = 0;
      if constexpr (adds_octets<Rule, propto, Operand...>())
        if (fills_octets<Rule>(n)) done = add_by_formulas(octet(), done);
      if constexpr (has_formulas_for_one<Rule, propto>() && has_single_formulas<Rule> && !Rule::is_product)
        done = add_by_formulas(0.0, done);
      if (done != n) add_each(done, n);
    }
    for (std::size_t k = 0; k < sizeof...(K); ++k)
      if (is_active[k] && in[k].stride == 0)
        *partial[k] = sums.tangent[lane_of(is_active, k)];
      else if (is_variable[k] && !is_active[k])
        std::fill_n(partial[k], in[k].stride == 0 ? 1 : n, 0.0);
    return density_engine<var>::result(total, operand...);
  }

  /// Returns the number of active arguments before argument k.
  template <std::size_t N>
  static constexpr std::size_t lane_of(const bool (&is_active)[N], std::size_t k) {
    std::size_t lane = 0;
    for (std::size_t j = 0; j < k; ++j) lane += is_active[j] ? 1U : 0U;
    return lane;
  }
  template <class T>
  static T seeded(double value, std::size_t lane) {
    T x(value);
    x.tangent[lane] = 1;
    return x;
  }
  /// Returns for each term the product of all others, which is the derivative of the product.
  template <std::size_t... K, class In>
  static std::vector<double> products_of_others(std::index_sequence<K...> places, std::size_t n, const In& in) {
    std::vector<double> terms(n), others(n);
    const auto read = [&](auto k, std::size_t i) { return in[k].values[i * in[k].stride]; };
    const auto keep = [&](std::size_t i, double term) { terms[i] = term; };
    const typename Rule::parts included;
    each_probability_term<Rule>(0, n, included, Rule::prepare(included, read(place<K>{}, 0)...), true, read, keep, places);
    double product = 1;
    for (std::size_t i = 0; i < n; ++i) others[i] = product, product *= terms[i];
    product = 1;
    for (std::size_t i = n; i-- > 0;) others[i] *= product, product *= terms[i];
    return others;
  }
};

template <class Rule, bool propto, class... X>
auto apply_probability_evaluated(const X&... x) {
  using S = typename common_scalar<scalar_of_t<X>...>::type;
  return probability_on<Rule, S, propto>::apply(density_size<Rule>(x...), x...);
}

}  // namespace detail

/// Returns the sum, or for distribution functions the product, of a rule's terms over its arguments.
template <class Rule, bool propto = false, class... X>
auto apply_probability(const X&... x) {
  static_assert(sizeof...(X) == Rule::arity, "the function takes another number of arguments");
  return detail::apply_probability_evaluated<Rule, propto>(detail::evaluated_argument(x)...);
}

}  // namespace agrad
