// Entries: the functions of an elementwise rule that the loops need, on columns of numbers.
//
// Value, partial derivatives and second partial derivatives are enough for every pass and every number of directions, so only
// these few functions are compiled for each rule; the loops (program/recording/elementwise.hpp) are compiled once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <agrad/dual/dual.hpp>
#include <agrad/program/machine/traced.hpp>
#include <agrad/rules/apply.hpp>
#include <agrad/rules/passing_arrays.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

/// Columns of n numbers, one for each argument of a rule.
using columns = const double* const*;

/// The most arguments of an elementwise rule. A rule of four is costly, so that it does not need straight code.
inline constexpr std::size_t most_arguments = 4;

struct entry_functions {
  std::uint32_t arity;
  /// Computes y = f(x).
  void (*values)(std::uint32_t n, columns x, double* y);
  /// Computes d, the partial derivative with respect to argument j.
  void (*partial)(std::size_t j, std::uint32_t n, columns x, const double* y, double* d);
  /// Computes d, the partial derivative times the adjoint of y, 0 where the adjoint is 0.
  void (*reverse)(std::size_t j, std::uint32_t n, columns x, const double* y, const double* y_adjoint, double* d);
  /// Computes d, the partial derivative, and h[l], the derivative of d with respect to argument l, unless h[l] is null.
  void (*second)(std::size_t j, std::uint32_t n, columns x, const double* y, double* d, double* const* h);
  /// Records the partial derivative with respect to argument j instead of computing it.
  traced (*recorded_partial)(std::size_t j, const traced* x, const traced& y);
  bool is_linear;  // whether the partial derivatives are constant
  bool is_quick;   // whether the value takes no longer to compute than to read from memory
};

namespace detail {

/// The most entries of the columns that the functions get.
inline constexpr std::uint32_t block_length = 256;

/// Computes the partial derivative with respect to argument J, for numbers or duals.
template <class Rule, std::size_t J, class T, std::size_t... I>
AGRAD_ALWAYS_INLINE auto partial_of(const std::array<T, sizeof...(I)>& x, const T& y, std::index_sequence<I...>) {
  return Rule::derivative(wrt<static_cast<int>(J)>{}, x[I]..., y);
}

/// Returns 1 where packets suit the arguments of a rule; the last parameter is the value.
template <class Rule, class... X>
AGRAD_ALWAYS_INLINE Eigen::Index suits_all_but_last(X... x) {
  if constexpr (Rule::arity == 1)
    return [](double first, double) { return suits_packets<Rule>(first); }(x...);
  else
    return [](double first, double second, double) { return suits_packets<Rule>(first, second); }(x...);
}

template <class Rule, std::size_t J, class Enable, class... A>
inline constexpr bool has_derivatives_of = false;
template <class Rule, std::size_t J, class... A>
inline constexpr bool has_derivatives_of<
    Rule, J, std::void_t<decltype(Rule::derivatives(wrt<static_cast<int>(J)>{}, std::declval<const A&>()...))>, A...> =
    packets_pay<Rule>;

template <class Rule, std::size_t J, std::size_t Arity>
inline constexpr bool has_derivatives = false;
template <class Rule, std::size_t J>
inline constexpr bool has_derivatives<Rule, J, 1> = has_derivatives_of<Rule, J, void, octet_array, octet_array>;
template <class Rule, std::size_t J>
inline constexpr bool has_derivatives<Rule, J, 2> = has_derivatives_of<Rule, J, void, octet_array, octet_array, octet_array>;

/// Computes the partial derivatives d with respect to argument J of n entries, in octets where the rule has a function for
/// octets.
template <class Rule, std::size_t J, class... X>
AGRAD_ALWAYS_INLINE void partials_into(double* __restrict d, std::uint32_t n, const double* y, const X*... x) {
  constexpr wrt<static_cast<int>(J)> with_respect_to{};
  if constexpr (has_derivatives<Rule, J, sizeof...(X)>) {
    in_octets<Rule>(
        d, n, [&](const auto&... of) { return octet_array(Rule::derivatives(with_respect_to, of...)); },
        [&](auto... of) -> double { return Rule::derivative(with_respect_to, of...); },
        [](auto... of) { return suits_all_but_last<Rule>(of...); }, x..., y);
  } else {
    for (std::uint32_t i = 0; i < n; ++i) d[i] = Rule::derivative(with_respect_to, x[i]..., y[i]);
  }
}

/// Does the same for one entry.
template <class Rule, std::size_t J, std::size_t... I>
AGRAD_ALWAYS_INLINE double partial_at(const std::array<double, sizeof...(I)>& x, double y, std::index_sequence<I...>) {
  double d;
  partials_into<Rule, J>(&d, 1, &y, &x[I]...);
  return d;
}

template <class Rule>
struct entries_of {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  static_assert(arity <= most_arguments, "loops have room for four operands");
  using every = std::make_index_sequence<arity>;
  using direction = dual<double, static_cast<int>(arity)>;

  template <std::size_t... I>
  AGRAD_ALWAYS_INLINE static std::array<double, arity> at(columns x, std::uint32_t i, std::index_sequence<I...>) {
    return {x[I][i]...};
  }

