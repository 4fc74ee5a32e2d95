// Definitions of solve/system/jumps/held_code.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/comparison.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/jumps/kinks.hpp>
#include <agrad/solve/system/jumps/needed_operations.hpp>
#include <agrad/solve/system/jumps/time_course.hpp>

namespace agrad {

namespace detail {

/// Finds the entries of a right-hand side that are to be held.
class held_search {
 public:
  held_search(const program& f, std::size_t n, held_kind kind)
      : f_(f), n_(n), with_kinks_(kind == held_kind::jumps_and_kinks), steps_(f.code()) {}

  std::vector<held_entry> entries() {
    const auto may_hold = [&](const operation& op) { return may_hold_at(jump_site_of(op)); };
    const std::vector<operation>& all = steps_.operations();
    if (std::none_of(all.begin(), all.end(), may_hold)) return {};
    std::vector<reach::marks> marks(f_.input_size(), 0);
    std::fill_n(marks.begin() + 1, n_, of_state);
    marks[0] = of_time;
    const reach flow(f_, marks);
    const time_course course(f_, n_), with_states(f_, n_, true);
    kinks continuous(f_, all);
    std::vector<held_entry> found;
    for (const operation& op : all) {
      const jump_site site = jump_site_of(op);
      if (!may_hold_at(site)) continue;
      for (std::size_t i = 0; i < op.count; ++i) {
        const slot x = reach::place(f_.code().integers, op, 0, i);
        const slot y = site.has_other ? reach::place(f_.code().integers, op, 1, i) : x;
        reach::marks both = flow.of(x) | flow.of(y);
        if (site.kind == jump_site::lookup)
          for (slot k = 0; k < op.operands[1].count; ++k)
            if (flow.of(op.operands[1].first + k) != 0) both |= of_state;
        const bool is_known = (both & of_state) == 0 && course.is_linear(x) && course.is_linear(y);
        const bool is_linear = with_states.is_linear(x) && with_states.is_linear(y) && site.kind != jump_site::quotient;
        held_entry entry{site, op.what, x, y, static_cast<slot>(op.result + i), is_linear, site.is_kink, text_of(op, x, y)};
        // Both stay as they are until an entry within them passes its own place, where this one is computed anew.
        const bool follows = with_states.is_constant(x) && with_states.is_constant(y);
        if (both != 0 && !is_known && site.kind == jump_site::lookup) fail_lookup();
        const bool can_meet = !is_infinite(x) && !is_infinite(y);
        if (both == 0 || is_known || follows || !can_meet) continue;
        entry.is_kink = entry.is_kink || continuous.is_kink(entry);
        if (!entry.is_kink || with_kinks_) found.push_back(entry);
      }
    }
    return found;
  }

 private:
  enum mark : reach::marks { of_time = 1, of_state = 2 };

  [[noreturn]] AGRAD_COLD static void fail_lookup() {
    throw DomainError(
        "np.searchsorted: argument in a right-hand side depends on a state, or not linearly on t, but must be linear in t for "
        "a table that depends on neither; sum comparisons, (y[0] > limits).sum()");
  }

  /// Returns an operation in the user's words; a value that is no state, time, parameter or constant is an ellipsis.
  std::string text_of(const operation& op, slot x, slot y) const {
    const jump_site site = jump_site_of(op);
    const std::string name(op.what->name), first = text_of(x), second = text_of(y);
    if (!site.has_other) return name + "(" + first + ")";
    const std::pair<std::string_view, const char*> signs[] = {
        {"less", " < "}, {"less_equal", " <= "}, {"greater", " > "}, {"greater_equal", " >= "}};
    for (const auto& [of, sign] : signs)
      if (name == of) return first + sign + second;
    return name + "(" + first + ", " + second + ")";
  }
  std::string text_of(slot s) const {
    const auto at = std::find(f_.inputs().begin(), f_.inputs().end(), s);
    if (at == f_.inputs().end()) return s < f_.fixed().size() ? detail::to_text(f_.fixed()[s]) : "...";
    const auto i = static_cast<std::size_t>(at - f_.inputs().begin());
    return i == 0 ? "t" : i <= n_ ? "y[" + std::to_string(i - 1) + "]" : "parameter " + std::to_string(i - 1 - n_);
  }

