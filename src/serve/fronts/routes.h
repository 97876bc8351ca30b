// The table of routes.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "serve/fronts/errors.h"
#include "serve/gateway.h"

namespace parlance::serve {

struct Route;

/// One request to one route.
struct Call {
  Gateway& gateway;
  Exchange& exchange;
  std::shared_ptr<const Offer> offer;
  const Route* route;  ///< null: there is none for the path, and nobody handles it
  ReplyApi api;        ///< whose form errors have
  std::string id{};    ///< what the client and the log know it by
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

/// What a route takes besides its request.
enum class Access : std::uint8_t {
  open,    ///< nothing
  key,     ///< an API key, where any are set
  engine,  ///< that, and an engine that runs the model
};

struct Route {
  std::string_view method;
  std::string_view path;  ///< a '*' at its end stands for anything
  ReplyApi api;           ///< whose form its errors have
  Access access;          ///< what it takes
  Task<> (*handle)(Call&);
  bool shared = false;  ///< Anthropic's clients ask there too, and get errors in their own form
};
std::span<const Route> routes();
/// The path as routes have it: without slashes at its end, and with the /v1 that some clients leave out.
std::string usual_path(const std::string& path);
/// The route for a path, of whatever method; null if there is none. `method_fits`: it has this method.
const Route* route_for(std::string_view method, std::string_view path, bool& method_fits);

// The handlers, by file.
Task<> chat_completions(Call& call);  // chat.cpp
Task<> messages(Call& call);
Task<> responses(Call& call);
Task<> ollama_chat(Call& call);
Task<> ollama_generate(Call& call);
Task<> completions(Call& call);   // completions.cpp
Task<> generate_ids(Call& call);  // generate.cpp
Task<> ollama_raw(Call& call);    // ollama_raw.cpp
/// Does a request to /api/generate ask for that?
bool wants_raw(const std::string& body);
Task<> stored_response(Call& call);  // stored.cpp
Task<> delete_response(Call& call);
Task<> refuse_response_action(Call& call);
Task<> create_conversation(Call& call);  // conversations.cpp
Task<> show_conversation(Call& call);
Task<> change_conversation(Call& call);
Task<> delete_conversation(Call& call);
Task<> tokenize_text(Call& call);  // tokenize.cpp
Task<> detokenize_ids(Call& call);
Task<> count_tokens(Call& call);
Task<> count_input_tokens(Call& call);
Task<> render_chat_completions(Call& call);  // render_tier.cpp
Task<> render_completions(Call& call);
Task<> render_messages(Call& call);
Task<> render_responses(Call& call);
Task<> derender_chat_completions(Call& call);  // derender.cpp, and its parts in derender_*.cpp
Task<> derender_completions(Call& call);
Task<> inspect_page(Call& call);  // inspect.cpp
Task<> inspect_sessions(Call& call);
Task<> inspect_session(Call& call);
Task<> inspect_live(Call& call);
Task<> list_models(Call& call);  // about.cpp
Task<> show_model(Call& call);
Task<> say_running(Call& call);
Task<> health(Call& call);
Task<> ready(Call& call);
Task<> metrics(Call& call);
Task<> ollama_tags(Call& call);  // about_ollama.cpp
Task<> ollama_show(Call& call);
Task<> ollama_version(Call& call);
Task<> ollama_running(Call& call);

}  // namespace parlance::serve
