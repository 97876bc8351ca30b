// CallbackTokenizer: parlance finds the control tokens, the caller encodes what is between.
//
// Where a run's tokens lie is found by laying their texts along the run. Begin reading at CallbackTokenizer::encode.
#include <algorithm>
#include <unordered_set>

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

/// One token's text at `at` in the run: moves on if it stands there. What is left of a blank in front of everything
/// is skipped once.
bool lay(std::string_view run, std::string_view piece, std::size_t& blank, std::size_t& at) {
  const std::size_t skipped = std::min(blank, piece.size());
  blank -= skipped;
  piece.remove_prefix(skipped);
  if (run.substr(at, piece.size()) != piece) return false;
  at += piece.size();
  return true;
}

/// Spans by the tokens' texts, of which the first `blank` bytes are none of the run's; false where they do not fit.
bool lay_all(std::string_view run, const std::vector<std::string>& texts, std::size_t blank,
             std::vector<ByteSpan>& spans) {
  if (blank != 0 && (texts.empty() || !texts[0].starts_with(' '))) return false;
  spans.clear();
  std::size_t at = 0;
  for (const std::string& text : texts) {
    const std::size_t begin = at;
    if (!lay(run, text, blank, at)) return false;
    spans.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at)});
  }
  return at == run.size();
}

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
    if (token.control) state_->control.insert(token.id);
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
  if (lay_all(run, texts, 0, spans) || lay_all(run, texts, 1, spans)) return;
  spans.assign(ids.size(), {0, static_cast<std::uint32_t>(run.size())});
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
    if (trusted != nullptr && control.contains(ids[i]) && !lies_in(at, *trusted))
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
