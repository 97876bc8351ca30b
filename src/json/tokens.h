// TokenReader: the fast JSON reader, from tokens to values in one pass.
//
// simdjson's first stage (Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019) checks UTF-8 and finds
// where each bracket, comma, colon, string, number and word begins. Its second stage would copy all of that to a tape;
// this one makes Values at once, and strings are views of the text itself. Where simdjson is not linked, the text
// itself is the source of tokens (token_source.h). Begin reading at TokenReader::read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "json/read.h"
#include "parlance/value.h"
#include "value/dict.h"

namespace parlance {

/// Reads what is beyond doubt: JSON as RFC 8259 has it, integers of 64 bits, finite doubles. Refuses all else, right or
/// wrong, and leaves it to LenientReader.
class TokenReader {
 public:
  /// An open container: where its values begin on the stack, and what belongs to the one around it.
  struct Level {
    Value* first;
    std::uint64_t keys;    ///< bits of the keys so far, in the container around
    std::uint32_t origin;  ///< its own id
    bool in_dict;          ///< is the container around a dict?
    bool repeats;          ///< may that have equal keys?
  };
  /// What a text holds at most.
  struct Most {
    std::size_t values;  ///< and keys
    std::size_t containers;
  };
  struct Input {
    char* text;  ///< followed by JsonReader::kPadding bytes of zero
    std::size_t size;
    Most most;
    const std::uint32_t* tokens = nullptr;  ///< offsets; one more follows them, the size of the text. Null: not known
    std::uint32_t count = 0;
  };
  /// What a text of so many tokens holds: each value has one of its own, a container two.
  static Most most_of(std::uint32_t tokens) { return {tokens, tokens / 2}; }
  /// What a text holds, by the characters that stand before values.
  static Most most_of(std::string_view text);
  /// Bytes of memory that containers and their values take.
  static std::size_t bytes_for(const Most& most) {
    return (most.values + 1) * sizeof(Value) + (most.containers + 1) * sizeof(DictObject);
  }
  /// Bytes that reading takes besides, and nothing that was read. A value stands on the stack first. A bracket is a
  /// token, and opens one container at most.
  static std::size_t scratch_for(const Most& most) {
    static_assert(sizeof(Value) % alignof(Level) == 0);
    return (most.values + 1) * sizeof(Value) + std::min<std::size_t>(most.values + 1, kJsonDepth) * sizeof(Level);
  }

  /// `memory` has bytes_for(input.most), and `scratch` has scratch_for() it. `repeats` becomes true where a dict has a
  /// key twice.
  TokenReader(const Input& input, char* memory, char* scratch, Arena& arena, bool& repeats)
      : input_(input),
        memory_(memory),
        stack_(reinterpret_cast<Value*>(scratch)),
        levels_(reinterpret_cast<Level*>(stack_ + input.most.values + 1)),
        arena_(arena),
        repeats_(repeats) {}

  /// Whether read() would succeed. Writes nothing to the text.
  bool accepts() const;
  /// Reads the text; its escapes are decoded where they stand. False for what is refused, and then the text may be
  /// spoilt. `origin` is the first id to give and becomes the first not given.
  bool read(Value& root, std::uint32_t& origin) const;

 private:
  template <bool kWrite, typename Tokens>
  class Run;
  template <bool kWrite>
  bool run(Value& root, std::uint32_t& origin) const;

  Input input_;
  char* memory_;  ///< of containers
  Value* stack_;  ///< of values, and keys before theirs
  Level* levels_;
  Arena& arena_;
  bool& repeats_;
};

}  // namespace parlance
