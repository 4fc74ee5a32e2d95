// Definitions of program/schedule/prune.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/schedule/prune.hpp>

namespace agrad {

AGRAD_INLINE slot program_parts::new_slots(std::size_t n) {
  size += n;
  return static_cast<slot>(size - n);
}

}  // namespace agrad

namespace agrad::detail {

AGRAD_INLINE std::size_t operation_hash::operator()(const operation_key& key) const {
  std::size_t h = std::hash<const kernel*>{}(key.what);
  for (const std::uint32_t n : key.numbers) h = (h ^ n) * 0x9E3779B97F4A7C15U;  // Fibonacci hashing (Knuth, 6.4)
  return h ^ (h >> 32U);
}

AGRAD_INLINE pruner::pruner(const recorder& recording, const std::vector<slot>& outputs)
    : from_(recording), live_(recording.size(), 0), differentiated_(recording.size(), 0), place_(recording.size(), 0) {
  seen_.reserve(recording.code().operations.size());
  for (const slot s : recording.inputs()) live_[s] = 1;
  for (const slot s : outputs) live_[s] = differentiated_[s] = 1;
  mark_live();
  copy_all();
  for (const slot s : recording.inputs()) parts_.inputs.push_back(place_[s]);
  for (const slot s : outputs) parts_.outputs.push_back(place_[s]);
}

AGRAD_INLINE bool pruner::is_live(const operation& op) const {
  if (op.what == &kernels::guard) return op.operands[0].active;
  if (op.count > 0 && !from_.is_active(op.result)) return false;  // the result is a constant
  return is_any(live_, op);
}

AGRAD_INLINE bool pruner::is_any(const std::vector<std::uint8_t>& marked, const operation& op) const {
  return std::any_of(marked.begin() + op.result, marked.begin() + op.result + op.count, [](std::uint8_t m) { return m != 0; });
}

AGRAD_INLINE void pruner::mark_live() {
  const auto& operations = from_.code().operations;
  for (auto op = operations.rbegin(); op != operations.rend(); ++op) {
    if (!is_live(*op)) continue;
    for (std::uint32_t i = 0; i < op->count; ++i) live_[op->result + i] = 1;  // a result is kept as a whole
    if (op->what == &kernels::gather)
      for (std::uint32_t i = 0; i < op->count; ++i) live_[from_.code().integers[op->data + i]] = 1;
    for (std::uint32_t k = 0; k < op->arity; ++k)
      for (std::uint32_t i = 0; i < op->operands[k].count; ++i) live_[op->operands[k].first + i] = 1;
    mark_differentiated(*op);
  }
}

AGRAD_INLINE void pruner::mark_differentiated(const operation& op) {
  if (op.what->depends.how == dependence::on_nothing || !is_any(differentiated_, op)) return;
  if (op.what == &kernels::gather)
    for (std::uint32_t i = 0; i < op.count; ++i)
      if (differentiated_[op.result + i] != 0) differentiated_[from_.code().integers[op.data + i]] = 1;
  for (std::uint32_t k = 0; k < op.arity; ++k)
    std::fill_n(differentiated_.begin() + op.operands[k].first, op.operands[k].count, std::uint8_t{1});
}

AGRAD_INLINE void pruner::copy_all() {
  std::vector<const operation*> live;
  slot next = 0;
  for (const operation& op : from_.code().operations) {
    if (!is_live(op)) continue;  // its slots become constants if needed
    live.push_back(&op);
    copy_fixed(next, op.result);
    next = op.result + op.count;
  }
  copy_fixed(next, from_.size());
  parts_.size = parts_.fixed.size();
  interrupt_pace pace(from_.size() / (live.size() + 1));
  for (const operation* op : live) pace.step(), copy(*op);
}

AGRAD_INLINE void pruner::copy_fixed(std::size_t begin, std::size_t end) {
  for (std::size_t s = begin; s < end; ++s) {
    if (live_[s] == 0) continue;
    place_[s] = static_cast<slot>(parts_.fixed.size());
    parts_.fixed.push_back(from_.values()[s]);
  }
}

AGRAD_INLINE void pruner::copy(operation op) {
  std::vector<std::uint32_t> integers(from_.code().integers.begin() + op.data,
                                      from_.code().integers.begin() + op.data + op.data_count);
  if (op.what == &kernels::gather)
    for (std::uint32_t& s : integers) s = place_[s];
  if (op.what == &kernels::external) {
    parts_.code.externals.push_back(from_.code().externals[integers[0]]);
    integers[0] = static_cast<std::uint32_t>(parts_.code.externals.size() - 1);
    op.operands[0].active = op.operands[0].active && is_any(differentiated_, op);
  }
  for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = moved(op.operands[k]);
  const slot old = op.result, now = add(op, integers);
  for (std::uint32_t i = 0; i < op.count; ++i) place_[old + i] = now + i;
}

AGRAD_INLINE span pruner::moved(span x) {
  bool consecutive = true;
  for (std::uint32_t i = 1; i < x.count; ++i) consecutive = consecutive && place_[x.first + i] == place_[x.first] + i;
  if (consecutive) {
    x.first = x.count == 0 ? 0 : place_[x.first];
    return x;
  }
  operation gather;
  gather.what = &kernels::gather;
  gather.count = gather.data_count = x.count;
  x.first = add(gather, std::vector<std::uint32_t>(place_.begin() + x.first, place_.begin() + x.first + x.count));
  return x;
}

AGRAD_INLINE slot pruner::add(operation op, const std::vector<std::uint32_t>& integers) {
  std::vector<std::uint32_t> key{op.count, op.arity, op.is_composed ? 1U : 0U};
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    const span& x = op.operands[k];
    key.insert(key.end(), {x.first, x.count, x.stride, x.active ? 1U : 0U});
  }
  key.insert(key.end(), integers.begin(), integers.end());
  const auto [entry, is_new] = seen_.try_emplace({op.what, std::move(key)}, static_cast<slot>(parts_.size));
  if (is_new) {
    op.result = parts_.new_slots(op.count);
    op.data = static_cast<std::uint32_t>(parts_.code.integers.size());
    parts_.code.integers.insert(parts_.code.integers.end(), integers.begin(), integers.end());
    parts_.code.operations.push_back(op);
  }
  return entry->second;
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE program_parts prune(const recorder& recording, const std::vector<slot>& outputs) {
  return detail::pruner(recording, outputs).result();
}

}  // namespace agrad
