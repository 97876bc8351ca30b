// Replies: how a model writes them (ReplyFormat), and reading them while they stream (ReplyParser, ReplyMessage).
//
//     auto format = parlance::ReplyFormat::from_json(parlance::find_format("terminal-agent")->reply);
//     if (!format) return report(format.error());
//     auto compiled = parlance::CompiledReplyFormat::make(*format);   // one for all replies, of all threads
//     if (!compiled) return report(compiled.error());
//
//     parlance::ReplyParser parser(*compiled);
//     parlance::ReplyMessage message;
//     auto take = [&](const parlance::ReplyEvent& event) { message.add(event); };
//     while (auto bytes = next_piece()) parser.feed(*bytes, take);
//     parser.finish(take);
//     send(message.to_json());
//
// Reading needs no template and no engine: a ReplyFormat is data. docs/reply-format.md explains each field.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"

namespace parlance {

namespace reply {  // parlance's own: what the classes below hold
struct DeclaredTools;
class SharedFormat;
class ParserState;
class CallCheck;
}  // namespace reply

/// The tools that a reply may call: their names, and the types of their arguments for formats whose values have no
/// quotes.
///
/// An immutable value, cheap to copy.   Threads: any.
class ReplyTools {
 public:
  /// No tools are known: a call may have any name, and the text of a value decides its type.
  ReplyTools() = default;
  /// Reads `tools` of a request: OpenAI's {"type": "function", "function": {…}} or the inner objects alone; custom
  /// tools are functions with one string, `input`. Types are read through $ref, anyOf, oneOf, allOf, enum and const.
  /// Items that are not tools are ignored. Fails with: json (place); conversation if it is not an array.
  static Result<ReplyTools> from_json(std::string_view tools, std::string_view name = "<tools>");
  bool known() const { return data_ != nullptr; }
  bool declares(std::string_view name) const;
  /// Whether a custom tool has this name, and no function has it.
  bool is_custom(std::string_view name) const;
  /// The memory that they take, about. Copies share it.
  std::size_t bytes() const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  const std::shared_ptr<const reply::DeclaredTools>& inside() const { return data_; }

