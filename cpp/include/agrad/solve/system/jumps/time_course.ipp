// Definitions of solve/system/jumps/time_course.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/solve/system/jumps/jump_site.hpp>
#include <agrad/solve/system/jumps/time_course.hpp>

namespace agrad {

AGRAD_INLINE time_course::time_course(const program& f, std::size_t n, bool with_states) : of_(f.size(), constant) {
  of_[f.inputs()[0]] = linear;
  for (std::size_t i = 1; i <= n; ++i) of_[f.inputs()[i]] = with_states ? linear : other;
  const std::vector<std::uint32_t>& integers = f.code().integers;
  const unrolled steps(f.code());
  for (const operation& op : steps.operations()) {
    const dependence& by = op.what->depends;
    if (by.how == dependence::gathered) {
      for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = of_[integers[op.data + i]];
    } else if (by.how == dependence::entrywise) {
      for (std::size_t i = 0; i < op.count; ++i) of_[op.result + i] = of(integers, op, i);
    } else {
      if (const jump_site site = jump_site_of(op); site.kind != jump_site::none && !site.is_kink) continue;
      course all = constant;
      for (std::size_t k = 0; k < op.arity; ++k)
        for (std::size_t i = 0; i < op.operands[k].count; ++i) all = std::max(all, of_[reach::place(integers, op, k, i)]);
      // A value without a derivative, as of stop_gradient, may still move.
      if (all == linear && (!by.is_linear || by.how == dependence::on_nothing)) all = other;
      std::fill_n(of_.begin() + op.result, op.count, all);
    }
  }
}

AGRAD_INLINE time_course::course time_course::of(const std::vector<std::uint32_t>& integers, const operation& op,
                                                 std::size_t i) const {
  course all = constant;
  unsigned moving = 0;
  for (std::size_t k = 0; k < op.arity; ++k) {
    const course each = of_[reach::place(integers, op, k, i)];
    all = std::max(all, each);
    if (each != constant) moving |= 1U << k;
  }
  for (std::size_t k = 0; k < op.arity; ++k)
    if ((moving >> k & 1U) != 0 && (op.what->depends.curved[k] & moving) != 0) return other;
  return all;
}

}  // namespace agrad
