# Provides the target agrad::sundials (CVODES, IDAS and what they need), AGRAD_SUNDIALS_VERSION and AGRAD_SUNDIALS_ORIGIN.
#
# Order: an installed SUNDIALS of version 7 (SUNDIALS_DIR, CMAKE_PREFIX_PATH, conda, system), else the static libraries
# of LLNL's sundials4py wheel: from AGRAD_SUNDIALS_TREE, from the Python that builds, or downloaded by its pip.
# A wheel's libraries are installed with agrad (AgradInstall.cmake), so that C++ users need no SUNDIALS of their own.
set(AGRAD_SUNDIALS_TREE "" CACHE PATH "An unpacked sundials4py wheel, or lib/agrad/sundials of an installed agrad")
include(AgradSundialsTarget)

if(NOT AGRAD_SUNDIALS_TREE)
  agrad_sundials_from_package()
endif()
if(NOT TARGET agrad::sundials)
  include(AgradSundialsWheel)
  if(NOT EXISTS ${agrad_sundials_tree}/lib/libagrad_sundials_hooks.a)
    add_library(agrad_sundials_hooks STATIC cmake/sundials_hooks.cpp)
    set_target_properties(agrad_sundials_hooks PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  agrad_sundials_from_tree(${agrad_sundials_tree})
endif()
message(STATUS "agrad: SUNDIALS ${AGRAD_SUNDIALS_VERSION} from ${AGRAD_SUNDIALS_ORIGIN}")
