# Two ways to make the target agrad::sundials. The build and the installed agrad-config.cmake both use this file.

# From a SUNDIALS 7 with its own CMake package. SUNDIALS_DIR may be the package's directory or the prefix above it.
macro(agrad_sundials_from_package)
  find_package(SUNDIALS 7 CONFIG QUIET
    COMPONENTS cvodes idas nvecserial sunlinsolspgmr sunnonlinsolnewton sunnonlinsolfixedpoint
    HINTS "${SUNDIALS_DIR}" "$ENV{SUNDIALS_DIR}")
  file(GLOB agrad_sundials4py "${SUNDIALS_DIR}/../../../sundials4py*")
  if(SUNDIALS_FOUND AND NOT agrad_sundials4py)  # the wheel's own package lacks the hooks below
    add_library(agrad::sundials INTERFACE IMPORTED)
    target_link_libraries(agrad::sundials INTERFACE SUNDIALS::cvodes SUNDIALS::idas SUNDIALS::nvecserial
      SUNDIALS::sunlinsolspgmr
      SUNDIALS::sunnonlinsolnewton SUNDIALS::sunnonlinsolfixedpoint)
    set(AGRAD_SUNDIALS_VERSION ${SUNDIALS_VERSION})
    set(AGRAD_SUNDIALS_ORIGIN ${SUNDIALS_DIR})
  elseif(DEFINED ENV{SUNDIALS_DIR})
    message(WARNING "agrad: SUNDIALS_DIR is $ENV{SUNDIALS_DIR}, but must hold SUNDIALS 7 with CVODES and IDAS; looking elsewhere")
  endif()
endmacro()

# From the directory `tree` with include/ and lib/ (or lib64/) as in the sundials4py wheel. Its libsundials_cvodes.a and
# libsundials_idas.a have the vectors, matrices and linear solvers inside, the same in both; only libsundials_core.a and the
# hooks (sundials_hooks.cpp) are missing.
macro(agrad_sundials_from_tree tree)
  add_library(agrad::sundials INTERFACE IMPORTED)
  target_include_directories(agrad::sundials INTERFACE ${tree}/include)
  target_compile_definitions(agrad::sundials INTERFACE SUNDIALS_STATIC_DEFINE)
  foreach(library cvodes idas core)
    find_library(agrad_sundials_${library} libsundials_${library}.a
      PATHS ${tree}/lib ${tree}/lib64 NO_DEFAULT_PATH NO_CACHE REQUIRED)
    target_link_libraries(agrad::sundials INTERFACE ${agrad_sundials_${library}})
  endforeach()
  if(TARGET agrad_sundials_hooks)
    target_link_libraries(agrad::sundials INTERFACE agrad_sundials_hooks m)
  else()
    target_link_libraries(agrad::sundials INTERFACE ${tree}/lib/libagrad_sundials_hooks.a m)
  endif()
  file(STRINGS ${tree}/include/sundials/sundials_config.h AGRAD_SUNDIALS_VERSION REGEX "SUNDIALS_VERSION \"")
  string(REGEX REPLACE ".*\"(.*)\"" "\\1" AGRAD_SUNDIALS_VERSION "${AGRAD_SUNDIALS_VERSION}")
  set(AGRAD_SUNDIALS_ORIGIN "the sundials4py wheel")
endmacro()
