// What `str.encode` gives. Nobody needs to read this folder: it is apart so that the rest is shorter.
//
// A template meets bytes only where it calls `.encode()`, and no chat template that we know does. They are here because
// Python has them, and what is here is held against CPython by tests/oracle/method_oracle.py. In this folder:
//
//     methods_bytes.cpp       the type, and the methods that bytes have of their own
//     methods_bytes_text.cpp  the methods that they share with texts
//     codecs.h                encodings and error handlers: `encode`, `decode`
#pragma once
#include <span>
#include <string_view>

#include "engine/builtin.h"
#include "value/object.h"

namespace parlance::jinja {

struct BytesObject : Object {
  std::string_view bytes;
};
extern const ObjectType kBytesType;
Value make_bytes(Runtime& rt, std::string_view bytes);

std::span<const Builtin> bytes_methods();       ///< methods_bytes.cpp: decode, hex, translate …
std::span<const Builtin> bytes_text_methods();  ///< methods_bytes_text.cpp: what str has too

}  // namespace parlance::jinja
