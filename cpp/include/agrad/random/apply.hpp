// Apply random: checks and reads the parameters of a draw, numbers or sequences of a common length.
//
// Conditions are those of the density's rule, whose arguments behind the first are the parameters. A function returns a number
// where all parameters are numbers, else a std::vector with a draw for each entry.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <agrad/probability/rule.hpp>
#include <agrad/rules/density/apply.hpp>

namespace agrad {

/// Counts and categories.
using count_t = std::int64_t;

namespace must_be {
inline constexpr condition countable{"below 2^53, so that doubles count", [](double x) { return std::abs(x) < 0x1p53; }, true};
}  // namespace must_be

namespace detail {

/// The draw among those of a call, for messages: negative if there is one alone.
struct draw_place {
  long index;
};

/// Throws DomainError that a condition on several parameters does not hold, or that a count is too large.
[[noreturn]] AGRAD_COLD inline void fail_draw(std::string_view function, std::string_view argument, double value,
                                              std::string_view must, draw_place place, const std::string& hint = {}) {
  const std::string in = place.index < 0 ? "" : "in draw " + std::to_string(place.index);
  throw DomainError(sentence(function, argument, -1, value, must, in + (in.empty() || hint.empty() ? "" : "; ") + hint));
}

/// Throws DomainError unless each entry of a parameter meets its condition.
inline void check_parameter(std::string_view function, const density_argument& parameter, const density_input<double>& x,
                            std::size_t n) {
  check_each(function, parameter.name, x.values, n, x.stride, parameter.must);
  if (parameter.must.whole) check_each(function, parameter.name, x.values, n, x.stride, must_be::countable);
}

/// Returns the common length of the sequences among the parameters. Throws ShapeError if lengths differ.
template <class Rule, class... X>
std::size_t draws_size(std::string_view function, const X&... x) {
  constexpr bool is_scalar[] = {sequence<X>::is_scalar...};
  const std::size_t sizes[] = {sequence<X>::size(x)...};
  std::size_t first = 0;
  while (first + 1 < sizeof...(X) && is_scalar[first]) ++first;
  for (std::size_t k = first + 1; k < sizeof...(X); ++k)
    if (!is_scalar[k])
      check_size(function, Rule::arguments[k + 1].name, sizes[k], sizes[first],
                 "all sequences have one length, numbers broadcast");
  return sizes[first];
}

template <class Rule, class R, class Draw, std::size_t... K, class... X>
auto draws_of(std::index_sequence<K...>, std::string_view function, const Draw& draw, const X&... x) {
  static_assert((std::is_same_v<scalar_of_t<X>, double> && ...),
                "a random number has no derivative: pass values (val()), and compute with draws that do not depend on them");
  static_assert(std::size(Rule::arguments) == sizeof...(X) + 1, "the density has another number of parameters");
  constexpr bool is_one = (sequence<X>::is_scalar && ...);
  const std::size_t n = draws_size<Rule>(function, x...);
  const std::tuple<density_operand<double, X>...> operands(x...);
  const std::array<density_input<double>, sizeof...(X)> in{std::get<K>(operands).input(false)...};
  (check_parameter(function, Rule::arguments[K + 1], in[K], n), ...);
  const auto one = [&](std::size_t i) {
    return static_cast<R>(draw(draw_place{is_one ? -1 : static_cast<long>(i)}, in[K].values[i * in[K].stride]...));
  };
  if constexpr (is_one) {
    return one(0);
  } else {
    std::vector<R> y;
    y.reserve(n);
    for (std::size_t i = 0; i < n; ++i) y.push_back(one(i));
    return y;
  }
}

template <class Rule, class R, class Draw, class... X>
auto draws_evaluated(std::string_view function, const Draw& draw, const X&... x) {
  return draws_of<Rule, R>(std::index_sequence_for<X...>{}, function, draw, x...);
}

/// Draws numbers, of type R, by draw(place, parameters...) for each entry of the parameters.
template <class Rule, class R, class Draw, class... X>
auto draws(std::string_view function, const Draw& draw, const X&... x) {
  return draws_evaluated<Rule, R>(function, draw, evaluated_argument(x)...);
}

}  // namespace detail
}  // namespace agrad
