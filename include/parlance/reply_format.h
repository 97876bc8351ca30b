// How a model writes its replies, as plain data: ReplyFormat and what it is made of.
//
//     {"prompt": "<|im_start|>assistant\n",
//      "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"},
//      "calls": [{"call": ["<tool_call>\n", {"object": {"name": "name", "arguments": "arguments"}}, "\n</tool_call>"],
//                 "separator": "\n"}],
//      "end": ["<|im_end|>"]}
//
// One format has three readers: ReplyParser (reply.h), the grammars (grammar.h) and the stop set. derive() (derive.h)
// makes it of a template. Nothing here knows a template or an engine. docs/reply-format.md explains each field.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

/// A text that separates the parts of a reply, with the white space the model puts around it.
///
/// `before` and `after` are framing: they belong to the marker where they are there, and any ending of `before` or
/// beginning of `after` will do. White space inside a text is soft in the same way: "</a>\n</b>" also reads "</a></b>".
/// A marker without texts does not exist in the format. In JSON a string is enough: its outer white space is framing.
struct ReplyMarker {
  std::vector<std::string> texts{};  ///< the first is what the model is taught; the others are read too
  std::string before{};
  std::string after{};
  /// Further ways that are read and never written, in which `*` is any text of at most 64 bytes without `<` or line ends, so
  /// that a header may name what it likes: "<|channel|>final*<|message|>". A `<` follows the `*`.
  std::vector<std::string> loose{};
  bool exists() const { return !texts.empty(); }
  bool operator==(const ReplyMarker&) const = default;
};

/// A member of the JSON object that is a call.
///
/// In JSON an object's keys give roles, in the order in which the model writes them: {"id": "id", "name": "name",
/// "parameters": "arguments", "type": {"constant": "function"}, "function": {"name": "name", …}, "{name}": "arguments"}.
/// A second key with the role of an earlier one is read too, and never written.
struct CallMember {
  enum class Role : std::uint8_t {
    name,
    arguments,
    id,
    constant,   ///< always the same value
    inner,      ///< an object with members that have roles themselves
    any_name,   ///< the key itself is the name, its value the arguments; `key` is empty
  };
  Role role = Role::name;
  std::string key{};
  std::string constant{};             ///< constant: its value as JSON
  std::vector<CallMember> members{};  ///< inner
  bool operator==(const CallMember&) const = default;
};

/// How a name or a key that stands in an attribute hides what would end it.
enum class TextEscape : std::uint8_t {
  none,
  attribute,  ///< &amp; and &quot;
  xml,        ///< these, &lt; and &gt;
};

/// Arguments that stand in tags of their own: open KEY key_close [TYPE type_close] VALUE close.
struct ArgumentTags {
  enum class Escape : std::uint8_t { none, xml, cdata };
  enum class Style : std::uint8_t { json, python };
  ReplyMarker open{};
  ReplyMarker key_close{};
  ReplyMarker type_close{};                 ///< exists: the wire says the type, between key and value
  ReplyMarker close{};
  ReplyMarker whole{};                      ///< exists: in place of all tags, JSON may follow it; the call's end follows that
  std::string close_end{};                  ///< not "": the closing tag repeats the key: close KEY close_end
  std::string item{};                       ///< not "": values nest as tags too, and the items of lists have this key
  std::vector<std::string> string_types{};  ///< with type_close: the types whose value is a string as it is
  Escape escape = Escape::none;             ///< how strings hide markup: &lt; or <![CDATA[…]]>
  TextEscape key_escape = TextEscape::none; ///< how keys hide it
  Style style = Style::json;                ///< how values that are no strings are written
  bool operator==(const ArgumentTags&) const = default;
};

/// How arguments are written.
struct CallArguments {
  enum class Codec : std::uint8_t {
    json,      ///< a JSON object, or a JSON string that holds one
    tags,      ///< a tag for each argument
    keywords,  ///< keyword arguments of a Python call in brackets, whose values are literals
    bare,      ///< an object whose keys have no quotes and whose strings stand between `quote`, without escapes
    code,      ///< a program as it is, which becomes the value of one argument
  };
  Codec codec = Codec::json;
  bool as_text = false;    ///< json: the model writes a string that holds the object
  std::string callee{};    ///< keywords: what stands before the bracket, e.g. "tool_call"; "" where a name part does
  std::string quote{};     ///< bare
  std::string argument{};  ///< code: the argument that the program becomes
  ArgumentTags tags{};
  bool operator==(const CallArguments&) const = default;
};

