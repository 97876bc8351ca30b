// stop_set: small conversations are rendered, and what stands behind an assistant's turn is looked at. Begin reading at
// stop_set().
#include <algorithm>

#include "parlance/tokens.h"
#include "tokens/difference.h"
#include "tokens/tokenizer/control_ids.h"
#include "tokens/tokenizer/guard.h"
#include "tokens/trust.h"

namespace parlance {
namespace {

constexpr std::string_view kTools = R"([{"type": "function", "function": {"name": "look", "description": "Looks.",
  "parameters": {"type": "object", "properties": {"where": {"type": "string", "description": "A place."}},
  "required": ["where"]}}}])";
constexpr std::int32_t kTurn = 1;  ///< the number of the assistant's message in each probe

/// A conversation whose assistant turn is looked at.
struct Probe {
  bool calls = false;  ///< the assistant calls a tool
  bool goes_on = false;
};
constexpr Probe kProbes[] = {{false, true}, {false, false}, {true, true}, {true, false}};

Result<Conversation> make_conversation(const Probe& probe, const TokenizerFacts& facts,
                                       std::span<const SpecialToken> variables) {
  Conversation chat;
  Message turn{.role = "assistant", .content = probe.calls ? "" : "Hereabouts."};
  if (probe.calls) turn.tool_calls = {{.id = "call00001", .name = "look", .arguments_json = R"({"where": "there"})"}};
  std::vector<Message> messages = {{.role = "user", .content = "Where is it?"}, turn};
  if (probe.goes_on && probe.calls) {
    messages.push_back({.role = "tool", .content = "It is there.", .tool_call_id = "call00001", .name = "look"});
  } else if (probe.goes_on) {
    messages.push_back({.role = "user", .content = "And now?"});
  }
  for (const Message& message : messages) {
    if (Result<void> added = chat.add(message); !added) return added.error();
  }
  if (probe.calls) {
    if (Result<void> set = chat.set_json("tools", kTools); !set) return set.error();
  }
  for (const SpecialToken& token : variables) {
    if (Result<void> set = chat.set_default_string(token.name, token.text); !set) return set.error();
  }
  for (const NamedToken& token : facts.named) {
    if (Result<void> set = chat.set_default_string(token.name, token.text); !set) return set.error();
  }
  return chat;
}

/// Where in a prompt an assistant's turn ends, and what is behind it.
struct TurnEnd {
  std::uint32_t said = 0;       ///< one past the last byte of the message
  std::uint32_t end = 0;        ///< of the turn, end-of-turn token included
  std::uint32_t next = 0;       ///< where the next message's own bytes begin
  std::uint32_t next_said = 0;  ///< where those begin that are not its role
};

bool is_role(const Conversation& chat, const Span& span) { return path_of_span(chat, span).ends_with(".role"); }

bool is_said(const Conversation& chat, const Span& span) { return span.message == kTurn && !is_role(chat, span); }

TurnEnd find_end(const Conversation& chat, const Rendering& prompt) {
  TurnEnd found;
  const auto size = static_cast<std::uint32_t>(prompt.text().size());
  for (const Span& span : prompt.spans()) {
    if (is_said(chat, span)) found.said = span.end;
  }
  found.end = found.said;
  for (const TextRange& range : prompt.assistant()) {
    if (range.begin < found.said && found.said <= range.end) found.end = static_cast<std::uint32_t>(range.end);
  }
  found.next = found.next_said = size;
  for (const Span& span : prompt.spans()) {
    if (span.message <= kTurn || span.begin < found.said) continue;
    found.next = std::min(found.next, span.begin);
    if (!is_role(chat, span)) found.next_said = std::min(found.next_said, span.begin);
  }
  return found;
}

