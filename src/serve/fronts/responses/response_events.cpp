// Begin reading at Events::say_all. The order of events and their members are those of src/apis/response.cpp.
#include "serve/fronts/responses/response_events.h"

#include <algorithm>
#include <span>

#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

/// What the events of a kind of item are called, and where it has its text.
struct TextOfItem {
  std::string_view type, event, member;
  bool has_parts = false;
  bool has_logprobs = false;
};
constexpr TextOfItem kTexts[] = {
    {"reasoning", "response.reasoning_text", "text", true},
    {"message", "response.output_text", "text", true, true},
    {"function_call", "response.function_call_arguments", "arguments"},
    {"custom_tool_call", "response.custom_tool_call_input", "input"},
};

/// An object with other members in the place of some. "" leaves one out.
std::string with_members(Value object, std::initializer_list<std::pair<std::string_view, std::string_view>> others) {
  JsonWriter made('{');
  for (const DictEntry& member : object.members()) {
    const std::string_view name = member.key.text();
    const auto other = std::find_if(others.begin(), others.end(), [&](const auto& one) { return one.first == name; });
    if (other == others.end())
      made.raw(name, json_text(member.value));
    else if (!other->second.empty())
      made.raw(name, other->second);
  }
  return made.take();
}

/// Items of a list, from one on.
std::string some_of(std::span<const Value> items, std::size_t begin, std::size_t count) {
  JsonWriter list('[');
  for (std::size_t at = begin; at < std::min(begin + count, items.size()); ++at) list.item(json_text(items[at]));
  return list.take();
}

class Events {
 public:
  Events(Value answer, std::span<const StoredPiece> pieces, std::int64_t after)
      : answer_(answer), pieces_(pieces), after_(after) {}

  std::string say_all() {
    const std::string begun = with_members(answer_, {{"status", R"("in_progress")"},
                                                     {"completed_at", "null"},
                                                     {"incomplete_details", "null"},
                                                     {"output", "[]"},
                                                     {"usage", "null"},
                                                     {"reply_diagnostics", ""}});
    say("response.created", JsonWriter('{').text("type", "response.created").raw("response", begun));
    say("response.in_progress", JsonWriter('{').text("type", "response.in_progress").raw("response", begun));
    for (const Value& item : answer_["output"].items()) say_item(item);
    const std::string last = "response." + std::string(answer_["status"].text());
    say(last, JsonWriter('{').text("type", last).raw("response", json_text(answer_)));
    return std::move(out_);
  }

 private:
  void say(const std::string& name, JsonWriter& event) {
    const std::int64_t number = number_++;
    const std::string data = event.number("sequence_number", number).take();
    if (number > after_) append_stream_event(out_, ReplyApi::responses, {name, data});
  }

  JsonWriter event_of(std::string_view type, Value item, bool has_parts) const {
    JsonWriter event('{');
    event.text("type", type).text("item_id", item["id"].text()).number("output_index", item_);
    if (has_parts) event.number("content_index", 0);
    return event;
  }

  void say_whole_item(const std::string& type, const std::string& item) {
    say(type, JsonWriter('{').text("type", type).number("output_index", item_).raw("item", item));
  }

  void say_item(Value item) {
    const auto names = std::find_if(std::begin(kTexts), std::end(kTexts),
                                    [&](const TextOfItem& one) { return one.type == item["type"].text(); });
    const bool custom = item["type"].text() == "custom_tool_call";
    say_whole_item("response.output_item.added", with_members(item, {{"content", "[]"},
                                                                     {"arguments", custom ? "" : R"("")"},
                                                                     {"input", R"("")"},
                                                                     {"status", R"("in_progress")"}}));
    const std::span<const Value> parts = item["content"].items();
    if (names != std::end(kTexts) && (!names->has_parts || !parts.empty()))
      say_text(item, *names, names->has_parts ? parts.front() : item);
    say_whole_item("response.output_item.done", json_text(item));
    ++item_;
  }

  void say_text(Value item, const TextOfItem& names, Value holder) {
    const std::span<const Value> logprobs = holder["logprobs"].items();
    const auto say_part = [&](const std::string& type, const std::string& part) {
      JsonWriter event = event_of(type, item, true);
      say(type, event.raw("part", part));
    };
    if (names.has_parts)
      say_part("response.content_part.added", with_members(holder, {{"text", R"("")"}, {"logprobs", "[]"}}));
    say_pieces(item, names, holder[names.member].text(), logprobs);
    const std::string done = std::string(names.event) + ".done";
    JsonWriter event = event_of(done, item, names.has_parts);
    event.text(names.member, holder[names.member].text());
    if (names.has_logprobs) event.raw("logprobs", some_of(logprobs, 0, logprobs.size()));
    say(done, event);
    if (names.has_parts) say_part("response.content_part.done", json_text(holder));
  }

  void say_pieces(Value item, const TextOfItem& names, std::string_view text, std::span<const Value> logprobs) {
    const std::string type = std::string(names.event) + ".delta";
    std::size_t logprob = 0;
    while (!text.empty()) {
      StoredPiece piece{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(logprobs.size())};
      if (!pieces_.empty()) {
        piece = pieces_.front();
        pieces_ = pieces_.subspan(1);
      }
      const std::string_view delta = text.substr(0, piece.bytes);
      text.remove_prefix(delta.size());
      JsonWriter event = event_of(type, item, names.has_parts);
      event.text("delta", delta);
      if (names.has_logprobs) event.raw("logprobs", some_of(logprobs, logprob, piece.logprobs));
      logprob += piece.logprobs;
      say(type, event);
    }
  }

  const Value answer_;
  std::span<const StoredPiece> pieces_;
  const std::int64_t after_;
  std::int64_t number_ = 0, item_ = 0;
  std::string out_;
};

}  // namespace

void note_piece(const ReplyApiEvent& event, std::vector<StoredPiece>& into) {
  Document data;
  if (!event.name.ends_with(".delta") || !data.parse(event.data)) return;
  into.push_back({static_cast<std::uint32_t>(data.root()["delta"].text().size()),
                  static_cast<std::uint32_t>(data.root()["logprobs"].items().size())});
}

std::string response_events(const StoredResponse& response, std::int64_t after) {
  Document answer;
  if (!answer.parse(response.json)) return {};
  return Events(answer.root(), response.pieces, after).say_all();
}

}  // namespace parlance::serve
