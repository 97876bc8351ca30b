// TurnRecorder: follows a turn for the capture and the inspector. Whatever becomes of the turn, there is one record of
// it.
//
//     TurnRecorder recorder(gateway, chat_facts, turn, body, call_ids);
//     co_await recorder.run(take, flush, take_tokens);    // in place of turn.run()
//     co_await recorder.done(turn.keep(…));               // before the client gets the end of its answer
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "serve/capture/capture.h"
#include "serve/capture/record.h"
#include "serve/gateway.h"

namespace parlance::serve {

/// A turn that is not done() when this is destroyed has a record that says so: its client went away, its engine failed.
class TurnRecorder {
 public:
  /// All but `facts` must outlive it. Of `facts`, it takes what is known at the beginning: api, generate, id.
  TurnRecorder(Gateway& gateway, TurnFacts facts, Turn& turn, const std::string& request,
               const std::vector<std::string>& call_ids);
  TurnRecorder(const TurnRecorder&) = delete;
  TurnRecorder& operator=(const TurnRecorder&) = delete;
  ~TurnRecorder();

  /// Turn::run(). Throws CaptureFailure or SharedFailure, before the engine is asked, if the capture or the shared
  /// sessions could not be written lately and still cannot.
  Task<> run(const Turn::Take& take, const Turn::Flush& flush, Turn::TakeTokens take_tokens);
  /// Another choice of the request failed, and nobody is answered.
  void give_up();
  /// Returns once what is kept is shared and the record is on the disk. Throws SharedFailure or CaptureFailure if that
  /// cannot be done and is not optional.
  Task<> done(std::shared_ptr<const Held> kept);

 private:
  CaptureEntry entry(const Session& session) const;
  void note(const ReplyEvent& event);
  void inspect(std::shared_ptr<const Session> session);
  void say_failure(const std::string& why) const;
  Task<std::string> share(std::shared_ptr<const Held> kept);

  Gateway& gateway_;
  TurnFacts facts_;
  Turn& turn_;
  const std::string& request_;
  const std::vector<std::string>& call_ids_;
  bool done_ = false;
  std::shared_ptr<const Session> kept_{};  ///< the turn's session, once it was taken from the turn
  SessionName inspected_{};                ///< for the inspector; its id is "": that knows nothing of the turn
  std::vector<std::string> events_{};
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace parlance::serve
