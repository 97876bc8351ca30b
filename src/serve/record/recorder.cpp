// Gives the capture a record of each turn. Begin reading at TurnRecorder::done.
#include "serve/record/recorder.h"

#include <algorithm>
#include <atomic>

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "reply/event_json.h"
#include "serve/capture/utc.h"
#include "serve/http/in_pool.h"
#include "serve/models/engine.h"

namespace parlance::serve {

TurnRecorder::TurnRecorder(Gateway& gateway, TurnFacts facts, Turn& turn, const std::string& request,
                           const std::vector<std::string>& call_ids)
    : gateway_(gateway), facts_(std::move(facts)), turn_(turn), request_(request), call_ids_(call_ids) {
  facts_.time = utc_now();
}

TurnRecorder::~TurnRecorder() {
  if (done_ || (gateway_.capture() == nullptr && inspected_.id.empty())) return;
  if (facts_.status == TurnStatus::answered)
    facts_.status = TurnStatus::client_gone;  // it left while Redis or the disk was waited for
  try {
    const auto session = kept_ ? kept_ : std::make_shared<const Session>(turn_.take_session());
    if (gateway_.capture() != nullptr) gateway_.capture()->write_later(entry(*session));
    inspect(session);
  } catch (const std::exception& failure) {  // out of memory
    say_failure(failure.what());
  }
}

void TurnRecorder::give_up() {
  if (facts_.status == TurnStatus::client_gone) facts_.status = TurnStatus::not_answered;
}

CaptureEntry TurnRecorder::entry(const Session& session) const {
  const PreparedPrompt& prompt = turn_.prompt();
  const std::string file = capture_file_name(prompt.id, turn_.settings().hints.owner);
  const bool is_behind =
      prompt.reused > 0 && prompt.from->id == prompt.id && gateway_.capture()->has(*prompt.from->captured, file);
  TurnFacts facts = facts_;
  facts.call_ids = call_ids_;
  CaptureEntry made{.file = file,
                    .head = turn_.model()->capture_head,
                    .record = turn_record(facts, turn_, session, request_, is_behind ? prompt.reused : 0)};
  if (turn_.grammar()) {
    made.grammar_hash = sha256(*turn_.grammar());
    made.grammar =
        grammar_record(name_of(*turn_.model()->backend->facts().grammar), *turn_.grammar(), made.grammar_hash);
  }
  return made;
}

void TurnRecorder::say_failure(const std::string& why) const {
  gateway_.log().say(LogLevel::error, "capture_failure",
                     [&](JsonWriter& line) { line.text("session", turn_.prompt().id).text("message", why); });
}

Task<> TurnRecorder::run(const Turn::Take& take, const Turn::Flush& flush, Turn::TakeTokens take_tokens) {
  if (Capture* const capture = gateway_.capture(); capture != nullptr && !capture->optional()) {
    const std::string why = co_await capture->check();
    if (!why.empty()) {
      facts_.status = TurnStatus::not_answered;
      say_failure(why);
      throw CaptureFailure(why);
    }
  }
  if (SharedSessions* const shared = gateway_.shared(); shared != nullptr && !shared->optional()) {
    const std::string why = co_await shared->check();
    if (!why.empty()) {
      facts_.status = TurnStatus::not_answered;
      throw SharedFailure(why);
    }
  }
  if (Inspector* const inspector = gateway_.inspector()) {
    const std::string& owner = turn_.settings().hints.owner;
    std::string id = capture_file_name(turn_.prompt().id, owner);
    id.resize(id.rfind('.'));
    inspected_ = {.id = std::move(id), .shown = turn_.prompt().id, .owner = owner};
    inspector->begin(inspected_, *turn_.model(), facts_, turn_.choice());
  }
  const Turn::Take noting = [&](const ReplyEvent& event) {
    note(event);
    take(event);
  };
  const Turn::Take& taking = inspected_.id.empty() ? take : noting;
  try {
    co_await turn_.run(taking, flush, take_tokens);
  } catch (const EngineFailure& failure) {
    facts_.status = is_refusal(failure) ? TurnStatus::not_answered : TurnStatus::engine_failure;
    facts_.error = failure.what();
    throw;
  }
}

void TurnRecorder::note(const ReplyEvent& event) {
  JsonWriter made('{');
  write_event(made, event);
  events_.push_back(made.take());
  gateway_.inspector()->tell_event(inspected_, facts_.id, turn_.choice(), events_.back());
}

void TurnRecorder::inspect(std::shared_ptr<const Session> session) {
  if (inspected_.id.empty()) return;
  const PreparedPrompt& prompt = turn_.prompt();
  InspectedTurn made{.model = turn_.model(),
                     .facts = facts_,
                     .turn = prompt.from ? prompt.from->turn + 1 : 1,
                     .choice = turn_.choice(),
                     .session = std::move(session),
                     .prompt_tokens = turn_.prompt_tokens(),
                     .reused = prompt.reused,
                     .evaluated = turn_.end().evaluated,
                     .sampled = turn_.sampled(),
                     .logprobs = turn_.logprobs(),
                     .kinds = turn_.kinds(),
                     .now = prompt.now,
                     .grammar = turn_.grammar(),
                     .broken = prompt.broken,
                     .message = turn_.message(),
                     .events = std::move(events_),
                     .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count()};
  made.facts.call_ids = call_ids_;
  gateway_.inspector()->end(inspected_, std::move(made));
}

/// Why the turn must not be answered; "": it may.
Task<std::string> TurnRecorder::share(std::shared_ptr<const Held> kept) {
  SharedSessions* const shared = gateway_.shared();
  if (shared == nullptr || kept == nullptr) co_return std::string();
  // Only a turn that has the one before is a reason to write that again, as what it adds.
  std::shared_ptr<const Held> from = turn_.prompt().from;
  if (from != nullptr && kept->behind.name != from->name) from = nullptr;
  const std::string why = co_await shared->keep(std::move(kept), std::move(from), turn_.settings().hints.owner);
  if (why.empty()) co_return why;
  gateway_.log().say(LogLevel::error, "session_not_shared",
                     [&](JsonWriter& line) { line.text("session", turn_.prompt().id).text("message", why); });
  co_return shared->optional() ? std::string() : why;
}

Task<> TurnRecorder::done(std::shared_ptr<const Held> kept) {
  if (kept) {
    kept_ = std::shared_ptr<const Session>(kept, &kept->session);
    facts_.key = kept->key;
    facts_.name = kept->name;
  }
  const std::string unshared = co_await share(kept);
  Capture* const capture = gateway_.capture();
  if (capture == nullptr && inspected_.id.empty()) {
    done_ = true;
    if (!unshared.empty()) throw SharedFailure(unshared);
    co_return;
  }
  facts_.status = unshared.empty() ? TurnStatus::answered : TurnStatus::not_answered;
  if (!kept_) kept_ = std::make_shared<const Session>(turn_.take_session());
  std::string why;
  if (capture != nullptr) {
    const auto make = [this] { return entry(*kept_); };
    const std::size_t bytes = std::max(request_.size(), kept_->ids().size() * sizeof(TokenId));
    CaptureEntry made = co_await in_pool_if_long(gateway_.workers(), bytes, make);
    why = co_await capture->write(std::move(made));  // throws before it writes if the client is gone
    if (kept && why.empty()) {
      const std::string file = capture_file_name(turn_.prompt().id, turn_.settings().hints.owner);
      kept->captured->store(capture->version(file), std::memory_order_release);
    }
    if (!why.empty()) say_failure(why);
  }
  done_ = true;
  const bool answers = why.empty() || capture->optional();
  if (!answers) facts_.status = TurnStatus::not_answered;
  inspect(kept_);
  if (!answers) throw CaptureFailure(why);
  if (!unshared.empty()) throw SharedFailure(unshared);
}

}  // namespace parlance::serve
