// The gateway as a program runs it. No header of the network is needed for it.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_api.h"
#include "parlance/request.h"
#include "serve/http/limits.h"
#include "serve/models/limits.h"

namespace parlance::serve {

/// A model to offer, and the engine that runs it.
struct ModelOptions {
  std::string name;
  std::string engine_kind;  ///< "llama-server"; "": no engine
  std::string engine_url;
  std::string engine_model{};    ///< the engine's own name of it, where the engine has several
  std::string engine_api_key{};  ///< sent to the engine
  RequestReader reader;
  std::unique_ptr<Tokenizer> tokenizer;
  RenderOptions render{};
  std::function<CivilTime()> clock{};  ///< what strftime_now() shows in a session that begins; null: RenderOptions::now
  TokenizeOptions tokenize{};
  RequestLimits limits{};
  SlotLimits slots{};
  std::chrono::milliseconds first_byte = std::chrono::minutes(10);  ///< of the engine
  std::chrono::milliseconds stall = std::chrono::seconds(120);      ///< between the pieces of its answer
  bool check_tokenizer = true;  ///< refuse to serve where the engine's tokenizer has other ids
  ReasoningNames reasoning_names = ReasoningNames::both;  ///< in chat completions
  std::string source{};                                   ///< an object that says how it was opened, for captures
  std::vector<std::string> tokenizer_files{};             ///< whose hashes captures have
  std::vector<std::string> variable_files{};              ///< what the variables of `render` were read from
};

/// What SIGHUP replaces. Requests under way keep what they began with, and so does a model that did not change, with
/// its sessions.
struct Reloaded {
  std::vector<ModelOptions> models;
  std::vector<std::string> api_keys;
  std::vector<std::string> ignored{};  ///< options that changed and take effect only at a restart; the log says so
};

struct ServeOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned threads = 0;  ///< 0: as many as cores
  HttpLimits http{};
  std::chrono::milliseconds keep_alive = std::chrono::seconds(15);  ///< of streams that have nothing to say; 0: none
  std::chrono::milliseconds drain = std::chrono::seconds(30);       ///< for requests that are under way at SIGTERM
  std::vector<std::string> api_keys{};
  std::vector<std::string> hosts{};  ///< by whose names it may be asked on the loopback, besides the machine's own
  std::size_t most_sessions = 4096;
  std::size_t most_session_bytes = std::size_t{1} << 30;
  std::size_t run_cache_bytes = std::size_t{256} << 20;  ///< of each model's texts whose tokens are remembered
  bool inspect = false;                                  ///< /inspect/api shows the last turns, with their content
  std::string capture{};                                 ///< a folder for records of all turns; "": none
  bool capture_optional = false;                         ///< turns are answered also if their records cannot be written
  std::string shared_sessions{};  ///< the URL of the Redis that gateways share sessions by; "": none
  std::string shared_password{};  ///< in place of the URL's
  bool shared_optional = false;   ///< turns are answered also if they cannot be shared
  std::chrono::seconds session_lifetime = std::chrono::hours(24);  ///< of shared sessions, from their last reply on
  unsigned log_level = 2;                            ///< 0 errors, 1 warnings, 2 each turn, 3 each request
  std::function<void(std::string_view line)> log{};  ///< gets its lines; null: standard error does
  /// Is told the address once it listens: "http://127.0.0.1:8080".
  std::function<void(const std::string& url)> listening{};
  /// Is asked at SIGHUP, in a thread of its own. If it fails, all stays as it is, and the log says why. Null: SIGHUP
  /// does nothing.
  std::function<Result<Reloaded>()> reload{};
};

/// The kinds of engines with a sentence each, for help.
std::vector<std::pair<std::string_view, std::string_view>> engine_kinds();

/// Serves until SIGTERM or SIGINT, then answers what is under way. Fails with usage and file (address, port, engine),
/// and as RequestReader::stop_tokens() does.
Result<void> serve(ServeOptions options, std::vector<ModelOptions> models);

}  // namespace parlance::serve
