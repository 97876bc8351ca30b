// CallCheck: what of a call does not fit its tool, said behind the events of a reader that knows nothing of it.
//
// Only where ReplyOptions::check_calls asks for it. Begin reading at CallCheck::take in call_check.cpp; schemas are in
// arguments_check.cpp.
#pragma once
#include <memory>
#include <string>

#include "parlance/reply.h"

namespace parlance {

class reply::CallCheck {
 public:
  /// Arguments past `limits.pending` bytes are not kept, and nothing is said of them.
  CallCheck(std::shared_ptr<const ReplyFormat> format, const ReplyOptions& options);
  /// Passes the event on, and then what there is to say.
  void take(const ReplyEvent& event, const ReplySink& sink);

 private:
  void begin(const ReplyEvent& event, const ReplySink& sink);
  void end(const ReplyEvent& event, const ReplySink& sink);

  bool is_own(std::string_view name) const;

  ReplyTools tools_;
  std::shared_ptr<const ReplyFormat> format_;
  std::string name_;
  std::string arguments_;  ///< of the call that is open, while they are to be checked
  std::uint32_t limit_;
  std::uint32_t texts_ = 0;  ///< of its values, how many are said already to be texts that should be something else
  bool checks_ = false;
};

}  // namespace parlance
