# Installing: the library, its headers, the commands, and what find_package(parlance) and pkg-config read. Two components, which
# are two packages of Debian: `command` and `development` (packages.cmake).
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/parlance)

install(TARGETS parlance parlance_tokenizers EXPORT parlance_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
set_target_properties(parlance_tokenizers PROPERTIES EXPORT_NAME tokenizers)
install(DIRECTORY include/parlance DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(EXPORT parlance_targets NAMESPACE parlance:: FILE parlanceTargets.cmake DESTINATION ${config_folder} COMPONENT development)
configure_package_config_file(cmake/parlanceConfig.cmake.in ${PROJECT_BINARY_DIR}/parlanceConfig.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parlanceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parlanceConfig.cmake ${PROJECT_BINARY_DIR}/parlanceConfigVersion.cmake
  cmake/FindUtf8proc.cmake DESTINATION ${config_folder} COMPONENT development)

include(cmake/pkg_config.cmake)

if(TARGET parlance_cli)
  install(TARGETS parlance_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  include(cmake/notices.cmake)
endif()
if(TARGET parlance_serve AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  install(FILES packaging/parlance.service DESTINATION lib/systemd/system COMPONENT command)
endif()
foreach(component command development)
  set(name parlance)
  if(component STREQUAL development)
    set(name libparlance-dev)
  endif()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
if(PROJECT_IS_TOP_LEVEL)
  include(cmake/packages.cmake)
endif()
