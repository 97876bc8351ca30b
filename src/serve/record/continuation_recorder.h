// ContinuationRecorder: gives the capture a record of a continuation, whatever becomes of it.
#pragma once
#include <string>

#include "serve/capture/capture.h"
#include "serve/capture/continuation_record.h"
#include "serve/gateway.h"

namespace parlance::serve {

/// One that is not done() when this is destroyed has a record that says so.
class ContinuationRecorder {
 public:
  /// All must outlive it, but `facts`: they have what is known at the beginning. `owner`: the client's key.
  ContinuationRecorder(Gateway& gateway, ContinuationFacts facts, Continuation& one, const std::string& owner,
                       const std::string& request);
  ContinuationRecorder(const ContinuationRecorder&) = delete;
  ContinuationRecorder& operator=(const ContinuationRecorder&) = delete;
  ~ContinuationRecorder();

  /// Continuation::run(). Throws CaptureFailure, before the engine is asked, if the capture could not be written lately
  /// and still cannot.
  Task<> run(const Continuation::Take& take);
  /// Returns once the record is on the disk. Throws CaptureFailure if it cannot be written and is not optional.
  Task<> done();
  /// Another one of the request failed, and nobody is answered.
  void give_up();

 private:
  CaptureEntry entry() const;
  void fail(const std::string& why);

  Gateway& gateway_;
  ContinuationFacts facts_;
  Continuation& one_;
  const std::string& owner_;
  const std::string& request_;
  bool done_ = false;
};

}  // namespace parlance::serve
