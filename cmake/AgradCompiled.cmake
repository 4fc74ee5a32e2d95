# agrad::compiled: the library with the definitions that no template holds back compiled once, from cpp/compiled, instead of in
# every file that includes the headers. Whoever links the target sees declarations alone (AGRAD_COMPILED).
#
# An installation carries these sources, not an archive: the target is built in the project that links it, with that project's
# own flags, because code for one processor must not meet Eigen's matrices laid out for another.
function(agrad_add_compiled target source_dir)
  file(GLOB sources CONFIGURE_DEPENDS ${source_dir}/*.cpp)
  set(interface agrad::ode)
  if(NOT TARGET agrad::ode)
    list(FILTER sources EXCLUDE REGEX "/solve_[^/]*$")
    set(interface agrad::agrad)
  endif()
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
  if(NOT TARGET agrad::compiled)
    add_library(agrad::compiled ALIAS ${target})
  endif()
  target_link_libraries(${target} PUBLIC ${interface})
  target_compile_definitions(${target} PUBLIC AGRAD_COMPILED)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
