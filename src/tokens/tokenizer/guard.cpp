// Guard: encode, look whether a control token stands for untrusted bytes, and only then encode again, guarded. Where a
// mark joins a letter across the border of trust, the places of tokens do not tell that; there both encodings are made
// and compared.
#include "tokens/tokenizer/guard.h"

#include <algorithm>

#include "tokens/tokenizer/control_ids.h"
#include "tokens/tokenizer/joints.h"
#include "tokens/tokenizer/trusted.h"

namespace parlance {
namespace {

/// Tells forged tokens.
class Inspector {
 public:
  Inspector(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& trusted, bool plain_added)
      : facts_(tokenizer.facts()), text_(text), control_(facts_, plain_added), trusted_(trusted) {
    for (const AddedToken& token : facts_.added) {
      if (token.id == facts_.unk) unk_texts_.push_back(token.text);
    }
  }

  /// Is it a control token for bytes that are not trusted?
  bool is_forged(const EncodedToken& token) const {
    return control_.contains(token.id) && !is_unknown_text(token) && !lies_in(token.bytes, trusted_);
  }

 private:
  /// The model says `unk` of any text that it does not know, but not of that token's own text.
  bool is_unknown_text(const EncodedToken& token) const {
    if (token.added || facts_.unk != token.id) return false;
    const std::string_view bytes = text_.substr(token.bytes.begin, token.bytes.end - token.bytes.begin);
    return std::none_of(unk_texts_.begin(), unk_texts_.end(),
                        [&](std::string_view text) { return bytes.find(text) != bytes.npos; });
  }

