// The table of routes. Begin reading at kRoutes.
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", ReplyApi::openai, false, chat_completions},
    {"POST", "/chat/completions", ReplyApi::openai, false, chat_completions},
    {"POST", "/v1/responses", ReplyApi::openai, false, responses},
    {"POST", "/v1/messages", ReplyApi::anthropic, false, messages},
    {"POST", "/v1/messages/count_tokens", ReplyApi::anthropic, false, count_tokens},
    {"POST", "/v1/completions", ReplyApi::openai, false, completions},
    {"POST", "/completions", ReplyApi::openai, false, completions},
    {"POST", "/tokenize", ReplyApi::openai, false, tokenize_text},
    {"POST", "/detokenize", ReplyApi::openai, false, detokenize_ids},
    {"POST", "/api/chat", ReplyApi::ollama, false, ollama_chat},
    {"POST", "/api/generate", ReplyApi::ollama, false, ollama_generate},
    {"GET", "/api/tags", ReplyApi::ollama, false, ollama_tags},
    {"GET", "/api/ps", ReplyApi::ollama, false, ollama_running},
    {"POST", "/api/show", ReplyApi::ollama, false, ollama_show},
    {"GET", "/api/version", ReplyApi::ollama, true, ollama_version},
    {"GET", "/v1/models", ReplyApi::openai, false, list_models},
    {"GET", "/models", ReplyApi::openai, false, list_models},
    {"GET", "/health", ReplyApi::openai, true, health},
    {"GET", "/ready", ReplyApi::openai, true, ready},
    {"GET", "/metrics", ReplyApi::openai, true, metrics},
};

bool matches(std::string_view route, std::string_view path) {
  if (route.ends_with('*')) return path.starts_with(route.substr(0, route.size() - 1));
  return route == path;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

const Route* route_for(std::string_view method, std::string_view path, bool& method_fits) {
  const Route* other = nullptr;
  method_fits = true;
  for (const Route& route : kRoutes) {
    if (!matches(route.path, path)) continue;
    if (route.method == method || (route.method == "GET" && method == "HEAD")) return &route;
    other = &route;
  }
  method_fits = false;
  return other;
}

}  // namespace parlance::serve
