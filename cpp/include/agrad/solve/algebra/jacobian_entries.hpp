// Jacobian entries: loops over the entries of df/dy, on a pattern or over the whole matrix, and colours the columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include <agrad/program/sparse/colouring.hpp>
#include <agrad/program/sparse/pattern.hpp>

namespace agrad::detail {

/// Calls use(i, j) for the entries of an n x n matrix: those of the pattern in its order or, where the pattern is null, all,
/// row after row.
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

/// Returns colours of the columns if fewer than `most` suffice, else an empty colouring.
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
