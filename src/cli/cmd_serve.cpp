// parlance serve: the gateway in front of an engine. Begin reading at run_serve.
#include <cstdio>
#include <mutex>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/served_model.h"
#include "serve/serve.h"

namespace parlance::cli {
namespace {

struct ServeCommand {
  ServedWish model;
  std::string backend;
  bool no_engine_check = false;
  std::string name;  ///< of the model, for clients
  std::string host = "127.0.0.1";
  std::uint64_t port = 8080;
  unsigned threads = 0;
  std::string api_key_file;
  std::string log = "turns";
  std::string capture;
  bool capture_optional = false;
  bool inspect = false;
  std::uint64_t max_body = std::uint64_t{64} << 20;
  std::uint64_t max_header = std::uint64_t{64} << 10;
  std::uint64_t max_connections = 16384;
  std::uint64_t idle = 300;
  std::uint64_t first_byte = 600;
  std::uint64_t stall = 120;
  std::uint64_t drain = 30;
  std::uint64_t max_sessions = 4096;
};

const std::vector<std::string> kLogLevels = {"errors", "warnings", "turns", "requests"};

/// The keys of a file, one a line; lines that begin with '#' are comments.
Result<std::vector<std::string>> read_keys(const std::string& path) {
  std::vector<std::string> keys;
  if (path.empty()) return keys;
  Result<std::string> text = read_input(path, "the API keys");
  if (!text) return text.error();
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string key = text->substr(at, end - at);
    while (!key.empty() && (key.back() == '\r' || key.back() == ' ')) key.pop_back();
    if (!key.empty() && key[0] != '#') keys.push_back(std::move(key));
    at = end + 1;
  }
  if (keys.empty()) return usage("'" + path + "' has no API key", "one a line");
  return keys;
}

/// KIND=URL; "": none
Result<std::pair<std::string, std::string>> backend_of(const std::string& given) {
  if (given.empty()) return std::pair<std::string, std::string>();
  const std::size_t equals = given.find('=');
  if (equals != given.npos && equals > 0) return std::pair(given.substr(0, equals), given.substr(equals + 1));
  return usage("--backend takes KIND=URL, not '" + given + "'", "--backend llama-server=http://127.0.0.1:8080");
}

Result<serve::ModelOptions> open_offered(ServeCommand& command) {
  Result<std::pair<std::string, std::string>> backend = backend_of(command.backend);
  if (!backend) return backend.error();
  Result<serve::ModelOptions> made = open_served(command.model);
  if (!made) return made.error();
  made->name = command.name;
  const TemplateWish& wish = command.model.prompt.wish;
  for (const std::string* other : {&wish.model, &wish.format, &wish.file})
    if (made->name.empty()) made->name = *other;
  made->engine_kind = std::move(backend->first);
  made->engine_url = std::move(backend->second);
  made->check_tokenizer = !command.no_engine_check;
  return made;
}

Result<serve::ServeOptions> options_of(const ServeCommand& command) {
  if (command.port > 65535) return usage("--port is at most 65535", {});
  serve::ServeOptions options;
  options.address = command.host;
  options.port = static_cast<std::uint16_t>(command.port);
  options.threads = command.threads;
  options.http.body = command.max_body;
  options.http.header = command.max_header;
  options.http.connections = command.max_connections;
  options.http.idle = std::chrono::seconds(command.idle);
  options.first_byte = std::chrono::seconds(command.first_byte);
  options.stall = std::chrono::seconds(command.stall);
  options.drain = std::chrono::seconds(command.drain);
  options.most_sessions = command.max_sessions;
  options.capture = command.capture;
  options.capture_optional = command.capture_optional;
  options.inspect = command.inspect;
  Result<std::vector<std::string>> keys = read_keys(command.api_key_file);
  if (!keys) return keys.error();
  options.api_keys = std::move(*keys);
  for (unsigned level = 0; level < kLogLevels.size(); ++level) {
    if (kLogLevels[level] == command.log) options.log_level = level;
  }
  return options;
}

int run_serve(ServeCommand& command) {
  Result<serve::ServeOptions> options = options_of(command);
  if (!options) return report(options.error());
  Result<serve::ModelOptions> model = open_offered(command);
  if (!model) return report(model.error());
  std::mutex mutex;
  options->log = [&mutex](std::string_view line) {
    const std::lock_guard lock(mutex);
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
  options->listening = [](const std::string& url) {
    std::printf("%s\n", url.c_str());
    std::fflush(stdout);
  };
  std::vector<serve::ModelOptions> models;
  models.push_back(std::move(*model));
  const Result<void> ended = serve::serve(std::move(*options), std::move(models));
  return ended ? 0 : report(ended.error());
}

std::string backend_help() {
  std::string text =
      "The engine that runs the model, as KIND=URL; URL?model=NAME where it has several. Without it the server only "
      "renders and reads. Kinds:";
  for (const auto& [name, sentence] : serve::engine_kinds())
    text.append("\n").append(name).append(": ").append(sentence);
  return text;
}

constexpr const char* kServeExamples = R"(Examples:
  parlance serve -m model.gguf --backend llama-server=http://127.0.0.1:8080 --port 9000
  curl http://127.0.0.1:9000/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Hello"}]}')";

void declare_limits_of_clients(Options& app, ServeCommand& c) {
  app.add_option("--max-body", c.max_body, "Bytes of a request's body").placeholder("N").show_default();
  app.add_option("--max-header", c.max_header, "Bytes of a request's header").placeholder("N").show_default();
  app.add_option("--max-connections", c.max_connections, "Connections of clients").placeholder("N").show_default();
  app.add_option("--max-sessions", c.max_sessions, "Conversations that are kept with their ids")
      .placeholder("N")
      .show_default();
  app.add_option("--idle", c.idle, "Seconds that a connection may wait for its next request")
      .placeholder("N")
      .show_default();
  app.add_option("--first-byte", c.first_byte, "Seconds that the engine may take to begin its answer")
      .placeholder("N")
      .show_default();
  app.add_option("--stall", c.stall, "Seconds between two pieces of the engine's answer")
      .placeholder("N")
      .show_default();
  app.add_option("--drain", c.drain, "Seconds for requests that are under way at SIGTERM")
      .placeholder("N")
      .show_default();
}

}  // namespace

Run declare_serve(Options& app) {
  auto command = std::make_shared<ServeCommand>();
  ServeCommand& c = *command;
  app.examples(kServeExamples);
  declare_template_options(app, c.model.prompt);
  declare_tokenizer_options(app, c.model.tokenizer);
  app.add_option("--backend", c.backend, backend_help()).placeholder("KIND=URL");
  app.add_flag("--no-engine-check", c.no_engine_check,
               "Serve also where the engine's own tokenizer gives other ids than the model's");
  app.add_option("--model-name", c.name, "What clients call the model; by default what -m, -f or -t was given")
      .placeholder("NAME");
  app.add_option("--host", c.host, "The address to listen on").placeholder("IP").show_default();
  app.add_option("--port", c.port, "The port; 0: any free one").placeholder("N").show_default();
  app.add_option("--threads", c.threads, "Threads; by default one for each core").placeholder("N");
  app.add_option("--api-key-file", c.api_key_file, "Keys that clients must send, one a line").placeholder("FILE");
  app.add_option("--log", c.log, "What the log says on standard error").one_of(kLogLevels).show_default();
  app.add_option("--capture", c.capture,
                 "Record each turn in a file of its session in this folder, see\nparlance replay")
      .placeholder("DIR");
  app.add_flag("--inspect", c.inspect, "Show the last turns, with their content, under /inspect/api");
  app.add_flag("--capture-optional", c.capture_optional, "Answer also if a record cannot be written, in place of 507");
  declare_limits_of_clients(app, c);
  declare_request_options(app, c.model.prompt);
  declare_protection_options(app, c.model.tokenize);
  declare_limits(app, c.model.prompt);
  return [command] { return run_serve(*command); };
}

}  // namespace parlance::cli
