// Dot: the drawing of a program, as text for Graphviz (https://graphviz.org/doc/info/lang.html).
//
// Boxes are operations; ellipses are inputs, outputs and constants; the label of an arrow is the number of values if there are
// several. Small programs are drawn with each step of straight code as a box, larger programs with straight code as one box.
// Read first: program/inspect/summary.hpp.
#pragma once

#include <agrad/program/inspect/describe.hpp>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace agrad {

/// Consecutive inputs or outputs with one name.
struct drawn_group {
  std::string name;
  std::size_t size;
};

namespace detail {

class dot_writer {
 public:
  /// The most operations for which steps of straight code are boxes.
  static constexpr std::size_t most_steps = 500;

  dot_writer(const program& f, const std::vector<drawn_group>& inputs, const std::vector<drawn_group>& outputs)
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
  std::string text() const { return out_.str(); }

 private:
  static std::string label(const std::string& name, std::size_t size) {
    return size <= 1 ? name : name + " \u00d7 " + std::to_string(size);
  }

  std::size_t node(const std::string& text, const char* style = "") {
    out_ << "  n" << ++last_ << " [label=\"";
    for (const char c : text) out_ << (c == '"' || c == '\\' ? "\\" : "") << c;
    out_ << "\"" << style << "];\n";
    return last_;
  }

  void add(const operation& op) {
    const std::uint32_t* integers = f_.code().integers.data();
    if (op.what == &kernels::straight)
      for (std::uint32_t i = 0; i < op.count; ++i) read_step(f_.code().instructions[op.data + i], op);
    else
      each_slot_read(op, integers, [&](slot s) { reads(s); });
    const std::size_t id = node(label(name_in(op, f_.code()), op.count), op.what == &kernels::guard ? ", style=dashed" : "");
    draw_arrows(id);
    std::fill_n(maker_.begin() + op.result, op.count, id);
  }

  /// Adds the slots outside of the sequence that its step reads.
  void read_step(const instruction& step, const operation& sequence) {
    for (std::uint32_t k = 0; k < step.what->entries->arity; ++k)
      if (step.x[k] < sequence.result || step.x[k] >= sequence.result + sequence.count) reads(step.x[k]);
  }

  void reads(slot s) {
    if (maker_[s] != 0)
      ++arrows_[maker_[s]];
    else
      constants_.push_back(s);
  }

  /// Draws arrows from the slots read since the last call to a node; constants get a node.
  void draw_arrows(std::size_t id) {
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

  const program& f_;
  unrolled apart_;
  std::vector<std::size_t> maker_;  // of each slot: the node, 0 for constants
  std::map<std::size_t, std::size_t> arrows_;
  std::vector<slot> constants_;
  std::size_t last_ = 0;
  std::ostringstream out_;
};

}  // namespace detail

/// Returns the program as a graph. inputs, outputs: names for groups of consecutive slots, which together are all inputs or
/// outputs.
inline std::string to_dot(const program& f, const std::vector<drawn_group>& inputs, const std::vector<drawn_group>& outputs) {
  return detail::dot_writer(f, inputs, outputs).text();
}
inline std::string to_dot(const program& f) {
  const auto all = [](const char* name, std::size_t n) {
    return n == 0 ? std::vector<drawn_group>{} : std::vector<drawn_group>{{name, n}};
  };
  return to_dot(f, all("inputs", f.input_size()), all("outputs", f.output_size()));
}

}  // namespace agrad
