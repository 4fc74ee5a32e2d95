// Definitions of solve/system/jumps/written_kinks.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/unrolled.hpp>
#include <agrad/program/program.hpp>
#include <agrad/program/schedule/schedule.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/rules/arithmetic.hpp>
#include <agrad/rules/piecewise.hpp>
#include <agrad/solve/system/jumps/time_course.hpp>
#include <agrad/solve/system/jumps/written_kinks.hpp>

namespace agrad {

namespace detail {

/// Writes the operations of a program again, with the same slots and further ones behind them.
class kink_writer {
 public:
  kink_writer(const program& f, std::size_t n) : f_(f), steps_(f.code()), flow_(f, marks_of(f, n)), course_(f, n) {}

  /// Returns the program; null if no operation is to be written out.
  std::shared_ptr<const program> written() {
    const std::vector<operation>& all = steps_.operations();
    if (std::none_of(all.begin(), all.end(), [&](const operation& op) { return is_written_out(op); })) return nullptr;
    parts_.fixed = f_.fixed(), parts_.size = f_.size(), parts_.inputs = f_.inputs(), parts_.outputs = f_.outputs();
    parts_.code.externals = f_.code().externals, parts_.code.integers = f_.code().integers;
    for (const operation& op : all) {
      if (!is_written_out(op))
        write(op);
      else if (op.what == &kernels::interpolation)
        write_polygon(op);
      else if (op.what == &kernels::sort_along)
        write_sorted(op);
      else
        write_extreme(op);
    }
    return program_of(level(std::move(parts_)));
  }

 private:
  static constexpr std::uint32_t longest_sorted = 24;  // by 288 comparisons
  static constexpr std::uint32_t longest_table = 256;

  static std::vector<reach::marks> marks_of(const program& f, std::size_t n) {
    std::vector<reach::marks> marks(f.input_size(), 0);
    std::fill_n(marks.begin(), 1 + n, reach::marks{1});
    return marks;
  }

  kernels::lines lines_of(const operation& op) const {
    const std::uint32_t length = f_.code().integers[op.data], inner = f_.code().integers[op.data + 1];
    const bool is_whole = op.what == &kernels::sort_along;
    return {length, inner, is_whole && length > 0 ? op.count / length : op.count};
  }

  bool is_written_out(const operation& op) const {
    const bool is_sort = op.what == &kernels::sort_along, is_polygon = op.what == &kernels::interpolation;
    if (is_polygon && op.operands[1].count > longest_table) return false;
    if (is_sort && lines_of(op).length > longest_sorted) return false;
    if (!is_sort && !is_polygon && op.what != &kernels::max_along && op.what != &kernels::min_along) return false;
    for (std::size_t i = 0; i < op.operands[0].count; ++i) {
      const slot x = reach::place(f_.code().integers, op, 0, i);
      const bool is_known = is_polygon && course_.is_linear(x);  // the times of a table in time are found before the solve
      if (flow_.of(x) != 0 && !is_known) return true;
    }
    return false;
  }

  /// Writes an operation as it is; lists, which only finished programs have, are gathered.
  void write(operation op) {
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      const span x = op.operands[k];
      if (!x.listed) continue;
      std::vector<slot> from;
      for (std::size_t i = 0; i < x.count; ++i) from.push_back(reach::place(f_.code().integers, op, k, i));
      op.operands[k] = {parts_.new_slots(x.count), x.count, 1, x.active, false};
      gather(from, op.operands[k].first);
    }
    parts_.code.operations.push_back(op);
  }

  void gather(const std::vector<slot>& from, slot to) {
    operation op;
    op.what = &kernels::gather;
    op.result = to, op.count = op.data_count = static_cast<std::uint32_t>(from.size());
    op.data = static_cast<std::uint32_t>(parts_.code.integers.size());
    parts_.code.integers.insert(parts_.code.integers.end(), from.begin(), from.end());
    parts_.code.operations.push_back(op);
  }

