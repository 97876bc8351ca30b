// SentencePiece's .model.
//
// A text is split at the added tokens that count in it; each run between them is encoded by itself
// (sentencepiece_encoder.h). What the model recognises in a run (user-defined pieces, ordinary ones that
// a file made added tokens, and ordinary ones written <|…|>) may come of trusted bytes only:
//   1. The run is encoded as it is. If every control token that came out stands for trusted bytes,
//      that is the answer: so a harmless text gives exactly what SentencePiece gives.
//   2. Else it is encoded as if the control pieces were not in the model.
//      Where a trusted symbol stands, the anchor is put: a user-defined piece of bytes that are no
//      UTF-8, which the model treats as it treats the symbol, and which is exchanged for the symbol's
//      id afterwards. Taking the symbols out and encoding the parts by themselves would be wrong:
//      a part would get a dummy prefix, or lose its blanks.
// Begin reading at SentencePieceTokenizer::encode_and_find_dropped.
#include <algorithm>

#include "tokenizers/adapters.h"
#include "tokenizers/sentencepiece_encoder.h"
#include "tokenizers/sentencepiece_vocabulary.h"
#include "tokens/tokenizer/control_matcher.h"
#include "tokens/tokenizer/trusted.h"

namespace parlance {
namespace {

/// Four bytes, because what begins with 0xFF counts as a character of four.
constexpr std::string_view kAnchor = "\xFF\xFF\xFF\xFF";
/// A run costs some 30 bytes for each byte of it.
constexpr std::size_t kMaxSentencePieceRun = std::size_t{128} << 20;

/// A run as it is given to the encoder, and where its bytes are in the text.
struct Prepared {
  std::string_view text;
  std::string owned;                  ///< where it has anchors
  std::uint32_t begin = 0;            ///< of the run in the text
  std::vector<ControlMatch> symbols;  ///< for which anchors stand, in order; places in the run
  bool leads = false;                 ///< one more anchor is in front, for nothing
};

/// Places in a prepared run to places in the text; they must come in order.
class Places {
 public:
  explicit Places(const Prepared& run) : run_(run), lead_(run.leads ? kAnchor.size() : 0) {}
  std::uint32_t operator()(std::size_t place) {
    place = std::max(place, lead_) - lead_;
    for (; next_ < run_.symbols.size(); ++next_) {
      const ByteSpan symbol = run_.symbols[next_].bytes;
      if (place < symbol.begin + longer_ + kAnchor.size()) break;
      longer_ += kAnchor.size() - (symbol.end - symbol.begin);
    }
    return static_cast<std::uint32_t>(run_.begin + place - longer_);
  }

 private:
  const Prepared& run_;
  std::size_t lead_;
  std::size_t next_ = 0;
  /// By how much the anchors before are longer than their symbols; wraps where they are shorter.
  std::size_t longer_ = 0;
};

/// The parts of the ranges that lie in `run`, as places in it.
std::vector<ByteSpan> ranges_in(ByteSpan run, const std::vector<ByteSpan>& ranges) {
  std::vector<ByteSpan> made;
  auto at = std::partition_point(ranges.begin(), ranges.end(), [&](ByteSpan range) { return range.end <= run.begin; });
  for (; at != ranges.end() && at->begin < run.end; ++at)
    made.push_back({std::max(at->begin, run.begin) - run.begin, std::min(at->end, run.end) - run.begin});
  return made;
}

bool begins_blank(std::string_view run) { return run.starts_with(' ') || run.starts_with("\u2581"); }

Error encoding_error(std::string_view what) {
  return Error(ErrorCode::unencodable, "SentencePiece: " + std::string(what));
}

class SentencePieceTokenizer final : public Tokenizer {
 public:
  Result<void> open(std::string_view bytes, const std::string& path, const SentencePieceOptions& options,
                    std::span<const AddedToken> added);
  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    std::vector<ByteSpan> dropped;
    return encode_and_find_dropped(text, trusted, into, dropped);
  }
  Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override;
  std::string token_text(TokenId id) const override { return vocabulary_.text(id); }

