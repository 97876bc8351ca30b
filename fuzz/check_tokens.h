// What a fuzz target holds of a tokenizer that opened: what it makes of a text of its own pieces lies within the text;
// with nothing trusted no control token comes out, with all trusted the same as unguarded. Begin reading at check_law.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "parlance/tokenizer.h"

namespace parlance::fuzz {

using Tokens = std::vector<EncodedToken>;

/// Its first and last pieces with blanks and ordinary text between them, as far as they are UTF-8.
inline std::string text_of(const Tokenizer& tokenizer) {
  std::string text = "a  <s>";
  const std::size_t size = std::min<std::size_t>(tokenizer.facts().vocabulary_size, 40);
  for (std::size_t i = 0; i < size; ++i) {
    const std::string piece = tokenizer.token_text(static_cast<TokenId>(i));
    if (utf8::is_valid(piece, false)) text += piece + (i % 3 == 0 ? " " : i % 7 == 0 ? "中\n" : "");
  }
  return text;
}

inline bool encode(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted,
                   Tokens& tokens) {
  const auto done = tokenizer.encode(text, trusted, tokens);
  if (!done && done.error().display().empty()) std::abort();
  for (std::size_t i = 0; done && i < tokens.size(); ++i) {
    const ByteSpan span = tokens[i].bytes;
    if (span.begin > span.end || span.end > text.size()) std::abort();
    if (i > 0 && span.begin < tokens[i - 1].bytes.begin) std::abort();
  }
  return static_cast<bool>(done);
}

inline bool same(const Tokens& a, const Tokens& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const EncodedToken& x, const EncodedToken& y) {
    return x.id == y.id && x.bytes.begin == y.bytes.begin && x.bytes.end == y.bytes.end && x.added == y.added;
  });
}

inline void check_law(const Tokenizer& tokenizer, const std::string& text) {
  std::set<TokenId> control;
  for (const AddedToken& token : tokenizer.facts().added) {
    if (token.control && token.id != tokenizer.facts().unk) control.insert(token.id);
  }
  control.insert(tokenizer.facts().markers.begin(), tokenizer.facts().markers.end());
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

}  // namespace parlance::fuzz
