# Installing: the library, its headers, the command, and what find_package(parlance) reads.
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/parlance)

install(TARGETS parlance parlance_tokenizers EXPORT parlance_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(parlance_tokenizers PROPERTIES EXPORT_NAME tokenizers)
install(DIRECTORY include/parlance DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
if(TARGET parlance_cli)
  install(TARGETS parlance_cli parlance_tokens_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT parlance_targets NAMESPACE parlance:: FILE parlanceTargets.cmake DESTINATION ${config_folder})
configure_package_config_file(cmake/parlanceConfig.cmake.in ${PROJECT_BINARY_DIR}/parlanceConfig.cmake
  INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parlanceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parlanceConfig.cmake ${PROJECT_BINARY_DIR}/parlanceConfigVersion.cmake
  cmake/FindUtf8proc.cmake DESTINATION ${config_folder})
