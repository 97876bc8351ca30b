// Adapter: how requests are to be read for one template, found when the first request comes that needs it.
//
// A request of plain messages costs one small render of the template's, once; a request that needs more costs the experiments
// that it depends on, once for all requests that depend on the same. Begin reading at Adapter::options_for.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "parlance/derive.h"
#include "probe/shapes.h"

namespace parlance::probe {

/// What the request, read as it is, has of what templates treat differently: an effort of reasoning that it asks for, calls,
/// results, reasoning, lists as content, a message of the system or a developer behind the first, two of the user in a row.
Needs needs_of(const Conversation& untouched);

/// What of a template's capabilities adapt() goes by for a request with these needs; all else is as where nothing is needed.
/// Experiments that `prober` has made already are not made again.
TemplateCapabilities find_needed(Prober& prober, Needs needs);

/// Threads: any; lines of a bulk run share one.
class Adapter {
 public:
  /// `base` is what the user asked for: passes that are skipped there stay so.
  Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base);

  /// Lifetime: the adapter's. `base` where the request needs nothing, or no experiment could be made.
  const ReadOptions& options_for(const Conversation& untouched);

 private:
  const ReadOptions& adapted(Needs needs);
  const ReadOptions* known(Needs needs);

  const Template template_;
  const DeriveOptions deriving_;
  const ReadOptions base_;
  std::once_flag looked_;
  bool text_shows_ = true;
  std::mutex probing_;
  std::optional<Prober> prober_;          ///< one for all needs, since most of their experiments are the same; by who holds probing_
  std::shared_mutex mutex_;               ///< of adapted_ alone, so that what is known waits for no experiment
  std::map<Needs, ReadOptions> adapted_;  ///< nodes stay where they are
};

}  // namespace parlance::probe
