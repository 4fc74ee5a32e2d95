// Schedule: from a recording to a program. What no output needs goes, what depends on no input becomes a constant, what is
// computed twice is computed once, and the slots are numbered anew without gaps.
//
// One pass back marks the slots that outputs depend on, one pass forward copies the operations that make them. An operation
// that equals an earlier one (kernel, operands, integers) lends its slots; where a span's slots are then no longer
// consecutive they are gathered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/program/program.hpp>
#include <agrad/program/record.hpp>

namespace agrad {

namespace detail {

class scheduler {
 public:
  scheduler(const recorder& recording, const std::vector<slot>& outputs)
      : from_(recording), live_(recording.size(), 0), place_(recording.size(), 0) {
    for (const slot s : recording.inputs()) live_[s] = 1;
    for (const slot s : outputs) live_[s] = 1;
    mark_live();
    copy_all();
    for (const slot s : recording.inputs()) inputs_.push_back(place_[s]);
    for (const slot s : outputs) outputs_.push_back(place_[s]);
  }

  std::shared_ptr<const program> result() {
    return std::make_shared<const program>(std::move(code_), std::move(image_), std::move(inputs_), std::move(outputs_));
  }

 private:
  bool is_wanted(const operation& op) const {
    if (op.what == &kernels::guard) return op.operands[0].active;
    if (op.count > 0 && !from_.is_active(op.result)) return false;  // its result is a constant
    for (std::uint32_t i = 0; i < op.count; ++i)
      if (live_[op.result + i] != 0) return true;
    return false;
  }

  void mark_live() {
    const auto& operations = from_.code().operations;
    for (auto op = operations.rbegin(); op != operations.rend(); ++op) {
      if (!is_wanted(*op)) continue;
      for (std::uint32_t i = 0; i < op->count; ++i) live_[op->result + i] = 1;  // a result stays whole
      if (op->what == &kernels::gather)
        for (std::uint32_t i = 0; i < op->count; ++i) live_[from_.code().integers[op->data + i]] = 1;
      for (std::uint32_t k = 0; k < op->arity; ++k)
        for (std::uint32_t i = 0; i < op->operands[k].count; ++i) live_[op->operands[k].first + i] = 1;
    }
  }

  // Slots that are no operation's result (inputs, constants) and operations, in the order in which they were recorded.
  void copy_all() {
    slot next = 0;
    for (const operation& op : from_.code().operations) {
      for (; next < op.result; ++next) copy_fixed(next);
      if (!is_wanted(op)) continue;  // its slots are copied as constants if they are needed
      copy(op);
      next = op.result + op.count;
    }
    for (; next < from_.size(); ++next) copy_fixed(next);
  }

  void copy_fixed(slot s) {
    if (live_[s] == 0) return;
    place_[s] = static_cast<slot>(image_.size());
    image_.push_back(from_.values()[s]);
  }

  void copy(operation op) {
    std::vector<std::uint32_t> integers(from_.code().integers.begin() + op.data,
                                        from_.code().integers.begin() + op.data + op.data_count);
    if (op.what == &kernels::gather)
      for (std::uint32_t& s : integers) s = place_[s];
    if (op.what == &kernels::external) {
      code_.externals.push_back(from_.code().externals[integers[0]]);
      integers[0] = static_cast<std::uint32_t>(code_.externals.size() - 1);
    }
    for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = moved(op.operands[k]);
    const slot old = op.result, now = add(op, integers);
    for (std::uint32_t i = 0; i < op.count; ++i) place_[old + i] = now + i;
  }

  span moved(span x) {
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

  // Appends the operation unless an equal one is there, and returns where its result is.
  slot add(operation op, const std::vector<std::uint32_t>& integers) {
    std::vector<std::uint32_t> key{op.count, op.arity};
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span& x = op.operands[k];
      key.insert(key.end(), {x.first, x.count, x.stride, x.active ? 1U : 0U});
    }
    key.insert(key.end(), integers.begin(), integers.end());
    const auto [entry, is_new] = seen_.try_emplace({op.what, std::move(key)}, static_cast<slot>(image_.size()));
    if (is_new) {
      op.result = entry->second;
      op.data = static_cast<std::uint32_t>(code_.integers.size());
      code_.integers.insert(code_.integers.end(), integers.begin(), integers.end());
      code_.operations.push_back(op);
      image_.resize(image_.size() + op.count, 0.0);
    }
    return entry->second;
  }

  const recorder& from_;
  std::vector<std::uint8_t> live_;
  std::vector<slot> place_;  // old slot -> new slot
  program_code code_;
  std::vector<double> image_;
  std::vector<slot> inputs_, outputs_;
  std::map<std::pair<const kernel*, std::vector<std::uint32_t>>, slot> seen_;
};

}  // namespace detail

/// The program that computes the slots `outputs` of a recording from its inputs.
inline std::shared_ptr<const program> schedule(const recorder& recording, const std::vector<slot>& outputs) {
  return detail::scheduler(recording, outputs).result();
}

}  // namespace agrad
