// Ollama's /api/generate with `raw`: the prompt is the whole text as it is, and no template takes part.
//
// Begin reading at ollama_raw.
#include <ctime>

#include "serve/fronts/apart.h"
#include "serve/fronts/continuations.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/shapes/member_values.h"
#include "serve/fronts/token_texts.h"
#include "serve/random_id.h"

namespace parlance::serve {

namespace {

struct RawAsked {
  ContinuationsAsked asked;
  std::string model_name;
};

/// What would have no effect where no template takes part.
Result<void> check_raw(Value body) {
  if (Result<void> given = refuse_suffix(body); !given) return given;
  for (const std::string_view name : {"template", "system", "context"}) {
    if (body[name].text().empty() && body[name].items().empty()) continue;
    return Error(ErrorCode::conversation,
                 std::string(name) + ": raw mode does not support template, system, or context")
        .input(std::string(name));
  }
  return check_member_values(body, ReplyApi::ollama);
}

Result<std::unique_ptr<RawAsked>> read_raw(const Call& call, Value body, const ModelRef& model) {
  auto made = std::make_unique<RawAsked>(
      RawAsked{{.model = model, .api = "ollama", .id = random_id("")}, std::string(body["model"].text())});
  if (made->model_name.empty()) made->model_name = model->name;
  if (Result<void> checked = check_raw(body); !checked) return checked.error();
  ContinuationsAsked& asked = made->asked;
  Result<std::vector<std::vector<TokenId>>> prompts = read_prompts(body["prompt"], *model);
  if (!prompts) return prompts.error();
  if (prompts->size() != 1) return Error(ErrorCode::conversation, "prompt must be a string").input("prompt");
  asked.prompts = std::move(*prompts);
  Result<SamplingSettings> sampling = read_sampling(model->limits, body);
  if (!sampling) return sampling.error();
  asked.sampling = std::move(*sampling);
  add_unserved(*model, body, asked.losses);
  if (Result<void> form = read_form(call, body, asked); !form) return form.error();
  asked.logprobs = logprobs_of(body);
  asked.stream = flag_of(body["stream"], true);
  const SessionHints hints = hints_of(call.exchange.request(), body);
  asked.named = !hints.session.empty();
  asked.session = asked.named ? hints.session : random_id("session-");
  return made;
}

/// Text that the usual writer of Ollama's answers takes for a reply's content.
class RawForm final : public ContinuationForm {
 public:
  RawForm(const RawAsked& request, const Continuation& one)
      : asked_(request.asked),
        one_(one),
        writer_(
            ReplyApi::ollama,
            {.model = request.model_name, .created = static_cast<std::int64_t>(std::time(nullptr)), .generate = true}) {
    writer_.begin();
  }

  ReplyApi api() const override { return ReplyApi::ollama; }
  std::string piece(std::size_t, std::string_view text, std::span<const SampledToken> tokens) override {
    const ServedModel& model = *asked_.model;
    for (const SampledToken& token : asked_.logprobs ? tokens : std::span<const SampledToken>())
      if (!model.is_stop(token.id)) tell_logprobs(writer_, *model.tokenizer, std::span(&token, 1), false);
    ReplyEvent event;
    event.kind = ReplyEvent::Kind::content;
    event.text = text;
    std::string json;
    writer_.add(event, [&json](const ReplyApiEvent& said) { json = said.data; });
    return json;
  }
  std::string last(std::size_t) override {
    std::string json;
    writer_.finish([&json](const ReplyApiEvent& said) { json = said.data; }, outcome());
    return json;
  }
  std::string usage() override { return {}; }
  std::string whole() override {
    writer_.finish({}, outcome());
    return writer_.to_json();
  }
  std::string error(const ReplyApiError& error) const override { return reply_error_json(ReplyApi::ollama, error); }

 private:
  ReplyOutcome outcome() const {
    const auto passed = [](Clock::time_point then) { return (Clock::now() - then).count(); };
    return {.length = one_.end().length,
            .usage = ReplyUsage{.input_tokens = static_cast<std::int64_t>(one_.wish().prompt.size()),
                                .output_tokens = static_cast<std::int64_t>(one_.tokens())},
            .stop_sequence = one_.stop_text(),
            .times = ReplyTimes{.total = passed(begun_), .eval = passed(begun_)}};
  }

  using Clock = std::chrono::steady_clock;
  const ContinuationsAsked& asked_;
  const Continuation& one_;
  ReplyApiWriter writer_;
  const Clock::time_point begun_ = Clock::now();
};

}  // namespace

bool wants_raw(const std::string& body) {
  if (body.find("\"raw\"") == body.npos) return false;
  const Result<Document> document = parsed_body(body);
  return document && flag_of(document->root()["raw"], false);
}

Task<> ollama_raw(Call& call) {
  using Asked = std::unique_ptr<RawAsked>;
  const auto make = [&call](bool) { return read_request(call, read_raw); };
  const std::optional<Asked> request = co_await apart_or_refused<Asked>(call, ReplyApi::ollama, make);
  if (!request) co_return;
  Continuations all = continuations_of((*request)->asked);
  RawForm form(**request, *all.front());
  co_await answer_continuations(call, (*request)->asked, all, form);
}

}  // namespace parlance::serve
