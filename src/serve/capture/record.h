// Records of a capture: what was asked, which ids went to the engine and came back, and what was made of them.
// docs/serve-capture.md describes the members.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json_writer.h"
#include "serve/backends/ids_json.h"
#include "serve/turn/turn.h"
#include "serve/turn/turn_status.h"

namespace parlance::serve {

/// The version of the records. Readers refuse a higher one.
inline constexpr std::int64_t kCaptureFormat = 1;

/// What a record of a turn has besides the turn itself.
struct TurnFacts {
  std::string api;        ///< "openai", "anthropic", "responses", "ollama"
  bool generate = false;  ///< Ollama's /api/generate
  std::string id;         ///< of the answer
  std::string time;       ///< of the request
  TurnStatus status = TurnStatus::client_gone;
  std::string error{};                  ///< of the engine
  std::string key{};                    ///< of the messages and the reply; "": nothing can go on from the turn
  std::string name{};                   ///< names what the session keeps of it, and nothing else
  std::vector<std::string> call_ids{};  ///< made up for calls that the model gave none
};

/// The record of versions: parlance, the model's templates and tokenizer files by their SHA-256, its engine. `source`
/// is an object that says how the model was opened; `files` are those of its tokenizer.
std::string head_record(const ServedModel& model, std::string_view source, const std::vector<std::string>& files);
/// Do two heads name the same templates, by their hashes?
bool have_same_templates(Value head, Value other);
/// Do they name the same tokenizer? Where one is of an earlier version, what both of them list is the same.
bool have_same_tokenizer(Value head, Value other);
/// The record of a grammar's text.
std::string grammar_record(std::string_view syntax, std::string_view text, std::string_view hash);
/// The record of a turn, from its session with or without the sampled ids. `request` is the body as it came. `behind`:
/// how many ids of the prompt another record of the file has.
std::string turn_record(const TurnFacts& facts, const Turn& turn, const Session& session, std::string_view request,
                        std::size_t behind);

/// [["content", 0, 12], …]: the kinds of sampled tokens, each that of its first byte.
std::string kinds_json(const Tokenizer& tokenizer, std::span<const TokenId> sampled, std::span<const KindRange> kinds);
/// {"message", "finish_reason", "diagnostics"}.
std::string reply_json(const ReplyMessage& message, const std::vector<std::string>& call_ids);
/// An object of spans with their origins, and of texts that could not become control tokens. `from`: the first byte.
std::string origins_json(const ServedModel& model, const Session& session, CivilTime now, std::size_t from,
                         bool alone = false);
std::string break_json(const PrefixBreak& broken);
/// The members of break_json() but for the sentence, which quotes what the prompts say.
void write_break(JsonWriter& json, const PrefixBreak& broken);
/// The settings as they go to the engine, by our names, and `stop`.
std::string sampling_json(const SamplingSettings& sampling);
/// A number or null for each sampled token.
std::string logprobs_json(const std::vector<std::optional<double>>& logprobs);

}  // namespace parlance::serve
