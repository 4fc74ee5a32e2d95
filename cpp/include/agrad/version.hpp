// The version of agrad, stated only here.
// CMake, the Python package and the documentation read the first three macros below.
// Read next: agrad.hpp, the umbrella header.
#pragma once

#define AGRAD_VERSION_MAJOR 0
#define AGRAD_VERSION_MINOR 1
#define AGRAD_VERSION_PATCH 0

// The version as one number, for comparisons: #if AGRAD_VERSION >= 10203 is true from 1.2.3 on.
#define AGRAD_VERSION (10000 * AGRAD_VERSION_MAJOR + 100 * AGRAD_VERSION_MINOR + AGRAD_VERSION_PATCH)

#define AGRAD_STRINGIFY_(x) #x
#define AGRAD_VERSION_STRING_(major, minor, patch) \
  AGRAD_STRINGIFY_(major) "." AGRAD_STRINGIFY_(minor) "." AGRAD_STRINGIFY_(patch)

namespace agrad {

/// The version as "major.minor.patch".
inline constexpr const char* version = AGRAD_VERSION_STRING_(AGRAD_VERSION_MAJOR, AGRAD_VERSION_MINOR, AGRAD_VERSION_PATCH);

}  // namespace agrad

#undef AGRAD_VERSION_STRING_
#undef AGRAD_STRINGIFY_
