// Begin reading at with_referenced_items.
#include "serve/fronts/item_references.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "parlance/json.h"
#include "parlance/reply_api.h"
#include "reply/custom_input.h"
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

constexpr std::string_view kReasoningPrefix = "rs_";

std::string text_part(std::string_view type, std::string_view text) {
  return JsonWriter('[').item(JsonWriter('{').text("type", type).text("text", text).take()).take();
}

std::string call_item(std::string_view id, const ToolCall& call, bool custom,
                      const std::vector<NamespacedTool>& namespaces) {
  const auto tool = std::ranges::find_if(namespaces, [&](const NamespacedTool& one) { return one.shown == call.name; });
  JsonWriter made('{');
  made.text("id", id).text("type", custom ? "custom_tool_call" : "function_call").text("call_id", call.id);
  made.text("name", tool == namespaces.end() ? call.name : tool->name);
  if (tool != namespaces.end()) made.text("namespace", tool->space);
  custom ? made.text("input", reply::custom_text(call.arguments_json).input)
         : made.text("arguments", call.arguments_json);
  return made.take();
}

/// The items of a turn by the ids that its answer gave them, which number what the reply consists of
/// (apis/response.cpp). Nobody has kept the order of a reply with text behind calls: its calls and text are not among
/// them.
std::unordered_map<std::string, std::string> items_of_turn(const Held& held,
                                                           const std::vector<NamespacedTool>& namespaces) {
  std::unordered_map<std::string, std::string> items;
  const Message& reply = held.reply;
  std::size_t number = 0;
  const auto id_with = [&](std::string_view prefix) {
    return std::string(prefix) + held.response_id + "_" + std::to_string(number);
  };
  if (!ascii::is_blank(reply.reasoning_content)) {
    JsonWriter made('{');
    made.text("id", id_with(kReasoningPrefix)).text("type", "reasoning").raw("summary", "[]");
    items[id_with(kReasoningPrefix)] = made.raw("content", text_part("reasoning_text", reply.reasoning_content)).take();
    ++number;
  }
  const bool text_first = ascii::trimmed_left(held.written).starts_with(ascii::trimmed(reply.content));
  if (!text_first && !reply.tool_calls.empty()) return items;
  if (!reply.content.empty()) {
    JsonWriter made('{');
    made.text("id", id_with("msg_")).text("type", "message").text("role", "assistant").text("status", "completed");
    items[id_with("msg_")] = made.raw("content", text_part("output_text", reply.content)).take();
    ++number;
  }
  for (const ToolCall& call : reply.tool_calls) {
    items[id_with("fc_")] = call_item(id_with("fc_"), call, false, namespaces);
    items[id_with("ctc_")] = call_item(id_with("ctc_"), call, true, namespaces);
    ++number;
  }
  return items;
}

/// The items of one request. An answer is read once, and kept as the texts of its items, since its values take many
/// times as much; an item is given once, as the API has it.
class NamedItems {
 public:
  NamedItems(const AnswersKept& kept, Value tools)
      : kept_(kept), namespaces_(namespaced_tools(tools)), room_(kept.most) {}

  /// Is it reasoning that is not kept any more?
  bool is_lost_reasoning(std::string_view id) {
    read_answer(response_of(id));
    return id.starts_with(kReasoningPrefix) && !response_of(id).empty() && !items_.contains(std::string(id)) &&
           !given_.contains(std::string(id));
  }

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
    const std::shared_ptr<const StoredResponse> stored = kept_.responses.find(id, kept_.owner);
    Document answer;
    if (stored == nullptr || !answer.parse(stored->json)) return read_turn(id);
    for (const Value& item : answer.root()["output"].items()) items_.emplace(item["id"].text(), json_text(item));
  }

  /// The answer was another gateway's, or this one was started anew.
  void read_turn(std::string_view id) {
    if (id.empty()) return;
    const std::shared_ptr<const Held> held = kept_.sessions.by_response(kept_.model, id, kept_.owner);
    if (held != nullptr) items_.merge(items_of_turn(*held, namespaces_));
  }

  const AnswersKept& kept_;
  const std::vector<NamespacedTool> namespaces_;
  std::size_t room_;
  std::unordered_map<std::string, std::string> items_;  // of the answers that were read, by their ids
  std::unordered_set<std::string> answers_, given_;     // ids
};

}  // namespace

Result<WholeInput> with_referenced_items(Value body, const AnswersKept& kept) {
  const std::span<const Value> given = body["input"].items();
  WholeInput made;
  if (std::none_of(given.begin(), given.end(), is_reference)) return made;
  NamedItems named(kept, body["tools"]);
  JsonWriter items('[');
  for (const Value& item : given) {
    const std::string place = "input[" + std::to_string(&item - given.data()) + "].id";
    if (is_reference(item) && !item["id"].is_string())
      return Error(ErrorCode::conversation, place + " must be a text").input(place);
    if (is_reference(item) && named.is_lost_reasoning(item["id"].text())) {
      // In its place, so that the others keep theirs in what is said of them.
      items.item(R"({"type": "reasoning", "summary": []})");
      made.losses.push_back({.kind = LossKind::lost,
                             .subject = "message",
                             .path = place.substr(0, place.rfind('.')),
                             .sentence = "passed over: this reasoning is not known here, or not any more"});
      continue;
    }
    Result<std::string> whole = is_reference(item) ? named.item(item["id"].text()) : json_text(item);
    if (!whole) return whole.error().input(place);
    items.item(*whole);
  }
  made.json = members_without(body, {"input"}).raw("input", items.take()).take();
  return made;
}

}  // namespace parlance::serve
