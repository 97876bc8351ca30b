// Sessions as bytes: a line of JSON, then the conversation as JSON and the text of the prompt. Begin reading at
// Session::restore, which takes the bytes for hostile.
#include <limits>

#include "conversation/conversation.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "tokens/session_state.h"

namespace parlance {
namespace {

constexpr std::int64_t kSavedFormat = 2;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

std::string listed(std::span<const TokenId> ids) {
  std::string list = "[";
  for (const TokenId id : ids) list.append(list.size() > 1 ? "," : "").append(std::to_string(id));
  return list += ']';
}

std::string listed(const std::vector<GuardedText>& guarded) {
  JsonWriter list('[');
  for (const GuardedText& one : guarded) {
    JsonWriter made('[');
    made.item(std::to_string(one.bytes.begin)).item(std::to_string(one.bytes.end)).item(std::to_string(one.id));
    list.item(made.item_text(one.path).take());
  }
  return list.take();
}

/// The number of the first, and the place of each: they follow each other.
std::string listed(const Landmarks& landmarks) {
  JsonWriter list('[');
  if (!landmarks.empty()) list.item(std::to_string(landmarks.front().token));
  for (const Anchor& one : landmarks) list.item(std::to_string(one.byte));
  return list.take();
}

/// Of each, where its tokens begin and end and where its text does.
std::string listed(const std::vector<KeptReply>& kept) {
  JsonWriter list('[');
  for (const KeptReply& one : kept) {
    JsonWriter made('[');
    made.item(std::to_string(one.begin)).item(std::to_string(one.end));
    list.item(made.item(std::to_string(one.text.begin)).item(std::to_string(one.text.end)).take());
  }
  return list.take();
}

/// Reads members; after the first that is not as save() writes it, all is wrong.
class SavedReader {
 public:
  explicit SavedReader(Value from) : from_(from) {}

  bool fits() const { return fits_; }
  void require(bool holds) { fits_ = fits_ && holds; }
  std::size_t number(Value value, std::size_t most) {
    const bool right = value.is_small_int() && value.integer >= 0 && static_cast<std::uint64_t>(value.integer) <= most;
    require(right);
    return right ? static_cast<std::size_t>(value.integer) : 0;
  }
  std::size_t number(std::string_view name, std::size_t most) { return number(from_[name], most); }
  bool flag(std::string_view name) {
    require(from_[name].is(Kind::boolean));
    return fits_ && from_[name].integer != 0;
  }
  std::span<const Value> list(std::string_view name) {
    require(from_[name].is(Kind::list));
    return from_[name].items();
  }
  std::vector<TokenId> ids(std::string_view name) {
    std::vector<TokenId> ids;
    const std::span<const Value> items = list(name);
    ids.reserve(items.size());
    for (const Value& one : items) ids.push_back(static_cast<TokenId>(number(one, kMostId)));
    return ids;
  }
  std::vector<GuardedText> guarded(std::string_view name, std::size_t text_size) {
    std::vector<GuardedText> all;
    for (const Value& one : list(name)) {
      const std::span<const Value> parts = one.items();
      require(parts.size() == 4 && parts[3].is_string());
      if (!fits_) break;
      const std::size_t end = number(parts[1], text_size), begin = number(parts[0], end);
      all.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                     static_cast<TokenId>(number(parts[2], kMostId)),
                     whole_text(parts[3])});
    }
    return all;
  }
  Landmarks landmarks(std::string_view name, std::size_t tokens, std::size_t text_size) {
    Landmarks all;
    const std::span<const Value> items = list(name);
    if (items.empty()) return all;
    require(items.size() > 1 && items.size() - 1 <= tokens);
    const std::size_t first = fits_ ? number(items[0], tokens - (items.size() - 1)) : 0;
    for (const Value& one : items.subspan(1)) {
      const std::size_t byte = number(one, text_size);
      require(all.empty() || all.back().byte <= byte);
      all.push_back({first + all.size(), static_cast<std::uint32_t>(byte)});
    }
    return all;
  }
  std::vector<KeptReply> kept(std::string_view name, std::size_t tokens, std::size_t text_size) {
    std::vector<KeptReply> all;
    std::size_t token = 0, byte = 0;  // behind the last
    for (const Value& one : list(name)) {
      const std::span<const Value> parts = one.items();
      require(parts.size() == 4);
      if (!fits_) break;
      const std::size_t end = number(parts[1], tokens), text_end = number(parts[3], text_size);
      const std::size_t begin = number(parts[0], end), text_begin = number(parts[2], text_end);
      require(begin >= token && text_begin >= byte);
      all.push_back({begin, token = end, {text_begin, byte = text_end}});
    }
    return all;
  }

 private:
  static constexpr std::size_t kMostId = std::numeric_limits<TokenId>::max();
  Value from_;
  bool fits_ = true;
};

Error no_session() { return Error(ErrorCode::conversation, "these bytes are no session that was saved"); }

