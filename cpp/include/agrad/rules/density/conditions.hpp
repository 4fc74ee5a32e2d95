// Conditions on the arguments of densities and distribution functions, alone and in pairs, and the lists of all conditions
// that recorded checks know.
#pragma once

#include <iterator>
#include <limits>

#include <agrad/base/check.hpp>

namespace agrad {

/// A condition on a number and another one: its name in a message, which continues with the other number, and its test.
struct relation {
  std::string_view name;
  bool (*holds)(double first, double second);
};

namespace detail {
inline constexpr double largest_number = std::numeric_limits<double>::max();

/// Returns whether both hold. There is no branch, so that the compiler vectorises checks of many numbers.
AGRAD_ALWAYS_INLINE bool both(bool first, bool second) { return (static_cast<int>(first) & static_cast<int>(second)) != 0; }
AGRAD_ALWAYS_INLINE bool either_of(bool first, bool second) {
  return (static_cast<int>(first) | static_cast<int>(second)) != 0;
}
/// Returns whether x is a whole number, not infinite. A sum with 2^52 is a whole number, and so are all doubles beyond it; a
/// call of floor would not be vectorised.
AGRAD_ALWAYS_INLINE bool is_whole(double x) {
  constexpr double large = 4503599627370496;
  const double size = std::abs(x);
  return either_of(((size + large) - large) - size == 0, both(size >= large, size <= largest_number));
}
}  // namespace detail

namespace must_be {
inline constexpr condition whole{"a whole number", [](double x) { return detail::is_whole(x); }, true};
inline constexpr condition whole_nonnegative{"a whole number, not negative",
                                             [](double x) { return detail::both(x >= 0, detail::is_whole(x)); }, true};
inline constexpr condition few_trials{
    "a whole number between 0 and 8388607",
    [](double x) { return detail::both(detail::both(x >= 0, x <= 8388607), detail::is_whole(x)); }, true};
inline constexpr condition moderate_count{"a whole number below 1e12",
                                          [](double x) { return detail::both(x < 1e12, detail::is_whole(x)); }, true};
inline constexpr condition moderate{"positive and at most 1e12", [](double x) { return detail::both(x > 0, x <= 1e12); }};
inline constexpr condition zero_or_one{"0 or 1", [](double x) { return detail::either_of(x == 0, x == 1); }, true};
inline constexpr condition probability{"between 0 and 1", [](double x) { return detail::both(x >= 0, x <= 1); }};
inline constexpr condition inner_probability{"between 0 and 1, not 0 or 1",
                                             [](double x) { return detail::both(x > 0, x < 1); }};
inline constexpr condition angle{"between -pi and pi", [](double x) { return std::abs(x) <= 3.141592653589793; }};
inline constexpr condition nonnegative_finite{"nonnegative and finite",
                                              [](double x) { return detail::both(x >= 0, x <= detail::largest_number); }};

inline constexpr condition share{"between 0 and 1, not 0", [](double x) { return detail::both(x > 0, x <= 1); }};
inline constexpr condition nonpositive{"at most 0", [](double x) { return x <= 0; }};

inline constexpr condition any_integer{"an integer", [](double) { return true; }, true};

/// Returns what is left of a condition for numbers that come from integers.
constexpr const condition& for_integers(const condition& must) {
  if (must.name == whole.name) return any_integer;
  if (must.name == whole_nonnegative.name) return nonnegative;
  return must.name == zero_or_one.name ? probability : must;
}

/// Conditions by their places, which recorded checks store.
inline constexpr const condition* all[] = {
    &not_nan,    &finite,      &positive,    &positive_finite,   &nonnegative,        &whole, &whole_nonnegative,
    &few_trials, &zero_or_one, &probability, &inner_probability, &nonnegative_finite, &angle, &moderate_count,
    &moderate,   &nonpositive, &share};

inline constexpr relation less_than{"less than", [](double x, double y) { return x < y; }};
inline constexpr relation at_most{"at most", [](double x, double y) { return x <= y; }};

/// Relations in the same way.
inline constexpr const relation* all_relations[] = {&less_than, &at_most};
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
