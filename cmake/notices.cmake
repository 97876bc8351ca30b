# THIRD_PARTY: the licenses of what is linked into the programs, found by tools/notices.py. Written where Debian says whose a
# file is; installed where it was written.
find_package(Python3 COMPONENTS Interpreter)
find_program(PARLANCE_DPKG_QUERY dpkg-query)
mark_as_advanced(PARLANCE_DPKG_QUERY)
set(notices_file ${PROJECT_BINARY_DIR}/THIRD_PARTY)
if(NOT PARLANCE_DPKG_QUERY OR NOT Python3_Interpreter_FOUND)
  message(STATUS "THIRD_PARTY: not written (it needs Python and Debian's dpkg-query)")
  return()
endif()

set(notices_crates "")
if(TARGET parlance_hf_crate)
  set(notices_crates --cargo ${PARLANCE_CARGO} --manifest ${PROJECT_SOURCE_DIR}/src/tokenizers/hf/Cargo.toml)
endif()
set(notices_linked ${PROJECT_BINARY_DIR}/parlance_cli.linked)
target_link_options(parlance_cli PRIVATE -Wl,--dependency-file=${notices_linked})
# What is linked changes with these, not with each build.
add_custom_command(OUTPUT ${notices_file}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/notices.py ${notices_file} --compiler ${CMAKE_CXX_COMPILER}
    --source ${PROJECT_SOURCE_DIR} --linked ${notices_linked} ${notices_crates}
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/notices.py ${PROJECT_SOURCE_DIR}/src/cli/CMakeLists.txt
    ${PROJECT_SOURCE_DIR}/src/cli/static.cmake ${PROJECT_SOURCE_DIR}/src/tokenizers/hf/Cargo.lock ${PROJECT_BINARY_DIR}/CMakeCache.txt
  VERBATIM)
add_custom_target(parlance_notices ALL DEPENDS ${notices_file})
add_dependencies(parlance_notices parlance_cli)
install(FILES ${notices_file} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/parlance COMPONENT command OPTIONAL)
install(FILES ${notices_file} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libparlance-dev COMPONENT development OPTIONAL)
