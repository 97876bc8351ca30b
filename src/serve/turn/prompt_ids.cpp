// Renders and encodes one request.
#include "serve/turn/prompt_ids.h"

#include "serve/turn/reply_begin.h"

namespace parlance::serve {

Result<std::vector<TokenId>> prompt_ids(const ServedModel& model, std::string_view text, Value body, ReplyApi api) {
  Result<ChatRequest> request = model.reader.read(text, "the request", sent_to(api));
  if (!request) return request.error();
  if (Result<void> said = say_where_reply_begins(request->conversation, body, api); !said) return said.error();
  if (Result<void> said = check_said(request->conversation); !said) return said.error();
  const Result<Rendering> prompt = model.reader.render(*request, model.render_now());
  if (!prompt) return prompt.error();
  TokenizeOptions options = model.tokenize;
  options.want_tokens = false;
  Result<PromptTokens> tokens = tokenize(*prompt, request->conversation, *model.tokenizer, options);
  if (!tokens) return tokens.error();
  return std::move(tokens->ids);
}

}  // namespace parlance::serve
