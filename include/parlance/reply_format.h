// ReplyFormat: how a model writes its replies, as plain data.
//
//     {"prompt": "<|im_start|>assistant\n",
//      "reasoning": {"open": "<think>\n", "close": "\n</think>\n\n"},
//      "calls": [{"call": ["<tool_call>\n", {"object": {"name": "name", "arguments": "arguments"}}, "\n</tool_call>"],
//                 "separator": "\n"}],
//      "end": ["<|im_end|>"]}
//
// Three parts read a format: ReplyParser (reply.h), the grammars (grammar.h) and the stop set. derive() (derive.h)
// makes one from a template. docs/reply-format.md explains each field with examples.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

/// A text that separates the parts of a reply, with the white space that the model writes around it.
///
/// `before` and `after` are that white space. If it occurs, it belongs to the marker and not to the content; the reader
/// also accepts a part of it (a suffix of `before`, a prefix of `after`). White space inside a text is optional too:
/// "</a>\n</b>" also matches "</a></b>". A marker without texts means that the format has no such marker. In JSON a
/// string is enough: its outer white space becomes `before` and `after`.
struct ReplyMarker {
  std::vector<std::string> texts{};  ///< the model was trained on the first; the reader accepts all
  std::string before{};
  std::string after{};
  /// Further spellings that are accepted but never written. A `*` in them matches any text of at most 64 bytes without
  /// `<` and newlines, so that a header may hold any name: "<|channel|>final*<|message|>". A `<` must follow the `*`.
  std::vector<std::string> loose{};
  /// Only where a marker opens reasoning, content or calls: spellings that lack a part of it, "<|channel|>analysis".
  /// The reader accepts them with a diagnostic where no longer spelling fits, and with them a blank that follows.
  std::vector<std::string> faulty{};
  bool exists() const { return !texts.empty(); }
  bool operator==(const ReplyMarker&) const = default;
};

/// A member of the JSON object that is a call.
///
/// In JSON, an object maps keys to roles, in the order in which the model writes them: {"id": "id", "name": "name",
/// "parameters": "arguments", "type": {"constant": "function"}, "function": {"name": "name", …}, "{name}":
/// "arguments"}. A second key with the role of an earlier one is accepted but never written.
struct CallMember {
  enum class Role : std::uint8_t {
    name,
    arguments,
    id,
    constant,  ///< always the same value
    inner,     ///< an object with members that have roles themselves
    any_name,  ///< the key itself is the name of the tool, its value the arguments; `key` is empty
  };
  Role role = Role::name;
  std::string key{};
  std::string constant{};             ///< constant: its value as JSON
  std::vector<CallMember> members{};  ///< inner
  bool operator==(const CallMember&) const = default;
};

/// How a name or a key inside a tag's attribute escapes the characters that would end it.
enum class TextEscape : std::uint8_t {
  none,
  attribute,  ///< &amp; and &quot;
  xml,        ///< these, &lt; and &gt;
};

/// A tag for each argument: open KEY key_close [TYPE type_close] VALUE close.
struct ArgumentTags {
  enum class Escape : std::uint8_t { none, xml, cdata };
  enum class Style : std::uint8_t {
    json,
    python,
    text,  ///< JSON where the tool's schema has a type for the value, else a string. To the grammar this is json
  };
  ReplyMarker open{};
  ReplyMarker key_close{};
  ReplyMarker type_close{};  ///< if it exists, the reply states the value's type, between key and value
  ReplyMarker close{};
  ReplyMarker whole{};                       ///< if it exists, all arguments may follow it as one JSON object
  std::string close_end{};                   ///< if not "", the closing tag repeats the key: close KEY close_end
  std::string item{};                        ///< if not "", values may be nested tags, and items of lists have this key
  std::vector<std::string> string_types{};   ///< with type_close: the types whose value is a plain string
  Escape escape = Escape::none;              ///< how strings escape markup: &lt; or <![CDATA[…]]>
  TextEscape key_escape = TextEscape::none;  ///< how keys escape markup
  Style style = Style::json;                 ///< how values other than strings are written
  /// Text between the tags means nothing, and the first closing tag in a value closes it. The reader alone obeys this.
  bool text_between = false;
  bool operator==(const ArgumentTags&) const = default;
};

/// How arguments are written.
struct CallArguments {
  enum class Codec : std::uint8_t {
    json,      ///< a JSON object, or a JSON string that holds one
    tags,      ///< a tag for each argument
    keywords,  ///< keyword arguments of a Python call, whose values are literals
    bare,      ///< an object whose keys have no quotes and whose strings are enclosed in `quote`, without escapes
    code,      ///< source code, unquoted, which becomes the value of one argument
  };
  Codec codec = Codec::json;
  bool as_text = false;  ///< json: the model writes a JSON string that contains the object
  /// keywords: the text before the parenthesis, e.g. "tool_call"; after a name part, the text between, e.g. ".call"
  std::string callee{};
  std::string quote{};     ///< bare
  std::string argument{};  ///< code: the argument whose value the source code becomes
  ArgumentTags tags{};
  bool operator==(const CallArguments&) const = default;
};

