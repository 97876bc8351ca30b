// JSON: the reader (text to values, as Python's json reads it) and the writers (values to text in named styles).
#pragma once
#include <string>
#include <string_view>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/result.h"
#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

class TextTarget;

/// How a value is written. json.dumps of Python has these knobs; Go's encoding/json is another row.
struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool html_safe = false;  ///< Jinja2's own tojson: < > & ' as \u003c …
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  std::string_view indent = {};  ///< one level; used only when `pretty`
  bool pretty = false;
  bool strict = false;  ///< JSON has no word for it: an infinity is 1e999, which is read as one, and NaN is null
};
inline constexpr JsonStyle kPythonJson{};
inline constexpr JsonStyle kCompactJson{.item_separator = ",", .key_separator = ":"};

/// json.dumps(v): the text, as a rope whose pieces name what they were derived from. Fails as CPython does: TypeError
/// ("Object of type Undefined is not JSON serializable"), ValueError. With a `target` that takes it the text goes
/// there, and the result is empty.
Value write_json(Runtime& rt, Value v, const JsonStyle& style = kPythonJson, TextTarget* target = nullptr);
/// The same into a std::string, without provenance; for results and tools. Lone surrogates become \udXXX.
bool append_json(Runtime& rt, std::string& out, Value v, const JsonStyle& style = kCompactJson);
/// json_text() for answers that any reader of JSON takes.
std::string strict_json_text(Value v);

}  // namespace parlance
