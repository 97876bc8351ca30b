// Replies: how a model writes them (ReplyFormat), and reading them while they stream (ReplyParser, ReplyMessage).
//
//     auto format = parlance::ReplyFormat::from_json(parlance::find_format("chatml")->reply);
//     if (!format) return report(format.error());
//     parlance::ReplyParser parser(*format);
//     parlance::ReplyMessage message;
//     auto take = [&](const parlance::ReplyEvent& event) { message.add(event); };
//     while (auto bytes = next_piece()) parser.feed(*bytes, take);
//     parser.finish(take);
//     send(message.to_json());
//
// Nothing here knows a template or an engine: a ReplyFormat is data. docs/reply-format.md explains each field.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

/// A text that separates the parts of a reply, with the white space the model puts around it.
///
/// `before` and `after` are framing: they belong to the marker where they are there, and any ending of `before` or
/// beginning of `after` will do. A marker without texts does not exist in the format.
struct ReplyMarker {
  std::vector<std::string> texts{};  ///< the first is what the model is taught; the others are read too
  std::string before{};
  std::string after{};
  bool exists() const { return !texts.empty(); }
  bool operator==(const ReplyMarker&) const = default;
};

/// Where a reply begins: right behind what the prompt ends with.
enum class ReplyStart : std::uint8_t {
  content,    ///< in the answer
  reasoning,  ///< inside the reasoning, which the prompt has opened
  header,     ///< in the header of a turn, whose marker the prompt has written
};

/// How calls that follow each other stand in one section.
enum class CallLayout : std::uint8_t {
  single,  ///< each has its own `open` and `close`
  list,    ///< a JSON list of calls between `open` and `close`
};

/// Where the name of a called tool stands.
enum class NamePlace : std::uint8_t {
  member,  ///< a member of the call's JSON object
  header,  ///< the header of the turn
};

/// How arguments are written.
enum class ArgumentCodec : std::uint8_t {
  json,      ///< a JSON object, or a JSON string that holds one
  keywords,  ///< keyword arguments of a Python call, whose values are literals
  code,      ///< a program as it is, which becomes the value of one argument
};

/// One way in which calls are written. A format may have several.
struct CallForm {
  ReplyMarker open{};
  ReplyMarker close{};
  std::string separator{};  ///< what a model writes between two calls; in reading any white space will do
  CallLayout layout = CallLayout::single;
  bool commas_optional = false;  ///< list: the calls may follow each other without commas
  NamePlace name_place = NamePlace::member;
  std::string header{};                      ///< name_place header: the one header that means this form; "": any name
  std::vector<std::string> name_members{};   ///< name_place member: the keys that may hold the name, any of them
  std::vector<std::string> argument_members{};
  std::vector<std::string> id_members{};
  ArgumentCodec arguments = ArgumentCodec::json;
  std::string callee{};         ///< keywords: what is called in the text, e.g. "tool_call"
  std::string code_argument{};  ///< code: the argument that the program becomes
  std::string result_open{};    ///< what stands before and behind the result of such a call, in its turn
  std::string result_close{};
  bool operator==(const CallForm&) const = default;
};

/// A turn of a conversation as text: a marker, a header up to `header_close`, then text.
struct ReplyTurn {
  std::string role{};
  ReplyMarker open{};
  std::string header_close{};  ///< "": no header
  std::string raw_role{};      ///< the role of a message whose text is no result of a call; "": `role`
  bool operator==(const ReplyTurn&) const = default;
};

/// How a model writes its replies: plain data, compared, copied and cached as such.
///
///     {"reasoning": {"open": "<think>", "close": "</think>"}, "end": ["<|im_end|>"],
///      "calls": [{"open": "<tool_call>", "close": "</tool_call>", "name": ["name"], "arguments": ["arguments"]}]}
struct ReplyFormat {
  ReplyStart start = ReplyStart::content;
  ReplyMarker reasoning_open{};
  ReplyMarker reasoning_close{};
  bool calls_end_reasoning = false;  ///< an opener inside reasoning begins a call; else it is text
  std::vector<CallForm> calls{};
  bool parallel = true;              ///< a reply may hold more than one call; reading takes more in any case
  std::vector<ReplyMarker> end{};    ///< each ends the reply
  std::string prefix{};              ///< what may stand before the first turn of a conversation
  std::vector<ReplyTurn> turns{};    ///< the assistant's goes on with the reply, any other ends it

  /// Reads and validates a format.
  /// Fails with: json (place); value when a member is unknown, of the wrong type or contradicts another (path).
  static Result<ReplyFormat> from_json(std::string_view text, std::string_view name = "<format>");
  /// JSON that from_json reads as an equal format. Members with their default are left out.
  std::string to_json() const;
  /// Whether a parser can be made of it: markers that can be told apart, forms with all that they need.
  /// Fails with: value (path of the field).
  Result<void> validate() const;
  bool operator==(const ReplyFormat&) const = default;
};

