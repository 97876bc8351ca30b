// Replies: how a model writes them (ReplyFormat), and reading them while they stream (ReplyParser, ReplyMessage).
//
//     auto format = parlance::ReplyFormat::from_json(parlance::find_format("terminal-agent")->reply);
//     if (!format) return report(format.error());
//     const parlance::CompiledReplyFormat compiled(*format);   // one for all replies, of all threads
//
//     parlance::ReplyParser parser(compiled);
//     parlance::ReplyMessage message;
//     auto take = [&](const parlance::ReplyEvent& event) { message.add(event); };
//     while (auto bytes = next_piece()) parser.feed(*bytes, take);
//     parser.finish(take);
//     send(message.to_json());
//
// Nothing here knows a template or an engine: a ReplyFormat is data. docs/reply-format.md explains each field.
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

/// The tools that a reply may call: their names, and the types of their arguments for formats that write values bare.
///
/// A value, cheap to copy; never changed.   Threads: any.
class ReplyTools {
 public:
  /// No tools are known: any name will do, and a value's type is told by its text.
  ReplyTools() = default;
  /// Reads `tools` of a request: OpenAI's {"type": "function", "function": {…}} or the inner objects alone; custom
  /// tools are functions with one string, `input`. Schemas are followed through $ref, anyOf, oneOf, allOf, enum and
  /// const. What is no tool is left out. Fails with: json (place); conversation when it is no array.
  static Result<ReplyTools> from_json(std::string_view tools, std::string_view name = "<tools>");
  bool known() const { return data_ != nullptr; }
  bool declares(std::string_view name) const;
  /// Whether a custom tool has the name, and no function besides.
  bool is_custom(std::string_view name) const;
  struct Data;
  const Data* data() const { return data_.get(); }

 private:
  std::shared_ptr<const Data> data_;
};

/// One step of a reply. Views live until the sink returns.
///
/// The `source` of all events in order is the reply, byte for byte. Cutting the reply otherwise gives the same events
/// once neighbours of a kind are joined (only the first five kinds, and trailing, have such neighbours). Nothing said
/// is taken back.
struct ReplyEvent {
  enum class Kind : std::uint8_t {
    content,     ///< text of the answer
    reasoning,   ///< text of the reasoning
    arguments,   ///< a piece of a call's arguments, as JSON
    broken,      ///< a piece of a call after it went wrong, or of a value that the reply's end cut off, before call_end
    marker,      ///< markup and framing
    trailing,    ///< what follows the end of the reply
    turn,        ///< a turn begins: text is its role, detail its header
    call_begin,  ///< text is the whole name, detail the id if it is known
    call_end,    ///< detail is the id, also if it came late
    malformed,   ///< what should have stood at `position` is in text; has no source
    end,         ///< the marker that ends the reply
  };
  /// malformed: what came of it.
  enum class Fault : std::uint8_t {
    syntax,  ///< a call that is not complete, text that looked like one, or a marker that is missing or too many
    mended,  ///< the arguments were not valid JSON and have been repaired
    type,    ///< a value in tags is not of the type that the tool or the wire says, and is a string
    cut,     ///< the reply ends inside of a call before its name is known: what there is of it is text
    // Of a call that is read well, and does not fit its tool (ReplyOptions::check_calls); the message is the same:
    unknown_tool,  ///< no tool has its name
    missing,       ///< a required argument, or a member of one, is not there
    misfit,        ///< a value is none that the tool's schema allows
  };
  Kind kind = Kind::content;
  bool complete = false;  ///< call_end: the arguments are whole, and valid JSON
  bool custom = false;    ///< call_begin: of a custom tool (ReplyTools::is_custom)
  Fault fault = Fault::syntax;
  std::uint32_t call = 0;      ///< of a call's events: its number, from 0
  std::uint32_t form = 0;      ///< call_begin: the number of its CallForm
  std::uint64_t position = 0;  ///< the first byte of `source` in the reply
  std::string_view source{};
  std::string_view text{};
  std::string_view detail{};
};
/// Whether a fault is of a call that does not fit its tool, and no fault of the reply.
constexpr bool is_of_tool(ReplyEvent::Fault fault) { return fault >= ReplyEvent::Fault::unknown_tool; }
/// "content", "call_begin", …
std::string_view name_of(ReplyEvent::Kind kind);
/// "syntax", "mended", "type", "cut", "unknown_tool", "missing", "misfit".
std::string_view name_of(ReplyEvent::Fault fault);

class ReplySink;

