// What an agent adds to the capture of its session: what it was asked for, and each run of a tool, before it begins and
// once it has ended. So nothing that was begun is repeated without anybody knowing.
//
//     {"record": "agent", "goal": …, "settings": {…}}
//     {"record": "tool", "state": "begin", "id": …, "name": …, "arguments": …}
//     {"record": "tool", "state": "end", "id": …, …, "text": …, "succeeded": …, "changed": …}
//     {"record": "end", "reason": …, "sentence": …, "turns": …, "sampled_tokens": …}
#pragma once
#include <memory>
#include <string>

#include "parlance/agent.h"
#include "serve/agent/agent_gateway.h"
#include "serve/agent/succession.h"
#include "serve/gateway.h"

namespace parlance::serve {

class AgentJournal {
 public:
  /// Of the gateway's capture; without one it writes nothing.
  AgentJournal(Gateway& gateway, const ServedModel& model, std::string session);
  /// `settings` is an object. Fail with file.
  Result<void> write_goal(std::string_view goal, const std::string& settings);
  /// Events of kind call and outcome; others are none of it.
  Result<void> write(const AgentEvent& event);
  Result<void> write_end(const AgentEnd& end);

 private:
  Result<void> append(std::string record, bool sync);
  Gateway& gateway_;
  const ServedModel& model_;
  std::string session_, file_;
};

/// Reads a session's file, samples its turns once more from the record, so that `turns` has their ids, and gives the
/// conversation. Fails with file, value (no capture of an agent, another template or tokenizer).
Result<RecordedAgent> restore_agent(Succession& turns, const std::shared_ptr<ServedModel>& model,
                                    const std::string& file);

}  // namespace parlance::serve
