// Finds the session of a request and goes on from it. Begin reading at prepare_prompt.
#include "serve/sessions/go_on.h"

#include <algorithm>
#include <unordered_map>

#include "base/ascii.h"
#include "base/utf8.h"
#include "parlance/json.h"
#include "parlance/sampled_reply.h"
#include "serve/json/file_name.h"

namespace parlance::serve {

namespace {

std::string_view name_of(PrefixCause cause) {
  switch (cause) {
    case PrefixCause::rewritten: return "rewritten";
    case PrefixCause::other_reply: return "other_reply";
    case PrefixCause::across_border: return "across_border";
  }
  return "";
}

PrefixBreak break_of(PrefixDifference found, std::size_t ids) {
  found.before.place.name = without_folders(found.before.place.name);
  found.after.place.name = without_folders(found.after.place.name);
  PrefixBreak made{
      .sentence = found.sentence(), .path = found.changed_input, .cause = std::string(name_of(found.cause))};
  if (made.path.empty()) made.path = found.after.path.empty() ? found.before.path : found.after.path;
  const Location& place = found.after.place;
  if (place.line > 0) made.template_place = place.name + ":" + std::to_string(place.line);
  made.kept = std::min(found.token, ids);
  made.lost = ids - made.kept;
  return made;
}

/// Whether the template writes the reply that was sampled. `held` must be as it was kept when it is asked.
SameReply same_reply(const Held& held) {
  return same_when_read([&held]() -> Result<ReplyStart> {
    if (held.start) return *held.start;
    RenderOptions render = held.model->render;
    render.now = held.now;
    return held.model->reader.reply_to(held.session.conversation(), render, held.session.text());
  });
}

/// Where nothing tells why: the template does not render the conversation behind what was sampled.
PrefixBreak unsaid_break(const Held& held, std::span<const TokenId> ids) {
  const std::span<const TokenId> before = held.session.ids();
  const auto other = std::mismatch(before.begin(), before.end(), ids.begin(), ids.end()).first;
  PrefixBreak made{.sentence = "the template cannot render what follows the reply as it was sampled",
                   .path = "messages[" + std::to_string(held.messages - 1) + "]",
                   .cause = std::string(name_of(PrefixCause::other_reply))};
  made.kept = static_cast<std::size_t>(other - before.begin());
  made.lost = before.size() - made.kept;
  return made;
}

/// The reply with the ids that its calls have in the request, as message number `at`: results have these, and passes
/// may have made them.
Message reply_in_request(const Held& held, const Conversation& conversation, std::size_t at) {
  Message reply = held.reply;
  const std::span<const Value> messages = conversation.messages().items();
  const std::span<const Value> calls = at < messages.size() ? messages[at]["tool_calls"].items() : messages.first(0);
  for (std::size_t number = 0; number < std::min(calls.size(), reply.tool_calls.size()); ++number) {
    const std::string_view id = calls[number]["id"].text();
    if (!id.empty()) reply.tool_calls[number].id = id;
  }
  return reply;
}

bool has_ids_of(const Message& reply, const Message& other) {
  return std::ranges::equal(reply.tool_calls, other.tool_calls, {}, &ToolCall::id, &ToolCall::id);
}

/// Extends a session of the turn by its reply, as the request has it, and the messages behind it. Where a model itself
/// wrote ids, and the client made up others, only the reply's own are what was sampled.
bool extend_by(Session& session, const Held& held, const Message& reply, const std::vector<Message>& more,
               const SameReply& same) {
  if (held.broken) {
    const Message written{
        .role = "assistant", .content = utf8::repair(held.written), .reasoning_content = reply.reasoning_content};
    return bool(extend_behind(session, written, held.written, more, same));
  }
  if (extend_behind(session, reply, held.written, more, same)) return true;
  return !has_ids_of(reply, held.reply) && extend_behind(session, held.reply, held.written, more, same);
}

/// Goes on with messages behind the reply. Where nothing does, `broken` says why.
std::optional<Session> extended(const Held& held, const Message& reply, const std::vector<Message>& more,
                                std::optional<PrefixBreak>& broken) {
  Session session = held.session.copy();
  if (extend_by(session, held, reply, more, same_reply(held))) return session;
  if (session.difference()) broken = break_of(*session.difference(), held.session.ids().size());
  return std::nullopt;
}

/// The conversation of a session with its own replies, which clients give back without their reasoning, and new
/// messages.
Result<Conversation> restored(const Held& held, const Message& reply, const std::vector<Message>& more) {
  Conversation all = held.session.conversation().copy();
  if (Result<void> added = all.add(reply); !added) return added.error();
  for (const Message& message : more) {
    if (Result<void> added = all.add(message); !added) return added.error();
  }
  return all;
}

constexpr const char* kNotSampled = "a reply is not the one that was sampled behind the messages before it";

/// A session that this request goes on from, or, behind `exact`, one that it may have meant to go on from.
struct Found {
  std::shared_ptr<const Held> held;
  bool exact = false;
  std::vector<std::size_t> left_out{};  ///< numbers of the messages whose text beside calls the request lacks
};

/// Which of the messages are replies: a conversation that is kept ends with one.
std::vector<bool> replies_among(const Conversation& conversation) {
  std::vector<bool> replies;
  for (const Value& message : conversation.messages().items()) replies.push_back(message["role"].text() == "assistant");
  return replies;
}

/// Names of a kind for the first 1, 2, … messages.
template <class NameOf>
std::vector<std::string> names_by(const std::vector<Key>& keys, NameOf name_of) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(name_of(key));
  return names;
}

bool has_ids_of(const Held& longer, const Held& shorter) {
  const std::span<const TokenId> ids = longer.session.ids(), first = shorter.session.ids();
  return ids.size() >= first.size() && std::equal(first.begin(), first.end(), ids.begin());
}

/// The turn of the longest beginning of the conversation. Of two sessions with the same texts each keeps its own ids:
/// a turn of another session is taken where it goes on from this one's.
std::shared_ptr<const Held> longest_turn(const Sessions& sessions, const MessageKeys& keys, std::vector<bool> ends,
                                         const SessionHints& hints, const std::shared_ptr<const ServedModel>& model) {
  const auto in_session = [&hints](const Key& key) { return name_of_key_in(key, hints.session); };
  std::shared_ptr<const Held> own = sessions.longest(model, names_by(keys.whole, in_session), ends, hints.owner);
  if (own != nullptr) std::fill_n(ends.begin(), std::min(own->messages, ends.size()), false);
  if (std::find(ends.begin(), ends.end(), true) == ends.end()) return own;
  std::shared_ptr<const Held> other = sessions.longest(model, names_by(keys.whole, name_of_key), ends, hints.owner);
  return other != nullptr && (own == nullptr || has_ids_of(*other, *own)) ? other : own;
}

/// Has the client this turn? What one was told is not for the others.
bool is_own(const Held& held, const SessionHints& hints) {
  return hints.session.empty() ? !held.named : held.id == hints.session;
}

/// What a client that leaves out texts beside calls has of a turn.
struct WithoutTexts {
  std::shared_ptr<const Held> held{};
  std::vector<std::size_t> left_out{};  ///< numbers of the messages without their text
};

/// Finds a turn in which the client left out texts beside calls, as some do. Only who was told the ids of the calls
/// finds it: nobody else's text may get into a prompt. Looking costs a hash for each message, and two turns at most are
/// read.
class TurnWithoutTexts {
 public:
  TurnWithoutTexts(const Sessions& sessions, const MessageKeys& keys, const Conversation& conversation)
      : sessions_(sessions), keys_(keys), asked_(conversation.messages().items()) {}

