// Jacobian entries: the walk over the entries of df/dy, on a pattern or over the whole matrix, and its few colours.
#pragma once

#include <cstddef>
#include <cstdint>

#include <agrad/program/sparse/colouring.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad::detail {

/// Calls use(i, j) for the entries of an n x n matrix, on the pattern in its order, or row after row where the pattern is null.
template <class Use>
void each_entry(const csr_pattern* pattern, std::size_t n, const Use& use) {
  for (std::size_t i = 0; i < n; ++i) {
    if (pattern != nullptr) {
      for (const auto j : pattern->row(i)) use(i, static_cast<std::size_t>(j));
    } else {
      for (std::size_t j = 0; j < n; ++j) use(i, j);
    }
  }
}

/// Colours of the columns, where there are fewer than `most`; else none.
inline colouring few_colours(const csr_pattern* pattern, std::size_t n, std::uint32_t most) {
  colouring c;
  if (pattern != nullptr) {
    c = colour_columns(*pattern);
  } else if (n < most) {
    for (std::size_t j = 0; j < n; ++j) c.colour.push_back(c.count++);
  }
  return c.count < most ? c : colouring();
}

}  // namespace agrad::detail