  const TokenizerFacts& facts_;
  std::string_view text_;
  ControlIds control_;
  std::vector<std::string_view> unk_texts_;
  const std::vector<ByteSpan>& trusted_;
};

std::vector<EncodedToken> forged_tokens(const Tokenizer& tokenizer, std::string_view text,
                                        const std::vector<ByteSpan>& trusted, bool plain_added,
                                        const std::vector<EncodedToken>& tokens) {
  const Inspector inspector(tokenizer, text, trusted, plain_added);
  std::vector<EncodedToken> forged;
  for (const EncodedToken& token : tokens) {
    if (inspector.is_forged(token)) forged.push_back(token);
  }
  return forged;
}

Error not_kept(const Tokenizer& tokenizer, const EncodedToken& forged) {
  const std::string bytes = std::to_string(forged.bytes.begin) + " to " + std::to_string(forged.bytes.end);
  return Error(ErrorCode::tokenizer, "the tokenizer (" + tokenizer.facts().kind + ") makes control token " +
                                         std::to_string(forged.id) + " of text that is not trusted, bytes " + bytes +
                                         " of the prompt")
      .hint("it must encode text with control tokens switched off where it is asked to");
}

/// The ranges, and the bytes of the added tokens that are not special.
std::vector<ByteSpan> with_plain(const Tokenizer& tokenizer, const std::vector<ByteSpan>& trusted,
                                 const std::vector<EncodedToken>& tokens) {
  const ControlIds all(tokenizer.facts()), special(tokenizer.facts(), true);
  std::vector<ByteSpan> spans = trusted;
  for (const EncodedToken& token : tokens) {
    const bool is_plain = token.added && all.contains(token.id) && !special.contains(token.id);
    if (is_plain && token.bytes.begin < token.bytes.end) spans.push_back(token.bytes);
  }
  std::sort(spans.begin(), spans.end(), [](const ByteSpan& a, const ByteSpan& b) { return a.begin < b.begin; });
  std::vector<ByteSpan> joined;
  for (const ByteSpan& span : spans) {
    if (!joined.empty() && span.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

bool touches(const EncodedToken& token, const Joint& joint) {
  return token.bytes.begin < joint.end && joint.begin < token.bytes.end;
}

/// Control tokens at joints that are among `tokens` and not among `others`; each with the joint's bytes, which had a
/// part in it.
std::vector<EncodedToken> only_in(const std::vector<EncodedToken>& tokens, const std::vector<EncodedToken>& others,
                                  const ControlIds& control, const std::vector<Joint>& joints) {
  std::vector<EncodedToken> found;
  auto other = others.begin();
  auto joint = joints.begin();
  for (const EncodedToken& token : tokens) {
    while (joint != joints.end() && joint->end <= token.bytes.begin) ++joint;
    if (joint == joints.end()) break;
    if (!control.is_control(token) || !touches(token, *joint)) continue;
    other =
        std::find_if(other, others.end(), [&](const EncodedToken& o) { return o.bytes.begin >= token.bytes.begin; });
    const auto same = std::find_if(other, others.end(), [&](const EncodedToken& o) {
      return o.bytes.begin > token.bytes.begin || o.id == token.id;
    });
    if (same != others.end() && same->bytes.begin == token.bytes.begin) continue;
    found.push_back(
        {token.id, {std::min(token.bytes.begin, joint->begin), std::max(token.bytes.end, joint->end)}, token.added});
  }
  return found;
}

/// Is it what a model says of text that it cannot write? With control tokens switched off, that may be text which
/// spells the unknown token.
bool is_unknown(const Tokenizer& tokenizer, const EncodedToken& token) {
  return !token.added && token.id == tokenizer.facts().unk;
}

/// Erases those of `tokens` that are among `others`. Both are in the order of the text.
void forget(std::vector<EncodedToken>& tokens, const std::vector<EncodedToken>& others) {
  auto other = others.begin();
  std::erase_if(tokens, [&](const EncodedToken& token) {
    while (other != others.end() && other->bytes.begin < token.bytes.begin) ++other;
    return other != others.end() && !token.added && other->id == token.id && other->bytes.begin == token.bytes.begin &&
           other->bytes.end == token.bytes.end;
  });
}

void add_new(std::vector<EncodedToken>& tokens, const std::vector<EncodedToken>& more) {
  for (const EncodedToken& token : more) {
    const auto at = std::find_if(tokens.begin(), tokens.end(),
                                 [&](const EncodedToken& t) { return t.bytes.end > token.bytes.begin; });
    const bool is_there = at != tokens.end() && at->bytes.begin < token.bytes.end && at->id == token.id;
    if (!is_there) tokens.insert(at, token);
  }
}

}  // namespace

Result<void> encode_whole(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted,
                          std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) {
  return tokenizer.facts().keeps_text ? tokenizer.encode(text, trusted, into)
                                      : tokenizer.encode_and_find_dropped(text, trusted, into, dropped);
}

Result<GuardedEncoding> encode_guarded(const Tokenizer& tokenizer, std::string_view text,
                                       const std::vector<ByteSpan>& trusted, bool plain_added) {
  GuardedEncoding encoding;
  encoding.tokens.reserve(text.size() / 3);
  if (Result<void> done = encode_whole(tokenizer, text, nullptr, encoding.tokens, encoding.dropped); !done)
    return done.error();
  encoding.forged = forged_tokens(tokenizer, text, trusted, plain_added, encoding.tokens);
  const std::vector<Joint> joined = joints(text, trusted);
  if (encoding.forged.empty() && joined.empty()) return encoding;
  std::vector<EncodedToken> guarded;
  std::vector<ByteSpan> dropped;
  const std::vector<ByteSpan> allowed = plain_added ? with_plain(tokenizer, trusted, encoding.tokens) : trusted;
  if (Result<void> done = encode_whole(tokenizer, text, &allowed, guarded, dropped); !done) return done.error();
  const std::vector<EncodedToken> still = forged_tokens(tokenizer, text, trusted, plain_added, guarded);
  for (const EncodedToken& token : still)
    if (!is_unknown(tokenizer, token)) return not_kept(tokenizer, token);
  forget(encoding.forged, still);
  const ControlIds control(tokenizer.facts(), plain_added);
  add_new(encoding.forged, only_in(encoding.tokens, guarded, control, joined));
  encoding.undone = only_in(guarded, encoding.tokens, control, joined);
  if (encoding.forged.empty() && encoding.undone.empty()) return encoding;
  encoding.tokens = std::move(guarded);
  encoding.dropped = std::move(dropped);
  return encoding;
}

}  // namespace parlance
