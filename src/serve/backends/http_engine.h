// HttpEngine: what all engines behind HTTP have in common. Each has its own body, its own events, and few routes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "serve/backends/backend.h"
#include "serve/backends/stream.h"

namespace parlance::serve {

/// Reads the events of one reply.
class ReplyEvents {
 public:
  virtual ~ReplyEvents() = default;
  /// Appends the tokens of an event. Throws EngineFailure.
  virtual void read(Value event, std::vector<SampledToken>& into) = 0;
  /// Did the engine say that this is all?
  virtual bool finished() const = 0;
  /// Does the engine break off such a reply without a word, by the end of its body?
  virtual bool ends_without_a_word() const { return false; }
  /// The figures so far.
  virtual GenerationEnd end() const = 0;
};

/// What differs between the routes of engines.
struct EngineRoutes {
  std::string_view generate;
  std::string_view health = "/health";
  EngineStream::Framing framing = EngineStream::Framing::events;
};

class HttpEngine : public Backend {
 public:
  HttpEngine(BackendOptions options, const EngineRoutes& routes)
      : client_(options.address, options.limits),
        headers_(bearer(options.api_key)),
        wanted_(std::move(options.model)),
        routes_(routes) {}

  const HttpAddress& address() const override { return client_.address(); }
  Task<GenerationEnd> generate(const Generation& generation, const TokenSink& sink) override;
  Task<> check() override { return ask_health(client_, routes_.health, headers_); }
  /// By GET /v1/models.
  Task<EngineInfo> ask() override { return ask_models(client_, wanted_, headers_); }
  /// By POST /tokenize.
  Task<std::optional<std::vector<TokenId>>> tokenize(std::string_view text) override;
  HttpClient& client() { return client_; }

 protected:
  virtual std::string body_of(const Generation& generation, const EngineInfo& known) const = 0;
  /// Of /tokenize; by default as vLLM has it.
  virtual std::string tokenize_body(std::string_view text) const;
  virtual std::unique_ptr<ReplyEvents> events_of(const Generation& generation) const = 0;

  const std::vector<HttpHeader>& headers() const { return headers_; }
  const std::string& wanted() const { return wanted_; }  ///< the engine's own name of the model; "": whichever it has

 private:
  HttpClient client_;
  std::vector<HttpHeader> headers_;
  std::string wanted_;
  const EngineRoutes routes_;
};

}  // namespace parlance::serve
