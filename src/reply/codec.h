// What there is to know about each notation of arguments besides how it is read, written and recognised. Begin reading
// at facts_of: a codec without its row is a warning.
#pragma once
#include <cstdint>
#include <string_view>

#include "parlance/reply_format.h"

namespace parlance::reply {

/// What tells where arguments are over.
enum class ArgumentsEnd : std::uint8_t {
  bracket,           ///< their own last one
  literal,           ///< the literal behind them
  literal_or_reply,  ///< it, or the end of the reply where none stands there
};

struct CodecFacts {
  std::string_view key{};  ///< in a format's JSON
  /// The bytes with which arguments may begin, so that a name ends before them; the first is what the model is taught.
  /// Empty: any byte, so a literal must stand before them. (Arguments in tags may also begin with a tag.)
  std::string_view begins{};
  ArgumentsEnd end = ArgumentsEnd::bracket;
  bool quotes_text = true;             ///< a text within stands between quotes
  bool counts_round_brackets = false;  ///< where they go wrong, they end with the bracket that closes the first one
};

constexpr CodecFacts facts_of(CallArguments::Codec codec) {
  using Codec = CallArguments::Codec;
  switch (codec) {
    case Codec::json: return {"json", "{\""};
    case Codec::tags: return {"tags", "{", ArgumentsEnd::literal, false};
    case Codec::keywords: return {"keywords", "(", ArgumentsEnd::bracket, true, true};
    case Codec::bare: return {"bare", "{"};
    // Formats that have programs have JSON as well.
    case Codec::code: return {"code", "", ArgumentsEnd::literal_or_reply};
  }
  return {};  // beyond the last one
}

}  // namespace parlance::reply