  /// Of a longer beginning than the first `known` messages, which the request has as they are kept.
  WithoutTexts find(std::size_t known, const SessionHints& hints, const std::shared_ptr<const ServedModel>& model) {
    std::size_t first = known;  // which has no text
    while (first < asked_.size() && !lacks_text(first)) ++first;
    std::size_t end = asked_.size();
    for (int look = 0; look < 2 && end > first; ++look) {
      std::shared_ptr<const Held> held = newest(first, end, hints, model);
      if (held == nullptr) break;
      WithoutTexts found;
      end = same_messages(*held, found.left_out);  // no turn that goes on from it has the others either
      if (end < held->messages) continue;
      found.held = std::move(held);
      return found;
    }
    return {};
  }

 private:
  bool lacks_text(std::size_t at) const {
    return !asked_[at]["tool_calls"].items().empty() && text_for_keys(asked_[at]["content"]).empty();
  }

  /// The longest turn whose reply is behind message `first` and before `end`.
  std::shared_ptr<const Held> newest(std::size_t first, std::size_t end, const SessionHints& hints,
                                     const std::shared_ptr<const ServedModel>& model) const {
    for (std::size_t at = end; at > first; --at) {
      if (asked_[at - 1]["role"].text() != "assistant" || !has_own_results(at - 1)) continue;
      if (auto held = sessions_.by_calls(model, keys_.without_texts[at - 1], hints.session)) return held;
    }
    return nullptr;
  }

