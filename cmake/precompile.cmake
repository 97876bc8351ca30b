# Standard headers, precompiled where PARLANCE_PRECOMPILE says so: half of what a file costs in a build with sanitizers.
set(parlance_precompiled_headers <algorithm> <array> <charconv> <cmath> <cstring> <functional> <map> <memory> <optional> <random>
  <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <vector> <fmt/core.h>)

# parlance_precompiled(target headers...): with these headers too. Targets of the same flags and without more headers share what is made.
function(parlance_precompiled target)
  if(NOT PARLANCE_PRECOMPILE)
    return()
  endif()
  set(without_time "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")  # so that ccache knows it again
  if(ARGN)
    target_compile_options(${target} PRIVATE ${without_time})
    target_precompile_headers(${target} PRIVATE ${parlance_precompiled_headers} ${ARGN})
    return()
  endif()
  if(NOT TARGET parlance_precompiled)
    file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
    add_library(parlance_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(parlance_precompiled PRIVATE parlance_options)
    set_target_properties(parlance_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(parlance_precompiled PRIVATE ${without_time})
    if(PARLANCE_NO_EXCEPTIONS)
      target_compile_options(parlance_precompiled PRIVATE -fno-exceptions -fno-rtti)
    endif()
    target_precompile_headers(parlance_precompiled PRIVATE ${parlance_precompiled_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM parlance_precompiled)
endfunction()
