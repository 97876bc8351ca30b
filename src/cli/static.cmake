# Links the command, its C++ and its C library into one file, where that works.
#
# Starting a process that loads the C++ library and simdjson takes three times as long as one that loads nothing: their
# symbols are bound anew each time. simdjson is linked if it is a static library; as a shared one it is left out
# (no_json_index.cpp).
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
if(NOT PARLANCE_STATIC_CLI OR NOT PARLANCE_STATIC_PIE_WORKS OR NOT utf8proc_file MATCHES "\\.a$"
   OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # sanitizers need shared libraries
  target_link_libraries(parlance_cli PRIVATE parlance_tokenizers)
  return()
endif()

set_target_properties(parlance_cli PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_options(parlance_cli PRIVATE -static-pie)
# The linker warns that names of hosts are looked up by way of the C library's shared parts, which are there where Debian is.
check_linker_flag(CXX -Wl,--no-warnings PARLANCE_LINKS_QUIETLY)
if(TARGET parlance_serve AND PARLANCE_LINKS_QUIETLY)
  target_link_options(parlance_cli PRIVATE -Wl,--no-warnings)
endif()
get_target_property(simdjson_type simdjson::simdjson TYPE)
if(simdjson_type STREQUAL STATIC_LIBRARY)
  target_link_libraries(parlance_cli PRIVATE parlance_tokenizers)
else()
  # The libraries' files alone, without what they ask their users to link.
  target_sources(parlance_cli PRIVATE no_json_index.cpp)
  target_link_libraries(parlance_cli PRIVATE $<TARGET_FILE:parlance_tokenizers> ${PARLANCE_HF_LIBRARY}
    $<TARGET_FILE:parlance> utf8proc::utf8proc Threads::Threads ${CMAKE_DL_LIBS} m)
  add_dependencies(parlance_cli parlance parlance_tokenizers)
endif()
