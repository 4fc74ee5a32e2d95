# The Python module agrad._core, and the stubs of its functions, which are printed by a program that links the same rows
# (cpp/rows) as the module, so that names, arguments and texts are written once.
if(NOT AGRAD_ODE)
  message(FATAL_ERROR "agrad: the Python module has the solvers; AGRAD_BUILD_PYTHON needs AGRAD_ODE")
endif()
if(NOT pybind11_ROOT AND NOT pybind11_DIR)
  agrad_locate_in_python(pybind11 pybind11/share/cmake/pybind11 pybind11_DIR)
endif()
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 2.12 CONFIG REQUIRED)

file(GLOB rows CONFIGURE_DEPENDS cpp/rows/*.cpp)
list(FILTER rows EXCLUDE REGEX "/emit\\.cpp$")
add_library(agrad_rows OBJECT ${rows})
target_include_directories(agrad_rows PUBLIC cpp)
target_link_libraries(agrad_rows PUBLIC agrad_compiled PRIVATE agrad_options)
target_compile_definitions(agrad_compiled PUBLIC AGRAD_LIST_KERNELS)  # pickles name them
set_target_properties(agrad_rows agrad_compiled PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

file(GLOB bindings CONFIGURE_DEPENDS python/bindings/*.cpp)
set(solvers ${bindings})  # first, so that files with the solvers' headers, which cost most, are in one or two groups
list(FILTER solvers INCLUDE REGEX "/(dae|events|ode|solve|steady)[^/]*$")
list(REMOVE_ITEM bindings ${solvers})
pybind11_add_module(_core MODULE NO_EXTRAS ${solvers} ${bindings})  # no LTO: a serial link of 6 s that gains nothing
set_target_properties(_core PROPERTIES UNITY_BUILD ${AGRAD_GROUP_FILES} UNITY_BUILD_BATCH_SIZE 4)
target_link_libraries(_core PRIVATE agrad_options agrad_rows agrad_compiled)
if(NOT APPLE)  # keep our copy of SUNDIALS to ourselves: other modules in the process may bring another
  target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)
endif()
install(TARGETS _core LIBRARY DESTINATION .)

# The check at import asks the processor for what the flags of the build added to the architecture, on x86-64.
set(added "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  agrad_instruction_sets(of_every_processor)
  set(added ${AGRAD_SIMD})
  list(REMOVE_ITEM added ${of_every_processor})
endif()
agrad_write_questions(instruction_sets/instruction_sets.inc ${added})
Python_add_library(_instruction_sets MODULE WITH_SOABI python/bindings/import/instruction_sets.cpp)
target_include_directories(_instruction_sets PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/instruction_sets)
if(added)  # the last flags count, whatever CMAKE_CXX_FLAGS says
  target_compile_options(_instruction_sets PRIVATE -march=x86-64 -mno-sse3)
endif()
install(TARGETS _instruction_sets LIBRARY DESTINATION .)

add_executable(agrad_emit cpp/rows/emit.cpp)
target_link_libraries(agrad_emit PRIVATE agrad_options agrad_rows)
set(stubs elementwise.pyi density.pyi)
add_custom_command(OUTPUT ${stubs}
  COMMAND agrad_emit stub > elementwise.pyi
  COMMAND agrad_emit density-stub > density.pyi
  DEPENDS agrad_emit VERBATIM)
add_custom_target(agrad_stubs ALL DEPENDS ${stubs})
list(TRANSFORM stubs PREPEND ${PROJECT_BINARY_DIR}/)
install(FILES ${stubs} DESTINATION .)
