// Value: one Python-like value in 16 bytes, and its kinds.
//
// A Value is a view: copying it is cheap, and it must not outlive the arena (Document, Conversation, Template or
// Workspace) that made it. Strings, lists and dicts are immutable, as in Jinja2's immutable sandbox, so many renders
// may read a Document at the same time.
//
//     for (const parlance::Value message : chat.messages().items()) {
//       if (message["role"].text() == "user") show(message["content"].text());
//     }
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace parlance {

struct ListObject;
struct DictObject;
struct DictEntry;
struct Rope;
struct BigInt;
struct Object;
struct UndefinedInfo;

/// The kinds of values. `real` is a float. `object` is every other kind of value in a template: ranges, dict views,
/// generators, macros, namespaces, bound methods, bytes. `invalid` means that an error was recorded.
enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  object,
  invalid,
};

// What a Value gives references to is in the document: those of a temporary Value are good, which GCC would warn of.
#if defined(__GNUC__) && __GNUC__ >= 14
#define PARLANCE_VIEW [[gnu::no_dangling]]
#else
#define PARLANCE_VIEW
#endif

/// One value. 16 bytes, trivially copyable.
///
/// `size` is the byte length of a string. For every other kind, `origin` is the id of the scalar or container of the
/// input from which the value was read or computed (0: none). So a number keeps its provenance.
struct PARLANCE_VIEW Value {
  Kind kind = Kind::undefined;
  std::uint8_t flags = 0;   ///< see the constants below
  std::uint16_t extra = 0;  ///< for use by the engine that runs; 0 in the values of a conversation
  union {
    std::uint32_t size = 0;  ///< string: bytes
    std::uint32_t origin;    ///< other kinds: origin id, 0 for none
  };
  union {
    std::int64_t integer = 0;        ///< integer without kBig; boolean as 0 or 1
    double real;                     ///< real: a float
    const char* data;                ///< string without kRope: UTF-8 (lone surrogates as three bytes)
    const Rope* rope;                ///< string with kRope: a concatenation of leaves
    const BigInt* big;               ///< integer with kBig: outside the range of int64
    const ListObject* list;          ///< list or tuple
    const DictObject* dict;          ///< dict
    Object* object;                  ///< object
    const UndefinedInfo* undefined;  ///< undefined: why, or null
  };

  static constexpr std::uint8_t kRope = 1;     ///< string: `rope` is set
  static constexpr std::uint8_t kMarkup = 2;   ///< string: a markupsafe.Markup
  static constexpr std::uint8_t kMissing = 4;  ///< undefined: a name that was never set (Jinja2's `missing`)
  static constexpr std::uint8_t kBig = 8;      ///< integer: `big` is set

  static Value none() { return from_words(Kind::none, 0, 0); }
  static Value invalid() { return from_words(Kind::invalid, 0, 0); }
  static Value boolean(bool b) { return from_words(Kind::boolean, 0, b); }
  static Value of_int(std::int64_t i) { return from_words(Kind::integer, 0, static_cast<std::uint64_t>(i)); }
  static Value of_list(const ListObject* list, std::uint32_t origin) {
    Value v = from_words(Kind::list, origin, 0);
    v.list = list;
    return v;
  }
  static Value of_dict(const DictObject* dict, std::uint32_t origin) {
    Value v = from_words(Kind::dict, origin, 0);
    v.dict = dict;
    return v;
  }
  static Value of_real(double d) { return from_words(Kind::real, 0, std::bit_cast<std::uint64_t>(d)); }
  /// A string that views `text`, which must stay alive and unchanged; a std::string that is a temporary does not
  /// compile. At most 4 GiB.
  static Value view(std::string_view text) {
    Value v = from_words(Kind::string, static_cast<std::uint32_t>(text.size()), 0);
    v.data = text.data();
    return v;
  }
  template <typename Text>
    requires std::same_as<std::remove_const_t<Text>, std::string>
  static Value view(Text&& text) = delete;

  /// The text of a string; "" for any other kind, and for a string that is a rope (kRope): see whole_text().
  std::string_view text() const { return is_leaf() ? std::string_view(data, size) : std::string_view(); }
  /// The items of a list or tuple; none for any other kind.
  std::span<const Value> items() const;
  /// The members of a dict in their order; none for any other kind.
  std::span<const DictEntry> members() const;
  /// The value of a dict's member by its name; undefined if there is none.
  Value operator[](std::string_view name) const;

  bool is(Kind k) const { return kind == k; }
  bool is_undefined() const { return kind == Kind::undefined; }
  bool is_none() const { return kind == Kind::none; }
  bool is_string() const { return kind == Kind::string; }
  bool is_invalid() const { return kind == Kind::invalid; }
  bool is_sequence() const { return kind == Kind::list || kind == Kind::tuple; }
  bool is_small_int() const { return kind == Kind::integer && (flags & kBig) == 0; }
  bool is_leaf() const { return kind == Kind::string && (flags & kRope) == 0; }
  bool is_markup() const { return kind == Kind::string && (flags & kMarkup) != 0; }

 private:
  /// Two words at once: compilers assemble a struct of small fields byte by byte.
  static Value from_words(Kind k, std::uint32_t size, std::uint64_t payload) {
    struct Words {
      std::uint64_t head;
      std::uint64_t payload;
    };
    constexpr bool little = std::endian::native == std::endian::little;
    std::uint64_t head =
        little ? static_cast<std::uint64_t>(k) | std::uint64_t{size} << 32 : static_cast<std::uint64_t>(k) << 56 | size;
    return std::bit_cast<Value>(Words{head, payload});
  }
};
#undef PARLANCE_VIEW
static_assert(sizeof(Value) == 16);

/// The text of a string, also of a rope: passes make one of a content's parts, for instance. "" for any other kind.
std::string whole_text(Value value);

/// A member of a dict. If the dict came from JSON, the key is a string.
struct DictEntry {
  Value key;
  Value value;
};

}  // namespace parlance
