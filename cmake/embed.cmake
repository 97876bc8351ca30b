# Text files as C++ string constants.
#
#   parlance_embed(<output header> <folder> <files...>)
#
# writes at build time a header with `parlance::kEmbeddedFiles`, an array of {path below the folder, text}. Run as a
# script (-P), this file does the writing.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(PARLANCE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(parlance_embed output folder)
    list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE inputs)
    list(JOIN ARGN "|" files)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFOLDER=${folder} "-DFILES=${files}" -P ${PARLANCE_EMBED_SCRIPT}
      DEPENDS ${inputs} ${PARLANCE_EMBED_SCRIPT} VERBATIM)
  endfunction()
  return()
endif()

set(text "// Written by cmake/embed.cmake from the files it names.\n#pragma once\n#include <string_view>\n\n")
string(APPEND text "namespace parlance {\n\nstruct EmbeddedFile {\n  std::string_view path;\n  std::string_view text;\n};\n\n")
string(APPEND text "constexpr EmbeddedFile kEmbeddedFiles[] = {\n")
string(REPLACE "|" ";" files "${FILES}")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" content)
  string(APPEND text "    {\"${file}\", R\"embedded(${content})embedded\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace parlance\n")
file(WRITE "${OUTPUT}" "${text}")
