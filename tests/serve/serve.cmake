# The gateway, driven over the loopback: its engine is a script, its clients are those that people have.
set(serve ${CMAKE_CURRENT_SOURCE_DIR}/serve)
foreach(test IN ITEMS http doors readiness errors losses operator sessions lineages broken_replies attacks engines text_engines engine_faults capture continuations inspect capture_model reasoning_limit shared_sessions shared_kept shared_failures extensions ollama)
  parlance_python_test(serve.${test} serve ${serve}/${test}_test.py $<TARGET_FILE:parlance_cli>)
endforeach()
parlance_python_test(serve.render_tier serve ${serve}/render_tier_test.py $<TARGET_FILE:parlance_cli> ${PARLANCE_TEST_SHARE})
# A small share of what tests/long.sh sends.
parlance_python_test(serve.mutations serve ${serve}/mutations.py $<TARGET_FILE:parlance_cli> --requests 2000)
parlance_python_test(serve.soak serve ${serve}/soak.py $<TARGET_FILE:parlance_cli> --minutes 0.15)
set_tests_properties(serve.capture serve.capture_model serve.shared_sessions serve.shared_kept serve.shared_failures PROPERTIES TIMEOUT 300 ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
foreach(test IN ITEMS agent_client api_rules clients conversations frameworks odd_requests stream)
  if(EXISTS ${PROJECT_SOURCE_DIR}/build/oracle/apis/bin/python)
    add_test(NAME serve.${test} COMMAND ${PROJECT_SOURCE_DIR}/build/oracle/apis/bin/python ${serve}/${test}_test.py $<TARGET_FILE:parlance_cli>)
    set_tests_properties(serve.${test} PROPERTIES LABELS serve SKIP_RETURN_CODE 77 ENVIRONMENT_MODIFICATION "${parlance_python_environment}")
  else()
    add_test(NAME serve.${test} COMMAND ${CMAKE_COMMAND} -E echo "skipped: run tests/oracle/setup.sh first")
    set_tests_properties(serve.${test} PROPERTIES LABELS serve SKIP_REGULAR_EXPRESSION "skipped:")
  endif()
endforeach()
set_property(TEST serve.agent_client PROPERTY ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
# The fuzz targets of the gateway still compile. Only make fuzz builds them, which is long: make fuzz_seeds has no gateway.
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/serve_*.cpp)
foreach(file IN LISTS fuzz_targets)
  cmake_path(GET file STEM stem)
  add_test(NAME compiles.fuzz_${stem} COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only
    "-I$<JOIN:$<TARGET_PROPERTY:parlance_serve,INCLUDE_DIRECTORIES>,;-I>"
    "$<FILTER:$<TARGET_PROPERTY:parlance_serve,COMPILE_OPTIONS>,INCLUDE,^-D>" -DBOOST_ASIO_NO_DEPRECATED ${file} COMMAND_EXPAND_LISTS)
  set_tests_properties(compiles.fuzz_${stem} PROPERTIES LABELS compile)
endforeach()
