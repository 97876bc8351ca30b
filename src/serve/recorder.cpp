// Gives the capture a record of each turn. Begin reading at TurnRecorder::done.
#include "serve/recorder.h"

#include <atomic>

#include "base/sha256.h"

namespace parlance::serve {

TurnRecorder::TurnRecorder(Gateway& gateway, TurnFacts facts, Turn& turn, const std::string& request,
                           const std::vector<std::string>& call_ids)
    : gateway_(gateway), facts_(std::move(facts)), turn_(turn), request_(request), call_ids_(call_ids) {
  facts_.time = utc_now();
  facts_.status = "client_gone";
}

TurnRecorder::~TurnRecorder() {
  if (done_ || gateway_.capture() == nullptr) return;
  try {
    gateway_.capture()->write_later(entry(turn_.take_session()));
  } catch (const std::exception& failure) {  // out of memory
    say_failure(failure.what());
  }
}

CaptureEntry TurnRecorder::entry(const Session& session) const {
  const PreparedPrompt& prompt = turn_.prompt();
  const bool is_behind = prompt.reused > 0 && prompt.from->id == prompt.id &&
                         std::atomic_ref<bool>(prompt.from->captured).load(std::memory_order_acquire);
  TurnFacts facts = facts_;
  facts.call_ids = call_ids_;
  CaptureEntry made{.file = capture_file_name(prompt.id, turn_.settings().hints.owner),
                    .head = turn_.model().capture_head,
                    .record = turn_record(facts, turn_, session, request_, is_behind ? prompt.reused : 0)};
  if (turn_.grammar()) {
    made.grammar_hash = sha256(*turn_.grammar());
    made.grammar =
        grammar_record(name_of(*turn_.model().backend->facts().grammar), *turn_.grammar(), made.grammar_hash);
  }
  return made;
}

void TurnRecorder::say_failure(const std::string& why) const {
  gateway_.log().say(LogLevel::error, "capture_failure",
                     [&](JsonWriter& line) { line.text("session", turn_.prompt().id).text("message", why); });
}

Task<> TurnRecorder::run(const Turn::Take& take, const Turn::Flush& flush, const Turn::TakeTokens& take_tokens) {
  if (Capture* const capture = gateway_.capture(); capture != nullptr && !capture->optional()) {
    const std::string why = co_await capture->check();
    if (!why.empty()) {
      facts_.status = "not_answered";
      say_failure(why);
      throw CaptureFailure(why);
    }
  }
  try {
    co_await turn_.run(take, flush, take_tokens);
  } catch (const EngineFailure& failure) {
    facts_.status = "engine_failure";
    facts_.error = failure.what();
    throw;
  }
}

Task<> TurnRecorder::done(std::shared_ptr<const Held> kept) {
  Capture* const capture = gateway_.capture();
  if (capture == nullptr) co_return;
  done_ = true;
  facts_.status = "answered";
  if (kept) facts_.key = kept->key;
  std::optional<Session> session;
  if (!kept) session.emplace(turn_.take_session());
  CaptureEntry made = entry(kept ? kept->session : *session);
  const std::string why = co_await capture->write(std::move(made));
  if (kept && why.empty()) std::atomic_ref<bool>(kept->captured).store(true, std::memory_order_release);
  if (why.empty()) co_return;
  say_failure(why);
  if (!capture->optional()) throw CaptureFailure(why);
}

}  // namespace parlance::serve
