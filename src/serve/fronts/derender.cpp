// vLLM's derender: sampled ids become the answer of an API. Begin reading at derendered.
#include "serve/fronts/derender.h"

#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

using Derender = Result<std::string> (*)(const ServedModel&, Value, const std::string&);

Result<std::string> derendered(Call& call, Derender whole, Derender chunk) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Value body = document->root();
  const Result<std::shared_ptr<const ServedModel>> model = model_of(*call.offer, body);
  if (!model) return model.error();
  const std::string name(body["model"].text());
  return (flag_of(body["stream"], false) ? chunk : whole)(**model, body, name.empty() ? (*model)->name : name);
}

}  // namespace

Task<> derender_chat_completions(Call& call) {
  const Result<std::string> body = derendered(call, derender_whole_chat, derender_chat_chunk);
  co_await answer_as_vllm(call.exchange, body);
}
Task<> derender_completions(Call& call) {
  const Result<std::string> body = derendered(call, derender_whole_completion, derender_completion_chunk);
  co_await answer_as_vllm(call.exchange, body);
}

}  // namespace parlance::serve
