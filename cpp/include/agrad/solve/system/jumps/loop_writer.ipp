// Definitions of solve/system/jumps/loop_writer.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include <agrad/base/inline.hpp>
#include <agrad/program/recording/elementwise.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/rules/comparison.hpp>
#include <agrad/solve/system/jumps/loop_writer.hpp>
#include <agrad/solve/system/jumps/needed_operations.hpp>

namespace agrad::detail {

AGRAD_INLINE loop_writer::loop_writer(const program& f, const std::set<const external_operation*>& loops) : loops_(loops) {
  is_input_.assign(f.fixed().size(), 0);
  for (const slot s : f.inputs()) is_input_[s] = 1;
  parts_.inputs = f.inputs();
  parts_.outputs = write(f, f.inputs(), false).outputs;
}

AGRAD_INLINE std::shared_ptr<const program> loop_writer::result() {
  const auto first = static_cast<slot>(parts_.fixed.size());
  const auto now = [&](slot s) { return s < of_results ? s : s - of_results + first; };
  for (operation& op : parts_.code.operations) {
    op.result = now(op.result);
    for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k].first = now(op.operands[k].first);
    if (op.what != &kernels::gather) continue;
    for (std::uint32_t i = 0; i < op.count; ++i) parts_.code.integers[op.data + i] = now(parts_.code.integers[op.data + i]);
  }
  for (slot& s : parts_.outputs) s = now(s);
  parts_.size = first + results_;
  keep_needed(parts_);
  return program_of(level(std::move(parts_)));
}

AGRAD_INLINE loop_writer::written loop_writer::write(const program& p, const std::vector<slot>& inputs, bool is_one) {
  const auto [at, is_new] = blocks_.try_emplace(&p, static_cast<slot>(parts_.fixed.size()));
  if (is_new) parts_.fixed.insert(parts_.fixed.end(), p.fixed().begin(), p.fixed().end());
  std::vector<slot> place(p.size());
  for (slot s = 0; s < p.fixed().size(); ++s) place[s] = at->second + s;
  for (std::size_t i = 0; i < inputs.size(); ++i) place[p.inputs()[i]] = inputs[i];
  written found;
  for (const operation& op : steps_of(p)) write(p, op, place, found, is_one);
  for (const slot s : p.outputs()) found.outputs.push_back(place[s]);
  return found;
}

AGRAD_INLINE void loop_writer::write(const program& p, const operation& op, std::vector<slot>& place, written& so_far,
                                     bool is_one) {
  const program_code& code = p.code();
  if (op.what == &kernels::gather) {
    for (std::uint32_t i = 0; i < op.count; ++i) place[op.result + i] = place[code.integers[op.data + i]];
  } else if (op.what == &kernels::guard) {
    so_far.guards.push_back({operand_of(p, op, 0, place)[0], code.integers[op.data] != 0});
  } else if (op.what == &kernels::external && loops_.count(code.externals[code.integers[op.data]].get()) != 0) {
    const auto& loop = static_cast<const scan_operation&>(*code.externals[code.integers[op.data]]);
    const external_operation* around = outermost_;
    if (around == nullptr) outermost_ = &loop;
    const std::vector<slot> results = write_loop(loop, operand_of(p, op, 0, place));
    std::copy(results.begin(), results.end(), place.begin() + op.result);
    outermost_ = around;
  } else {
    const bool may_raise = op.what->entries == nullptr && op.what->depends.how == dependence::on_everything;
    if (is_one && may_raise) refuse("a branch has an operation that may raise where another branch is taken");
    write_computed(p, op, place);
  }
}

