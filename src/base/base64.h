// Base64 of the standard alphabet, read as Go's encoding/base64 does (StdEncoding): how JSON carries bytes in Go, and a
// tiktoken file its tokens.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// Appends the bytes that `text` encodes; newlines in it are skipped, padding is required. False
/// with the offset of the byte that Go complains of.
bool decode_base64(std::string_view text, std::string& out, std::size_t& wrong);

std::string encode_base64(std::string_view bytes);

}  // namespace parlance
