// Declares the options of `parlance serve`. Begin reading at declare_model.
#include "cli/options/serve_options.h"

#include "base/ascii.h"
#include "cli/input.h"
#include "cli/numbers.h"
#include "cli/options/options.h"

namespace parlance::cli {
namespace {

const std::vector<std::string> kLogLevels = {"errors", "warnings", "turns", "requests"};

/// A word for each of ReasoningNames.
const std::vector<std::string> kReasoningWords = {"both", "reasoning_content", "reasoning"};

/// The keys of a file, one a line; lines that begin with '#' are comments.
Result<std::vector<std::string>> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  if (path.empty()) return keys;
  Result<std::string> text = read_input(path, "the API keys");
  if (!text) return text.error();
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors put it before the first key
  for (std::size_t at = text->starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const std::string_view key = ascii::trimmed(std::string_view(*text).substr(at, end - at));
    if (!key.empty() && key[0] != '#') keys.emplace_back(key);
    at = end + 1;
  }
  if (keys.empty()) return usage("'" + path + "' has no API key", "one a line");
  return keys;
}

/// The first line of a file.
Result<std::string> read_password(const std::string& path) {
  if (path.empty()) return std::string();
  Result<std::string> text = read_input(path, "the password of Redis");
  if (!text) return text.error();
  text->resize(std::min(text->find_first_of("\r\n"), text->size()));
  if (text->empty()) return usage("'" + path + "' has no password in its first line", {});
  return text;
}

Result<void> read_shared_sessions(const ServerWish& wish, serve::ServeOptions& into) {
  constexpr std::uint64_t kLongest = std::uint64_t{366} * 24 * 3600;
  if (wish.session_ttl == 0 || wish.session_ttl > kLongest)
    return usage("--session-ttl is 1 to " + std::to_string(kLongest), "the default is a day: 86400");
  Result<std::string> password = read_password(wish.sessions_password_file);
  if (!password) return password.error();
  into.shared_sessions = wish.sessions;
  into.shared_password = std::move(*password);
  into.shared_optional = wish.sessions_optional;
  into.session_lifetime = std::chrono::seconds(wish.session_ttl);
  return {};
}

/// KIND=URL; "": none
Result<std::pair<std::string, std::string>> backend_of(const std::string& given) {
  if (given.empty()) return std::pair<std::string, std::string>();
  const std::size_t equals = given.find('=');
  if (equals != given.npos && equals > 0) return std::pair(given.substr(0, equals), given.substr(equals + 1));
  return usage("--backend takes KIND=URL, not '" + given + "'", "--backend llama-server=http://127.0.0.1:8080");
}

std::string backend_help(ModelUse use) {
  std::string text = "The engine that runs the model, as KIND=URL; URL?model=NAME where it has several. ";
  if (use == ModelUse::serve) text += "Without it the server only renders and reads. ";
  text += "Kinds:";
  for (const auto& [name, sentence] : serve::engine_kinds())
    text.append("\n").append(name).append(": ").append(sentence);
  return text;
}

void declare_limits_of_serving(Options& app, ModelWish& wish) {
  add_number(app, "--max-messages", wish.max_messages, "Messages of a conversation");
  add_number(
      app, "--max-reply-tokens", wish.max_reply_tokens,
      "The largest max_tokens: a larger one is lowered to it, and requests without one get it; by default what the "
      "context leaves");
  add_number(app, "--max-reasoning-tokens", wish.max_reasoning_tokens,
             "Tokens of reasoning in a reply; then the gateway closes it and the model answers. By default any number");
  add_number(
      app, "--max-running", wish.max_running,
      "Replies that the engine samples at a time, while other requests wait; by default as many as are asked for");
  add_number(app, "--max-waiting", wish.max_waiting, "Requests that wait for --max-running");
}

void declare_limits_of_model(Options& app, ModelWish& wish, ModelUse use) {
  add_number(app, "--max-prompt-tokens", wish.max_prompt_tokens, "Tokens of a prompt; by default the engine's context");
  if (use == ModelUse::serve) declare_limits_of_serving(app, wish);
  add_number(app, "--first-byte", wish.first_byte,
             use == ModelUse::serve
                 ? "Seconds that a request may wait, and then the engine may take to begin its answer"
                 : "Seconds that the engine may take to begin its answer",
             kMostSeconds, 1);
  add_number(app, "--stall", wish.stall, "Seconds between two pieces of the engine's answer", kMostSeconds, 1);
}

void declare_limits_of_clients(Options& app, ServerWish& wish) {
  add_number(app, "--max-body", wish.max_body, "Bytes of a request's body");
  add_number(app, "--max-header", wish.max_header, "Bytes of a request's header",
             std::numeric_limits<std::uint32_t>::max());
  add_number(app, "--max-connections", wish.max_connections, "Connections of clients");
  add_number(app, "--max-sessions", wish.max_sessions, "Conversations that are kept with their ids");
  add_number(app, "--receive", wish.receive, "Seconds that a request's header may take to arrive, and then its body",
             kMostSeconds);
  add_number(app, "--idle", wish.idle, "Seconds that a connection may wait for its next request", kMostSeconds);
  add_number(app, "--keep-alive", wish.keep_alive,
             "Send a keep-alive after this many seconds of silence in a stream; 0: never", kMostSeconds);
  add_number(app, "--drain", wish.drain, "Seconds for requests that are under way at SIGTERM", kMostSeconds);
}

void declare_shared_sessions(Options& app, ServerWish& wish) {
  app.add_option("--sessions", wish.sessions,
                 "The Redis or Valkey by which several gateways share their sessions:\nredis://HOST:PORT/DATABASE or "
                 "unix:///PATH")
      .placeholder("URL");
  app.add_option("--sessions-password-file", wish.sessions_password_file, "Its password, in the first line of a file")
      .placeholder("FILE");
  add_number(app, "--session-ttl", wish.session_ttl, "Seconds that it keeps a session after its last reply",
             kMostSeconds);
  app.add_flag("--sessions-optional", wish.sessions_optional,
               "Answer also if a turn cannot be shared, in place of 503");
}

/// What a browser says of a host, without scheme and port.
std::string wrong_host(const std::string& name) {
  const bool is_name = !name.empty() && name.find_first_of("/:*[] ") == name.npos;
  return is_name ? "" : "'" + name + "' is no name of a host: example.com, without scheme and port";
}

using Differs = bool (*)(const ServerWish&, const ServerWish&);

template <auto Member>
bool differs(const ServerWish& a, const ServerWish& b) {
  return a.*Member != b.*Member;
}

/// What stays as it was at the start, whatever a reload reads. The keys of clients and the models are not among them.
constexpr std::pair<const char*, Differs> kFixed[] = {
    {"--host", differs<&ServerWish::host>},
    {"--port", differs<&ServerWish::port>},
    {"--allow-host", differs<&ServerWish::allow_host>},
    {"--threads", differs<&ServerWish::threads>},
    {"--log", differs<&ServerWish::log>},
    {"--capture", differs<&ServerWish::capture>},
    {"--capture-optional", differs<&ServerWish::capture_optional>},
    {"--sessions", differs<&ServerWish::sessions>},
    {"--sessions-password-file", differs<&ServerWish::sessions_password_file>},
    {"--sessions-optional", differs<&ServerWish::sessions_optional>},
    {"--session-ttl", differs<&ServerWish::session_ttl>},
    {"--inspect", differs<&ServerWish::inspect>},
    {"--max-body", differs<&ServerWish::max_body>},
    {"--max-header", differs<&ServerWish::max_header>},
    {"--max-connections", differs<&ServerWish::max_connections>},
    {"--max-sessions", differs<&ServerWish::max_sessions>},
    {"--receive", differs<&ServerWish::receive>},
    {"--idle", differs<&ServerWish::idle>},
    {"--keep-alive", differs<&ServerWish::keep_alive>},
    {"--drain", differs<&ServerWish::drain>},
};

}  // namespace

