# Files compiled together, where PARLANCE_UNITY says so: what they include is read once, and a template is instantiated once.
set(parlance_unity_files 8 CACHE STRING "How many")

# parlance_unity(target): its sources several at a time. A source with flags of its own is compiled by itself.
function(parlance_unity target)
  if(NOT PARLANCE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${parlance_unity_files})
endfunction()
