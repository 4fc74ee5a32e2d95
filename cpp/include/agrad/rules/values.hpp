// Values: applies a rule to many numbers at once, by Eigen's packets if the rule has `values` (rules/rule.hpp).
//
//     detail::values_into<exp_rule>(to, n, from);          // to[i] = exp(from[i])
//
// Packets compute the whole array; entries outside of the interval in which packets are accurate are then computed again by the
// rule's `value`.
#pragma once

#include <Eigen/Core>
#include <tuple>
#include <type_traits>

#include <agrad/base/error.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::detail {

using const_array = Eigen::Map<const Eigen::ArrayXd>;
using array_map = Eigen::Map<Eigen::ArrayXd>;

/// A scalar in place of an array: the same number for every index.
struct repeated {
  double value;
  double operator[](Eigen::Index) const { return value; }
};
/// Converts n numbers to the argument type of `Rule::values`.
inline const_array packed(const double* first, Eigen::Index n) { return const_array(first, n); }
inline double packed(const repeated& x, Eigen::Index) { return x.value; }

/// Whether packets are faster than numbers with the instructions that the compiler may use.
template <class Rule>
inline constexpr bool packets_pay = !Rule::needs_wide_packets || Eigen::internal::packet_traits<double>::size >= 4;

template <class Rule, class Enable, class... A>
inline constexpr bool has_values_of = false;
template <class Rule, class... A>
inline constexpr bool has_values_of<Rule, std::void_t<decltype(Rule::values(std::declval<const A&>()...))>, A...> =
    packets_pay<Rule>;
/// Whether a rule has `values`.
template <class Rule, class Arity = std::integral_constant<int, Rule::arity>>
inline constexpr bool has_values = false;
template <class Rule>
inline constexpr bool has_values<Rule, std::integral_constant<int, 1>> = has_values_of<Rule, void, const_array>;
template <class Rule>
inline constexpr bool has_values<Rule, std::integral_constant<int, 2>> = has_values_of<Rule, void, const_array, const_array>;
template <class Rule, class = void>
inline constexpr bool has_interval_of_packets = false;
template <class Rule>
inline constexpr bool has_interval_of_packets<Rule, std::void_t<decltype(Rule::packets)>> = packets_pay<Rule>;
template <class Rule, class = void>
inline constexpr bool has_region_of_packets = false;
template <class Rule>
inline constexpr bool has_region_of_packets<Rule, std::void_t<decltype(&Rule::suits_packets)>> = true;
template <class Rule>
inline constexpr bool has_packets = has_interval_of_packets<Rule> || has_region_of_packets<Rule>;

/// Returns 1 if a rule's packets are as accurate as its value, else 0. There are no branches, and the integers are as wide as
/// doubles, so that the compiler vectorises this function, too.
template <class Rule, class... X>
AGRAD_ALWAYS_INLINE Eigen::Index suits_packets(const X&... x) {
  if constexpr (has_region_of_packets<Rule>) {
    return static_cast<Eigen::Index>(Rule::suits_packets(x...));
  } else {
    static_assert(sizeof...(x) == 1, "a rule with an interval of packets has one argument");
    return (..., (static_cast<Eigen::Index>(x > Rule::packets.lower) & static_cast<Eigen::Index>(x < Rule::packets.upper)));
  }
}

/// Computes n values of a rule; `to` must not overlap x. A column is a `const double*` or `repeated`.
template <class Rule, class... Column>
void values_into(double* to, Eigen::Index n, const Column&... x) {
  array_map(to, n) = Rule::values(packed(x, n)...);
  if constexpr (has_packets<Rule>) {
    Eigen::Index inside = 0;
    for (Eigen::Index i = 0; i < n; ++i) inside += suits_packets<Rule>(x[i]...);
    if (AGRAD_UNLIKELY(inside != n)) {
      for (Eigen::Index i = 0; i < n; ++i)
        if (suits_packets<Rule>(x[i]...) == 0) to[i] = Rule::value(x[i]...);
    }
  }
}

using octet_array = Eigen::Array<double, 8, 1>;

/// Returns eight consecutive entries from i on; places after the end have copies of the first entry.
inline octet_array octet_at(const double* x, Eigen::Index i, Eigen::Index n) {
  if (i + 8 <= n) return Eigen::Map<const octet_array>(x + i);
  octet_array some = octet_array::Constant(x[i]);
  for (Eigen::Index k = i; k < n; ++k) some[k - i] = x[k];
  return some;
}

/// to[i] = packet(x[i]...) in octets, and number(x[i]...) where packets are not accurate. The rounding of an entry depends
/// neither on the number of entries nor on the entry's place, because each entry is part of a full octet.
template <class Rule, class Packet, class Number, class Suits, class... X>
AGRAD_ALWAYS_INLINE void in_octets(double* to, Eigen::Index n, const Packet& packet, const Number& number, const Suits& suits,
                                   const X*... x) {
  Eigen::Index i = 0;
  for (; i + 8 <= n; i += 8) Eigen::Map<octet_array>(to + i) = packet(Eigen::Map<const octet_array>(x + i)...);
  if (i < n) {
    const octet_array values = packet(octet_at(x, i, n)...);
    for (Eigen::Index k = i; k < n; ++k) to[k] = values[k - i];
  }
  Eigen::Index inside = 0;
  for (Eigen::Index k = 0; k < n; ++k) inside += suits(x[k]...);
  if (AGRAD_UNLIKELY(inside != n)) {
    for (Eigen::Index k = 0; k < n; ++k)
      if (suits(x[k]...) == 0) to[k] = number(x[k]...);
  }
}

/// Does the same as `values_into`, in octets.
template <class Rule, class... X>
void octets_into(double* to, Eigen::Index n, const X*... x) {
  in_octets<Rule>(
      to, n, [](const auto&... of) { return octet_array(Rule::values(of...)); }, [](auto... of) { return Rule::value(of...); },
      [](auto... of) { return suits_packets<Rule>(of...); }, x...);
}

/// Returns the value of octets_into for a single entry; the plain value for rules without packets.
template <class Rule, class... X>
AGRAD_ALWAYS_INLINE double value_in_octets(const X&... x) {
  if constexpr (has_packets<Rule>) {
    if (AGRAD_UNLIKELY(suits_packets<Rule>(x...) == 0)) return Rule::value(x...);
    const octet_array values = Rule::values(octet_array(octet_array::Constant(x))...);
    return values[0];
  } else {
    return Rule::value(x...);
  }
}

}  // namespace agrad::detail
