// The formats of replies that a template's requests have: one for each set of variables that the template reads.
//
// Which format it is may depend on what a request says beside its messages, chat_template_kwargs above all.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "cli/prompt_options.h"
#include "parlance/derive.h"

namespace parlance::cli {

/// Threads: any; lines of a bulk run share one.
class DerivedFormats {
 public:
  DerivedFormats(Template chat_template, DeriveOptions deriving);

  /// The format of replies to a request: `request` is an object with its variables, or anything else for none. What is not
  /// certain is said on standard error, each sentence once, since a reply may then be read wrongly. Fails as derive() does.
  Result<std::shared_ptr<const ReplyFormat>> format_for(Value request);

 private:
  void say(const DerivedFormat& derived);

  const Template template_;
  const DeriveOptions deriving_;
  const TemplateFacts facts_;
  std::mutex mutex_;                                                 ///< of what follows
  std::map<std::string, std::shared_ptr<const ReplyFormat>> known_;  ///< by the variables' key; begun anew once there are many
  std::set<std::string> said_;
};

}  // namespace parlance::cli
