# Standard headers, precompiled where PARLANCE_PRECOMPILE says so: a third of what a file costs, half in a build with sanitizers.
set(parlance_precompiled_headers <algorithm> <array> <charconv> <cmath> <cstring> <functional> <map> <memory> <optional> <random>
  <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <vector> <fmt/core.h>)

# CMake passes the header to Clang's front end with its whole path, which ccache takes for a part of the options, so that no other
# checkout finds what was compiled. The driver's -include does the same, and ccache writes its path as from the project's folder.
if(PARLANCE_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER>)
endif()

# GCC writes other bytes each time it precompiles the same headers, and Clang other paths in each checkout. ccache hashes this text in
# their place (CCACHE_PCH_EXTSUM), so a header of our own, which changes, must not be among them.
function(parlance_sum_of_precompiled target)
  set(suffix gch)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set(suffix pch)
  endif()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.${suffix}.sum
    "${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${parlance_precompiled_headers} ${ARGN}\n")
endfunction()

# parlance_precompiled(target headers...): with these headers too. Targets of the same flags and without more headers share what is made.
function(parlance_precompiled target)
  if(NOT PARLANCE_PRECOMPILE)
    return()
  endif()
  # So that ccache knows it again: Clang leaves out the time, and both are known by a sum (above).
  set(known_again "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>" $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(ARGN)
    target_compile_options(${target} PRIVATE ${known_again})
    target_precompile_headers(${target} PRIVATE ${parlance_precompiled_headers} ${ARGN})
    parlance_sum_of_precompiled(${target} ${ARGN})
    return()
  endif()
  if(NOT TARGET parlance_precompiled)
    if(NOT EXISTS ${PROJECT_BINARY_DIR}/precompiled.cpp)  # each configuration would make it anew
      file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
    endif()
    add_library(parlance_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(parlance_precompiled PRIVATE parlance_options)
    set_target_properties(parlance_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(parlance_precompiled PRIVATE ${known_again})
    if(PARLANCE_NO_EXCEPTIONS)
      target_compile_options(parlance_precompiled PRIVATE -fno-exceptions -fno-rtti)
    endif()
    target_precompile_headers(parlance_precompiled PRIVATE ${parlance_precompiled_headers})
    parlance_sum_of_precompiled(parlance_precompiled)
  endif()
  target_precompile_headers(${target} REUSE_FROM parlance_precompiled)
endfunction()
