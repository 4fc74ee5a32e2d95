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
file(GLOB bindings CONFIGURE_DEPENDS python/bindings/*.cpp python/bindings/*/*.cpp)
list(FILTER bindings EXCLUDE REGEX "/bindings/import/[^/]*$")
set(solvers ${bindings})  # first, so that files with the solvers' headers, which cost most, are in one or two groups
list(FILTER solvers INCLUDE REGEX "/(dae|events|ode|solve|steady)[^/]*$")
list(REMOVE_ITEM bindings ${solvers})

# Adds a module from the rows, the bindings and a compiled library, all of them compiled with the flags in ARGN, and installs it in
# `folder` of the package. The names of its targets end in `suffix`.
function(agrad_add_module suffix folder)
  set(compiled agrad_compiled${suffix})
  if(NOT TARGET ${compiled})
    agrad_add_compiled(${compiled} cpp/compiled)
    target_link_libraries(${compiled} PRIVATE agrad_options)
  endif()
  target_compile_definitions(${compiled} PUBLIC AGRAD_LIST_KERNELS)  # pickles name them
  add_library(agrad_rows${suffix} OBJECT ${rows})
  target_include_directories(agrad_rows${suffix} PUBLIC cpp)
  target_link_libraries(agrad_rows${suffix} PUBLIC ${compiled} PRIVATE agrad_options)
  set_target_properties(agrad_rows${suffix} ${compiled} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  pybind11_add_module(_core${suffix} MODULE NO_EXTRAS ${solvers} ${bindings})  # no LTO: a serial link of 6 s that gains nothing
  set_target_properties(_core${suffix} PROPERTIES UNITY_BUILD ${AGRAD_GROUP_FILES} UNITY_BUILD_BATCH_SIZE ${AGRAD_GROUP_SIZE}
    OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
  if(AGRAD_GROUP_ALL)
    set_target_properties(${compiled} agrad_rows${suffix} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${AGRAD_GROUP_SIZE})
  endif()
  target_link_libraries(_core${suffix} PRIVATE agrad_options agrad_rows${suffix} ${compiled})
  if(NOT APPLE)  # keep our copy of SUNDIALS to ourselves: other modules in the process may bring another
    target_link_options(_core${suffix} PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  foreach(target ${compiled} agrad_rows${suffix} _core${suffix})
    target_compile_options(${target} PRIVATE ${ARGN})
  endforeach()
  install(TARGETS _core${suffix} LIBRARY DESTINATION ./${folder})
endfunction()

# The module, and the copies for better processors that lie beside it in folders of their names. The table of the check at import,
# from the best one on, asks the processor for what the flags of each added to the architecture.
agrad_add_module("" "")
set(builds "")
foreach(level IN LISTS AGRAD_LEVELS)
  agrad_add_module(_${level} ${level} -march=${level})
  agrad_instruction_sets(sets ${flags_of_build} -march=${level})
  agrad_describe_build(builds ${level} ${sets})
endforeach()
agrad_describe_build(builds "" ${AGRAD_SIMD})
file(CONFIGURE OUTPUT instruction_sets/builds.inc CONTENT "${builds}" @ONLY)
Python_add_library(_instruction_sets MODULE WITH_SOABI python/bindings/import/instruction_sets.cpp)
target_include_directories(_instruction_sets PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/instruction_sets)
if(AGRAD_IS_X86)  # the last flags count, whatever CMAKE_CXX_FLAGS says
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
install(FILES ${stubs} DESTINATION _stan)
