// Fuzz target: any bytes as a SentencePiece model. Opening ends in an error or in a tokenizer. What
// that makes of a text of its own pieces lies within the text; with nothing trusted no control
// token comes out, with all trusted the same as unguarded.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "base/utf8.h"
#include "tokenizers/adapters.h"

namespace {

using parlance::ByteSpan;
using parlance::EncodedToken;
using Tokens = std::vector<EncodedToken>;

/// Its first and last pieces with blanks and ordinary text between them, as far as they are UTF-8.
std::string text_of(const parlance::Tokenizer& tokenizer) {
  std::string text = "a  <s>";
  const std::size_t size = std::min<std::size_t>(tokenizer.facts().vocabulary_size, 40);
  for (std::size_t i = 0; i < size; ++i) {
    const std::string piece = tokenizer.token_text(static_cast<parlance::TokenId>(i));
    if (parlance::utf8::is_valid(piece, false))
      text += piece + (i % 3 == 0 ? " " : i % 7 == 0 ? "中\n" : "");
  }
  return text;
}

bool encode(const parlance::Tokenizer& tokenizer, std::string_view text,
            const std::vector<ByteSpan>* trusted, Tokens& tokens) {
  const auto done = tokenizer.encode(text, trusted, tokens);
  if (!done && done.error().display().empty()) std::abort();
  for (std::size_t i = 0; done && i < tokens.size(); ++i) {
    const ByteSpan span = tokens[i].bytes;
    if (span.begin > span.end || span.end > text.size()) std::abort();
    if (i > 0 && span.begin < tokens[i - 1].bytes.begin) std::abort();
  }
  return static_cast<bool>(done);
}

bool same(const Tokens& a, const Tokens& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const EncodedToken& x, const EncodedToken& y) {
                      return x.id == y.id && x.bytes.begin == y.bytes.begin &&
                             x.bytes.end == y.bytes.end && x.added == y.added;
                    });
}

void check_law(const parlance::Tokenizer& tokenizer, const std::string& text) {
  std::set<parlance::TokenId> control;
  for (const parlance::AddedToken& token : tokenizer.facts().added) {
    if (token.control && token.id != tokenizer.facts().unk) control.insert(token.id);
  }
  const std::vector<ByteSpan> nowhere, everywhere{{0, static_cast<std::uint32_t>(text.size())}};
  Tokens none, all, free;
  if (encode(tokenizer, text, &nowhere, none)) {
    for (const EncodedToken& token : none) {
      if (control.contains(token.id)) std::abort();
    }
  }
  const bool done = encode(tokenizer, text, nullptr, free);
  if (done && (!encode(tokenizer, text, &everywhere, all) || !same(free, all))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parlance::SentencePieceOptions options;
  options.special_tokens = {"<|user|>"};
  options.prefix_each_run = size % 2 == 0;
  const auto opened = parlance::open_sentencepiece(bytes, "fuzz.model", options, {});
  if (opened) {
    check_law(**opened, text_of(**opened));
  } else if (opened.error().code() != parlance::ErrorCode::tokenizer ||
             opened.error().display().empty()) {
    std::abort();
  }
  return 0;
}