AGRAD_INLINE void loop_writer::write_computed(const program& p, const operation& op, std::vector<slot>& place) {
  std::vector<std::vector<slot>> x;
  bool known = op.what->entries != nullptr;
  for (std::uint32_t k = 0; k < op.arity; ++k) {
    x.push_back(operand_of(p, op, k, place));
    known = known && std::all_of(x[k].begin(), x[k].end(), [&](slot s) { return is_known(s); });
  }
  if (known) {
    for (std::uint32_t i = 0; i < op.count; ++i) {
      std::vector<const double*> arguments;
      for (std::uint32_t k = 0; k < op.arity; ++k) arguments.push_back(&parts_.fixed[x[k][op.operands[k].stride == 0 ? 0 : i]]);
      double value = 0;
      op.what->entries->values(1, arguments.data(), &value);
      place[op.result + i] = constant(value);
    }
    return;
  }
  operation now = op;
  for (std::uint32_t k = 0; k < op.arity; ++k) now.operands[k] = dense(x[k], op.operands[k]);
  const std::vector<std::uint32_t>& from = p.code().integers;
  std::vector<std::uint32_t> integers(from.begin() + op.data, from.begin() + op.data + op.data_count);
  if (op.what == &kernels::external) {
    parts_.code.externals.push_back(p.code().externals[integers[0]]);
    integers[0] = static_cast<std::uint32_t>(parts_.code.externals.size() - 1);
  }
  const slot first = added(now, std::move(integers));
  for (std::uint32_t i = 0; i < op.count; ++i) place[op.result + i] = first + i;
}

AGRAD_INLINE std::vector<slot> loop_writer::write_loop(const scan_operation& loop, const std::vector<slot>& operand) {
  const scan_loop& how = loop.loop();
  const auto part = [&](std::size_t begin, std::size_t n) {
    const auto from = operand.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<slot>(from, from + static_cast<std::ptrdiff_t>(n));
  };
  const std::vector<slot> captured = part(how.carry, loop.captured());
  std::vector<slot> carry = part(0, how.carry), results(loop.output_size());
  for (std::size_t step = 0; step < how.length; ++step) {
    std::vector<slot> local = carry;
    const std::size_t entry = how.entry(step);
    if (how.counts) local.push_back(constant(how.first + static_cast<double>(entry)));
    std::size_t begin = how.carry + captured.size();
    for (const scan_loop::sequence& x : how.xs) {
      for (std::size_t i = entry * x.size; i < (entry + 1) * x.size; ++i)
        local.push_back(x.is_constant ? constant(x.constants[i]) : operand[begin + i]);
      if (!x.is_constant) begin += x.size * how.length;
    }
    const std::vector<slot> outputs = write_step(loop, local, captured);
    std::copy_n(outputs.begin(), how.carry, carry.begin());
    std::size_t output = how.carry, first = how.carry;
    for (const std::size_t size : how.ys) {
      for (std::size_t i = 0; i < size; ++i) results[first + entry * size + i] = outputs[output++];
      first += size * how.length;
    }
  }
  std::copy(carry.begin(), carry.end(), results.begin());
  return results;
}

AGRAD_INLINE std::vector<slot> loop_writer::write_step(const scan_operation& loop, const std::vector<slot>& local,
                                                       const std::vector<slot>& captured) {
  std::vector<written> holding;
  const std::vector<body_path> paths = loop.inspected_body().paths();
  for (const body_path& path : paths) {
    std::vector<slot> inputs = local;
    inputs.insert(inputs.end(), captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(path.captured));
    written found = write(*path.code, inputs, paths.size() > 1);
    std::vector<decision> unknown;
    bool holds = true;
    for (const decision& each : found.guards) {
      if (!is_known(each.condition))
        unknown.push_back(each);
      else
        holds = holds && (parts_.fixed[each.condition] != 0) == each.value;
    }
    found.guards = std::move(unknown);
    if (holds) holding.push_back(std::move(found));
  }
  return chosen(holding);
}

