// Readiness: whether an engine could answer. Whoever asks may do so without a key, so that the engine is not asked as
// often as they do.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http/task.h"

namespace parlance::serve {

struct ServedModel;

/// Threads: any.
class Readiness {
 public:
  /// Why this model's engine cannot answer; "": it could. Those who ask at the same time, or within 2 s of an answer,
  /// share one look at it.
  Task<std::string> fault(std::shared_ptr<const ServedModel> model);

 private:
  struct Look;
  static Task<> look(std::shared_ptr<const ServedModel> model, std::shared_ptr<Look> into);

  std::mutex mutex_;  // of what follows
  std::shared_ptr<Look> last_;
};

}  // namespace parlance::serve