  /// Are the results behind this message those of its calls? Those of Ollama's API have no ids.
  bool has_own_results(std::size_t at) const {
    const std::span<const Value> calls = asked_[at]["tool_calls"].items();
    for (std::size_t next = at + 1; next < asked_.size() && asked_[next]["role"].text() == "tool"; ++next) {
      const Value id = asked_[next]["tool_call_id"];
      const auto is_of = [id](const Value& call) { return call["id"].text() == id.text(); };
      if (id.is_string() && std::ranges::none_of(calls, is_of)) return false;
    }
    return true;
  }

  /// How many of the turn's messages the request has: all, or those before a text that is another one, or that the
  /// request has elsewhere.
  std::size_t same_messages(const Held& held, std::vector<std::size_t>& left_out) {
    const std::span<const Value> known = held.session.conversation().messages().items();
    for (std::size_t at = 0; at < held.messages; ++at) {
      if (asked_[at]["tool_calls"].items().empty()) continue;
      const bool is_reply = at + 1 == held.messages;
      if (!is_reply && at >= known.size()) return at;
      const std::string text = text_for_keys(asked_[at]["content"]);
      const std::string own =
          is_reply ? std::string(ascii::trimmed(held.reply.content)) : text_for_keys(known[at]["content"]);
      if (text == own) continue;
      if (!text.empty() || stands_behind(own, at)) return at;
      left_out.push_back(at);
    }
    return held.messages;
  }

  /// Some clients have the texts as messages behind the results.
  bool stands_behind(const std::string& text, std::size_t at) {
    if (last_.empty()) {
      for (std::size_t one = 0; one < asked_.size(); ++one)
        if (asked_[one]["role"].text() == "assistant") last_[text_for_keys(asked_[one]["content"])] = one;
    }
    const auto found = last_.find(text);
    return found != last_.end() && found->second > at;
  }