  /// Returns whether a slot is a constant that no number reaches.
  bool is_infinite(slot s) const {
    const bool is_input = std::find(f_.inputs().begin(), f_.inputs().end(), s) != f_.inputs().end();
    return s < f_.fixed().size() && !is_input && !std::isfinite(f_.fixed()[s]);
  }

  bool may_hold_at(const jump_site& site) const {
    return site.kind != jump_site::none && (!site.is_kink || (with_kinks_ && site.kind == jump_site::side));
  }

  const program& f_;
  std::size_t n_;
  bool with_kinks_;
  unrolled steps_;
};

/// Writes the operations of a program again, with the held sides as further inputs behind the fixed slots.
class held_writer {
 public:
  held_writer(const program& f, const std::vector<held_entry>& entries)
      : f_(f), first_(static_cast<slot>(f.fixed().size())), count_(static_cast<slot>(entries.size())) {
    for (slot k = 0; k < count_; ++k) place_.emplace_back(entries[k].result, k);
    std::sort(place_.begin(), place_.end());
    parts_.fixed = f.fixed();
    parts_.fixed.resize(parts_.fixed.size() + count_, 0.0);
    parts_.size = f.size() + count_;
    parts_.code.externals = f.code().externals;
    for (const slot s : f.inputs()) parts_.inputs.push_back(now(s));
    for (slot k = 0; k < count_; ++k) parts_.inputs.push_back(first_ + k);
    const unrolled steps(f.code());
    for (const operation& op : steps.operations()) write(op);
  }

  /// Returns the program of these slots of the original program.
  std::shared_ptr<const program> with_outputs(const std::vector<slot>& outputs) const {
    program_parts parts = parts_;
    parts.outputs.clear();
    for (const slot s : outputs) parts.outputs.push_back(now(s));
    keep_needed(parts);
    return program_of(level(std::move(parts)));
  }

 private:
  slot now(slot s) const { return s < first_ ? s : s + count_; }

  /// Returns the place of the held side of a slot, or count_.
  slot held(slot s) const {
    const auto at = std::lower_bound(place_.begin(), place_.end(), std::pair<slot, slot>(s, 0));
    return at != place_.end() && at->first == s ? at->second : count_;
  }

  void write(const operation& op) {
    slot any = count_;
    bool all = true;
    for (slot i = 0; i < op.count; ++i) {
      const slot k = held(op.result + i);
      any = std::min(any, k), all = all && k != count_;
    }
    if (any == count_) return write_whole(op);
    const jump_site site = jump_site_of(op);
    for (slot i = 0; i < op.count; ++i) {
      const slot k = held(op.result + i);
      if (k == count_)
        write_whole(entry_of(op, i));
      else if (site.is_rest)
        write_rest(entry_of(op, i), first_ + k);
      else if (site.is_kink)
        write_branch(entry_of(op, i), first_ + k, site.has_other);
      else
        gather({first_ + k}, now(op.result + i));
    }
  }

  /// Returns entry i of an entrywise operation, in the original program's slots.
  operation entry_of(operation op, slot i) const {
    for (std::uint32_t k = 0; k < op.arity; ++k)
      op.operands[k] = {reach::place(f_.code().integers, op, k, i), 1, 1, op.operands[k].active, false};
    op.result += i, op.count = 1;
    return op;
  }

  void write_whole(operation op) {
    const std::vector<std::uint32_t>& from = f_.code().integers;
    std::vector<std::uint32_t> integers(from.begin() + op.data, from.begin() + op.data + op.data_count);
    if (op.what->depends.how == dependence::gathered)
      for (std::uint32_t& s : integers) s = now(s);
    for (std::uint32_t k = 0; k < op.arity; ++k) op.operands[k] = moved(op, k);
    op.result = now(op.result);
    op.data = static_cast<std::uint32_t>(parts_.code.integers.size());
    parts_.code.integers.insert(parts_.code.integers.end(), integers.begin(), integers.end());
    parts_.code.operations.push_back(op);
  }

