// Gives a parser tokens. Begin reading at TokenPieces::add.
#include "serve/turn/token_pieces.h"

namespace parlance::serve {

void TokenPieces::add(const SampledToken& token, ReplyParser& parser, ReplySink sink) {
  is_token_ = token.id >= 0;
  if (model_.is_control(token.id)) {
    finish(parser, sink);
    return parser.feed_token(model_.tokenizer->token_text(token.id), true, sink);
  }
  feed(characters_.add(is_token_ ? model_.tokenizer->token_text(token.id) : token.text), parser, sink);
}

void TokenPieces::finish(ReplyParser& parser, ReplySink sink) { feed(characters_.rest(), parser, sink); }

void TokenPieces::feed(std::string_view bytes, ReplyParser& parser, ReplySink sink) const {
  if (bytes.empty()) return;
  if (is_token_)
    parser.feed_token(bytes, false, sink);
  else
    parser.feed(bytes, sink);  // nobody knows which texts were control tokens
}

}  // namespace parlance::serve
