// Writing JSON by hand: the public JsonWriter under the name that the library itself uses, and strings and lists alone.
#pragma once
#include <string>
#include <string_view>

#include "json/json.h"
#include "parlance/json_writer.h"

namespace parlance {

using Json = JsonWriter;

/// The text as a JSON string, in quotes.
inline std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// The same without the quotes: what stands inside a string.
inline std::string json_inside(std::string_view text) {
  const std::string whole = json_string(text);
  return whole.substr(1, whole.size() - 2);
}

/// A list of strings.
template <typename Texts>
std::string json_list(const Texts& texts) {
  Json list('[');
  for (const auto& text : texts) list.item_text(text);
  return list.take();
}

}  // namespace parlance
