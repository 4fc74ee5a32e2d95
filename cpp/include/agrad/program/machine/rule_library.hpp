// Rule library: what a shared library of elementwise rules and the Python module know of each other.
//
// The library has what is compiled for a rule alone: its row, its entries (program/machine/entries.hpp) and its steps. The
// module completes the library's kernels by its loops. For recorded derivatives it gives the library the kernels of agrad's own
// rules, and the function that records an operation.
// Read next: program/machine/library_of.hpp, the library's side; cpp/rows/added_rules.hpp, the module's side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <agrad/program/machine/elementwise_row.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/version.hpp>

namespace agrad {

/// What must be equal on both sides, in characters and numbers, so that it can be read whatever the other side is.
struct rule_fingerprint {
  std::array<char, 16> kind{};              // "agrad rules"
  std::array<char, 16> version{};           // of agrad
  std::array<char, 16> standard_library{};  // which lays out strings and throws exceptions
  std::array<std::uint32_t, 12> layout{};   // sizes of the types that both sides use
  /// Bits of what the compiler may use: AVX, AVX2, FMA, AVX-512F. The processor must have them; the sides may differ.
  std::uint32_t instruction_sets = 0;
};

/// A kernel that a library has or needs, in a list of all.
struct library_kernel {
  std::string_view name;
  kernel* own;                        // without loops until the module adds them; null for a rule of agrad
  const kernel* of_module = nullptr;  // for a rule of agrad, set by the module
  library_kernel* next = nullptr;
};

using record_function = traced (*)(const kernel& what, const traced* x, std::size_t n);

struct rule_library {
  rule_fingerprint fingerprint;
  const elementwise_row* rows;  // of the functions
  std::size_t row_count;
  library_kernel* kernels;
  void (*connect)(record_function record);
};

namespace detail {

constexpr std::array<char, 16> letters_of(std::string_view text) {
  std::array<char, 16> letters{};
  for (std::size_t i = 0; i < text.size(); ++i) letters[i] = text[i];
  return letters;
}

#ifdef _LIBCPP_VERSION
inline constexpr std::string_view standard_library_here = "libc++";
#elif defined(__GLIBCXX__)
inline constexpr std::string_view standard_library_here = "libstdc++";
#else
inline constexpr std::string_view standard_library_here = "another";
#endif

inline constexpr std::uint32_t instruction_sets_here = 0
#ifdef __AVX__
                                                       | 1U
#endif
#ifdef __AVX2__
                                                       | 2U
#endif
#ifdef __FMA__
                                                       | 4U
#endif
#ifdef __AVX512F__
                                                       | 8U
#endif
    ;

/// Returns the fingerprint of what is compiled here.
constexpr rule_fingerprint fingerprint_here() {
  return {letters_of("agrad rules"),
          letters_of(version),
          letters_of(standard_library_here),
          {sizeof(rule_library), sizeof(elementwise_row), sizeof(library_kernel), sizeof(kernel), sizeof(entry_functions),
           sizeof(straight_steps), sizeof(instruction), sizeof(operation), sizeof(traced), sizeof(second_spaces),
           sizeof(run_context), static_cast<std::uint32_t>(lane_count)},
          instruction_sets_here};
}

}  // namespace detail

}  // namespace agrad
