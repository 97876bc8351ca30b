// Hashes messages. Begin reading at message_keys.
#include "serve/sessions/message_keys.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/json/plain.h"

namespace parlance::serve {

namespace {

/// The text of a content that is a string or a list of parts of text; other parts as JSON. A string that is one piece
/// is not copied; others lie in `room`.
std::string_view keyed_text(Value content, std::string& room) {
  if (content.is_leaf() && content.is_string()) return content.text();
  std::string& text = room;
  if (content.is_string()) return text = whole_text(content);
  text.clear();
  for (const Value& part : content.items()) {
    const Value said = part["text"];
    text += said.is_string() ? whole_text(said) : json_text(part);
  }
  return text;
}

/// Arguments that are no JSON, as the APIs whose calls have an object tell them; else undefined.
Value invalid_arguments(Value arguments) {
  const std::span<const DictEntry> members = arguments.members();
  const bool is_told = members.size() == 1 && members[0].key.text() == "INVALID_JSON" && members[0].value.is_string();
  return is_told ? members[0].value : Value();
}

std::string plain_arguments(Value arguments) {
  const Value told = invalid_arguments(arguments);
  return told.is_string() ? whole_text(told) : plain_json(arguments);
}

/// JSON without what depends on how it was written.
std::string plain_arguments(std::string_view json) {
  Document parsed;
  return parsed.parse(json) ? plain_arguments(parsed.root()) : utf8::repair(json);
}

void add_call(JsonWriter& calls, std::string_view name, std::string_view arguments) {
  calls.item(JsonWriter('{').text("name", name).text("arguments", arguments).take());
}

std::string said_by_assistant(std::string_view content, std::string calls) {
  return JsonWriter('{').text("content", ascii::trimmed(content)).raw("calls", calls).take();
}

std::string calls_of(Value message) {
  JsonWriter calls('[');
  for (const Value& call : message["tool_calls"].items()) {
    const Value custom = call["custom"];
    if (!custom.is_undefined()) {
      const std::string input = JsonWriter('{').text("input", whole_text(custom["input"])).take();
      add_call(calls, custom["name"].text(), plain_arguments(input));
      continue;
    }
    const Value arguments = call["function"]["arguments"];
    add_call(calls, call["function"]["name"].text(),
             arguments.is_string() ? plain_arguments(whole_text(arguments)) : plain_arguments(arguments));
  }
  return calls.take();
}

std::string calls_of(const ReplyMessage& reply) {
  JsonWriter calls('[');
  for (const ReplyCall& call : reply.calls) add_call(calls, utf8::repair(call.name), plain_arguments(call.arguments));
  return calls.take();
}

/// Of one message.
struct OwnKeys {
  explicit OwnKeys(const Key& both) : whole(both), without_text(both) {}
  OwnKeys(Key first, Key second, bool with_text)
      : whole(std::move(first)), without_text(std::move(second)), has_text(with_text) {}
  Key whole, without_text;
  bool has_text = false;  ///< beside calls
};

Key key_without_text(const std::string& calls, const std::string& ids) {
  return sha256(said_by_assistant("", calls) + ids);
}

OwnKeys own_keys_of_assistant(Value message) {
  std::string room;
  const std::string_view text = ascii::trimmed(keyed_text(message["content"], room));
  const std::string calls = calls_of(message);
  const Key whole = sha256(said_by_assistant(text, calls));
  if (message["tool_calls"].items().empty()) return OwnKeys(whole);
  JsonWriter ids('[');
  for (const Value& call : message["tool_calls"].items()) ids.item_text(call["id"].text());
  return {whole, key_without_text(calls, ids.take()), !text.empty()};
}

/// The members of a result that clients and templates do not agree on are left out: ids are made up anew.
std::string said_by_others(Value message) {
  JsonWriter text('{');
  std::string room;
  for (const DictEntry& member : message.members()) {
    const std::string_view name = member.key.text();
    if (name == "tool_call_id" || name == "id") continue;
    if (name == "content")
      text.text(name, keyed_text(member.value, room));
    else
      text.raw(name, json_text(member.value));
  }
  return text.take();
}

OwnKeys own_keys_of(Value message) {
  if (message["role"].text() == "assistant") return own_keys_of_assistant(message);
  const Key whole = sha256(said_by_others(message));
  const Value id = message["tool_call_id"];
  return id.is_string() ? OwnKeys(whole, sha256(whole + whole_text(id)), false) : OwnKeys(whole);
}

}  // namespace

MessageKeys message_keys(const Conversation& conversation, std::string_view owner) {
  const Key start = sha256(owner);
  MessageKeys keys{.whole = {start}, .without_system = {start}, .without_texts = {start}};
  add_keys(keys, conversation, 0);
  for (std::vector<Key>* const one : {&keys.whole, &keys.without_system, &keys.without_texts}) one->erase(one->begin());
  return keys;
}

void add_keys(MessageKeys& keys, const Conversation& conversation, std::size_t from) {
  Key whole = keys.whole.back(), rest = keys.without_system.back(), without_texts = keys.without_texts.back();
  const std::span<const Value> messages = conversation.messages().items();
  for (const Value& message : messages.subspan(std::min(from, messages.size()))) {
    const std::string_view role = message["role"].text();
    const OwnKeys own = own_keys_of(message);
    keys.have_texts = keys.have_texts || own.has_text;
    whole = sha256(whole + own.whole);
    if (role != "system" && role != "developer") rest = sha256(rest + own.whole);
    if (!without_texts.empty()) without_texts = sha256(without_texts + own.without_text);
    keys.whole.push_back(whole);
    keys.without_system.push_back(rest);
    keys.without_texts.push_back(without_texts);
  }
}

/// Clients have a character that was cut as U+FFFD.
Key key_after(const Key& before, const ReplyMessage& reply) {
  return sha256(before + sha256(said_by_assistant(utf8::repair(reply.content), calls_of(reply))));
}

Key key_after_without_text(const Key& before, const ReplyMessage& reply, const std::vector<std::string>& ids) {
  if (reply.calls.empty()) return key_after(before, reply);
  JsonWriter told('[');
  for (const std::string& id : ids) told.item_text(id);
  return sha256(before + key_without_text(calls_of(reply), told.take()));
}

void begin_with(MessageKeys& keys, const Key& whole, const Key& without_system, const Conversation& conversation,
                std::size_t messages) {
  keys.whole.resize(messages);
  keys.without_system.resize(messages);
  keys.without_texts.resize(messages);
  keys.whole.back() = whole;
  keys.without_system.back() = without_system;
  keys.have_texts = true;
  add_keys(keys, conversation, messages);
}

std::string text_for_keys(Value content) {
  std::string room;
  return std::string(ascii::trimmed(keyed_text(content, room)));
}

Key variables_key(const Conversation& conversation) {
  std::vector<std::pair<std::string_view, std::string>> all;  // by name: requests have the same in any order
  for (const DictEntry& member : conversation.variables().members())
    if (member.key.text() != "messages") all.emplace_back(member.key.text(), json_text(member.value));
  std::ranges::sort(all);
  JsonWriter named('{');
  for (const auto& [name, json] : all) named.raw(name, json);
  return sha256(named.take());
}

}  // namespace parlance::serve
