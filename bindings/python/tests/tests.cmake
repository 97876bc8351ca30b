# The tests of the Python package. They run in the Python that the extension was built for, with the package in the build folder.
set(python_package ${PROJECT_BINARY_DIR}/python)
function(parlance_package_test name path)
  add_test(NAME python.${name} COMMAND ${Python_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(python.${name} PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 900 ENVIRONMENT "PYTHONPATH=${path};PARLANCE_TEST_SHARE=${PARLANCE_TEST_SHARE}"
    ENVIRONMENT_MODIFICATION "${parlance_python_environment}")
endfunction()

parlance_package_test(pytest ${python_package} -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR})
parlance_package_test(ruff ${python_package} -m ruff check --no-cache bindings/python)
parlance_package_test(mypy ${python_package} -m mypy --strict --cache-dir=/dev/null -p parlance)
parlance_package_test(pyright ${python_package} -m pyright -p ${CMAKE_CURRENT_LIST_DIR}/../pyright.json)
parlance_package_test(start ${python_package} ${CMAKE_CURRENT_LIST_DIR}/check_start.py)

parlance_package_test(kinds ${python_package} ${CMAKE_CURRENT_LIST_DIR}/kinds_law.py)
parlance_package_test(renderers ${python_package} -W ignore ${CMAKE_CURRENT_LIST_DIR}/renderers_oracle.py)
# With the tokenizers that these two fetch. What is long begins soon.
set_tests_properties(python.renderers PROPERTIES COST 20 DEPENDS "oracle.real_engines;oracle.rank_tokens")
set_tests_properties(python.pytest PROPERTIES COST 38)
# Where make long has fetched the package.
parlance_package_test(verifiers ${python_package} -W ignore ${CMAKE_CURRENT_LIST_DIR}/verifiers_oracle.py)
# In each release of vLLM that vllm_setup.sh was asked for, at least in the newest.
file(GLOB vllm_folders RELATIVE ${PROJECT_SOURCE_DIR}/build/python ${PROJECT_SOURCE_DIR}/build/python/vllm-*.*)
foreach(folder IN LISTS vllm_folders ITEMS vllm-0.33.0)
  string(REPLACE "vllm-" "" release ${folder})
  if(NOT TEST python.vllm.${release} AND release MATCHES "^[0-9.]+$")
    parlance_package_test(vllm.${release} ${python_package} -W ignore ${CMAKE_CURRENT_LIST_DIR}/vllm_oracle.py ${release})
  endif()
endforeach()

# The real method of transformers, in each release that the oracle has; make long compares all.
set(python_every 1)
if(PARLANCE_TEST_SHARE GREATER 1)
  set(python_every ${PARLANCE_TEST_SHARE})
endif()
parlance_package_test(apply_chat_template ${python_package} -W ignore ${CMAKE_CURRENT_LIST_DIR}/chat_oracle.py --every ${python_every})
file(GLOB python_releases RELATIVE ${PROJECT_SOURCE_DIR}/build/oracle ${PROJECT_SOURCE_DIR}/build/oracle/transformers-*)
foreach(release IN LISTS python_releases)
  parlance_package_test(apply_chat_template.${release} ${python_package}:${PROJECT_SOURCE_DIR}/build/oracle/${release}
    -W ignore ${CMAKE_CURRENT_LIST_DIR}/chat_oracle.py --every ${python_every})
  list(FIND python_releases ${release} at)
  if(at GREATER 0 AND PARLANCE_TEST_SHARE GREATER 1)  # make long has those between the oldest and the newest, too
    continue()
  endif()
  parlance_package_test(methods.${release} ${python_package}:${PROJECT_SOURCE_DIR}/build/oracle/${release} -W ignore
    -m pytest -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/test_chat.py ${CMAKE_CURRENT_LIST_DIR}/test_processors.py
    ${CMAKE_CURRENT_LIST_DIR}/test_responses.py ${CMAKE_CURRENT_LIST_DIR}/test_refusals.py)
endforeach()

# The extension, for the stable ABI that wheels of 3.12 and later have, whichever Python is here.
get_target_property(python_sources parlance_python SOURCES)
set(python_unit ${CMAKE_CURRENT_BINARY_DIR}/limited_api.cpp)
list(FILTER python_sources INCLUDE REGEX "^src/")
list(TRANSFORM python_sources REPLACE ".+" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\0\"\n")
list(JOIN python_sources "" python_sources)
file(WRITE ${python_unit} "${python_sources}")
add_test(NAME compiles.python_limited_api COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -fvisibility=hidden -DPy_LIMITED_API=0x030C0000
  -isystem ${Python_INCLUDE_DIRS} -isystem ${nanobind_ROOT}/../include -include ${CMAKE_CURRENT_LIST_DIR}/limited_api.h
  -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src ${python_unit})
set_tests_properties(compiles.python_limited_api PROPERTIES LABELS compile)
