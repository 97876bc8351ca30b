// Reading replies: what Python's ReplyReader keeps.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "fresh_lock.h"
#include "parlance/reply.h"
#include "parlance/reply_kinds.h"
#include "tokenizers.h"

namespace parlance::python {

struct PyReplyFormat {
  CompiledReplyFormat format;
  std::vector<std::string> notes{};
};

/// A format that is given as a ReplyFormat, a built-in format's name, or JSON (text or objects).
ReplyFormat format_of(nb::handle given);
CompiledReplyFormat compiled_format(nb::handle given);
/// A function of ids that calls Python, and so holds the GIL; of None, none.
std::function<std::string()> id_maker(nb::object make);

/// A ReplyEvent that owns its texts.
struct PyReplyEvent {
  explicit PyReplyEvent(const ReplyEvent& event)
      : facts(event), source(event.source), text(event.text), detail(event.detail) {
    facts.source = facts.text = facts.detail = {};
  }
  /// Lifetime: that of this one, unchanged.
  ReplyEvent view() const {
    ReplyEvent event = facts;
    event.source = source;
    event.text = text;
    event.detail = detail;
    return event;
  }

  ReplyEvent facts;  ///< without its texts
  std::string source, text, detail;
};

/// A parser, the message so far, and the bytes of a character that is not complete. Threads: any; their calls come one
/// after the other, and none calls Python's code.
class PyReplyReader {
 public:
  PyReplyReader(CompiledReplyFormat format_in, const ReplyOptions& options,
                std::shared_ptr<const Tokenizer> tokenizer_in);

  void take(std::string_view bytes, std::vector<PyReplyEvent>& events);
  /// `texts` are theirs, one for each.
  void take_ids(std::span<const TokenId> ids, std::span<const std::string> texts, std::vector<PyReplyEvent>& events);
  void end(std::vector<PyReplyEvent>& events);
  ReplyMessage message() const;
  /// What the message is if the reply ends here. It may go on.
  ReplyMessage message_at_end() const;
  std::vector<KindRange> ranges() const;
  PyReplyReader copy() const;

  const CompiledReplyFormat& format() const { return format_; }
  const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }

 private:
  void take_bytes(std::string_view bytes, std::vector<PyReplyEvent>& events);
  void take_id(TokenId id, std::string_view text, std::vector<PyReplyEvent>& events);
  auto sink_into(std::vector<PyReplyEvent>& events) {
    return [this, &events](const ReplyEvent& event) {
      message_.add(event);
      kinds_.add(event);
      events.emplace_back(event);
    };
  }

  CompiledReplyFormat format_;
  ReplyParser parser_;
  ReplyMessage message_;
  ReplyKinds kinds_;
  std::shared_ptr<const Tokenizer> tokenizer_;  ///< null: ids cannot be read
  std::unordered_set<TokenId> control_;
  std::string begun_;
  mutable FreshLock lock_;
};

}  // namespace parlance::python
