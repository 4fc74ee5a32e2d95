// Apply: records an external operation on the entries of an array.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "../lock.hpp"
#include "array.hpp"

namespace agrad::python {

/// Records an external operation on the entries of x, without the interpreter lock; returns an array of the given shape.
inline array applied(const std::shared_ptr<const external_operation>& f, const array& x, shape_type shape) {
  std::size_t results = 1;
  for (const pybind11::ssize_t length : shape) results *= static_cast<std::size_t>(length);
  const span argument = x.as_dense();
  recording& in = *x.owner();
  slot first = 0;
  {
    const lock_left unlocked;
    first = in.code.apply(f, argument, results, in.stores_adjoints);
  }
  return array(x.owner(), std::move(shape), first);
}

/// Does the same for an operation with a known output size; returns a vector.
template <class Operation>
array applied(const std::shared_ptr<Operation>& f, const array& x) {
  return applied(f, x, shape_type{static_cast<pybind11::ssize_t>(f->output_size())});
}

}  // namespace agrad::python
