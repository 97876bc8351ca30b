// Reading a request: first as it is, so that its id is known whatever happens next.
#include "bulk/request.h"

#include "conversation/api_request.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"

namespace parlance {
namespace {

ReadOptions as_is() {
  ReadOptions options;
  options.normalise = false;
  return options;
}

/// All that follows the reading.
Result<void> complete(Conversation& conversation, const Result<void>& read,
                      const RequestOptions& options, Value& id) {
  id = {};
  if (!read) return read;
  Conversation::State& state = conversation.state();
  id = take_variable(state, "id");
  if (options.read.normalise) {
    if (Result<void> converted = convert_request(state, options.read); !converted) return converted;
    const ReadOptions& reading = options.adapt ? options.adapt(conversation) : options.read;
    if (Result<void> done = normalise(state, reading); !done) return done;
  }
  state.settle();
  for (const auto& [variable, json] : options.variables) {
    if (options.read.normalise) passes::note_overruled_effort(state, variable, json);
    if (Result<void> set = conversation.set_json(variable, json); !set) return set;
  }
  if (options.model == nullptr) return {};
  return add_model(conversation, *options.model, !options.read.normalise || options.read.as_transformers);
}

}  // namespace

Result<void> read_request(Conversation& conversation, std::string_view text, std::string_view name,
                          const RequestOptions& options, Value& id) {
  return complete(conversation, conversation.read(text, as_is(), name), options, id);
}

Result<void> consume_request(Conversation& conversation, std::string text, std::string_view name,
                             const RequestOptions& options, Value& id) {
  return complete(conversation, conversation.consume(std::move(text), as_is(), name), options, id);
}

bool has_tools(const Conversation& conversation) {
  const Value* tools = member(conversation.variables(), "tools");
  return tools != nullptr && !tools->is_none();
}

}  // namespace parlance
