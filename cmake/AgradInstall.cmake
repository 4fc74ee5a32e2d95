# What `cmake --install` and the Python package carry for C++ users: headers, package config, pkg-config files and, when SUNDIALS came from the
# sundials4py wheel, the part of it that agrad::ode needs. The prefix is relocatable; under pip it is site-packages/agrad.
include(CMakePackageConfigHelpers)
if(SKBUILD)
  set(CMAKE_INSTALL_LIBDIR lib)
endif()
include(GNUInstallDirs)
set(AGRAD_SUNDIALS_DESTINATION ${CMAKE_INSTALL_LIBDIR}/agrad/sundials)
set(AGRAD_COMPILED_DESTINATION ${CMAKE_INSTALL_DATADIR}/agrad/compiled)
set(agrad_config_destination ${CMAKE_INSTALL_LIBDIR}/cmake/agrad)

install(DIRECTORY cpp/include/agrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
install(DIRECTORY cpp/compiled/ DESTINATION ${AGRAD_COMPILED_DESTINATION})

configure_package_config_file(cmake/agrad-config.cmake.in ${PROJECT_BINARY_DIR}/agrad-config.cmake
  INSTALL_DESTINATION ${agrad_config_destination}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR AGRAD_SUNDIALS_DESTINATION AGRAD_COMPILED_DESTINATION)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/agrad-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/agrad-config.cmake ${PROJECT_BINARY_DIR}/agrad-config-version.cmake
  cmake/AgradSundialsTarget.cmake cmake/AgradCompiled.cmake DESTINATION ${agrad_config_destination})

# Relative to the file, so that the prefix stays relocatable; two directories below the prefix, whatever CMAKE_INSTALL_LIBDIR is.
set(AGRAD_PKGCONFIG_DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/pkgconfig)
configure_file(cmake/agrad.pc.in ${PROJECT_BINARY_DIR}/agrad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/agrad.pc DESTINATION ${AGRAD_PKGCONFIG_DESTINATION})

if(agrad_sundials_tree)
  configure_file(cmake/agrad-ode.pc.in ${PROJECT_BINARY_DIR}/agrad-ode.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/agrad-ode.pc DESTINATION ${AGRAD_PKGCONFIG_DESTINATION})
  file(GLOB header_directories ${agrad_sundials_tree}/include/cvodes ${agrad_sundials_tree}/include/idas
    ${agrad_sundials_tree}/include/nvector ${agrad_sundials_tree}/include/sun*)
  install(DIRECTORY ${header_directories} DESTINATION ${AGRAD_SUNDIALS_DESTINATION}/include)
  install(FILES ${agrad_sundials_tree}/include/sundials/LICENSE ${agrad_sundials_tree}/include/sundials/NOTICE
    DESTINATION ${AGRAD_SUNDIALS_DESTINATION})
  install(FILES ${agrad_sundials_cvodes} ${agrad_sundials_idas} ${agrad_sundials_core}
    DESTINATION ${AGRAD_SUNDIALS_DESTINATION}/lib)
  if(TARGET agrad_sundials_hooks)
    install(TARGETS agrad_sundials_hooks ARCHIVE DESTINATION ${AGRAD_SUNDIALS_DESTINATION}/lib)
  else()
    install(FILES ${agrad_sundials_tree}/lib/libagrad_sundials_hooks.a DESTINATION ${AGRAD_SUNDIALS_DESTINATION}/lib)
  endif()
endif()
