// Begin reading at with_referenced_items.
#include "serve/fronts/item_references.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "parlance/json.h"
#include "serve/json/members.h"

namespace parlance::serve {

namespace {

/// The type of a reference may be left out.
bool is_reference(Value item) {
  const auto is_of_reference = [](const DictEntry& member) {
    const std::string_view name = member.key.text();
    return name == "id" || (name == "type" && !is_given(member.value));
  };
  const std::span<const DictEntry> members = item.members();
  return item["type"].text() == "item_reference" ||
         (item["id"].is_string() && std::ranges::all_of(members, is_of_reference));
}

/// "resp_5" of "msg_resp_5_1": an item's id has the kind before its answer's, and its number behind.
std::string_view response_of(std::string_view item) {
  const std::size_t begin = item.find('_'), end = item.rfind('_');
  return begin < end && end != item.npos ? item.substr(begin + 1, end - begin - 1) : std::string_view();
}

/// The items of one request. An answer is parsed once, and an item is given once, as the API has it: what a request
/// becomes is no larger than what is kept.
class NamedItems {
 public:
  NamedItems(const StoredResponses& responses, std::string_view owner) : responses_(responses), owner_(owner) {}

  /// Why there is none, or its JSON.
  Result<std::string> item(std::string_view id) {
    const auto wrong = [&](std::string_view what) {
      return Error(ErrorCode::conversation, "the item '" + std::string(id) + "' is " + std::string(what));
    };
    if (!given_.insert(std::string(id)).second) return wrong("named twice").hint("leave it out the second time");
    const Value output = answer_of(response_of(id))["output"];
    const auto found =
        std::find_if(output.items().begin(), output.items().end(), [&](Value one) { return one["id"].text() == id; });
    if (found != output.items().end()) return json_text(*found);
    return wrong("not known here, or not any more").hint("give the item itself");
  }

 private:
  Value answer_of(std::string_view id) {
    const auto [at, is_new] = answers_.try_emplace(std::string(id));
    if (!is_new) return at->second.root();
    const std::shared_ptr<const StoredResponse> kept = responses_.find(id, owner_);
    if (kept == nullptr || !at->second.parse(kept->json)) at->second = Document();
    return at->second.root();
  }

  const StoredResponses& responses_;
  std::string_view owner_;
  std::unordered_map<std::string, Document> answers_;  // by response; those that are not kept are empty
  std::unordered_set<std::string> given_;
};

}  // namespace

Result<std::optional<std::string>> with_referenced_items(Value body, const StoredResponses& responses,
                                                         std::string_view owner) {
  const std::span<const Value> given = body["input"].items();
  if (std::none_of(given.begin(), given.end(), is_reference)) return std::optional<std::string>();
  NamedItems named(responses, owner);
  JsonWriter items('[');
  for (const Value& item : given) {
    const std::string place = "input[" + std::to_string(&item - given.data()) + "].id";
    if (is_reference(item) && !item["id"].is_string())
      return Error(ErrorCode::conversation, place + " must be a text").input(place);
    Result<std::string> whole = is_reference(item) ? named.item(item["id"].text()) : json_text(item);
    if (!whole) return whole.error().input(place);
    items.item(*whole);
  }
  return std::optional(members_without(body, {"input"}).raw("input", items.take()).take());
}

}  // namespace parlance::serve
