// Tokens as JSON. Begin reading at tokens_as_members.
#include "cli/tokens_json.h"

#include "cli/json_object.h"

namespace parlance::cli {
namespace {

std::string token_as_json(const PromptToken& token, const Tokenizer& tokenizer) {
  Json object('{');
  object.number("id", token.id)
      .text("text", tokenizer.token_text(token.id))
      .number("begin", token.bytes.begin)
      .number("end", token.bytes.end)
      .text("origin", origin_name(token.origin));
  if (token.message >= 0) object.number("message", token.message);
  if (token.control) object.flag("control", true);
  return object.number("mask", token.trained ? 1 : 0).take();
}

std::string guarded_as_json(const GuardedText& text, const Tokenizer& tokenizer) {
  Json object('{');
  object.number("begin", text.bytes.begin)
      .number("end", text.bytes.end)
      .number("id", text.id)
      .text("text", tokenizer.token_text(text.id));
  if (!text.path.empty()) object.text("path", text.path);
  return object.take();
}

std::string texts_as_json(std::initializer_list<const std::vector<std::string>*> lists) {
  Json list('[');
  for (const auto* texts : lists) {
    for (const std::string& text : *texts) append_json_string(list.next(), text);
  }
  return list.take();
}

std::string side_as_json(const PromptSide& side) {
  Json object('{');
  object.text("text", side.excerpt).text("origin", origin_name(side.origin));
  if (!side.path.empty()) object.text("path", side.path);
  if (side.place.line != 0) object.text("template", side.place.name).number("line", side.place.line);
  return object.take();
}

}  // namespace

std::string ids_as_json(const std::vector<TokenId>& ids) {
  Json list('[');
  for (TokenId id : ids) list.next() += std::to_string(id);
  return list.take();
}

std::string tokens_as_members(const PromptTokens& tokens, const Conversation& conversation, const Tokenizer& tokenizer) {
  Json list('['), guarded('[');
  for (const PromptToken& token : tokens.tokens) list.next() += token_as_json(token, tokenizer);
  for (const GuardedText& text : tokens.guarded) guarded.next() += guarded_as_json(text, tokenizer);
  std::string out = "\"ids\": " + ids_as_json(tokens.ids);
  out += ", \"tokens\": " + list.take();
  out += ", \"labels\": " + ids_as_json(tokens.labels());
  out += ", \"missing_before\": " + ids_as_json(tokens.missing_before);
  out += ", \"guarded\": " + guarded.take();
  return out += ", \"notes\": " + texts_as_json({&conversation.notes(), &tokens.notes});
}

std::string stops_as_json(const std::vector<StopToken>& stops) {
  Json list('[');
  for (const StopToken& stop : stops) {
    Json object('{');
    if (stop.id >= 0) object.number("id", stop.id);
    object.text("text", stop.text).key("sources") += texts_as_json({&stop.sources});
    list.next() += object.take();
  }
  return list.take();
}

std::string difference_as_json(const PrefixDifference& difference) {
  Json object('{');
  object.number("byte", static_cast<std::int64_t>(difference.byte))
      .number("token", static_cast<std::int64_t>(difference.token));
  object.key("before") += side_as_json(difference.before);
  object.key("after") += side_as_json(difference.after);
  if (!difference.changed_input.empty()) object.text("changed_input", difference.changed_input);
  return object.text("sentence", difference.sentence()).take();
}

}  // namespace parlance::cli
