// Encoding by merging. Which bytes a control token may stand for is held here in two passes over a run: first as if all
// of it were trusted, then, where that made a control token of bytes that are not, by a vocabulary without any. Begin
// reading at MergingTokenizer::encode_and_find_dropped.
#include "tokenizers/merging_tokenizer.h"

#include <algorithm>

#include "tokenizers/pieces.h"
#include "tokens/tokenizer/control_matcher.h"
#include "tokens/tokenizer/trusted.h"

namespace parlance {
namespace {

constexpr std::size_t kMaxRun = std::size_t{64} << 20;  ///< of a RunEncoder, which needs some 80 bytes for each byte

/// Places in a run from the sizes of its pieces, in order. Of text in which blanks are written as U+2581, each of them
/// is three bytes for one.
class PieceSpans {
 public:
  PieceSpans(std::string_view text, ByteSpan run, bool writes_blanks, bool blank_in_front)
      : text_(text), at_(run.begin), blanks_(writes_blanks), front_(blank_in_front ? kBlank.size() : 0) {}
  ByteSpan next(std::uint32_t size) {
    const std::uint32_t begin = at_;
    if (!blanks_) return {begin, at_ += size};
    const std::uint32_t front = std::min(size, front_);
    front_ -= front;
    for (std::uint32_t left = size - front; left > 0; --left) {
      if (text_[at_] == ' ' && ++inside_ < kBlank.size()) continue;
      inside_ = 0;
      ++at_;
    }
    return {begin, at_ + (inside_ > 0 ? 1 : 0)};
  }

 private:
  std::string_view text_;
  std::uint32_t at_;
  bool blanks_;
  std::uint32_t front_;       ///< bytes of the blank in front that are still to come
  std::uint32_t inside_ = 0;  ///< bytes of a blank that have come
};

std::string with_written_blanks(std::string_view run, bool blank_in_front) {
  std::string written(blank_in_front ? kBlank : "");
  written.reserve(run.size() + run.size() / 3 + 8);
  for (const char c : run) {
    if (c == ' ') {
      written += kBlank;
    } else {
      written += c;
    }
  }
  return written;
}

std::string bytes_in_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += (text.empty() ? "0x" : " 0x") + std::string(1, kDigits[byte >> 4]) + kDigits[byte & 15];
  }
  return text;
}

/// What a text becomes.
struct Output {
  std::vector<EncodedToken>& tokens;
  std::vector<ByteSpan>& dropped;

  void drop(ByteSpan bytes) {
    if (!dropped.empty() && dropped.back().end >= bytes.begin) {
      dropped.back().end = std::max(dropped.back().end, bytes.end);
    } else {
      dropped.push_back(bytes);
    }
  }
};

bool is_byte_of_utf8(unsigned byte) { return byte <= 0xF4 && byte != 0xC0 && byte != 0xC1; }

class MergingTokenizer final : public Tokenizer {
 public:
  explicit MergingTokenizer(MergingParts parts);
  MergingTokenizer(const MergingTokenizer&) = delete;
  MergingTokenizer& operator=(const MergingTokenizer&) = delete;
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    std::vector<ByteSpan> dropped;
    return encode_and_find_dropped(text, trusted, into, dropped);
  }
  Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override;
  std::string token_text(TokenId id) const override {
    return id >= 0 && std::size_t(id) < texts_.size() ? texts_[std::size_t(id)] : std::string();
  }

 private:
  void find_markers();
  bool keeps_text() const;
  Result<void> encode_run(std::string_view text, ByteSpan run, const std::vector<ByteSpan>* trusted,
                          Output& into) const;
  Result<void> encode_guarded(std::string_view text, ByteSpan run, const std::vector<ByteSpan>& trusted,
                              Output& into) const;
  Result<void> merge_run(std::string_view text, ByteSpan run, bool blank_in_front, const std::vector<bool>* hidden,
                         Output& into) const;
  Result<void> push_bytes(std::string_view piece, PieceSpans& spans, const std::vector<bool>* hidden,
                          Output& into) const;
  bool is_control(TokenId id) const { return id >= 0 && std::size_t(id) < hidden_.size() && hidden_[std::size_t(id)]; }
  bool has_forged(std::span<const EncodedToken> tokens, const std::vector<ByteSpan>& trusted) const;

  std::vector<std::string> texts_;
  bool merges_bytes_;
  Merger merger_;
  std::optional<Splitter> splitter_;
  std::unique_ptr<RunEncoder> runs_;
  std::array<TokenId, 256> bytes_;
  UnknownBytes unknown_;
  bool writes_blanks_, blank_in_front_, longest_first_;
  std::vector<bool> hidden_;  ///< control tokens by id
  std::vector<AddedToken> markers_;
  ControlMatcher added_, marked_;
};

