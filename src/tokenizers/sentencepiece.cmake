# SentencePiece's .model, by libsentencepiece (Debian: libsentencepiece-dev). What is read of a file before the library
# sees it is compiled in any case: it needs no library.
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
mark_as_advanced(SENTENCEPIECE_INCLUDE_DIR SENTENCEPIECE_LIBRARY)
set(PARLANCE_HAS_SENTENCEPIECE FALSE)
if(SENTENCEPIECE_INCLUDE_DIR AND SENTENCEPIECE_LIBRARY AND NOT PARLANCE_SENTENCEPIECE STREQUAL "OFF")
  set(PARLANCE_HAS_SENTENCEPIECE TRUE)
elseif(PARLANCE_SENTENCEPIECE STREQUAL "ON")
  message(FATAL_ERROR "PARLANCE_SENTENCEPIECE is ON, but libsentencepiece is not there (Debian: libsentencepiece-dev)")
endif()
set(PARLANCE_HAS_SENTENCEPIECE ${PARLANCE_HAS_SENTENCEPIECE} CACHE INTERNAL "Are SentencePiece models read?")

target_sources(parlance_tokenizers PRIVATE sentencepiece_proto.cpp sentencepiece_charsmap.cpp sentencepiece_vocabulary.cpp
  sentencepiece_as_json.cpp)
if(PARLANCE_HAS_SENTENCEPIECE)
  target_sources(parlance_tokenizers PRIVATE sentencepiece.cpp)
  target_include_directories(parlance_tokenizers SYSTEM PRIVATE ${SENTENCEPIECE_INCLUDE_DIR})
  target_link_libraries(parlance_tokenizers PRIVATE ${SENTENCEPIECE_LIBRARY})
else()
  target_sources(parlance_tokenizers PRIVATE sentencepiece_missing.cpp)
endif()