  std::shared_ptr<const reply::DeclaredTools> data_;
};

/// One step of a reply. Lifetime: its views are valid until the sink returns.
///
/// The `source`s of all events, in order, are the reply, byte for byte. However the reply is cut into pieces, the
/// events are the same after neighbouring events of one kind are joined (this concerns only the first five kinds and
/// `trailing`). No event is ever taken back.
struct ReplyEvent {
  enum class Kind : std::uint8_t {
    content,     ///< text of the content
    reasoning,   ///< text of the reasoning
    arguments,   ///< a piece of a call's arguments, as JSON
    broken,      ///< a piece of a call after a fault, or of a value that the end of the reply cut off; before call_end
    marker,      ///< markup and framing
    trailing,    ///< text after the end of the reply
    turn,        ///< a turn begins: text is its role, detail its header
    call_begin,  ///< text is the whole name, detail the id if it is known already
    call_end,    ///< detail is the id, also if it came after the arguments
    malformed,   ///< text says what was expected at `position`; has no source
    end,         ///< the marker that ends the reply
  };
  /// The kind of fault of a malformed event.
  enum class Fault : std::uint8_t {
    syntax,  ///< an incomplete call, text that looked like a call, or a missing or superfluous marker
    mended,  ///< the arguments were not valid JSON, or not written as the format says, and have been repaired
    type,    ///< a value in tags does not have the type that the tool or the reply states; it is given as a string
    cut,     ///< the reply ends inside a call before its name is known; the call is given as text
    // Faults of a valid call that does not fit its tool (ReplyOptions::check_calls); the message does not change:
    unknown_tool,  ///< no tool has the call's name
    missing,       ///< a required argument, or a required member of one, is missing
    misfit,        ///< the tool's schema does not allow a value
  };
  Kind kind = Kind::content;
  bool complete = false;  ///< call_end: the arguments are complete, valid JSON
  bool custom = false;    ///< call_begin: the call of a custom tool (ReplyTools::is_custom)
  Fault fault = Fault::syntax;
  std::uint32_t call = 0;      ///< events of a call: its number, from 0
  std::uint32_t form = 0;      ///< call_begin: the number of its CallForm
  std::uint64_t position = 0;  ///< where `source` begins in the reply
  std::string_view source{};
  std::string_view text{};
  std::string_view detail{};
};
/// Whether the fault is that a valid call does not fit its tool.
constexpr bool is_of_tool(ReplyEvent::Fault fault) { return fault >= ReplyEvent::Fault::unknown_tool; }
/// "content", "reasoning", …, in the order of ReplyEvent::Kind.
std::span<const std::string_view> reply_event_names();
std::string_view name_of(ReplyEvent::Kind kind);
/// "syntax", "mended", …, in the order of ReplyEvent::Fault.
std::span<const std::string_view> reply_fault_names();
std::string_view name_of(ReplyEvent::Fault fault);

class ReplySink;

/// What a ReplySink may refer to: a callable that takes `const ReplyEvent&`.
template <typename Callable>
concept ReplyCallable = !std::same_as<std::remove_cvref_t<Callable>, ReplySink> &&
                        std::is_invocable_v<std::remove_reference_t<Callable>&, const ReplyEvent&>;

/// Receives events: a reference to a function, a lambda or another callable. Making, copying and calling it allocates
/// nothing.
///
/// Lifetime: that of the callable, which it does not own. So it can be made only from a callable with a name; feed()
/// and finish() also take a lambda directly:
///
///     auto take = [&](const parlance::ReplyEvent& event) { message.add(event); };
///     const parlance::ReplySink sink = take;                              // while `take` lives
///     parser.feed(bytes, [](const parlance::ReplyEvent& event) { … });    // while feed() runs
class ReplySink {
 public:
  template <ReplyCallable Callable>
    requires(!std::is_function_v<Callable>)
  ReplySink(Callable& callable) noexcept
      : to_{.object = std::addressof(callable)},
        call_([](To to, const ReplyEvent& event) { (*static_cast<Callable*>(const_cast<void*>(to.object)))(event); }) {}
  template <ReplyCallable Function>
    requires std::is_function_v<Function>
  ReplySink(Function& function) noexcept
      : to_{.function = reinterpret_cast<void (*)()>(&function)},
        call_([](To to, const ReplyEvent& event) { reinterpret_cast<Function*>(to.function)(event); }) {}
  void operator()(const ReplyEvent& event) const { call_(to_, event); }

 private:
  union To {
    const void* object;
    void (*function)();
  };
  To to_;
  void (*call_)(To, const ReplyEvent&);
};

/// Limits of a reader. If a reply exceeds one, there is a `malformed` event, and reading goes on.
struct ReplyLimits {
  std::uint32_t depth = 256;        ///< nesting inside arguments; at most 256
  std::uint32_t name = 256;         ///< bytes of a name, an id or a header
  std::uint32_t pending = 1 << 20;  ///< bytes of a call that are held back, such as arguments before the name
  bool operator==(const ReplyLimits&) const = default;
};

/// Options of a ReplyParser.
struct ReplyOptions {
  ReplyTools tools{};
  /// The end of this reply's prompt, from the assistant's turn on; unset: ReplyFormat::prompt.
  std::optional<std::string> prompt{};
  ReplyLimits limits{};
  /// Further texts that end this reply, such as the end-of-sequence token if only the request names it.
  std::vector<std::string> ends{};
  /// The reply begins inside reasoning, whatever the end of the prompt is. Use this if you know that the template has
  /// opened reasoning, or that the model omits the opening marker. If the reply begins with that marker, it is markup.
  /// If no marker of the format can end reasoning, the option has no effect.
  bool begin_in_reasoning = false;
  /// Inside reasoning, the opening marker of a call is text, whatever the format says.
  bool no_calls_in_reasoning = false;
  /// Checks each call against its tool, if tools are known, and reports misfits by `malformed` events whose fault
  /// is_of_tool(). After call_begin, such an event says that no tool has the name; after call_end of a complete call,
  /// it says which required arguments are missing and which values the schema does not allow. Only certain misfits are
  /// reported, at most 16 for a call. Arguments are kept for this until the call ends, up to ReplyLimits::pending
  /// bytes. All other events stay the same.
  bool check_calls = false;
};

/// What the prompt has opened before a reply: its end from the assistant's turn on. `prompt` is ReplyOptions::prompt or
/// GrammarOptions::prompt; where it is unset, prompts of the format end as usual, with ReplyFormat::prompt.
/// Lifetime: of the argument that it is taken from.
inline std::string_view opened_before_reply(const std::optional<std::string>& prompt, const ReplyFormat& format) {
  return prompt ? *prompt : format.prompt;
}
std::string_view opened_before_reply(const std::optional<std::string>&& prompt, const ReplyFormat& format) = delete;
std::string_view opened_before_reply(const std::optional<std::string>& prompt, const ReplyFormat&& format) = delete;

/// A ReplyFormat compiled for reading: tables of its markers for each place in a reply. It was valid: there is none of
/// a format that validate() refuses.
///
/// Make one for each format, and the parser of each reply from it. It caches the parser's state for a few prompts and
/// end tokens (ReplyOptions::prompt, ends), which saves work and changes no result.
/// A value, cheap to copy; what was moved from has no marker.   Threads: any.
class CompiledReplyFormat {
 public:
  /// Fails with: value (path of the field) if validate() refuses the format.
  static Result<CompiledReplyFormat> make(const ReplyFormat& format);
  /// The format without a marker: replies are text.
  CompiledReplyFormat();
  /// The format from which it was made.   Lifetime: until the last copy is gone.
  const ReplyFormat& source() const&;
  const ReplyFormat& source() const&& = delete;
  /// The format without calls, for requests that want none: what reads as one is text. It is made once, and kept. A
  /// format that validate() refuses without its calls stays as it is.
  CompiledReplyFormat without_calls() const;
  /// The same format for a reader that is fed tokens: of ReplyFormat::with_control(), which stays valid.
  CompiledReplyFormat with_control(std::span<const std::string> tokens, std::span<const std::string> ends = {}) const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  explicit CompiledReplyFormat(std::shared_ptr<const reply::SharedFormat> data) : data_(std::move(data)) {}
  const reply::SharedFormat& inside() const;

