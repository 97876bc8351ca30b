// Lines of data as ShareGPT has them, and OpenAI's functions before tools; see api_request.h. Begin reading at
// convert_sharegpt and convert_old_functions.
#include <algorithm>
#include <iterator>

#include "base/speakers.h"
#include "conversation/api_request.h"
#include "conversation/json_text.h"
#include "conversation/learnt.h"
#include "value/string.h"

namespace parlance::api {
namespace {

/// The turns: `conversations`, or `messages` whose first has no role but a speaker.
Value turns_of(Value request) {
  const Value turns = member_value(request, "conversations");
  if (turns.kind == Kind::list) return turns;
  const Value messages = member_value(request, "messages");
  if (messages.kind != Kind::list || messages.list->size == 0) return {};
  const Value first = messages.list->items[0];
  if (first.kind != Kind::dict || member(first, "role") != nullptr) return {};
  return member(first, "from") != nullptr && member(first, "value") != nullptr ? messages : Value();
}

class ShareGptConverter {
 public:
  explicit ShareGptConverter(Request& request) : r_(request) {}

  void run() {
    if (const Value system = member_value(r_.given, "system"); is_given(system)) {
      if (r_.text_at(system, "`system`").is_undefined()) return;
      Draft draft{.role = "system"};
      draft.of.push_back(system);
      draft.parts.push_back(r_.text_part(system, system));
      if (system.size != 0) r_.add(draft);
    }
    for (const Value& turn : items(turns_of(r_.given))) {
      if (r_.failure || r_.dict_at(turn, "a turn").is_undefined()) return;
      this->turn(turn);
    }
    tools(member_value(r_.given, "tools"));
  }

 private:
  void turn(Value turn) {
    if (member(turn, "from") == nullptr && member(turn, "role") != nullptr)
      return r_.fail(turn, "a turn with `role` is of OpenAI's chat; ShareGPT has from and value",
                     "messages with role and content belong into `messages`");
    const Value from = r_.text_in(turn, "from"), value = r_.text_in(turn, "value");
    if (r_.failure) return;
    const auto* row = std::find_if(std::begin(kSpeakers), std::end(kSpeakers),
                                   [&](const Speaker& one) { return is_text(&from, one.name); });
    if (row == std::end(kSpeakers))
      return r_.fail(from, quoted(leaf_text(from)) + " is not a known speaker",
                     "human, gpt, system, tool, observation, function_call and their like are");
    r_.leave(turn, {"from", "value", "weight", "loss", "train"}, {"id"});
    Draft draft{.role = row->role};
    draft.weight = weight_of(turn);
    draft.of.push_back(turn);
    if (row->says_calls)
      calls(value, draft);
    else
      draft.parts.push_back(r_.text_part(value, turn));
    if (!r_.failure) r_.add(draft);
  }

  /// `weight`, or a flag that says the same: Axolotl's `train`, or `loss`. What says that the turn is not learnt wins,
  /// and null says nothing: a table has it.
  static Value weight_of(Value turn) {
    Value first;
    for (const std::string_view name : kSaysLearnt) {
      const Value said = member_value(turn, name);
      if (says_unlearnt(said)) return said;
      if (first.is_undefined() && !said.is_none()) first = said;
    }
    return first;
  }

  /// The value that a text holds as JSON; its text belongs to the message that is made.
  Value read(Value text, std::int32_t message) {
    r_.state.add_region(leaf_text(text), message, true);
    const Result<Value> found =
        read_numbered_text(r_.state, r_.rt, text, [&] { return path_of_value(r_.state, text); });
    if (found.has_value()) return *found;
    r_.fail(text, "this text is " + why_unread(found.error()));
    return {};
  }

  void calls(Value value, Draft& draft) {
    const Value read_calls = read(value, r_.next_message());
    if (r_.failure) return;
    const std::span<const Value> all =
        read_calls.kind == Kind::list ? items(read_calls) : std::span<const Value>(&read_calls, 1);
    for (const Value& one : all) {
      const Value name = member_value(one, "name"), arguments = member_value(one, "arguments");
      if (!name.is_string()) return r_.fail(value, "a call is an object with `name` and `arguments`");
      note_others(one);
      draft.calls.push_back(
          r_.call(member_value(one, "id"), name, is_given(arguments) ? arguments : DictBuilder(r_.rt).finish(), one));
    }
  }

  /// What a call says besides. The path is the text's, so the note has the name.
  void note_others(Value call) {
    for (const DictEntry& entry : entries(call)) {
      const std::string_view name = leaf_text(entry.key);
      if (is_one_of(name, {"name", "arguments", "id"}) || entry.value.is_none()) continue;
      r_.note(call, r_.state.arena.copy_text(quoted(name) + " of a call is not converted: left out"), true);
    }
  }

