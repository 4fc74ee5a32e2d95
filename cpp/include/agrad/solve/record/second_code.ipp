// Definitions of solve/record/second_code.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/second_code.hpp>
#include <agrad/solve/system/jumps/unrolled_loops.hpp>
#include <agrad/solve/system/jumps/written_kinks.hpp>

namespace agrad {

AGRAD_INLINE const second_code::found* second_code::get() const {
  const std::lock_guard<fork_safe_mutex> locked(mutex_);
  if (is_searched_) return found_.get();
  const std::shared_ptr<const program> unrolled = with_unrolled_loops(f_, n_, held_kind::jumps_and_kinks).f;
  const std::shared_ptr<const program> f = with_written_kinks(unrolled, n_);
  auto held = std::make_shared<held_code>(held_code_of(*f, n_, held_kind::jumps_and_kinks));
  is_searched_ = true;
  if (!has_kinks(*held)) return nullptr;
  time_switches switches(*f, n_);
  switches.find_features(tolerance_);
  found_ = std::make_unique<const found>(found{f, std::move(held), std::move(switches)});
  return found_.get();
}

}  // namespace agrad
