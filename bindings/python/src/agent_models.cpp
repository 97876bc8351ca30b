// Begin reading at PyAgentModel.
#include "agent_models.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "gil.h"
#include "grammars.h"
#include "objects.h"
#include "parlance/json_writer.h"

namespace parlance::python {

namespace {

/// What was raised is kept in Raised.
const Error kRaised(ErrorCode::python_runtime, "a function raised");

/// `sample(ids, grammar, stop_tokens)` gives the tokens one after the other; it ends before a stop token if a limit
/// ended it.
bool sample_by(const PyAgentModel::Running& running, const SampleRequest& asked) {
  const std::vector<TokenId> ids(asked.ids.begin(), asked.ids.end()),
      stops(asked.stop_tokens.begin(), asked.stop_tokens.end());
  const nb::object grammar = asked.grammar.empty() ? nb::none() : nb::object(str_of(asked.grammar));
  bool ended = false;
  std::size_t count = 0;
  PythonItems sampled(call_python(running.function, ids, grammar, stops));
  for (nb::object one = sampled.next(); one.is_valid(); one = sampled.next()) {
    const TokenId id = id_of(one);
    asked.take(id);
    ended = std::find(stops.begin(), stops.end(), id) != stops.end();
    if (ended || ++count == asked.most_tokens || *running.raised) break;  // a callback may have raised at this token
    if (asked.deadline && std::chrono::steady_clock::now() >= *asked.deadline) break;
  }
  return !ended;
}

/// Name and JSON.
using GivenMember = std::pair<std::string, std::string>;
/// Id, name, arguments, whether these are a JSON object, and what else the call has.
using GivenCall = std::tuple<std::string, std::string, std::string, bool, std::vector<GivenMember>>;
/// Content, reasoning, calls, what else the message has, tokens of the prompt (unset: nobody says) and of the reply,
/// and whether a limit of tokens ended it: as parlance._replied makes it of what a function gives. None: the prompt is
/// too long.
using GivenReply = std::optional<std::tuple<std::string, std::string, std::vector<GivenCall>, std::vector<GivenMember>,
                                            std::optional<std::size_t>, std::size_t, bool>>;

std::vector<JsonMember> members_of(std::vector<GivenMember> given) {
  std::vector<JsonMember> all;
  for (auto& [name, json] : given) all.push_back({std::move(name), std::move(json)});
  return all;
}

/// A model that is a function of Python: `reply(messages, tools)`.
class FunctionModel : public AgentModel {
 public:
  FunctionModel(const PyAgentModel::Running& running, std::optional<std::size_t> context)
      : running_(running), context_(context) {}
  Result<AgentReply> reply(const AgentRequest& request, ReplySink events) override;
  std::optional<std::size_t> context() const override { return context_; }

 private:
  static AgentReply taken(GivenReply::value_type given);
  std::size_t about_tokens(std::string_view tools) const;

