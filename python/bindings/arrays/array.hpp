// Array: stands for a NumPy array while a Python function is recorded.
//
// An array is a shape and the slots of its entries, in C order; most arrays are consecutive slots and store only the first.
// Reshaping, slicing and joining change only slots (NumPy does this, in python/agrad), so they record nothing. Only operations
// on values are recorded: elementwise rules with broadcasting in array.cpp, all others in functions.cpp. Writing into an array
// changes its slots; copies that were read before keep the old slots.
// Read next: array_class.cpp (the Python class), program.cpp (recordings and programs).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <agrad/program/recording/record.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../../cpp/rows/rows.hpp"
#include "source.hpp"

namespace agrad::python {

using shape_type = std::vector<pybind11::ssize_t>;
using numbers_of_types = pybind11::detail::npy_api;

/// The behaviour of recorded comparisons when Python asks for their truth value.
enum class comparison {
  answers,  // the function is recorded at each call; the value decides
  guards,   // the recording is run again; the value decides, and a guard notices a later run with another value
  refuses   // the recording is run again and cannot have several paths
};

class array;

/// A recording with its data for Python.
struct recording {
  recorder code;
  comparison on_comparison = comparison::answers;
  std::string function;  // name of the recorded function, for messages
  bool is_open = true;
  bool stores_adjoints = false;               // for a reverse pass on the recording, without a program
  std::size_t depth = 0;                      // greater for recordings inside of others
  bool captures = false;                      // whether arrays of outer recordings become inputs
  bool is_body = false;                       // of a loop: captures each entry once
  bool stands_in = false;                     // for outer recordings that have ended
  bool is_tape = false;                       // in the direct style: captures arrays of outer tapes only
  std::vector<array> captured;                // captured arrays
  std::vector<slot> captured_at;              // first slot of each captured array here
  comparison_lines comparisons;               // lines where paths differ, if comparisons are guards
  std::shared_ptr<operation_watch> watching;  // watch of each operation, or null

  slot constant(double value);
  /// Returns the first of n slots with these numbers. Unchanged data from the same address have the same slots again.
  slot constants(const double* values, std::size_t n);

 private:
  struct data {
    std::size_t n;
    slot first;
  };
  std::vector<std::pair<double, slot>> constants_;  // few; equal numbers share a slot
  std::unordered_map<const double*, data> data_;
};

/// The live views of an array, which change with the array. A copy of the array has no views.
class view_list {
 public:
  view_list() = default;
  view_list(const view_list&) {}
  view_list& operator=(const view_list&) { return *this; }
  view_list(view_list&&) = default;
  view_list& operator=(view_list&&) = default;

  void add(const pybind11::object& view);
  std::vector<pybind11::object> alive();

 private:
  std::unique_ptr<std::vector<pybind11::weakref>> views_;
  std::size_t pruned_ = 0;  // number of views after dead views were removed last
};

class array {
 public:
  array(std::shared_ptr<recording> owner, shape_type shape, slot first)
      : owner_(std::move(owner)), shape_(std::move(shape)), first_(first) {}
  array(std::shared_ptr<recording> owner, shape_type shape, std::vector<slot> slots);

  const std::shared_ptr<recording>& owner() const { return owner_; }
  const shape_type& shape() const { return shape_; }
  std::size_t size() const;
  slot at(std::size_t i) const { return slots_.empty() ? first_ + static_cast<slot>(i) : slots_[i]; }
  bool is_consecutive() const { return slots_.empty(); }
  std::vector<slot> slots() const;
  bool same_entries(const array& other) const;

  /// Returns NumPy's number of the type that the array stands for; all entries are stored as float64.
  int type() const { return type_; }
  /// Returns whether the entries are booleans, 1 and 0, for & | ^ ~ and as a mask.
  bool is_condition() const { return type_ == numbers_of_types::NPY_BOOL_; }
  /// Returns whether the entries are integers or booleans that depend on no other arguments than integers and booleans. They
  /// have no derivative, and Python may read them, which makes a guard (python/agrad/_record/whole.py).
  bool is_data() const { return is_data_; }
  array& mark(bool condition) {
    type_ = condition ? numbers_of_types::NPY_BOOL_ : numbers_of_types::NPY_DOUBLE_;
    is_data_ = false;
    return *this;
  }
  array& mark_data(int type) {
    type_ = type;
    is_data_ = true;
    return *this;
  }
  array& mark_as(const array& other, bool condition = true) {
    if (condition) type_ = other.type_, is_data_ = other.is_data_;
    return *this;
  }
  /// Returns whether NumPy would make this array a view of another array. The view is base[key]; or base is empty, the view
  /// cannot be written into, and key is NumPy's array of the other array's slots, NumPy's view of these slots, and the other
  /// array.
  bool is_view() const { return is_view_; }
  const pybind11::object& base() const { return base_; }
  const pybind11::object& key() const { return key_; }
  array& mark_view(pybind11::object base = {}, pybind11::object key = {}) {
    is_view_ = true;
    base_ = std::move(base);
    key_ = std::move(key);
    return *this;
  }
  view_list& views() { return views_; }
  /// Returns the same entries in another shape, as a separate array.
  array reshaped(shape_type shape) const {
    array other(owner_, std::move(shape), first_);
    other.slots_ = slots_;
    return other.mark_as(*this);
  }
  /// Replaces the entries by the entries of an array of the same recording and shape, or one entry by a slot.
  void assign(const array& other);
  void assign(std::size_t i, slot value);

