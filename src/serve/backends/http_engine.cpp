// Asks an engine for a reply.
#include "serve/backends/http_engine.h"

#include <algorithm>
#include <span>

namespace parlance::serve {

namespace {
/// Tokens that are passed on at once: a client that reads slowly has the bytes of so many waiting.
constexpr std::size_t kTogether = 32;
}  // namespace

Task<GenerationEnd> HttpEngine::generate(const Generation& generation, const TokenSink& sink) {
  const std::shared_ptr<const EngineInfo> known = info();
  std::unique_ptr<HttpReply> reply;
  {  // the body is not kept while the reply is read, unless for the next one
    std::string body = body_of(generation, known ? *known : EngineInfo{.model = wanted_});
    reply = co_await client_.send("POST", routes_.generate, body, headers_);
    if (generation.last_body != nullptr) generation.last_body->keep(std::move(body));
  }
  EngineStream stream(std::move(reply), asked_of(generation), routes_.framing);
  co_await stream.accept();
  const std::unique_ptr<ReplyEvents> events = events_of(generation);
  std::vector<SampledToken> tokens;
  const EngineStream::Take take = [&](Value event) { events->read(event, tokens); };
  for (bool more = true; more;) {
    tokens.clear();
    try {
      more = co_await stream.next(take);
    } catch (const EngineFailure&) {
      if (!events->finished()) throw;  // how the connection ends after the reply does not matter
      more = false;
    }
    if (!tokens.empty()) note_sampled();
    for (std::span<const SampledToken> rest = tokens; !rest.empty();) {
      const std::span<const SampledToken> some = rest.first(std::min(rest.size(), kTogether));
      rest = rest.subspan(some.size());
      const bool is_last = events->finished() && rest.empty();
      if (co_await sink(some, is_last)) continue;
      GenerationEnd end = events->end();
      end.length = end.length && is_last;  // what came behind a refused token ended nothing
      co_return end;
    }
  }
  if (events->finished() || events->ends_without_a_word()) co_return events->end();
  stream.distrust();  // some close the connection behind what they could not answer
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
