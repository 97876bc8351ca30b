// How the reply to a request is read. Begin reading at RequestReader::reply_to.
#include <algorithm>
#include <span>

#include "base/reasoning_names.h"
#include "conversation/conversation.h"
#include "conversation/custom_tool.h"
#include "conversation/edit.h"
#include "json/json.h"
#include "parlance/reply_prompt.h"
#include "request/state.h"
#include "value/dict.h"

namespace parlance {
namespace {

/// Whether tools are handed over under another name than the usual one.
bool has_other_tools(const Conversation& conversation) {
  constexpr std::string_view kNames[] = {"functions", "builtin_tools", "custom_tools", "xml_tools", "python_tools"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return member(conversation.variables(), name) != nullptr; });
}

/// The custom tool of this name among those of a request, or in a namespace of them.
Value custom_tool_named(Value given, std::string_view name) {
  for (const Value tool : given.is_sequence() ? items(given) : std::span<const Value>()) {
    if (is_text(member(inside_custom(tool), "name"), name)) return tool;
    const Value inner = is_text(member(tool, "type"), "namespace") ? member_value(tool, "tools") : Value();
    if (const Value found = custom_tool_named(inner, name); !found.is_undefined()) return found;
  }
  return {};
}

/// One that the request has under another name.
Value custom_tool(Runtime& rt, Value name) {
  DictBuilder made(rt, 2);
  made.set("type", Value::view("custom"));
  made.set("name", name);
  return made.finish();
}

/// The tools of a request: its custom tools as it declares them, since templates know them as functions.
Value declared_tools(Runtime& rt, const Conversation& conversation, Value tools) {
  const Value given = member_value(inside_of(conversation).document.root(), "tools");
  std::vector<Value> declared(items(tools).begin(), items(tools).end());
  for (const Change& change : inside_of(conversation).changes) {
    if (change.tool < 0 || change.pass != Pass::custom_tools) continue;
    Value& tool = declared[static_cast<std::size_t>(change.tool)];
    const Value name = member_value(member_value(tool, "function"), "name");
    if (!name.is_string()) continue;
    const Value own = custom_tool_named(given, leaf_text(name));
    tool = own.is_undefined() ? custom_tool(rt, name) : own;
  }
  ListBuilder list(rt, static_cast<std::uint32_t>(declared.size()));
  for (const Value tool : declared) list.append(tool);
  return list.finish();
}

/// A request without tools has none, so that an answer in JSON is no call.
/// Three answers: tools under the usual name are read; under another name they are not known, and any call counts; and
/// with none at all no call counts.
Result<ReplyTools> tools_of(const Conversation& conversation, KnownTools& known) {
  const Value* tools = member(conversation.variables(), "tools");
  if (tools == nullptr || !tools->is_sequence())
    return has_other_tools(conversation) ? ReplyTools() : known.from_json("[]");
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string json;
  if (!append_json(rt, json, declared_tools(rt, conversation, *tools))) {
    return Error(ErrorCode::value, "the tools cannot be written as JSON")
        .input("tools")
        .hint("what nests deeper than " + std::to_string(limits.depth) + " levels cannot");
  }
  return known.from_json(std::move(json));
}

/// Calls of the history are calls, though the request says no more which tools there were.
Result<ReplyTools> tools_of_history(const Conversation& conversation, KnownTools& known) {
  const Value messages = conversation.messages();
  const auto calls = [](Value message) { return member(message, "tool_calls") != nullptr; };
  const bool are_unknown = !has_tools(conversation) && messages.is_sequence() &&
                           std::any_of(items(messages).begin(), items(messages).end(), calls);
  return are_unknown ? ReplyTools() : tools_of(conversation, known);
}

std::string_view member_text(const Value* message, std::string_view key) {
  const Value* found = message == nullptr ? nullptr : member(*message, key);
  return found != nullptr && found->is_leaf() && found->is_string() ? leaf_text(*found) : std::string_view();
}

/// Where the reply begins that goes on with the last message, which its template does not render: in the answer or in
/// reasoning. Nothing where the format has no reasoning to tell apart.
std::optional<std::string> continued_prompt(const ReplyFormat& format, const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (!messages.is_sequence() || messages.list->size == 0 || !format.reasoning_open.exists() ||
      !format.reasoning_close.exists())
    return std::nullopt;
  const Value* last = &messages.list->items[messages.list->size - 1];
  const bool answers = member_text(last, "content").find_first_not_of(" \t\r\n") != std::string_view::npos;
  const std::string& open = format.reasoning_open.texts.front();
  const std::string& close = format.reasoning_close.texts.front();
  std::string prompt = format.prompt;
  const std::size_t opened = prompt.rfind(open), closed = prompt.rfind(close);
  const bool inside = opened != prompt.npos && (closed == prompt.npos || closed < opened);
  if (answers) return inside ? prompt + close : prompt;
  for (const std::string_view key : kReasoningNames) {
    const std::string_view reasoning = member_text(last, key);
    if (reasoning.empty()) continue;
    if (!inside) prompt = prompt.substr(0, opened) + open;
    return prompt.append(format.reasoning_open.after).append(reasoning);
  }
  return std::nullopt;
}

/// The end-of-sequence token that the request or the model tells.
std::vector<std::string> ends_of(const Conversation& conversation) {
  const Value* token = member(conversation.variables(), "eos_token");
  if (token == nullptr || !token->is_leaf() || leaf_text(*token).empty()) return {};
  return {std::string(leaf_text(*token))};
}

constexpr std::string_view kTokens[] = {"bos_token", "eos_token", "unk_token", "pad_token"};

}  // namespace

