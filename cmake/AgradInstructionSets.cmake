# AGRAD_SIMD, the instruction sets that the compiler may use under agrad's options, and the function that finds those of them
# that a processor may lack, for the check at import (python/bindings/import).
#
# The list is the compiler's own: its predefined macros under the flags of the build. It has the families that compilers use
# without being asked; a set that is used by name only (AES, AMX, AMD's SSE4A) does not keep a module from running.
set(set_families "SSE|SSSE|AVX|FMA|F16C|XOP|BMI|LZCNT|POPCNT|MOVBE|ARM_NEON|ARM_FEATURE_SVE")

# Sets `result` to the names of the instruction sets that the compiler may use under the flags in ARGN.
function(agrad_instruction_sets result)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${ARGN} -dM -E -x c++ /dev/null OUTPUT_VARIABLE predefined ERROR_QUIET)
  string(REGEX MATCHALL "#define __(${set_families})[0-9A-Z_]* 1" sets "${predefined}")
  list(TRANSFORM sets REPLACE "^#define __|_* 1$" "")
  list(FILTER sets EXCLUDE REGEX "_MATH$|^SSE4A$")
  list(SORT sets COMPARE NATURAL)
  set(${result} "${sets}" PARENT_SCOPE)
endfunction()

# Writes to `file` a C++ entry {name, whether the processor has it} for each set of ARGN that the compiler can ask for.
function(agrad_write_questions file)
  set(questions "")
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/instruction_sets.cpp)
  foreach(name IN LISTS ARGN)
    string(TOLOWER ${name} asked)
    string(REPLACE "sse4_" "sse4." asked ${asked})
    set(question "{\"${name}\", __builtin_cpu_supports(\"${asked}\") != 0},\n")
    file(WRITE ${probe} "struct { const char* name; bool here; } const set[] = {${question}};\n")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -fsyntax-only ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      list(APPEND questions "${question}")
    endif()
  endforeach()
  if(AGRAD_NATIVE AND questions AND NOT CMAKE_CROSSCOMPILING)
    # A hypervisor may hide sets that the compiler takes from the processor's model. The module has to load where it was built.
    file(WRITE ${probe} "#include <cstdio>\nstruct { const char* name; bool here; } const sets[] = {" ${questions} "};\n"
      "int main() {\n  for (const auto& set : sets)\n    if (!set.here) std::printf(\"%s;\", set.name);\n}\n")
    try_run(ran compiled ${CMAKE_CURRENT_BINARY_DIR} ${probe} RUN_OUTPUT_VARIABLE hidden)
    list(REMOVE_ITEM hidden "")
    foreach(name IN LISTS hidden)
      message(STATUS "agrad: the compiler uses ${name}, which this processor does not report; import will not ask for it")
      list(FILTER questions EXCLUDE REGEX "\"${name}\"")
    endforeach()
  endif()
  list(JOIN questions "" questions)
  file(CONFIGURE OUTPUT ${file} CONTENT "${questions}" @ONLY)
endfunction()

separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
if(AGRAD_NATIVE)
  list(APPEND flags -march=native)
endif()
agrad_instruction_sets(AGRAD_SIMD ${flags})