  const Sessions& sessions_;
  const MessageKeys& keys_;
  const std::span<const Value> asked_;
  std::unordered_map<std::string, std::size_t> last_;  ///< texts of the assistant, each with its last message
};

/// Does the request have the turn's conversation at its beginning?
bool has_all(const MessageKeys& keys, const Held& held) {
  return held.messages > 0 && held.messages <= keys.whole.size() && keys.whole[held.messages - 1] == held.key;
}

Found find(const Sessions& sessions, const MessageKeys& keys, const Key& variables, const Conversation& conversation,
           const SessionHints& hints, const std::shared_ptr<const ServedModel>& model) {
  if (!hints.response.empty()) {
    if (std::shared_ptr<const Held> held = sessions.by_response(model, hints.response, hints.owner)) {
      const bool exact = held->variables == variables && has_all(keys, *held);
      return {std::move(held), exact};
    }
  }
  std::vector<bool> ends = replies_among(conversation);
  std::shared_ptr<const Held> longest = longest_turn(sessions, keys, ends, hints, model);
  const std::size_t known = longest == nullptr ? 0 : longest->messages;
  WithoutTexts longer = TurnWithoutTexts(sessions, keys, conversation).find(known, hints, model);
  if (longer.held != nullptr) {
    const bool exact = longer.held->variables == variables;
    return {std::move(longer.held), exact, std::move(longer.left_out)};
  }
  if (longest != nullptr) {
    const bool exact = longest->variables == variables;
    return {std::move(longest), exact};
  }
  const bool goes_on = std::find(ends.begin(), ends.end(), true) != ends.end();
  if (!hints.session.empty() && goes_on) {
    if (std::shared_ptr<const Held> held = sessions.by_session(model, hints.session, hints.owner)) return {held};
  }
  if (!ends.empty()) ends[0] = false;  // a reply to nothing is the beginning of any conversation
  std::shared_ptr<const Held> held =
      sessions.longest(model, names_by(keys.without_system, name_of_rest), ends, hints.owner);
  return held != nullptr && held->messages > 1 ? Found{held} : Found{};
}

/// A turn of the client's whose messages the request has, with another reply behind them: the first one behind what was
/// found, which nobody has sampled as it is.
std::shared_ptr<const Held> with_other_reply(const Sessions& sessions, const MessageKeys& keys,
                                             const Conversation& conversation, const Found& found,
                                             const SessionHints& hints,
                                             const std::shared_ptr<const ServedModel>& model) {
  if (found.held && !found.exact) return nullptr;  // that one is asked
  const std::size_t known = found.held ? found.held->messages : 0;
  const std::vector<bool> replies = replies_among(conversation);
  for (std::size_t at = std::max<std::size_t>(known, 1); at < replies.size(); ++at) {
    if (!replies[at]) continue;
    std::shared_ptr<const Held> held = sessions.by_question(model, keys.whole[at - 1]);
    return held && is_own(*held, hints) ? held : nullptr;
  }
  return nullptr;
}

/// The request as its own conversation, which may begin as the session does all the same: where tools were added behind
/// the messages, say.
std::optional<Session> as_whole(const Held& held, const Conversation& conversation,
                                std::optional<PrefixBreak>& broken) {
  Session session = held.session.copy();
  const Result<Extension> extension = session.extend(conversation.copy(), same_reply(held));
  if (extension) return session;
  if (session.difference()) {
    broken = break_of(*session.difference(), held.session.ids().size());
    broken->volatile_line = broken->path.starts_with("messages[0]");
  }
  return std::nullopt;
}

/// Where the turn that was found has texts that the request lacks, the prompt has them too, and the keys are those of
/// what is in it: who never was told these texts does not find the next turn by the request as it was. Gives the paths
/// of these messages.
std::vector<std::string> keep_left_out(MessageKeys& keys, const Found& found, const Conversation& conversation) {
  std::vector<std::string> paths;
  if (!found.exact || found.left_out.empty()) return paths;
  for (const std::size_t number : found.left_out) {
    std::string path = conversation.path_of(conversation.messages().items()[number]);
    paths.push_back(path.empty() ? "messages[" + std::to_string(number) + "]" : std::move(path));
  }
  begin_with(keys, found.held->key, found.held->key_without_system, conversation, found.held->messages);
  return paths;
}

/// Would the conversation before these messages have a say in how they are written? Ids with numbers of calls are what
/// the pass named-ids makes; all others depend on the message alone.
bool depends_on_history(const Conversation& conversation) {
  const std::span<const Value> messages = conversation.messages().items();
  return std::any_of(messages.begin(), messages.end(),
                     [](const Value& one) { return one["tool_call_id"].text().starts_with("functions."); });
}

}  // namespace

