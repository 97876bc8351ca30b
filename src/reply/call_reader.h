// CallReader: where we are inside a call that is a JSON object, or in a list of such. Data only; parser_call.cpp moves it.
#pragma once
#include <string>

#include "reply/json_scanner.h"
#include "reply/text_codec.h"

namespace parlance::reply {

struct CallReader {
  enum class At : std::uint8_t {
    list_open, list_first, list_item, list_next,  // between calls of a list
    object_open, key_or_end, key, in_key, colon, value_begin, value, comma_or_end,
    arguments_only,  // the name stood in the header: what follows is the object of arguments
  };
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);
  enum class Role : std::uint8_t { name, arguments, id, other };
  enum class Shape : std::uint8_t { object, text, nothing };  ///< what the arguments are written as

  At at = At::object_open;
  Role role = Role::other;
  Shape shape = Shape::object;
  bool committed = false;        ///< a call of this section has begun
  bool named = false;            ///< this call has begun
  bool has_arguments = false;
  bool text_begun = false;       ///< a text of arguments has more than blanks
  bool text_done = false;
  bool raw_escape = false;
  std::size_t arguments_from = 0, arguments_to = 0;  ///< in what is held, where they stood before the name
  std::string word;              ///< a key or short value as it is written
  std::string id;
  std::string text_tail;         ///< of arguments in a string: the beginning of a code point
  JsonScanner scanner;
  JsonScanner inner;             ///< of arguments that are JSON in a string
  JsonUnescape unescape;
};

}  // namespace parlance::reply
