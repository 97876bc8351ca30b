// JsonIndex: where the tokens of a JSON text are, found by simdjson.
//
// A program may be linked without it, if it defines these members itself and says that it is not there: the text is
// then scanned (token_source.h). The command does so, where simdjson would be a shared library to load. Leans on
// nothing. Begin reading at JsonIndex::find.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

namespace parlance {

class JsonIndex {
 public:
  JsonIndex();
  JsonIndex(const JsonIndex&) = delete;
  JsonIndex& operator=(const JsonIndex&) = delete;
  ~JsonIndex();

  static bool is_there();
  /// Indexes a text that is followed by JsonReader::kPadding bytes. False if simdjson finds fault with its strings or
  /// bytes.
  bool find(std::string_view padded);
  /// Offsets of the tokens, and behind them the size of the text.
  const std::uint32_t* tokens() const { return tokens_; }
  std::uint32_t count() const { return count_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  const std::uint32_t* tokens_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace parlance