 private:
  void build_matchers();
  bool has_prefix(std::uint32_t begin) const { return prefix_each_run_ || begin == 0; }
  Prepared prepare(std::string_view text, ByteSpan run, const std::vector<ByteSpan>* trusted) const;
  Result<void> encode_run(std::string_view text, ByteSpan run, const std::vector<ByteSpan>* trusted,
                          std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const;
  Result<void> encode_with(bool is_guarded, const Prepared& run, std::string_view text, std::vector<EncodedToken>& into,
                           std::vector<ByteSpan>& dropped) const;
  void spread(std::string_view text, std::span<EncodedToken> tokens) const;
  bool has_forged(std::span<const EncodedToken> tokens, const std::vector<ByteSpan>& trusted) const;

  SpVocabulary vocabulary_;
  bool prefix_each_run_ = true;
  bool keeps_blanks_ = false;  ///< a blank at a run's beginning is not dropped by the model
  bool guards_ = false;        ///< the model could make control tokens of a text that is not guarded
  SpEncoder encoder_;
  ControlMatcher splitters_;  ///< at which a text is split
  ControlMatcher symbols_;    ///< which the model finds by itself
};

}  // namespace

// ---- opening

void SentencePieceTokenizer::build_matchers() {
  std::vector<const AddedToken*> splitters, symbols;
  for (const AddedToken& token : facts_.added) {
    if (!vocabulary_.is_symbol(token.id)) splitters.push_back(&token);
    if (vocabulary_.is_symbol(token.id) && token.control) symbols.push_back(&token);
  }
  for (const AddedToken& marker : vocabulary_.markers()) symbols.push_back(&marker);
  splitters_ = ControlMatcher(splitters);
  symbols_ = ControlMatcher(symbols);
}

Result<void> SentencePieceTokenizer::open(std::string_view bytes, const std::string& path,
                                          const SentencePieceOptions& options, std::span<const AddedToken> added) {
  const Result<SpModel> model = read_sp_model(bytes, path);
  if (!model) return model.error();
  prefix_each_run_ = options.prefix_each_run;
  keeps_blanks_ = !model->remove_extra_whitespaces;
  facts_.keeps_text = model->charsmap.empty();
  if (Result<void> filled = vocabulary_.fill(*model, options.special_tokens, added, facts_); !filled) return filled;
  build_matchers();
  SpChanges changes;
  changes.anchor = kAnchor;
  changes.hidden = vocabulary_.control();
  guards_ = vocabulary_.may_be_forged(model->algorithm);
  return encoder_.open(*model, changes, path);
}

Result<std::unique_ptr<Tokenizer>> open_sentencepiece(std::string_view bytes, const std::string& path,
                                                      const SentencePieceOptions& options,
                                                      std::span<const AddedToken> added) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>();
  if (Result<void> opened = tokenizer->open(bytes, path, options, added); !opened) return opened.error();
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

// ---- encoding

Result<void> SentencePieceTokenizer::encode_and_find_dropped(std::string_view text,
                                                             const std::vector<ByteSpan>* trusted,
                                                             std::vector<EncodedToken>& into,
                                                             std::vector<ByteSpan>& dropped) const {
  if (Result<void> fit = check_text(text); !fit) return fit;
  std::uint32_t at = 0;
  for (const ControlMatch& match : splitters_.find(text, trusted)) {
    if (Result<void> run = encode_run(text, {at, match.taken.begin}, trusted, into, dropped); !run) return run;
    into.push_back({match.token->id, match.bytes, true});
    at = match.taken.end;
  }
  return encode_run(text, {at, static_cast<std::uint32_t>(text.size())}, trusted, into, dropped);
}

/// The run with anchors: for trusted symbols if `trusted` is given, and in front where the model
/// would drop a blank that is not at the text's beginning.
Prepared SentencePieceTokenizer::prepare(std::string_view text, ByteSpan run,
                                         const std::vector<ByteSpan>* trusted) const {
  Prepared made;
  made.begin = run.begin;
  made.text = text.substr(run.begin, run.end - run.begin);
  made.leads = !has_prefix(run.begin) && !keeps_blanks_ && begins_blank(made.text);
  if (trusted != nullptr) {
    const std::vector<ByteSpan> ranges = ranges_in(run, *trusted);
    made.symbols = symbols_.find(made.text, &ranges);
  }
  if (!made.leads && made.symbols.empty()) return made;
  if (made.leads) made.owned = kAnchor;
  std::uint32_t at = 0;
  for (const ControlMatch& match : made.symbols) {
    made.owned.append(made.text.substr(at, match.bytes.begin - at)).append(kAnchor);
    at = match.bytes.end;
  }
  made.owned.append(made.text.substr(at));
  return made;
}

/// Of the tokens that one character becomes (pieces of bytes, or a replacement of several pieces)
/// the encoder gives the last one all of its bytes and the others none. Here each has them; a piece
/// of a byte its own. The dummy blank keeps none.
void SentencePieceTokenizer::spread(std::string_view text, std::span<EncodedToken> tokens) const {
  const bool has_dummy =
      !tokens.empty() && tokens[0].bytes.begin == tokens[0].bytes.end && token_text(tokens[0].id) == " ";
  for (std::size_t first = has_dummy ? 1 : 0; first < tokens.size(); ++first) {
    const std::uint32_t begin = tokens[first].bytes.begin;
    std::size_t last = first;
    std::string bytes;
    while (last + 1 < tokens.size() && tokens[last].bytes.end == begin && tokens[last + 1].bytes.begin == begin) ++last;
    const ByteSpan all = tokens[last].bytes;
    for (std::size_t i = first; i <= last; ++i)
      bytes += vocabulary_.is_byte(tokens[i].id) ? token_text(tokens[i].id) : "";
    const bool own = bytes.size() == last + 1 - first && text.substr(begin, all.end - begin) == bytes;
    for (std::size_t i = first; i <= last; ++i) {
      const auto place = static_cast<std::uint32_t>(begin + (i - first));
      tokens[i].bytes = own ? ByteSpan{place, place + 1} : all;
    }
    first = last;
  }
}

Result<void> SentencePieceTokenizer::encode_with(bool is_guarded, const Prepared& run, std::string_view text,
                                                 std::vector<EncodedToken>& into,
                                                 std::vector<ByteSpan>& dropped) const {
  std::vector<SpToken> encoded;
  const std::string_view given = run.owned.empty() ? run.text : std::string_view(run.owned);
  std::vector<ByteSpan> taken;
  Result<void> done = encoder_.encode(given, {has_prefix(run.begin), is_guarded}, encoded, taken);
  if (!done) return done;
  Places place_taken(run);
  for (const ByteSpan& bytes : taken) {
    const std::uint32_t begin = place_taken(bytes.begin);
    dropped.push_back({begin, place_taken(bytes.end)});
  }
  const std::size_t first = into.size();
  const auto anchor = static_cast<TokenId>(vocabulary_.pieces());
  std::size_t anchors = 0;
  Places place(run);
  for (const SpToken& piece : encoded) {
    if (piece.id == anchor) {
      const std::size_t number = anchors++ - (run.leads ? 1 : 0);
      if (run.leads && anchors == 1) continue;
      if (number >= run.symbols.size()) break;
      const ByteSpan symbol = run.symbols[number].bytes;
      const TokenId symbol_id = run.symbols[number].token->id;
      into.push_back({symbol_id, {run.begin + symbol.begin, run.begin + symbol.end}, vocabulary_.is_symbol(symbol_id)});
      continue;
    }
    const std::uint32_t begin = place(piece.begin);
    into.push_back({piece.id, {begin, place(piece.end)}, vocabulary_.is_symbol(piece.id)});
  }
  if (anchors != run.symbols.size() + (run.leads ? 1 : 0))
    return encoding_error("the model's normalisation takes a control token away");
  spread(text, std::span(into).subspan(first));
  return {};
}

bool SentencePieceTokenizer::has_forged(std::span<const EncodedToken> tokens,
                                        const std::vector<ByteSpan>& trusted) const {
  return std::any_of(tokens.begin(), tokens.end(), [&](const EncodedToken& token) {
    return vocabulary_.is_control(token.id) && !lies_in(token.bytes, trusted);
  });
}

Result<void> SentencePieceTokenizer::encode_run(std::string_view text, ByteSpan run,
                                                const std::vector<ByteSpan>* trusted, std::vector<EncodedToken>& into,
                                                std::vector<ByteSpan>& dropped) const {
  if (run.begin >= run.end) return {};
  if (run.end - run.begin > kMaxSentencePieceRun)
    return Error(ErrorCode::limit_memory, "a run of more than 128 MiB between two control tokens");
  const std::size_t first = into.size(), first_dropped = dropped.size();
  Result<void> done = encode_with(false, prepare(text, run, nullptr), text, into, dropped);
  // A control piece that came of a text is an error of the encoder.
  if (trusted == nullptr || !guards_ || (done && !has_forged(std::span(into).subspan(first), *trusted))) return done;
  into.resize(first);
  dropped.resize(first_dropped);
  if (done = encode_with(true, prepare(text, run, trusted), text, into, dropped); !done) return done;
  if (!has_forged(std::span(into).subspan(first), *trusted)) return {};
  return encoding_error("a control token came of text that is not trusted");
}

}  // namespace parlance
