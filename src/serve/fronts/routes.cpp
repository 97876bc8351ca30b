// The table of routes. Begin reading at kRoutes.
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", Dialect::openai, false, chat_completions},
    {"POST", "/chat/completions", Dialect::openai, false, chat_completions},
    {"POST", "/v1/responses", Dialect::openai, false, responses},
    {"POST", "/v1/messages", Dialect::anthropic, false, messages},
    {"POST", "/api/chat", Dialect::ollama, false, ollama_chat},
    {"POST", "/v1/chat/completions/render", Dialect::vllm, false, render_chat_completions},
    {"POST", "/v1/completions/render", Dialect::vllm, false, render_completions},
    {"POST", "/v1/messages/render", Dialect::vllm, false, render_messages},
    {"POST", "/v1/responses/render", Dialect::vllm, false, render_responses},
    {"POST", "/v1/chat/completions/derender", Dialect::vllm, false, derender_chat_completions},
    {"POST", "/v1/completions/derender", Dialect::vllm, false, derender_completions},
    {"GET", "/v1/models", Dialect::openai, false, list_models},
    {"GET", "/models", Dialect::openai, false, list_models},
    {"GET", "/health", Dialect::openai, true, health},
    {"GET", "/ready", Dialect::openai, true, ready},
    {"GET", "/metrics", Dialect::openai, true, metrics},
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
