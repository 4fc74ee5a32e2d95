// Call tree: the trees of a compiled function's arguments and results, and the copies between them and programs' numbers.
//
// Trees are small: dicts, lists and tuples as in Python, numbers and arrays as leaves, and constants for which the function
// was recorded.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <agrad/program/tiles/slot_list.hpp>

namespace agrad::python {

/// The size up to which integers are inputs of programs; sums and differences of two, and floors of quotients, are exact in
/// double.
inline constexpr std::int64_t largest_whole = std::int64_t{1} << 51;

/// A node of an argument's or a result's tree.
struct tree_node {
  enum class kind { number, array, dict, list, tuple, constant };
  kind what = kind::constant;
  std::size_t place = 0;  // of a leaf: its first number among the program's numbers
  std::size_t size = 0;   // of a leaf
  std::vector<pybind11::ssize_t> shape;
  pybind11::dtype type = pybind11::dtype::of<double>();  // of an argument's array
  pybind11::object constant;                             // the constant; for a dict the tuple of its keys
  std::vector<tree_node> children;
};

/// Returns the node that nested tuples describe: ("number", place), ("array", place, shape) and behind it the dtype of an
/// argument, ("dict", keys, children), ("list", children), ("tuple", children), ("constant", object).
tree_node node_of(const pybind11::tuple& description);

/// The most numbers that are on the stack; larger arrays are read and written where they lie.
inline constexpr std::size_t few = 64;

/// Whether runs read or write the numbers of a leaf where they lie, instead of a copy.
inline bool stays_in_place(const tree_node& node) { return node.what == tree_node::kind::array && node.size > few; }

/// Copies the numbers of `given` to their places in x; returns whether `given` has the tree's shape. With `parts`, large arrays
/// of doubles are not copied: their numbers are added to the parts where they lie.
bool read(const tree_node& node, PyObject* given, double* x, list_sources* parts = nullptr);

/// The arrays of a result that a run writes to, in the order of the tree.
struct result_arrays {
  list_targets parts;
  std::vector<pybind11::object> arrays;
  std::size_t built = 0;
};

/// Adds arrays for the large leaves of a result, new ones or those of an earlier result.
void add_arrays(const tree_node& node, PyObject* earlier, result_arrays& to);

/// Builds the tree with numbers and new arrays from `from`, and with the arrays that a run has written to.
pybind11::object build(const tree_node& node, const double* from, result_arrays& written);

/// Does the same as `build`, into the arrays that an earlier call built; containers are built anew.
pybind11::object rebuild(const tree_node& node, PyObject* earlier, const double* from, result_arrays& written);

/// Adds what lies between and behind the parts, of n numbers in all, from or to x. Trees may have their leaves in another order
/// than programs.
template <class Number>
void add_rest(std::vector<list_part<Number>>& parts, Number* x, std::size_t n) {
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const std::size_t large = parts.size();
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= large; ++i) {
    const std::size_t end = i < large ? parts[i].begin : n;
    if (end > begin) parts.push_back({x + begin, begin, end - begin});
    if (i < large) begin = parts[i].begin + parts[i].count;
  }
}

}  // namespace agrad::python