/// One part of a call's text. In JSON, a literal is a marker; any other part is an object with one member: {"name":
/// true}, or {"name": ESCAPE}, {"id": PATTERN}, {"skip": true}, {"object": {…}}, {"arguments": CODEC}; a second member
/// may be {"before": TEXT}.
struct CallPart {
  enum class Kind : std::uint8_t {
    literal,
    name,    ///< the name of the tool, up to the next literal. A second name part repeats the same name
    id,      ///< the id, up to the next literal
    skip,    ///< text without meaning, up to the next literal
    object,  ///< a JSON object with the name, the arguments and other `members`
    arguments,
  };
  Kind kind = Kind::literal;
  ReplyMarker literal{};
  /// id: its pattern. "": any id. Otherwise {0} or {1} stands for the number of the call, counted from 0 or 1, and
  /// {name} for the tool's name.
  std::string pattern{};
  TextEscape escape = TextEscape::none;  ///< name
  std::vector<CallMember> members{};     ///< object
  CallArguments arguments{};             ///< arguments, and those inside of an object
  /// White space that the model writes before this part, if no literal includes it. The reader accepts any.
  std::string before{};
  bool operator==(const CallPart&) const = default;
};

/// How several calls are grouped.
enum class CallLayout : std::uint8_t {
  single,   ///< each call on its own
  section,  ///< one after the other between `open` and `close`
  list,     ///< in [ ], with commas, between `open` and `close` if they exist
};

/// One way in which calls are written. A format may have several.
struct CallForm {
  std::vector<CallPart> call{};  ///< single: begins with a literal, unless it is `initial` or `headed`
  CallLayout layout = CallLayout::single;
  ReplyMarker open{};  ///< of a section or list
  ReplyMarker close{};
  std::string separator{};       ///< what the model writes between two calls; the reader accepts any white space
  bool commas_optional = false;  ///< list: the commas may be missing
  bool open_optional = false;    ///< a call may also come without `open`
  bool close_optional = false;   ///< closing markers may be missing, anywhere
  bool initial = false;          ///< only at the beginning of content; if tools are known, only with the name of one
  bool declared_only = false;    ///< the opening marker is ordinary text: it is content unless a tool's name follows
  bool headed = false;           ///< the call begins in the header of a turn, and the header is its name
  std::string header{};          ///< headed: the only header for this form; "": any header
  std::string name{};            ///< if not "", the one tool that this form calls; the reply does not have the name
  /// For forms that begin alike: the content type in the marker before the arguments, "json" in
  /// `<|constrain|>json<|message|>`. If it matches, this form is chosen. "": the form has none.
  std::string content_type{};
  std::string result_open{};   ///< the text before the result of such a call, in its turn
  std::string result_close{};  ///< the text after it
  /// The model was trained on arguments sorted by name, not in the order of declaration. The reader accepts any order.
  bool sorted = false;
  std::string id_pattern{};  ///< object: the pattern of the id, as CallPart::pattern
  bool operator==(const CallForm&) const = default;
};

/// A turn of a conversation as text: a marker, a header up to `header_close`, then text.
struct ReplyTurn {
  std::string role{};
  ReplyMarker open{};
  std::string header_close{};  ///< "": no header
  std::string raw_role{};      ///< the role of a message whose text is not the result of a call; "": `role`
  /// A space follows header_close: SentencePiece's dummy prefix. The reader also accepts the text without it.
  bool dummy_prefix = false;
  bool operator==(const ReplyTurn&) const = default;
};

/// How a model writes its replies. Plain data: compare, copy and store it as you like.
struct ReplyFormat {
  /// The end of the prompt, from the assistant's turn on; the reply continues it. If it ends with `<think>`, the reply
  /// begins inside reasoning; with `<think></think>` it does not. It may end inside a marker.
  std::string prompt{};
  ReplyMarker reasoning_open{};
  ReplyMarker reasoning_close{};
  bool calls_end_reasoning = false;         ///< an opening marker inside reasoning begins a call; false: it is text
  bool calls_end_opened_reasoning = false;  ///< the same, but only inside reasoning that the prompt has opened
  ReplyMarker content_open{};               ///< if content has markers of its own
  ReplyMarker content_close{};
  std::vector<CallForm> calls{};
  /// Text that is neither reasoning nor in a call nor between the markers of content means nothing. The reader alone
  /// obeys this.
  bool drops_other_text = false;
  bool text_behind_calls = false;  ///< the model writes calls first, then content
  bool parallel = true;            ///< a reply may have more than one call; the reader always accepts several
  std::vector<ReplyMarker> end{};  ///< each ends the reply
  /// Each of these texts ends the reply if nothing follows it, else it is text. For tokens that may or may not end a
  /// reply.
  std::vector<std::string> last{};
  /// Texts that are control tokens. When a reply is fed as tokens, a marker that contains one matches only if that text
  /// is exactly one token, fed as a control token. When it is fed as bytes, the text is enough.
  std::vector<std::string> control{};
  std::string prefix{};            ///< what may come before the first turn of a conversation
  std::vector<ReplyTurn> turns{};  ///< an assistant's turn continues the reply, any other ends it

  /// Reads and validates a format.
  /// Fails with: json (place); value if a member is unknown, has the wrong type or contradicts another (path).
  static Result<ReplyFormat> from_json(std::string_view text, std::string_view name = "<format>");
  /// The same format for a reader that is fed tokens: `control` also has those of `tokens`, the texts of the
  /// tokenizer's control tokens (Tokenizer::control_texts()), that stand in the format or are one of `ends`
  /// (ReplyOptions::ends). A marker that the model only spells out in ordinary tokens is text then.
  ReplyFormat with_control(std::span<const std::string> tokens, std::span<const std::string> ends = {}) const;
  /// Writes JSON that from_json reads as an equal format. Members with their default are left out.
  std::string to_json() const;
  /// Checks that a parser can use it: markers can be distinguished, and each form has all required parts.
  /// Fails with: value (path of the field).
  Result<void> validate() const;
  bool operator==(const ReplyFormat&) const = default;
};

}  // namespace parlance
