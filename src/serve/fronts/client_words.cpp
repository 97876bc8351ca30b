// Puts a request's own names into errors. Begin reading at in_words_of.
#include "serve/fronts/client_words.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parlance/json.h"
#include "parlance/request.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kForm = "response_format";

/// Where the request says the form of its answer; "" if nowhere.
std::string place_of_form(Value body) {
  const Result<GrammarOptions> own = grammar_options(json_text(body));
  if (!own) return own.error().input_path();
  return own->response.kind == ResponseFormat::Kind::text ? "" : own->response.name;
}

/// What the request has in place of `messages`; "": nothing that is known here.
std::string_view place_of_messages(Value body) {
  for (const std::string_view name : {"messages", "input", "prompt"})
    if (!body[name].is_undefined()) return name;
  return {};
}

/// Words for who calls the library, and those of a client.
constexpr std::pair<std::string_view, std::string_view> kForClients[] = {
    {"the pass order-results does it", "whoever runs the server adds the pass order-results"}};

/// What only who calls the library or runs a command can do.
constexpr std::string_view kOfPrograms[] = {"the option ",
                                            "the pass ",
                                            "without a pass ",
                                            "() has them",
                                            "() takes a template",
                                            "open the model to have",
                                            "set the variable ",
                                            "a grammar makes the model",
                                            "is given beside the request",
                                            "choose one by its name",
                                            "--",
                                            "parlance "};

/// Hints for them are none for a client.
bool names_options(std::string_view hint) {
  return std::ranges::any_of(kOfPrograms, [&](std::string_view words) { return hint.find(words) != hint.npos; });
}

}  // namespace

Error renamed(const Error& error, std::string_view from, std::string_view to) {
  const std::string& path = error.input_path();
  if (!std::string_view(path).starts_with(from)) return error;
  const auto replaced = [&](const std::string& text) { return std::string(to) + text.substr(from.size()); };
  Error::Parts parts = error.parts();
  if (!path.empty() && parts.message.starts_with(path)) parts.message = replaced(parts.message);
  parts.input_path = replaced(path);
  return Error(std::move(parts));
}

std::string own_path(Value body, std::string_view path) {
  std::string own;
  const bool is_form = path == kForm || path.starts_with(std::string(kForm) + ".");
  if (is_form && body[kForm].is_undefined()) own = place_of_form(body);
  if (path == "messages") own = place_of_messages(body);
  const bool has_functions = !body["functions"].items().empty();  // which were before `tools`
  if (path == "tool_choice" && has_functions && body[path].is_undefined()) own = "function_call";
  return own.empty() ? std::string(path) : own;
}

std::string hint_for_client(std::string_view hint) {
  for (const auto& [words, client_words] : kForClients) {
    const std::size_t at = hint.find(words);
    if (at != hint.npos) return std::string(hint).replace(at, words.size(), client_words);
  }
  return names_options(hint) ? "" : std::string(hint);
}

Error in_words_of(Value body, const Error& error) {
  const std::string& path = error.input_path();
  const std::string own = own_path(body, path);
  Error told = renamed(error, path, own);
  return own == "function_call" ? std::move(told).hint("auto, none or {\"name\": NAME}") : told;
}

}  // namespace parlance::serve
