# AGRAD_SIMD, the instruction sets that the compiler may use under agrad's options; AGRAD_LEVELS, the processors for which copies of
# the Python module are built beside the one for all; and the questions that the check at import (python/bindings/import) asks.
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

# Adds to the table in `variable` a C++ entry {"folder", {{name, whether the processor has it}, ...}} with an entry for each set of ARGN that is not
# in every processor of the architecture and that the compiler can ask for.
function(agrad_describe_build variable folder)
  set(questions "")
  if(AGRAD_IS_X86)
    agrad_instruction_sets(of_every_processor)
    list(REMOVE_ITEM ARGN ${of_every_processor})
    agrad_questions(questions ${ARGN})
  endif()
  if(AGRAD_NATIVE AND questions AND NOT CMAKE_CROSSCOMPILING)
    agrad_remove_hidden(questions)
  endif()
  list(JOIN questions "" questions)
  set(${variable} "${${variable}}{\"${folder}\", {${questions}}},\n" PARENT_SCOPE)
endfunction()

set(probe ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/instruction_sets.cpp)

# Sets `result` to a list of C++ entries {name, whether the processor has it}, one for each set of ARGN that the compiler knows.
function(agrad_questions result)
  set(questions "")
  foreach(name IN LISTS ARGN)
    string(TOLOWER ${name} asked)
    string(REPLACE "sse4_" "sse4." asked ${asked})
    set(question "{\"${name}\", __builtin_cpu_supports(\"${asked}\") != 0}, ")
    file(WRITE ${probe} "struct { const char* name; bool here; } const set[] = {${question}};\n")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -fsyntax-only ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      list(APPEND questions "${question}")
    endif()
  endforeach()
  set(${result} "${questions}" PARENT_SCOPE)
endfunction()

# Removes from the list in `variable` the questions that this processor answers with no. A hypervisor may hide sets that the compiler takes from the processor's
# model, and a module has to load where it was built.
function(agrad_remove_hidden variable)
  file(WRITE ${probe} "#include <cstdio>\nstruct { const char* name; bool here; } const sets[] = {" ${${variable}} "};\n"
    "int main() {\n  for (const auto& set : sets)\n    if (!set.here) std::printf(\"%s;\", set.name);\n}\n")
  try_run(ran compiled ${CMAKE_CURRENT_BINARY_DIR} ${probe} RUN_OUTPUT_VARIABLE hidden)
  list(REMOVE_ITEM hidden "")
  foreach(name IN LISTS hidden)
    message(STATUS "agrad: the compiler uses ${name}, which this processor does not report; import will not ask for it")
    list(FILTER ${variable} EXCLUDE REGEX "\"${name}\"")
  endforeach()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

set(AGRAD_IS_X86 FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set(AGRAD_IS_X86 TRUE)
endif()
separate_arguments(flags_of_build UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
if(AGRAD_NATIVE)
  list(APPEND flags_of_build -march=native)
endif()
agrad_instruction_sets(AGRAD_SIMD ${flags_of_build})

# AVX-512 first, because the first copy that the processor can run is taken.
if(NOT DEFINED AGRAD_LEVELS AND AGRAD_IS_X86 AND NOT AGRAD_NATIVE AND NOT "${CMAKE_CXX_FLAGS}${CMAKE_OSX_ARCHITECTURES}" MATCHES "arch=|;")
  set(AGRAD_LEVELS x86-64-v4 x86-64-v3)
endif()
