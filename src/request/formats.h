// The formats of replies that a template's requests have: one for each set of variables that the template reads.
//
// Which format it is may depend on what a request says beside its messages, chat_template_kwargs above all.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fork_lock.h"
#include "parlance/derive.h"
#include "parlance/request.h"

namespace parlance {

/// Threads: any.
class DerivedFormats {
 public:
  DerivedFormats(Template chat_template, DeriveOptions deriving, std::vector<std::string> control_tokens);

  /// How a reply to a request is written: `request` is an object with its variables, or anything else for none. The
  /// rest of the start is as it is by default. Fails as derive() does.
  Result<ReplyStart> format_for(Value request);

 private:
  const Template template_;
  const DeriveOptions deriving_;
  const std::vector<std::string> control_tokens_;
  const TemplateFacts facts_;
  std::optional<ReplyStart> find(const std::string& key) const;

  LongMutex deriving_lock_;                  ///< held while experiments run: other requests mostly wait for the same
  mutable BriefMutex mutex_;                 ///< of what follows
  std::map<std::string, ReplyStart> known_;  ///< by the variables' key; begun anew once there are many
};

/// A format for a reader that may be fed tokens (RequestOptions::control_tokens). A special token may end a reply.
/// Fails as CompiledReplyFormat::make() does.
Result<CompiledReplyFormat> compiled_for_tokens(const ReplyFormat& format, std::span<const std::string> control_tokens,
                                                const std::vector<std::pair<std::string, std::string>>& special_tokens);

}  // namespace parlance
