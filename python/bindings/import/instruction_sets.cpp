// Instruction sets: which copies of the module this processor can run.
//
// This is a module of its own, compiled for every processor of the architecture, because an instruction that the processor
// lacks may be anywhere in _core, also in the constructors that run while it is loaded. The build writes the table from the
// compiler's predefined macros (cmake/AgradInstructionSets.cmake). Read next: agrad/_processor.py, which loads a copy.
#include <Python.h>

#include <initializer_list>

namespace {

struct instruction_set {
  const char* name;
  bool here;
};

struct build {
  const char* folder;
  std::initializer_list<instruction_set> sets;
};

/// Returns a new dict from the name of each set to whether this processor has it, or a null pointer with Python's error.
PyObject* dict_of(const build& copy) {
  PyObject* sets = PyDict_New();
  for (const instruction_set& set : copy.sets)
    if (sets != nullptr && PyDict_SetItemString(sets, set.name, set.here ? Py_True : Py_False) != 0) Py_CLEAR(sets);
  return sets;
}

/// Returns a new dict from the folder of each copy of the module, the best first, to the sets that it was compiled for.
PyObject* dict_of_builds() {
  PyObject* builds = PyDict_New();
  const build copies[] = {
#include "builds.inc"
  };
  for (const build& copy : copies) {
    PyObject* sets = builds == nullptr ? nullptr : dict_of(copy);
    if (sets == nullptr || PyDict_SetItemString(builds, copy.folder, sets) != 0) Py_CLEAR(builds);
    Py_XDECREF(sets);
  }
  return builds;
}

}  // namespace

PyMODINIT_FUNC PyInit__instruction_sets() {
  static PyModuleDef definition{
      PyModuleDef_HEAD_INIT, "_instruction_sets", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  PyObject* module = PyModule_Create(&definition);
  PyObject* builds = module == nullptr ? nullptr : dict_of_builds();
  if (builds == nullptr || PyModule_AddObject(module, "builds", builds) != 0) {  // the module owns the dict unless that failed
    Py_XDECREF(builds);
    Py_CLEAR(module);
  }
  return module;
}
