// Assigning JSON to typed values. Begin reading at Decoder::text.
#include "gotemplate/ollama/decode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/utf8.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {
namespace {

std::string_view json_name(Value v) {
  switch (v.kind) {
    case Kind::boolean: return "bool";
    case Kind::integer:
    case Kind::real: return "number";
    case Kind::string: return "string";
    case Kind::list: return "array";
    case Kind::dict: return "object";
    default: return "null";
  }
}

/// The simple folding that field names can meet: ASCII letters, and the two characters that fold to
/// one.
std::size_t next_folded(std::string_view text, std::size_t at, char& c) {
  c = text[at];
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 0x20);
  if (text.substr(at).starts_with("\u017F")) {
    c = 's';
    return at + 2;
  }
  if (text.substr(at).starts_with("\u212A")) {
    c = 'k';
    return at + 3;
  }
  return at + 1;
}

/// encoding/json takes a key for a field whatever its case, by Unicode's simple folding: U+017F is an s and U+212A a k.
bool equal_folded(std::string_view name, std::string_view key) {
  std::size_t k = 0;
  for (std::size_t n = 0; n < name.size();) {
    if (k >= key.size()) return false;
    char a;
    char b;
    n = next_folded(name, n, a);
    k = next_folded(key, k, b);
    if (a != b) return false;
  }
  return k == key.size();
}

bool has_upper(std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  });
}

/// A lone surrogate's first byte is 0xED; so is that of some Korean.
bool has_surrogates(std::string_view text) {
  return !text.empty() && std::memchr(text.data(), '\xED', text.size()) != nullptr && utf8::has_surrogates(text);
}

}  // namespace

int Decoder::find(std::span<const std::string_view> names, std::string_view key) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].size() == key.size() && equal_bytes(names[i].data(), key.data(), key.size()))
      return static_cast<int>(i);
  }
  // Most keys that are no field are in lower case, and longer or shorter than any: no need to fold
  // those.
  const bool plain =
      std::all_of(key.begin(), key.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == '$'; });
  if (plain && !has_upper(names)) return -1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (equal_folded(names[i], key)) return static_cast<int>(i);
  }
  return -1;
}

bool Decoder::fail(std::string message, Value culprit) {
  rt_.fail(ErrorCode::go_request, std::move(message), culprit);
  return false;
}

bool Decoder::mismatch(Value v, std::string_view what) {
  return fail("json: cannot unmarshal " + std::string(json_name(v)) + " into Go " + std::string(what), v);
}

/// null leaves a Go string as it was. A lone surrogate, which Python's JSON keeps, is U+FFFD to Go.
bool Decoder::text(Value v, std::string_view what, Value& out) {
  if (v.is_none()) return true;
  if (v.kind != Kind::string) return mismatch(v, what);
  out = v.is_leaf() && has_surrogates(leaf_text(v)) ? cleaned(v) : v;
  return true;
}

/// A JSON number with a point or an exponent is no int, whatever its value.
bool Decoder::integer(Value v, std::string_view what, Value& out) {
  if (v.is_none()) return true;
  if (!v.is_small_int() || v.kind != Kind::integer) return mismatch(v, what);
  out = with_type(v, Type::integer);
  return true;
}

bool Decoder::texts(Value v, std::string_view what, Type type, Value& out) {
  return list(v, what, type, out, [&](Value item, Value& made) {
    made = Value::view("");
    return text(item, what, made);
  });
}

bool Decoder::any(Value v, Value& out) {
  out = is_clean(v) ? v : cleaned(v);
  return !rt_.failed();
}

/// Is there nothing that Go would refuse or change: numbers outside float64, lone surrogates?
bool Decoder::is_clean(Value v) {
  switch (v.kind) {
    case Kind::string: return !v.is_leaf() || !has_surrogates(leaf_text(v));
    case Kind::real: return std::isfinite(v.real);
    case Kind::integer: return (v.flags & Value::kBig) == 0 || std::isfinite(real_of(v));
    case Kind::list:
    case Kind::dict: break;
    default: return true;
  }
  const Nesting nesting(rt_);
  if (!nesting.ok() || !rt_.charge(1)) return false;
  if (v.kind == Kind::list) {
    const auto all = items(v);
    return std::all_of(all.begin(), all.end(), [this](Value item) { return is_clean(item); });
  }
  const auto all = entries(v);
  return std::all_of(all.begin(), all.end(),
                     [this](const DictEntry& entry) { return is_clean(entry.key) && is_clean(entry.value); });
}

/// A copy with what Go would change; parts that are clean are shared, so that they keep their address and with it their
/// place in the request. What is left at the end is a number outside of float64, which Go refuses.
Value Decoder::cleaned(Value v) {
  if (rt_.failed() || is_clean(v)) return v;
  const Nesting nesting(rt_);
  if (!nesting.ok()) return v;
  switch (v.kind) {
    case Kind::string: {
      const std::string_view bytes = leaf_text(v);
      std::string repaired;
      for (const char* p = bytes.data(); p < bytes.data() + bytes.size();) {
        const utf8::Decoded next = utf8::decode(p, bytes.data() + bytes.size());
        utf8::append(repaired, utf8::is_surrogate(next.code_point) ? utf8::kReplacement : next.code_point);
        p += next.size;
      }
      return make_derived(rt_, repaired, v);
    }
    case Kind::list: {
      ListBuilder copy(rt_, v.list->size);
      for (const Value item : items(v)) copy.append(cleaned(item));
      return copy.finish();
    }
    case Kind::dict: {
      DictBuilder copy(rt_, v.dict->size);
      for (const DictEntry& entry : entries(v)) copy.set(cleaned(entry.key), cleaned(entry.value));
      return copy.finish();
    }
    default: break;
  }
  fail("json: cannot unmarshal number into Go value of type float64", v);
  return v;
}

/// The list again, with the place in the input of what it was made from.
const ListObject* Decoder::with_origin(const ListObject* list, Value source) {
  auto* made = const_cast<ListObject*>(list);  // just made, nobody else's yet
  made->origin = source.origin != 0 ? source.origin : source.list->origin;
  return made;
}

}  // namespace parlance::gotemplate
