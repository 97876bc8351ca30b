// GGUF files for tests, byte by byte: well-formed, and damaged at a place of one's choice.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlance {

/// Writes a header; every part can be written by itself, so that nonsense can be written too.
class GgufMaker {
 public:
  enum Type : std::uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

  explicit GgufMaker(std::uint32_t version = 3, bool big_endian = false) : version_(version), big_endian_(big_endian) {}

  GgufMaker& pair(std::string_view key, Type type) {
    ++pairs_;
    return text(key).number(type, 4);
  }
  GgufMaker& string(std::string_view key, std::string_view value) { return pair(key, kString).text(value); }
  GgufMaker& u32(std::string_view key, std::uint64_t value) { return pair(key, kU32).number(value, 4); }
  GgufMaker& flag(std::string_view key, std::uint64_t value) { return pair(key, kBool).number(value, 1); }
  GgufMaker& strings(std::string_view key, const std::vector<std::string>& values) {
    pair(key, kArray).number(kString, 4).number(values.size(), 8);
    for (const std::string& value : values) text(value);
    return *this;
  }
  GgufMaker& text(std::string_view value) {
    number(value.size(), 8);
    body_ += value;
    return *this;
  }
  GgufMaker& number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (big_endian_ ? size - 1 - i : i);
      body_ += static_cast<char>(value >> shift & 0xff);
    }
    return *this;
  }
  GgufMaker& claim_pairs(std::uint64_t count) {
    pairs_ = count;
    return *this;
  }
  std::string bytes() const {
    GgufMaker head(version_, big_endian_);
    head.number(version_, 4).number(0, 8).number(pairs_, 8);
    return "GGUF" + head.body_ + body_;
  }

 private:
  std::uint32_t version_;
  bool big_endian_;
  std::uint64_t pairs_ = 0;
  std::string body_;
};

}  // namespace parlance
