// Writes the end of reasoning in the model's stead.
#include "serve/turn/reasoning_limit.h"

namespace parlance::serve {

namespace {

std::string closing_text(const ReplyMarker& close) {
  return close.exists() ? close.before + close.texts.front() + close.after : std::string();
}

}  // namespace

std::vector<TokenId> closing_of_reasoning(const ServedModel& model, const ReplyFormat& format) {
  std::vector<EncodedToken> tokens;
  const std::string text = closing_text(format.reasoning_close);
  if (text.empty() || !model.tokenizer->encode(text, nullptr, tokens)) return {};
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokens) {
    if (token.bytes.end > token.bytes.begin)
      ids.push_back(token.id);  // not a dummy prefix: it stands behind other text
  }
  return ids;
}

std::string prompt_behind_reasoning(const ReplyFormat& format, std::string prompt) {
  return std::move(prompt) + closing_text(format.reasoning_close);
}

}  // namespace parlance::serve
