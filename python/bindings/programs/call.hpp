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

#include "call_tree.hpp"
#include "pool.hpp"

namespace agrad::python {

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
  /// The numbers of the arguments: side by side, or where they lie if some are in large arrays.
  struct numbers_of_call {
    const double* data;
    list_sources parts;

    template <class Use>
    void with_place(const Use& use) const {
      parts.empty() ? use(data) : use(parts);
    }
  };
  pybind11::object run(const path& p, const numbers_of_call& x, PyObject* earlier) const;
  std::size_t numbers() const { return what_ == result_kind::hessian_product ? 2 * inputs_ : inputs_; }

  tree_node arguments_;
  result_kind what_;
  std::size_t inputs_;
  std::vector<std::shared_ptr<const path>> paths_;
};

}  // namespace agrad::python
