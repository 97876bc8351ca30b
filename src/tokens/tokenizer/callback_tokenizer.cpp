// CallbackTokenizer: parlance finds the control tokens, the caller encodes what is between.
//
// Where a run's tokens lie is found by laying their texts along the run. Begin reading at CallbackTokenizer::encode.
#include <algorithm>
#include <unordered_set>

#include "base/ascii.h"
#include "base/utf8.h"
#include "tokens/tokenizer/control_matcher.h"
#include "tokens/tokenizer/trusted.h"

namespace parlance {

struct CallbackTokenizer::State {
  std::function<Result<void>(std::string_view, std::vector<TokenId>&)> encode;
  std::function<std::string(TokenId)> token_text;
  ControlMatcher matcher;
  std::unordered_set<TokenId> control;

  void align(std::string_view run, const std::vector<TokenId>& ids, std::vector<ByteSpan>& spans) const;
  Result<void> encode_run(std::string_view text, ByteSpan run, const std::vector<ByteSpan>* trusted,
                          std::vector<EncodedToken>& into) const;
};

namespace {

/// Lays the texts of a run's tokens along the run. Where one does not stand where the one before it ends, it is one of
/// an unknown token, of a part of a character, or of text that a normaliser changed: it goes on where the texts behind
/// it stand again, and the tokens between have the bytes between.
class Layer {
 public:
  Layer(std::string_view run, const std::vector<std::string>& texts, std::vector<ByteSpan>& spans)
      : run_(run), texts_(texts), spans_(spans) {}

  /// `skips_blank`: of a blank that the tokenizer put in front of everything, which is none of the run's. True if every
  /// text stands where the one before it ends, and the last one at the run's end.
  bool lay(bool skips_blank) {
    skips_blank_ = skips_blank;
    spans_.clear();
    bool all_stand = true;
    std::size_t at = 0;
    for (std::size_t next = 0; next < texts_.size();) {
      if (stands(next, at)) {
        put(next + 1, at, at + size_of(next));
        at += size_of(next++);
        continue;
      }
      all_stand = false;
      const auto [token, byte] = find_again(next, at);
      put(token, at, byte);
      next = token;
      at = byte;
    }
    return all_stand && at == run_.size();
  }

 private:
  struct Place {
    std::size_t token, byte;
  };

  std::string_view text_of(std::size_t token) const {
    return std::string_view(texts_[token]).substr(token == 0 && skips_blank_ ? 1 : 0);
  }
  /// Some tokenizers make all white space blanks, and capitals small.
  static bool alike(char in_run, char in_text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    return in_run == in_text || (in_text == ' ' && kBlanks.find(in_run) != kBlanks.npos) ||
           ascii::lower(in_run) == in_text;
  }
  std::size_t size_of(std::size_t token) const { return text_of(token).size(); }
  bool stands(std::size_t token, std::size_t at) const {
    const std::string_view text = text_of(token);
    const std::string_view there = run_.substr(at, text.size());
    return !texts_[token].empty() && std::equal(there.begin(), there.end(), text.begin(), text.end(), alike);
  }

  /// The next token of which the text stands behind `at`, and so do some texts behind it, or all to the end.
  Place find_again(std::size_t first, std::size_t at) const {
    constexpr std::size_t kMostTokens = 16, kMostBytes = 256;
    const std::size_t end = std::min(run_.size(), at + kMostBytes);
    for (std::size_t token = first; token < std::min(texts_.size(), first + kMostTokens); ++token) {
      for (std::size_t byte = at; byte < end; ++byte)
        if ((token != first || byte != at) && stand(token, byte)) return {token, byte};
    }
    return {texts_.size(), run_.size()};
  }
  bool stand(std::size_t token, std::size_t at) const {
    constexpr std::size_t kEnough = 4;
    const std::size_t end = std::min(texts_.size(), token + kEnough);
    for (; token < end; ++token) {
      if (!stands(token, at)) return false;
      at += size_of(token);
    }
    return end < texts_.size() || at == run_.size();
  }
  /// Of the tokens up to `end` that have no span yet.
  void put(std::size_t end, std::size_t begin_byte, std::size_t end_byte) {
    spans_.resize(end, {static_cast<std::uint32_t>(begin_byte), static_cast<std::uint32_t>(end_byte)});
  }