/// What a ReplySink may refer to: it is called with `const ReplyEvent&`.
template <typename Callable>
concept ReplyCallable = !std::same_as<std::remove_cvref_t<Callable>, ReplySink> &&
                        std::is_invocable_v<std::remove_reference_t<Callable>&, const ReplyEvent&>;

/// Where events go: a reference to a function, a lambda or another callable. Copying it, making it and calling it
/// allocate nothing.
///
/// Lifetime: what it refers to, which it does not own. So it is made of what has a name only; feed() and its like take
/// a lambda as it is:
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

/// Limits of a reader. Exceeding one gives a `malformed` event; reading goes on.
struct ReplyLimits {
  std::uint32_t depth = 256;        ///< nesting inside arguments; at most 256
  std::uint32_t name = 256;         ///< bytes of a name, an id or a header
  std::uint32_t pending = 1 << 20;  ///< bytes of a call held back: its arguments where they stand before its name
  bool operator==(const ReplyLimits&) const = default;
};

/// Options of a ReplyParser.
struct ReplyOptions {
  ReplyTools tools{};
  /// What the prompt of this reply ends with, from the assistant's turn on; nothing: ReplyFormat::prompt.
  std::optional<std::string> prompt{};
  ReplyLimits limits{};
  /// Texts that end this reply besides the format's: the end-of-sequence token of its request, where only that tells
  /// it.
  std::vector<std::string> ends{};
  /// The reply begins inside reasoning, whatever the prompt ends with: for who knows that the template has opened it,
  /// or that the model leaves its marker out. A marker that opens it at the reply's very beginning is markup then.
  /// Where the format has no marker that ends reasoning, nothing is changed.
  bool begin_in_reasoning = false;
  /// What begins a call is text inside reasoning, whatever the format says.
  bool no_calls_in_reasoning = false;
  /// Says where a call does not fit the tools, if they are known, by events `malformed` whose fault is_of_tool():
  /// behind call_begin that no tool has the name, behind call_end of a complete call which required arguments are
  /// missing and which values its schema does not allow. Only what is certain is said, at most 16 faults a call, of
  /// arguments of at most ReplyLimits::pending bytes, which are kept until the call ends. All other events are the
  /// same.
  bool check_calls = false;
};

/// A ReplyFormat made ready for reading: its markers as tables, for each place of a reply.
///
/// Make one for each format, and each reply's parser from it. It remembers what a few prompts and end tokens come to
/// (ReplyOptions::prompt, ends), which spares work and changes no result.
/// A value, cheap to copy.   Threads: any.
class CompiledReplyFormat {
 public:
  /// Fails with: value when validate() refuses the format.
  static Result<CompiledReplyFormat> make(const ReplyFormat& format);
  /// The same for a format that is valid, as from_json() and derive() return it: by one that is not, replies are text.
  explicit CompiledReplyFormat(const ReplyFormat& format);
  /// The format without a marker: replies are text.
  CompiledReplyFormat();
  /// What it was made from.   Lifetime: that of the copies.
  const ReplyFormat& source() const&;
  const ReplyFormat& source() const&& = delete;
  class Data;
  const Data& data() const { return *data_; }

