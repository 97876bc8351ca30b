# Files compiled together, where PARLANCE_UNITY says so: what they include is read once, and a template is instantiated once.
# The more, the less time all of it takes, and the more the next build after a change of one. 32 take a third less than 8.
set(parlance_unity_files 0 CACHE STRING "How many; 0: 32 with PARLANCE_QUICK, else 8")

# parlance_unity(target): its sources several at a time. A source with flags of its own is compiled by itself.
function(parlance_unity target)
  if(NOT PARLANCE_UNITY)
    return()
  endif()
  set(files ${parlance_unity_files})
  if(files EQUAL 0)
    set(files 8)
    if(PARLANCE_QUICK)
      set(files 32)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
endfunction()