/// Collects stop tokens, each once: by its id, or by its text where no id is known.
class StopSet {
 public:
  explicit StopSet(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void declare(TokenId id, const std::string& source) { entry(id, source).declared = true; }
  /// That the template writes, behind a turn with calls or another. Those of others come first.
  void add(TokenId id, const std::string& source, bool of_calls) {
    const bool is_new = !contains(id);
    StopToken& stop = entry(id, source);
    stop.after_calls = of_calls && has_plain_ && (is_new || stop.after_calls);
    has_plain_ = has_plain_ || !of_calls;
  }
  void add_text(std::string_view text, const std::string& source) {
    StopToken* known = find([&](const StopToken& s) { return s.text == text; });
    if (known == nullptr) known = &stops_.emplace_back(StopToken{.text = std::string(text)});
    add_source(*known, source);
  }
  bool contains(TokenId id) const {
    return std::any_of(stops_.begin(), stops_.end(), [id](const StopToken& s) { return s.id == id; });
  }
  /// Without texts that begin with another: who stops at that one never sees the rest of them.
  std::vector<StopToken> take() {
    std::vector<StopToken> kept;
    for (const StopToken& stop : stops_) {
      const bool has_begin = stop.id < 0 && find([&](const StopToken& other) {
                                              return other.id < 0 && other.text.size() < stop.text.size() &&
                                                     stop.text.starts_with(other.text);
                                            }) != nullptr;
      if (!has_begin) kept.push_back(stop);
    }
    return kept;
  }

 private:
  StopToken& entry(TokenId id, const std::string& source) {
    const std::string text = tokenizer_.token_text(id);
    StopToken* known = find([&](const StopToken& s) { return s.id == id; });
    if (known == nullptr) known = find([&](const StopToken& s) { return s.id < 0 && s.text == text; });
    if (known == nullptr) known = &stops_.emplace_back(StopToken{.id = id, .text = text});
    known->id = id;
    add_source(*known, source);
    return *known;
  }
  template <typename Is>
  StopToken* find(Is is) {
    const auto found = std::find_if(stops_.begin(), stops_.end(), is);
    return found == stops_.end() ? nullptr : &*found;
  }
  static void add_source(StopToken& stop, const std::string& source) {
    const bool is_new = std::find(stop.sources.begin(), stop.sources.end(), source) == stop.sources.end();
    if (is_new) stop.sources.push_back(source);
  }

  const Tokenizer& tokenizer_;
  std::vector<StopToken> stops_;
  bool has_plain_ = false;  ///< a token that ends a turn without calls is known
};

/// One rendered probe, as tokens.
class Observation {
 public:
  Observation(const Conversation& chat, const Rendering& prompt, const Tokenizer& tokenizer)
      : chat_(chat), prompt_(prompt), facts_(tokenizer.facts()), end_(find_end(chat, prompt)) {}

  Result<void> encode(const Tokenizer& tokenizer) {
    const TrustRule rule(chat_, facts_, {});
    Result<GuardedEncoding> encoding =
        encode_guarded(tokenizer, prompt_.text(), rule.ranges(prompt_.spans(), prompt_.text()));
    if (!encoding) return encoding.error();
    const ControlIds control(facts_);
    for (const EncodedToken& token : encoding->tokens) {
      if (control.is_control(token) && token.bytes.begin >= end_.said) control_.push_back(token);
    }
    return {};
  }

  void add_to(StopSet& stops, const Probe& probe) const {
    const EncodedToken* end = end_token(probe, stops);
    if (end == nullptr && probe.goes_on) end = opening();
    if (end != nullptr) return stops.add(end->id, source_of(end->bytes), probe.calls);
    if (!probe.calls) add_text(stops);
  }

 private:
  bool is_special(TokenId id) const {
    return std::any_of(facts_.added.begin(), facts_.added.end(),
                       [id](const AddedToken& t) { return t.id == id && t.special; });
  }

