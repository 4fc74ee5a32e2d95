// Definitions of program/loops/scan_loop.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/loops/scan_loop.hpp>

namespace agrad {

AGRAD_INLINE std::size_t scan_loop::segment_length() const {
  if (!checkpoint) return std::max<std::size_t>(length, 1);
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(std::max<std::size_t>(length, 1)))));
}

AGRAD_INLINE std::size_t scan_loop::recorded() const {
  std::size_t n = 0;
  for (const sequence& x : xs) n += x.is_constant ? 0 : x.size * length;
  return n;
}

AGRAD_INLINE bool scan_loop::fits(std::size_t inputs, std::size_t outputs, std::size_t captured) const {
  constexpr std::size_t most = std::size_t{1} << 32U;
  std::size_t entries = counts ? 1 : 0, results = 0;
  bool fits = carry <= inputs && carry <= outputs && std::max({length, inputs, outputs, captured}) <= most;
  for (const sequence& x : xs) {
    fits = fits && x.size <= inputs && entries <= inputs;
    const std::size_t all = fits ? x.size * length : 0;
    fits = fits && all <= most && x.constants.size() == (x.is_constant ? all : 0);
    entries += x.size;
  }
  for (const std::size_t size : ys) {
    fits = fits && size <= outputs && results <= outputs;
    results += size;
  }
  return fits && recorded() <= most && inputs == carry + entries && outputs == carry + results;
}

}  // namespace agrad
