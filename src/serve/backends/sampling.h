// What a request asks of the sampler, by the names of the APIs and of the engines.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json_writer.h"
#include "parlance/result.h"
#include "parlance/tokenizer.h"
#include "parlance/value.h"

namespace parlance::serve {

/// The settings that engines know, in the order of the table in sampling.cpp.
enum class Setting : std::uint8_t {
  max_tokens,
  temperature,
  top_p,
  top_k,
  min_p,
  typical_p,
  presence_penalty,
  frequency_penalty,
  repeat_penalty,
  seed,
  logit_bias,
  ignore_eos,
  min_tokens,
};
inline constexpr std::size_t kSettings = 13;
std::string_view name_of(Setting setting);

struct SamplingSettings {
  std::vector<std::pair<Setting, std::string>> values;  ///< as JSON, each setting once
  std::vector<std::string> stop;                        ///< texts that end the reply
  std::vector<TokenId> stop_ids{};                      ///< tokens that end it, besides the model's own
  TokenId highest_biased = -1;                          ///< of logit_bias; -1: there is none

  const std::string* find(Setting setting) const;
  std::optional<std::int64_t> integer(Setting setting) const;
  /// Lowers max_tokens and min_tokens by so many.
  void take_tokens(std::int64_t count);
  /// Lowers max_tokens and min_tokens to so many, where they are more.
  void limit_tokens(std::int64_t most);
  /// Writes the settings that an engine has, by its names. `names` are in the order of Setting; "": it has none.
  void write(JsonWriter& into, std::span<const std::string_view> names, std::int64_t seed_offset = 0) const;
};

/// The path of the member by which a request sets it; "" if by none.
std::string member_of(Value request, Setting setting);
/// Reads the settings of a request of any API: OpenAI's two, Anthropic's, Ollama's (`options`). Whether ids are of the
/// vocabulary is not looked at (check_ids in models/model.h).
/// Fails with conversation if one has the wrong type, or is a number that no sampler takes, with its path.
/// `least_tokens`: the lowest max_tokens that is none of these, but Ollama's, which may be any number.
Result<SamplingSettings> read_sampling(Value request, std::int64_t least_tokens = 1);

}  // namespace parlance::serve
