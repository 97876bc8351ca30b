# The agent's sandbox and shell. Each kind of sandbox is a test of its own, so that they run beside each other.
parlance_test_program(agent_shell_tool agent/shell_tool.cpp)
target_link_libraries(agent_shell_tool PRIVATE parlance_agent)
