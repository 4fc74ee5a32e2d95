// Conditions on the arguments of densities and distribution functions, and the list of all conditions that recorded checks
// know.
#pragma once

#include <iterator>

#include <agrad/base/check.hpp>

namespace agrad {

namespace must_be {
inline constexpr condition whole{"a whole number", [](double x) { return std::floor(x) == x && std::isfinite(x); }, true};
inline constexpr condition whole_nonnegative{"a whole number, not negative",
                                             [](double x) { return x >= 0 && std::floor(x) == x && std::isfinite(x); }, true};
inline constexpr condition zero_or_one{"0 or 1", [](double x) { return x == 0 || x == 1; }, true};
inline constexpr condition probability{"between 0 and 1", [](double x) { return x >= 0 && x <= 1; }};
inline constexpr condition inner_probability{"between 0 and 1, not 0 or 1", [](double x) { return x > 0 && x < 1; }};
inline constexpr condition nonnegative_finite{"nonnegative and finite", [](double x) { return x >= 0 && std::isfinite(x); }};

/// Conditions by their places, which recorded checks store.
inline constexpr const condition* all[] = {
    &not_nan,           &finite,      &positive,    &positive_finite,   &nonnegative,       &whole,
    &whole_nonnegative, &zero_or_one, &probability, &inner_probability, &nonnegative_finite};
}  // namespace must_be

namespace detail {
/// Returns the place of the condition with this name in the list; the length of the list if none has the name.
constexpr std::size_t place_of_condition(std::string_view name) {
  std::size_t k = 0;
  while (k < std::size(must_be::all) && must_be::all[k]->name != name) ++k;
  return k;
}
}  // namespace detail

}  // namespace agrad
