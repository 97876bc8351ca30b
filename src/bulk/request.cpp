// Reading a request: first as it is, so that its id is known whatever happens next.
#include "bulk/request.h"

#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/normalise.h"

namespace parlance {

Result<void> read_request(Conversation& conversation, std::string_view text, std::string_view name,
                          const RequestOptions& options, Value& id) {
  id = {};
  ReadOptions as_is;
  as_is.normalise = false;
  if (Result<void> read = conversation.read(text, as_is, name); !read) return read;
  Conversation::State& state = conversation.state();
  id = take_variable(state, "id");
  if (options.read.normalise) {
    if (Result<void> done = normalise(state, options.read); !done) return done;
  }
  state.settle();
  for (const auto& [variable, json] : options.variables) {
    if (Result<void> set = conversation.set_json(variable, json); !set) return set;
  }
  for (const SpecialToken& token : options.special_tokens)
    conversation.set_default_string(token.name, token.text);
  return {};
}

bool has_tools(const Conversation& conversation) {
  const Value* tools = member(conversation.variables(), "tools");
  return tools != nullptr && !tools->is_none();
}

}  // namespace parlance
