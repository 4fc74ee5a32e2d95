// Kernel table part: makes a part of the kernel table. Only the files cpp/compiled/kernels_*.cpp include this header.
#pragma once

#include <tuple>

#include <agrad/program/recording/elementwise.hpp>

namespace agrad::detail {

template <std::size_t Part, class... Rules, std::size_t... I>
const kernel* const* own_kernels(typelist<Rules...>, std::index_sequence<I...>) {
  using tags = std::tuple<type_tag<Rules>...>;
  static const kernel* const kernels[] = {
      &own_kernel<typename std::tuple_element_t<Part + I * kernel_table_parts, tags>::type>()...};
  return kernels;
}

/// Returns the kernels of a part, compiled in this file.
template <std::size_t Part>
const kernel* const* own_kernels() {
  constexpr std::size_t size = rules::elementwise::size;
  return own_kernels<Part>(rules::elementwise{},
                           std::make_index_sequence<(size - Part + kernel_table_parts - 1) / kernel_table_parts>{});
}

}  // namespace agrad::detail
