// Derivatives across a shared library, with hidden symbols on both sides. Where the two are linked they have one tape. Where
// the library is loaded at run time, and kept apart, there are two, and the program, a checked build then, raises.
#include <dlfcn.h>

#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/scope.hpp>

#include <cstdio>
#include <cstring>

#include "library.hpp"

namespace {

using agrad::var;

/// Whether d(2 x^3 + x^2)/dx is right at 2.
bool is_right(decltype(&cube) of) {
  const agrad::scope own;
  const var x = 2.0;
  var y;
  of(x, y);
  const var z = y * 2 + x * x;
  z.grad();
  std::printf("%g, %g\n", z.val(), x.adj());
  return z.val() == 20 && x.adj() == 28;
}

}  // namespace

int main(int count, char** arguments) {
#ifdef LINKED
  static_cast<void>(count), static_cast<void>(arguments);
  return is_right(&cube) ? 0 : 1;
#else
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  decltype(&cube) of = nullptr;
  void* found = dlsym(library, "cube");
  std::memcpy(&of, &found, sizeof of);
  try {
    return is_right(of) ? 0 : 1;
  } catch (const agrad::ScopeError& e) {
    std::printf("%s\n", e.what());
    return std::strstr(e.what(), "of another tape") != nullptr ? 0 : 1;
  }
#endif
}
