// Errors: the exception types of agrad and the common grammar of their messages.
//
//     function: argument[index] is value, but must be condition; hint
//
// Cold functions, never inlined, compose the messages, so that a check in a hot loop costs a compare and a jump. In Python,
// ShapeError, DomainError and LinAlgError are ValueErrors, ScopeError and SolverError are RuntimeErrors.
// Read next: base/check.hpp, the checks that throw these exceptions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// Checks compare with nan and infinity, which these options let a compiler assume away: bad input would pass them in silence.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(_M_FP_FAST)
#error "agrad needs nan and infinity: compile without -ffast-math, -Ofast, -ffinite-math-only and /fp:fast"
#endif

#if defined(__GNUC__) || defined(__clang__)
#define AGRAD_COLD [[gnu::cold]]
#define AGRAD_NEVER_INLINE [[gnu::noinline]]
#define AGRAD_UNLIKELY(condition) __builtin_expect(!!(condition), false)
#else
#define AGRAD_COLD
#define AGRAD_NEVER_INLINE
#define AGRAD_UNLIKELY(condition) (condition)
#endif
// Without optimisation, copies of a function in its callers only take longer to compile: sanitized builds define it as inline.
#ifdef AGRAD_ALWAYS_INLINE
#elif defined(__GNUC__) || defined(__clang__)
#define AGRAD_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define AGRAD_ALWAYS_INLINE inline
#endif

namespace agrad {

/// Sizes or shapes of arguments do not fit together.
struct ShapeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// An argument's value is outside of the set on which the function is defined.
struct DomainError : std::domain_error {
  using std::domain_error::domain_error;
};

/// A matrix is one for which an operation of linear algebra is not defined: singular, not positive definite, or without the
/// digits that a derivative needs. In Python also NumPy's LinAlgError.
struct LinAlgError : DomainError {
  using DomainError::DomainError;
};

/// A variable was used after the end of its scope, or a recorded value outside of its recording.
struct ScopeError : std::logic_error {
  using std::logic_error::logic_error;
};

/// An operation does not have the wanted derivative.
struct DerivativeError : std::logic_error {
  using std::logic_error::logic_error;
};

/// A solver stopped early.
struct SolverError : std::runtime_error {
  /// t: time of the stop; steps: number of steps before; code: the solver's name of the fault; advice: a remedy to try.
  SolverError(const std::string& message, double stopped_at, long steps_taken, std::string fault, std::string remedy)
      : std::runtime_error(message), t(stopped_at), steps(steps_taken), code(std::move(fault)), advice(std::move(remedy)) {}

  double t;
  long steps;
  std::string code;
  std::string advice;
};

namespace detail {

/// Returns the shortest decimal that reads back as the same double, as Python prints numbers ("-0.2", "nan", "inf").
AGRAD_COLD inline std::string to_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  for (int digits = 6;; ++digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (digits >= 17 || std::strtod(text, nullptr) == value) return text;
  }
}
AGRAD_COLD inline std::string to_text(long value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(long long value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(int value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(std::string_view value) { return std::string(value); }

/// Composes a message in the grammar. An empty hint and a negative index are left out.
template <class Value>
AGRAD_COLD std::string sentence(std::string_view function, std::string_view argument, std::ptrdiff_t index, const Value& value,
                                std::string_view condition, std::string_view hint = {}) {
  std::string text;
  text.append(function).append(": ").append(argument);
  if (index >= 0) text.append("[").append(std::to_string(index)).append("]");
  text.append(" is ").append(to_text(value)).append(", but must be ").append(condition);
  if (!hint.empty()) text.append("; ").append(hint);
  return text;
}

}  // namespace detail
}  // namespace agrad
