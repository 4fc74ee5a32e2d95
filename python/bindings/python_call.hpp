// Python call: calls Python code from within a run, in threads that may outlive the interpreter.
#pragma once

#if defined(__GLIBCXX__) || __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

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

}  // namespace agrad::python