  template <std::size_t... I>
  AGRAD_ALWAYS_INLINE static void compute(std::uint32_t n, columns x, double* __restrict y, std::index_sequence<I...>) {
    const std::array<const double*, arity> from{x[I]...};
    if constexpr (has_packets<Rule>)
      octets_into<Rule>(y, n, from[I]...);
    else
      for (std::uint32_t i = 0; i < n; ++i) y[i] = Rule::value(from[I][i]...);
  }
  static void values(std::uint32_t n, columns x, double* y) { compute(n, x, y, every{}); }

  template <std::size_t J, std::size_t... I>
  AGRAD_ALWAYS_INLINE static void differentiate(std::uint32_t n, columns x, const double* y, double* __restrict d,
                                                std::index_sequence<I...>) {
    const std::array<const double*, arity> from{x[I]...};
    partials_into<Rule, J>(d, n, y, from[I]...);
  }
  template <std::size_t... J>
  static void choose_partial(std::size_t j, std::uint32_t n, columns x, const double* y, double* d, std::index_sequence<J...>) {
    (void)((J == j && (differentiate<J>(n, x, y, d, every{}), true)) || ...);
  }
  AGRAD_NEVER_INLINE static void partial(std::size_t j, std::uint32_t n, columns x, const double* y, double* d) {
    choose_partial(j, n, x, y, d, every{});
  }

  static void reverse(std::size_t j, std::uint32_t n, columns x, const double* y, const double* y_adjoint, double* d) {
    partial(j, n, x, y, d);
    pass_entries(n, d, y_adjoint, d);
  }

  /// Sets the arguments and returns the value, with unit tangents: direction l is that of argument l.
  template <std::size_t... L>
  static direction with_directions(std::array<direction, arity>& x, const std::array<double, arity>& at, double y,
                                   std::index_sequence<L...> each) {
    ((x[L].value = at[L], x[L].tangent[L] = 1), ...);
    return direction(y, {static_cast<double>(partial_of<Rule, L>(at, y, each))...});
  }
  /// Returns the partial derivative with respect to argument J and its derivatives.
  template <std::size_t J>
  static direction second_at(const std::array<double, arity>& x, double y) {
    std::array<direction, arity> each;
    const direction value = with_directions(each, x, y, every{});
    return direction(partial_of<Rule, J>(each, value, every{}));
  }
  /// Computes h, the derivatives, with respect to argument K, of the partial derivative with respect to argument J.
  template <std::size_t J, std::size_t K, std::size_t... I>
  AGRAD_ALWAYS_INLINE static void differentiate_in_octets(std::uint32_t n, const double* y, double* h,
                                                          const std::array<const double*, arity>& x,
                                                          std::index_sequence<I...>) {
    constexpr wrt<static_cast<int>(J)> first{};
    constexpr wrt<static_cast<int>(K)> then{};
    const auto number = [](const auto&... of) {
      const std::array<double, arity + 1> all{of...};
      std::array<double, arity> at;
      std::copy_n(all.begin(), arity, at.begin());
      return second_at<J>(at, all[arity]).tangent[K];
    };
    in_octets<Rule>(
        h, n, [&](const auto&... of) { return octet_array(Rule::second_derivatives(first, then, of...)); }, number,
        [](auto... of) { return suits_all_but_last<Rule>(of...); }, x[I]..., y);
  }
  template <std::size_t J, std::size_t... L>
  static void differentiate_twice(std::uint32_t n, columns x, const double* y, double* __restrict d, double* const* h,
                                  std::index_sequence<L...> each) {
    const std::array<const double*, arity> from{x[L]...};
    const std::array<double*, arity> to{h[L]...};
    if constexpr (has_derivatives<Rule, J, arity>) {
      partials_into<Rule, J>(d, n, y, from[L]...);
      ((to[L] != nullptr ? differentiate_in_octets<J, L>(n, y, to[L], from, each) : void()), ...);
      return;
    }
    double unused[block_length];
    const std::array<double*, arity> into{to[L] != nullptr ? to[L] : unused...};
    for (std::uint32_t i = 0; i < n; ++i) {
      const direction of = second_at<J>(at(from.data(), i, each), y[i]);
      d[i] = of.value;
      ((into[L][i] = of.tangent[L]), ...);
    }
  }
  template <std::size_t... J>
  static void choose_second(std::size_t j, std::uint32_t n, columns x, const double* y, double* d, double* const* h,
                            std::index_sequence<J...>) {
    (void)((J == j && (differentiate_twice<J>(n, x, y, d, h, every{}), true)) || ...);
  }
  static void second(std::size_t j, std::uint32_t n, columns x, const double* y, double* d, double* const* h) {
    choose_second(j, n, x, y, d, h, every{});
  }

  template <std::size_t J, std::size_t... I>
  static traced record_partial(const traced* x, const traced& y, std::index_sequence<I...>) {
    return Rule::derivative(wrt<static_cast<int>(J)>{}, x[I]..., y);
  }
  template <std::size_t... J>
  static traced choose_record(std::size_t j, const traced* x, const traced& y, std::index_sequence<J...>) {
    traced d(0.0);
    (void)((J == j && (d = record_partial<J>(x, y, every{}), true)) || ...);
    return d;
  }
  static traced recorded_partial(std::size_t j, const traced* x, const traced& y) { return choose_record(j, x, y, every{}); }

  static constexpr entry_functions functions{
      static_cast<std::uint32_t>(arity), values, partial, reverse, second, recorded_partial, Rule::is_linear,
      Rule::is_quick || Rule::is_linear};
};

}  // namespace detail

}  // namespace agrad
