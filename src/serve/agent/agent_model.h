// GatewayModel: an agent's model by a gateway in the same process. Prompts, sessions, grammars and captures are those
// of a client over HTTP that sends its new messages behind the last answer (`previous_response_id`).
#pragma once
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "parlance/agent.h"
#include "serve/agent/succession.h"
#include "serve/gateway.h"

namespace parlance::serve {

struct GatewayModelOptions {
  std::string session;              ///< its name, also of the capture's file
  std::string settings = "{}";      ///< an object with members of each request: max_tokens, temperature, seed…
  std::function<bool()> stopped{};  ///< asked while the engine samples; true ends the request
  std::function<void()> flush{};    ///< called behind the events of tokens that came together
};

/// Threads: one.
class GatewayModel : public AgentModel {
 public:
  /// `gateway` must outlive it.
  GatewayModel(Gateway& gateway, std::shared_ptr<const ServedModel> model, GatewayModelOptions options);
  ~GatewayModel() override;

  /// Fails as a request does, and with file where the engine or the capture fails.
  Result<AgentReply> reply(const AgentRequest& request, ReplySink events) override;
  std::optional<std::size_t> context() const override;
  /// The turns so far, for who plays recorded ones.
  Succession& succession() { return succession_; }
  /// Goes on behind the last answer of those, which is the last of these messages.
  void go_on_behind(std::string response_id, std::vector<Message> messages) {
    last_ = std::move(response_id);
    messages_ = std::move(messages);
  }
  /// Asks the engine what it is. Fails with file.
  Result<std::vector<std::string>> check();

 private:
  Result<std::string> body_of(const AgentRequest& request);
  Result<Turn> plan(const std::string& body);
  void run(Task<> task);

  Gateway& gateway_;
  std::shared_ptr<const ServedModel> model_;
  GatewayModelOptions options_;
  asio::io_context context_;
  Succession succession_;
  std::string last_;               ///< id of the last answer; "": nothing goes on behind it
  std::vector<Message> messages_;  ///< of the conversation
  bool broke_off_ = false;         ///< the last answer, within a call
};

}  // namespace parlance::serve
