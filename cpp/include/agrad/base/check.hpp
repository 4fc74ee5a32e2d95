// Checks of arguments: each names the function, the argument, the index and the value in the grammar of base/error.hpp.
//
// A check is a condition (data: a test and its name) applied to a scalar or to every entry of a range; `check` throws
// DomainError, `check_size` ShapeError. Checks read values only and record nothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <agrad/base/error.hpp>

namespace agrad {

/// A condition on a number: its name in a message, its test, and whether only whole numbers meet it.
struct condition {
  std::string_view name;
  bool (*holds)(double);
  bool whole = false;
};

/// A separate namespace, because users write `using namespace agrad` and the C library has a global function `finite`.
namespace must_be {
inline constexpr condition not_nan{"a number, not nan", [](double x) { return !std::isnan(x); }};
inline constexpr condition finite{"finite", [](double x) { return std::isfinite(x); }};
inline constexpr condition positive{"positive", [](double x) { return x > 0; }};
inline constexpr condition positive_finite{"positive and finite", [](double x) { return x > 0 && std::isfinite(x); }};
inline constexpr condition nonnegative{"nonnegative", [](double x) { return x >= 0; }};
}  // namespace must_be

namespace detail {
[[noreturn]] AGRAD_COLD inline void fail_check(std::string_view function, std::string_view argument, std::ptrdiff_t index,
                                               double value, const condition& must, std::string_view hint) {
  throw DomainError(sentence(function, argument, index, value, must.name, hint));
}
}  // namespace detail

/// Throws DomainError unless the condition holds for the value. The message has no index if `index` is negative.
inline void check(std::string_view function, std::string_view argument, double value, const condition& must,
                  std::ptrdiff_t index = -1, std::string_view hint = {}) {
  if (AGRAD_UNLIKELY(!must.holds(value))) detail::fail_check(function, argument, index, value, must, hint);
}

/// Does the same for each of n values that lie stride apart; a stride of 0 means one value for all.
inline void check_each(std::string_view function, std::string_view argument, const double* values, std::size_t n,
                       std::size_t stride, const condition& must) {
  if (stride == 0) {
    if (n > 0) check(function, argument, *values, must);
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (AGRAD_UNLIKELY(!must.holds(values[i * stride])))
      detail::fail_check(function, argument, static_cast<std::ptrdiff_t>(i), values[i * stride], must, {});
  }
}

/// Throws ShapeError unless the size is `required`; `what` explains the wanted size ("the length of y0").
inline void check_size(std::string_view function, std::string_view argument, std::size_t size, std::size_t required,
                       std::string_view what) {
  if (AGRAD_UNLIKELY(size != required)) {
    throw ShapeError(detail::sentence(function, argument, -1, "of length " + std::to_string(size),
                                      "of length " + std::to_string(required), what));
  }
}

}  // namespace agrad
