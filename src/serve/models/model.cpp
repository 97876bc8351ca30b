// What a served model needs to know of its tokenizer.
#include "serve/models/model.h"

#include <algorithm>

namespace parlance::serve {

bool ServedModel::is_stop(TokenId id) const {
  return std::find(stop_ids.begin(), stop_ids.end(), id) != stop_ids.end();
}

RenderOptions ServedModel::render_now() const {
  RenderOptions options = render;
  if (clock) options.now = clock();
  return options;
}

std::vector<TokenId> stops_of(const ServedModel& model, std::span<const TokenId> named, bool ignores_own) {
  std::vector<TokenId> ids(named.begin(), named.end());
  if (ignores_own) return ids;
  for (const TokenId id : model.stop_ids)
    if (std::find(named.begin(), named.end(), id) == named.end()) ids.push_back(id);
  return ids;
}

Result<void> check_ids(const ServedModel& model, const SamplingSettings& sampling) {
  const std::size_t size = model.tokenizer->facts().vocabulary_size;
  const auto check = [size](TokenId id, const char* member) -> Result<void> {
    if (size == 0 || id < 0 || static_cast<std::size_t>(id) < size) return {};
    return Error(ErrorCode::conversation, std::string(member) + ": there is no token " + std::to_string(id) +
                                              ", the vocabulary has " + std::to_string(size))
        .input(member);
  };
  for (const TokenId id : sampling.stop_ids)
    if (Result<void> fits = check(id, "stop_token_ids"); !fits) return fits;
  return check(sampling.highest_biased, "logit_bias");
}

std::size_t bytes_of_texts(const ServedModel& model, std::span<const TokenId> ids) {
  std::size_t bytes = 0;
  for (const TokenId id : ids) {
    const auto at = static_cast<std::size_t>(id);
    bytes += at < model.text_sizes.size() ? model.text_sizes[at] : model.tokenizer->token_text(id).size();
  }
  return bytes;
}

Result<void> complete(ServedModel& model) {
  const TokenizerFacts& facts = model.tokenizer->facts();
  std::vector<std::string> added_texts;
  for (const AddedToken& token : facts.added) {
    added_texts.push_back(token.text);
    const auto at = static_cast<std::size_t>(token.id);
    if (token.id < 0) continue;
    if (model.control.size() <= at) model.control.resize(at + 1);
    model.control[at] = true;
  }
  model.added_texts = TextSearch(added_texts);
  constexpr std::size_t kMostSizes = std::size_t{1} << 20;
  const std::size_t sizes = std::min(facts.vocabulary_size, kMostSizes);
  model.text_sizes.reserve(sizes);
  for (std::size_t id = 0; id < sizes; ++id)
    model.text_sizes.push_back(
        static_cast<std::uint32_t>(model.tokenizer->token_text(static_cast<TokenId>(id)).size()));
  Result<std::vector<StopToken>> stops = model.reader.stop_tokens(*model.tokenizer, model.render);
  if (!stops) return stops.error();
  model.stops = std::move(*stops);
  for (const StopToken& stop : model.stops) {
    model.stop_texts.push_back(stop.text);
    if (stop.id >= 0) model.stop_ids.push_back(stop.id);
  }
  return {};
}

}  // namespace parlance::serve
