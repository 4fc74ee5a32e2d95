// Definitions of program/tiles/check.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include <agrad/base/inline.hpp>
#include <agrad/program/tiles/check.hpp>

namespace agrad::detail {

[[noreturn]] inline void fail_check(const char* what, std::size_t s, double in_tiles, double whole) {
  throw std::logic_error(std::string("AGRAD_TILES=check: ") + what + " of slot " + std::to_string(s) + " is " +
                         std::to_string(in_tiles) + " in tiles, but must be " + std::to_string(whole) +
                         ", as without tiles; please report this");
}

AGRAD_INLINE tile_check::tile_check(const program_code& code, const tile_plan& plan, const workspace& w)
    : code_(code), plan_(plan) {
  whole_.values = w.values;
  whole_.adjoints = w.adjoints;
}

AGRAD_INLINE void tile_check::compare_values(const workspace& w) {
  run_forward(code_, whole_, true);
  plan_.each_in_memory(0, w.values.size(), [&](std::size_t first, std::size_t end) {
    for (std::size_t s = first; s < end; ++s) {
      const double in_tiles = w.values[s], whole = whole_.values[s];
      if (std::memcmp(&in_tiles, &whole, sizeof whole) != 0 && !(std::isnan(in_tiles) && std::isnan(whole)))
        fail_check("the value", s, in_tiles, whole);
    }
  });
}

AGRAD_INLINE void tile_check::compare_adjoints(const workspace& w) {
  std::size_t inputs = whole_.adjoints.size();  // slots before all results
  for (const operation& op : code_.operations)
    if (op.count > 0) inputs = std::min<std::size_t>(inputs, op.result);
  std::size_t begin = inputs;
  plan_.each_in_memory(inputs, whole_.adjoints.size(), [&](std::size_t first, std::size_t end) {
    std::fill(whole_.adjoints.data() + begin, whole_.adjoints.data() + first, 0.0);
    begin = end;
  });
  std::fill(whole_.adjoints.data() + begin, whole_.adjoints.data() + whole_.adjoints.size(), 0.0);
  run_reverse(code_, whole_);
  double scale = 1;
  for (const double each : whole_.adjoints)
    if (std::isfinite(each)) scale = std::max(scale, std::abs(each));
  for (std::size_t s = 0; s < inputs; ++s) {
    const double difference = std::abs(w.adjoints[s] - whole_.adjoints[s]);
    if (difference > 1e-10 * scale && std::isfinite(difference))
      fail_check("the adjoint", s, w.adjoints[s], whole_.adjoints[s]);
  }
}

}  // namespace agrad::detail
