// Starts the gateway and ends it. Begin reading at serve.
#include "serve/serve.h"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <mutex>
#include <thread>

#include "serve/gateway.h"
#include "serve/models/engine.h"
#include "serve/open_model.h"

namespace parlance::serve {

namespace {

/// Each connection takes a file descriptor, and each that waits for an engine another.
void raise_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// A connection needs one, besides those to engines. Without them clients wait, and nobody is told.
void say_few_descriptors(const Gateway& gateway, std::size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= connections) return;
  gateway.log().say(LogLevel::warning, "few_descriptors", [&](JsonWriter& line) {
    line.number("limit", static_cast<std::int64_t>(limit.rlim_cur))
        .number("connections", static_cast<std::int64_t>(connections));
    line.text("message", "fewer file descriptors than --max-connections may need: raise the limit (ulimit -n)");
  });
}

std::string url_of(const std::string& address, std::uint16_t port) {
  return "http://" + authority_of(address, std::to_string(port));
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
      if (drains_) return stop();
      drains_ = true;
      gateway_.log().say(LogLevel::warning, "draining");
      server_.drain();
      end_ = std::chrono::steady_clock::now() + grace_;
      look();
      wait();
    });
  }
  void stop() {
    if (const std::size_t cut_off = server_.counts().answering; cut_off != 0)
      gateway_.log().say(LogLevel::warning, "cut_off", [cut_off](JsonWriter& line) {
        line.number("requests", static_cast<std::int64_t>(cut_off));
        line.text("message", "these were not answered to their end, since the time to drain was over");
      });
    loops_.stop();
  }
  void look() {
    if (server_.counts().open == 0 || std::chrono::steady_clock::now() > end_) return stop();
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

Result<std::unique_ptr<SharedSessions>> open_shared(const ServeOptions& options, const Gateway& gateway) {
  Result<RedisAddress> address = RedisAddress::parse(options.shared_sessions);
  if (!address) return address.error();
  if (!options.shared_password.empty()) address->password = options.shared_password;
  const auto say = [&gateway](std::string_view event, std::string_view message) {
    const LogLevel level = event == "shared_sessions_failure" ? LogLevel::error : LogLevel::warning;
    gateway.log().say(level, event, [&](JsonWriter& line) { line.text("message", message); });
  };
  return SharedSessions::open(
      {.address = std::move(*address), .lifetime = options.session_lifetime, .optional = options.shared_optional}, say);
}

void name_engine(const ServedModel& model, JsonWriter& line) {
  line.text("model", model.name).text("kind", model.backend->facts().name);
  line.text("url", model.backend->address().url());
}

void warn_of_engine(const Gateway& gateway, const ServedModel& model, std::string_view warning) {
  gateway.log().say(LogLevel::warning, "engine_warning", [&](JsonWriter& line) {
    name_engine(model, line);
    line.text("message", warning);
  });
}

/// Looks at an engine when the gateway starts, and logs what it finds. An engine that does not run yet is looked at
/// with its first request.
Task<> look_at_engine(const Gateway& gateway, std::shared_ptr<const ServedModel> model) {
  std::vector<std::string> warnings;
  std::string failed;
  try {
    warnings = co_await check_engine(*model);
  } catch (const EngineFailure& failure) {
    failed = failure.what();
  }
  const auto about = [&model](JsonWriter& line) { name_engine(*model, line); };
  if (!failed.empty()) {
    gateway.log().say(LogLevel::error, "engine_unready", [&](JsonWriter& line) {
      about(line);
      line.text("message", failed);
    });
    co_return;
  }
  for (const std::string& warning : warnings) warn_of_engine(gateway, *model, warning);
  const std::shared_ptr<const EngineInfo> info = model->backend->info();
  gateway.log().say(LogLevel::info, "engine", [&](JsonWriter& line) {
    about(line);
    line.text("engine_model", info->model).flag("takes_ids", model->backend->facts().takes_ids);
    if (info->context) line.number("context", *info->context);
  });
}

void look_at_engines(Loops& loops, const Gateway& gateway, const Offer& offer) {
  for (const std::shared_ptr<const ServedModel>& model : offer.models) {
    if (!model->backend || model->backend->info()) continue;
    model->text_check->tell([&gateway, of = std::weak_ptr(model)](std::string_view warning) {
      if (const std::shared_ptr<const ServedModel> here = of.lock()) warn_of_engine(gateway, *here, warning);
    });
    asio::co_spawn(loops.first(), look_at_engine(gateway, model), asio::detached);
  }
}

/// Whoever can reach another address than the loopback may ask for anything then.
void say_without_keys(const Gateway& gateway, const ServeOptions& options) {
  if (is_loopback(options.address) || !gateway.offer()->api_keys.empty()) return;
  gateway.log().say(LogLevel::warning, "no_keys", [&options](JsonWriter& line) {
    line.text("address", options.address);
    line.text("message",
              "no --api-key-file: anyone who can reach this address can use the model and read stored conversations");
  });
}

/// A model that is as it was in `before` stays the same one, with its sessions and its connections.
Result<Offer> open_offer(Reloaded&& options, const ServeOptions& server, const Offer& before) {
  Offer made{.api_keys = std::move(options.api_keys)};
  for (ModelOptions& one : options.models) {
    const Result<std::shared_ptr<ServedModel>> opened = open_served_model(std::move(one), server);
    if (!opened) return opened.error();
    std::shared_ptr<const ServedModel> model = *opened;
    for (const std::shared_ptr<const ServedModel>& old : before.models)
      if (old->identity == model->identity) model = old;
    made.models.push_back(std::move(model));
  }
  return made;
}

/// Makes a new offer at each SIGHUP, in a thread of the gateway's workers.
class Reloading {
 public:
  Reloading(Loops& loops, Gateway& gateway, const ServeOptions& options)
      : loops_(loops), gateway_(gateway), options_(options), signals_(loops.first(), SIGHUP) {
    wait();
  }

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& failed, int) {
      if (failed) return;
      gateway_.workers().post([this] { reload_apart(); });
      wait();
    });
  }
  /// In a thread that ends: the library that reads tokenizer.json keeps texts that a thread has made tokens of as long
  /// as the thread lives, also of tokenizers that are gone.
  void reload_apart() {
    try {
      std::jthread([this] { reload_or_say(); }).join();
    } catch (const std::exception& failure) {
      say_failed(failure.what());
    }
  }
  /// What is thrown out of a thread ends the program.
  void reload_or_say() {
    try {
      reload();
    } catch (const std::exception& failure) {
      say_failed(failure.what());
    }
  }
  void reload() {
    if (!options_.reload) return;
    const std::lock_guard lock(mutex_);
    Result<Reloaded> read = options_.reload();
    if (read && !read->ignored.empty()) say_ignored(read->ignored);
    Result<Offer> offer =
        read ? open_offer(std::move(*read), options_, *gateway_.offer()) : Result<Offer>(read.error());
    if (!offer) {
      say_failed(offer.error().display());
      return;
    }
    gateway_.replace(std::move(*offer));
    gateway_.log().say(LogLevel::warning, "reloaded", [this](JsonWriter& line) {
      JsonWriter names('[');
      for (const auto& model : gateway_.offer()->models) names.item_text(model->name);
      line.raw("models", names.take());
    });
    look_at_engines(loops_, gateway_, *gateway_.offer());
  }

  void say_failed(std::string_view why) const {
    gateway_.log().say(LogLevel::error, "reload_failed", [&why](JsonWriter& line) { line.text("message", why); });
  }

  void say_ignored(const std::vector<std::string>& names) const {
    gateway_.log().say(LogLevel::warning, "reload_ignored", [&names](JsonWriter& line) {
      JsonWriter list('[');
      for (const std::string& name : names) list.item_text(name);
      line.raw("options", list.take()).text("message", "these take effect at a restart");
    });
  }

  Loops& loops_;
  Gateway& gateway_;
  const ServeOptions& options_;
  asio::signal_set signals_;
  std::mutex mutex_;  // two signals are served one after the other
};

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> engine_kinds() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const BackendFacts* facts : backend_kinds()) all.emplace_back(facts->name, facts->sentence);
  return all;
}