std::unique_ptr<RequestReader::State::Formats> RequestReader::State::open_formats() {
  auto formats = std::make_unique<Formats>();
  if (options.reply_format) {
    const DeriveOptions deriving = deriving_for(model, options.limits);
    Result<CompiledReplyFormat> compiled =
        compiled_for_tokens(*options.reply_format, options.control_tokens, deriving.special_tokens);
    if (compiled) {
      formats->known = *std::move(compiled);
    } else {
      formats->failed = Result<void>(compiled.error().input("reply_format." + compiled.error().input_path()));
    }
    return formats;
  }
  const Result<Template>& compiled = templates.compiled(true);
  if (!compiled) {
    formats->failed = Result<void>(compiled.error());
    return formats;
  }
  DeriveOptions deriving = deriving_for(model, options.limits);
  deriving.variables = options.variables;
  deriving.response_template = model.response_template;
  formats->derived.emplace(*compiled, std::move(deriving), options.control_tokens);
  return formats;
}

Result<ReplyStart> RequestReader::State::format_for(Value variables) {
  Formats& formats = formats_.get([this] { return open_formats(); });
  if (formats.failed) return formats.failed->error();
  Result<ReplyStart> start = formats.derived ? formats.derived->format_for(variables) : ReplyStart{*formats.known};
  if (start) start->options.check_calls = true;
  return start;
}

/// Where a reply begins does not depend on special tokens that nobody told, nor on what the sandbox refuses.
Result<std::string> RequestReader::State::prompt_of(const ReplyFormat& format, Conversation& conversation,
                                                    const RenderOptions& render) {
  const Result<Template>& compiled = templates.compiled(has_tools(conversation));
  if (!compiled) return compiled.error();
  Result<std::string> prompt = reply_prompt(*compiled, conversation, render, format);
  if (prompt || (prompt.error().code() != ErrorCode::undefined && prompt.error().code() != ErrorCode::security))
    return prompt;
  for (const std::string_view name : kTokens) (void)conversation.set_default_string(name, "");
  const Result<Template> changing = compiled->with_changes();
  Result<std::string> again = changing ? reply_prompt(*changing, conversation, render, format) : prompt;
  return again ? again : prompt;
}

std::shared_ptr<const PromptKinds> RequestReader::State::find_kinds(const CompiledReplyFormat& format,
                                                                    const std::vector<std::string>& ends) const {
  const std::lock_guard lock(kinds_mutex_);
  for (const KnownKinds& one : kinds_)
    if (&one.format.source() == &format.source() && one.ends == ends) return one.kinds;
  return nullptr;
}

/// Two threads may make the same at once: either will do.
std::shared_ptr<const PromptKinds> RequestReader::State::kinds_for(const CompiledReplyFormat& format,
                                                                   std::vector<std::string> ends) {
  constexpr std::size_t kMost = 8;
  if (std::shared_ptr<const PromptKinds> known = find_kinds(format, ends)) return known;
  auto made = std::make_shared<const PromptKinds>(format, ends);
  const std::lock_guard lock(kinds_mutex_);
  if (kinds_.size() == kMost) kinds_.erase(kinds_.begin());
  kinds_.push_back({format, std::move(ends), made});
  return made;
}

Result<std::vector<KindRange>> RequestReader::reply_kinds(const Conversation& conversation,
                                                          const Rendering& rendering) const {
  const Result<ReplyStart> start = inside().format_for(conversation.variables());
  if (!start) return start.error();
  const Result<ReplyTools> tools = tools_of_history(conversation, inside().tools);
  if (!tools) return tools.error();
  return inside().kinds_for(start->format, ends_of(conversation))->ranges(rendering, conversation, *tools);
}

Result<ReplyStart> RequestReader::reply(Value variables) const { return inside().format_for(variables); }

/// All but where the reply begins.
Result<ReplyStart> RequestReader::State::start_of(const Conversation& conversation) {
  Result<ReplyStart> start = format_for(conversation.variables());
  if (!start) return start;
  if (!options.read.reasoning_effort.empty()) start->notes = effort_notes(conversation);
  Result<ReplyTools> known = tools_of(conversation, tools);
  if (!known) return known.error();
  start->options.tools = std::move(*known);
  start->options.ends = ends_of(conversation);
  start->options.check_calls = !has_other_tools(conversation);  // which of them are called how, nobody knows
  return start;
}

Result<ReplyStart> RequestReader::reply_to(const Conversation& conversation, const RenderOptions& options,
                                           std::string_view prompt) const {
  Result<ReplyStart> start = inside().start_of(conversation);
  if (!start) return start;
  const Result<Template>& chosen = template_for(conversation);
  if (!chosen) return chosen.error();
  Result<std::string> end = reply_prompt(*chosen, conversation, options, start->format.source(), prompt);
  if (!end) return end.error();
  start->options.prompt = std::move(*end);
  return start;
}

Result<ReplyStart> RequestReader::reply_to(ChatRequest& request, const RenderOptions& options) const {
  Conversation& conversation = request.conversation;
  Result<ReplyStart> begun = inside().start_of(conversation);
  if (!begun || !inside().has_template()) return begun;
  ReplyStart start = std::move(*begun);
  Result<std::string> prompt = inside().prompt_of(start.format.source(), conversation, options);
  if (prompt) {
    start.options.prompt = std::move(*prompt);
    return start;
  }
  if (prompt.error().code() == ErrorCode::conversation)
    start.options.prompt = continued_prompt(start.format.source(), conversation);
  const std::string_view from =
      start.options.prompt ? "as going on with its last message" : "from where its prompts usually end";
  start.notes.push_back("the template does not render this request (" + std::string(prompt.error().message()) +
                        "), so the reply is read " + std::string(from));
  return start;
}

}  // namespace parlance
