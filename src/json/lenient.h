// The second JSON reader: slow, and exactly as strict as json.loads of CPython 3.11. Used for what
// TokenReader refuses, and for texts whose strings must keep their provenance.
//
// Begin reading at LenientReader::read in lenient.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "value/runtime.h"

namespace parlance {

/// What a text of JSON failed with, before anybody asks for lines and columns.
struct JsonFailure {
  ErrorCode code = ErrorCode::json;
  std::string message;
  std::size_t offset = 0;
};

class LenientReader {
 public:
  struct Options {
    /// Where string bytes go, in document order: at least text.size() + 1 bytes. Null: into the
    /// arena, logged as derived from `source`.
    char* buffer = nullptr;
    /// The string whose text is read.
    Value source;
    /// Strings without escapes are views of the text.
    bool share = false;
    /// Give each value the next origin id; otherwise all get `next_origin` itself.
    bool count_origins = true;
  };

  LenientReader(std::string_view text, Runtime& rt, std::uint32_t& next_origin, Options options)
      : text_(text), rt_(rt), next_origin_(next_origin), options_(options), out_(options.buffer) {}

  /// The value of the whole text; invalid after a failure.
  Value read();
  const JsonFailure& failure() const { return failure_; }
  /// Did a dict have a key twice?
  bool repeats() const { return repeats_; }

 private:
  /// An open container: where its values begin on values_, and the number it was given.
  struct Open {
    Kind kind;
    std::uint32_t origin;
    std::size_t first;
  };

  bool check_bytes();
  bool read_values();
  bool read_one();
  bool finish_value();
  bool open(Kind kind);
  bool close();
  bool read_key();
  bool read_string();
  bool decode_string(std::size_t begin, char*& out);
  bool read_escape(std::size_t begin, char*& out);
  bool read_unicode_escape(char*& out);
  bool read_unit(std::size_t first_digit, std::uint32_t& unit);
  void skip_plain();
  std::size_t raw_size() const;
  bool read_number();
  bool read_integer(std::string_view digits, bool negative);
  bool read_word();
  bool push_scalar(Value v);
  bool push(Value v);
  bool fail(std::string_view message, std::size_t offset, ErrorCode code = ErrorCode::json);
  bool fail_as_runtime(std::size_t offset);
  bool fail_memory();
  void skip_space();
  bool at(char c) const { return pos_ < text_.size() && text_[pos_] == c; }
  bool digit_at(std::size_t i) const { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; }
  void skip_digits() {
    while (digit_at(pos_)) ++pos_;
  }
  std::uint32_t origin() { return options_.count_origins ? next_origin_++ : next_origin_; }

  std::string_view text_;
  Runtime& rt_;
  std::uint32_t& next_origin_;
  Options options_;
  std::size_t pos_ = 0;
  char* out_;
  std::vector<Value> values_;
  std::vector<Open> open_;
  JsonFailure failure_;
  bool repeats_ = false;
};

}  // namespace parlance