  /// Writes an operation on the entries of two spans; returns the first slot of the result.
  template <class Rule>
  slot write_entries(Rule, std::uint32_t count, const span& x, const span& y, slot to) {
    operation op;
    op.what = &kernel_of_rule<Rule>();
    op.result = to, op.count = count, op.arity = 2;
    op.operands[0] = x, op.operands[1] = y;
    parts_.code.operations.push_back(op);
    return to;
  }
  template <class Rule>
  slot write_entries(Rule rule, std::uint32_t count, slot x, slot y) {
    return write_entries(rule, count, {x, count, 1, true, false}, {y, count, 1, true, false}, parts_.new_slots(count));
  }
  /// Writes the larger or the smaller one of two numbers.
  slot write_of_two(bool is_max, slot x, slot y, slot to) {
    const span first{x, 1, 1, true, false}, second{y, 1, 1, true, false};
    return is_max ? write_entries(maximum_rule{}, 1, first, second, to) : write_entries(minimum_rule{}, 1, first, second, to);
  }

  /// Writes the first value and the rises over all pieces [a, b], slope (max(x, a) - max(x, b) + b - a).
  void write_polygon(const operation& op) {
    const std::uint32_t points = op.operands[1].count, pieces = points - 1;
    const slot at = op.operands[1].first, values = op.operands[2].first;
    if (pieces == 0) return write(op);
    const slot lengths = write_entries(subtract_rule{}, pieces, at + 1, at);
    const slot slopes =
        write_entries(divide_rule{}, pieces, write_entries(subtract_rule{}, pieces, values + 1, values), lengths);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const span x{op.operands[0].first + i, 1, 0, true, false};
      const slot larger = write_entries(maximum_rule{}, points, x, {at, points, 1, true, false}, parts_.new_slots(points));
      const slot passed =
          write_entries(add_rule{}, pieces, write_entries(subtract_rule{}, pieces, larger, larger + 1), lengths);
      const slot rises = write_entries(multiply_rule{}, pieces, slopes, passed);
      slot sum = values;
      for (std::uint32_t j = 0; j < pieces; ++j) {
        const slot to = j + 1 == pieces ? op.result + i : parts_.new_slots(1);
        sum = write_entries(add_rule{}, 1, {sum, 1, 1, true, false}, {rises + j, 1, 1, true, false}, to);
      }
    }
  }

  /// Returns the slots of a line.
  std::vector<slot> line(const operation& op, const kernels::lines& over, std::uint32_t i) const {
    std::vector<slot> found;
    for (std::uint32_t j = 0; j < over.length; ++j)
      found.push_back(reach::place(f_.code().integers, op, 0, over.begin(i) + std::size_t{j} * over.inner));
    return found;
  }

  void write_extreme(const operation& op) {
    const kernels::lines over = lines_of(op);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::vector<slot> x = line(op, over, i);
      slot best = x[0];
      for (std::size_t j = 1; j < x.size(); ++j) {
        const slot to = j + 1 == x.size() ? op.result + i : parts_.new_slots(1);
        best = write_of_two(op.what == &kernels::max_along, best, x[j], to);
      }
      if (x.size() == 1) gather(x, op.result + i);
    }
  }

  void write_sorted(const operation& op) {
    const kernels::lines over = lines_of(op);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      std::vector<slot> x = line(op, over, i);
      for (std::uint32_t round = 0; round < over.length; ++round)
        for (std::uint32_t j = round % 2; j + 1 < over.length; j += 2) {
          const slot low = write_of_two(false, x[j], x[j + 1], parts_.new_slots(1));
          x[j + 1] = write_of_two(true, x[j], x[j + 1], parts_.new_slots(1)), x[j] = low;
        }
      for (std::uint32_t j = 0; j < over.length; ++j)
        gather({x[j]}, op.result + static_cast<slot>(over.begin(i) + std::size_t{j} * over.inner));
    }
  }

  const program& f_;
  unrolled steps_;
  reach flow_;
  time_course course_;
  program_parts parts_;
};

}  // namespace detail

AGRAD_INLINE std::shared_ptr<const program> with_written_kinks(std::shared_ptr<const program> f, std::size_t n) {
  std::shared_ptr<const program> written = detail::kink_writer(*f, n).written();
  return written == nullptr ? f : written;
}

}  // namespace agrad
