// Renders and encodes one request.
#include "serve/turn/prompt_ids.h"

namespace parlance::serve {

Result<std::vector<TokenId>> prompt_ids(const ServedModel& model, std::string_view body) {
  const Result<ChatRequest> request = model.reader.read(body, "the request");
  if (!request) return request.error();
  const Result<Rendering> prompt = model.reader.render(*request, model.render_now());
  if (!prompt) return prompt.error();
  Result<PromptTokens> tokens = tokenize(*prompt, request->conversation, *model.tokenizer, model.tokenize);
  if (!tokens) return tokens.error();
  return std::move(tokens->ids);
}

}  // namespace parlance::serve
