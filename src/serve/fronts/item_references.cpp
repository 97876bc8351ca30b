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

/// The items of one request. An answer is parsed once, and kept as the texts of its items, since its values take many
/// times as much; an item is given once, as the API has it. `most`: bytes of all that are given.
class NamedItems {
 public:
  NamedItems(const StoredResponses& responses, std::string_view owner, std::size_t most)
      : responses_(responses), owner_(owner), room_(most) {}

  /// Why there is none, or its JSON.
  Result<std::string> item(std::string_view id) {
    const auto wrong = [&](std::string_view what) {
      return Error(ErrorCode::conversation, "the item '" + std::string(id) + "' is " + std::string(what));
    };
    if (!given_.insert(std::string(id)).second) return wrong("named twice").hint("leave it out the second time");
    read_answer(response_of(id));
    const auto found = items_.find(std::string(id));
    if (found == items_.end()) return wrong("not known here, or not any more").hint("give the item itself");
    if (found->second.size() > room_)
      return Error(ErrorCode::conversation, "with this item, those that are named are larger than a request may be");
    room_ -= found->second.size();
    return std::move(found->second);
  }

 private:
  void read_answer(std::string_view id) {
    if (!answers_.insert(std::string(id)).second) return;
    const std::shared_ptr<const StoredResponse> kept = responses_.find(id, owner_);
    Document answer;
    if (kept == nullptr || !answer.parse(kept->json)) return;
    for (const Value& item : answer.root()["output"].items()) items_.emplace(item["id"].text(), json_text(item));
  }

  const StoredResponses& responses_;
  std::string_view owner_;
  std::size_t room_;
  std::unordered_map<std::string, std::string> items_;  // of the answers that were read, by their ids
  std::unordered_set<std::string> answers_, given_;     // ids
};

}  // namespace

Result<std::optional<std::string>> with_referenced_items(Value body, const StoredResponses& responses,
                                                         std::string_view owner, std::size_t most) {
  const std::span<const Value> given = body["input"].items();
  if (std::none_of(given.begin(), given.end(), is_reference)) return std::optional<std::string>();
  NamedItems named(responses, owner, most);
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
