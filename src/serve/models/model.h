// ServedModel: a model that the gateway offers: its templates, its tokenizer, its engine.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parlance/reply_api.h"
#include "parlance/request.h"
#include "serve/backends/backend.h"
#include "serve/models/loss_finders.h"
#include "serve/models/patience.h"
#include "serve/models/readiness.h"
#include "serve/models/slots.h"
#include "serve/models/text_check.h"
#include "serve/models/text_search.h"

namespace parlance::serve {

/// Threads: any number may use one.
struct ServedModel {
  std::string name;
  std::string identity{};            ///< two models of one identity are the same, opened twice
  std::shared_ptr<Backend> backend;  ///< null: nobody runs it here
  RequestReader reader;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<StopToken> stops{};
  std::vector<TokenId> stop_ids{};
  std::vector<std::string> stop_texts{};  ///< those of all `stops`
  std::vector<bool> control{};  ///< by id: the token is a control token, as ReplyParser::feed_token() takes it
  std::vector<std::uint32_t> text_sizes{};  ///< by id, in bytes
  TextSearch added_texts{};                 ///< for those of the vocabulary's added tokens, by their place in its facts
  RenderOptions render{};
  std::function<CivilTime()> clock{};  ///< null: the time of `render`
  TokenizeOptions tokenize{};
  RequestLimits limits{};
  std::unique_ptr<Slots> slots = std::make_unique<Slots>(SlotLimits{});  ///< of its engine
  std::unique_ptr<Readiness> readiness = std::make_unique<Readiness>();
  std::unique_ptr<TextCheck> text_check = std::make_unique<TextCheck>();
  bool check_tokenizer = true;  ///< compare it with the engine's
  Patience patience{};          ///< with its engine
  ReasoningNames reasoning_names = ReasoningNames::both;
  std::string capture_head{};  ///< the record of versions, for the files of a capture
  std::string fingerprint{};   ///< what the ids of sessions depend on, where these are shared (saved_held.h)
  mutable GrammarCache grammars{};
  std::unique_ptr<LossFinders> loss_finders = std::make_unique<LossFinders>();
  std::unique_ptr<IdsBody>
      last_body{};  ///< for one conversation that grows, one request at a time; null: there are many

  bool is_control(TokenId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < control.size() && control[static_cast<std::size_t>(id)];
  }
  bool is_stop(TokenId id) const;
  /// For a session that begins.
  RenderOptions render_now() const;
};

/// Of the ids' texts.
std::size_t bytes_of_texts(const ServedModel& model, std::span<const TokenId> ids);
/// The tokens that end a reply: those that a request names, and the model's own unless they are to be ignored.
std::vector<TokenId> stops_of(const ServedModel& model, std::span<const TokenId> named, bool ignores_own);
/// A request's ids are of the vocabulary. Fails with conversation, naming the id and the vocabulary's size.
Result<void> check_ids(const ServedModel& model, const SamplingSettings& sampling);
/// Fills what follows from the reader and the tokenizer. Fails as RequestReader::stop_tokens() does.
Result<void> complete(ServedModel& model);

}  // namespace parlance::serve
