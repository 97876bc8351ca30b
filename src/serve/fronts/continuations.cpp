// Answers requests for continuations. Begin reading at answer_continuations.
#include "serve/fronts/continuations.h"

#include <cmath>

#include "parlance/json_writer.h"
#include "serve/fronts/own_grammar.h"
#include "serve/fronts/request_parts.h"
#include "serve/http/event_stream.h"
#include "serve/http/together.h"
#include "serve/json/plain.h"
#include "serve/record/continuation_recorder.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

using Recorders = std::vector<std::unique_ptr<ContinuationRecorder>>;

/// What an answer is made with.
struct Answering {
  Call& call;
  const ContinuationsAsked& asked;
  ContinuationForm& form;
  Recorders recorders;
};

void count_tokens_of(const Answering& answering, const Continuations& all) {
  Metrics& metrics = answering.call.gateway.metrics();
  for (const auto& one : all) {
    metrics.tokens.add("kind=\"prompt\"", one->wish().prompt.size());
    metrics.tokens.add("kind=\"evaluated\"", static_cast<std::uint64_t>(one->end().evaluated.value_or(0)));
    metrics.tokens.add("kind=\"sampled\"", one->tokens());
  }
}

Task<> answer_all(Answering& answering) {
  const auto sample = [&](std::size_t number) -> Task<> {
    const Continuation::Take take = [&](std::string_view text, std::span<const SampledToken> tokens) -> Task<> {
      answering.form.piece(number, text, tokens);
      co_return;
    };
    co_await answering.recorders[number]->run(take);
  };
  co_await together(answering.recorders.size(), sample);
  for (const auto& recorder : answering.recorders) co_await recorder->done();
  co_await answering.call.exchange.answer(200, "application/json", answering.form.whole());
}

void append(const Answering& answering, EventStream& stream, const std::string& json) {
  if (!json.empty()) append_stream_event(stream.out(), answering.form.api(), {"", json});
}

Task<> stream_one(Answering& answering, EventStream& stream, std::size_t number) {
  const Continuation::Take take = [&](std::string_view text, std::span<const SampledToken> tokens) -> Task<> {
    append(answering, stream, answering.form.piece(number, text, tokens));
    co_await stream.flush();
  };
  co_await answering.recorders[number]->run(take);
  co_await answering.recorders[number]->done();
  append(answering, stream, answering.form.last(number));
  co_await stream.flush();
}

Task<> stream_all(Answering& answering) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Call& call = answering.call;
  const ReplyApi api = answering.form.api();
  const KeepAlive alive{keep_alive_of_stream(api), call.gateway.keep_alive()};
  EventStream stream(executor, call.exchange, content_type_of_stream(api), alive);
  const auto one = [&](std::size_t number) { return stream_one(answering, stream, number); };
  std::optional<ReplyApiError> failed;
  try {
    co_await stream.run(answering.recorders.size(), one);
  } catch (...) {
    if (!stream.begun()) throw;
    failed = error_of(call, answering.asked.session, std::current_exception());
  }
  if (failed) {
    for (const auto& recorder : answering.recorders) recorder->give_up();
    append(answering, stream, answering.form.error(*failed));
    co_await stream.end();
    co_return;
  }
  if (answering.asked.include_usage) append(answering, stream, answering.form.usage());
  co_await stream.end(end_of_stream(api));
}

}  // namespace

Continuations continuations_of(const ContinuationsAsked& asked) {
  Continuations all;
  const auto place = std::make_shared<std::atomic<bool>>(false);
  for (const std::vector<TokenId>& prompt : asked.prompts) {
    for (unsigned choice = 0; choice < asked.choices; ++choice) {
      const ContinuationWish wish{.prompt = prompt,
                                  .sampling = &asked.sampling,
                                  .logprobs = asked.logprobs,
                                  .prompt_logprobs = asked.prompt_logprobs,
                                  .grammar = asked.grammar,
                                  .choice = choice,
                                  .place = place};
      all.push_back(std::make_unique<Continuation>(asked.model, wish));
    }
  }
  return all;
}