Result<void> serve(ServeOptions options, std::vector<ModelOptions> models) {
  Result<Offer> offer =
      open_offer({.models = std::move(models), .api_keys = std::move(options.api_keys)}, options, Offer{});
  if (!offer) return offer.error();
  raise_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that cannot grow is an error like a full disk
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  LogStream standard_error(STDERR_FILENO);
  if (!options.log) options.log = [&standard_error](std::string_view line) { standard_error.write(line); };
  Gateway gateway({.most_sessions = options.most_sessions,
                   .most_session_bytes = options.most_session_bytes,
                   .most_body = options.http.body,
                   .inspect = options.inspect,
                   .keep_alive = options.keep_alive,
                   .hosts = is_loopback(options.address) ? std::optional(KnownHosts(options.hosts)) : std::nullopt},
                  std::move(*offer), Log(static_cast<LogLevel>(options.log_level), options.log));
  if (!options.capture.empty()) {
    Result<std::unique_ptr<CaptureFiles>> files = CaptureFiles::open(options.capture);
    if (!files) return files.error();
    gateway.capture_to(std::make_unique<Capture>(std::move(*files), options.capture_optional));
  }
  if (!options.shared_sessions.empty()) {
    Result<std::unique_ptr<SharedSessions>> shared = open_shared(options, gateway);
    if (!shared) return shared.error();
    gateway.share(std::move(*shared));
  }
  Loops loops(threads);  // what they run refers to the gateway
  HttpServer server(
      loops, options.http,
      [&gateway](Exchange& exchange, unsigned refused) { return gateway.handle(exchange, refused); },
      [&gateway](const HttpRequest& header) { return gateway.reads_body_behind(header); });
  gateway.watch(server);
  const Result<std::uint16_t> port = server.listen(options.address, options.port);
  if (!port) return port.error();
  const std::string url = url_of(options.address, *port);
  const Reloading reloading(loops, gateway, options);
  const Ending ending(loops, server, gateway, options.drain);  // who knows the address may end it at once
  gateway.log().say(LogLevel::warning, "listening", [&url](JsonWriter& line) { line.text("url", url); });
  say_without_keys(gateway, options);
  say_few_descriptors(gateway, options.http.connections);
  if (options.listening) options.listening(url);
  look_at_engines(loops, gateway, *gateway.offer());
  loops.run();
  gateway.workers().join();  // their work refers to coroutines of the loops
  if (gateway.capture() != nullptr) gateway.capture()->wait();
  if (gateway.shared() != nullptr) gateway.shared()->wait();
  return {};
}

}  // namespace parlance::serve
