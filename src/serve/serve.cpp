// Starts the gateway and ends it. Begin reading at serve.
#include "serve/serve.h"

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <thread>

#include "serve/capture/record.h"
#include "serve/gateway.h"
#include "serve/models/engine.h"
#include "serve/models/run_cache.h"

namespace parlance::serve {

namespace {

Result<std::unique_ptr<Backend>> open_engine(ModelOptions& model, const ServeOptions& options) {
  if (model.engine_kind.empty()) return std::unique_ptr<Backend>();
  Result<HttpAddress> address = HttpAddress::parse(model.engine_url);
  if (!address) return address.error();
  if (model.engine_model.empty()) model.engine_model = address->setting("model");
  return open_backend(model.engine_kind, {.address = std::move(*address),
                                          .limits = {.first_byte = options.first_byte, .between = options.stall},
                                          .model = std::move(model.engine_model),
                                          .api_key = std::move(model.engine_api_key)});
}

Result<std::unique_ptr<ServedModel>> open_model(ModelOptions&& model, const ServeOptions& options) {
  Result<std::unique_ptr<Backend>> backend = open_engine(model, options);
  if (!backend) return backend.error();
  auto made = std::make_unique<ServedModel>(
      ServedModel{.name = std::move(model.name),
                  .backend = std::move(*backend),
                  .reader = std::move(model.reader),
                  .tokenizer = std::make_unique<RunCache>(std::move(model.tokenizer), options.run_cache_bytes),
                  .render = model.render,
                  .clock = std::move(model.clock),
                  .tokenize = std::move(model.tokenize),
                  .check_tokenizer = model.check_tokenizer});
  if (Result<void> done = complete(*made); !done) return done.error();
  if (!options.capture.empty()) made->capture_head = head_record(*made, model.source, model.tokenizer_files);
  return made;
}

/// Each connection takes a file descriptor, and each that waits for an engine another.
void raise_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string url_of(const std::string& address, std::uint16_t port) {
  const bool is_six = address.find(':') != address.npos;
  return "http://" + (is_six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

/// Ends the program's run: at the first signal requests that are under way are answered, at the second nothing is.
class Ending {
 public:
  Ending(Loops& loops, HttpServer& server, const Gateway& gateway, std::chrono::milliseconds grace)
      : loops_(loops),
        server_(server),
        gateway_(gateway),
        grace_(grace),
        signals_(loops.first(), SIGTERM, SIGINT),
        timer_(loops.first()) {
    wait();
  }

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& failed, int) {
      if (failed) return;
      if (drains_) return loops_.stop();
      drains_ = true;
      gateway_.log().say(LogLevel::warning, "draining");
      server_.drain();
      end_ = std::chrono::steady_clock::now() + grace_;
      look();
      wait();
    });
  }
  void look() {
    if (server_.counts().open == 0 || std::chrono::steady_clock::now() > end_) return loops_.stop();
    timer_.expires_after(std::chrono::milliseconds(20));
    timer_.async_wait([this](const boost::system::error_code& failed) {
      if (!failed) look();
    });
  }

  Loops& loops_;
  HttpServer& server_;
  const Gateway& gateway_;
  const std::chrono::milliseconds grace_;
  asio::signal_set signals_;
  asio::steady_timer timer_;
  std::chrono::steady_clock::time_point end_{};
  bool drains_ = false;
};

/// Looks at an engine when the gateway starts, and logs what it finds. An engine that does not run yet is looked at
/// with its first request.
Task<> look_at_engine(const Gateway& gateway, const ServedModel& model) {
  std::vector<std::string> warnings;
  std::string failed;
  try {
    warnings = co_await check_engine(model);
  } catch (const EngineFailure& failure) {
    failed = failure.what();
  }
  const auto about = [&model](JsonWriter& line) {
    line.text("model", model.name).text("kind", model.backend->facts().name);
    line.text("url", model.backend->address().url());
  };
  if (!failed.empty()) {
    gateway.log().say(LogLevel::error, "engine_unready", [&](JsonWriter& line) {
      about(line);
      line.text("message", failed);
    });
    co_return;
  }
  for (const std::string& warning : warnings) {
    gateway.log().say(LogLevel::warning, "engine_warning", [&](JsonWriter& line) {
      about(line);
      line.text("message", warning);
    });
  }
  const std::shared_ptr<const EngineInfo> info = model.backend->info();
  gateway.log().say(LogLevel::info, "engine", [&](JsonWriter& line) {
    about(line);
    line.text("engine_model", info->model).flag("takes_ids", model.backend->facts().takes_ids);
    if (info->context) line.number("context", *info->context);
  });
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> engine_kinds() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const BackendFacts* facts : backend_kinds()) all.emplace_back(facts->name, facts->sentence);
  return all;
}

Result<void> serve(ServeOptions options, std::vector<ModelOptions> models) {
  std::vector<std::unique_ptr<ServedModel>> served;
  for (ModelOptions& model : models) {
    Result<std::unique_ptr<ServedModel>> opened = open_model(std::move(model), options);
    if (!opened) return opened.error();
    served.push_back(std::move(*opened));
  }
  raise_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that cannot grow is an error like a full disk
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  Gateway gateway({.api_keys = options.api_keys,
                   .most_sessions = options.most_sessions,
                   .most_session_bytes = options.most_session_bytes,
                   .inspect = options.inspect},
                  std::move(served), Log(static_cast<LogLevel>(options.log_level), options.log));
  if (!options.capture.empty()) {
    Result<std::unique_ptr<CaptureFiles>> files = CaptureFiles::open(options.capture);
    if (!files) return files.error();
    gateway.capture_to(std::make_unique<Capture>(std::move(*files), options.capture_optional));
  }
  Loops loops(threads);  // what they run refers to the gateway
  HttpServer server(loops, options.http,
                    [&gateway](Exchange& exchange, unsigned refused) { return gateway.handle(exchange, refused); });
  gateway.watch(server);
  const Result<std::uint16_t> port = server.listen(options.address, options.port);
  if (!port) return port.error();
  const std::string url = url_of(options.address, *port);
  gateway.log().say(LogLevel::warning, "listening", [&url](JsonWriter& line) { line.text("url", url); });
  if (options.listening) options.listening(url);
  for (const auto& model : gateway.models()) {
    if (model->backend) asio::co_spawn(loops.first(), look_at_engine(gateway, *model), asio::detached);
  }
  Ending ending(loops, server, gateway, options.drain);
  loops.run();
  gateway.workers().join();  // their work refers to coroutines of the loops
  if (gateway.capture() != nullptr) gateway.capture()->wait();
  return {};
}

}  // namespace parlance::serve
