// Text encodings that str.encode and bytes.decode know: the Unicode ones, ASCII, Latin-1, cp1252.
//
// Rules: CPython 3.11 Lib/encodings (names), Objects/unicodeobject.c (what is malformed, and how
// many bytes of it), Python/codecs.c (error handlers). Begin reading at encode_text and
// decode_bytes.
#pragma once
#include <string>
#include <string_view>

#include "engine/call.h"

namespace parlance::jinja {

/// Encodes `text` as call's receiver; false with the failure recorded: lookup for an unknown
/// encoding or handler, unicode_encode for a character that does not fit.
bool encode_text(const Call& call, std::string_view text, std::string_view encoding, std::string_view errors,
                 std::string& out);
/// The way back; fails with lookup, unicode_decode, or type (a handler that cannot decode).
bool decode_bytes(const Call& call, std::string_view bytes, std::string_view encoding, std::string_view errors,
                  std::string& out);
/// Records that the first character of `text` UTF-8 cannot hold, a surrogate, is one.
void fail_surrogate(const Call& call, std::string_view text);

}  // namespace parlance::jinja
