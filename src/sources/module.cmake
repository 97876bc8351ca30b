# What the module `sources` needs besides its sources: facts about transformers.
target_include_directories(parlance_sources PRIVATE ${PROJECT_SOURCE_DIR}/data)
