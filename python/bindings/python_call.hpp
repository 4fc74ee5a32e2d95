// Python call: calls Python code from within a run, in threads that may outlive the interpreter.
#pragma once

#if defined(__GLIBCXX__) || __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include "errors.hpp"
#include "lock.hpp"

namespace agrad::python {

/// Calls a function that runs Python code. A thread that the ending interpreter ends sleeps instead (see lock.hpp).
template <class Call>
auto calling_python(const Call& call) -> decltype(call()) {
#ifdef __GLIBCXX__
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    const hung_at_exit hang;  // sleeps when the handler ends
    throw;
  }
#else
  return call();
#endif
}

/// An error of the user's code with which C++ code goes on as after a DomainError; Python gets the error itself.
class recoverable_error final : public DomainError {
 public:
  explicit recoverable_error(const pybind11::error_already_set& error) : DomainError(error.what()), error_(error) {}
  void restore() const { pybind11::error_already_set(error_).restore(); }

 private:
  pybind11::error_already_set error_;
};

/// Does the same as calling_python for code of the user, whose errors may be recoverable.
template <class Call>
auto calling_user(const Call& call) -> decltype(call()) {
  try {
    return calling_python(call);
  } catch (const pybind11::error_already_set& error) {
    if (is_recoverable(error)) throw recoverable_error(error);
    throw;
  }
}

}  // namespace agrad::python
