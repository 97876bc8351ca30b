// The table of routes. Begin reading at kRoutes.
#include "serve/fronts/routes.h"

#include <algorithm>

namespace parlance::serve {

namespace {

constexpr bool kShared = true;

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", ReplyApi::openai, Access::engine, chat_completions},
    {"POST", "/v1/responses", ReplyApi::openai, Access::engine, responses},
    {"POST", "/v1/responses/input_tokens", ReplyApi::openai, Access::key, count_input_tokens},
    {"GET", "/v1/responses/*", ReplyApi::openai, Access::key, stored_response},
    {"DELETE", "/v1/responses/*", ReplyApi::openai, Access::key, delete_response},
    {"POST", "/v1/conversations", ReplyApi::openai, Access::key, create_conversation},
    {"GET", "/v1/conversations/*", ReplyApi::openai, Access::key, show_conversation},
    {"POST", "/v1/conversations/*", ReplyApi::openai, Access::key, change_conversation},
    {"DELETE", "/v1/conversations/*", ReplyApi::openai, Access::key, delete_conversation},
    {"POST", "/v1/messages", ReplyApi::anthropic, Access::engine, messages},
    {"POST", "/v1/messages/count_tokens", ReplyApi::anthropic, Access::key, count_tokens},
    {"POST", "/v1/completions", ReplyApi::openai, Access::engine, completions},
    {"POST", "/inference/v1/generate", ReplyApi::openai, Access::engine, generate_ids},
    {"POST", "/tokenize", ReplyApi::openai, Access::key, tokenize_text},
    {"POST", "/detokenize", ReplyApi::openai, Access::key, detokenize_ids},
    {"POST", "/api/chat", ReplyApi::ollama, Access::engine, ollama_chat},
    {"POST", "/api/generate", ReplyApi::ollama, Access::engine, ollama_generate},
    {"GET", "/api/tags", ReplyApi::ollama, Access::key, ollama_tags},
    {"GET", "/api/ps", ReplyApi::ollama, Access::key, ollama_running},
    {"POST", "/api/show", ReplyApi::ollama, Access::key, ollama_show},
    {"GET", "/api/version", ReplyApi::ollama, Access::open, ollama_version},
    {"POST", "/v1/chat/completions/render", ReplyApi::openai, Access::key, render_chat_completions},
    {"POST", "/v1/completions/render", ReplyApi::openai, Access::key, render_completions},
    {"POST", "/v1/messages/render", ReplyApi::openai, Access::key, render_messages},
    {"POST", "/v1/responses/render", ReplyApi::openai, Access::key, render_responses},
    {"POST", "/v1/responses/*", ReplyApi::openai, Access::key, refuse_response_action},
    {"POST", "/v1/chat/completions/derender", ReplyApi::openai, Access::key, derender_chat_completions},
    {"POST", "/v1/completions/derender", ReplyApi::openai, Access::key, derender_completions},
    {"GET", "/v1/models", ReplyApi::openai, Access::key, list_models, kShared},
    {"GET", "/v1/models/*", ReplyApi::openai, Access::key, show_model, kShared},
    {"GET", "/inspect/api/sessions", ReplyApi::openai, Access::key, inspect_sessions},
    {"GET", "/inspect/api/sessions/*", ReplyApi::openai, Access::key, inspect_session},
    {"GET", "/inspect/api/live", ReplyApi::openai, Access::key, inspect_live},
    {"GET", "/inspect", ReplyApi::openai, Access::open, inspect_page},  // it asks for a key itself
    {"GET", "/inspect/*", ReplyApi::openai, Access::open, inspect_page},
    {"GET", "/", ReplyApi::openai, Access::open, say_running},
    {"GET", "/health", ReplyApi::openai, Access::open, health},
    {"GET", "/v1/health", ReplyApi::openai, Access::open, health},
    {"GET", "/ping", ReplyApi::openai, Access::open, health},
    {"GET", "/ready", ReplyApi::openai, Access::open, ready},
    {"GET", "/metrics", ReplyApi::openai, Access::open, metrics},
};

bool matches(std::string_view route, std::string_view path) {
  if (route.ends_with('*')) return path.starts_with(route.substr(0, route.size() - 1));
  return route == path;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::string usual_path(const std::string& path) {
  if (path.starts_with("/inspect")) return path;  // its page's files are beside it
  const std::string whole = path.substr(0, std::max<std::size_t>(1, path.find_last_not_of('/') + 1));
  const auto is_known = [](const std::string& one) {
    return std::any_of(std::begin(kRoutes), std::end(kRoutes), [&](const Route& r) { return matches(r.path, one); });
  };
  const std::string behind = "/v1" + whole;
  return !is_known(whole) && is_known(behind) ? behind : whole;
}

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
