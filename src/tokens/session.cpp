// Session: render the whole, compare with what is known, encode from the last control token on. Begin reading at
// Session::State::grow.
#include <algorithm>
#include <iterator>

#include "conversation/conversation.h"
#include "tokens/difference.h"
#include "tokens/encoded_prompt.h"
#include "tokens/session_state.h"
#include "tokens/tokenizer/control_ids.h"

namespace parlance {
namespace {

std::uint32_t message_count(const Conversation& chat) {
  const Value messages = chat.messages();
  return messages.is_sequence() ? messages.list->size : 0;
}

Result<Extension> moved_from() { return Error(ErrorCode::usage, "the session was moved from"); }

Error not_behind() {
  return Error(ErrorCode::history_rewritten, "the new prompt does not begin with the text of the tokens so far");
}

Error not_meant() {
  return Error(ErrorCode::history_rewritten,
               "the template writes the new messages otherwise behind the reply as it was read");
}

}  // namespace

Result<void> Session::State::begin() {
  Result<std::vector<TrustedPath>> paths = parse_trusted_paths(options.tokenize.trust);
  if (!paths) return paths.error();
  if (Result<void> fits = check_extendable(tokenizer, options.tokenize); !fits) return fits;
  trusted = std::move(*paths);
  const Result<Rendering> first = chat_template.render(chat, options.render);
  if (!first) return first.error();
  Result<EncodedPrompt> encoded = encode_prompt(*first, chat, tokenizer, options.tokenize);
  if (!encoded) return encoded.error();
  PromptTokens& told = encoded->told;
  ids = std::move(told.ids);
  if (options.tokenize.add_special_tokens) {
    ids.insert(ids.begin(), told.missing_before.begin(), told.missing_before.end());
    start.token = told.missing_before.size();
  }
  const std::size_t guarded_now = told.guarded.size();
  add_guarded(std::move(told.guarded), guarded_now);
  unknown = std::move(told.unknown);
  if (unknown.size() > kMostUnknown) unknown.resize(kMostUnknown);
  sampled_from = ids.size();
  known_messages = message_count(chat);
  prompt.accept_whole(first->text());
  anchor = start;
  const std::size_t before = ids.size() - encoded->tokens.size();
  for (std::size_t i = 0; i < encoded->tokens.size(); ++i) {
    const EncodedToken& token = encoded->tokens[i];
    const bool is_anchor = encoded->control.is_control(token) && begins_run(tokenizer.facts(), token.id);
    if (is_anchor) anchor = {before + i, token.bytes.begin};
  }
  return {};
}

void Session::State::add_guarded(std::vector<GuardedText> more, std::uint64_t count) {
  guarded_count += count;
  const std::size_t room = kMostGuarded - std::min(kMostGuarded, guarded.size());
  more.resize(std::min(more.size(), room));
  guarded.insert(guarded.end(), more.begin(), more.end());
}

Result<Extension> Session::State::grow(const Conversation& whole, Tail& tail, const SameReply& same, Effort effort) {
  difference.reset();
  has_spans_from.reset();
  is_whole = false;
  const std::span<const TokenId> sampled = std::span(ids).subspan(sampled_from);
  if (Result<void> done = check_ids(tokenizer, sampled, sampled_from); !done) return done.error();
  const bool is_own = &whole == &chat;
  Result<void> done = prompt.render(chat_template, whole, options.render, is_own, rendered_from());
  if (!done) return done.error();
  if (prompt.goes_on()) return go_on(whole, tail, same, effort);
  if (std::optional<Extension> behind = keep_without_opening(whole, tail, same)) return *std::move(behind);
  if (effort == Effort::of_new_text) return not_behind();
  return extend_or_refuse(whole, tail, {}, PrefixCause::rewritten, same);
}

/// The new prompt's text begins with the known one.
Result<Extension> Session::State::go_on(const Conversation& whole, Tail& tail, const SameReply& same, Effort effort) {
  const Known known{ids, sampled_from, prompt.known().size()};
  if (const std::optional<std::size_t> next = encode_from_middle(whole, tail, known)) {
    const Result<PromptEnd> end = prompt.end_from(landmarks.front().byte);
    if (!end) return end.error();
    return tail.extension(*next, prompt.known().size(), canonical, *end, whole, tokenizer);
  }
  const Result<PromptEnd> end = prompt.end_from(anchor.byte);
  if (!end) return end.error();
  if (Result<void> done = tail.encode(*end, whole, tokenizer, options.tokenize, trusted, anchor); !done) {
    return done.error();
  }
  const Tail::Match match = tail.match(known, tokenizer, *end);
  if (match.fits)
    return tail.extension(match.token, prompt.known().size(), match.canonical && canonical, *end, whole, tokenizer);
  const auto cause = match.across_border ? PrefixCause::across_border : PrefixCause::other_reply;
  std::optional<Extension> behind = keep_sampled(*end, whole, tail, prompt.known().size(), same);
  if (behind) return *std::move(behind);
  return effort == Effort::of_new_text ? not_behind() : extend_or_refuse(whole, tail, match.byte, cause, {});
}

/// From now on the text that is known is the template's, and no more what the ids spell: so what is encoded next must
/// not begin before what is appended now.
std::optional<Extension> Session::State::keep_sampled(const PromptEnd& next, const Conversation& whole, Tail& tail,
                                                      std::size_t byte, const SameReply& same) {
  constexpr std::size_t kMostDropped = 4096;  // bytes that a prompt opens a reply with
  const std::size_t missing = prompt.known().size() - byte;
  if (!same || sampled_from == ids.size() || missing > kMostDropped) return std::nullopt;
  const ControlIds control(tokenizer.facts());
  TwoWritings both{.written = tail.pieces_from(byte, next, tokenizer), .dropped = missing};
  for (std::size_t i = sampled_from; i < ids.size(); ++i)
    both.sampled.push_back({tokenizer.token_text(ids[i]), control.contains(ids[i])});
  const std::optional<std::size_t> size = same(both);
  if (!size) return std::nullopt;
  const std::optional<Anchor> from = tail.begin_at(byte + *size, ids.size(), ids.back(), tokenizer.facts());
  if (!from) return std::nullopt;
  anchor = *from;
  kept.push_back({sampled_from, ids.size(), {byte, byte + *size}});
  dropped = std::max(dropped, missing);
  Extension made = tail.extension(0, byte + *size, false, next, whole, tokenizer);
  tail.add_guarded(byte, made);  // the template's writing of the reply is in text() too
  return made;
}

std::optional<Extension> Session::State::keep_without_opening(const Conversation& whole, Tail& tail,
                                                              const SameReply& same) {
  const std::size_t byte = prompt.common(), size = prompt.known().size();
  // After the first time, the anchor stands before what is dropped.
  if (!same || dropped == 0 || byte + dropped < size || anchor.byte >= byte) return std::nullopt;
  const Result<PromptEnd> end = prompt.end_from(anchor.byte);
  if (!end || !tail.encode(*end, whole, tokenizer, options.tokenize, trusted, anchor)) return std::nullopt;
  return keep_sampled(*end, whole, tail, byte, same);
}

std::size_t Session::State::rendered_from() const { return begins_in_middle() ? landmarks.front().byte : anchor.byte; }

bool Session::State::begins_in_middle() const {
  constexpr std::size_t kNear = 300;  // tokens
  return !tokenizer.facts().weighs_runs && !landmarks.empty() && landmarks.front().token >= anchor.token + kNear;
}

/// The number, in the tail, of the first token that is new; nothing where a control token is near, or where the tail
/// does not fall in with what is known.
std::optional<std::size_t> Session::State::encode_from_middle(const Conversation& whole, Tail& tail,
                                                              const Known& known) {
  if (!begins_in_middle()) return {};
  const Result<PromptEnd> end = prompt.end_from(landmarks.front().byte);
  if (!end) return {};
  const std::string_view rest = end->text_from(landmarks.front().byte);
  if (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xC0) == 0x80) return {};  // within a character
  const bool done = tail.encode(*end, whole, tokenizer, options.tokenize, trusted, landmarks.front()).has_value();
  const Tail::Match match = done ? tail.match_from_middle(known, landmarks) : Tail::Match{};
  return match.fits ? std::optional(match.token) : std::nullopt;
}

