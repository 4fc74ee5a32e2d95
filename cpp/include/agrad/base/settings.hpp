// A program and the compiled library must agree on what changes the layout of classes or what is checked everywhere; where they
// differ, the program does not link.
//
// These are Eigen's alignment, which follows from the processor (-march), and AGRAD_CHECKED; NDEBUG may differ. Each file of a
// program refers to the function for its own settings, and the library defines the function for the library's settings alone.
#pragma once

#ifdef AGRAD_COMPILED

#include <Eigen/Core>

namespace agrad::detail {

#ifdef AGRAD_CHECKED
inline constexpr bool is_checked_build = true;
#else
inline constexpr bool is_checked_build = false;
#endif

template <int EigenAlignment, bool IsChecked>
struct compiled_library {
  static void must_have_the_same_settings();
};

[[gnu::used]] static void (*const settings_of_this_file)() =
    &compiled_library<EIGEN_MAX_ALIGN_BYTES, is_checked_build>::must_have_the_same_settings;

}  // namespace agrad::detail

#endif
