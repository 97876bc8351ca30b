// Adapter: how requests are to be read for one template, found when the first request comes that needs it.
//
// A request of plain messages costs one small render of the template's, once; a request that needs more costs the
// experiments that it depends on, once for all requests that depend on the same and set the same variables. Begin
// reading at Adapter::options_for.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/fork_lock.h"
#include "parlance/derive.h"
#include "probe/needs.h"
#include "request/variables.h"

namespace parlance {

/// Threads: any; lines of a bulk run share one.
class Adapter {
 public:
  /// `base` is what the user asked for: passes that are skipped there stay so; `fixed`: variables in place of the
  /// requests'.
  Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base, const Variables& fixed = {});

  /// Lifetime: the adapter's. `base` where the request needs nothing, or no experiment could be made.
  const ReadOptions& options_for(const Conversation& untouched);

 private:
  /// What was found with the same variables.
  struct Found {
    DeriveOptions deriving;
    std::unique_ptr<probe::Prober> prober;  ///< one for all needs, since most of their experiments are the same
    std::map<probe::Needs, const ReadOptions*> adapted;
  };
  const ReadOptions& adapted(probe::Needs needs, const Variables& variables);
  const ReadOptions* known(probe::Needs needs, const std::string& key);
  TemplateCapabilities find(Found& found, probe::Needs needs);
  Found& found_with(const Variables& variables, const std::string& key);
  const ReadOptions& keep(ReadOptions made);
  void let_go_of_probers();

  const Template template_;
  const DeriveOptions deriving_;
  const ReadOptions base_;
  const TemplateFacts facts_;
  const Variables fixed_;
  MadeOnce<probe::Needs> needs_of_text_;
  LongMutex probing_;
  Found plain_;                         ///< without variables, and what efforts set; by who holds probing_
  BriefMutex mutex_;                    ///< of what follows, so that what is known waits for no experiment
  std::map<std::string, Found> found_;  ///< by the variables' key; begun anew once there are many
  std::deque<ReadOptions> made_;        ///< each once: what was given out stays where it is
};

}  // namespace parlance
