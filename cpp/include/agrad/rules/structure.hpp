// Structure: what follows from the form of a rule, whatever its arguments are.
//
// That is on which arguments a derivative depends, which zero derivatives are structural, and whether a derivative may be
// infinite without an overflow (docs/functions.md, "Zero times infinity"). A derivative that is returned as a plain double has
// no tangent, so it does not depend on the arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <agrad/rules/comparison.hpp>

namespace agrad::detail {

/// Returns whether the rule's derivative with respect to argument K is a plain double for arguments of type S.
template <class Rule, class S, std::size_t K, std::size_t... I>
constexpr bool has_plain_derivative(std::index_sequence<I...>) {
  using derivative =
      decltype(Rule::derivative(wrt<static_cast<int>(K)>{}, ((void)I, std::declval<const S&>())..., std::declval<const S&>()));
  return std::is_same_v<std::decay_t<derivative>, double>;
}

/// The bits of the arguments that the rule's value is a multiple of.
template <class Rule, class = void>
inline constexpr std::uint8_t proportional_to = 0;
template <class Rule>
inline constexpr std::uint8_t proportional_to<Rule, std::void_t<decltype(Rule::proportional_to)>> = Rule::proportional_to;

/// Returns the bits of what is true.
template <class... Bool>
constexpr unsigned bits_of(Bool... is) {
  unsigned bits = 0, bit = 1;
  ((bits |= is ? bit : 0U, bit <<= 1), ...);
  return bits;
}

/// The structure of a rule. S is a scalar with derivatives, for which the rule's derivatives are looked at.
template <class Rule, class S>
class rule_structure {
  static constexpr std::size_t arity = Rule::arity;

 public:
  static constexpr bool is_piecewise_constant = std::is_base_of_v<piecewise_constant_rule<Rule::arity>, Rule>;

 private:
  template <std::size_t... K>
  static constexpr std::array<std::uint8_t, arity> curved_arguments(std::index_sequence<K...> each) {
    std::array<std::uint8_t, arity> bits{};
    if (is_piecewise_constant) return bits;
    const unsigned all[] = {has_plain_derivative<Rule, S, K>(each) ? 0U : ~(proportional_to<Rule> & 1U << K)...};
    for (std::size_t k = 0; k < arity; ++k)
      for (std::size_t l = 0; l < arity; ++l)  // second derivatives are symmetric
        if ((all[k] >> l & all[l] >> k & 1U) != 0) bits[k] = static_cast<std::uint8_t>(bits[k] | 1U << l);
    return bits;
  }
  template <std::size_t... K>
  static constexpr bool is_straight(std::index_sequence<K...>) {
    return ((curved[K] == 0) && ...);
  }

 public:
  /// Bit l of curved[k] tells whether the derivative with respect to argument k depends on argument l.
  static constexpr std::array<std::uint8_t, arity> curved = curved_arguments(std::make_index_sequence<arity>{});
  /// Whether no derivative depends on the arguments.
  static constexpr bool is_piecewise_linear = is_straight(std::make_index_sequence<arity>{});
  /// Whether a derivative may be infinite without an overflow.
  static constexpr bool may_be_singular = !Rule::is_regular && !is_piecewise_linear;

  /// Whether every zero derivative with respect to argument I is structural, as it does not depend on the variables among the
  /// arguments, of which `active` has the bits.
  template <std::size_t I, unsigned active>
  static constexpr bool has_structural_zeros = (curved[I] & active) == 0;
  /// The bits of the constants among the arguments that the derivative with respect to argument I is a multiple of.
  template <std::size_t I, unsigned active>
  static constexpr unsigned constant_factors = proportional_to<Rule> & ~active & ~(1U << I);

  /// Returns whether a derivative of zero with respect to argument I is structural; x are the arguments.
  template <std::size_t I, unsigned active, class... X>
  AGRAD_ALWAYS_INLINE static bool is_structural_zero(double derivative, const X&... x) {
    if constexpr (has_structural_zeros<I, active>)
      return derivative == 0;
    else if constexpr (constant_factors<I, active> != 0)
      return derivative == 0 && (bits_of((x == 0)...) & constant_factors<I, active>) != 0;
    else
      return false;
  }
};

}  // namespace agrad::detail
