// Definitions of solve/system/jumps/loop_jumps.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/solve/system/jumps/kinks.hpp>
#include <agrad/solve/system/jumps/loop_jumps.hpp>

namespace agrad {

AGRAD_INLINE loop_jumps::loop_jumps(const program& f, std::size_t n, held_kind kind)
    : with_kinks_(kind == held_kind::jumps_and_kinks) {
  if (f.code().externals.empty()) return;
  std::vector<reach::marks> of_inputs(f.input_size(), 0);
  std::fill_n(of_inputs.begin() + 1, n, of_state);
  of_inputs[0] = of_time;
  search(f, of_inputs, false);
}

AGRAD_INLINE bool loop_jumps::search(const program& f, const std::vector<reach::marks>& of_inputs, bool own) {
  const reach flow(f, of_inputs);
  bool found = own && jumps(f, flow);
  for (const operation& op : f.code().operations) {
    if (op.what != &kernels::external) continue;
    const auto* loop = dynamic_cast<const scan_operation*>(f.code().externals[f.code().integers[op.data]].get());
    if (loop == nullptr) continue;
    std::vector<reach::marks> operand;
    for (std::size_t i = 0; i < op.operands[0].count; ++i)
      operand.push_back(flow.of(reach::place(f.code().integers, op, 0, i)));
    if (search(*loop, operand)) loops_.insert(loop), found = true;
  }
  return found;
}

AGRAD_INLINE bool loop_jumps::search(const scan_operation& loop, const std::vector<reach::marks>& operand) {
  if (loop.inspected_body().converges()) return false;
  if (std::none_of(operand.begin(), operand.end(), [](reach::marks m) { return m != 0; })) return false;
  const std::vector<reach::marks> inputs = marks_of(loop, operand);
  bool found = is_open(loop, inputs);
  for (const body_path& path : loop.inspected_body().paths())
    found = search(*path.code, {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(path.code->input_size())}, true) ||
            found;
  return found;
}

AGRAD_INLINE std::vector<reach::marks> loop_jumps::marks_of(const scan_operation& loop,
                                                            const std::vector<reach::marks>& operand) {
  const scan_loop& how = loop.loop();
  const auto end_of_carry = operand.begin() + static_cast<std::ptrdiff_t>(how.carry);
  const auto end_of_captured = end_of_carry + static_cast<std::ptrdiff_t>(loop.captured());
  std::vector<reach::marks> inputs(operand.begin(), end_of_carry);
  if (how.counts) inputs.push_back(0);
  auto entries = end_of_captured;
  for (const scan_loop::sequence& x : how.xs) {
    for (std::size_t i = 0; i < x.size; ++i) {
      reach::marks all = 0;
      for (std::size_t step = 0; step < how.length && !x.is_constant; ++step)
        all |= entries[static_cast<std::ptrdiff_t>(step * x.size + i)];
      inputs.push_back(all);
    }
    if (!x.is_constant) entries += static_cast<std::ptrdiff_t>(x.size * how.length);
  }
  inputs.insert(inputs.end(), end_of_carry, end_of_captured);
  for (bool changes = true; changes;) {
    changes = false;
    for (const body_path& path : loop.inspected_body().paths()) {
      const reach flow(*path.code, {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(path.code->input_size())});
      for (std::size_t i = 0; i < how.carry; ++i) {
        const reach::marks all = inputs[i] | flow.of(path.code->outputs()[i]);
        changes = changes || all != inputs[i];
        inputs[i] = all;
      }
    }
  }
  return inputs;
}

AGRAD_INLINE bool loop_jumps::is_open(const scan_operation& loop, const std::vector<reach::marks>& inputs) {
  const bool may_choose = loop.loop().length == 1 && loop.loop().carry == 0;
  for (const body_path& path : loop.inspected_body().paths()) {
    const reach flow(*path.code, {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(path.code->input_size())});
    for (const operation& op : path.code->code().operations) {
      if (op.what != &kernels::guard) continue;
      const slot condition = op.operands[0].first;
      const bool is_given = may_choose && condition == path.code->inputs()[0];  // by the operand of `cond`, on every path
      if (!is_given && (flow.of(condition) & of_state) != 0) return true;
    }
  }
  return false;
}

AGRAD_INLINE bool loop_jumps::jumps(const program& f, const reach& flow) const {
  const unrolled steps(f.code());
  const std::vector<operation>& all = steps.operations();
  const auto may_jump = [&](const jump_site& site) { return site.kind != jump_site::none && (with_kinks_ || !site.is_kink); };
  if (std::none_of(all.begin(), all.end(), [&](const operation& op) { return may_jump(jump_site_of(op)); })) return false;
  kinks continuous(f, all);
  for (const operation& op : all) {
    const jump_site site = jump_site_of(op);
    if (!may_jump(site)) continue;
    for (std::size_t i = 0; i < op.count; ++i) {
      const slot x = reach::place(f.code().integers, op, 0, i);
      const slot y = site.has_other ? reach::place(f.code().integers, op, 1, i) : x;
      if ((flow.of(x) | flow.of(y)) == 0) continue;
      if (with_kinks_ || !continuous.is_kink({site, op.what, x, y, static_cast<slot>(op.result + i)})) return true;
    }
  }
  return false;
}

}  // namespace agrad
