# The agent's sandbox and shell. Each kind of sandbox and of user is a test of its own.
parlance_test_program(agent_shell_tool agent/shell_tool.cpp)
target_link_libraries(agent_shell_tool PRIVATE parlance_agent parlance)  # in this order
set(agent ${CMAKE_CURRENT_SOURCE_DIR}/agent)
foreach(kind IN ITEMS bubblewrap landlock)
  foreach(user IN ITEMS root nobody)
    parlance_python_test(agent.sandbox.${kind}.${user} agent ${agent}/sandbox_test.py $<TARGET_FILE:agent_shell_tool> ${kind} ${user})
    # One fork bomb at a time: hundreds of processes until it is ended.
    set_tests_properties(agent.sandbox.${kind}.${user} PROPERTIES RESOURCE_LOCK fork_bomb)
  endforeach()
  parlance_python_test(agent.shell.${kind} agent ${agent}/shell_test.py $<TARGET_FILE:agent_shell_tool> ${kind})
endforeach()
parlance_python_test(agent.refusals agent ${agent}/refusal_test.py $<TARGET_FILE:agent_shell_tool>)
# The whole of `parlance agent`, with a model by script. Every task in one format, every fifth in each of the others.
if(TARGET parlance_serve)
  parlance_python_test(agent.tasks agent ${agent}/tasks_test.py $<TARGET_FILE:parlance_cli> --share 5)
  parlance_python_test(agent.interpreter agent ${agent}/interpreter_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.tools agent ${agent}/user_tools_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.mcp agent ${agent}/mcp_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.resume agent ${agent}/resume_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.stranger agent ${agent}/stranger_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.limits agent ${agent}/limits_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.ends agent ${agent}/ends_test.py $<TARGET_FILE:parlance_cli>)
  parlance_python_test(agent.overhead agent ${agent}/overhead.py $<TARGET_FILE:parlance_cli> --turns 60)
  set_tests_properties(agent.tasks PROPERTIES TIMEOUT 900 PROCESSORS 2 COST 100)  # begun first, as nothing runs beside it
  set_tests_properties(agent.resume agent.tools agent.mcp PROPERTIES TIMEOUT 600)
endif()
