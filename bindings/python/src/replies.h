// Reading replies: what Python's ReplyReader keeps.
#pragma once
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

/// A ReplyEvent that owns its texts.
struct PyReplyEvent {
  ReplyEvent::Kind kind{};
  bool complete = false;
  std::uint32_t call = 0;
  std::uint64_t position = 0;
  std::string source, text, detail;
};

/// A parser, the message so far, and the bytes of a character that is not complete. Threads: one at a time.
struct PyReplyReader {
  PyReplyReader(CompiledReplyFormat format, const ReplyOptions& options, std::shared_ptr<const Tokenizer> tokenizer_in);

  void take(std::string_view bytes, std::vector<PyReplyEvent>& events);
  void take_id(TokenId id, std::vector<PyReplyEvent>& events);
  void end(std::vector<PyReplyEvent>& events);

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
      events.push_back({event.kind, event.complete, event.call, event.position, std::string(event.source),
                        std::string(event.text), std::string(event.detail)});
    };
  }
};

}  // namespace parlance::python
