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

  dot_writer(const program& f, const std::vector<drawn_group>& inputs, const std::vector<drawn_group>& outputs);
  std::string text() const { return out_.str(); }

 private:
  static std::string label(const std::string& name, std::size_t size);

  std::size_t node(const std::string& text, const char* style = "");

  void add(const operation& op);

  /// Draws a node into the frame of the group that its operation belongs to.
  void draw_group(const operation& op, std::size_t id);

  /// Adds the slots outside of the sequence that its step reads.
  void read_step(const instruction& step, const operation& sequence);

  void reads(slot s);

  /// Draws arrows from the slots read since the last call to a node; constants get a node.
  void draw_arrows(std::size_t id);

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
std::string to_dot(const program& f, const std::vector<drawn_group>& inputs, const std::vector<drawn_group>& outputs);
std::string to_dot(const program& f);

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/program/inspect/dot.ipp>
#endif
