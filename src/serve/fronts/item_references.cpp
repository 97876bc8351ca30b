// Begin reading at with_referenced_items.
#include "serve/fronts/item_references.h"

#include <algorithm>

#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

bool is_reference(Value item) { return item["type"].text() == "item_reference"; }

/// "resp_5" of "msg_resp_5_1": an item's id has the kind before its answer's, and its number behind.
std::string_view response_of(std::string_view item) {
  const std::size_t begin = item.find('_'), end = item.rfind('_');
  return begin < end && end != item.npos ? item.substr(begin + 1, end - begin - 1) : std::string_view();
}

/// Unset: it is not kept.
std::optional<std::string> item_of(std::string_view id, const StoredResponses& responses, std::string_view owner) {
  const std::shared_ptr<const StoredResponse> response = responses.find(response_of(id), owner);
  Document answer;
  if (response == nullptr || !answer.parse(response->json)) return std::nullopt;
  const std::span<const Value> output = answer.root()["output"].items();
  const auto found = std::find_if(output.begin(), output.end(), [&](Value item) { return item["id"].text() == id; });
  return found == output.end() ? std::nullopt : std::optional(json_text(*found));
}

}  // namespace

Result<std::optional<std::string>> with_referenced_items(Value body, const StoredResponses& responses,
                                                         std::string_view owner) {
  const std::span<const Value> given = body["input"].items();
  if (std::none_of(given.begin(), given.end(), is_reference)) return std::optional<std::string>();
  JsonWriter items('['), made('{');
  for (const Value& item : given) {
    const std::string_view id = item["id"].text();
    const std::optional<std::string> named = is_reference(item) ? item_of(id, responses, owner) : json_text(item);
    if (named) {
      items.item(*named);
      continue;
    }
    return Error(ErrorCode::conversation, "the item '" + std::string(id) + "' is not known here, or not any more")
        .input("input[" + std::to_string(&item - given.data()) + "].id")
        .hint("give the item itself");
  }
  for (const DictEntry& member : body.members()) {
    if (member.key.text() != "input") made.raw(member.key.text(), json_text(member.value));
  }
  made.raw("input", items.take());
  return std::optional(made.take());
}

}  // namespace parlance::serve
