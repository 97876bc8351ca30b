// Compares tokenizers. Begin reading at check_engine.
#include "serve/models/engine.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <limits>
#include <optional>

#include "serve/models/probe_text.h"
#include "serve/models/text_check.h"

namespace parlance::serve {

namespace {

/// The texts of control tokens one after the other: those that end a reply, and others of the vocabulary.
std::string control_probe(const ServedModel& model) {
  constexpr std::size_t kMost = 24;
  std::vector<std::string_view> texts;
  for (const StopToken& stop : model.stops) {
    if (stop.id >= 0) texts.push_back(stop.text);
  }
  for (const AddedToken& token : model.tokenizer->facts().added) {
    const bool plain = !token.lstrip && !token.rstrip && !token.single_word && !token.normalized;
    if (texts.size() < kMost && token.control && plain) texts.push_back(token.text);
  }
  std::string all;
  for (const std::string_view text : texts) all += text;
  return all;
}

/// "5 ids differ, the first at 3: the engine has 17 ' x', this model 18 ' y'"
std::string difference_of(const Tokenizer& tokenizer, const std::vector<TokenId>& theirs,
                          const std::vector<TokenId>& ours) {
  const auto shown = [&](const std::vector<TokenId>& ids, std::size_t at) {
    if (at >= ids.size()) return std::string("none");
    return std::to_string(ids[at]) + " '" + tokenizer.token_text(ids[at]) + "'";
  };
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t count = 0;
  for (std::size_t at = 0; at < std::max(theirs.size(), ours.size()); ++at) {
    if (at < theirs.size() && at < ours.size() && theirs[at] == ours[at]) continue;
    if (++count > kMost) continue;
    text.append(count == 1 ? "" : "; ").append("token ").append(std::to_string(at)).append(" is ");
    text.append(shown(theirs, at)).append(" there and ").append(shown(ours, at)).append(" here");
  }
  return count > kMost ? text + "; and " + std::to_string(count - kMost) + " more" : text;
}

/// Throws if the engine encodes the text otherwise. False: it does not tell.
Task<bool> compare(const ServedModel& model, const std::string& text) {
  std::vector<EncodedToken> tokens;
  if (text.empty() || !model.tokenizer->encode(text, nullptr, tokens)) co_return true;
  const std::optional<std::vector<TokenId>> theirs = co_await model.backend->tokenize(text);
  if (!theirs) co_return false;
  std::vector<TokenId> ours;
  for (const EncodedToken& token : tokens) ours.push_back(token.id);
  if (*theirs == ours) co_return true;
  throw EngineFailure(EngineFailure::Kind::other,
                      "the engine at " + model.backend->address().url() +
                          " has another tokenizer than this model: " + difference_of(*model.tokenizer, *theirs, ours));
}

constexpr std::string_view kTooLong = "context_length_exceeded";

EngineFailure unfit(std::string message, std::string code) {
  return {EngineFailure::Kind::unfit, std::move(message), 0, std::move(code)};
}

/// Clients know by these words that they have to shorten the conversation: "prompt is too long: N tokens > M maximum"
/// is Anthropic's, "maximum context length is M tokens … resulted in N tokens" OpenAI's.
EngineFailure too_long(std::int64_t size, std::int64_t most, std::string_view why) {
  const std::string limit = std::to_string(most), tokens = std::to_string(size) + " tokens";
  return unfit("prompt is too long: " + tokens + " > " + limit + " maximum. This model's maximum context length is " +
                   limit + " tokens" + std::string(why) + " Your messages resulted in " + tokens + ".",
               std::string(kTooLong));
}

}  // namespace

bool is_refusal(const EngineFailure& failure) {
  using Kind = EngineFailure::Kind;
  return failure.kind() == Kind::unfit || failure.kind() == Kind::busy || failure.code() == kTooLong;
}

namespace {

/// ?context=N, for an engine that does not tell it.
std::optional<std::int64_t> context_setting(const HttpAddress& address) {
  const std::string said = address.setting("context");
  std::int64_t context = 0;
  std::from_chars(said.data(), said.data() + said.size(), context);
  return context > 0 ? std::optional(context) : std::nullopt;
}

}  // namespace

Task<std::vector<std::string>> check_engine(const ServedModel& model) {
  std::vector<std::string> warnings;
  EngineInfo info = co_await model.backend->ask();
  if (!info.context) info.context = context_setting(model.backend->address());
  if (info.context && info.most) info.context = std::min(*info.context, *info.most);
  const BackendFacts& facts = model.backend->facts();
  if (!facts.takes_ids) {
    warnings.push_back(
        "this engine takes prompts as text, so that nothing can keep content from becoming a control token: a request "
        "in which it would is refused, unless --no-protect is given. Use an engine that takes ids, such as the "
        "llama.cpp server underneath");
  }
  if (model.limits.reasoning_tokens > 0 && !facts.gives_ids) warnings.emplace_back(kReasoningUnlimited);
  if (model.check_tokenizer) {
    const std::string plain(kProbeText), control = control_probe(model);
    bool told = co_await compare(model, plain);
    if (told) told = co_await compare(model, control);
    if (!told) warnings.push_back("this engine does not tell its tokens: nobody has compared its tokenizer with ours");
  }
  model.backend->remember(std::move(info));
  co_await model.text_check->begin(model);
  co_return warnings;
}

Task<> check_engine_once(const ServedModel& model) {
  if (!model.backend->info()) co_await check_engine(model);
}

namespace {

/// A prompt of which nobody wants a reply, but to have it in the engine's cache. Engines sample one token at least.
Task<GenerationEnd> evaluate(Backend& backend, Generation asked) {
  for (auto& [setting, json] : asked.sampling.values)
    if (setting == Setting::max_tokens) json = "1";
  const TokenSink dropped = [](std::span<const SampledToken>, bool) -> Task<bool> { co_return true; };
  GenerationEnd end = co_await backend.generate(asked, dropped);
  end.length = true;
  end.sampled_tokens = 0;
  co_return end;
}

/// Engines refuse a reply for which the context has no room, though few replies become as long as they may.
Task<GenerationEnd> generate_within(Backend& backend, const Generation& generation, const TokenSink& sink,
                                    std::int64_t room) {
  const std::int64_t most = generation.sampling.integer(Setting::max_tokens).value_or(room);
  if (most >= 1 && most <= room) co_return co_await backend.generate(generation, sink);
  Generation asked = generation;
  asked.sampling.limit_tokens(room);
  if (most < 1) co_return co_await evaluate(backend, std::move(asked));
  co_return co_await backend.generate(asked, sink);
}

/// Throws if the prompt is larger than the engine's context or limits.
void check_size(const ServedModel& model, const EngineInfo& info, const Generation& generation) {
  const auto size = static_cast<std::int64_t>(generation.ids.size());
  const std::size_t most = model.limits.prompt_tokens;
  if (most != 0 && generation.ids.size() - generation.sampled > most) {
    throw too_long(size, static_cast<std::int64_t>(most), ": this server takes at most " + std::to_string(most) + ".");
  }
  if (info.context && size >= *info.context) {
    throw too_long(size, *info.context, ", of which the reply needs some.");
  }
}

/// Throws if the prompt is not safe to send in this form.
void check_form(const Generation& generation, bool as_text) {
  if (!generation.forgeable || !as_text) return;
  throw unfit(
      "a text of this request spells a control token, and its engine takes prompts as text, where it would become "
      "one; an engine that takes ids would take it",
      "control_token_in_text");
}

std::string text_of_ids(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

/// Without so many tokens in front, which the engine puts there itself: with both, the prompt would begin with them
/// twice.
std::string_view without_first(std::string_view text, const Tokenizer& tokenizer, std::span<const TokenId> first) {
  const std::string tokens = text_of_ids(tokenizer, first);
  // An empty prompt asks for nothing at all.
  return text.size() > tokens.size() && text.starts_with(tokens) ? text.substr(tokens.size()) : text;
}

/// In the form that the generation says, which no longer changes.
Task<GenerationEnd> generate_in_form(const ServedModel& model, const Generation& generation, const TokenSink& sink,
                                     std::optional<std::int64_t> context) {
  Backend& backend = *model.backend;
  const auto size = static_cast<std::int64_t>(generation.ids.size());
  const std::int64_t room = context ? *context - size : std::numeric_limits<std::int64_t>::max();
  if (model.patience.most.count() == 0) co_return co_await generate_within(backend, generation, sink, room);
  const auto ask = [&](const TokenSink& watched) { return generate_within(backend, generation, watched, room); };
  co_return co_await with_patience(model.patience, sink, ask);
}

/// As text, for an engine that takes no ids.
Task<GenerationEnd> generate_as_text(const ServedModel& model, const Generation& generation, const TokenSink& sink,
                                     std::optional<std::int64_t> context) {
  const std::size_t in_front = co_await model.text_check->in_front(model, generation.ids);
  std::string text;
  Generation asked = generation;
  asked.as_text = true;
  if (asked.text.empty()) asked.text = text = text_of_ids(*model.tokenizer, asked.ids);
  asked.text = without_first(asked.text, *model.tokenizer, generation.ids.first(in_front));
  try {
    const GenerationEnd end = co_await generate_in_form(model, asked, sink, context);
    model.text_check->compare(model, generation.ids, end.prompt_tokens);
    co_return end;
  } catch (const EngineFailure& failure) {
    if (failure.kind() == EngineFailure::Kind::refused) model.text_check->forget();
    if (failure.kind() == EngineFailure::Kind::died) model.text_check->doubt();
    throw;
  }
}

}  // namespace

Task<GenerationEnd> generate(const ServedModel& model, const Generation& generation, const TokenSink& sink) {
  const Backend& backend = *model.backend;
  co_await check_engine_once(model);
  const std::shared_ptr<const EngineInfo> info = backend.info();
  check_size(model, *info, generation);
  check_form(generation, !backend.facts().takes_ids);
  Slots::Slot slot(*model.slots);
  co_await slot.take(generation.place != nullptr && generation.place->exchange(true));
  const bool as_text = !backend.facts().takes_ids;  // the wait may have been long
  check_form(generation, as_text);
  std::exception_ptr failed;
  std::optional<EngineFailure> failure;
  bool has_begun = false;
  const TokenSink watched = [&](std::span<const SampledToken> tokens, bool is_last) -> Task<bool> {
    has_begun = true;
    co_return co_await sink(tokens, is_last);
  };
  if (!as_text) {
    try {
      co_return co_await generate_in_form(model, generation, watched, info->context);
    } catch (const EngineFailure& refused) {
      failed = std::current_exception();
      failure = refused;
    }
    if (has_begun || !co_await model.backend->has_stopped_taking_ids(*failure)) std::rethrow_exception(failed);
    check_form(generation, true);
  }
  co_return co_await generate_as_text(model, generation, sink, info->context);
}

}  // namespace parlance::serve