/// One step of a reply. Views live until the sink returns.
///
/// The `source` of all events in order is the reply, byte for byte. Cutting the reply otherwise gives the same events
/// once neighbours of a kind are joined (only the first five kinds, and trailing, have such neighbours). Nothing said is
/// taken back.
struct ReplyEvent {
  enum class Kind : std::uint8_t {
    content,     ///< text of the answer
    reasoning,   ///< text of the reasoning
    arguments,   ///< a piece of a call's arguments, as JSON
    broken,      ///< a piece of a call after it went wrong
    marker,      ///< markup and framing
    trailing,    ///< what follows the end of the reply
    turn,        ///< a turn begins: text is its role, detail its header
    call_begin,  ///< text is the whole name, detail the id if it is known
    call_end,    ///< detail is the id, also if it came late
    malformed,   ///< what should have stood at `position` is in text; has no source
    end,         ///< the marker that ends the reply
  };
  Kind kind = Kind::content;
  bool complete = false;         ///< call_end: the arguments are whole, and valid JSON
  std::uint32_t call = 0;        ///< of a call's events: its number, from 0
  std::uint32_t form = 0;        ///< call_begin: the number of its CallForm
  std::uint64_t position = 0;    ///< the first byte of `source` in the reply
  std::string_view source{};
  std::string_view text{};
  std::string_view detail{};
};
/// "content", "call_begin", …
std::string_view name_of(ReplyEvent::Kind kind);

using ReplySink = std::function<void(const ReplyEvent&)>;

/// What bounds a reader. Passing one is an event, `malformed`, and never the end of reading.
struct ReplyLimits {
  std::uint32_t depth = 256;         ///< nesting inside arguments; at most 256
  std::uint32_t name = 256;          ///< bytes of a name, an id or a header
  std::uint32_t pending = 1 << 20;   ///< bytes of a call held back: its arguments where they stand before its name
};

/// Reads a reply while it arrives.
///
/// Each byte is looked at once. Held back is what may still be the beginning of a marker, white space that may belong to
/// one, and a call until its name is known; everything else leaves with the feed() that brought it. Any bytes are a
/// reply: what is no call after all is text, and what goes wrong later is an incomplete call.
/// The format must be one that validate() accepts, as from_json() returns it.
/// A value: copies go on independently; one that was moved from can only be assigned to.   Threads: one at a time.
class ReplyParser {
 public:
  explicit ReplyParser(const ReplyFormat& format, const ReplyLimits& limits = {});
  /// Begins elsewhere than the format says, as where the prompt opened the reasoning itself.
  ReplyParser(const ReplyFormat& format, ReplyStart start, const ReplyLimits& limits = {});
  /// Reads turns of all roles, as prompts have them; the format must have turns.
  static ReplyParser of_conversation(const ReplyFormat& format, const ReplyLimits& limits = {});
  ReplyParser(const ReplyParser&);
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(const ReplyParser&);
  ReplyParser& operator=(ReplyParser&&) noexcept;
  ~ReplyParser();

  void feed(std::string_view bytes, const ReplySink& sink);
  /// Says what was held back; the parser is then at its end, and takes more bytes as trailing.
  void finish(const ReplySink& sink);
  /// How many bytes were fed and are in no event yet.
  std::size_t held() const;

  class State;

 private:
  ReplyParser();
  std::unique_ptr<State> state_;
};

/// A call of a message.
struct ReplyCall {
  std::string id;         ///< as the model wrote it, or ""
  std::string name;
  std::string arguments;  ///< JSON; a true beginning of it where the call is not complete
  bool complete = false;
};

/// What went wrong at a byte of the reply.
struct ReplyDiagnostic {
  std::uint64_t position = 0;
  std::string expected;
};

/// The message that events amount to.
class ReplyMessage {
 public:
  void add(const ReplyEvent& event);
  std::string reasoning;
  std::string content;
  std::vector<ReplyCall> calls;
  std::vector<ReplyDiagnostic> diagnostics;
  /// "tool_calls" where a call is complete, "length" where the reply ended inside a call or its reasoning, else "stop".
  std::string_view finish_reason() const;
  /// {"message": …, "finish_reason": …} as OpenAI's choices have it, with `complete` beside each call and `diagnostics`.
  std::string to_json() const;

 private:
  bool cut_ = false;     ///< the last event was inside a call or reasoning
  bool turned_ = false;  ///< a turn has begun since the last content
};

/// The whole of a prompt as the request that renders to it: {"messages": […]}, where the format has turns.
/// Fails with: value when the format has no turns, or when the text does not begin with one.
Result<std::string> read_conversation(const ReplyFormat& format, std::string_view text);

}  // namespace parlance
