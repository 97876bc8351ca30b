// Begin reading at PyAgentModel.
#include "agent_models.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "grammars.h"
#include "objects.h"
#include "parlance/json_writer.h"

namespace parlance::python {

namespace {

/// `sample(ids, grammar, stop_tokens)` gives the tokens one after the other; it ends before a stop token if a limit
/// ended it.
bool sample_by(nb::handle sample, const SampleRequest& asked) {
  const std::vector<TokenId> ids(asked.ids.begin(), asked.ids.end()),
      stops(asked.stop_tokens.begin(), asked.stop_tokens.end());
  const nb::object grammar = asked.grammar.empty() ? nb::none() : nb::object(str_of(asked.grammar));
  bool ended = false;
  std::size_t count = 0;
  for (const nb::handle one : nb::iter(sample(nb::cast(ids), grammar, nb::cast(stops)))) {
    const TokenId id = id_of(one);
    asked.take(id);
    ended = std::find(stops.begin(), stops.end(), id) != stops.end();
    if (ended || ++count == asked.most_tokens) break;
    if (asked.deadline && std::chrono::steady_clock::now() >= *asked.deadline) break;
  }
  return !ended;
}

/// Id, name, arguments, and whether these are a JSON object.
using GivenCall = std::tuple<std::string, std::string, std::string, bool>;
/// Content, reasoning, calls, tokens of the prompt and of the reply, and whether a limit of tokens ended it: as
/// parlance.agent makes it of what a function gives.
using GivenReply = std::tuple<std::string, std::string, std::vector<GivenCall>, std::size_t, std::size_t, bool>;

/// A model that is a function of Python: `reply(messages, tools)`.
class FunctionModel : public AgentModel {
 public:
  FunctionModel(const nb::handle& function, std::optional<std::size_t> context)
      : function_(function), context_(context) {}
  Result<AgentReply> reply(const AgentRequest& request, ReplySink events) override;
  std::optional<std::size_t> context() const override { return context_; }

 private:
  Result<AgentReply> taken(GivenReply given);

  const nb::handle& function_;
  std::optional<std::size_t> context_;
  std::vector<Message> messages_;  ///< of the conversation, as the agent has them
  std::size_t made_ids_ = 0;       ///< of calls: none is one's of an earlier run
};

Result<AgentReply> FunctionModel::reply(const AgentRequest& request, ReplySink events) {
  if (request.anew) {
    messages_.clear();
    for (const Message& message : request.messages) made_ids_ += message.tool_calls.size();
  }
  messages_.insert(messages_.end(), request.messages.begin(), request.messages.end());
  Result<GivenReply> given = calling([&] {
    const nb::object tools = request.tools.empty() ? nb::none() : from_json(request.tools);
    return nb::cast<GivenReply>(function_(list_of(messages_), tools));
  });
  if (!given) return given.error();
  Result<AgentReply> made = taken(*std::move(given));
  if (!made) return made;
  const ReplyMessage& message = made->message;
  if (!message.reasoning.empty()) events({.kind = ReplyEvent::Kind::reasoning, .text = message.reasoning});
  if (!message.content.empty()) events({.kind = ReplyEvent::Kind::content, .text = message.content});
  return made;
}

Result<AgentReply> FunctionModel::taken(GivenReply given) {
  auto& [content, reasoning, calls, prompt_tokens, sampled_tokens, length] = given;
  AgentReply made{.prompt_tokens = prompt_tokens, .sampled_tokens = sampled_tokens, .length = length};
  made.message.content = content;
  made.message.reasoning = reasoning;
  Message said{.role = "assistant", .content = std::move(content), .reasoning_content = std::move(reasoning)};
  bool readable = true;
  for (auto& [id, name, arguments, complete] : calls) {
    if (id.empty()) id = "call_" + std::to_string(++made_ids_);
    readable = readable && complete;
    said.tool_calls.push_back({.id = id, .name = name, .arguments_json = arguments});
    if (!complete) made.message.diagnostics.push_back({.expected = "a JSON object as the arguments of " + name});
    made.message.calls.push_back({std::move(id), std::move(name), std::move(arguments), complete});
  }
  if (!readable) said.tool_calls.clear();
  messages_.push_back(std::move(said));
  return made;
}

}  // namespace

nb::list list_of(std::span<const Message> messages) {
  nb::list all;
  Conversation made;
  for (const Message& message : messages)
    if (!made.add(message)) return all;
  for (const Value& message : made.messages().items()) all.append(from_json(json_text(message)));
  return all;
}

Conversation conversation_of(nb::handle list) {
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  builder.begin_dict();
  taker.take_messages(list);
  builder.end_dict();
  Conversation read;
  check(read.read(builder));
  return read;
}

PyAgentModel::PyAgentModel(std::shared_ptr<const Engine> engine, const PyTokenizer& tokenizer,
                           const std::optional<std::string>& grammar, std::optional<std::size_t> context)
    : engine_(std::move(engine)), tokenizer_(tokenizer.tokenizer) {
  std::optional<GrammarSyntax> syntax;
  if (grammar) syntax = grammar_syntax_named(*grammar);
  const auto sample = [this](const SampleRequest& asked) {
    return calling([&] { return sample_by(function, asked); });
  };
  model_ = make_session_model(
      {.reader = engine_->reader, .tokenizer = *tokenizer_, .sample = sample, .syntax = syntax, .context = context});
}

PyAgentModel::PyAgentModel(std::optional<std::size_t> context)
    : model_(std::make_unique<FunctionModel>(function, context)) {}

}  // namespace parlance::python