  /// Returns operand k with the new slots. Lists, which only finished programs have, and spans across the held sides are
  /// gathered.
  span moved(const operation& op, std::uint32_t k) {
    const span& x = op.operands[k];
    const bool is_split = !x.listed && x.stride != 0 && x.first < first_ && x.first + x.count > first_;
    if (!x.listed && !is_split) return {now(x.first), x.count, x.stride, x.active, false};
    std::vector<slot> from;
    for (std::size_t i = 0; i < x.count; ++i) from.push_back(now(reach::place(f_.code().integers, op, k, i)));
    const slot to = parts_.new_slots(x.count);
    gather(from, to);
    return {to, x.count, 1, x.active, false};
  }

  void gather(const std::vector<slot>& from, slot to) {
    operation op;
    op.what = &kernels::gather;
    op.result = to, op.count = op.data_count = static_cast<std::uint32_t>(from.size());
    op.data = static_cast<std::uint32_t>(parts_.code.integers.size());
    parts_.code.integers.insert(parts_.code.integers.end(), from.begin(), from.end());
    parts_.code.operations.push_back(op);
  }

  /// Returns the product of a held side and a number.
  static operation product_of(slot side, const span& x, slot result) {
    operation product;
    product.what = &kernel_of_rule<multiply_rule>();
    product.result = result, product.count = 1, product.arity = 2;
    product.operands[0] = {side, 1, 1, false, false}, product.operands[1] = x;
    return product;
  }

  /// Writes the branch that a side tells: x or y, or x times a sign.
  void write_branch(const operation& op, slot side, bool has_other) {
    const span x = moved(op, 0);
    operation branch = product_of(side, x, now(op.result));
    if (has_other) {
      branch.what = &kernel_of_rule<select_rule>(), branch.arity = 3;
      branch.operands[1] = x, branch.operands[2] = moved(op, 1);
    }
    parts_.code.operations.push_back(branch);
  }

  /// Writes x - q y for a remainder of x by y with the held quotient q.
  void write_rest(const operation& op, slot q) {
    const span x = moved(op, 0), y = moved(op, 1);
    const operation product = product_of(q, y, parts_.new_slots(1));
    operation rest = product;
    rest.what = &kernel_of_rule<subtract_rule>(), rest.result = now(op.result);
    rest.operands[0] = x, rest.operands[1] = {product.result, 1, 1, y.active, false};
    parts_.code.operations.insert(parts_.code.operations.end(), {product, rest});
  }

  const program& f_;
  slot first_, count_;
  std::vector<std::pair<slot, slot>> place_;  // held results and their numbers, in order of the results
  program_parts parts_;
};

}  // namespace detail

AGRAD_INLINE double held_entry::side_at(double x_value, double y_value) const {
  const double y_given = site.has_other ? y_value : 0;  // a step's value at zero counts nowhere else
  const double* const arguments[] = {&x_value, &y_given};
  double value = 0;
  what->entries->values(1, arguments, &value);
  const bool is_x = value == x_value || (std::isnan(value) && std::isnan(x_value));
  if (site.is_kink) return is_x ? 1 : site.has_other ? 0 : -1;
  return site.is_rest ? std::rint((x_value - value) / y_value) : value;
}

AGRAD_INLINE held_code held_code_of(const program& f, std::size_t n, held_kind kind) {
  held_code code;
  code.entries = detail::held_search(f, n, kind).entries();
  if (code.entries.empty()) return code;
  std::vector<slot> sides, results;
  for (const held_entry& each : code.entries) {
    sides.insert(sides.end(), {each.x, each.y});
    results.insert(results.end(), {each.x, each.y, each.result});
  }
  const detail::held_writer writer(f, code.entries);
  code.f = writer.with_outputs(f.outputs());
  code.sides = writer.with_outputs(sides);
  code.plain = detail::held_writer(f, {}).with_outputs(results);
  return code;
}

}  // namespace agrad