/// One element of a call as it stands in the text. In JSON a literal is a marker, the others an object with one member:
/// {"name": true}, or {"name": ESCAPE}, {"id": PATTERN}, {"skip": true}, {"object": {…}}, {"arguments": CODEC}; a second member
/// may be {"before": TEXT}.
struct CallPart {
  enum class Kind : std::uint8_t {
    literal,
    name,       ///< the name of the tool, up to the literal that follows. A second one repeats it
    id,         ///< the id, up to the literal that follows
    skip,       ///< text without meaning, up to the literal that follows
    object,     ///< a JSON object that holds name, arguments and what `members` says
    arguments,
  };
  Kind kind = Kind::literal;
  ReplyMarker literal{};
  /// id: what computes it. "" is free; else a text with {0} or {1}, the number of the call counted from there, and {name}.
  std::string pattern{};
  TextEscape escape = TextEscape::none;  ///< name
  std::vector<CallMember> members{};     ///< object
  CallArguments arguments{};          ///< arguments, and those inside of an object
  /// White space that the model writes before the part, where no literal has it. Reading takes any.
  std::string before{};
  bool operator==(const CallPart&) const = default;
};

/// How calls that follow each other stand together.
enum class CallLayout : std::uint8_t {
  single,   ///< each stands for itself
  section,  ///< one after the other between `open` and `close`
  list,     ///< in [ ], with commas, between `open` and `close` if they exist
};

/// One way in which calls are written. A format may have several.
struct CallForm {
  std::vector<CallPart> call{};  ///< single: begins with a literal, unless it is `initial` or `headed`
  CallLayout layout = CallLayout::single;
  ReplyMarker open{};            ///< of a section or list
  ReplyMarker close{};
  std::string separator{};       ///< what a model writes between two calls; in reading any white space will do
  bool commas_optional = false;  ///< list: the calls may follow each other without commas
  bool open_optional = false;    ///< a call may also come without `open`
  bool close_optional = false;   ///< what closes may be missing, at the end of the reply or before anything else
  bool initial = false;          ///< only at the beginning of the answer, and only of a declared tool if tools are known
  bool declared_only = false;    ///< the opening is no distinctive text: what names no declared tool is text
  bool headed = false;           ///< the call begins in the header of a turn, and the header is its name
  std::string header{};          ///< headed: the one header that means this form; "": any name
  std::string name{};            ///< not "": the one tool that this form calls, without saying its name
  /// Of forms that begin alike: the word at the end of the marker before the arguments that says this one, "json" in
  /// `<|constrain|>json<|message|>`. "": none does.
  std::string content_type{};
  std::string result_open{};     ///< what stands before and behind the result of such a call, in its turn
  std::string result_close{};
  /// The model was taught arguments in the order of their names, whatever order tools declare. Reading takes any order.
  bool sorted = false;
  std::string id_pattern{};      ///< object: as CallPart::pattern, of the member with the id
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
struct ReplyFormat {
  /// What the prompt ends with, from the assistant's turn on: a reply goes on from there. `<think>` in it begins in
  /// reasoning, `<think></think>` does not; it may end inside a marker.
  std::string prompt{};
  ReplyMarker reasoning_open{};
  ReplyMarker reasoning_close{};
  bool calls_end_reasoning = false;         ///< an opener inside reasoning begins a call; else it is text
  bool calls_end_opened_reasoning = false;  ///< the same inside reasoning that the prompt has left open, and only there
  ReplyMarker content_open{};        ///< where the answer stands in markers of its own
  ReplyMarker content_close{};
  std::vector<CallForm> calls{};
  bool text_behind_calls = false;    ///< the answer stands behind the calls beside it
  bool parallel = true;              ///< a reply may hold more than one call; reading takes more in any case
  std::vector<ReplyMarker> end{};    ///< each ends the reply
  /// Each ends the reply where nothing follows it, and is text elsewhere: tokens that may end a sequence, where nothing tells which does.
  std::vector<std::string> last{};
  /// Texts that are control tokens. A marker that holds one counts, where pieces are fed as tokens, only if each such
  /// text in it is exactly one piece that was fed as a control token. Bytes alone are matched without that.
  std::vector<std::string> control{};
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

}  // namespace parlance
