// The wire format of protocol buffers: a message is a list of numbered fields. Bounds are checked,
// nothing is copied.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance {

/// One field of a message.
struct WireField {
  std::uint64_t number = 0;
  enum Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 } type = varint;
  std::uint64_t value = 0;  ///< of a varint or fixed number
  std::string_view text;    ///< of bytes
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : begin_(message.data()), at_(begin_), end_(begin_ + message.size()) {}

  /// The next field; false at the end, and where the message is broken.
  bool next(WireField& field) {
    if (at_ == end_) return false;
    std::uint64_t tag = 0;
    good_ = varint(tag) && tag >> 3 != 0 && value(field, static_cast<unsigned>(tag & 7));
    field.number = tag >> 3;
    return good_;
  }
  bool good() const { return good_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  bool value(WireField& field, unsigned type) {
    field.type = static_cast<WireField::Type>(type);
    field.text = {};
    switch (type) {
      case WireField::varint: return varint(field.value);
      case WireField::fixed64: return fixed(field.value, 8);
      case WireField::bytes: return varint(field.value) && take(field.text, field.value);
      case WireField::fixed32: return fixed(field.value, 4);
      default: return false;
    }
  }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fixed(std::uint64_t& value, std::size_t size) {
    std::string_view bytes;
    if (!take(bytes, size)) return false;
    value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return true;
  }
  bool take(std::string_view& bytes, std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) return false;
    bytes = {at_, static_cast<std::size_t>(size)};
    at_ += size;
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool good_ = true;
};

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
inline void append_number(std::string& out, unsigned field, std::uint64_t value) {
  append_varint(out, std::uint64_t{field} << 3 | WireField::varint);
  append_varint(out, value);
}
inline void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_varint(out, std::uint64_t{field} << 3 | WireField::bytes);
  append_varint(out, bytes.size());
  out.append(bytes);
}

}  // namespace parlance
