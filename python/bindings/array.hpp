// Array: what stands for a NumPy array while a Python function is recorded.
//
// An array is a shape and the slots of its entries, in C order; most arrays are consecutive slots and keep only the first.
// Reshaping, slicing and joining happen on the slots (NumPy does them, in python/agrad), so they record nothing. Only
// operations on values are recorded: elementwise rules with broadcasting in array.cpp, all others in functions.cpp. Writing into
// an array changes which slots it has; what was read from it before keeps its own.
// Read next: array_class.cpp (the Python class), program.cpp (what becomes of a recording).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <agrad/program/machine/record.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../cpp/rows/rows.hpp"
#include "source.hpp"

namespace agrad::python {

using shape_type = std::vector<pybind11::ssize_t>;

/// What a comparison of recorded values does when Python asks for its truth.
enum class comparison {
  answers,  // the function is recorded at each call: the value decides
  guards,   // the recording is run again: the value decides, and a later run that decides otherwise is noticed
  refuses   // the recording is run again where no other path can be taken
};

class array;

/// A recording with what Python needs around it.
struct recording {
  recorder code;
  comparison on_comparison = comparison::answers;
  std::string function;  // whose recording it is, for messages
  bool is_open = true;
  bool keeps_adjoints = false;    // swept back where it stands, without a program
  std::size_t depth = 0;          // recordings inside of others are deeper
  bool captures = false;          // arrays of recordings around it become inputs
  bool is_body = false;           // of a loop: entries that are known already are captured once
  bool stands_in = false;         // for recordings around it that have ended
  bool is_tape = false;           // written in the direct style: captures arrays of tapes around it, and of nothing else
  std::vector<array> captured;    // those arrays
  std::vector<slot> captured_at;  // and where each of them begins here
  comparison_lines comparisons;   // where paths part, if comparisons are guards
  std::shared_ptr<operation_watch> watching;  // what looks at each operation, if anything does

  slot constant(double value);
  /// n numbers in slots of their own. Data that come again from the same place, unchanged, have the slots that they had.
  slot constants(const double* values, std::size_t n);

 private:
  struct data {
    std::size_t n;
    slot first;
  };
  std::vector<std::pair<double, slot>> constants_;  // few; the same number is one slot
  std::unordered_map<const double*, data> data_;
};

/// The live views of an array, which see what is written into it. A copy of the array has none.
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
  std::size_t pruned_ = 0;  // how many were left when the dead ones were thrown out
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

  /// Whether its entries are truths, 1 and 0, for & | ^ ~ and as a mask.
  bool is_condition() const { return is_condition_; }
  array& mark(bool condition) {
    is_condition_ = condition;
    return *this;
  }
  /// Whether NumPy would make it a view of another array. If so: base[key], or without a base one that cannot be written into,
  /// and key is NumPy's array of that one's slots, NumPy's view of it, and that one.
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
  /// The same entries in another shape, as an array of its own.
  array reshaped(shape_type shape) const {
    array other(owner_, std::move(shape), first_);
    other.slots_ = slots_;
    other.is_condition_ = is_condition_;
    return other;
  }
  /// Replaces the entries by those of an array of the same recording and shape, or one of them by a slot.
  void assign(const array& other);
  void assign(std::size_t i, slot value);

  /// As operand of an operation: consecutive slots, gathered if need be (dense), or one slot for all entries.
  span as_span() const;
  span as_dense() const;

 private:
  std::shared_ptr<recording> owner_;
  shape_type shape_;
  slot first_ = 0;
  std::vector<slot> slots_;
  bool is_condition_ = false, is_view_ = false;
  pybind11::object base_, key_;
  view_list views_;
};

/// The open recordings of this thread that are bodies of loops.
std::vector<std::shared_ptr<recording>>& open_bodies();
/// Whether arrays of a recording around are used here as a body has them: in a further path, recorded after the first, values
/// from around are those that earlier paths have captured, and constants.
bool has_stand_in(const recording& r);
/// An array from around the innermost open body as one of the body's; throws ScopeError where it is not known there.
array in_body(const char* function, const array& a);

/// Throws ScopeError when the call that recorded has ended.
void check_open(std::string_view function, const recording& r);

/// The recording that an operation on these arguments belongs to: the innermost of its arrays'; it must be open.
std::shared_ptr<recording> recording_of(std::string_view function, const pybind11::handle* arguments, std::size_t n);
std::shared_ptr<recording> recording_of(const char* function, const pybind11::args& arguments);

/// Any argument as an array of the recording: arrays of it as they are, numbers and NumPy arrays as constants.
array as_array(const std::shared_ptr<recording>& in, std::string_view function, pybind11::handle argument);

/// The array that a Python object is; null for all others.
const array* recorded(pybind11::handle x);

/// Records an elementwise rule on broadcast arguments.
array record_elementwise(const elementwise_row& row, const pybind11::handle* arguments, std::size_t n);
array record_elementwise(const elementwise_row& row, const pybind11::args& arguments);

/// The shape that arrays have together; throws ShapeError in the function's name unless they broadcast.
shape_type broadcast_shape(std::string_view function, const array* const* x, std::size_t n);
shape_type broadcast_shape(std::string_view function, const std::vector<array>& x);
/// The slots of an array broadcast to a shape: strides of 0 where it has length 1 or no dimension.
std::vector<slot> broadcast_slots(const array& a, const shape_type& shape);

/// Product of vectors, matrices and stacks of matrices, as np.matmul.
array matmul(const pybind11::handle& a, const pybind11::handle& b);

std::size_t size_of(const shape_type& shape);
std::string to_text(const shape_type& shape);

void register_array(pybind11::module_& m);
void register_functions(pybind11::module_& m);
void register_rows(pybind11::module_& m);
void register_densities(pybind11::module_& m);
void register_linalg(pybind11::module_& m);
void register_program(pybind11::module_& m);
void register_products(pybind11::module_& m);  // after register_program
void register_sparse(pybind11::module_& m);    // after register_program
void register_ode(pybind11::module_& m);
void register_events(pybind11::module_& m);      // after register_ode
void register_solve_many(pybind11::module_& m);  // after register_events
void register_callback(pybind11::module_& m);
void register_scan(pybind11::module_& m);         // after register_program
void register_batch(pybind11::module_& m);        // after register_program
void register_derivatives(pybind11::module_& m);  // after register_program
void register_debug(pybind11::module_& m);        // after register_program
void register_describe(pybind11::module_& m);     // after register_program
void register_kept(pybind11::module_& m);         // after register_program
void register_call(pybind11::module_& m);         // after register_program

}  // namespace agrad::python