MergingTokenizer::MergingTokenizer(MergingParts parts)
    : texts_(std::move(parts.texts)),
      merges_bytes_(parts.merging.from_bytes),
      merger_(std::move(parts.merging)),
      splitter_(std::move(parts.splitter)),
      runs_(std::move(parts.runs)),
      bytes_(parts.bytes),
      unknown_(parts.unknown),
      writes_blanks_(parts.writes_blanks),
      blank_in_front_(parts.blank_in_front),
      longest_first_(parts.longest_first) {
  facts_ = std::move(parts.facts);
  facts_.vocabulary_size = texts_.size();
  hidden_.resize(texts_.size());
  for (const AddedToken& token : facts_.added) hidden_[std::size_t(token.id)] = token.control;
  find_markers();
  added_ = ControlMatcher(facts_.added);
  marked_ = ControlMatcher(markers_);
  facts_.keeps_text = keeps_text();
}

/// The normaliser of a RunEncoder may take text away.
bool MergingTokenizer::keeps_text() const {
  if (runs_ != nullptr || (splitter_ && !splitter_->keeps_text())) return false;
  for (unsigned byte = 0; byte < 256 && unknown_ == UnknownBytes::dropped; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_known = bytes_[byte] >= 0 || (merges_bytes_ && merger_.find({&c, 1}) >= 0);
    if (!is_known && is_byte_of_utf8(byte)) return false;
  }
  return true;
}

/// Ordinary tokens written <|…|>: a template that writes one means a control token, though nobody added it.
void MergingTokenizer::find_markers() {
  std::vector<bool> added(texts_.size());
  for (const AddedToken& token : facts_.added) added[std::size_t(token.id)] = true;
  for (std::size_t id = 0; id < texts_.size(); ++id) {
    if (added[id] || !is_marker(texts_[id])) continue;
    hidden_[id] = true;
    facts_.markers.push_back(static_cast<TokenId>(id));
    markers_.push_back({.id = static_cast<TokenId>(id), .text = texts_[id]});
  }
}

Result<void> MergingTokenizer::encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                                       std::vector<EncodedToken>& into,
                                                       std::vector<ByteSpan>& dropped) const {
  if (Result<void> fit = check_text(text); !fit) return fit;
  const std::size_t first = into.size();
  Output output{into, dropped};
  std::uint32_t at = 0;
  Result<void> done;
  for (const ControlMatch& match :
       longest_first_ ? added_.find_longest_first(text, trusted) : added_.find(text, trusted)) {
    if (done) done = encode_run(text, {at, match.taken.begin}, trusted, output);
    into.push_back({match.token->id, match.bytes, true});
    at = match.taken.end;
  }
  if (done) done = encode_run(text, {at, static_cast<std::uint32_t>(text.size())}, trusted, output);
  if (!done) into.resize(first);
  return done;
}

bool MergingTokenizer::has_forged(std::span<const EncodedToken> tokens, const std::vector<ByteSpan>& trusted) const {
  return std::any_of(tokens.begin(), tokens.end(), [&](const EncodedToken& token) {
    // What a normaliser put in front of a byte, such as a dummy prefix, is as trusted as that byte.
    const ByteSpan bytes{token.bytes.begin, std::max(token.bytes.end, token.bytes.begin + 1)};
    return is_control(token.id) && !lies_in(bytes, trusted);
  });
}

Result<void> MergingTokenizer::encode_run(std::string_view text, ByteSpan run, const std::vector<ByteSpan>* trusted,
                                          Output& into) const {
  if (run.begin >= run.end) return {};
  const std::size_t first = into.tokens.size(), first_dropped = into.dropped.size();
  Result<void> done = merge_run(text, run, blank_in_front_, nullptr, into);
  if (!done || trusted == nullptr || !has_forged(std::span(into.tokens).subspan(first), *trusted)) return done;
  into.tokens.resize(first);
  into.dropped.resize(first_dropped);
  return encode_guarded(text, run, *trusted, into);
}

