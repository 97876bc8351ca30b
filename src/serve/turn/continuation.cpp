// Text and ids behind a prompt of ids. Begin reading at Continuation::run.
#include "serve/turn/continuation.h"

#include <algorithm>

#include "serve/models/engine.h"

namespace parlance::serve {

Continuation::Continuation(std::shared_ptr<const ServedModel> model, ContinuationWish wish)
    : model_(std::move(model)), wish_(std::move(wish)), stops_(wish_.sampling->stop) {
  const std::string* const ignores = wish_.sampling->find(Setting::ignore_eos);
  ends_ = stops_of(*model_, wish_.sampling->stop_ids, ignores != nullptr && *ignores == "true");
}

std::string Continuation::add(std::span<const SampledToken> tokens) {
  std::string piece;
  for (const SampledToken& token : tokens) {
    if (ended_ || stops_.found()) break;
    ++tokens_;
    if (token.id >= 0)
      sampled_.push_back(token.id);
    else
      sampled_text_ += token.text;
    logprobs_.push_back(token.logprob);
    ended_ = std::find(ends_.begin(), ends_.end(), token.id) != ends_.end();
    if (ended_ || model_->is_stop(token.id)) continue;
    piece += stops_.add(characters_.add(token.id >= 0 ? model_->tokenizer->token_text(token.id) : token.text));
  }
  text_ += piece;
  return piece;
}

std::string Continuation::finish() {
  std::string rest(stops_.add(characters_.rest()));
  rest += stops_.rest();
  text_ += rest;
  return rest;
}

Task<> Continuation::run(const Take& take) {
  const TokenSink sink = [&](std::span<const SampledToken> tokens, bool) -> Task<bool> {
    const std::size_t before = tokens_;
    const std::string piece = add(tokens);
    const std::span<const SampledToken> read = tokens.subspan(0, tokens_ - before);
    if (!read.empty()) co_await take(piece, read);
    co_return read.size() == tokens.size() && !stops_.found();
  };
  const Generation generation{.ids = wish_.prompt,
                              .grammar = wish_.grammar,
                              .sampling = *wish_.sampling,
                              .stops = ends_,
                              .stop_texts = model_->stop_texts,
                              .choice = wish_.choice,
                              .place = wish_.place.get(),
                              .logprobs = wish_.logprobs,
                              .prompt_told = wish_.prompt_logprobs ? &prompt_told_ : nullptr};
  end_ = co_await generate(*model_, generation, sink);
  const std::string rest = finish();
  if (!rest.empty()) co_await take(rest, {});
}

Result<std::vector<TokenId>> read_ids(Value list, const ServedModel& model, const std::string& name) {
  std::vector<TokenId> ids;
  const auto size = static_cast<std::int64_t>(model.tokenizer->facts().vocabulary_size);
  for (const Value& id : list.items()) {
    const bool fits =
        id.is_small_int() && id.integer >= 0 && id.integer <= INT32_MAX && (size == 0 || id.integer < size);
    if (!fits) return Error(ErrorCode::conversation, "an item of " + name + " is no id of the tokenizer").input(name);
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

namespace {

Result<std::vector<TokenId>> ids_of(Value prompt, const ServedModel& model) {
  if (!prompt.is_string()) return read_ids(prompt, model, "prompt");
  std::vector<EncodedToken> tokens;
  if (Result<void> encoded = model.tokenizer->encode(prompt.text(), nullptr, tokens); !encoded) return encoded.error();
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

}  // namespace

Result<std::vector<std::vector<TokenId>>> read_prompts(Value prompt, const ServedModel& model) {
  std::vector<std::vector<TokenId>> made;
  const std::span<const Value> items = prompt.items();
  const bool several = !items.empty() && (items.front().is_string() || items.front().is_sequence());
  if (!prompt.is_string() && items.empty())
    return Error(ErrorCode::conversation, "prompt must be a string, ids, or a list of these").input("prompt");
  if (several && items.size() > kMostPrompts)
    return Error(ErrorCode::conversation, "prompt has " + std::to_string(items.size()) + " prompts, of at most " +
                                              std::to_string(kMostPrompts) + " in a request")
        .input("prompt");
  for (const Value& one : several ? items : std::span(&prompt, 1)) {
    if (!one.is_string() && !one.is_sequence())
      return Error(ErrorCode::conversation, "prompt must be a string, ids, or a list of these").input("prompt");
    Result<std::vector<TokenId>> ids = ids_of(one, model);
    if (!ids) return ids.error();
    made.push_back(std::move(*ids));
  }
  return made;
}

}  // namespace parlance::serve
