// Conditions on the arguments of densities and distribution functions, alone and in pairs, and the lists of all conditions
// that recorded checks know.
#pragma once

#include <iterator>

#include <agrad/base/check.hpp>

namespace agrad {

/// A condition on a number and another one: its name in a message, which continues with the other number, and its test.
struct relation {
  std::string_view name;
  bool (*holds)(double first, double second);
};

namespace must_be {
inline constexpr condition whole{"a whole number", [](double x) { return std::floor(x) == x && std::isfinite(x); }, true};
inline constexpr condition whole_nonnegative{"a whole number, not negative",
                                             [](double x) { return x >= 0 && std::floor(x) == x && std::isfinite(x); }, true};
inline constexpr condition few_trials{"a whole number between 0 and 8388607",
                                      [](double x) { return x >= 0 && x <= 8388607 && std::floor(x) == x; }, true};
inline constexpr condition moderate_count{"a whole number below 1e12",
                                          [](double x) { return x < 1e12 && std::floor(x) == x && std::isfinite(x); }, true};
inline constexpr condition moderate{"positive and at most 1e12", [](double x) { return x > 0 && x <= 1e12; }};
inline constexpr condition zero_or_one{"0 or 1", [](double x) { return x == 0 || x == 1; }, true};
inline constexpr condition probability{"between 0 and 1", [](double x) { return x >= 0 && x <= 1; }};
inline constexpr condition inner_probability{"between 0 and 1, not 0 or 1", [](double x) { return x > 0 && x < 1; }};
inline constexpr condition angle{"between -pi and pi", [](double x) { return std::abs(x) <= 3.141592653589793; }};
inline constexpr condition nonnegative_finite{"nonnegative and finite", [](double x) { return x >= 0 && std::isfinite(x); }};

/// Conditions by their places, which recorded checks store.
inline constexpr const condition* all[] = {&not_nan,     &finite,         &positive,          &positive_finite,
                                           &nonnegative, &whole,          &whole_nonnegative, &few_trials,
                                           &zero_or_one, &probability,    &inner_probability, &nonnegative_finite,
                                           &angle,       &moderate_count, &moderate};

inline constexpr relation less_than{"less than", [](double x, double y) { return x < y; }};

/// Relations in the same way.
inline constexpr const relation* all_relations[] = {&less_than};
}  // namespace must_be

namespace detail {
/// Returns the place of the condition with this name in a list; the length of the list if none has the name.
template <class Condition, std::size_t N>
constexpr std::size_t place_of_name(const Condition* const (&list)[N], std::string_view name) {
  std::size_t k = 0;
  while (k < N && list[k]->name != name) ++k;
  return k;
}

/// Throws an error: the first argument is x, but must be <relation> <second argument> = y.
[[noreturn]] AGRAD_COLD inline void fail_relation(std::string_view function, std::string_view first, long index, double x,
                                                  const relation& must, std::string_view second, double y) {
  const std::string text = std::string(must.name) + " " + std::string(second) + " = " + to_text(y);
  throw DomainError(sentence(function, first, index, x, text, {}));
}
}  // namespace detail

}  // namespace agrad