/// The run without control tokens, but for the ordinary tokens written like one that stand in trusted bytes.
Result<void> MergingTokenizer::encode_guarded(std::string_view text, ByteSpan run, const std::vector<ByteSpan>& trusted,
                                              Output& into) const {
  std::vector<ByteSpan> ranges;  // of the run, in places of its own
  for (const ByteSpan range : trusted) {
    const std::uint32_t begin = std::max(range.begin, run.begin), end = std::min(range.end, run.end);
    if (begin < end) ranges.push_back({begin - run.begin, end - run.begin});
  }
  std::uint32_t at = run.begin;
  for (const ControlMatch& match : marked_.find(text.substr(run.begin, run.end - run.begin), &ranges)) {
    const ByteSpan bytes{run.begin + match.bytes.begin, run.begin + match.bytes.end};
    const Result<void> done = merge_run(text, {at, bytes.begin}, blank_in_front_ && at == run.begin, &hidden_, into);
    if (!done) return done;
    into.tokens.push_back({match.token->id, bytes, false});
    at = bytes.end;
  }
  return merge_run(text, {at, run.end}, blank_in_front_ && at == run.begin, &hidden_, into);
}

Result<void> MergingTokenizer::merge_run(std::string_view text, ByteSpan run, bool blank_in_front,
                                         const std::vector<bool>* hidden, Output& into) const {
  if (run.begin >= run.end) return {};
  std::string_view given = text.substr(run.begin, run.end - run.begin);
  if (runs_ != nullptr) {
    if (given.size() > kMaxRun)
      return Error(ErrorCode::limit_memory, "a run of more than 64 MiB between two control tokens");
    const std::size_t first = into.tokens.size(), first_dropped = into.dropped.size();
    if (Result<void> done = runs_->encode(given, blank_in_front, hidden, into.tokens, into.dropped); !done) return done;
    const auto in_text = [&](ByteSpan bytes) { return ByteSpan{run.begin + bytes.begin, run.begin + bytes.end}; };
    for (EncodedToken& token : std::span(into.tokens).subspan(first)) token.bytes = in_text(token.bytes);
    for (ByteSpan& bytes : std::span(into.dropped).subspan(first_dropped)) bytes = in_text(bytes);
    return {};
  }
  std::string written;
  if (writes_blanks_) given = written = with_written_blanks(given, blank_in_front);
  std::vector<ByteSpan> words;
  if (splitter_) {
    if (Result<void> split = splitter_->split(given, words); !split) return split;
  } else {
    words.push_back({0, static_cast<std::uint32_t>(given.size())});
  }
  PieceSpans spans(text, run, writes_blanks_, blank_in_front && writes_blanks_);
  std::vector<MergedPiece> pieces;
  std::uint32_t at = 0;
  for (const ByteSpan word : words) {
    if (word.begin > at) into.drop(spans.next(word.begin - at));
    at = word.end;
    pieces.clear();
    merger_.merge(given.substr(word.begin, word.end - word.begin), hidden, pieces);
    std::uint32_t place = word.begin;
    for (const MergedPiece& piece : pieces) {
      if (piece.id >= 0) {
        into.tokens.push_back({piece.id, spans.next(piece.size), false});
      } else if (Result<void> done = push_bytes(given.substr(place, piece.size), spans, hidden, into); !done) {
        return done;
      }
      place += piece.size;
    }
  }
  if (at < given.size()) into.drop(spans.next(static_cast<std::uint32_t>(given.size()) - at));
  return {};
}

/// The tokens of the bytes of a piece that is no token. The unknown token may come of any text, as it says nothing of
/// it.
Result<void> MergingTokenizer::push_bytes(std::string_view piece, PieceSpans& spans, const std::vector<bool>* hidden,
                                          Output& into) const {
  for (const char c : piece) {
    const ByteSpan bytes = spans.next(1);
    const TokenId id = bytes_[static_cast<std::uint8_t>(c)];
    if (id >= 0 && (hidden == nullptr || !is_control(id) || id == facts_.unk)) {
      into.tokens.push_back({id, bytes, false});
    } else if (unknown_ == UnknownBytes::refused) {
      return Error(ErrorCode::unencodable, "the vocabulary has no token for the bytes " +
                                               bytes_in_hex(piece.substr(0, 16)) + ", and none for the byte " +
                                               bytes_in_hex({&c, 1}));
    } else {
      into.drop(bytes);
    }
  }
  return {};
}

bool is_written_blank(std::string_view text) {
  while (text.starts_with(kBlank)) text.remove_prefix(kBlank.size());
  return text.empty();
}

}  // namespace

bool is_control_text(std::string_view text) {
  return !is_blank(text) && !is_written_blank(text) && !is_plain_character(text);
}

std::unique_ptr<Tokenizer> merging_tokenizer(MergingParts parts) {
  return std::make_unique<MergingTokenizer>(std::move(parts));
}

}  // namespace parlance
