// The JSON reader: text to values as Python's json module reads it, with buffers that are kept for
// the next text.
//
// index.cpp finds the tokens; tokens.cpp makes values of them in one pass. What those two refuse goes
// to lenient.cpp, which accepts what json.loads accepts and words failures as it does. Begin
// reading at JsonReader::read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "parlance/result.h"
#include "value/runtime.h"

namespace parlance {

class TokenReader;

/// Containers nest at most this deep, as CPython's default recursion limit has it.
inline constexpr std::uint32_t kJsonDepth = 1000;

/// Reads one text at a time. All values of a text live until the next one is read: containers in
/// the reader's block, strings where they stand in its copy of the text, big integers and dict
/// indexes in the arena. After the first text of some size, texts of that size cost no allocation.
class JsonReader {
 public:
  JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;
  ~JsonReader();

  /// Bytes that follow the reader's copy of a text.
  static constexpr std::size_t kPadding = 64;

  /// The value of `text`. Every container and every scalar but strings gets the next origin id, in
  /// document order; `next_origin` is the first to give and becomes the first not given.
  Result<Value> read(std::string_view text, Arena& arena, std::uint32_t& next_origin, std::string_view name);
  /// read() without copying the text, which is the reader's from now on.
  Result<Value> consume(std::string text, Arena& arena, std::uint32_t& next_origin, std::string_view name);
  /// The memory that holds all string bytes of the latest text (and more).
  std::string_view strings() const { return strings_; }
  /// Does a dict of the latest text have a key twice?
  bool repeats() const { return repeats_; }

 private:
  struct Buffers;
  struct Scratch;
  Scratch& scratch();
  bool index(Scratch& scratch) const;
  TokenReader token_reader(Scratch& scratch, Arena& arena);
  Result<Value> read_leniently(std::string_view text, Arena& arena, std::uint32_t& next_origin, std::string_view name);

  std::unique_ptr<Buffers> buffers_;
  std::string_view strings_;
  bool repeats_ = false;
};

/// json.loads(source) for a string met at run time, such as arguments given as text: values in the
/// arena of `rt`, which outlive everything of the reader's. Strings are views of `source` where it
/// is a leaf and they have no escapes, otherwise text derived from it. Containers and numbers get
/// the origin id `origin`. Fails with json as JsonReader does, without recording that in `rt`;
/// limits are recorded there too. `repeats`, if given, becomes true where a dict has a key twice.
Result<Value> read_json_into(Runtime& rt, Value source, std::uint32_t origin = 0, bool* repeats = nullptr);
/// The same, but containers and scalars get the next origin id each, as JsonReader gives them.
Result<Value> read_json_numbered(Runtime& rt, Value source, std::uint32_t& next_origin, bool* repeats = nullptr);

}  // namespace parlance
