// reply::SharedFormat: what all parsers of a format share, and what is remembered for the next one.
//
// A server's requests end their prompts in a few ways, and bring the same end-of-sequence token each time. So the
// tables for a list of ends and the state behind a prompt are kept, a few of each, and copied. Both are functions of
// what they are looked up by: a parser reads the same whether it was found or made. Begin reading at start().
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fork_lock.h"
#include "reply/read/parser.h"

namespace parlance {

class reply::SharedFormat {
 public:
  explicit SharedFormat(const ReplyFormat& format);
  const ReplyFormat& source() const { return source_; }
  /// Where a reply begins.
  reply::ParserState start(const ReplyOptions& options) const;
  /// The same without calls; null: there are none in it, or such a format would not be valid.
  std::shared_ptr<const SharedFormat> without_calls() const;
  /// Where a whole prompt begins.
  reply::ParserState start_of_conversation(const ReplyLimits& limits) const;

 private:
  /// The machine of a list of ends.
  struct Variant {
    std::vector<std::string> ends;
    std::shared_ptr<const reply::Machine> machine;
  };
  /// The state behind a prompt, in which no call began: so the request's tools do not count.
  struct Start {
    std::string prompt;
    bool in_reasoning = false;  ///< ReplyOptions::begin_in_reasoning
    reply::ParserState state;
  };
  std::shared_ptr<const reply::Machine> machine_of(const std::vector<std::string>& ends) const;
  std::shared_ptr<const reply::Machine> find_variant(const std::vector<std::string>& ends) const;
  template <typename IsWanted>
  std::shared_ptr<const Start> find_start(IsWanted is_wanted) const;

  const ReplyFormat source_;
  const std::shared_ptr<const reply::Machine> plain_;
  mutable BriefMutex mutex_;  ///< of what follows; the oldest makes room
  mutable std::vector<Variant> variants_;
  mutable std::vector<std::shared_ptr<const Start>> starts_;
  mutable std::shared_ptr<const SharedFormat> without_calls_;
  mutable std::size_t next_variant_ = 0, next_start_ = 0;
};

}  // namespace parlance
