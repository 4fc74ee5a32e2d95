// Exceptions that a user's model throws, under Stan's names: `reject` and `fatal_error`.
//
//     if (!(rate > 0)) agrad::reject("rate is ", rate, ", but must be positive");
#pragma once

#include <sstream>
#include <stdexcept>

#include <agrad/base/error.hpp>

namespace agrad {

/// A program cannot go on. It is no DomainError, so that callers who try another argument after a DomainError, as samplers do,
/// pass it on.
struct FatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {
template <class... Parts>
AGRAD_COLD std::string joined_text(const Parts&... parts) {
  std::ostringstream text;
  ((text << parts), ...);
  return text.str();
}
}  // namespace detail

/// Throws DomainError with a message of these parts, one after another: whatever a stream prints, numbers, variables, Eigen's
/// matrices and text among them.
template <class... Parts>
[[noreturn]] AGRAD_COLD void reject(const Parts&... parts) {
  throw DomainError(detail::joined_text(parts...));
}

/// Throws FatalError with a message of these parts; see `reject`.
template <class... Parts>
[[noreturn]] AGRAD_COLD void fatal_error(const Parts&... parts) {
  throw FatalError(detail::joined_text(parts...));
}

}  // namespace agrad
