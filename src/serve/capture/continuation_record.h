// The record of a continuation: a turn's record without what only chats have. docs/serve-capture.md describes it.
#pragma once
#include "serve/capture/record.h"
#include "serve/turn/continuation.h"

namespace parlance::serve {

/// What such a record has besides the continuation.
struct ContinuationFacts {
  std::string_view api;  ///< as ContinuationsAsked::api
  std::string id{};      ///< of the answer
  std::string session{};
  std::string time{};
  TurnStatus status = TurnStatus::client_gone;
  std::string error{};
  std::size_t prompt = 0;  ///< the number of its prompt, of several
  bool named = false;      ///< the client named the session
};

std::string continuation_record(const ContinuationFacts& facts, const Continuation& one, std::string_view request);
/// {"text", "finish_reason"}
std::string continuation_reply(const Continuation& one);

}  // namespace parlance::serve
