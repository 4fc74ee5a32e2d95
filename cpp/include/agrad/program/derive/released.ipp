// Definitions of program/derive/released.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/derive/released.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad {

AGRAD_INLINE released::released(const recorder& in, std::size_t begin, std::size_t end) : begin_(begin), end_(end) {
  const std::vector<operation>& all = in.code().operations;
  const auto is_hold = [](const operation& op) { return op.what == &kernels::hold; };
  if (std::none_of(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end), is_hold))
    return;
  level_.assign(in.size(), 0);
  outermost_.assign(in.size(), nowhere);
  maker_.assign(in.size(), 0);
  for (std::size_t i = begin_; i < end_; ++i) enter(in, i);
}

AGRAD_INLINE span released::operator()(recorder& in, const span& x, const operation& op) {
  if (level_.empty() || x.count == 0 || op.count == 0) return x;
  const level of = *std::max_element(level_.begin() + op.result, level_.begin() + op.result + op.count);
  return at(in, x, of);
}

AGRAD_INLINE void released::enter(const recorder& in, std::size_t number) {
  const operation& op = in.code().operations[number];
  std::fill_n(maker_.begin() + op.result, op.count, static_cast<std::uint32_t>(number - begin_));
  if (op.what == &kernels::gather) {
    for (std::uint32_t j = 0; j < op.count; ++j) {
      level_[op.result + j] = level_[in.code().integers[op.data + j]];
      outermost_[op.result + j] = outermost_[in.code().integers[op.data + j]];
    }
    return;
  }
  level deepest = 0, outermost = nowhere;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    // the value is outside of the derivatives, which are one level further in, and is computed from stopped arguments
    const int less = op.what == &kernels::with_derivative && k > 0 ? 1 : 0;
    for (std::uint32_t j = 0; j < op.operands[k].count; ++j) {
      const slot s = op.operands[k].first + j;
      deepest = static_cast<level>(std::max<int>(deepest, level_[s] - less));
      outermost = std::min(outermost, outermost_[s]);
    }
  }
  if (begins_level(op)) outermost = std::min(outermost, ++deepest);
  if (op.what == &kernels::stop_gradient) deepest = 0, outermost = nowhere;  // the same number on every level
  std::fill_n(level_.begin() + op.result, op.count, deepest);
  std::fill_n(outermost_.begin() + op.result, op.count, outermost);
}

AGRAD_INLINE bool released::changes(const span& x, level of) const {
  for (std::uint32_t j = 0; j < x.count; ++j)
    if (changes(x.first + j, of)) return true;
  return false;
}

AGRAD_INLINE span released::at(recorder& in, const span& x, level of) {
  if (!changes(x, of)) return x;
  std::vector<slot> slots(x.count);
  for (std::uint32_t j = 0; j < x.count; ++j) slots[j] = slot_at(in, x.first + j, of);
  if (x.stride == 0) return {slots[0], 1, 0, in.is_active(slots[0])};
  return in.dense(slots.data(), slots.size());
}

AGRAD_INLINE slot released::slot_at(recorder& in, slot s, level of) {
  if (!changes(s, of)) return s;
  const todo what{maker_[s], released_of(s, of)};
  if (!is_done(what)) record_all(in, what);
  return copies_of(what.of).now[s];
}

AGRAD_INLINE released::copies& released::copies_of(level of) {
  if (copies_.size() <= of) copies_.resize(of + std::size_t{1});
  copies& found = copies_[of];
  if (found.now.empty()) {
    found.now.resize(level_.size());
    std::iota(found.now.begin(), found.now.end(), slot{0});
    found.is_done.assign(end_ - begin_, 0);
  }
  return found;
}

AGRAD_INLINE void released::record_all(recorder& in, const todo& last) {
  std::vector<todo> waiting{last};
  while (!waiting.empty()) {
    const todo next = waiting.back();
    const operation op = in.code().operations[begin_ + next.number];
    const std::size_t before = waiting.size();
    if (!is_done(next)) {
      each_operand(in, op, [&](slot s) {
        if (!changes(s, next.of)) return;
        const todo needed{maker_[s], released_of(s, next.of)};
        if (!is_done(needed) && !(waiting.back() == needed)) waiting.push_back(needed);
      });
      if (waiting.size() > before) continue;
      record(in, op, next.of);
      copies_of(next.of).is_done[next.number] = 1;
    }
    waiting.pop_back();
  }
}

AGRAD_INLINE void released::record(recorder& in, const operation& op, level of) {
  std::vector<slot> now(op.count);
  if (op.what == &kernels::gather) {
    for (std::uint32_t j = 0; j < op.count; ++j) now[j] = slot_at(in, in.code().integers[op.data + j], of);
  } else if (begins_level(op) && level_[op.result] <= of) {
    const span& x = op.operands[0];
    const bool is_hold = op.what == &kernels::hold;
    for (std::uint32_t j = 0; j < op.count; ++j) now[j] = is_hold ? slot_at(in, x.first + (x.stride == 0 ? 0 : j), of) : 0;
  } else {
    if (op.what == &kernels::with_derivative && level_[op.result] <= of) check_order(op, of);
    span operands[operation::most_operands];
    for (std::uint32_t k = 0; k < op.arity; ++k) operands[k] = at(in, op.operands[k], of);
    std::iota(now.begin(), now.end(), in.repeat(in, op, operands));
  }
  std::copy(now.begin(), now.end(), copies_of(of).now.begin() + op.result);
}

AGRAD_INLINE void released::check_order(const operation& op, level of) const {
  if (changes(op.operands[1], of) && !changes(op.operands[2], of)) {
    throw DerivativeError(
        "custom_jvp: the derivative by hand was recorded for fewer nested derivatives than are taken, but must be recorded "
        "for all of them; call the function within the innermost transformation");
  }
}

}  // namespace agrad
