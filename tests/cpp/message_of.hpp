// The message of the exception that a call throws.
#pragma once

#include <exception>
#include <string>

namespace messages {

template <class Error = std::exception, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace messages
