// extend_ids for ids in which replies stand as they were sampled: reply by reply, by a session that is begun before the
// first one. Begin reading at extend_ids.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "conversation/conversation.h"
#include "parlance/sampled_reply.h"
#include "tokens/keeping_switches.h"
#include "tokens/tokenizer/control_ids.h"

namespace parlance {
namespace {

class ReplyWalk {
 public:
  ReplyWalk(const Conversation& whole, const Tokenizer& tokenizer, const HowToRead& start)
      : whole_(whole), tokenizer_(tokenizer), control_(tokenizer.facts()), start_(start) {
    const std::span<const Value> messages = whole.messages().items();
    for (std::size_t i = 1; i < messages.size(); ++i) {
      const auto replies = [&](std::size_t at) { return messages[at]["role"].text() == "assistant"; };
      if (replies(i) && !replies(i - 1)) replies_.push_back(i);
    }
  }

  /// What comes after `ids`, or, behind other replies, why nothing does; nothing where they are no such ids.
  std::optional<Result<Extension>> extend(std::span<const TokenId> ids, const Template& chat_template,
                                          const SessionOptions& options) const {
    if (replies_.empty()) return std::nullopt;
    Conversation first = whole_.copy();
    keep_messages(inside_of(first), static_cast<std::uint32_t>(replies_[0]));
    Result<Session> session = Session::begin(chat_template, tokenizer_, std::move(first), options);
    if (!session || !begins_with(ids, session->ids())) return std::nullopt;
    ids = ids.subspan(session->ids().size());
    for (std::size_t number = 0; number + 1 < replies_.size(); ++number) {
      if (!pass(number, *session, ids)) return std::nullopt;
    }
    if (ids.empty()) return std::nullopt;
    Session last = session->copy();
    last.append_sampled(ids);
    Result<Extension> extension = last.extend(messages_of(replies_.size() - 1), {}, judge_behind(*session));
    if (!extension && replies_.size() == 1) return std::nullopt;
    return extension;
  }

 private:
  static bool begins_with(std::span<const TokenId> ids, std::span<const TokenId> begin) {
    return begin.size() <= ids.size() && std::equal(begin.begin(), begin.end(), ids.begin());
  }

  /// A reply and what comes before the next one.
  std::vector<Message> messages_of(std::size_t number) const {
    const std::span<const Value> messages = whole_.messages().items();
    const std::size_t end = number + 1 < replies_.size() ? replies_[number + 1] : messages.size();
    std::vector<Message> made;
    for (std::size_t i = replies_[number]; i < end; ++i) made.push_back(message_of(messages[i]));
    return made;
  }

  /// How the reply behind a session is read; found out once, when it is first asked for.
  SameReply judge_behind(const Session& before) const {
    auto known = std::make_shared<std::optional<Result<ReplyStart>>>();
    return same_when_read([this, &before, known]() -> Result<ReplyStart> {
      if (!*known) *known = start_behind(before);
      return **known;
    });
  }
  Result<ReplyStart> start_behind(const Session& before) const {
    Result<ReplyStart> start = start_(before.conversation(), before.text());
    if (!start) return start;
    const std::vector<std::string> control = tokenizer_.control_texts();
    start->format = start->format.with_control(control, start->options.ends);
    return start;
  }

  /// Goes on behind a reply in the middle of `ids`, which ends with one of their control tokens: with that behind which
  /// the template's own ids follow.
  bool pass(std::size_t number, Session& session, std::span<const TokenId>& ids) const {
    constexpr int kMostTries = 16;  // each is a render
    const std::vector<Message> messages = messages_of(number);
    const SameReply same = judge_behind(session);
    int tried = 0;
    for (std::size_t end = 1; end <= ids.size() && tried < kMostTries; ++end) {
      if (!control_.contains(ids[end - 1])) continue;
      ++tried;
      Session behind = session.copy();
      behind.append_sampled(ids.first(end));
      const Result<Extension> extension = behind.try_extend(messages, {}, same);
      if (!extension || !begins_with(ids.subspan(end), extension->ids)) continue;
      ids = ids.subspan(end + extension->ids.size());
      session = std::move(behind);
      return true;
    }
    return false;
  }

  const Conversation& whole_;
  const Tokenizer& tokenizer_;
  ControlIds control_;
  const HowToRead& start_;
  std::vector<std::size_t> replies_;  ///< numbers of messages
};

/// All but the advice.
Result<Extension> extend_or_refuse(std::span<const TokenId> ids, const Template& chat_template,
                                   const Tokenizer& tokenizer, const Conversation& whole, const SessionOptions& options,
                                   const HowToRead& start) {
  Result<Extension> extension = extend_ids(ids, chat_template, tokenizer, whole.copy(), options);
  if (extension || extension.error().code() != ErrorCode::history_rewritten || !start) return extension;
  std::optional<Result<Extension>> kept = ReplyWalk(whole, tokenizer, start).extend(ids, chat_template, options);
  return kept ? std::move(*kept) : extension;
}

}  // namespace

Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options, const HowToRead& start) {
  Result<Extension> extension = extend_or_refuse(ids, chat_template, tokenizer, conversation, options, start);
  if (extension || extension.error().code() != ErrorCode::history_rewritten) return extension;
  const KeepsIds keeps = [&](const KeepingSwitch&, const Conversation& other) {
    return extend_or_refuse(ids, chat_template, tokenizer, other, options, start).has_value();
  };
  const std::string advice = advice_of(switches_that_keep(chat_template, conversation, options.render, keeps));
  return advice.empty() ? extension : extension.error().hint(advice);
}

}  // namespace parlance