void Session::State::accept(const Conversation& whole, const Tail& tail, const Extension& extension) {
  ids.insert(ids.end(), extension.ids.begin(), extension.ids.end());
  canonical = extension.canonical;
  unknown = extension.unknown;
  add_guarded(extension.guarded, extension.guarded_count);
  sampled_from = ids.size();
  known_messages = message_count(whole);
  is_whole ? prompt.accept_whole(rendering.text()) : prompt.accept();
  const std::size_t opening = prompt.known().size() - std::min(dropped, prompt.known().size());
  anchor = tail.last_anchor(tokenizer.facts(), ids.size(), extension.ids.size(), opening, anchor);
  landmarks = tail.landmarks(ids.size());
}

Result<Extension> Session::State::extend_or_refuse(const Conversation& whole, Tail& tail,
                                                   std::optional<std::size_t> byte, PrefixCause cause,
                                                   const SameReply& same) {
  is_whole = true;
  if (Result<void> done = chat_template.render(whole, options.render, workspace, rendering); !done) return done.error();
  Result<void> done = tail.encode({&rendering}, whole, tokenizer, options.tokenize, trusted, start);
  if (!done) return done.error();
  const std::vector<TokenId> all = tail.ids_from(0);
  const auto known = ids.begin() + static_cast<std::ptrdiff_t>(start.token);
  const auto differs = std::mismatch(known, ids.end(), all.begin(), all.end()).first;
  if (differs == ids.end()) {
    const std::size_t token = ids.size() - start.token;
    Extension made = tail.extension(token, tail.begin_of(token), true, {&rendering}, whole, tokenizer);
    tail.add_guarded(std::min(prompt.known().size(), tail.begin_of(token)), made);
    return made;
  }
  const std::size_t at = byte ? *byte : common_text(rendering.text(), prompt.known());
  if (std::optional<Extension> behind = keep_sampled({&rendering}, whole, tail, at, same)) return *std::move(behind);
  const std::optional<std::size_t> behind_kept = token_behind_kept(at);
  return refuse(whole, at, behind_kept ? *behind_kept : static_cast<std::size_t>(differs - ids.begin()), cause);
}