  void tools(Value tools) {
    if (!is_given(tools) || is_text(&tools, "")) return;
    const Value list = tools.is_string() ? read(tools, -1) : tools;
    if (r_.failure) return;
    if (list.kind != Kind::list) return r_.fail(tools, "`tools` is a list, or a list as JSON text");
    if (list.list->size != 0) r_.set("tools", list);
  }

  Request& r_;
};

}  // namespace

Value sharegpt_mark(Value request) { return turns_of(request); }

void convert_sharegpt(Request& request) {
  ShareGptConverter(request).run();
  request.finish({"conversations", "messages", "system", "tools"}, {});
}

// ---- functions before tools

namespace {

bool is_of_function(Value message) { return is_text(member(message, "role"), "function"); }

bool is_empty_list(Value value) { return value.kind == Kind::list && items(value).empty(); }

/// A message with one call under `function_call`, or the result of one, as messages have it now.
Value renewed(Request& r, Value message) {
  if (is_of_function(message)) {
    r.note(message, "its role is tool", false);
    return with_member(r.rt, message, "role", Value::view("tool"));
  }
  const Value old = member_value(message, "function_call");
  if (!is_given(old)) return message;
  if (const Value both = member_value(message, "tool_calls"); is_given(both) && !is_empty_list(both)) {
    r.fail(both, "a message with `function_call` and `tool_calls`", "tool_calls is the newer name of the same");
    return message;
  }
  const Value name = r.dict_at(old, "`function_call`").is_undefined() ? Value() : r.text_in(old, "name");
  if (r.failure) return message;
  r.leave(old, {"name", "arguments"}, {"complete"});
  const Value arguments = member_value(old, "arguments");
  ListBuilder calls(r.rt, 1);
  calls.append(r.call({}, name, is_given(arguments) ? arguments : Value::view("{}"), old));
  r.note(old, "given as tool_calls", false);
  const Value rest = filtered(r.rt, message, [](std::string_view key) { return key != "function_call"; });
  return with_member(r.rt, rest, "tool_calls", r.made(calls.finish(), old));
}

void give_tools(Request& r, Value functions) {
  ListBuilder tools(r.rt, functions.list->size);
  for (const Value& one : items(functions)) {
    if (r.dict_at(one, "a function").is_undefined()) return;
    DictBuilder tool(r.rt, 2);
    tool.set("type", Value::view("function"));
    tool.set("function", one);
    tools.append(r.made(tool.finish(), one));
  }
  r.state.set_variable(Value::view("tools"), r.made(tools.finish(), functions));
}

}  // namespace

bool is_given_as_tools(Value request, std::string_view name) {
  const Value functions = member_value(request, "functions"), choice = member_value(request, "function_call");
  const bool any = functions.kind == Kind::list && functions.list->size != 0;
  return any && (name == "functions" || choice.is_string() || choice.kind == Kind::dict);
}

Value old_functions_mark(Value request) {
  if (is_given_as_tools(request, "functions")) return member_value(request, "functions");
  const Value* messages = member(request, "messages");
  if (messages == nullptr || messages->kind != Kind::list) return {};
  for (const Value& message : items(*messages)) {
    if (message.kind != Kind::dict) continue;
    if (const Value old = member_value(message, "function_call"); is_given(old)) return old;
  }
  return {};
}

/// Messages stay as many as they are, so their numbers stay as well. `functions` and `function_call` are kept, since
/// some templates read them.
void convert_old_functions(Request& request) {
  const Value functions = member_value(request.given, "functions"),
              choice = member_value(request.given, "function_call");
  if (is_given_as_tools(request.given, "functions")) {
    if (const Value tools = member_value(request.given, "tools"); is_given(tools))
      return request.fail(tools, "the request has `tools` beside `functions`", "tools is the newer name of the same");
    give_tools(request, functions);
    if (choice.is_string()) request.state.set_variable(Value::view("tool_choice"), choice);
    request.leave(choice, {"name"});
    if (choice.kind == Kind::dict)
      request.state.set_variable(Value::view("tool_choice"),
                                 request.choice_of(request.text_in(choice, "name"), choice));
  }
  const Value* messages = member(request.given, "messages");
  if (messages == nullptr || messages->kind != Kind::list) return;
  ListEditor list(request.rt, *messages);
  for (std::uint32_t i = 0; i < list.size() && !request.failure; ++i) {
    const Value old = list[i];
    if (old.kind != Kind::dict) continue;
    if (const Value made = renewed(request, old); made.dict != old.dict) list.set(i, made);
  }
  if (list.changed()) request.state.set_variable(Value::view("messages"), list.finish());
}

}  // namespace parlance::api
