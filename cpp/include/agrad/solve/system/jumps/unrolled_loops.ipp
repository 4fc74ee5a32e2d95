// Definitions of solve/system/jumps/unrolled_loops.hpp.
#pragma once

#include <set>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/jumps/loop_jumps.hpp>
#include <agrad/solve/system/jumps/loop_writer.hpp>
#include <agrad/solve/system/jumps/time_switches.hpp>
#include <agrad/solve/system/jumps/unrolled_loops.hpp>

namespace agrad {

AGRAD_INLINE unrolled_loops with_unrolled_loops(std::shared_ptr<const program> f, std::size_t n, held_kind kind) {
  const loop_jumps found(*f, n, kind);
  std::set<const external_operation*> loops = found.loops();
  unrolled_loops result{f};
  while (!loops.empty()) {
    try {
      std::shared_ptr<const program> g = detail::loop_writer(*f, loops).result();
      const bool jumps = time_switches(*g, n).size() > 0 || !held_code_of(*g, n, kind).entries.empty();
      if (jumps) result.f = std::move(g);  // else the loops have kinks, which only the other operations show
      break;
    } catch (const detail::loop_writer::refused& by) {
      result.hidden.push_back({std::string(by.loop->name()), by.reason});
      loops.erase(by.loop);
    }
  }
  return result;
}

}  // namespace agrad