std::optional<PreparedPrompt> prepare_behind(const std::shared_ptr<Held>& held, const ChatRequest& request) {
  Key variables = variables_key(request.conversation);
  const std::size_t behind = first_of_request(request.conversation) + 1;  // the reply
  const std::vector<Message> more = messages_from(request.conversation, behind);
  if (variables != held->variables || depends_on_history(request.conversation)) return std::nullopt;
  const std::size_t reused = held->session.ids().size();
  const std::uint64_t guarded = held->session.guarded_count();
  const SameReply same = held->start ? same_reply(*held) : SameReply();
  const Message reply = reply_in_request(*held, request.conversation, behind - 1);
  if (!extend_by(held->session, *held, reply, more, same)) return std::nullopt;
  MessageKeys keys{.whole = {held->key},
                   .without_system = {held->key_without_system},
                   .without_texts = {held->key_without_texts},
                   .have_texts = !held->key_without_texts.empty(),
                   .before = held->messages - 1};
  add_keys(keys, request.conversation, behind);
  return PreparedPrompt{.session = std::move(held->session),
                        .from = held,
                        .reused = reused,
                        .guarded_before = guarded,
                        .broken = {},
                        .id = held->id,
                        .named = held->named,
                        .with_tools = held->with_tools,
                        .keys = std::move(keys),
                        .variables = std::move(variables),
                        .now = held->now,
                        .alone = true};
}

Result<PreparedPrompt> prepare_prompt(const std::shared_ptr<const ServedModel>& model, const Sessions& sessions,
                                      ChatRequest& request, const SessionHints& hints, const std::string& new_id) {
  Conversation& conversation = request.conversation;
  MessageKeys keys = message_keys(conversation, hints.owner);
  Key variables = variables_key(conversation);
  Found found = find(sessions, keys, variables, conversation, hints, model);
  std::vector<std::string> left_out = keep_left_out(keys, found, conversation);
  std::optional<PrefixBreak> broken;
  std::optional<Session> session;
  if (const auto other = with_other_reply(sessions, keys, conversation, found, hints, model)) {
    session = as_whole(*other, conversation, broken);
    if (session) {
      found = {other};
      left_out.clear();
    }
    // Clients without keys may ask the same: what one was told is not for the others.
    if (broken && hints.session.empty()) broken->sentence = kNotSampled;
  }
  if (found.held && !session) {
    const std::vector<Message> more = messages_from(conversation, std::min(found.held->messages, keys.whole.size()));
    const Message reply = reply_in_request(*found.held, conversation, found.held->messages - 1);
    session = found.exact ? extended(*found.held, reply, more, broken) : as_whole(*found.held, conversation, broken);
    if (!session && found.exact) {
      Result<Conversation> all = restored(*found.held, reply, more);
      if (all) conversation = std::move(*all);
    }
  }
  RenderOptions render = model->render_now();
  if (session) render.now = found.held->now;
  const std::size_t reused = session ? found.held->session.ids().size() : 0;
  const std::uint64_t guarded = session ? found.held->session.guarded_count() : 0;
  const bool with_tools = session ? found.held->with_tools : has_tools(conversation);
  if (!session) {
    const Result<Template>& chosen = model->reader.template_for(conversation);
    if (!chosen) return chosen.error();
    Result<Session> begun = Session::begin(*chosen, *model->tokenizer, std::move(conversation),
                                           {.render = render, .tokenize = model->tokenize});
    if (!begun) return begun.error();
    session.emplace(std::move(*begun));
    if (found.held && !broken) broken = unsaid_break(*found.held, session->ids());
  }
  // What no client named is not counted to a session that one has named: its turns are that client's.
  const bool joins = found.held && !found.held->named;
  const bool named = !hints.session.empty(), grown = found.exact && reused > 0;
  const std::string id = named ? hints.session : joins ? found.held->id : new_id;
  return PreparedPrompt{
      std::move(*session), found.held,           reused,     guarded, std::move(broken),  id, named, grown, with_tools,
      std::move(keys),     std::move(variables), render.now, false,   std::move(left_out)};
}

}  // namespace parlance::serve