std::vector<std::string> changed_options(const ServerWish& before, const ServerWish& now) {
  std::vector<std::string> names;
  for (const auto& [name, differs_in] : kFixed)
    if (differs_in(before, now)) names.emplace_back(name);
  return names;
}

void declare_model(Options& app, ModelWish& wish, ModelUse use) {
  declare_template_options(app, wish.served.prompt);
  declare_tokenizer_options(app, wish.served.tokenizer);
  app.add_option("--backend", wish.backend, backend_help(use)).placeholder("KIND=URL");
  app.add_option("--backend-key-file", wish.backend_key_file, "The API key that the engine wants, in a file")
      .placeholder("FILE");
  app.add_flag("--no-engine-check", wish.no_engine_check,
               use == ModelUse::serve ? "Serve even if the engine's tokenizer gives other ids than the model's"
                                      : "Begin also where the engine's own tokenizer gives other ids than the model's");
  if (use == ModelUse::serve)
    app.add_option("--model-name", wish.name, "What clients call the model; by default what -m, -f or -t was given")
        .placeholder("NAME");
  if (use == ModelUse::serve)
    app.add_option("--reasoning-name", wish.reasoning_name,
                   "How chat completions name the model's reasoning: some clients read one name, and some refuse both")
        .one_of(kReasoningWords)
        .show_default();
  declare_limits_of_model(app, wish, use);
  declare_request_options(app, wish.served.prompt);
  if (use == ModelUse::serve) declare_prompt_end(app, wish.served.prompt);
  declare_protection_options(app, wish.served.tokenize);
  declare_limits(app, wish.served.prompt);
}