bool begins_character(std::string_view text, std::size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

namespace {

template <class State>
void write_place(JsonWriter& head, const State& state) {
  const auto& inside = inside_of(state.chat);
  head.number("messages", state.known_messages).flag("as_transformers", inside.as_transformers);
  head.flag("continue_final", inside.continue_final).number("sampled_from", whole(state.sampled_from));
  head.flag("canonical", state.canonical).number("before", whole(state.start.token));
  head.number("anchor", whole(state.anchor.token)).number("anchor_byte", state.anchor.byte);
  head.raw("landmarks", listed(state.landmarks)).raw("guarded", listed(state.guarded));
  head.raw("kept", listed(state.kept)).number("dropped", whole(state.dropped));
}

}  // namespace

std::string Session::save_place() const {
  if (!state_) return {};
  JsonWriter head('{');
  head.number("format", kSavedFormat);
  write_place(head, *state_);
  return head.take();
}

std::string Session::save() const {
  if (!state_) return {};
  const State& state = *state_;
  const std::string conversation = json_text(state.chat.variables());
  JsonWriter head('{');
  head.number("format", kSavedFormat).number("conversation", whole(conversation.size()));
  head.number("text", whole(state.prompt.known().size()));
  head.raw("ids", listed(std::span<const TokenId>(state.ids)));
  write_place(head, state);
  return head.take().append("\n").append(conversation).append(state.prompt.known());
}

Result<void> Session::State::take(std::string_view saved) {
  const std::size_t line = saved.find('\n');
  if (line == saved.npos) return no_session();
  Document document;
  if (Result<void> parsed = document.parse(saved.substr(0, line), "the saved session"); !parsed) return parsed;
  const std::string_view parts = saved.substr(line + 1);
  SavedReader head(document.root());
  const std::size_t size = head.number("conversation", parts.size());
  head.require(head.number("text", parts.size()) == parts.size() - size);
  ids = head.ids("ids");
  if (!head.fits()) return no_session();
  return take(document.root(), parts.substr(0, size), parts.substr(size));
}

Result<void> Session::State::take(const SavedSession& saved) {
  Document document;
  if (Result<void> parsed = document.parse(saved.place, "the saved session"); !parsed) return parsed;
  ids = saved.ids;
  return take(document.root(), saved.conversation, saved.text);
}

Result<void> Session::State::take(Value members, std::string_view conversation, std::string_view known_text) {
  SavedReader head(members);
  head.require(head.number("format", kSavedFormat) == kSavedFormat);
  head.require(known_text.size() < std::numeric_limits<std::uint32_t>::max());
  if (!head.fits()) return no_session();
  if (Result<void> read = chat.read(conversation, {.normalise = false}, "the saved session"); !read) return read;
  inside_of(chat).as_transformers = head.flag("as_transformers");
  inside_of(chat).continue_final = head.flag("continue_final");
  known_messages = static_cast<std::uint32_t>(head.number("messages", chat.messages().items().size()));
  sampled_from = head.number("sampled_from", ids.size());
  canonical = head.flag("canonical");
  start.token = head.number("before", sampled_from);
  anchor = {head.number("anchor", sampled_from),
            static_cast<std::uint32_t>(head.number("anchor_byte", known_text.size()))};
  head.require(anchor.token >= start.token && begins_character(known_text, anchor.byte));
  landmarks = head.landmarks("landmarks", sampled_from, known_text.size());
  std::vector<GuardedText> listed_then = head.guarded("guarded", known_text.size());
  const std::size_t count = listed_then.size();
  add_guarded(std::move(listed_then), count);
  kept = head.kept("kept", sampled_from, known_text.size());
  dropped = head.number("dropped", known_text.size());
  prompt.accept_whole(known_text);
  return head.fits() ? check_ids(tokenizer, ids) : no_session();
}

template <class Saved>
Result<Session> Session::restored(Template chat_template, const Tokenizer& tokenizer, const Saved& saved,
                                  const SessionOptions& options) {
  Result<std::vector<TrustedPath>> paths = parse_trusted_paths(options.tokenize.trust);
  if (!paths) return paths.error();
  if (Result<void> fits = check_extendable(tokenizer, options.tokenize); !fits) return fits.error();
  auto state = std::make_unique<State>(std::move(chat_template), tokenizer, Conversation(), options);
  state->trusted = std::move(*paths);
  if (Result<void> taken = state->take(saved); !taken) return taken.error();
  return Session(std::move(state));
}

Result<Session> Session::restore(Template chat_template, const Tokenizer& tokenizer, std::string_view saved,
                                 const SessionOptions& options) {
  return restored(std::move(chat_template), tokenizer, saved, options);
}

Result<Session> Session::restore(Template chat_template, const Tokenizer& tokenizer, const SavedSession& saved,
                                 const SessionOptions& options) {
  return restored(std::move(chat_template), tokenizer, saved, options);
}

}  // namespace parlance
