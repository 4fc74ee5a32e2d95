// Definitions of program/schedule/prune.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/slot_runs.hpp>
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
  mark(recording.inputs().data(), recording.inputs().size(), live_);
  mark(outputs.data(), outputs.size(), live_);
  mark(outputs.data(), outputs.size(), differentiated_);
  mark_live();
  copy_all();
  parts_.inputs = moved(recording.inputs().data(), recording.inputs().size());
  parts_.outputs = moved(outputs.data(), outputs.size());
}

AGRAD_INLINE void pruner::mark(const slot* slots, std::size_t n, marks& marked) {
  each_run(slots, n,
           [&](std::size_t, slot first, std::size_t count) { std::fill_n(marked.begin() + first, count, mark_type{1}); });
}

AGRAD_INLINE std::vector<slot> pruner::moved(const slot* slots, std::size_t n) const {
  std::vector<slot> to(n);
  each_run(slots, n, [&](std::size_t i, slot first, std::size_t count) { std::copy_n(&place_[first], count, &to[i]); });
  return to;
}

AGRAD_INLINE bool pruner::is_live(const operation& op) const {
  if (op.what == &kernels::guard) return op.operands[0].active;
  if (op.count > 0 && !from_.is_active(op.result)) return false;  // the result is a constant
  return is_any(live_, op);
}

AGRAD_INLINE bool pruner::is_any(const marks& marked, const operation& op) const {
  return op.count > 0 && std::memchr(marked.data() + op.result, 1, op.count) != nullptr;
}

AGRAD_INLINE void pruner::mark_live() {
  const auto& operations = from_.code().operations;
  for (auto op = operations.rbegin(); op != operations.rend(); ++op) {
    if (!is_live(*op)) continue;
    std::fill_n(live_.begin() + op->result, op->count, mark_type{1});  // a result is kept as a whole
    if (op->what == &kernels::gather) mark(from_.code().integers.data() + op->data, op->count, live_);
    for (std::uint32_t k = 0; k < op->arity; ++k)
      std::fill_n(live_.begin() + op->operands[k].first, op->operands[k].count, mark_type{1});
    mark_differentiated(*op);
  }
}

AGRAD_INLINE void pruner::mark_differentiated(const operation& op) {
  if (op.what->depends.how == dependence::on_nothing || !is_any(differentiated_, op)) return;
  if (op.what == &kernels::gather)
    for (std::uint32_t i = 0; i < op.count; ++i)
      if (differentiated_[op.result + i] != 0) differentiated_[from_.code().integers[op.data + i]] = 1;
  for (std::uint32_t k = 0; k < op.arity; ++k)
    std::fill_n(differentiated_.begin() + op.operands[k].first, op.operands[k].count, mark_type{1});
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
  each_marked(live_.data(), begin, end, [&](std::size_t first, std::size_t last) {
    std::iota(&place_[first], &place_[first] + (last - first), static_cast<slot>(parts_.fixed.size()));
    parts_.fixed.insert(parts_.fixed.end(), &from_.values()[first], &from_.values()[first] + (last - first));
  });
}

AGRAD_INLINE void pruner::copy(operation op) {
  const std::uint32_t* own = from_.code().integers.data() + op.data;
  std::vector<std::uint32_t> integers =
      op.what == &kernels::gather ? moved(own, op.data_count) : std::vector<std::uint32_t>(own, own + op.data_count);
  if (op.what == &kernels::external) {
    parts_.code.externals.push_back(from_.code().externals[integers[0]]);
    integers[0] = static_cast<std::uint32_t>(parts_.code.externals.size() - 1);
    op.operands[0].active = op.operands[0].active && is_any(differentiated_, op);
  }
  for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = moved(op.operands[k]);
  const slot old = op.result, now = add(op, integers);
  std::iota(place_.begin() + old, place_.begin() + old + op.count, now);
}

AGRAD_INLINE span pruner::moved(span x) {
  if (are_consecutive(place_.data() + x.first, x.count)) {
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
