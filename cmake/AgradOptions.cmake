# The build's options, and the target `agrad_options` that carries them to everything agrad itself compiles.
# Users of agrad::agrad and agrad::ode never see these flags.
if(SKBUILD)
  set(AGRAD_BUILD_PYTHON ON)
endif()
option(AGRAD_BUILD_PYTHON "Build the Python module (pip does)" OFF)
option(AGRAD_BUILD_TESTS "Build the C++ tests (needs doctest)" OFF)
option(AGRAD_BUILD_EXAMPLES "Build the C++ examples" OFF)
option(AGRAD_BUILD_BENCHMARKS "Build the C++ benchmarks" OFF)
option(AGRAD_INSTALL "Install agrad with the project; off where agrad is part of another project" ${PROJECT_IS_TOP_LEVEL})
option(AGRAD_ODE "Build what needs SUNDIALS (the Python module does)" ON)
option(AGRAD_NATIVE "Compile for this machine's processor (-march=native); turn off to ship binaries elsewhere" ON)
option(AGRAD_GROUP_FILES "Compile C++ files in groups, for what they share of templates; turn off where one is edited often" ON)
set(AGRAD_GROUP_SIZE 4 CACHE STRING "Files of the Python module's bindings in a group: more take less time in all, and more memory a compiler")
option(AGRAD_GROUP_ALL "Compile the module's rows and its compiled library in groups of AGRAD_GROUP_SIZE, too" OFF)
option(AGRAD_WERROR "Treat warnings as errors" OFF)
set(AGRAD_SANITIZE "" CACHE STRING "Sanitizers for what is built here: \"address;undefined\" or \"thread\"")
option(AGRAD_SANITIZE_QUICKLY "Sanitize without line numbers and checks of null and alignment: a third less time to compile" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Without the sanitizers, for a program that has one of its own.
add_library(agrad_plain_options INTERFACE)
target_compile_options(agrad_plain_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${AGRAD_WERROR}>:-Werror>
  -fno-math-errno  # sqrt and friends become instructions; never -ffast-math, which breaks nan and inf
  $<$<BOOL:${AGRAD_NATIVE}>:-march=native>)
if(AGRAD_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 finds these in its own headers (AVX-512 intrinsics, std::vector::insert) once they are inlined.
  target_compile_options(agrad_plain_options INTERFACE
    -Wno-error=uninitialized -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow -Wno-error=array-bounds)
endif()

add_library(agrad_options INTERFACE)
target_link_libraries(agrad_options INTERFACE agrad_plain_options)
if(AGRAD_SANITIZE)
  list(JOIN AGRAD_SANITIZE "," sanitizers)
  target_compile_options(agrad_options INTERFACE
    -fsanitize=${sanitizers} $<$<BOOL:${AGRAD_SANITIZE_QUICKLY}>:-fno-sanitize=null,alignment>
    -fno-sanitize-recover=all -fno-omit-frame-pointer $<IF:$<BOOL:${AGRAD_SANITIZE_QUICKLY}>,-g0,-g1>)
  if("undefined" IN_LIST AGRAD_SANITIZE)
    # Every check is there and ends the program, without a text of its own: a third less time to compile. Leave this out to read it.
    target_compile_options(agrad_options INTERFACE
      $<IF:$<CXX_COMPILER_ID:GNU>,-fsanitize-undefined-trap-on-error,-fsanitize-trap=undefined>)
  endif()
  target_link_options(agrad_options INTERFACE -fsanitize=${sanitizers})
  target_compile_definitions(agrad_options INTERFACE AGRAD_CHECKED)  # variables of ended scopes raise in statements too
  target_compile_definitions(agrad_options INTERFACE AGRAD_ALWAYS_INLINE=inline)  # a third less time to compile densities
endif()
