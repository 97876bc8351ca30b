# parlance_link_statically(target): links a program of ours, its C++ and its C library into one file, where that works.
#
# Starting a process that loads the C++ library and simdjson takes three times as long as one that loads nothing: their
# symbols are bound anew each time. simdjson is linked if it is a static library; as a shared one it is left out
# (no_json_index.cpp). Sets PARLANCE_LINKS_STATICALLY.
include(CheckCXXSourceCompiles)
option(PARLANCE_STATIC_CLI "Link the command `parlance` statically, where that works" ON)

# glibc before 2.34 has threads in a library of their own, which a static program gets in part.
set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
set(CMAKE_REQUIRED_FLAGS -fPIE)
check_cxx_source_compiles("
  #include <thread>
  #if defined(__GLIBC__) && !__GLIBC_PREREQ(2, 34)
  #error
  #endif
  int main() { std::thread([] {}).join(); }" PARLANCE_STATIC_PIE_WORKS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
unset(CMAKE_REQUIRED_FLAGS)

get_target_property(utf8proc_file utf8proc::utf8proc IMPORTED_LOCATION)
if(PARLANCE_STATIC_CLI AND PARLANCE_STATIC_PIE_WORKS AND utf8proc_file MATCHES "\\.a$"
   AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # sanitizers need shared libraries
  set(PARLANCE_LINKS_STATICALLY ON)
endif()

function(parlance_link_statically target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_options(${target} PRIVATE -static-pie)
  get_target_property(type simdjson::simdjson TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_link_libraries(${target} PRIVATE parlance)
  else()
    # The library's file alone, without what it asks its users to link.
    target_sources(${target} PRIVATE no_json_index.cpp)
    target_link_libraries(${target} PRIVATE $<TARGET_FILE:parlance> utf8proc::utf8proc Threads::Threads)
    add_dependencies(${target} parlance)
  endif()
endfunction()
