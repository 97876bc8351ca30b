# Misuse that the compiler must refuse. Each file compiles as it stands, and must not with WRONG defined.
file(GLOB misuses CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/must_not_compile/*.cpp)
foreach(file IN LISTS misuses)
  cmake_path(GET file STEM stem)
  set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wno-missing-field-initializers -Werror
    -I${PROJECT_SOURCE_DIR}/include ${file})
  add_test(NAME compiles.${stem} COMMAND ${compile})
  add_test(NAME must_not_compile.${stem} COMMAND ${compile} -DWRONG)
  set_tests_properties(must_not_compile.${stem} PROPERTIES WILL_FAIL TRUE)
  set_tests_properties(compiles.${stem} must_not_compile.${stem} PROPERTIES LABELS compile)
endforeach()
