// Probability terms: what the engines of probability rules share. Which arguments are data, which parts of a rule are computed,
// which terms have formulas, and the loop over terms that have none.
//
// Read next: probability/direct.hpp and probability/on_tape.hpp, the engines.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <agrad/probability/octets.hpp>
#include <agrad/probability/rule.hpp>

namespace agrad::detail {

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
    return (!propto || Rule::octets::has_propto) &&
           (has_formula_of_one<Rule> || has_single_formulas<Rule> || Rule::octets::fills_last);
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
constexpr typename Rule::parts probability_parts(bool propto, const std::array<bool, std::size_t{Rule::arity}>& active) {
  typename Rule::parts parts;
  parts.propto = propto;
  parts.active = active;
  return parts;
}

}  // namespace agrad::detail

namespace agrad {

/// The terms of a density of rules/density, where entries are wanted instead of sums.
template <class Density>
struct terms_of_density;

}  // namespace agrad
