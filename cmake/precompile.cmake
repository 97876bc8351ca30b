# Standard headers, precompiled where PARLANCE_PRECOMPILE says so: a third of what a file costs, half in a build with sanitizers.
set(parlance_precompiled_headers <algorithm> <array> <charconv> <cmath> <cstring> <functional> <map> <memory> <optional> <random>
  <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <vector>)
# fmt's declarations alone, as in src/base/format.h.
if(fmt_VERSION VERSION_GREATER_EQUAL 11)
  list(APPEND parlance_precompiled_headers <fmt/base.h>)
else()
  list(APPEND parlance_precompiled_headers <fmt/core.h>)
endif()

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

# So that ccache knows it again: Clang leaves out the time, and both are known by a sum (above).
set(parlance_known_again "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>" $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# The target whose precompiled headers others share.
function(parlance_shared_precompiled name)
  if(TARGET ${name})
    return()
  endif()
  if(NOT EXISTS ${PROJECT_BINARY_DIR}/precompiled.cpp)  # each configuration would make it anew
    file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
  endif()
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${name} PRIVATE parlance_options)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${name} PRIVATE ${parlance_known_again} ${ARGN})
  if(PARLANCE_NO_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  endif()
  target_precompile_headers(${name} PRIVATE ${parlance_precompiled_headers})
  parlance_sum_of_precompiled(${name} ${ARGN})
endfunction()

# parlance_precompiled(target headers...): with these headers too. Targets of the same flags and without more headers share what is made.
function(parlance_precompiled target)
  if(NOT PARLANCE_PRECOMPILE)
    return()
  endif()
  if(ARGN)
    target_compile_options(${target} PRIVATE ${parlance_known_again})
    target_precompile_headers(${target} PRIVATE ${parlance_precompiled_headers} ${ARGN})
    parlance_sum_of_precompiled(${target} ${ARGN})
    return()
  endif()
  parlance_shared_precompiled(parlance_precompiled)
  target_precompile_headers(${target} REUSE_FROM parlance_precompiled)
endfunction()

# A target that a release compiles with -O1, so that it compiles fast. From GCC 13 on, a file compiled with -O1 takes no header that
# was precompiled with -O2, and says so: these targets share headers of their own then.
function(parlance_compiled_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  get_target_property(shares ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(shares AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    parlance_shared_precompiled(parlance_precompiled_o1 -O1)
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM parlance_precompiled_o1)
  endif()
endfunction()
