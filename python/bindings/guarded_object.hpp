// Guarded object: a Python object whose owner may be destroyed by threads without the interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "lock.hpp"

namespace agrad::python {

/// A Python object that may be destroyed in a thread without the interpreter lock.
class guarded_object {
 public:
  guarded_object() = default;
  explicit guarded_object(pybind11::object object) : object_(std::move(object)) {}
  guarded_object(const guarded_object&) = delete;
  guarded_object& operator=(const guarded_object&) = delete;
  ~guarded_object() {
    if (!object_) return;
    if (Py_IsInitialized() == 0) {
      object_.release();  // the interpreter is gone, and so is the object
      return;
    }
    const lock_held locked;
    object_ = pybind11::object();
  }
  /// Returns the object; needs the interpreter lock.
  pybind11::object& get() { return object_; }
  const pybind11::object& get() const { return object_; }

 private:
  pybind11::object object_;
};

}  // namespace agrad::python
