// Begin reading at text_of_result.
#include "agent/mcp/result_text.h"

#include "parlance/json.h"

namespace parlance::agent {

namespace {

void add_fact(std::string& text, const std::string& fact) {
  if (!fact.empty()) text.append(text.back() == '[' ? "" : ", ").append(fact);
}

/// "[image, image/png, 1234 bytes]" of data in Base64.
std::string named(const std::string& what, Value holder, std::string_view data) {
  std::string text = "[" + what;
  for (const char* member : {"name", "uri", "mimeType", "description"}) add_fact(text, whole_text(holder[member]));
  const std::size_t size = whole_text(holder[data]).size();
  if (size > 0) add_fact(text, std::to_string(size / 4 * 3) + " bytes, not shown");
  return text + "]";
}

std::string text_of_part(Value part) {
  const std::string type = whole_text(part["type"]);
  if (type == "text") return whole_text(part["text"]);
  if (type == "resource_link") return named("resource", part, "");
  if (type != "resource") return named(type.empty() ? "content without a type" : type, part, "data");
  const Value resource = part["resource"];
  if (!resource["text"].is_string()) return named("resource", resource, "blob");
  return named("resource", resource, "") + "\n" + whole_text(resource["text"]);
}

}  // namespace

std::string text_of_result(Value result) {
  std::string text;
  bool has_text = false;
  for (const Value& part : result["content"].items()) {
    const std::string one = text_of_part(part);
    has_text = has_text || part["type"].text() == "text" || part["type"].text() == "resource";
    if (one.empty()) continue;
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += one;
  }
  const Value structured = result["structuredContent"];
  if (has_text || structured.is_undefined() || structured.is_none()) return text;
  if (!text.empty()) text += '\n';
  return text + json_text(structured);
}

}  // namespace parlance::agent
