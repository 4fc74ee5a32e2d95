// Dependence: of which entries of its operands an operation's results are functions, and whether linear ones.
//
// Each kernel says so of itself with one of few kinds; a kernel that says nothing is taken for a function of everything, which
// is right and only makes patterns larger. For elementwise kernels it follows from the rule: a derivative that the rule
// returns as a plain double carries no tangent, so it does not depend on the arguments.
// Read next: program/sparse/sparsity.hpp, where the kinds are carried out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <agrad/rules/comparison.hpp>

namespace agrad {

struct dependence {
  enum kind : std::uint8_t {
    on_everything,   // each result on each entry of each operand
    on_nothing,      // no derivative
    entrywise,       // result i on entry i of each operand
    gathered,        // result i on the slot integers[i]
    grouped,         // result i on the entries i * integers[0] and following of operand 0
    along_lines,     // result i on line i of each operand (program/kernels/lines.hpp)
    before_in_line,  // as of the operand's shape; on the entries of the line up to its own
    across_lines,    // as of the operand's shape; on the entries of their line
    within_lines,    // the first half of the results, of the operand's shape, on their lines; the other half on nothing
    product,         // a product of matrices; integers: rows, inner columns, columns
    products,        // many of them; integers: also how many, and whether the first and the second are different
    terms,           // a sum of integers[0] terms, each of entry i of each operand
    scattered,       // operand 0 with entries of operand 1 added at the places in operand 2
    looked_up        // result i on entry i of operand 0 and on all of the others
  };
  static constexpr std::size_t most = 6;

  kind how = on_everything;
  bool is_linear = false;  // also piecewise linear: no second derivatives
  /// Of entrywise operations: bit l of curved[k] is whether the derivative in operand k depends on operand l.
  std::uint8_t curved[most] = {};
  /// Of entrywise operations: bit k is whether the result is zero where operand k is.
  std::uint8_t zero_with = 0;
};

namespace detail {

/// Whether the rule's derivative in argument K is a plain double, though the arguments are scalars S.
template <class Rule, class S, std::size_t K, std::size_t... I>
constexpr bool has_plain_derivative(std::index_sequence<I...>) {
  using derivative =
      decltype(Rule::derivative(wrt<static_cast<int>(K)>{}, ((void)I, std::declval<const S&>())..., std::declval<const S&>()));
  return std::is_same_v<std::decay_t<derivative>, double>;
}

template <class Rule, class = void>
inline constexpr std::uint8_t proportional_to = 0;
template <class Rule>
inline constexpr std::uint8_t proportional_to<Rule, std::void_t<decltype(Rule::proportional_to)>> = Rule::proportional_to;

template <class Rule, class S, std::size_t... K>
constexpr dependence dependence_of_rule(std::index_sequence<K...> each) {
  if (std::is_base_of_v<piecewise_constant_rule<Rule::arity>, Rule>) return {dependence::on_nothing, true};
  dependence d{dependence::entrywise, true};
  d.zero_with = proportional_to<Rule>;
  unsigned curved[] = {has_plain_derivative<Rule, S, K>(each) ? 0U : ~(proportional_to<Rule> & 1U << K)...};
  for (std::size_t k = 0; k < sizeof...(K); ++k) {
    for (std::size_t l = 0; l < sizeof...(K); ++l)  // second derivatives are symmetric
      if ((curved[k] >> l & curved[l] >> k & 1U) != 0) d.curved[k] = static_cast<std::uint8_t>(d.curved[k] | 1U << l);
    d.is_linear = d.is_linear && d.curved[k] == 0;
  }
  return d;
}

}  // namespace detail

/// The dependence of a rule's elementwise kernel; S is a scalar that carries tangents.
template <class Rule, class S>
constexpr dependence dependence_of_rule() {
  return detail::dependence_of_rule<Rule, S>(std::make_index_sequence<static_cast<std::size_t>(Rule::arity)>{});
}

}  // namespace agrad
