// Begin reading at with_referenced_items.
#include "serve/fronts/responses/item_references.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "parlance/json.h"
#include "parlance/reply_api.h"
#include "serve/fronts/answer_form.h"
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

using Items = std::unordered_map<std::string, std::string>;  ///< JSON, by their ids

/// What the answer to a request says of the calls in it.
class ToolsOfAnswer {
 public:
  explicit ToolsOfAnswer(Value body) {
    set_answer_form(body, ReplyApi::responses, form_);
    for (const NamespacedTool& tool : form_.namespaces) namespaced_.try_emplace(tool.shown, &tool);
    types_.insert(form_.tool_types.begin(), form_.tool_types.end());
  }
  ToolsOfAnswer(const ToolsOfAnswer&) = delete;

  /// How an answer with this reply is written.
  ReplyApiOptions options_of(const Held& held) const {
    ReplyApiOptions options{.id = held.response_id};
    for (const ToolCall& call : held.reply.tool_calls) {
      if (const auto tool = namespaced_.find(call.name); tool != namespaced_.end())
        options.namespaces.push_back(*tool->second);
      if (types_.contains(call.name)) options.tool_types.push_back(call.name);
    }
    return options;
  }

 private:
  ReplyApiOptions form_;
  std::unordered_map<std::string_view, const NamespacedTool*> namespaced_;
  std::unordered_set<std::string_view> types_;
};

/// Those of the answer that has this reply. Nobody has kept the order of a reply with text behind calls: its calls and
/// text are not among them.
void add_items(const Message& reply, bool text_first, bool custom, ReplyApiOptions options, Items& items) {
  using Kinds = ReplyEvent::Kind;
  ReplyApiWriter writer(ReplyApi::responses, std::move(options));
  writer.add({.kind = Kinds::reasoning, .text = reply.reasoning_content});
  if (text_first || reply.tool_calls.empty()) {
    writer.add({.kind = Kinds::content, .text = reply.content});
    for (const ToolCall& call : reply.tool_calls) {
      writer.add({.kind = Kinds::call_begin, .custom = custom, .text = call.name, .detail = call.id});
      writer.add({.kind = Kinds::arguments, .text = call.arguments_json});
      writer.add({.kind = Kinds::call_end, .complete = true, .detail = call.id});
    }
  }
  writer.add({.kind = Kinds::end});
  writer.finish();
  Document answer;
  if (!answer.parse(writer.to_json())) return;
  for (const Value& item : answer.root()["output"].items()) items.emplace(item["id"].text(), json_text(item));
}

/// The items of a turn by the ids that its answer gave them. What its calls were to the client, ids say: there is an
/// item for each that they may have been.
Items items_of_turn(const Held& held, const ToolsOfAnswer& tools) {
  Items items;
  const ReplyApiOptions options = tools.options_of(held);
  ReplyApiOptions functions = options;
  functions.tool_types.clear();
  const bool text_first = ascii::trimmed_left(held.written).starts_with(ascii::trimmed(held.reply.content));
  add_items(held.reply, text_first, false, options, items);
  if (held.reply.tool_calls.empty()) return items;
  add_items(held.reply, text_first, true, options, items);
  add_items(held.reply, text_first, false, std::move(functions), items);
  return items;
}

/// The items of one request. An answer is read once, and kept as the texts of its items, since its values take many
/// times as much; an item is given once, as the API has it.
class NamedItems {
 public:
  NamedItems(const AnswersKept& kept, Value body) : kept_(kept), tools_(body), room_(kept.most) {}

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
  /// The turn is asked for in any case: once it is in memory, the request goes on from it, and not from another one of
  /// the same messages.
  void read_answer(std::string_view id) {
    if (id.empty() || !answers_.insert(std::string(id)).second) return;
    const std::shared_ptr<const Held> held = kept_.sessions.by_response(kept_.model, id, kept_.owner);
    const std::shared_ptr<const StoredResponse> stored = kept_.responses.find(id, kept_.owner);
    Document answer;
    if (stored != nullptr && answer.parse(stored->json)) {
      for (const Value& item : answer.root()["output"].items()) items_.emplace(item["id"].text(), json_text(item));
    } else if (held != nullptr) {  // it is stored no more
      items_.merge(items_of_turn(*held, tools_));
    }
  }

  const AnswersKept& kept_;
  const ToolsOfAnswer tools_;
  std::size_t room_;
  Items items_;                                      // of the answers that were read
  std::unordered_set<std::string> answers_, given_;  // ids
};

}  // namespace

Result<WholeInput> with_referenced_items(Value body, const AnswersKept& kept) {
  const std::span<const Value> given = body["input"].items();
  WholeInput made;
  if (std::none_of(given.begin(), given.end(), is_reference)) return made;
  NamedItems named(kept, body);
  JsonWriter items('[');
  for (const Value& item : given) {
    const std::string place = "input[" + std::to_string(&item - given.data()) + "].id";
    if (is_reference(item) && !item["id"].is_string())
      return Error(ErrorCode::conversation, place + " must be a string").input(place);
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