  /// The last control token of the turn. What closes a tool call is none that ends a turn, unless other turns end so
  /// too or it says of itself that it is special.
  const EncodedToken* end_token(const Probe& probe, const StopSet& stops) const {
    const EncodedToken* last = nullptr;
    for (const EncodedToken& token : control_) {
      if (token.bytes.end <= end_.end) last = &token;
    }
    const bool ends = last != nullptr && (!probe.calls || is_special(last->id) || stops.contains(last->id));
    return ends ? last : nullptr;
  }
  /// The control token that opens the next turn: where nothing closes a turn, a reply ends with it.
  const EncodedToken* opening() const {
    for (const EncodedToken& token : control_) {
      if (token.bytes.begin >= end_.end && token.bytes.begin < end_.next) return &token;
    }
    return nullptr;
  }

  /// No token: the text that the template writes there, with the next turn's role, so that none is cut in its middle.
  void add_text(StopSet& stops) const {
    const auto stripped = [this](std::uint32_t begin, std::uint32_t end) {
      constexpr std::string_view kBlank = " \n\r\t";
      std::string_view text = prompt_.text().substr(begin, end - begin);
      text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
      return text.substr(0, text.find_last_not_of(kBlank) + 1);
    };
    std::string_view text = stripped(end_.said, std::max(end_.said, end_.end));
    if (text.empty()) text = stripped(end_.said, end_.next_said);
    if (text.empty()) return;
    const auto begin = static_cast<std::uint32_t>(text.data() - prompt_.text().data());
    stops.add_text(text, source_of({begin, begin + static_cast<std::uint32_t>(text.size())}));
  }

  /// The template's place of what stands in these bytes; where they are of an input alone, that.
  std::string source_of(ByteSpan bytes) const {
    std::string path;
    for (const Span& span : prompt_.spans()) {
      if (span.end <= bytes.begin || span.begin >= bytes.end) continue;
      const Location place = place_from(prompt_, span, bytes.begin);
      if (place.line != 0) return place.name + ":" + std::to_string(place.line);
      if (path.empty()) path = path_of_span(chat_, span);
    }
    return path;
  }

  const Conversation& chat_;
  const Rendering& prompt_;
  const TokenizerFacts& facts_;
  TurnEnd end_;
  std::vector<EncodedToken> control_;  ///< recognised ones behind what the assistant said
};

Result<void> observe(const Template& chat_template, const Tokenizer& tokenizer, const Conversation& chat,
                     const RenderOptions& wishes, const Probe& probe, StopSet& stops) {
  RenderOptions options = wishes;
  options.add_generation_prompt = false;
  options.continue_final = false;
  options.want_spans = true;
  options.want_assistant = true;
  const Result<Rendering> prompt = chat_template.render(chat, options);
  if (!prompt) return {};  // it refuses such a conversation
  const bool says_something = std::any_of(prompt->spans().begin(), prompt->spans().end(),
                                          [&](const Span& span) { return is_said(chat, span); });
  if (!says_something) return {};
  Observation observation(chat, *prompt, tokenizer);
  if (Result<void> done = observation.encode(tokenizer); !done) return done.error();
  observation.add_to(stops, probe);
  return {};
}

}  // namespace

bool awaits_result(std::span<const StopToken> stops, std::span<const TokenId> sampled) {
  return !sampled.empty() && std::any_of(stops.begin(), stops.end(), [&sampled](const StopToken& stop) {
    return stop.after_calls && stop.id == sampled.back();
  });
}

Result<std::vector<StopToken>> stop_set(const Template& chat_template, const Tokenizer& tokenizer,
                                        std::span<const SpecialToken> variables, const RenderOptions& options) {
  StopSet stops(tokenizer);
  for (const Probe& probe : kProbes) {
    const Result<Conversation> chat = make_conversation(probe, tokenizer.facts(), variables);
    if (!chat) return chat.error();
    if (Result<void> seen = observe(chat_template, tokenizer, *chat, options, probe, stops); !seen) return seen.error();
  }
  for (const EndToken& end : tokenizer.facts().ends) stops.declare(end.id, end.source);
  return stops.take();
}

}  // namespace parlance
