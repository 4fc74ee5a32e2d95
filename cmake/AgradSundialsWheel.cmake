# Sets agrad_sundials_tree to an unpacked sundials4py wheel: AGRAD_SUNDIALS_TREE, or the wheel installed in the Python that
# builds, or one fetched with pip. The wheel is tagged for Python 3.12 and newer, but its static libraries do not depend on
# Python, so for older ones (and plain C++ builds) pip is asked for the 3.12 file.
set(agrad_sundials_tree "${AGRAD_SUNDIALS_TREE}")
if(NOT agrad_sundials_tree)
  agrad_locate_in_python(sundials4py include/cvodes agrad_sundials_tree)
  if(agrad_sundials_tree)
    cmake_path(GET agrad_sundials_tree PARENT_PATH agrad_sundials_tree)
    cmake_path(GET agrad_sundials_tree PARENT_PATH agrad_sundials_tree)
  endif()
endif()

if(NOT agrad_sundials_tree)
  set(agrad_sundials_tree ${PROJECT_BINARY_DIR}/sundials4py)
  if(NOT EXISTS ${agrad_sundials_tree}/include/cvodes)
    if(APPLE)
      set(platforms macosx_11_0_${CMAKE_SYSTEM_PROCESSOR} macosx_14_0_${CMAKE_SYSTEM_PROCESSOR})
    else()
      set(platforms manylinux_2_28_${CMAKE_SYSTEM_PROCESSOR} manylinux_2_27_${CMAKE_SYSTEM_PROCESSOR})
    endif()
    list(TRANSFORM platforms PREPEND "--platform=")
    message(STATUS "agrad: no SUNDIALS 7 here; asking pip for the sundials4py wheel")
    execute_process(
      COMMAND ${Python_EXECUTABLE} -m pip download --quiet --no-deps --only-binary=:all: --implementation=cp
        --python-version=3.12 --abi=abi3 ${platforms} --dest=${PROJECT_BINARY_DIR} "sundials4py>=7.9,<8"
      RESULT_VARIABLE failed ERROR_VARIABLE reason)
    file(GLOB wheel ${PROJECT_BINARY_DIR}/sundials4py-*.whl)
    if(failed OR NOT wheel)
      message(FATAL_ERROR "agrad: SUNDIALS 7 was not found, and pip could not fetch the sundials4py wheel; "
        "conda install sundials, set SUNDIALS_DIR, or set AGRAD_SUNDIALS_TREE\n${reason}")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${agrad_sundials_tree} PATTERNS include/* lib*/*.a)
  endif()
endif()
