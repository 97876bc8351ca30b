# What the module `formats` needs besides its sources: the files of formats/ as a header.
include(${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
file(GLOB format_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/formats
  ${PROJECT_SOURCE_DIR}/formats/*.jinja ${PROJECT_SOURCE_DIR}/formats/*.gotmpl ${PROJECT_SOURCE_DIR}/formats/*.reply.json
  ${PROJECT_SOURCE_DIR}/formats/examples/*.json)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded)
file(MAKE_DIRECTORY ${embedded})
parlance_embed(${embedded}/embedded_formats.h ${PROJECT_SOURCE_DIR}/formats ${format_files})
target_sources(parlance_formats PRIVATE ${embedded}/embedded_formats.h)
target_include_directories(parlance_formats PRIVATE ${embedded} ${PROJECT_SOURCE_DIR}/formats)