  /// Returns the array as an operand: consecutive slots, gathered if necessary (dense), or one slot for all entries.
  span as_span() const;
  span as_dense() const;

 private:
  std::shared_ptr<recording> owner_;
  shape_type shape_;
  slot first_ = 0;
  std::vector<slot> slots_;
  int type_ = numbers_of_types::NPY_DOUBLE_;
  bool is_data_ = false, is_view_ = false;
  pybind11::object base_, key_;
  view_list views_;
};

/// Returns the open recordings of this thread that are bodies of loops.
std::vector<std::shared_ptr<recording>>& open_bodies();
/// Returns whether the innermost body replaces arrays of the outer recording r by its own: in a further path, recorded after
/// the first, values from outside are constants and values that earlier paths have captured.
bool has_stand_in(const recording& r);
/// Returns an outer array as an array of the innermost open body; throws ScopeError if the body does not know the array.
array in_body(const char* function, const array& a);

/// Throws ScopeError if the recorded call has ended.
void check_open(std::string_view function, const recording& r);

/// Returns the recording for an operation on these arguments: the innermost recording of their arrays, which must be open.
std::shared_ptr<recording> recording_of(std::string_view function, const pybind11::handle* arguments, std::size_t n);
std::shared_ptr<recording> recording_of(const char* function, const pybind11::args& arguments);

/// Returns any argument as an array of the recording; numbers and NumPy arrays become constants.
array as_array(const std::shared_ptr<recording>& in, std::string_view function, pybind11::handle argument);

/// Returns the array of a Python object of class Array; null for all other objects.
const array* recorded(pybind11::handle x);
/// Returns a new Python object of class Array.
pybind11::object to_object(array a);

/// Returns the values of integers or booleans that are data as a NumPy array; in a recording that runs again with other values,
/// with a guard.
pybind11::object read(const array& data);

/// Records an elementwise rule on broadcast arguments.
array record_elementwise(const elementwise_row& row, const pybind11::handle* arguments, std::size_t n);
array record_elementwise(const elementwise_row& row, const pybind11::args& arguments);

/// Returns the broadcast shape of arrays; throws ShapeError in the function's name if there is none.
shape_type broadcast_shape(std::string_view function, const array* const* x, std::size_t n);
shape_type broadcast_shape(std::string_view function, const std::vector<array>& x);
/// Returns the slots of an array broadcast to a shape: strides are 0 in dimensions of length 1 or without a counterpart.
std::vector<slot> broadcast_slots(const array& a, const shape_type& shape);

/// Returns the product of vectors, matrices and stacks of matrices, as np.matmul.
array matmul(const pybind11::handle& a, const pybind11::handle& b);

std::size_t size_of(const shape_type& shape);
std::string to_text(const shape_type& shape);

void register_array(pybind11::module_& m);
void register_functions(pybind11::module_& m);
void register_rows(pybind11::module_& m);
void register_densities(pybind11::module_& m);
void register_multivariate(pybind11::module_& m);
void register_linalg(pybind11::module_& m);
void register_program(pybind11::module_& m);
void register_products(pybind11::module_& m);  // after register_program
void register_sparse(pybind11::module_& m);    // after register_program
void register_solve_operation(pybind11::module_& m);
void register_ode(pybind11::module_& m);         // after register_solve_operation
void register_events(pybind11::module_& m);      // after register_ode
void register_solve_many(pybind11::module_& m);  // after register_events
void register_callback(pybind11::module_& m);
void register_body(pybind11::module_& m);         // after register_program
void register_batch(pybind11::module_& m);        // after register_program
void register_derivatives(pybind11::module_& m);  // after register_program
void register_debug(pybind11::module_& m);        // after register_program
void register_describe(pybind11::module_& m);     // after register_program
void register_pickle(pybind11::module_& m);       // after register_program
void register_call(pybind11::module_& m);         // after register_program
void register_c_function(pybind11::module_& m);   // after register_program

}  // namespace agrad::python

/// Makes arrays for Python by `to_object`, always as copies: pybind11's own way, with its table of all objects by address,
/// costs a fifth of the time to record an operation.
template <>
struct pybind11::detail::type_caster<agrad::python::array> : type_caster_base<agrad::python::array> {
  using type_caster_base::cast;
  static handle cast(const agrad::python::array& a, return_value_policy, handle) {
    return agrad::python::to_object(a).release();
  }
  static handle cast(agrad::python::array&& a, return_value_policy, handle) {
    return agrad::python::to_object(std::move(a)).release();
  }
};
