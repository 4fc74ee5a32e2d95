// Call tree: the trees of a compiled function's arguments and results, and the copies between them and programs' numbers.
//
// Trees are small: dicts, lists and tuples as in Python, numbers and arrays as leaves, and constants for which the function
// was recorded.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

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

/// Returns the numbers of an array where they lie, if it has the node's shape and doubles of native byte order side by side;
/// else null.
const double* numbers_in_place(const tree_node& node, PyObject* given);

/// Copies the numbers of `given` to their places in x; returns whether `given` has the tree's shape.
bool read(const tree_node& node, PyObject* given, double* x);

/// Builds the tree with numbers and new arrays from `from`.
pybind11::object build(const tree_node& node, const double* from);

/// Does the same as `build`, into the arrays that an earlier call built; containers are built anew.
pybind11::object rebuild(const tree_node& node, PyObject* earlier, const double* from);

}  // namespace agrad::python
