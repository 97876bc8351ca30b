// What the two kinds of derender share: the choices of an engine's answer, and the state of a stream.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "serve/models/model.h"

namespace parlance::serve {

/// Why a stream with stop texts is refused.
inline constexpr std::string_view kNoStops =
    "stop texts cannot be cut from a stream that was sent in part: derender the whole reply, or let the engine do it";

/// The error of a member that must be `wanted`.
Error wrong_member(std::string path, std::string_view wanted);
std::string json_or_null(Value value);
/// A number to which many others can be added.
std::int64_t number_or(Value value, std::int64_t other);
std::string usage_json(std::int64_t prompt, std::int64_t sampled);

/// One choice of an engine's answer.
struct Choice {
  Value value;
  std::vector<TokenId> ids;  ///< all that were sampled
  std::size_t read = 0;      ///< so many of them are text: the token that stopped the reply may not be
  std::string stop_reason = "null";
  bool stopped = false;  ///< by itself or at a stop text, not by a limit
};

/// `drops_stop`: the token that ends the reply is no part of its text. Fails with conversation.
Result<Choice> read_choice(const ServedModel& model, Value value, Value asked, bool drops_stop);
/// The texts at which a whole reply may have stopped.
std::vector<std::string> stops_of(const Choice& choice, Value asked);
/// Can any text stop this request's reply?
bool has_stops(Value asked);
/// How many alternatives of a token the API gives; unset: all that the engine gave.
std::optional<std::size_t> alternatives_of(Value asked, bool is_chat);
/// The members that every choice ends with.
void end_choice(JsonWriter& out, const Choice& choice, Value asked, bool hides);

/// What the client carries from piece to piece: DerenderStreamState.
struct StreamState {
  std::vector<TokenId> ids;     ///< chat: all so far; completions: those with half a character
  std::vector<Value> sizes;     ///< of the chunks that these came in
  std::vector<TokenId> before;  ///< the last ones, for logprobs
  std::vector<std::string> call_ids;
  std::int64_t offset = 0;
  bool role_sent = false;
  bool called = false;

  /// Fails with conversation.
  static Result<StreamState> read(Value given);
  void note_sampled(std::span<const TokenId> sampled);
  /// `last`: so many of `ids` came in the last chunk.
  std::string to_json(std::size_t last) const;
};

/// A chunk of a stream, and what is answered: the chunk with the state behind it.
std::string chunk_json(std::string_view object, Value body, const std::string& name, const std::string& choices);
std::string stream_json(const std::string& chunk, const std::string& state);
/// The choice of a chunk, of which there is one or none. Fails if there are several.
Result<std::optional<Value>> choice_of(Value body);

}  // namespace parlance::serve
