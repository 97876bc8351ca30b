// Reading replies: what Python's ReplyReader keeps.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

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

/// A parser, the message so far, and the bytes of a character that is not complete. Threads: one at a time.
struct PyReplyReader {
  PyReplyReader(CompiledReplyFormat format_in, const ReplyOptions& options,
                std::shared_ptr<const Tokenizer> tokenizer_in);

  void take(std::string_view bytes, std::vector<PyReplyEvent>& events);
  void take_id(TokenId id, std::vector<PyReplyEvent>& events);
  void end(std::vector<PyReplyEvent>& events);

  CompiledReplyFormat format;
  ReplyParser parser;
  ReplyMessage message;
  ReplyKinds kinds;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null: ids cannot be read
  std::unordered_set<TokenId> control;
  std::string begun;

 private:
  auto sink_into(std::vector<PyReplyEvent>& events) {
    return [this, &events](const ReplyEvent& event) {
      message.add(event);
      kinds.add(event);
      events.emplace_back(event);
    };
  }
};

}  // namespace parlance::python
