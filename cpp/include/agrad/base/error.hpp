// Errors: the exception types of agrad and the one sentence they all speak.
//
//     function: argument[index] is value, but must be condition; hint
//
// Messages are put together in cold, never inlined functions, so that a check in a hot loop costs a compare and a jump.
// Python sees ShapeError and DomainError as ValueErrors, ScopeError and SolverError as RuntimeErrors.
// Read next: base/check.hpp, the checks that throw these.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#if defined(__GNUC__) || defined(__clang__)
#define AGRAD_COLD [[gnu::cold]]
#define AGRAD_INLINE [[gnu::always_inline]] inline
#define AGRAD_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), false)
#else
#define AGRAD_COLD
#define AGRAD_INLINE inline
#define AGRAD_UNLIKELY(condition) (condition)
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

/// A variable was used after the scope that it was made in had ended, or a recorded value outside of its recording.
struct ScopeError : std::logic_error {
  using std::logic_error::logic_error;
};

/// A derivative was asked for that an operation does not have.
struct DerivativeError : std::logic_error {
  using std::logic_error::logic_error;
};

/// A solver stopped before it reached its goal.
struct SolverError : std::runtime_error {
  /// t: where it stopped; steps: how many it had taken; code: the solver's own name of the fault; advice: what to try.
  SolverError(const std::string& message, double stopped_at, long steps_taken, std::string fault, std::string remedy)
      : std::runtime_error(message), t(stopped_at), steps(steps_taken), code(std::move(fault)), advice(std::move(remedy)) {}

  double t;
  long steps;
  std::string code;
  std::string advice;
};

namespace detail {

/// Shortest decimal that reads back as the same double, as Python prints it ("-0.2", "nan", "inf").
AGRAD_COLD inline std::string to_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  for (int digits = 6;; ++digits) {
    std::ostringstream out;
    out.precision(digits);
    out << value;
    if (digits >= 17 || std::stod(out.str()) == value) return out.str();
  }
}
AGRAD_COLD inline std::string to_text(long value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(long long value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(int value) { return std::to_string(value); }
AGRAD_COLD inline std::string to_text(std::string_view value) { return std::string(value); }

/// The sentence of the grammar; an empty hint is left out, a negative index too.
template <class Value>
AGRAD_COLD std::string sentence(std::string_view function, std::string_view argument, long index, const Value& value,
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
