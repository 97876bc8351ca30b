// An agent owns its conversation.
#include "parlance/parlance.h"

std::size_t count(parlance::AgentModel& model) {
#ifdef WRONG
  const auto& messages = parlance::Agent(model, {.goal = "Do it"}).messages();
#else
  const parlance::Agent agent(model, {.goal = "Do it"});
  const auto& messages = agent.messages();
#endif
  return messages.size();
}
