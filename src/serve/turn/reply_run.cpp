// One run of a reply. Begin reading at ReplyRun::sample, then at ReplyRun::take.
#include "serve/turn/reply_run.h"

#include <algorithm>

#include "serve/models/engine.h"

namespace parlance::serve {

ReplyRun::ReplyRun(const ReplyPlan& plan, const ReplyTakers& takers, ReplyResult& into)
    : plan_(plan),
      takers_(takers),
      into_(into),
      parser_(plan.start.format, plan.start.options),
      stops_(plan.settings.sampling.stop),
      pieces_(*plan.model) {}

// ---- what comes

Task<> ReplyRun::sample(Generation asked) {
  const TokenSink sink = [this](std::span<const SampledToken> tokens, bool is_last) { return take(tokens, is_last); };
  into_.end = co_await generate(*plan_.model, asked, sink);
  if (!is_at_limit() || is_over()) co_return;
  into_.end.length = !has_room_behind();
  if (into_.end.length) co_return;
  close_reasoning();
  if (is_over()) co_return;
  go_on(asked);
  const GenerationEnd second = co_await generate(*plan_.model, asked, sink);
  add(second);
}

/// An engine need not know what ends a reply of this format. What it samples behind that is none of the reply.
Task<bool> ReplyRun::take(std::span<const SampledToken> tokens, bool is_last) {
  if (into_.times.first_token.count() == 0) into_.times.first_token = std::chrono::steady_clock::now() - begun_;
  const bool all = take_all(tokens);
  if (!is_last) co_await takers_.flush();
  const bool goes_on = all && !is_cut();
  cut_ = !goes_on && !(all && is_last);
  co_return goes_on;
}

/// Up to the reply's end. False: it is before the last of them.
bool ReplyRun::take_all(std::span<const SampledToken> tokens) {
  for (const SampledToken& token : tokens) {
    if (ended_ || is_cut()) return false;
    take_one(token);
  }
  return true;
}

void ReplyRun::take_one(const SampledToken& token) {
  if (takers_.tokens) takers_.tokens(std::span(&token, 1));
  note(token);
  into_.stopped = is_named_stop(token.id);
  const auto reads = [this](const ReplyEvent& event) { read(event); };
  if (!into_.stopped) pieces_.add(token, parser_, reads);
  count_reasoning();
}

/// What is kept of a token.
void ReplyRun::note(const SampledToken& token) {
  into_.has_logprobs = into_.has_logprobs || token.logprob;
  if (token.id < 0) {
    into_.sampled_text += token.text;
    ++text_tokens_;
    return;
  }
  if (token.logprob || !into_.logprobs.empty()) {
    into_.logprobs.resize(into_.sampled.size());
    into_.logprobs.push_back(token.logprob);
  }
  into_.sampled.push_back(token.id);
}

void ReplyRun::read(const ReplyEvent& event) {
  if (is_of_second_call(event)) return;
  into_.reply.add(event);
  into_.kinds.add(event);
  last_kind_ = event.kind;
  had_event_ = true;
  ended_ = ended_ || event.kind == ReplyEvent::Kind::end;
  stops_.add(event, takers_.event);
}

/// Where one call is asked for, the reply ends before a second one, which no grammar forbade.
bool ReplyRun::is_of_second_call(const ReplyEvent& event) {
  const bool begins_second = event.kind == ReplyEvent::Kind::call_begin && event.call > 0;
  into_.called_twice = into_.called_twice || (plan_.must_call_once && begins_second);
  return into_.called_twice;
}

/// One that is no end of the model's own replies.
bool ReplyRun::is_named_stop(TokenId id) const {
  const std::vector<TokenId>& named = plan_.settings.sampling.stop_ids;
  return std::find(named.begin(), named.end(), id) != named.end() && !plan_.model->is_stop(id);
}

bool ReplyRun::is_over() const { return into_.stopped || into_.called_twice || stops_.found(); }
bool ReplyRun::is_cut() const { return is_over() || (pieces_.are_whole() && is_at_limit()); }

// ---- the limit of reasoning

/// A token that gives no event yet, as half of a character, is of the kind of the next event.
void ReplyRun::count_reasoning() {
  ++uncounted_;
  if (!had_event_) return;
  if (last_kind_ == ReplyEvent::Kind::reasoning && into_.written.end == 0) into_.reasoning_tokens += uncounted_;
  uncounted_ = 0;
  had_event_ = false;
}

bool ReplyRun::is_at_limit() const {
  const bool reasons = last_kind_ == ReplyEvent::Kind::reasoning && !ended_;
  return reasons && !plan_.closing.empty() && into_.written.end == 0 && !into_.sampled.empty() &&
         static_cast<std::int64_t>(into_.reasoning_tokens) >= *plan_.settings.reasoning_tokens;
}

/// Takes what closes it as if the model had sampled it: a token that the request names ends the reply here too.
void ReplyRun::close_reasoning() {
  into_.written.begin = into_.sampled.size();
  for (const TokenId id : plan_.closing) {
    if (is_over()) break;
    into_.written.end = into_.sampled.size() + 1;
    take_one(SampledToken{.id = id});
  }
}

/// Has the reply tokens left for closed reasoning and for something behind it?
bool ReplyRun::has_room_behind() const {
  const auto sampled = static_cast<std::int64_t>(into_.sampled.size() + plan_.closing.size());
  const std::optional<std::int64_t> most = plan_.settings.sampling.integer(Setting::max_tokens);
  const std::shared_ptr<const EngineInfo> info = plan_.model->backend->info();
  const auto prompt = static_cast<std::int64_t>(plan_.prompt_tokens);
  const bool fits = !info || !info->context || prompt + sampled < *info->context;
  return fits && (!most || sampled < *most);
}

/// What the engine is asked for behind closed reasoning.
void ReplyRun::go_on(Generation& asked) {
  ids_behind_.assign(asked.ids.begin(), asked.ids.end());
  ids_behind_.insert(ids_behind_.end(), into_.sampled.begin(), into_.sampled.end());
  asked.ids = ids_behind_;
  asked.sampled = into_.sampled.size();
  asked.grammar = plan_.grammar_behind;
  asked.sampling.take_tokens(static_cast<std::int64_t>(into_.sampled.size()));
}

/// The figures of both parts of a reply.
void ReplyRun::add(const GenerationEnd& second) {
  into_.end.length = second.length;
  if (into_.end.evaluated && second.evaluated)
    *into_.end.evaluated += *second.evaluated;
  else
    into_.end.evaluated.reset();
}

// ---- the end

void ReplyRun::finish() {
  if (cut_) into_.end.sampled_tokens = static_cast<std::int64_t>(into_.sampled.size() + text_tokens_);
  const bool ended = ended_;  // by the model's own mark: ReplyParser::finish() ends each reply
  const auto reads = [this](const ReplyEvent& event) { read(event); };
  // What the grammar had begun as a call is no text of the reply: a limit cut it off before its name.
  const bool may_be_call = plan_.must_call && into_.end.length && !ended;
  const auto reads_rest = [&](const ReplyEvent& event) {
    const bool is_cut = may_be_call && event.kind == ReplyEvent::Kind::content;
    is_cut ? read_as_cut(event) : read(event);
  };
  pieces_.finish(parser_, reads);
  parser_.finish(reads_rest);
  stops_.finish(takers_.event);
  into_.stop_text = stops_.found();
  // The engine's limit came with the last token, or behind it.
  into_.end.length = into_.end.length && !ended && !into_.stopped && !into_.called_twice && !into_.stop_text;
  into_.times.whole = std::chrono::steady_clock::now() - begun_;
}

/// Text that is the beginning of a call, for clients: markup, and a diagnostic.
void ReplyRun::read_as_cut(const ReplyEvent& event) {
  const bool is_told = std::ranges::any_of(
      into_.reply.message.diagnostics, [](const ReplyDiagnostic& one) { return one.fault == ReplyEvent::Fault::cut; });
  if (!is_told)
    read({.kind = ReplyEvent::Kind::malformed,
          .fault = ReplyEvent::Fault::cut,
          .position = event.position,
          .text = "the rest of a call"});
  read({.kind = ReplyEvent::Kind::marker, .position = event.position, .source = event.source});
}

}  // namespace parlance::serve
