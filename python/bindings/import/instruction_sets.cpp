// Instruction sets: whether this processor has the ones that the module was compiled for.
//
// This is a module of its own, compiled for every processor of the architecture, because an instruction that the processor
// lacks may be anywhere in _core, also in the constructors that run while it is loaded. The build writes the table from the
// compiler's predefined macros (cmake/AgradInstructionSets.cmake). Read next: agrad/_processor.py, which raises the error.
#include <Python.h>

namespace {

struct instruction_set {
  const char* name;
  bool here;
};

/// Adds `of_build` to the module: a dict from the name of each set that the build used to whether this processor has it.
int add_sets(PyObject* module) {
  const instruction_set of_build[] = {
#include "instruction_sets.inc"
      {nullptr, false}};
  PyObject* sets = PyDict_New();
  if (sets == nullptr) return -1;
  for (const instruction_set* set = of_build; set->name != nullptr; ++set)
    if (PyDict_SetItemString(sets, set->name, set->here ? Py_True : Py_False) != 0) {
      Py_DECREF(sets);
      return -1;
    }
  const int failed = PyModule_AddObject(module, "of_build", sets);  // owns the dict unless it failed
  if (failed != 0) Py_DECREF(sets);
  return failed;
}

}  // namespace

PyMODINIT_FUNC PyInit__instruction_sets() {
  static PyModuleDef definition{
      PyModuleDef_HEAD_INIT, "_instruction_sets", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  PyObject* module = PyModule_Create(&definition);
  if (module != nullptr && add_sets(module) != 0) Py_CLEAR(module);
  return module;
}
