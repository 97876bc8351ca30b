// Texts of tokens.
#include "serve/fronts/token_texts.h"

#include <algorithm>

#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/request_parts.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

/// As OpenAI's API writes it; of an engine that gives ids, the tokens without one were written here.
double logprob_of(const SampledToken& token) {
  constexpr double kUnknown = -9999;
  return token.logprob.value_or(token.id < 0 ? kUnknown : 0);
}

}  // namespace

void tell_logprobs(ReplyApiWriter& writer, const Tokenizer& tokenizer, std::span<const SampledToken> tokens,
                   bool named) {
  const auto text_of = [&tokenizer](TokenId id, const std::string& text) {
    return id < 0 ? text : tokenizer.token_text(id);
  };
  const auto name_of = [named](TokenId id) { return named ? name_of_token(id) : std::string(); };
  for (const SampledToken& token : tokens) {
    std::vector<std::string> texts, names;
    std::vector<ReplyLogprob::Alternative> top;
    for (const TokenAlternative& other : token.alternatives) {
      texts.push_back(text_of(other.id, other.text));
      names.push_back(name_of(other.id));
    }
    for (std::size_t i = 0; i < texts.size(); ++i) top.push_back({texts[i], token.alternatives[i].logprob, names[i]});
    const std::string text = text_of(token.id, token.text), name = name_of(token.id);
    const ReplyLogprob one{.token = text, .logprob = logprob_of(token), .top = top, .name = name};
    writer.add_logprobs(std::span(&one, 1));
  }
}

bool TokenTexts::is_special(TokenId id) const {
  const std::vector<AddedToken>& added = tokenizer_.facts().added;
  if (!model_.is_control(id)) return false;
  return std::any_of(added.begin(), added.end(), [id](const AddedToken& one) { return one.id == id && one.special; });
}

std::string TokenTexts::add(TokenId id) {
  if (is_special(id)) {
    std::string text = finish();
    if (!skips_special_) text += tokenizer_.token_text(id);
    return text;
  }
  held_ += tokenizer_.token_text(id);
  const std::size_t whole = whole_characters(held_);
  std::string text = held_.substr(0, whole);
  held_.erase(0, whole);
  if (whole > 0) waiting_.clear();
  if (!held_.empty()) waiting_.push_back(id);
  return text;
}

std::string TokenTexts::finish() {
  waiting_.clear();
  return std::exchange(held_, {});
}

namespace {

TokenId id_of(Value entry) {
  const Value id = entry["token_id"];
  return id.is_small_int() ? static_cast<TokenId>(id.integer) : id_named(entry["token"].text());
}

std::string number_json(Value number) { return number.is_undefined() ? "-9999.0" : json_text(number); }

/// One token of the reply with the text that it completes.
struct TextOfEntry {
  Value entry;
  std::string text;
  std::vector<std::pair<Value, std::string>> alternatives;
};

std::vector<TextOfEntry> texts_of(const LogprobTexts& from) {
  const Tokenizer& tokenizer = *from.model.tokenizer;
  TokenTexts texts(tokenizer, from.model, false);
  for (const TokenId id : from.before) texts.add(id);
  std::vector<TextOfEntry> all;
  for (const Value& entry : from.logprobs["content"].items()) {
    TextOfEntry made{entry, {}, {}};
    const std::span<const Value> others = entry["top_logprobs"].items();
    for (std::size_t i = 0; i < std::min(others.size(), from.alternatives.value_or(others.size())); ++i) {
      TokenTexts instead = texts;
      made.alternatives.emplace_back(others[i], instead.add(id_of(others[i])));
    }
    made.text = texts.add(id_of(entry));
    all.push_back(std::move(made));
  }
  return all;
}

JsonWriter token_json(Value entry, std::string_view text) {
  JsonWriter bytes('[');
  for (const char byte : text) bytes.item(std::to_string(static_cast<unsigned char>(byte)));
  JsonWriter out('{');
  out.text("token", text).raw("logprob", number_json(entry["logprob"])).raw("bytes", bytes.take());
  return out;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !utf8::is_continuation(byte); }));
}

}  // namespace

std::string chat_logprobs(const LogprobTexts& from) {
  if (!from.logprobs["content"].is_sequence()) return R"({"content": null})";
  JsonWriter content('[');
  for (const TextOfEntry& one : texts_of(from)) {
    JsonWriter others('[');
    for (const auto& [entry, text] : one.alternatives) others.item(token_json(entry, text).take());
    content.item(token_json(one.entry, one.text).raw("top_logprobs", others.take()).take());
  }
  return JsonWriter('{').raw("content", content.take()).take();
}

std::string completion_logprobs(const LogprobTexts& from, std::size_t& offset) {
  JsonWriter offsets('['), logprobs('['), tokens('['), top('[');
  for (const TextOfEntry& one : texts_of(from)) {
    offsets.item(std::to_string(offset));
    logprobs.item(number_json(one.entry["logprob"]));
    tokens.item_text(one.text);
    JsonWriter others('{');
    for (const auto& [entry, text] : one.alternatives) others.raw(text, number_json(entry["logprob"]));
    top.item(one.entry["top_logprobs"].items().empty() ? "null" : others.take());
    offset += characters_in(one.text);
  }
  JsonWriter out('{');
  out.raw("text_offset", offsets.take()).raw("token_logprobs", logprobs.take());
  return out.raw("tokens", tokens.take()).raw("top_logprobs", top.take()).take();
}

}  // namespace parlance::serve
