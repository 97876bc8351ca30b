// Asks an engine for a reply.
#include "serve/backends/http_engine.h"

namespace parlance::serve {

Task<GenerationEnd> HttpEngine::generate(const Generation& generation, const TokenSink& sink) {
  const std::shared_ptr<const EngineInfo> known = info();
  const std::string body = body_of(generation, known ? *known : EngineInfo{.model = wanted_});
  const bool has_grammar = generation.grammar != nullptr || !generation.schema.empty();
  std::unique_ptr<HttpReply> reply = co_await client_.send("POST", routes_.generate, body, headers_);
  EngineStream stream(std::move(reply), has_grammar, routes_.framing);
  co_await stream.accept();
  const std::unique_ptr<ReplyEvents> events = events_of(generation);
  std::vector<SampledToken> tokens;
  for (bool more = true; more;) {
    try {
      more = co_await stream.next();
    } catch (const EngineFailure&) {
      if (!events->finished()) throw;  // how the connection ends after the reply does not matter
      more = false;
    }
    tokens.clear();
    for (const Value event : stream.events()) events->read(event, tokens);
    if (!tokens.empty() && !co_await sink(tokens, events->finished())) co_return events->end();
  }
  if (events->finished()) co_return events->end();
  throw EngineFailure(EngineFailure::Kind::died, "the engine at " + address().url() + " ended its answer too early");
}

std::string HttpEngine::tokenize_body(std::string_view text) const {
  return JsonWriter('{').text("prompt", text).raw("add_special_tokens", "false").take();
}

Task<std::optional<std::vector<TokenId>>> HttpEngine::tokenize(std::string_view text) {
  const std::string body = tokenize_body(text);
  co_return co_await ask_tokenize(client_, body, headers_);
}

}  // namespace parlance::serve
