// Definitions of program/inspect/dot.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/program/inspect/dot.hpp>
#include <agrad/program/machine/straight.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::detail {

AGRAD_INLINE dot_writer::dot_writer(const program& f, const std::vector<drawn_group>& inputs,
                                    const std::vector<drawn_group>& outputs)
    : f_(f), apart_(f.code()), maker_(f.size(), 0) {
  out_ << "digraph program {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::size_t next = 0;
  for (const drawn_group& group : inputs) {
    const std::size_t id = node(label(group.name, group.size), ", shape=ellipse");
    for (std::size_t i = 0; i < group.size; ++i) maker_[f.inputs()[next++]] = id;
  }
  const auto& operations = apart_.operations().size() <= most_steps ? apart_.operations() : f.code().operations;
  for (const operation& op : operations) add(op);
  next = 0;
  for (const drawn_group& group : outputs) {
    const std::size_t id = node(label(group.name, group.size), ", shape=ellipse");
    for (std::size_t i = 0; i < group.size; ++i) reads(f.outputs()[next++]);
    draw_arrows(id);
  }
  out_ << "}\n";
}

AGRAD_INLINE std::string dot_writer::label(const std::string& name, std::size_t size) {
  return size <= 1 ? name : name + " \u00d7 " + std::to_string(size);
}

AGRAD_INLINE std::size_t dot_writer::node(const std::string& text, const char* style) {
  out_ << "  n" << ++last_ << " [label=\"";
  for (const char c : text) out_ << (c == '"' || c == '\\' ? "\\" : "") << c;
  out_ << "\"" << style << "];\n";
  return last_;
}

AGRAD_INLINE void dot_writer::add(const operation& op) {
  if (op.what == &kernels::straight)
    for (std::uint32_t i = 0; i < op.count; ++i) read_step(f_.code().instructions[op.data + i], op);
  else
    each_slot_read(f_.code(), op, [&](slot s) { reads(s); });
  const std::size_t id = node(label(name_in(op, f_.code()), op.count), op.what == &kernels::guard ? ", style=dashed" : "");
  draw_arrows(id);
  draw_group(op, id);
  std::fill_n(maker_.begin() + op.result, op.count, id);
}

AGRAD_INLINE void dot_writer::draw_group(const operation& op, std::size_t id) {
  if (op.count == 0) return;
  const auto is_of = [&](std::size_t number) { return f_.code().operations[number].result == op.result; };
  const auto frame = [&](const char* kind, std::size_t number, const char* what) {
    out_ << "  subgraph cluster_" << kind << number + 1 << " { label=\"" << what << "\"; n" << id << "; }\n";
  };
  const auto& sums = f_.tiles().sums();
  for (std::size_t s = 0; s < sums.size(); ++s)
    for (std::size_t number = sums[s].first; number <= sums[s].number; ++number)
      if (is_of(number)) return frame("formulas_", s, "formulas");
  const auto& groups = f_.tiles().groups();
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const tile_member& member : groups[g].members)
      if (is_of(member.operation)) return frame("", g, "tiles");
}

AGRAD_INLINE void dot_writer::read_step(const instruction& step, const operation& sequence) {
  for (std::uint32_t k = 0; k < step.what->entries->arity; ++k)
    if (step.x[k] < sequence.result || step.x[k] >= sequence.result + sequence.count) reads(step.x[k]);
}

AGRAD_INLINE void dot_writer::reads(slot s) {
  if (maker_[s] != 0)
    ++arrows_[maker_[s]];
  else
    constants_.push_back(s);
}

AGRAD_INLINE void dot_writer::draw_arrows(std::size_t id) {
  if (!constants_.empty()) {
    std::ostringstream value;
    value << f_.fixed()[constants_[0]];
    const std::string text = constants_.size() == 1 ? value.str() : label("constants", constants_.size());
    arrows_[node(text, ", shape=ellipse, style=dotted")] = constants_.size();
  }
  for (const auto& [from, count] : arrows_) {
    out_ << "  n" << from << " -> n" << id;
    if (count > 1) out_ << " [label=\"" << count << "\"]";
    out_ << ";\n";
  }
  arrows_.clear();
  constants_.clear();
}

}  // namespace agrad::detail

namespace agrad {

AGRAD_INLINE std::string to_dot(const program& f, const std::vector<drawn_group>& inputs,
                                const std::vector<drawn_group>& outputs) {
  return detail::dot_writer(f, inputs, outputs).text();
}

AGRAD_INLINE std::string to_dot(const program& f) {
  const auto all = [](const char* name, std::size_t n) {
    return n == 0 ? std::vector<drawn_group>{} : std::vector<drawn_group>{{name, n}};
  };
  return to_dot(f, all("inputs", f.input_size()), all("outputs", f.output_size()));
}

}  // namespace agrad
