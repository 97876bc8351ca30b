// The options of `parlance serve`: those of the server, and those of each model that it offers.
//
// A configuration file has the same, by the same declarations (toml_options.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options/served_model.h"

namespace parlance::cli {

class Options;

/// A model that is offered, and its engine.
struct ModelWish {
  ServedWish served;
  std::string backend;
  std::string name;  ///< for clients
  std::string backend_key_file;
  bool no_engine_check = false;
  std::uint64_t max_messages = 16384;
  std::uint64_t max_prompt_tokens = 0;
  std::int64_t max_reply_tokens = 0;
  std::int64_t max_reasoning_tokens = 0;
  std::string reasoning_name = "both";
  std::uint64_t max_running = 0;
  std::uint64_t max_waiting = 1024;
  std::uint64_t first_byte = 600;
  std::uint64_t stall = 120;
};

struct ServerWish {
  std::string host = "127.0.0.1";
  std::uint64_t port = 8080;
  unsigned threads = 0;
  std::string api_key_file;
  std::vector<std::string> allow_host;
  std::string log = "turns";
  std::string capture;
  bool capture_optional = false;
  std::string sessions;
  std::string sessions_password_file;
  bool sessions_optional = false;
  std::uint64_t session_ttl = 24 * 3600;
  bool inspect = false;
  std::uint64_t max_body = std::uint64_t{64} << 20;
  std::uint64_t max_header = std::uint64_t{64} << 10;
  std::uint64_t max_connections = 16384;
  std::uint64_t receive = 60;
  std::uint64_t idle = 300;
  std::uint64_t keep_alive = 15;
  std::uint64_t drain = 30;
  std::uint64_t max_sessions = 4096;
};

/// Who uses a model: the options that make no sense for an agent it has not, and it says the others in other words.
enum class ModelUse : std::uint8_t { serve, agent };

/// Declares the options.
void declare_model(Options& app, ModelWish& wish, ModelUse use = ModelUse::serve);
void declare_server(Options& app, ServerWish& wish);

/// The options of the server that are not the same in both, but for those that a reload changes: "--port".
std::vector<std::string> changed_options(const ServerWish& before, const ServerWish& now);

/// Opens a model. Fails with usage, and as open_served() does.
Result<serve::ModelOptions> open_model(ModelWish wish);
/// Fails with usage, file.
Result<serve::ServeOptions> server_options(const ServerWish& wish);

}  // namespace parlance::cli