/// The template's tokens differ from a kept reply, and stand elsewhere behind it; so the place is counted by texts.
std::optional<std::size_t> Session::State::token_behind_kept(std::size_t byte) const {
  const auto behind =
      std::find_if(kept.begin(), kept.end(), [byte](const KeptReply& r) { return r.text.begin > byte; });
  if (behind == kept.begin()) return std::nullopt;
  const KeptReply& last = *std::prev(behind);
  if (byte < last.text.end) return last.begin;
  std::size_t token = last.end;
  for (std::size_t end = last.text.end; token < ids.size(); ++token) {
    end += tokenizer.token_text(ids[token]).size();
    if (end > byte) break;
  }
  return token;
}

/// The old prompt is rendered again, so that it can be said what each side is.
Error Session::State::refuse(const Conversation& whole, std::size_t byte, std::size_t token, PrefixCause cause) {
  PrefixDifference found;
  found.cause = cause;
  found.byte = byte;
  found.token = token;
  found.after = side_at(rendering, whole, byte);
  const TemplateFacts facts = chat_template.facts();
  const bool tells = facts.reads("messages");  // a Go template names its variables otherwise
  if (&whole != &chat) found.changed_input = changed_input(chat, whole, tells ? &facts : nullptr);
  keep_messages(inside_of(chat), known_messages);
  const std::string said = std::string(prompt.known()) + texts_of(tokenizer, std::span(ids).subspan(sampled_from));
  Rendering old;
  if (chat_template.render(chat, options.render, workspace, old)) found.before = side_at(old, chat, byte);
  if (byte >= prompt.known().size()) found.before.path.clear();  // the model's own words
  found.before.excerpt = excerpt_of(said, byte);
  difference = std::move(found);
  return rewritten(*difference);
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::begin(Template chat_template, const Tokenizer& tokenizer, Conversation conversation,
                               const SessionOptions& options) {
  auto state = std::make_unique<State>(std::move(chat_template), tokenizer, std::move(conversation), options);
  if (Result<void> done = state->begin(); !done) return done.error();
  return Session(std::move(state));
}

Session Session::copy() const { return Session(state_ ? std::make_unique<State>(*state_) : nullptr); }
std::span<const TokenId> Session::ids() const& { return State::of<&State::ids>(state_); }
const Conversation& Session::conversation() const& { return State::of<&State::chat>(state_); }
std::string_view Session::text() const& { return State::of<&State::prompt>(state_).known(); }
std::span<const KeptReply> Session::kept() const& { return State::of<&State::kept>(state_); }
const std::vector<GuardedText>& Session::guarded() const& { return State::of<&State::guarded>(state_); }
std::uint64_t Session::guarded_count() const { return State::of<&State::guarded_count>(state_); }
const std::vector<UnknownText>& Session::unknown() const& { return State::of<&State::unknown>(state_); }

std::optional<PromptPart> Session::last_part() const& {
  if (!State::of<&State::has_spans_from>(state_)) return std::nullopt;
  State& state = *state_;
  if (state.is_whole) return PromptPart{state.rendering, 0};
  const std::optional<PromptEnd> end = state.prompt.part_from(*state.has_spans_from);
  return end ? std::optional(PromptPart{*end->rendering, end->begin}) : std::nullopt;
}

const std::optional<PrefixDifference>& Session::difference() const& { return State::of<&State::difference>(state_); }

void Session::append_sampled(std::span<const TokenId> ids) {
  if (!state_) return;
  // A session may be kept as it is now: little of its memory is room for more.
  std::vector<TokenId>& all = state_->ids;
  const std::size_t size = all.size() + ids.size();
  if (size > all.capacity()) all.reserve(size + size / 16);
  all.insert(all.end(), ids.begin(), ids.end());
}

void Session::drop_sampled() {
  if (state_) state_->ids.resize(state_->sampled_from);
}

Result<void> Session::State::add(std::span<const Message> messages) {
  for (const Message& message : messages)
    if (Result<void> added = chat.add(message); !added) return added;
  return {};
}

/// The conversation is then as it was.
Result<WrittenBehind> Session::State::written_behind(std::span<const Message> messages) {
  const auto write = [&]() -> Result<WrittenBehind> {
    const std::size_t from = rendered_from();
    Result<void> done = add(messages);
    if (done) done = prompt.render(chat_template, chat, options.render, true, from);
    if (!done) return done.error();
    const std::size_t begin = std::min(from, prompt.common());
    const Result<PromptEnd> end = prompt.end_from(begin);
    if (!end) return end.error();
    return written_from(*end, begin, known_messages + 1);
  };
  Result<WrittenBehind> made = write();
  keep_messages(inside_of(chat), known_messages);
  return made;
}

/// What the last prompt, of which `tail` is the end, adds.
Result<std::string> Session::State::added_text(const Tail& tail, const Extension& extension) {
  const std::size_t byte = tail.begin_of_last(extension.ids.size());
  if (is_whole) return std::string(rendering.text().substr(byte));
  const Result<PromptEnd> end = prompt.end_from(byte);
  if (!end) return end.error();
  return std::string(end->text_from(byte));
}

Result<Extension> Session::State::grow_as_meant(Tail& tail, const SameReply& same, Effort effort,
                                                const WrittenBehind& meant) {
  const Anchor anchor_before = anchor;
  const std::size_t kept_before = kept.size(), dropped_before = dropped;
  Result<Extension> extension = grow(chat, tail, same, effort);
  if (!extension) return extension;
  const Result<std::string> added = added_text(tail, *extension);
  if (added && meant.ends_with(*added)) return extension;
  anchor = anchor_before;  // keep_sampled() counts on being taken
  kept.resize(kept_before);
  dropped = dropped_before;
  return added ? not_meant() : Result<Extension>(added.error());
}

Result<Extension> Session::State::extend(std::span<const Message> messages, std::span<const std::string> trust,
                                         const SameReply& same, Effort effort, std::span<const Message> meant) {
  Result<std::vector<TrustedPath>> paths = parse_trusted_paths({trust.begin(), trust.end()});
  if (!paths) return paths.error();
  WrittenBehind behind;
  if (!meant.empty()) {
    Result<WrittenBehind> written = written_behind(meant);
    if (!written) return written.error();
    behind = std::move(*written);
  }
  const std::size_t trusted_before = trusted.size();
  trusted.insert(trusted.end(), paths->begin(), paths->end());
  Tail tail;
  const std::size_t first_rendered = rendered_from();
  const Result<void> added = add(messages);
  Result<Extension> extension = !added          ? Result<Extension>(added.error())
                                : meant.empty() ? grow(chat, tail, same, effort)
                                                : grow_as_meant(tail, same, effort, behind);
  if (extension) {
    has_spans_from = first_rendered;
    accept(chat, tail, *extension);
  } else {
    keep_messages(inside_of(chat), known_messages);
  }
  trusted.erase(trusted.begin() + static_cast<std::ptrdiff_t>(trusted_before), trusted.end());
  return extension;
}

Result<Extension> Session::extend(std::span<const Message> messages, std::span<const std::string> trust,
                                  const SameReply& same, std::span<const Message> meant) {
  return state_ ? state_->extend(messages, trust, same, Effort::of_whole_prompt, meant) : moved_from();
}

Result<Extension> Session::try_extend(std::span<const Message> messages, std::span<const std::string> trust,
                                      const SameReply& same, std::span<const Message> meant) {
  return state_ ? state_->extend(messages, trust, same, Effort::of_new_text, meant) : moved_from();
}

Result<Extension> Session::extend(Conversation conversation, const SameReply& same) {
  if (!state_) return moved_from();
  Tail tail;
  Result<Extension> extension = state_->grow(conversation, tail, same, Effort::of_whole_prompt);
  if (!extension) return extension;
  state_->accept(conversation, tail, *extension);
  state_->chat = std::move(conversation);
  return extension;
}

}  // namespace parlance
