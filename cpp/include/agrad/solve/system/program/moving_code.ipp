// Definitions of solve/system/program/moving_code.hpp.
#pragma once

#include <algorithm>

#include <agrad/base/inline.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/sparse/reach.hpp>
#include <agrad/solve/system/program/moving_code.hpp>

namespace agrad {

namespace detail {

/// Writes the runs of steps that move as straight code of their own.
template <class Moves>
void write_moving_steps(const program_code& from, const operation& op, const Moves& moves, program_code& to) {
  for (std::uint32_t begin = 0; begin < op.count;) {
    if (!moves(op.result + begin)) {
      ++begin;
      continue;
    }
    std::uint32_t end = begin;
    while (end < op.count && moves(op.result + end)) ++end;
    operation part = op;
    part.result = op.result + begin, part.count = end - begin;
    to.instructions.push_back({&straight_stop::steps, {}});
    part.data = static_cast<std::uint32_t>(to.instructions.size());
    const auto first = from.instructions.begin() + op.data;
    to.instructions.insert(to.instructions.end(), first + begin, first + end);
    to.instructions.push_back({&straight_stop::steps, {}});
    to.operations.push_back(part);
    begin = end;
  }
}

}  // namespace detail

AGRAD_INLINE std::shared_ptr<const program_code> moving_code(const program& f, std::size_t moving) {
  std::vector<reach::marks> of_inputs(f.input_size(), 0);
  std::fill_n(of_inputs.begin(), moving, reach::marks{1});
  const reach flow(f, of_inputs);
  const auto moves = [&](slot s) { return flow.of(s) != 0; };
  const program_code& from = f.code();
  auto to = std::make_shared<program_code>();
  bool stays = false;
  for (const operation& op : from.operations) {
    const auto moving_results = [&] {
      std::uint32_t count = 0;
      for (std::uint32_t i = 0; i < op.count; ++i) count += moves(op.result + i) ? 1U : 0U;
      return count;
    }();
    const bool is_whole = op.count == 0 || moving_results == op.count || (moving_results > 0 && op.what != &kernels::straight);
    stays = stays || !is_whole;
    if (is_whole && op.what != &kernels::straight)
      to->operations.push_back(op);
    else
      detail::write_moving_steps(from, op, moves, *to);
  }
  if (!stays) return nullptr;
  to->integers = from.integers;
  to->externals = from.externals;
  return to;
}

}  // namespace agrad
