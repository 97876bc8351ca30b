// TokenPieces: from an engine's tokens to the text that a parser reads.
#pragma once
#include <string_view>

#include "parlance/reply.h"
#include "serve/models/model.h"
#include "serve/turn/characters.h"

namespace parlance::serve {

/// Gives a parser the bytes of tokens, whole characters at a time, since no API has halves.
class TokenPieces {
 public:
  explicit TokenPieces(const ServedModel& model) : model_(model) {}
  void add(const SampledToken& token, ReplyParser& parser, ReplySink sink);
  /// Gives what waits for the rest of a character. Call it before the parser's `finish`.
  void finish(ReplyParser& parser, ReplySink sink);
  /// No character waits for its rest.
  bool are_whole() const { return characters_.is_whole(); }

 private:
  void feed(std::string_view bytes, ReplyParser& parser, ReplySink sink) const;

  const ServedModel& model_;
  Characters characters_;
  bool is_token_ = true;
};

}  // namespace parlance::serve
