// Tokens as JSON. Begin reading at write_tokens.
#include "cli/tokens_json.h"

#include "base/utf8.h"
#include "cli/texts_json.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

/// A part of a character is no text of its own: its bytes are given beside it, as numbers.
void add_text(JsonWriter& object, const std::string& text) {
  object.text("text", text);
  if (utf8::is_valid(text, false)) return;
  JsonWriter bytes('[');
  for (const char byte : text) bytes.next() += std::to_string(static_cast<unsigned char>(byte));
  object.key("bytes") += bytes.take();
}

std::string token_as_json(const PromptToken& token, const Tokenizer& tokenizer) {
  JsonWriter object('{');
  object.number("id", token.id);
  add_text(object, tokenizer.token_text(token.id));
  object.number("begin", token.bytes.begin).number("end", token.bytes.end).text("origin", origin_name(token.origin));
  if (token.message >= 0) object.number("message", token.message);
  if (token.control) object.flag("control", true);
  return object.number("mask", token.trained ? 1 : 0).take();
}

std::string guarded_as_json(const GuardedText& text, const Tokenizer& tokenizer) {
  JsonWriter object('{');
  object.number("begin", text.bytes.begin)
      .number("end", text.bytes.end)
      .number("id", text.id)
      .text("text", tokenizer.token_text(text.id));
  if (!text.path.empty()) object.text("path", text.path);
  return object.take();
}

std::string joined_as_json(std::initializer_list<const std::vector<std::string>*> lists) {
  JsonWriter list('[');
  for (const auto* texts : lists) {
    for (const std::string& text : *texts) append_json_string(list.next(), text);
  }
  return list.take();
}

std::string side_as_json(const PromptSide& side) {
  JsonWriter object('{');
  object.text("text", side.excerpt).text("origin", origin_name(side.origin));
  if (!side.path.empty()) object.text("path", side.path);
  if (side.place.line != 0) object.text("template", side.place.name).number("line", side.place.line);
  return object.take();
}

/// `"name": [` items `]`, flushed between them.
template <typename List, typename Write>
void write_list(std::string& out, std::string_view name, const List& list, const Flush& flush, Write write) {
  append_json_string(out, name);
  out += ": [";
  bool is_first = true;
  for (const auto& item : list) {
    if (!is_first) out += ", ";
    is_first = false;
    write(item);
    flush(out);
  }
  out += "]";
}

void write_ids(std::string& out, std::string_view name, const std::vector<TokenId>& ids, const Flush& flush) {
  write_list(out, name, ids, flush, [&](TokenId id) { out += std::to_string(id); });
}

}  // namespace

std::string ids_as_json(const std::vector<TokenId>& ids) {
  JsonWriter list('[');
  for (TokenId id : ids) list.next() += std::to_string(id);
  return list.take();
}

void write_tokens(std::string& out, const PromptTokens& tokens, const Conversation& conversation,
                  const Tokenizer& tokenizer, const Flush& flush) {
  write_ids(out, "ids", tokens.ids, flush);
  out += ", ";
  write_list(out, "tokens", tokens.tokens, flush,
             [&](const PromptToken& token) { out += token_as_json(token, tokenizer); });
  out += ", ";
  write_list(out, "labels", tokens.tokens, flush,
             [&](const PromptToken& token) { out += std::to_string(token.label()); });
  out += ", ";
  write_ids(out, "missing_before", tokens.missing_before, flush);
  out += ", ";
  write_list(out, "guarded", tokens.guarded, flush,
             [&](const GuardedText& text) { out += guarded_as_json(text, tokenizer); });
  out += ", \"notes\": " + joined_as_json({&conversation.notes(), &tokens.notes});
}

void write_labels(std::string& out, const PromptTokens& tokens) {
  out += "\"ids\": " + ids_as_json(tokens.ids) + ", \"labels\": " + ids_as_json(tokens.labels());
  if (!tokens.notes.empty()) out += ", \"notes\": " + texts_as_json(tokens.notes);
}

std::string tokenizer_as_json(const TokenizerFacts& facts) {
  JsonWriter object('{');
  object.text("kind", facts.kind).number("vocabulary", facts.vocabulary_size).key("notes") +=
      texts_as_json(facts.notes);
  return object.take();
}

std::string stops_as_json(const std::vector<StopToken>& stops) {
  JsonWriter list('[');
  for (const StopToken& stop : stops) {
    JsonWriter object('{');
    if (stop.id >= 0) object.number("id", stop.id);
    object.text("text", stop.text).key("sources") += texts_as_json(stop.sources);
    list.next() += object.take();
  }
  return list.take();
}

std::string difference_as_json(const PrefixDifference& difference) {
  JsonWriter object('{');
  object.number("byte", static_cast<std::int64_t>(difference.byte))
      .number("token", static_cast<std::int64_t>(difference.token));
  object.key("before") += side_as_json(difference.before);
  object.key("after") += side_as_json(difference.after);
  if (!difference.changed_input.empty()) object.text("changed_input", difference.changed_input);
  return object.text("sentence", difference.sentence()).take();
}

}  // namespace parlance::cli
