// See row.h.
#include "cli/lines/row.h"

#include <algorithm>

#include "cli/options/option_words.h"
#include "json/json.h"
#include "parlance/json_writer.h"
#include "render/unmasked.h"

namespace parlance::cli {

Result<Value> open_row(Document& document, const BulkLine& line, BulkAnswer& answer) {
  if (Result<void> parsed = document.parse(line.text); !parsed) return parsed.error();
  const Value row = document.root();
  if (!row.is(Kind::dict)) return Error(ErrorCode::conversation, "a line is not an object");
  if (const Value id = row["id"]; !id.is_undefined()) answer.id = strict_json_text(id);
  return row;
}

std::string request_of_row(Value row, std::initializer_list<std::string_view> without, std::size_t count) {
  JsonWriter request('{');
  for (const DictEntry& member : row.members()) {
    const std::string_view name = member.key.text();
    if (name == "id" || std::ranges::find(without, name) != without.end()) continue;
    const std::span<const Value> items = member.value.items();
    if (name != "messages" || count >= items.size()) {
      request.raw(name, json_text(member.value));
      continue;
    }
    JsonWriter messages('[');
    for (const Value& message : items.first(count)) messages.item(json_text(message));
    request.raw(name, messages.take());
  }
  return request.take();
}

Result<ChatRequest> read_row(const RequestReader& reader, Value row) {
  Result<ChatRequest> read = reader.consume(request_of_row(row, {}));
  if (!read || row["messages"].is_sequence()) return read;
  return Error(ErrorCode::conversation, "a line needs `messages`, a list")
      .hint("parlance convert --as openai --bare --jsonl makes `messages` of other forms");
}

Error without_reading_options(const Error& error) {
  const std::string hint = in_options(error.hint());
  const bool names_one = hint.find("--skip-pass") != hint.npos || hint.find("--as-is") != hint.npos;
  return names_one ? error.hint({}) : error;
}

bool is_of_assistant(Value message) { return message["role"].text() == "assistant"; }

bool is_learnt_turn(Value message) { return is_of_assistant(message) && !is_unlearnt(message); }

}  // namespace parlance::cli
