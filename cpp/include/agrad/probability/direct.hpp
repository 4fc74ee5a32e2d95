// Direct probability: the engine of probability rules on numbers and duals, which record nothing.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <agrad/dual/density.hpp>
#include <agrad/probability/terms.hpp>

namespace agrad::detail {

/// Computes a rule on S, a number or a dual; arguments of numbers remain numbers. Other engines specialise this.
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

}  // namespace agrad::detail
