// Chat: a request to any of the chat APIs, read and planned.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "parlance/reply_api.h"
#include "serve/fronts/losses.h"
#include "serve/fronts/routes.h"
#include "serve/fronts/shapes/message_shape.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

/// What differs between the APIs.
struct ChatApi {
  ReplyApi api;
  std::string_view id_prefix;
  std::string_view call_prefix;
  bool streams_by_default = false;
  bool generate = false;  ///< Ollama's /api/generate: a prompt in place of messages
};

/// A request that can be answered. It does not move: its parts refer to each other.
struct Chat {
  Chat(const ChatApi& of, std::shared_ptr<const ServedModel> by) : api(of), model(std::move(by)) {}
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;

  const ChatApi& api;
  std::shared_ptr<const ServedModel> model;
  std::string model_name{};  ///< as the client calls it
  std::string id{};
  std::string rewritten{};     ///< the request's text with the items that it names; "": it is as it came
  std::string conversation{};  ///< the answer is added to it; "": to none
  bool stream = false;
  bool stream_usage = false;
  bool explain = false;           ///< the request asks for the member `parlance`
  bool looks_for_losses = false;  ///< by a render of their own: somebody asks for them
  std::string loads{};  ///< Ollama: "load" or "unload", which a request without messages asks for; "": it has some
  bool logprobs = false;
  bool names_tokens = false;                                   ///< in logprobs by their ids, "token_id:17"
  bool returns_ids = false;                                    ///< of the prompt, and of each choice
  bool old_functions = false;                                  ///< the request has `functions` in place of `tools`
  Losses losses{};                                             ///< what the request asks for in vain
  std::string notes{};                                         ///< of its grammar, as JSON, where they are asked for
  std::vector<std::pair<std::string, std::string>> members{};  ///< of the request, for answers that repeat them
  ReplyApiOptions written{};  ///< how its answers are written, as far as the request says
  std::vector<Turn> turns{};  ///< one for each choice
};

/// /api/generate has the parts of one conversation under names of their own: the same as a request with messages.
std::string messages_of_generate(Value body);

/// A request as it came.
struct RequestText {
  ReplyApi api;
  Value body;             ///< its values
  std::string_view text;  ///< as JSON, with `messages`
};

/// What reading a conversation shows besides it.
struct ConversationFacts {
  Losses losses{};         ///< known_losses() of the request
  EarlierCalls earlier{};  ///< for check_results()
};

/// The conversation of a request, with those before it if it names a response that it goes on from. It says where its
/// reply begins. Fails as RequestReader::read does, and with conversation.
Result<ChatRequest> read_conversation(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                                      const RequestText& given, const SessionHints& hints,
                                      ConversationFacts* facts = nullptr);
/// A request of Responses says something, or goes on from what was said. Fails with conversation.
Result<void> check_input(Value body);
/// What at the beginning belongs to this request alone.
OwnHead own_head_of(const ServedModel& model, const Conversation& conversation, Value body);
/// What a request asks of its reply besides the conversation. Fails as read_sampling() and reasoning_limit() do.
Result<TurnSettings> turn_settings(const ServedModel& model, Value body, SessionHints hints,
                                   std::int64_t least_tokens = 1);
/// Plans one reply to a request. Fails as read_conversation() and Turn::plan() do.
Result<Turn> plan_turn(const Sessions& sessions, const std::shared_ptr<const ServedModel>& model,
                       const RequestText& given, const TurnSettings& settings);
/// Fails as RequestReader and Turn::plan() do, and with no_template, conversation. Throws as Sessions do; `may_wait`:
/// the thread is one that may wait for the sessions that gateways share.
Result<std::unique_ptr<Chat>> read_chat(Call& call, const ChatApi& api, bool may_wait);

}  // namespace parlance::serve
