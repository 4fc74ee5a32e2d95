// Entries: all that the loops need to know of an elementwise rule, as functions of columns of numbers.
//
// Value, partial derivatives and second partial derivatives are enough for every sweep in every width, so these few functions
// are all that is compiled for each rule; the loops around them (program/elementwise.hpp) are compiled once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <agrad/dual/dual.hpp>
#include <agrad/program/traced.hpp>
#include <agrad/rules/apply.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

/// Columns of n numbers, one for each argument of a rule.
using columns = const double* const*;

struct entry_functions {
  std::uint32_t arity;
  /// y = f(x)
  void (*values)(std::uint32_t n, columns x, double* y);
  /// d = the partial derivative with respect to argument j
  void (*partial)(std::size_t j, std::uint32_t n, columns x, const double* y, double* d);
  /// h[l] = the derivative of that with respect to argument l
  void (*second)(std::size_t j, std::uint32_t n, columns x, const double* y, double* const* h);
  /// The partial derivative with respect to argument j, recorded instead of computed.
  traced (*recorded_partial)(std::size_t j, const traced* x, const traced& y);
};

namespace detail {

/// The partial derivative with respect to argument J, of numbers or duals.
template <class Rule, std::size_t J, class T, std::size_t... I>
AGRAD_INLINE auto partial_of(const std::array<T, sizeof...(I)>& x, const T& y, std::index_sequence<I...>) {
  return Rule::derivative(wrt<static_cast<int>(J)>{}, x[I]..., y);
}

template <class Rule>
struct entries_of {
  static constexpr std::size_t arity = static_cast<std::size_t>(Rule::arity);
  using every = std::make_index_sequence<arity>;
  using direction = dual<double, static_cast<int>(arity)>;

  template <std::size_t... I>
  AGRAD_INLINE static std::array<double, arity> at(columns x, std::uint32_t i, std::index_sequence<I...>) {
    return {x[I][i]...};
  }

  template <std::size_t... I>
  AGRAD_INLINE static void compute(std::uint32_t n, columns x, double* __restrict y, std::index_sequence<I...>) {
    const std::array<const double*, arity> from{x[I]...};
    if constexpr (has_packets<Rule>)
      octets_into<Rule>(y, n, from[I]...);
    else
      for (std::uint32_t i = 0; i < n; ++i) y[i] = Rule::value(from[I][i]...);
  }
  static void values(std::uint32_t n, columns x, double* y) { compute(n, x, y, every{}); }

  template <std::size_t J, std::size_t... I>
  AGRAD_INLINE static void differentiate(std::uint32_t n, columns x, const double* y, double* __restrict d,
                                         std::index_sequence<I...>) {
    const std::array<const double*, arity> from{x[I]...};
    for (std::uint32_t i = 0; i < n; ++i) d[i] = Rule::derivative(wrt<static_cast<int>(J)>{}, from[I][i]..., y[i]);
  }
  template <std::size_t... J>
  static void choose_partial(std::size_t j, std::uint32_t n, columns x, const double* y, double* d, std::index_sequence<J...>) {
    (void)((J == j && (differentiate<J>(n, x, y, d, every{}), true)) || ...);
  }
  static void partial(std::size_t j, std::uint32_t n, columns x, const double* y, double* d) {
    choose_partial(j, n, x, y, d, every{});
  }

  /// The arguments and the value with unit tangents: direction l is that of argument l.
  template <std::size_t... L>
  static direction with_directions(std::array<direction, arity>& x, const std::array<double, arity>& at, double y,
                                   std::index_sequence<L...> each) {
    ((x[L].value = at[L], x[L].tangent[L] = 1), ...);
    return direction(y, {static_cast<double>(partial_of<Rule, L>(at, y, each))...});
  }
  /// The derivatives of the partial derivative with respect to argument J.
  template <std::size_t J>
  static std::array<double, arity> second_at(const std::array<double, arity>& x, double y) {
    std::array<direction, arity> each;
    const direction value = with_directions(each, x, y, every{});
    return direction(partial_of<Rule, J>(each, value, every{})).tangent;
  }
  template <std::size_t J>
  static void differentiate_twice(std::uint32_t n, columns x, const double* y, double* const* h) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::array<double, arity> of_partial = second_at<J>(at(x, i, every{}), y[i]);
      for (std::size_t l = 0; l < arity; ++l) h[l][i] = of_partial[l];
    }
  }
  template <std::size_t... J>
  static void choose_second(std::size_t j, std::uint32_t n, columns x, const double* y, double* const* h,
                            std::index_sequence<J...>) {
    (void)((J == j && (differentiate_twice<J>(n, x, y, h), true)) || ...);
  }
  static void second(std::size_t j, std::uint32_t n, columns x, const double* y, double* const* h) {
    choose_second(j, n, x, y, h, every{});
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

  static constexpr entry_functions functions{static_cast<std::uint32_t>(arity), values, partial, second, recorded_partial};
};

/// A tangent times a factor; zeros stay zeros beside what is infinite, on whichever side, because they mean that nothing passes.
AGRAD_INLINE double carried(double factor, double tangent) { return tangent == 0 || factor == 0 ? 0.0 : factor * tangent; }

/// An adjoint times a factor; an infinite derivative of an entry that nobody used must not become nan.
AGRAD_INLINE double sent(double factor, double adjoint) { return adjoint == 0 ? 0.0 : factor * adjoint; }

}  // namespace detail

}  // namespace agrad
