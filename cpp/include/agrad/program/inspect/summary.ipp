// Definitions of program/inspect/summary.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/inspect/summary.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::detail {

AGRAD_INLINE std::string name_in(const operation& op, const program_code& code) {
  return std::string(op.what == &kernels::external ? code.externals[code.integers[op.data]]->name() : op.what->name);
}

AGRAD_INLINE operation_cost::operation_cost(const operation& op, const std::uint32_t* all_integers) {
  const std::uint32_t* n = all_integers + op.data;
  const auto halves = [](double terms) { return terms > 1 ? std::ceil(std::log2(terms)) : 0.0; };
  switch (op.what->depends.how) {
    case dependence::gathered:
      return;
    case dependence::grouped:
      flops = static_cast<double>(op.count) * n[0], depth = halves(n[0]);
      return;
    case dependence::product:
    case dependence::products:
      flops = 2.0 * op.count * n[1], depth = 1 + halves(n[1]);
      return;
    case dependence::terms:
      flops = 2.0 * op.arity * n[0], depth = 1 + halves(n[0]);
      return;
    case dependence::entrywise:
    case dependence::on_nothing:
      flops = op.count, depth = op.count > 0 ? 1 : 0;
      return;
    default:
      of_whole(op, n);
  }
}

AGRAD_INLINE void operation_cost::of_whole(const operation& op, const std::uint32_t* n) {
  double read = op.count;
  for (std::uint32_t k = 0; k < op.arity; ++k) read = std::max<double>(read, op.operands[k].count);
  flops = read, depth = 1;
  if (op.what->depends.how != dependence::on_everything || op.what == &kernels::external) return;
  const bool is_matrix = op.data_count >= 2 && static_cast<double>(n[0]) * n[1] == op.operands[0].count;
  const double side = is_matrix ? std::min(n[0], n[1]) : 2;
  flops *= side, depth = side;
}

AGRAD_INLINE program_reader::program_reader(const program& f)
    : f_(f), operations_(f.code()), level_(f.size(), 0), depth_(f.size(), 0) {
  sum_.inputs = f.input_size();
  sum_.outputs = f.output_size();
  sum_.dispatches = f.code().operations.size();
  sum_.constants = f.size() - f.input_size();
  for (const operation& op : operations_.operations()) add(op);
  for (const tile_group& group : f.tiles().groups())
    if (f.tiles().sum_of(group.first) == nullptr) add(group);
  for (const term_sum& sum : f.tiles().sums()) sum_.sums += 1, sum_.replaced += sum.number - sum.first;
  for (auto& [name, kind] : kinds_) sum_.kinds.push_back(std::move(kind));
  std::stable_sort(sum_.kinds.begin(), sum_.kinds.end(),
                   [](const kind_summary& a, const kind_summary& b) { return a.flops > b.flops; });
  const program_code& code = f.code();
  sum_.program_bytes = code.operations.size() * sizeof(operation) + code.integers.size() * sizeof(std::uint32_t) +
                       code.instructions.size() * sizeof(instruction) + f.size() * sizeof(double) +
                       (f.input_size() + f.output_size()) * sizeof(slot);
  sum_.workspace_bytes = (f.size() - f.fixed().shared()) * sizeof(double);
}

AGRAD_INLINE void program_reader::add(const operation& op) {
  const std::uint32_t* integers = f_.code().integers.data();
  const operation_cost cost(op, integers);
  std::size_t read = 0, longest = op.count;
  std::uint32_t level = 0;
  double depth = 0;
  each_slot_read(f_.code(), op, [&](slot s) {
    ++read;
    level = std::max(level, level_[s]);
    depth = std::max(depth, depth_[s]);
  });
  for (std::uint32_t k = 0; k < op.arity; ++k) longest = std::max<std::size_t>(longest, op.operands[k].count);
  if (op.what->depends.how != dependence::gathered && op.count > 0) ++level;
  std::fill_n(level_.begin() + op.result, op.count, level);
  std::fill_n(depth_.begin() + op.result, op.count, depth + cost.depth);
  kind_summary& kind = kinds_[name_in(op, f_.code())];
  kind.name = name_in(op, f_.code());
  kind.operations += 1;
  kind.entries += op.count;
  kind.flops += cost.flops;
  kind.bytes += static_cast<double>((read + op.count) * sizeof(double));
  sum_.operations += 1;
  sum_.spans += longest > 1 ? 1 : 0;
  sum_.longest_span = std::max(sum_.longest_span, longest);
  sum_.guards += op.what == &kernels::guard ? 1 : 0;
  sum_.levels = std::max<std::size_t>(sum_.levels, level);
  sum_.flops += cost.flops;
  sum_.depth = std::max(sum_.depth, depth + cost.depth);
  sum_.constants -= op.count;
}

AGRAD_INLINE void program_reader::add(const tile_group& group) {
  sum_.groups += 1;
  sum_.grouped += group.members.size();
  for (const tile_member& member : group.members) {
    const operation& op = f_.code().operations[member.operation];
    const double result = op.count * double{sizeof(double)};
    sum_.bytes_apart += result;
    if (!member.is_local()) sum_.bytes_in_tiles += result;
    std::size_t read = op.what == &kernels::gather ? op.count : 0, outside = read;
    for (std::uint32_t k = 0; k < op.arity; ++k) {
      read += op.operands[k].count;
      if (member.operands[k].member == tile_member::none) outside += op.operands[k].count;
    }
    sum_.bytes_apart += static_cast<double>(read * sizeof(double));
    sum_.bytes_in_tiles += static_cast<double>(outside * sizeof(double));
  }
}

}  // namespace agrad::detail
