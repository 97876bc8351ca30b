# What the module `probe` needs besides its sources: the files of data/quirks/ as a header.
include(${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
file(GLOB quirk_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/data/quirks ${PROJECT_SOURCE_DIR}/data/quirks/*.json)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded_quirks)
file(MAKE_DIRECTORY ${embedded})
parlance_embed(${embedded}/embedded_quirks.h ${PROJECT_SOURCE_DIR}/data/quirks ${quirk_files})
target_sources(parlance_probe PRIVATE ${embedded}/embedded_quirks.h)
target_include_directories(parlance_probe PRIVATE ${embedded})
