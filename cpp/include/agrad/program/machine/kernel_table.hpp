// Kernel table: the kernels of the rules in `rules::elementwise`, which the compiled library has for all files.
//
// A kernel takes a compiler 0.3 s, and the derivatives of one rule consist of other rules, so that a file with a few recorded
// functions compiles most kernels. With AGRAD_COMPILED, files refer to the table instead. The table is in parts, which the
// files cpp/compiled/kernels_*.cpp compile; a rule's position in the typelist tells its part.
#pragma once

#include <agrad/program/machine/operation.hpp>
#include <agrad/rules/lists/elementwise.hpp>

namespace agrad::detail {

inline constexpr std::size_t kernel_table_parts = 4;

/// Returns the kernels of the rules at positions Part, Part + kernel_table_parts, ...
/// (program/recording/kernel_table_part.hpp).
template <std::size_t Part>
const kernel* const* kernels_of_part();
template <>
const kernel* const* kernels_of_part<0>();
template <>
const kernel* const* kernels_of_part<1>();
template <>
const kernel* const* kernels_of_part<2>();
template <>
const kernel* const* kernels_of_part<3>();
static_assert(kernel_table_parts == 4, "each part is declared here and defined by a file cpp/compiled/kernels_*.cpp");

template <class Rule, class List>
inline constexpr bool is_in_list = false;
template <class Rule, class... Rules>
inline constexpr bool is_in_list<Rule, typelist<Rules...>> = (std::is_same_v<Rule, Rules> || ...);

/// Returns the kernel of a rule in the typelist.
template <class Rule>
const kernel& kernel_in_table() {
  constexpr std::size_t position = index_of_v<Rule, rules::elementwise>;
  return *kernels_of_part<position % kernel_table_parts>()[position / kernel_table_parts];
}

}  // namespace agrad::detail
