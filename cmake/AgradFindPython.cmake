# Finds Python: required for the module, otherwise only asked where its Eigen and SUNDIALS wheels are.
set(Python_FIND_UNVERSIONED_NAMES FIRST)  # the active `python`, not the newest
if(AGRAD_BUILD_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
else()
  find_package(Python 3.10 QUIET COMPONENTS Interpreter)
endif()

# Sets `result` to the place of `path` in the site-packages that hold the installed distribution `name`, or to "".
function(agrad_locate_in_python name path result)
  set(script "import importlib.metadata as m, sys; print(m.distribution(sys.argv[1]).locate_file(sys.argv[2]).as_posix())")
  set(${result} "" PARENT_SCOPE)
  if(Python_Interpreter_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "${script}" ${name} ${path}
      OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND EXISTS "${place}")
      set(${result} "${place}" PARENT_SCOPE)
    endif()
  endif()
endfunction()
