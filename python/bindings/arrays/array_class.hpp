// Functions that the files of the Python class Array share.
#pragma once

#include "array.hpp"

namespace agrad::python {

pybind11::array_t<slot> slots_of(const array& a);

/// Returns an array of the entries at `slots`, in the recording of a.
array with_slots(const array& a, const pybind11::array_t<slot, pybind11::array::c_style | pybind11::array::forcecast>& slots);

/// Computes self op= other: replaces self's entries by the result's and returns self; if self is a number, returns the result.
pybind11::object assign_in_place(const pybind11::object& self, const pybind11::object& result);

/// Updates the views of an array after its entries have changed.
void refresh_views(const pybind11::object& self);

void add_indexing(pybind11::class_<array>& type);

}  // namespace agrad::python