 private:
  explicit CompiledReplyFormat(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

/// Reads a reply while it arrives.
///
/// Takes time in proportion to the reply: bytes that were held back may be read again, a bounded number of times. The
/// parser holds back what may be the beginning of a marker, white space that may belong to one, and a call until its
/// name is known; feed() reports everything else at once. Any bytes are a reply: a false start of a call becomes text,
/// and a call that goes wrong later becomes an incomplete call. A value: copies go on independently; a moved-from one
/// gives no events.
/// Threads: one at a time.
class ReplyParser {
 public:
  /// Takes under a microsecond, and time in proportion to a prompt that it has not met.
  explicit ReplyParser(const CompiledReplyFormat& format, const ReplyOptions& options = {});
  /// Compiles the format for this parser alone.   Fails with: value when validate() refuses the format.
  static Result<ReplyParser> make(const ReplyFormat& format, const ReplyOptions& options = {});
  /// The same for a format that is valid, as from_json() and derive() return it: by one that is not, replies are text.
  explicit ReplyParser(const ReplyFormat& format, const ReplyOptions& options = {});
  /// Reads turns of all roles, as prompts have them; the format must have turns.
  static ReplyParser of_conversation(const CompiledReplyFormat& format, const ReplyLimits& limits = {});
  ReplyParser(const ReplyParser&);
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(const ReplyParser&);
  ReplyParser& operator=(ReplyParser&&) noexcept;
  ~ReplyParser();

  /// Allocates nothing for text, once what it holds back has found its room.
  void feed(std::string_view bytes, ReplySink sink);
  /// feed() for one token, where it is known which are control tokens. From then on a text of ReplyFormat::control is
  /// part of a marker only where it is a whole token fed as control; the same text from other tokens is text.
  void feed_token(std::string_view bytes, bool control, ReplySink sink);
  /// Reports what was held back, and ends the reply; bytes fed after that are reported as trailing.
  void finish(ReplySink sink);
  // The same for a callable without a name, which lives as long as the call.
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
  /// How many bytes were fed and are in no event yet.
  std::size_t held() const;
  /// The size of the parser's own state in bytes, without held bytes and data that all copies share.
  std::size_t memory() const;

  class State;
  class CallCheck;

 private:
  ReplyParser();

  std::unique_ptr<State> state_;
  std::unique_ptr<CallCheck> check_;  ///< with ReplyOptions::check_calls
};

/// A call of a message.
struct ReplyCall {
  std::string id;  ///< as the model wrote it, or ""
  std::string name;
  /// JSON. Where the call is not complete, what there was of it: a true beginning, and what came behind that if it was
  /// none.
  std::string arguments;
  bool complete = false;
  bool custom = false;  ///< of a custom tool: the arguments are {"input": its text}
};

/// What went wrong at a byte of the reply.
struct ReplyDiagnostic {
  std::uint64_t position = 0;
  std::string expected;
  ReplyEvent::Fault fault = ReplyEvent::Fault::syntax;
};

/// Why a reply ended, as far as its events tell.
class ReplyFinish {
 public:
  void add(const ReplyEvent& event);
  /// "tool_calls" where a call is complete; "length" where the reply ended inside a call or its reasoning, or no call
  /// of it is complete; else "stop".
  std::string_view reason() const;

 private:
  bool cut_ = false;      ///< the last event was inside a call or reasoning
  bool cut_off_ = false;  ///< the reply ended inside a call without a name
  bool calls_ = false;    ///< there is a call
  bool called_ = false;   ///< a call is complete
};

/// The message that events amount to.
class ReplyMessage {
 public:
  void add(const ReplyEvent& event);
  std::string reasoning;
  std::string content;
  std::vector<ReplyCall> calls;
  std::vector<ReplyDiagnostic> diagnostics;
  /// ReplyFinish::reason of the events.
  std::string_view finish_reason() const { return finish_.reason(); }
  /// {"message": …, "finish_reason": …} as OpenAI's choices have it, with `complete` beside each call and
  /// `diagnostics`. Calls without an id on the wire get one from `make_id`; without it call_1, call_2, … With
  /// `partial`, a call that is not complete has a member of that name: the values that there are so far
  /// (complete_json). A call of a custom tool is {"type": "custom", "custom": {"name", "input"}}, and has its
  /// `arguments` besides where they are not {"input": TEXT}, or not complete.
  std::string to_json(const std::function<std::string()>& make_id = {}, bool partial = false) const;
  /// The message alone: what stands under "message" there.
  std::string message_json(const std::function<std::string()>& make_id = {}, bool partial = false) const;

 private:
  ReplyFinish finish_;
  bool turned_ = false;  ///< a turn has begun since the last content
};

/// Events as the deltas of OpenAI's chat.completion.chunk, which put together are what ReplyMessage::to_json says.
///
///     {"role": "assistant"}   {"reasoning_content": "…"}   {"content": "…"}
///     {"tool_calls": [{"index": 0, "id": "…", "type": "function", "function": {"name": "…", "arguments": ""}}]}
///     {"tool_calls": [{"index": 0, "function": {"arguments": "…"}}]}
///
/// They know no custom tools: a call of one is the call of a function with the argument `input`.
class ReplyDeltas {
 public:
  /// `make_id` as for ReplyMessage::to_json.
  explicit ReplyDeltas(std::function<std::string()> make_id = {}) : make_id_(std::move(make_id)) {}
  /// Appends the delta that an event amounts to, as JSON. False: it amounts to none.
  bool append(std::string& out, const ReplyEvent& event);
  /// As of ReplyMessage.
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

/// The whole of a prompt as the request that renders to it: {"messages": […]}, where the format has turns.
/// Fails with: value when the format has no turns, or when the text does not begin with one.
Result<std::string> read_conversation(const ReplyFormat& format, std::string_view text);

}  // namespace parlance
