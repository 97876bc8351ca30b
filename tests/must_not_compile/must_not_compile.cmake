# Misuse that the compiler must refuse. Each file compiles as it stands, and must not with WRONG defined.
#
# GCC precompiles the public headers once for all of them: they are nearly all that a file costs.
set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wno-missing-field-initializers -Werror)
set(public_headers -I${PROJECT_SOURCE_DIR}/include)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/public_headers.h)
  file(WRITE ${precompiled} "#include \"parlance/parlance.h\"\n")
  add_test(NAME compiles.public_headers
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${public_headers} -x c++-header -o ${precompiled}.gch ${precompiled})
  set_tests_properties(compiles.public_headers PROPERTIES LABELS compile FIXTURES_SETUP public_headers)
  list(APPEND compile -Winvalid-pch -include ${precompiled})
endif()
file(GLOB misuses CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/must_not_compile/*.cpp)
foreach(file IN LISTS misuses)
  cmake_path(GET file STEM stem)
  add_test(NAME compiles.${stem} COMMAND ${compile} ${public_headers} ${file})
  add_test(NAME must_not_compile.${stem} COMMAND ${compile} ${public_headers} ${file} -DWRONG)
  set_tests_properties(must_not_compile.${stem} PROPERTIES WILL_FAIL TRUE)
  set_tests_properties(compiles.${stem} must_not_compile.${stem} PROPERTIES LABELS compile FIXTURES_REQUIRED public_headers)
endforeach()

# The examples at the tops of the headers compile as they stand.
add_test(NAME compiles.header_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/header_examples.py
  ${CMAKE_CURRENT_BINARY_DIR}/header_examples ${compile} -Wno-unused ${public_headers})
set_tests_properties(compiles.header_examples PROPERTIES LABELS compile FIXTURES_REQUIRED public_headers)