AGRAD_INLINE std::vector<slot> loop_writer::chosen(const std::vector<written>& paths) {
  if (paths.empty()) refuse("an `if` has a side that was not recorded");
  if (paths.size() == 1 && paths[0].guards.empty()) return paths[0].outputs;
  // The first decision of all paths is one that all of them have, and that both of its sides follow.
  for (const decision& by : paths[0].guards) {
    std::vector<written> sides[2];
    bool is_common = true;
    for (const written& path : paths) {
      const auto is_it = [&](const decision& each) { return each.condition == by.condition; };
      const auto at = std::find_if(path.guards.begin(), path.guards.end(), is_it);
      is_common = is_common && at != path.guards.end();
      if (!is_common) break;
      written rest{{}, path.outputs};
      std::copy_if(path.guards.begin(), path.guards.end(), std::back_inserter(rest.guards), [&](auto& g) { return !is_it(g); });
      sides[at->value ? 1 : 0].push_back(std::move(rest));
    }
    if (!is_common || sides[0].empty() || sides[1].empty()) continue;
    std::vector<slot> then = chosen(sides[1]);
    const std::vector<slot> otherwise = chosen(sides[0]);
    for (std::size_t i = 0; i < then.size(); ++i) then[i] = select(by.condition, then[i], otherwise[i]);
    return then;
  }
  refuse("an `if` has a side that was not recorded");
}

AGRAD_INLINE const std::vector<operation>& loop_writer::steps_of(const program& p) {
  return steps_.try_emplace(&p, p.code()).first->second.operations();
}

AGRAD_INLINE std::vector<slot> loop_writer::operand_of(const program& p, const operation& op, std::size_t k,
                                                       const std::vector<slot>& place) {
  std::vector<slot> found;
  for (std::size_t i = 0; i < op.operands[k].count; ++i) found.push_back(place[reach::place(p.code().integers, op, k, i)]);
  return found;
}

AGRAD_INLINE span loop_writer::dense(const std::vector<slot>& slots, const span& like) {
  span x = like;
  x.listed = false;
  if (slots.empty()) return x;
  x.first = slots[0];
  for (std::size_t i = 1; i < slots.size(); ++i) {
    if (slots[i] == slots[0] + i) continue;
    operation op;
    op.what = &kernels::gather;
    op.count = op.data_count = static_cast<std::uint32_t>(slots.size());
    x.first = added(op, {slots.begin(), slots.end()});
    break;
  }
  return x;
}

AGRAD_INLINE slot loop_writer::constant(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto [at, is_new] = constants_.try_emplace(bits, static_cast<slot>(parts_.fixed.size()));
  if (is_new) parts_.fixed.push_back(value);
  return at->second;
}

AGRAD_INLINE slot loop_writer::added(operation op, std::vector<std::uint32_t> integers) {
  operation_key key{op.what, integers};
  for (std::uint32_t k = 0; k < op.arity; ++k)
    key.numbers.insert(key.numbers.end(),
                       {op.operands[k].first, op.operands[k].count, op.operands[k].stride, op.operands[k].active ? 1U : 0U});
  key.numbers.push_back(op.count);
  const auto [at, is_new] = equal_.try_emplace(std::move(key), of_results + results_);
  if (!is_new) return at->second;
  if (outermost_ != nullptr && parts_.code.operations.size() > most_operations)
    refuse("its steps have more than " + std::to_string(most_operations) + " operations");
  op.result = of_results + results_;
  op.data = static_cast<std::uint32_t>(parts_.code.integers.size());
  parts_.code.integers.insert(parts_.code.integers.end(), integers.begin(), integers.end());
  parts_.code.operations.push_back(op);
  results_ += op.count;
  return op.result;
}

AGRAD_INLINE slot loop_writer::select(slot condition, slot then, slot otherwise) {
  if (then == otherwise) return then;
  operation op;
  op.what = &kernel_of_rule<select_rule>();
  op.count = 1, op.arity = 3;
  op.operands[0] = {condition, 1, 1, false, false};
  op.operands[1] = {then, 1, 1, true, false}, op.operands[2] = {otherwise, 1, 1, true, false};
  return added(op, {});
}

AGRAD_INLINE void loop_writer::refuse(std::string reason) const { throw refused{outermost_, std::move(reason)}; }

}  // namespace agrad::detail
