// Counts tokens with the engine. Begin reading at find_first_token.
#include "serve/models/text_check.h"

#include "serve/models/probe_text.h"

namespace parlance::serve {

namespace {

/// The token with which the model's prompts may begin; -1: they have none.
TokenId first_token_of(const Tokenizer& tokenizer) {
  const TokenizerFacts& facts = tokenizer.facts();
  if (!facts.puts_after.empty()) return -1;  // a token more may then be the one behind
  return facts.puts_before.empty() ? facts.bos.value_or(-1) : facts.puts_before.front();
}

std::optional<std::int64_t> own_count(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<EncodedToken> tokens;
  if (!tokenizer.encode(text, nullptr, tokens)) return std::nullopt;
  return static_cast<std::int64_t>(tokens.size());
}

/// How many tokens more the engine counts in a text than there are here; unset: it does not say.
Task<std::optional<std::int64_t>> surplus_of(const ServedModel& model, const EngineInfo& info,
                                             const std::string& text) {
  const std::optional<std::int64_t> ours = own_count(*model.tokenizer, text);
  if (!ours) co_return std::nullopt;
  const std::optional<std::int64_t> theirs = co_await model.backend->count(info, text);
  if (theirs.value_or(0) == 0) co_return std::nullopt;
  co_return *theirs - *ours;
}

std::string count_warning(std::int64_t surplus) {
  const std::string most = surplus > 0 ? std::to_string(surplus) + " tokens more" : std::to_string(-surplus) + " fewer";
  return "this engine counts " + most +
         " in a text with control tokens than this model's tokenizer does: it reads them as plain text, or its "
         "tokenizer is another one";
}

}  // namespace

Task<std::string> find_first_token(const ServedModel& model, EngineInfo& info) {
  const TokenId first = first_token_of(*model.tokenizer);
  std::string text(kProbeText);
  for (const std::string& stop : model.stop_texts) text += stop;
  const std::string begun = first < 0 ? text : model.tokenizer->token_text(first) + text;
  const std::optional<std::int64_t> surplus = co_await surplus_of(model, info, begun);
  info.first = -1;
  if (surplus.value_or(0) == 0) co_return std::string();
  // One that puts a token in front of each text puts it in front of this one, too.
  const std::optional<std::int64_t> without = first < 0 ? std::nullopt : co_await surplus_of(model, info, text);
  if (surplus != 1 || without != 1) co_return count_warning(*surplus);
  info.first = first;
  co_return std::string();
}

}  // namespace parlance::serve
