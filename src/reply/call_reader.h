// CallReader: where we are inside a call. Data only; the parser_….cpp files move it, one for each codec.
//
// There is one while a call is read. Begin reading at CallReader.
#pragma once
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "reply/bare_scanner.h"
#include "reply/held.h"
#include "reply/json_scanner.h"
#include "reply/python_scanner.h"
#include "reply/tools.h"

namespace parlance::reply {

/// An object, or arguments that are JSON; in a string too.
struct JsonReader {
  explicit JsonReader(std::uint32_t depth) : scanner(depth), inner(depth) {}
  JsonScanner scanner;
  JsonScanner inner;         ///< of what stands in a string
  JsonUnescape unescape;
  std::array<char, 3> tail{};  ///< the beginning of a code point
  std::uint8_t tail_size = 0;
  bool begun = false;        ///< more than blanks
  bool done = false;
  bool raw_escape = false;
};

/// What decides about a tag in a value that is held: while that is on its way, a byte more changes nothing, and what is held
/// need not be looked at anew. Small, since it is part of a state that is copied.
struct Waiting {
  enum class For : std::uint8_t { nothing, blanks, text, marker, anything };
  enum class Among : std::uint8_t { behind, over, content, key };  ///< whose markers
  std::uint16_t own = 0;      ///< in the value's own markers: the place of a longer one that begins as the tag does
  std::uint16_t place = 0;    ///< for a marker: its place; for blanks or a text: how many bytes there may still be
  std::uint8_t own_blanks = 0;
  std::uint8_t blanks = 0;
  For what = For::nothing;
  Among among = Among::behind;
};

/// Arguments in tags.
struct TagReader {
  struct Frame {
    Types::Node schema = Types::kUnknown;
    bool array = false;
    bool filled = false;
  };
  /// How the value being read leaves: as a string at once, or held while it may be something else.
  enum class Value : std::uint8_t { text, candidate, typed };
  /// What the type beside the value says.
  enum class Wire : std::uint8_t { nothing, text, typed };

  explicit TagReader(std::uint32_t depth) : probe(depth) {}
  Frame& top() { return nested && !nested->empty() ? nested->back() : arguments; }
  std::size_t depth() const { return nested ? nested->size() : 0; }

  Frame arguments;
  Box<std::vector<Frame>> nested;        ///< values that nest in them
  Types::Node schema = Types::kUnknown;  ///< of the value
  Value value = Value::text;
  Wire wire = Wire::nothing;
  bool cdata = false;
  bool whole = false;         ///< candidate: the value of JSON is over
  bool fresh = true;          ///< nothing of the value was read
  bool opens = false;         ///< the next key is the first of its value, and tells whether that is a list
  HeldText key;               ///< of the value, where its closing tag repeats it
  HeldText entity;            ///< the beginning of &lt;
  Waiting waiting;            ///< while a tag is held that may be the value's end
  JsonScanner probe;          ///< candidate: what was read so far is the beginning of JSON
};

/// An item of a section or list that went wrong: where it ends, told by its brackets, so that the next one can be read.
struct Wreck {
  bool python = false;   ///< round brackets and both quotes; else braces and double quotes
  bool escape = false;
  char quote = 0;        ///< of the text that is open
  std::uint16_t depth = 0;
  enum class Step : std::uint8_t { more, over, over_before };
  Step feed(char c, bool list);
};

struct CallReader {
  enum class At : std::uint8_t {
    list_open, list_first, list_item, list_next,  // between calls of a list
    object_open, key_or_end, key, in_key, colon, value_begin, value, comma_or_end,
    arguments_only,  // what follows is the object of arguments
    quoted,          // a short value in single quotes
    mended,          // arguments that went on as a literal of Python
  };
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);
  enum class Role : std::uint8_t { name, arguments, id, inner, constant, other };
  enum class Shape : std::uint8_t { object, text, nothing };  ///< what the arguments are written as

  At at = At::object_open;
  Role role = Role::other;
  Shape shape = Shape::object;
  std::uint8_t part = 0;         ///< of the form's call
  std::uint8_t level = 0;        ///< of the object
  std::uint8_t inner = 0;        ///< the level that the next value is
  std::uint16_t opening = 0;     ///< of lead_, the marker that began the call, which may begin one of another form
  bool committed : 1 = false;    ///< a call of this section has begun
  bool named : 1 = false;        ///< this call has begun
  bool ended : 1 = false;        ///< this call is over, but for what closes it
  bool has_arguments : 1 = false;
  bool missing : 1 = false;      ///< the arguments are left out, if the next literal follows
  bool loose : 1 = false;        ///< the section began without what opens it
  bool open_list : 1 = false;    ///< a list without its brackets
  bool silent : 1 = false;       ///< what is no call after all needs no word
  bool spoilt : 1 = false;       ///< what came of this section so far was no call, and is text
  bool mended : 1 = false;       ///< an escape of the arguments, and it was said
  bool quoted : 1 = false;       ///< a text of the object stands in single quotes
  bool stranger : 1 = false;     ///< the object has members that a call does not have
  bool bare_key : 1 = false;     ///< a key of the arguments without quotes is held
  bool bare_word : 1 = false;    ///< what may be a word of Python in the arguments is held
  bool sure : 1 = false;         ///< the marker before the arguments says that this is the form
  std::uint32_t arguments_from = 0, arguments_to = 0;  ///< in the call's beginning, where they stood before the name
  HeldText word;                 ///< a field, a key or a short value as it is written
  HeldText name;                 ///< until the call begins
  HeldText id;
  using Codec = std::variant<std::monostate, JsonReader, PythonScanner, BareScanner, TagReader, Wreck>;
  Box<Codec> codec;  ///< of the part that is read

  JsonReader& json() const { return *std::get_if<JsonReader>(&*codec); }
  PythonScanner& python() const { return *std::get_if<PythonScanner>(&*codec); }
  BareScanner& bare() { return *std::get_if<BareScanner>(&*codec); }
  TagReader& tags() const { return *std::get_if<TagReader>(&*codec); }
  /// What tells the end of an item that went wrong, or null where only markers do.
  Wreck* wreck() const { return codec ? std::get_if<Wreck>(&*codec) : nullptr; }
  bool has_tags() const { return codec && std::holds_alternative<TagReader>(*codec); }
};

}  // namespace parlance::reply