  std::string_view run_;
  const std::vector<std::string>& texts_;
  std::vector<ByteSpan>& spans_;
  bool skips_blank_ = false;
};

Error ignores_control(TokenId id, const std::string& text) {
  return Error(ErrorCode::tokenizer, "the tokenizer's callback made the control token " + std::to_string(id) + " ('" +
                                         text + "') of text that is not trusted")
      .hint("the callback must encode with control tokens switched off, and put none in front");
}

}  // namespace

CallbackTokenizer::CallbackTokenizer(Parts parts) : state_(std::make_unique<State>()) {
  facts_ = std::move(parts.facts);
  facts_.added = std::move(parts.added);
  std::stable_sort(facts_.added.begin(), facts_.added.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  state_->encode = std::move(parts.encode);
  state_->token_text = std::move(parts.token_text);
  for (AddedToken& token : facts_.added) {
    token.control = token.control && !is_blank(token.text);
    const bool is_unk = facts_.unk == token.id;  // which any text may become, and which says nothing
    if (token.control && !is_unk) state_->control.insert(token.id);
    const std::size_t least = token.id < 0 || facts_.vocabulary_size == 0 ? 0 : std::size_t(token.id) + 1;
    facts_.vocabulary_size = std::max(facts_.vocabulary_size, least);
  }
  state_->matcher = ControlMatcher(facts_.added);
}

CallbackTokenizer::~CallbackTokenizer() = default;

void CallbackTokenizer::State::align(std::string_view run, const std::vector<TokenId>& ids,
                                     std::vector<ByteSpan>& spans) const {
  std::vector<std::string> texts;
  texts.reserve(ids.size());
  for (const TokenId id : ids) texts.push_back(token_text ? token_text(id) : std::string());
  Layer layer(run, texts, spans);
  if (layer.lay(false) || texts.empty() || !texts[0].starts_with(' ')) return;
  if (!layer.lay(true) && run.starts_with(texts[0])) layer.lay(false);
}

/// A control token that nobody recognised stands in the run only where it was written by those who may.
Result<void> CallbackTokenizer::State::encode_run(std::string_view text, ByteSpan run,
                                                  const std::vector<ByteSpan>* trusted,
                                                  std::vector<EncodedToken>& into) const {
  if (run.begin >= run.end) return {};
  const std::string_view bytes = text.substr(run.begin, run.end - run.begin);
  std::vector<TokenId> ids;
  if (!encode) return Error(ErrorCode::tokenizer, "the tokenizer has no callback `encode`");
  if (Result<void> encoded = encode(bytes, ids); !encoded) return encoded;
  std::vector<ByteSpan> spans;
  align(bytes, ids, spans);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const ByteSpan at{run.begin + spans[i].begin, run.begin + spans[i].end};
    if (ids[i] < 0)
      return Error(ErrorCode::tokenizer, "the tokenizer's callback made the id " + std::to_string(ids[i]));
    const ByteSpan made_of = at.begin == at.end ? run : at;  // of what it was made is not known
    if (trusted != nullptr && control.contains(ids[i]) && !lies_in(made_of, *trusted))
      return ignores_control(ids[i], token_text ? token_text(ids[i]) : std::string());
    into.push_back({ids[i], at, false});
  }
  return {};
}

Result<void> CallbackTokenizer::encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into) const {
  if (Result<void> fit = check_text(text); !fit) return fit;
  std::uint32_t at = 0;
  for (const ControlMatch& match : state_->matcher.find(text, trusted)) {
    Result<void> run = state_->encode_run(text, {at, match.taken.begin}, trusted, into);
    if (!run) return run;
    into.push_back({match.token->id, match.bytes, true});
    at = match.taken.end;
  }
  return state_->encode_run(text, {at, static_cast<std::uint32_t>(text.size())}, trusted, into);
}

std::string CallbackTokenizer::token_text(TokenId id) const {
  return state_->token_text ? state_->token_text(id) : std::string();
}

}  // namespace parlance