void declare_server(Options& app, ServerWish& wish) {
  app.add_option("--host", wish.host, "The address to listen on").placeholder("IP").show_default();
  add_number(app, "--port", wish.port, "The port; 0: any free one", std::numeric_limits<std::uint16_t>::max());
  add_number(app, "--threads", wish.threads, "Threads; by default one for each core", kMostThreads);
  app.add_option("--api-key-file", wish.api_key_file, "Keys that clients must send, one a line").placeholder("FILE");
  app.add_option(
         "--allow-host", wish.allow_host,
         "Another name by which a server on the loopback may be asked, by clients and by web pages of that name: "
         "the name of a proxy in front. May be repeated")
      .placeholder("NAME")
      .one_value()
      .check(wrong_host);
  app.add_option("--log", wish.log, "What the log says on standard error").one_of(kLogLevels).show_default();
  app.add_option("--capture", wish.capture,
                 "Record each turn in a file of its session in this folder, see\nparlance replay")
      .placeholder("DIR");
  app.add_flag("--inspect", wish.inspect, "Show the last turns, with their content, on the page /inspect");
  app.add_flag("--capture-optional", wish.capture_optional,
               "Answer also if a record cannot be written, in place of 507");
  declare_shared_sessions(app, wish);
  declare_limits_of_clients(app, wish);
}

Result<serve::ModelOptions> open_model(ModelWish wish) {
  Result<std::pair<std::string, std::string>> backend = backend_of(wish.backend);
  if (!backend) return backend.error();
  const Result<std::vector<std::string>> keys = read_keys(wish.backend_key_file);
  if (!keys) return keys.error();
  Result<serve::ModelOptions> made = open_served(wish.served);
  if (!made) return made.error();
  made->name = wish.name;
  const TemplateWish& chosen = wish.served.prompt.wish;
  for (const std::string* other : {&chosen.model, &chosen.format, &chosen.file})
    if (made->name.empty()) made->name = *other;
  made->engine_kind = std::move(backend->first);
  made->engine_url = std::move(backend->second);
  if (!keys->empty()) made->engine_api_key = keys->front();
  made->check_tokenizer = !wish.no_engine_check;
  for (std::size_t names = 0; names < kReasoningWords.size(); ++names)
    if (kReasoningWords[names] == wish.reasoning_name) made->reasoning_names = static_cast<ReasoningNames>(names);
  made->limits = {.messages = wish.max_messages,
                  .prompt_tokens = wish.max_prompt_tokens,
                  .reply_tokens = wish.max_reply_tokens,
                  .reasoning_tokens = wish.max_reasoning_tokens};
  made->first_byte = std::chrono::seconds(wish.first_byte);
  made->stall = std::chrono::seconds(wish.stall);
  made->slots = {.running = wish.max_running, .waiting = wish.max_waiting, .longest_wait = made->first_byte};
  return made;
}

Result<serve::ServeOptions> server_options(const ServerWish& wish) {
  serve::ServeOptions options;
  options.address = wish.host;
  options.port = static_cast<std::uint16_t>(wish.port);
  options.threads = wish.threads;
  options.hosts = wish.allow_host;
  options.http = {.connections = wish.max_connections,
                  .header = wish.max_header,
                  .body = wish.max_body,
                  .idle = std::chrono::seconds(wish.idle),
                  .receive = std::chrono::seconds(wish.receive)};
  options.keep_alive = std::chrono::seconds(wish.keep_alive);
  options.drain = std::chrono::seconds(wish.drain);
  options.most_sessions = wish.max_sessions;
  options.capture = wish.capture;
  options.capture_optional = wish.capture_optional;
  options.inspect = wish.inspect;
  if (Result<void> read = read_shared_sessions(wish, options); !read) return read.error();
  Result<std::vector<std::string>> keys = read_keys(wish.api_key_file);
  if (!keys) return keys.error();
  options.api_keys = std::move(*keys);
  for (unsigned level = 0; level < kLogLevels.size(); ++level) {
    if (kLogLevels[level] == wish.log) options.log_level = level;
  }
  return options;
}

}  // namespace parlance::cli
