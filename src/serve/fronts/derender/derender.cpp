// vLLM's derender: sampled ids become the answer of an API. Begin reading at derendered.
#include "serve/fronts/derender/derender.h"

#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

using Derender = Result<std::string> (*)(const ServedModel&, Value, const std::string&);

Result<std::string> derendered(Call& call, Derender whole, Derender chunk) {
  const auto read = [whole, chunk](const Call&, Value body, const ModelRef& model) {
    const std::string name(body["model"].text());
    return (flag_of(body["stream"], false) ? chunk : whole)(*model, body, name.empty() ? model->name : name);
  };
  return read_request(call, read);
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