Task<> answer_continuations(Call& call, const ContinuationsAsked& asked, Continuations& all, ContinuationForm& form) {
  const std::string owner = owner_of(call.exchange.request());
  if (call.gateway.capture() == nullptr) call.exchange.request().body = {};  // it may wait long, for nobody
  Answering answering{call, asked, form, {}};
  for (std::size_t number = 0; number < all.size(); ++number) {
    const ContinuationFacts facts{.api = asked.api,
                                  .id = asked.id,
                                  .session = asked.session,
                                  .prompt = number / asked.choices,
                                  .named = asked.named};
    answering.recorders.push_back(
        std::make_unique<ContinuationRecorder>(call.gateway, facts, *all[number], owner, call.exchange.request().body));
  }
  call.exchange.add_header("X-Session-Id", asked.session);
  const LossesOf of{.session = asked.session, .request = call.id, .model = asked.model->name, .id = asked.id};
  say_losses(call.gateway, of, asked.losses);
  std::optional<ReplyApiError> failed;
  try {
    if (asked.stream)
      co_await stream_all(answering);
    else
      co_await answer_all(answering);
  } catch (...) {
    failed = error_of(call, asked.session, std::current_exception());
  }
  for (const auto& recorder : answering.recorders) recorder->give_up();
  count_tokens_of(answering, all);
  if (!failed) co_return;
  const std::string said = form.error(*failed);
  co_await answer_error(call.exchange, *failed, said);
}

std::string continuations_usage(const ContinuationsAsked& asked, const Continuations& all) {
  std::int64_t prompt = 0, sampled = 0, cached = 0;
  for (const std::vector<TokenId>& ids : asked.prompts) prompt += static_cast<std::int64_t>(ids.size());
  for (std::size_t number = 0; number < all.size(); ++number) {
    sampled += static_cast<std::int64_t>(all[number]->tokens());
    const auto size = static_cast<std::int64_t>(all[number]->wish().prompt.size());
    const std::optional<std::int64_t> evaluated = all[number]->end().evaluated;
    if (number % asked.choices == 0 && evaluated) cached += std::max<std::int64_t>(0, size - *evaluated);
  }
  JsonWriter made('{');
  made.number("prompt_tokens", prompt).number("completion_tokens", sampled).number("total_tokens", prompt + sampled);
  made.raw("prompt_tokens_details", JsonWriter('{').number("cached_tokens", cached).take());
  return made.take();
}

std::string logprob_json(double value) { return std::isfinite(value) ? real_json(value) : "-9999.0"; }

Result<void> read_form(const Call& call, Value body, ContinuationsAsked& into) {
  const BackendFacts& engine = into.model->backend->facts();
  const Result<OwnGrammar> own = read_own_grammar(*into.model, body);
  if (!own) return own.error();
  const Result<GrammarOptions> wanted = grammar_options(call.exchange.request().body, "the request");
  if (own->text) {
    into.grammar = own->text;
    return wanted ? check_alone(*own, *wanted, !body["tools"].items().empty()) : Result<void>(wanted.error());
  }
  if (!wanted) return engine.grammar ? Result<void>(wanted.error()) : Result<void>();
  if (!engine.grammar) {
    add_unenforced(engine, *wanted, false, body, into.losses);
    return {};
  }
  const Result<std::optional<PrintedGrammar>> grammar = content_grammar_in(*into.model, *wanted, *engine.grammar);
  if (!grammar) return grammar.error();
  into.grammar = text_of(*grammar);
  if (*grammar) add_loosened((*grammar)->grammar.notes(), body, into.losses);
  return {};
}

Result<void> read_sampler(Value settings, ContinuationsAsked& into, std::int64_t least_tokens) {
  Result<SamplingSettings> sampling = read_sampling(into.model->limits, settings, least_tokens);
  if (!sampling) return sampling.error();
  if (Result<void> checked = check_ids(*into.model, *sampling); !checked) return checked;
  const Result<unsigned> choices = choices_of(settings);
  if (!choices) return choices.error();
  into.sampling = std::move(*sampling);
  into.choices = *choices;
  into.logprobs = logprobs_of(settings);
  add_unserved(*into.model, settings, into.losses);
  return {};
}

}  // namespace parlance::serve