  const PyAgentModel::Running& running_;
  std::optional<std::size_t> context_;
  std::vector<Message> messages_;  ///< of the conversation, as the agent has them
  double bytes_per_token_ = 4;     ///< as usual, until the function says how many tokens there are
};

/// Of all messages and the tools.
std::size_t FunctionModel::about_tokens(std::string_view tools) const {
  constexpr std::size_t kMarkup = 16;
  std::size_t bytes = tools.size();
  for (const Message& message : messages_) {
    bytes += kMarkup + message.content.size() + message.reasoning_content.size();
    for (const ContentPart& part : message.parts) bytes += part.text.size();
    for (const ToolCall& call : message.tool_calls) bytes += kMarkup + call.name.size() + call.arguments_json.size();
  }
  return static_cast<std::size_t>(static_cast<double>(bytes) / bytes_per_token_);
}

Result<AgentReply> FunctionModel::reply(const AgentRequest& request, ReplySink events) {
  if (request.anew) messages_.clear();
  messages_.insert(messages_.end(), request.messages.begin(), request.messages.end());
  const std::size_t about = about_tokens(request.tools);
  if (context_ && about >= *context_) return AgentReply{.prompt_tokens = about, .too_long = true};
  Result<GivenReply> given = running_.raised->calling(
      [&] { return nb::cast<GivenReply>(call_python(running_.function, list_of(messages_, Arguments::texts))); });
  if (!given) return given.error();
  if (!*given) return AgentReply{.prompt_tokens = about, .too_long = true};
  AgentReply made = taken(**std::move(given));
  if (made.prompt_tokens != 0)
    bytes_per_token_ *= static_cast<double>(about) / static_cast<double>(made.prompt_tokens);
  else
    made.prompt_tokens = about;
  messages_.push_back(*made.as_message);
  const bool is_readable = std::all_of(made.message.calls.begin(), made.message.calls.end(),
                                       [](const ReplyCall& call) { return call.complete; });
  if (!is_readable) messages_.back().tool_calls.clear();  // as the agent has it
  const ReplyMessage& message = made.message;
  if (!message.reasoning.empty()) events({.kind = ReplyEvent::Kind::reasoning, .text = message.reasoning});
  if (!message.content.empty()) events({.kind = ReplyEvent::Kind::content, .text = message.content});
  if (*running_.raised) return kRaised;
  return made;
}

AgentReply FunctionModel::taken(GivenReply::value_type given) {
  auto& [content, reasoning, calls, members, prompt_tokens, sampled_tokens, length] = given;
  AgentReply made{.prompt_tokens = prompt_tokens.value_or(0), .sampled_tokens = sampled_tokens, .length = length};
  made.message.content = content;
  made.message.reasoning = reasoning;
  Message said{.role = "assistant",
               .content = std::move(content),
               .reasoning_content = std::move(reasoning),
               .members = members_of(std::move(members))};
  for (auto& [id, name, arguments, complete, more] : calls) {
    said.tool_calls.push_back({id, name, arguments, members_of(std::move(more))});
    if (!complete) made.message.diagnostics.push_back({.expected = "a JSON object as the arguments of " + name});
    made.message.calls.push_back({std::move(id), std::move(name), std::move(arguments), complete});
  }
  made.as_message = std::move(said);
  return made;
}

}  // namespace

void Raised::raise_again() {
  if (!first_.is_valid()) return;
  const nb::object raised = std::move(first_);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw nb::python_error();
}

namespace {

void set_members(nb::dict& made, const std::vector<JsonMember>& members) {
  for (const JsonMember& member : members) made[str_of(member.name)] = from_json(member.json);
}

nb::list parts_of(const std::vector<ContentPart>& parts) {
  nb::list all;
  for (const ContentPart& part : parts) {
    nb::dict made;
    made["type"] = str_of(part.type);
    if (part.type == "text") made["text"] = text_to_python(part.text);
    set_members(made, part.members);
    all.append(made);
  }
  return all;
}

nb::list calls_of(const std::vector<ToolCall>& calls, Arguments arguments) {
  nb::list all;
  for (const ToolCall& call : calls) {
    nb::dict function, made;
    function["name"] = text_to_python(call.name);
    function["arguments"] = arguments == Arguments::texts ? nb::object(text_to_python(call.arguments_json))
                                                          : from_json(call.arguments_json);
    if (!call.id.empty()) made["id"] = text_to_python(call.id);
    made["type"] = "function";
    made["function"] = function;
    set_members(made, call.members);
    all.append(made);
  }
  return all;
}

}  // namespace

nb::list list_of(std::span<const Message> messages, Arguments arguments) {
  nb::list all;
  for (const Message& message : messages) {
    nb::dict made;
    made["role"] = text_to_python(message.role);
    made["content"] =
        message.parts.empty() ? nb::object(text_to_python(message.content)) : nb::object(parts_of(message.parts));
    const std::pair<const char*, const std::string&> texts[] = {{"reasoning_content", message.reasoning_content},
                                                                {"tool_call_id", message.tool_call_id},
                                                                {"name", message.name}};
    for (const auto& [name, text] : texts)
      if (!text.empty()) made[name] = text_to_python(text);
    if (!message.tool_calls.empty()) made["tool_calls"] = calls_of(message.tool_calls, arguments);
    set_members(made, message.members);
    all.append(made);
  }
  return all;
}

Conversation conversation_of(nb::handle list) {
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  builder.begin_dict();
  taker.take_messages(list);
  builder.end_dict();
  ReadOptions options;
  for (const Pass pass : {Pass::parse_arguments, Pass::empty_arguments})
    options.passes.skip(pass);  // they stay as written
  Conversation read;
  check(read.read(builder, options));
  return read;
}

PyAgentModel::PyAgentModel(std::shared_ptr<const Engine> engine, const PyTokenizer& tokenizer,
                           const std::optional<std::string>& grammar, std::optional<std::size_t> context)
    : engine_(std::move(engine)), tokenizer_(tokenizer.tokenizer) {
  std::optional<GrammarSyntax> syntax;
  if (grammar) syntax = grammar_syntax_named(*grammar);
  const auto sample = [this](const SampleRequest& asked) {
    Result<bool> length = running.raised->calling([&] { return sample_by(running, asked); });
    return *running.raised ? kRaised : length;
  };
  model_ = make_session_model(
      {.reader = engine_->reader, .tokenizer = *tokenizer_, .sample = sample, .syntax = syntax, .context = context});
}

PyAgentModel::PyAgentModel(std::optional<std::size_t> context)
    : model_(std::make_unique<FunctionModel>(running, context)) {}

}  // namespace parlance::python
