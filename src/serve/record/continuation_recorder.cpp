// Records continuations. Begin reading at ContinuationRecorder::done.
#include "serve/record/continuation_recorder.h"

#include "base/sha256.h"
#include "parlance/json_writer.h"
#include "serve/capture/utc.h"
#include "serve/http/in_pool.h"
#include "serve/models/engine.h"

namespace parlance::serve {

ContinuationRecorder::ContinuationRecorder(Gateway& gateway, ContinuationFacts facts, Continuation& one,
                                           const std::string& owner, const std::string& request)
    : gateway_(gateway), facts_(std::move(facts)), one_(one), owner_(owner), request_(request) {
  facts_.time = utc_now();
}

ContinuationRecorder::~ContinuationRecorder() {
  if (done_ || gateway_.capture() == nullptr) return;
  if (facts_.status == TurnStatus::answered)
    facts_.status = TurnStatus::client_gone;  // it left while the disk was waited for
  try {
    gateway_.capture()->write_later(entry());
  } catch (const std::exception& failure) {  // out of memory
    fail(failure.what());
  }
}

CaptureEntry ContinuationRecorder::entry() const {
  CaptureEntry made{.file = capture_file_name(facts_.session, owner_),
                    .head = one_.model()->capture_head,
                    .record = continuation_record(facts_, one_, request_)};
  if (one_.wish().grammar) {
    const std::string& grammar = *one_.wish().grammar;
    made.grammar_hash = sha256(grammar);
    made.grammar = grammar_record(name_of(*one_.model()->backend->facts().grammar), grammar, made.grammar_hash);
  }
  return made;
}

void ContinuationRecorder::fail(const std::string& why) {
  gateway_.log().say(LogLevel::error, "capture_failure",
                     [&](JsonWriter& line) { line.text("session", facts_.session).text("message", why); });
}

void ContinuationRecorder::give_up() {
  if (facts_.status == TurnStatus::client_gone) facts_.status = TurnStatus::not_answered;
}

Task<> ContinuationRecorder::run(const Continuation::Take& take) {
  if (Capture* const capture = gateway_.capture(); capture != nullptr && !capture->optional()) {
    const std::string why = co_await capture->check();
    if (!why.empty()) {
      give_up();
      fail(why);
      throw CaptureFailure(why);
    }
  }
  try {
    co_await one_.run(take);
  } catch (const EngineFailure& failure) {
    facts_.status = is_refusal(failure) ? TurnStatus::not_answered : TurnStatus::engine_failure;
    facts_.error = failure.what();
    throw;
  }
}

Task<> ContinuationRecorder::done() {
  facts_.status = TurnStatus::answered;
  std::string why;
  if (Capture* const capture = gateway_.capture()) {
    const auto make = [this] { return entry(); };
    CaptureEntry made = co_await in_pool_if_long(gateway_.workers(), request_.size(), make);
    why = co_await capture->write(std::move(made));  // throws before it writes if the client is gone
    if (!why.empty()) fail(why);
    if (capture->optional()) why.clear();
  }
  done_ = true;
  if (!why.empty()) throw CaptureFailure(why);
}

}  // namespace parlance::serve
