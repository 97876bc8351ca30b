// A request of any API as one of OpenAI's chat completions; see request_out.h. Begin reading at write_chat_request.
//
// Reading has made it one; what is left are members that parlance has beside the API's.
#include "apis/request_out.h"
#include "value/string.h"

namespace parlance::apis {
namespace {

Value without(RequestOut& out, Value dict, std::string_view name) {
  return filtered(out.rt(), dict, [name](std::string_view key) { return key != name; });
}

/// Whether a tool failed: other APIs say it, and this one does not.
Value without_failure(RequestOut& out, Value message) {
  const Value failed = member_value(message, "is_error");
  if (!is_given(failed) || out.from() == Words::chat) return message;
  out.lose(failed, out.no_such());
  return without(out, message, "is_error");
}

/// Custom tools have their name inside here, and beside their type in Responses.
Value custom_tool(RequestOut& out, Value tool) {
  if (word(tool, "type") != "custom" || member(tool, "custom") != nullptr) return tool;
  const Value format = member_value(tool, "format");
  const bool flat = word(format, "type") == "grammar" && member(format, "grammar") == nullptr;
  if (flat) out.leave(format, {"type", "syntax", "definition"});
  const Value grammar =
      out.object({{"syntax", member_value(format, "syntax")}, {"definition", member_value(format, "definition")}});
  const Value made = flat ? out.object({{"type", Value::view("grammar")}, {"grammar", grammar}}) : format;
  const Value inner = out.object(
      {{"name", member_value(tool, "name")}, {"description", member_value(tool, "description")}, {"format", made}});
  return out.object({{"type", Value::view("custom")}, {"custom", inner}});
}

Value tools(RequestOut& out, Value given) {
  if (given.kind != Kind::list) return given;
  std::vector<Value> made;
  for (const Value& tool : items(given)) made.push_back(custom_tool(out, tool));
  return out.list(made);
}

/// Ollama's `images` as parts, its calls with their type, and each thing under one name.
Value without_ollama(RequestOut& out, Value message) {
  if (says_something(member_value(message, "images"))) {
    const Value content = out.content_of(message);
    if (out.failed()) return message;
    message = with_member(out.rt(), without(out, message, "images"), "content", content);
  }
  for (const auto& [word, ours] : {std::pair("tool_name", "name"), {"thinking", "reasoning_content"}}) {
    const Value theirs = member_value(message, word), own = member_value(message, ours);
    if (theirs.is_string() && own.is_string() && text(out.rt(), theirs) == text(out.rt(), own))
      message = without(out, message, word);
  }
  return message;
}

/// Calls have a type, which Ollama's have not.
Value with_types(RequestOut& out, Value message) {
  const Value calls = member_value(message, "tool_calls");
  if (calls.kind != Kind::list) return message;
  ListEditor made(out.rt(), calls);
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    const Value function = member_value(made[i], "function");
    if (function.kind != Kind::dict) continue;
    const Value bare = member(function, "index") == nullptr ? function : without(out, function, "index");
    if (member(made[i], "type") == nullptr)
      made.set(i, with_member(out.rt(), made[i], "type", Value::view("function")));
    if (bare.dict != function.dict) made.set(i, with_member(out.rt(), made[i], "function", bare));
  }
  return made.changed() ? with_member(out.rt(), message, "tool_calls", made.finish()) : message;
}

/// A tool's result is a text here, which other APIs do not ask for.
Value with_text_alone(RequestOut& out, Value message) {
  const Value content = member_value(message, "content");
  if (out.from() == Words::chat || word(message, "role") != "tool" || content.kind != Kind::list) return message;
  std::vector<Value> texts;
  for (const Value& part : items(content)) {
    if (word(part, "type") == "text") texts.push_back(part);
  }
  if (texts.empty())
    out.fail(content, "a tool's result is a text, and this one has none", "give it as a message of the user");
  for (const Value& part : items(content)) {
    if (word(part, "type") != "text") out.lose(part, "a tool's result is a text alone: left out");
  }
  return with_member(out.rt(), message, "content", out.content_from(texts));
}

/// How much Ollama is to think.
/// `true` gives no effort, since OpenAI's has no word for thinking as much as is usual.
void think(RequestOut& out) {
  const Value think = out.take("think");
  if (!is_given(think) || is_given(member_value(out.variables(), "reasoning_effort"))) return;
  const bool level = think.is_string() && think.size != 0, off = think.kind == Kind::boolean && think.integer == 0;
  out.take("reasoning_effort");
  if (level) return out.set("reasoning_effort", think);
  if (off) return out.set("reasoning_effort", Value::view("none"));
  out.at("think");
  if (says_something(think) && !out.is_overruled("reasoning_effort")) out.lose(think, "says no effort: left out");
}

/// Where Responses ask for logprobs by other members.
void logprobs(RequestOut& out) {
  const Value include = member_value(out.variables(), "include"), top = member_value(out.variables(), "top_logprobs");
  const bool one = include.kind == Kind::list && include.list->size == 1 &&
                   is_text(&include.list->items[0], "message.output_text.logprobs");
  if (one) out.take("include");
  if (one || says_something(top)) out.set("logprobs", Value::boolean(true));
}

/// A chat's own members stay as they are, but for Ollama's.
void write_chat_members(RequestOut& out) {
  think(out);
  if (is_given(member_value(out.variables(), "format"))) out.set("response_format", out.take_format());
}

}  // namespace

void write_chat_request(RequestOut& out) {
  out.take("messages");
  std::vector<Value> messages;
  for (const Value& message : out.messages()) {
    out.at_message(messages.size());
    messages.push_back(with_text_alone(out, with_types(out, without_ollama(out, without_failure(out, message)))));
    if (out.failed()) return;
  }
  out.set("messages", out.list(messages));
  if (out.from() == Words::chat) return write_chat_members(out);
  out.set("tools", tools(out, out.take("tools")));
  for (const std::string_view name : {"tool_choice", "parallel_tool_calls", "response_format"})
    out.set(name, out.take(name));
  out.set("reasoning_effort", out.take_effort());
  if (out.from() == Words::responses) logprobs(out);
}

}  // namespace parlance::apis
