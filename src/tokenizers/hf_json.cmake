# tokenizer.json, by the Rust crate in hf/: found cargo, crates, and how it is linked and installed.
#
# Cargo builds into one folder for all presets of a checkout, because none of their flags reaches it.
set(hf_source ${CMAKE_CURRENT_SOURCE_DIR}/hf)
set(hf_oldest_cargo 1.85)
set(hf_missing "")
unset(PARLANCE_HF_LIBRARY CACHE)

if(NOT PARLANCE_HF_TOKENIZERS)
  set(hf_missing "PARLANCE_HF_TOKENIZERS is OFF")
else()
  find_program(PARLANCE_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  if(PARLANCE_CARGO)
    execute_process(COMMAND ${PARLANCE_CARGO} --version OUTPUT_VARIABLE hf_cargo_version ERROR_QUIET)
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" hf_cargo_version "${hf_cargo_version}")
  endif()
  if(NOT PARLANCE_CARGO)
    set(hf_missing "there is no cargo")
  elseif(NOT hf_cargo_version VERSION_GREATER_EQUAL hf_oldest_cargo)
    set(hf_missing "cargo ${hf_cargo_version} is older than ${hf_oldest_cargo}")
  endif()
endif()

# Cargo builds for the machine that it runs on, unless it is told Rust's name of another one, whose standard library must be there.
set(hf_machine "")
if(CMAKE_CROSSCOMPILING)
  string(TOLOWER ${CMAKE_SYSTEM_PROCESSOR}-unknown-${CMAKE_SYSTEM_NAME}-gnu hf_machine)
endif()
set(PARLANCE_RUST_TARGET "${hf_machine}" CACHE STRING "The machine that cargo builds for, as rustc --print target-list has it; empty: this one")
mark_as_advanced(PARLANCE_RUST_TARGET)
set(hf_for_machine "")
if(PARLANCE_RUST_TARGET AND NOT hf_missing)
  set(hf_for_machine --target ${PARLANCE_RUST_TARGET})
  cmake_path(GET PARLANCE_CARGO PARENT_PATH hf_folder)
  find_program(PARLANCE_RUSTC rustc HINTS ${hf_folder})
  mark_as_advanced(PARLANCE_RUSTC)
  execute_process(COMMAND ${PARLANCE_RUSTC} --print target-libdir ${hf_for_machine} OUTPUT_VARIABLE hf_standard_library
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT hf_standard_library OR NOT EXISTS ${hf_standard_library})
    set(hf_missing "there is no standard library of Rust for ${PARLANCE_RUST_TARGET}")
  endif()
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(hf_target ${PROJECT_SOURCE_DIR}/build/cargo)
else()
  set(hf_target ${PROJECT_BINARY_DIR}/cargo)
endif()

# The crates are fetched here and not while building: a machine without network still builds all the rest.
if(NOT hf_missing)
  file(SHA256 ${hf_source}/Cargo.lock hf_lock)
  set(hf_fetched ${hf_target}/fetched-${hf_lock})
  if(NOT EXISTS ${hf_fetched})
    foreach(way --offline "")
      execute_process(COMMAND ${PARLANCE_CARGO} fetch --quiet --locked ${way} --manifest-path ${hf_source}/Cargo.toml
        RESULT_VARIABLE hf_result ERROR_VARIABLE hf_error TIMEOUT 300)
      if(hf_result EQUAL 0)
        file(MAKE_DIRECTORY ${hf_target})
        file(TOUCH ${hf_fetched})
        break()
      endif()
    endforeach()
    if(NOT hf_result EQUAL 0)
      set(hf_missing "cargo cannot fetch the crates: ${hf_error}")
    endif()
  endif()
endif()

if(hf_missing)
  if(PARLANCE_HF_TOKENIZERS AND NOT PARLANCE_HF_TOKENIZERS STREQUAL AUTO)
    message(FATAL_ERROR "PARLANCE_HF_TOKENIZERS is ON, but ${hf_missing}")
  endif()
  message(STATUS "tokenizer.json: not read (${hf_missing})")
  target_sources(parlance_tokenizers PRIVATE hf_json_missing.cpp splitter_missing.cpp)
  return()
endif()
message(STATUS "tokenizer.json: read by the crate tokenizers, built by cargo ${hf_cargo_version}")

# Without, the crate is built in two thirds of the time.
option(PARLANCE_HF_LTO "Optimise the Rust library as a whole" ON)
set(hf_profile release)
if(NOT PARLANCE_HF_LTO)
  set(hf_profile quick)
endif()

set(hf_name ${CMAKE_STATIC_LIBRARY_PREFIX}parlance_hf${CMAKE_STATIC_LIBRARY_SUFFIX})
cmake_path(APPEND hf_target ${PARLANCE_RUST_TARGET} ${hf_profile} ${hf_name} OUTPUT_VARIABLE hf_library)
file(GLOB hf_sources CONFIGURE_DEPENDS ${hf_source}/src/*.rs)
# The regex engine comes with the crate: that of the system may answer otherwise. What cargo finds up to date is touched,
# lest the next build asks again.
add_custom_command(OUTPUT ${hf_library}
  COMMAND ${CMAKE_COMMAND} -E env RUSTONIG_SYSTEM_LIBONIG=0 CARGO_TARGET_DIR=${hf_target}
    ${PARLANCE_CARGO} build --quiet --profile ${hf_profile} ${hf_for_machine} --locked --offline --manifest-path ${hf_source}/Cargo.toml
  COMMAND ${CMAKE_COMMAND} -E touch ${hf_library}
  DEPENDS ${hf_sources} ${hf_source}/Cargo.toml ${hf_source}/Cargo.lock
  COMMENT "Building the Rust library parlance-hf" VERBATIM)
add_custom_target(parlance_hf_crate DEPENDS ${hf_library})

set(PARLANCE_HF_LIBRARY ${hf_library} CACHE INTERNAL "")  # for who links by file
target_sources(parlance_tokenizers PRIVATE hf_json.cpp splitter.cpp)
add_dependencies(parlance_tokenizers parlance_hf_crate)
set(hf_installed ${CMAKE_INSTALL_LIBDIR}/${hf_name})
if(NOT IS_ABSOLUTE "${hf_installed}")
  set(hf_installed $<INSTALL_PREFIX>/${hf_installed})
endif()
target_link_libraries(parlance_tokenizers PRIVATE
  $<BUILD_INTERFACE:${hf_library}> $<INSTALL_INTERFACE:${hf_installed}>
  Threads::Threads ${CMAKE_DL_LIBS} m)
if(PARLANCE_INSTALL)
  install(FILES ${hf_library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