  std::shared_ptr<const reply::SharedFormat> data_;
};

/// Reads a reply while it arrives.
///
/// Its time is proportional to the reply: bytes that were held back may be read again, a bounded number of times. The
/// parser holds back the possible beginning of a marker, white space that may belong to one, and a call until its name
/// is known; feed() reports everything else at once. Any bytes are a reply: a false start of a call becomes text, and a
/// call that goes wrong later becomes an incomplete call. A value: copies go on independently; a moved-from parser
/// sends no events.
/// Threads: one at a time.
class ReplyParser {
 public:
  /// Takes less than a microsecond, and for a new prompt time in proportion to it.
  explicit ReplyParser(const CompiledReplyFormat& format, const ReplyOptions& options = {});
  /// Compiles the format for this parser alone.   Fails with: value (path of the field) if validate() refuses it.
  static Result<ReplyParser> make(const ReplyFormat& format, const ReplyOptions& options = {});
  /// Reads turns of all roles, as in prompts.   Fails with: value (path `turns`) if the format has no turns.
  static Result<ReplyParser> of_conversation(const CompiledReplyFormat& format, const ReplyLimits& limits = {});
  ReplyParser(const ReplyParser&);
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(const ReplyParser&);
  ReplyParser& operator=(ReplyParser&&) noexcept;
  ~ReplyParser();

  /// Reads the next bytes. For text it allocates nothing, once its buffer for held bytes is large enough. The sink must
  /// not call this parser.
  void feed(std::string_view bytes, ReplySink sink);
  /// feed() for one token, if you know which tokens are control tokens. From then on, a text of ReplyFormat::control
  /// is a marker only where it is one token that was fed as control; elsewhere it is text. One that ends the turn ends
  /// a call in whose middle it stands too: the call is incomplete then.
  void feed_token(std::string_view bytes, bool control, ReplySink sink);
  /// Reports the bytes that were held back, and ends the reply. Bytes fed later are reported as trailing.
  void finish(ReplySink sink);
  // The same for a temporary callable, which lives until the call returns.
  template <ReplyCallable Callable>
  void feed(std::string_view bytes, Callable&& sink) {
    feed(bytes, ReplySink(sink));
  }
  template <ReplyCallable Callable>
  void feed_token(std::string_view bytes, bool control, Callable&& sink) {
    feed_token(bytes, control, ReplySink(sink));
  }
  template <ReplyCallable Callable>
  void finish(Callable&& sink) {
    finish(ReplySink(sink));
  }
  /// The number of bytes that were fed and are in no event yet.
  std::size_t held() const;
  /// The size of the parser's own state in bytes, without held bytes and data that all copies share.
  std::size_t memory() const;

