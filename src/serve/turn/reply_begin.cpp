// Reads where a reply is to begin. Begin reading at say_where_reply_begins.
#include "serve/turn/reply_begin.h"

#include <algorithm>
#include <optional>

#include "serve/json/members.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kOpens = "add_generation_prompt", kGoesOn = "continue_final_message";

bool has_text(Value content) {
  if (content.is_string()) return !whole_text(content).empty();
  return std::ranges::any_of(content.items(), [](Value part) { return !whole_text(part["text"]).empty(); });
}

/// Does the message say it itself, by a member that some providers' APIs have for it?
bool asks_to_go_on(Value message) { return flag_of(message["prefix"], false) || flag_of(message["partial"], false); }

/// A call or a thought that nobody answered is no beginning of a text.
bool ends_with_text(Value message, Value body) {
  if (!message["tool_calls"].items().empty() || !has_text(message["content"])) return false;
  const std::span<const Value> given = body["messages"].items();
  if (given.empty()) return true;
  const std::span<const Value> blocks = given.back()["content"].items();
  return blocks.empty() || blocks.back()["type"].text() == "text";
}

}  // namespace

SentTo sent_to(ReplyApi api) {
  if (api == ReplyApi::anthropic) return SentTo::anthropic;
  return api == ReplyApi::ollama ? SentTo::ollama : SentTo::unsaid;
}

Result<void> say_where_reply_begins(Conversation& conversation, Value body, ReplyApi api) {
  const Value list = conversation.messages();
  const std::span<const Value> messages = list.items();
  if (messages.empty() || messages.back()["role"].text() != "assistant") return {};
  const Value variables = conversation.variables();
  const Value opens = variables[kOpens], goes_on = variables[kGoesOn];
  if (flag_of(goes_on, false)) return {};
  if (asks_to_go_on(messages.back())) return conversation.set_json(kGoesOn, "true");
  if (is_given(opens)) return {};
  const bool by_itself = api == ReplyApi::anthropic || api == ReplyApi::ollama;
  if (by_itself && !is_given(goes_on) && ends_with_text(messages.back(), body))
    return conversation.set_json(kGoesOn, "true");
  return conversation.set_json(kOpens, "true");
}

Result<void> check_said(const Conversation& conversation) {
  if (!conversation.messages().items().empty()) return {};
  return Error(ErrorCode::conversation, "messages must not be empty").input("messages");
}

}  // namespace parlance::serve
