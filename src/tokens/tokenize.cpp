// tokenize: trust by provenance, the guarded encoding, then what each token is. Begin reading at tokenize().
#include <algorithm>

#include "conversation/conversation.h"
#include "parlance/tokens.h"
#include "tokens/encoded_prompt.h"
#include "tokens/guarded_text.h"
#include "tokens/plain_marks.h"
#include "tokens/span_cursor.h"
#include "tokens/token_origins.h"
#include "tokens/tokenizer/control_ids.h"
#include "tokens/tokenizer/guard.h"
#include "tokens/tokenizer/trusted.h"
#include "tokens/trust.h"
#include "tokens/unencodable.h"
#include "tokens/unknown_text.h"

namespace parlance {
namespace {

constexpr std::size_t kMaxPrompt = std::size_t{1} << 31;

/// A path that leads nowhere is a mistake, but for one request of many. What was read from the request's text is not
/// among its variables, so the document is asked too.
std::string describe_trust(const Conversation& conversation, const TrustedPath& path, std::size_t count) {
  const std::optional<std::string> missing = count == 0 ? path.missing_in(conversation.variables()) : std::nullopt;
  if (missing && path.missing_in(inside_of(conversation).document.root())) {
    return path.text() + " is trusted, but the request has nothing there" + *missing;
  }
  return path.text() + " is trusted: control tokens read from it: " + std::to_string(count);
}

/// Says for each trusted path how many control tokens came out of it.
void note_trust(const Rendering& rendering, const Conversation& conversation, const std::vector<TrustedPath>& paths,
                EncodedPrompt& into) {
  std::vector<std::size_t> counts(paths.size());
  SpanCursor cursor(rendering.spans());
  for (const EncodedToken& token : into.tokens) {
    if (!into.control.is_control(token)) continue;
    std::vector<std::pair<std::string, std::string_view>> origins;  // path and role
    for (const Span& span : cursor.of(token.bytes)) {
      if (span.origin == Origin::input || span.origin == Origin::derived)
        origins.emplace_back(path_of_span(conversation, span), role_of_span(conversation, span));
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      counts[i] += std::ranges::any_of(
          origins, [&](const auto& origin) { return paths[i].covers(origin.first, origin.second); });
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    into.told.notes.push_back(describe_trust(conversation, paths[i], counts[i]));
  }
}

/// Says which control tokens stayed what the template wrote.
void note_undone(const Rendering& rendering, const Conversation& conversation, const TrustRule& rule,
                 const Tokenizer& tokenizer, const std::vector<EncodedToken>& undone, PromptTokens& into) {
  SpanCursor cursor(rendering.spans());
  for (const EncodedToken& token : undone) {
    std::string path;
    for (const Span& span : cursor.of(token.bytes)) {
      if (rule.holds(span, rendering.text().substr(span.begin, span.end - span.begin))) continue;
      if (path = path_of_span(conversation, span); !path.empty()) break;
    }
    into.notes.push_back((path.empty() ? "text that is not trusted" : path) + " joins a mark to the control token '" +
                         tokenizer.token_text(token.id) + "', which stays one");
  }
}

/// The input that a span beside `bytes` shows, or "".
std::string path_beside(const Rendering& rendering, const Conversation& conversation, ByteSpan bytes) {
  for (const Span& span : rendering.spans()) {
    if (span.begin != bytes.end && span.end != bytes.begin) continue;
    if (std::string path = path_of_span(conversation, span); !path.empty()) return path;
  }
  return {};
}

/// Says which control tokens of the template are text, since they are none within a word (`single_word`): once for each
/// token.
void note_hidden(const Rendering& rendering, const Conversation& conversation, const TrustRule& rule,
                 const TokenizerFacts& facts, EncodedPrompt& into) {
  const std::string_view prompt = rendering.text();
  std::optional<std::vector<ByteSpan>> trusted;
  for (const AddedToken& added : facts.added) {
    if (!added.single_word || !added.control || added.text.empty()) continue;
    if (!trusted) trusted = rule.ranges(rendering.spans(), prompt);
    for (std::size_t at = prompt.find(added.text); at != prompt.npos; at = prompt.find(added.text, at + 1)) {
      const ByteSpan bytes{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + added.text.size())};
      const auto token =
          std::ranges::upper_bound(into.tokens, bytes.begin, {}, [](const EncodedToken& t) { return t.bytes.end; });
      const bool is_there = token != into.tokens.end() && token->added && token->bytes.begin < bytes.end;
      if (is_there || !lies_in(bytes, *trusted)) continue;
      const std::string path = path_beside(rendering, conversation, bytes);
      into.told.notes.push_back("the template's control token '" + added.text + "' is text where " +
                                (path.empty() ? "its own text" : path) + " stands next to it as a part of a word");
      break;
    }
  }
}

/// `end`: of the prompt's last token.
void add_special(const TokenizerFacts& facts, std::uint32_t end, bool want_tokens, PromptTokens& into) {
  const auto made = [](TokenId id, std::uint32_t at) {
    return PromptToken{.id = id, .bytes = {at, at}, .origin = Origin::computed, .control = true};
  };
  std::vector<PromptToken> before;
  for (TokenId id : into.missing_before) before.push_back(made(id, 0));
  if (want_tokens) into.tokens.insert(into.tokens.begin(), before.begin(), before.end());
  into.ids.insert(into.ids.begin(), into.missing_before.begin(), into.missing_before.end());
  into.missing_before.clear();
  const std::vector<TokenId>& after = facts.puts_after;
  const bool there = after.size() <= into.ids.size() && std::equal(after.rbegin(), after.rend(), into.ids.rbegin());
  if (there) return;
  for (TokenId id : after) {
    into.ids.push_back(id);
    if (want_tokens) into.tokens.push_back(made(id, end));
  }
}

Result<GuardedEncoding> encode(const Tokenizer& tokenizer, std::string_view text, const TrustRule& rule,
                               std::span<const Span> spans, const TokenizeOptions& options) {
  if (options.protect) return encode_guarded(tokenizer, text, rule.ranges(spans, text), options.plain_added);
  GuardedEncoding encoding;
  const Result<void> done = encode_whole(tokenizer, text, nullptr, encoding.tokens, encoding.dropped);
  if (!done) return done.error();
  return encoding;
}

}  // namespace

std::vector<TokenId> missing_before(const TokenizerFacts& facts, const std::vector<TokenId>& ids) {
  const std::vector<TokenId>& before = facts.puts_before;
  for (std::size_t from = 0; from < before.size(); ++from) {
    const auto rest = before.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = static_cast<std::size_t>(before.end() - rest);
    if (count <= ids.size() && std::equal(rest, before.end(), ids.begin())) return {before.begin(), rest};
  }
  return before;
}

std::vector<TokenId> PromptTokens::labels() const {
  std::vector<TokenId> labels;
  labels.reserve(tokens.size());
  for (const PromptToken& token : tokens) labels.push_back(token.label());
  return labels;
}

Result<void> check_trust(const Conversation& conversation, const std::vector<std::string>& trust, bool grows) {
  const Result<std::vector<TrustedPath>> paths = parse_trusted_paths(trust);
  if (!paths) return paths.error();
  for (const TrustedPath& path : *paths) {
    if (!path.missing_in(inside_of(conversation).document.root())) continue;
    if (Result<void> fits = path.check_spelling(conversation.variables(), grows); !fits) return fits;
  }
  return {};
}

Result<EncodedPrompt> encode_prompt(const Rendering& rendering, const Conversation& conversation,
                                    const Tokenizer& tokenizer, const TokenizeOptions& options) {
  if (rendering.spans().empty() && !rendering.text().empty()) {
    return Error(ErrorCode::usage, "tokens need the rendering's spans: RenderOptions::want_spans");
  }
  if (rendering.text().size() >= kMaxPrompt) return Error(ErrorCode::limit_memory, "a prompt of 2 GiB or more");
  const Result<std::vector<TrustedPath>> paths = parse_trusted_paths(options.trust);
  if (!paths) return paths.error();
  const TokenizerFacts& facts = tokenizer.facts();
  const TrustRule rule(conversation, facts, *paths);
  Result<GuardedEncoding> encoding = encode(tokenizer, rendering.text(), rule, rendering.spans(), options);
  if (!encoding) return unencodable(encoding.error(), rendering, 0, conversation);
  std::vector<UnknownText> unknown = find_unknown({rendering.text(), encoding->tokens, encoding->dropped}, facts);
  find_paths(unknown, rendering.spans(), conversation);
  EncodedPrompt made{std::move(encoding->tokens), ControlIds(facts, options.plain_added), {}};
  PromptTokens& told = made.told;
  told.unknown = std::move(unknown);
  told.ids.reserve(made.tokens.size());
  for (const EncodedToken& token : made.tokens) told.ids.push_back(token.id);
  told.guarded = name_guarded(encoding->forged, rendering.spans(), rendering.text(), conversation, rule);
  note_undone(rendering, conversation, rule, tokenizer, encoding->undone, told);
  note_hidden(rendering, conversation, rule, facts, made);
  find_plain_marks(rendering, conversation, made);
  told.missing_before = missing_before(facts, told.ids);
  if (!paths->empty()) note_trust(rendering, conversation, *paths, made);
  return made;
}

Result<PromptTokens> tokenize(const Rendering& rendering, const Conversation& conversation, const Tokenizer& tokenizer,
                              const TokenizeOptions& options) {
  Result<EncodedPrompt> encoded = encode_prompt(rendering, conversation, tokenizer, options);
  if (!encoded) return encoded.error();
  PromptTokens& told = encoded->told;
  if (options.want_tokens) fill_tokens(rendering, encoded->control, encoded->tokens, told);
  const std::uint32_t end = encoded->tokens.empty() ? 0 : encoded->tokens.back().bytes.end;
  if (options.add_special_tokens) add_special(tokenizer.facts(), end, options.want_tokens, told);
  return std::move(told);
}

}  // namespace parlance
