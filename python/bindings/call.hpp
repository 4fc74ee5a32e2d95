// Call: calls a compiled function with Python objects, without Python code in between.
//
// A plan stores the data of one signature: the shape of the arguments' tree, the programs of its paths and the shape of the
// result's tree. A call that fits a plan copies its numbers directly to a workspace, runs, and builds the result;
// python/agrad/_transforms/compiled/compile.py handles all other calls in Python and makes plans. Trees are small: dicts, lists
// and tuples as in Python, numbers and arrays as leaves, and constants for which the function was recorded.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "pool.hpp"

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

/// Copies the numbers of `given` to their places in x; returns whether `given` has the tree's shape.
bool read(const tree_node& node, PyObject* given, double* x);

/// Builds the tree with numbers and new arrays from `from`.
pybind11::object build(const tree_node& node, const double* from);

/// Does the same as `build`, into the arrays that an earlier call built; containers are built anew.
pybind11::object rebuild(const tree_node& node, PyObject* earlier, const double* from);

/// The result of a call. The last argument of a Hessian product is the vector, whose numbers follow the inputs.
enum class result_kind { values, value_and_gradient, gradient, hessian_product };

class call_plan {
 public:
  call_plan(const pybind11::tuple& arguments, result_kind what, std::size_t inputs)
      : arguments_(node_of(arguments)), what_(what), inputs_(inputs) {}

  /// Adds a path: its program, and the result's tree.
  void add_path(std::shared_ptr<pooled_program> program, const pybind11::tuple& result) {
    paths_.push_back(std::make_shared<const path>(path{std::move(program), node_of(result)}));
  }

  /// Returns the result for a tuple of arguments, or null if the arguments do not fit or no path holds.
  pybind11::object call(PyObject* arguments, PyObject* earlier = nullptr) const;

  /// Records a use; `last_used` orders plans by their last use. Needs the interpreter lock.
  void used() const { last_used_ = ++uses_; }
  std::uint64_t last_used() const { return last_used_; }

 private:
  static inline std::uint64_t uses_ = 0;
  mutable std::uint64_t last_used_ = 0;
  struct path {
    std::shared_ptr<pooled_program> program;
    tree_node result;
  };
  pybind11::object run(const path& p, const double* x, PyObject* earlier) const;
  std::size_t numbers() const { return what_ == result_kind::hessian_product ? 2 * inputs_ : inputs_; }

  tree_node arguments_;
  result_kind what_;
  std::size_t inputs_;
  std::vector<std::shared_ptr<const path>> paths_;
};

}  // namespace agrad::python
