// HttpClient: requests to an engine's server, over connections that are kept and used again.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "serve/http/exchange.h"

namespace parlance::serve {

/// Where an engine listens: http://HOST[:PORT][/PATH][?NAME=VALUE&…]
struct HttpAddress {
  std::string host;
  std::string port = "80";
  std::string path;  ///< without a '/' at the end
  /// Settings of ours for the engine, which it does not see.
  std::vector<std::pair<std::string, std::string>> settings{};

  /// Fails with usage.
  static Result<HttpAddress> parse(std::string_view url);
  std::string url() const;
  /// "" if it is not set.
  std::string setting(std::string_view name) const;
};

/// How an engine failed.
class EngineFailure : public std::exception {
 public:
  enum class Kind : std::uint8_t {
    refused,  ///< no connection
    died,     ///< the connection ended before the answer did
    stalled,  ///< nothing came for too long
    garbage,  ///< the answer is not what the engine's API says
    status,   ///< the engine answered with an error
    grammar,  ///< it refuses the grammar of the request
    unfit,    ///< the request was not sent, since this engine cannot do what it asks for
    other,    ///< it runs another model
    busy,     ///< it has as many requests as it may
  };
  EngineFailure(Kind kind, std::string message, unsigned status = 0, std::string code = {})
      : kind_(kind), message_(std::move(message)), status_(status), code_(std::move(code)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  /// Puts ": " and what the engine wrote behind the message, for the client: it may be content of the request.
  EngineFailure quoting(std::string_view answer) && {
    own_ = message_.size();
    message_.append(": ").append(answer);
    return std::move(*this);
  }
  /// The message without what the engine wrote, for the log.
  std::string_view own_message() const { return std::string_view(message_).substr(0, own_); }
  Kind kind() const { return kind_; }
  unsigned status() const { return status_; }        ///< of an answer that is an error, else 0
  const std::string& code() const { return code_; }  ///< for clients; "": the kind says it

 private:
  Kind kind_;
  std::string message_;
  unsigned status_;
  std::string code_;
  std::size_t own_ = std::string::npos;
};
std::string_view name_of(EngineFailure::Kind kind);

struct HttpClientLimits {
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds first_byte = std::chrono::minutes(10);  ///< long prompts are evaluated before it
  std::chrono::milliseconds between = std::chrono::seconds(120);    ///< one piece of an answer and the next
  std::size_t kept = 64;                                            ///< connections without a request
};

/// An answer that arrives. If it is given up before its end, the connection is closed, so that the engine stops.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual unsigned status() const = 0;
  virtual std::string_view header(std::string_view name) const = 0;
  /// The next piece of the body, valid until the next call; "" at its end. Throws EngineFailure.
  virtual Task<std::string_view> read() = 0;
  /// Its connection carries no further request: who sent this answer may close it at any time.
  virtual void distrust() = 0;
  /// All of the body. Throws EngineFailure, also if it is larger than this.
  Task<std::string> read_all(std::size_t most = std::size_t{64} << 20);
};

/// Threads: any.
class HttpClient {
 public:
  HttpClient(HttpAddress address, HttpClientLimits limits = {});
  ~HttpClient();
  const HttpAddress& address() const;
  /// Uses a connection that is there already, by its descriptor, for a request to come.
  void use(int descriptor);

  /// Sends a request; returns once the header of the answer is there. Throws EngineFailure.
  Task<std::unique_ptr<HttpReply>> send(std::string_view method, std::string_view path, std::string_view body = {},
                                        const std::vector<HttpHeader>& headers = {});

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace parlance::serve