 private:
  ReplyParser();

  std::unique_ptr<reply::ParserState> state_;
  std::unique_ptr<reply::CallCheck> check_;  ///< with ReplyOptions::check_calls
};

/// A call of a message.
struct ReplyCall {
  std::string id;  ///< as the model wrote it, or ""
  std::string name;
  /// JSON. If the call is incomplete: a prefix of valid JSON, then the rest of what the model wrote.
  std::string arguments;
  bool complete = false;
  bool custom = false;  ///< of a custom tool: the arguments are {"input": its text}
};

/// A fault at a byte of the reply.
struct ReplyDiagnostic {
  std::uint64_t position = 0;
  std::string expected;
  ReplyEvent::Fault fault = ReplyEvent::Fault::syntax;
};

/// Finds out from the events why a reply ended.
class ReplyFinish {
 public:
  void add(const ReplyEvent& event);
  /// "length" if the reply broke off inside a call or reasoning, or has calls but no complete one; "tool_calls" if a
  /// call is complete; else "stop", also if an end marker of the reply stands inside reasoning.
  std::string_view reason() const;

 private:
  bool cut_ = false;      ///< the last event was inside a call or reasoning
  bool cut_off_ = false;  ///< the reply ended inside a call without a name
  bool calls_ = false;    ///< there is a call
  bool called_ = false;   ///< a call is complete
};

/// Assembles events to a message.
class ReplyMessage {
 public:
  void add(const ReplyEvent& event);
  std::string reasoning;
  std::string content;
  std::vector<ReplyCall> calls;
  std::vector<ReplyDiagnostic> diagnostics;
  /// ReplyFinish::reason of the events.
  std::string_view finish_reason() const { return finish_.reason(); }
  /// {"message": …, "finish_reason": …} as in OpenAI's choices, with `complete` for each call, and `diagnostics`. If
  /// the model wrote no id for a call, it gets one from `make_id`, or else call_1, call_2, … With `partial`, an
  /// incomplete call has a member `partial`: the values so far (complete_json). A call of a custom tool is {"type":
  /// "custom", "custom": {"name", "input"}}; it also has its `arguments` if they are not {"input": TEXT}, or not
  /// complete.
  std::string to_json(const std::function<std::string()>& make_id = {}, bool partial = false) const;
  /// Only the message: the value of "message" there.
  std::string message_json(const std::function<std::string()>& make_id = {}, bool partial = false) const;

 private:
  ReplyFinish finish_;
  bool turned_ = false;  ///< a turn has begun since the last content
};

/// Turns events into the deltas of OpenAI's chat.completion.chunk. Together they equal ReplyMessage::to_json.
///
///     {"role": "assistant"}   {"reasoning_content": "…"}   {"content": "…"}
///     {"tool_calls": [{"index": 0, "id": "…", "type": "function", "function": {"name": "…", "arguments": ""}}]}
///     {"tool_calls": [{"index": 0, "function": {"arguments": "…"}}]}
///
/// Chunks have no custom tools: a call of one becomes the call of a function with the argument `input`.
class ReplyDeltas {
 public:
  /// `make_id` as for ReplyMessage::to_json.
  explicit ReplyDeltas(std::function<std::string()> make_id = {}) : make_id_(std::move(make_id)) {}
  /// Appends the delta of an event as JSON. Returns false if the event gives no delta.
  bool append(std::string& out, const ReplyEvent& event);
  /// As in ReplyMessage.
  std::string_view finish_reason() const { return finish_.reason(); }

 private:
  bool append_reasoning(std::string& out, std::string_view text);

  std::function<std::string()> make_id_;
  std::string blanks_;  ///< of reasoning that has nothing else yet
  std::uint32_t calls_ = 0;
  bool reasons_ = false;
  bool has_content_ = false;
  bool turned_ = false;
  ReplyFinish finish_;
};

/// Reads a whole prompt back as the request that renders to it: {"messages": […]}.
/// Fails with: value if the format has no turns, or if the text does not begin with one.
Result<std::string> read_conversation(const ReplyFormat& format, std::string_view text);

}  // namespace parlance
