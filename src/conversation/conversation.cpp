// Conversation: reading a request, building one by hand. The inside is in conversation.h, the
// passes in normalise.cpp.
//
// Text that a builder gives is copied into one region a message, so its place is known by address.
#include "conversation/conversation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "conversation/edit.h"
#include "conversation/json_text.h"
#include "conversation/normalise.h"
#include "conversation/request_hint.h"

namespace parlance {
namespace {

const Limits kNoLimits{};

/// What a conversation begins with, as transformers passes it: no messages, and tools and documents
/// of none.
void begin_empty(ConversationState& state) {
  state.clear();
  Runtime rt(state.arena, kNoLimits);
  DictBuilder variables(rt, 4);
  variables.set("messages", ListBuilder(rt).finish());
  variables.set("tools", Value::none());
  variables.set("documents", Value::none());
  state.variables = variables.finish();
  state.settle();
}

/// Copies texts one after the other into memory that is large enough: room_for() each. A byte is left after each, since
/// texts that are neighbours in memory would be one span where they are neighbours in a prompt.
class Copier {
 public:
  static std::size_t room_for(const std::string& text) { return text.size() + 1; }
  explicit Copier(char* at) : at_(at) {}
  Value copy(std::string_view text) {
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());
    const Value v = Value::view({at_, text.size()});
    at_[text.size()] = '\0';
    at_ += text.size() + 1;
    return v;
  }

 private:
  char* at_;
};

std::size_t room_for(const std::vector<JsonMember>& members) {
  std::size_t room = 0;
  for (const JsonMember& member : members) room += Copier::room_for(member.name) + Copier::room_for(member.json);
  return room;
}

/// Bytes that Copier takes for a message's texts, or somewhat more.
std::size_t room_for(const Message& message) {
  std::size_t room = 0;
  for (const std::string* text :
       {&message.role, &message.content, &message.reasoning_content, &message.tool_call_id, &message.name}) {
    room += Copier::room_for(*text);
  }
  for (const ToolCall& call : message.tool_calls) {
    for (const std::string* text : {&call.id, &call.name, &call.arguments_json}) room += Copier::room_for(*text);
    room += room_for(call.members);
  }
  for (const ContentPart& part : message.parts) {
    room += Copier::room_for(part.type) + Copier::room_for(part.text) + room_for(part.members);
  }
  return room + room_for(message.members);
}

/// What the values of one message are made with.
struct Making {
  ConversationState& state;
  Runtime& rt;
  Copier& copier;
  std::uint32_t origin;
  std::int32_t message;  ///< its number

  Value copy(std::string_view text) const { return copier.copy(text); }
  /// The value of a JSON text. `below()`: where it stands in the message.
  template <typename Below>
  Result<Value> json(const std::string& text, Below below) const {
    const auto place = [&] { return "messages[" + std::to_string(message) + "]." + below(); };
    return read_json_text(state, rt, copier.copy(text), origin, place);
  }
};

/// `in`: where the dict stands in the message, with a dot behind it.
Result<void> set_members(const Making& making, DictBuilder& dict, const std::vector<JsonMember>& members,
                         const std::string& in) {
  for (const JsonMember& member : members) {
    const Value name = making.copy(member.name);
    const Result<Value> value = making.json(member.json, [&] { return in + member.name; });
    if (!value) return value.error();
    dict.set(name, *value);
  }
  return {};
}

Result<Value> make_call(const Making& making, const ToolCall& call, std::size_t number) {
  DictBuilder function(making.rt, 2);
  function.set("name", making.copy(call.name));
  const auto place = [number] { return "tool_calls[" + std::to_string(number) + "].function.arguments"; };
  const Result<Value> arguments = making.json(call.arguments_json, place);
  if (!arguments) return arguments.error();
  if (arguments->kind != Kind::dict) return Error(ErrorCode::json, "a tool call's arguments are not a JSON object");
  function.set("arguments", *arguments);
  DictBuilder made(making.rt, 3);
  if (!call.id.empty()) made.set("id", making.copy(call.id));
  made.set("type", Value::view("function"));
  made.set("function", function.finish());
  if (call.members.empty()) return made.finish();
  const std::string in = "tool_calls[" + std::to_string(number) + "].";
  if (Result<void> set = set_members(making, made, call.members, in); !set) return set.error();
  return made.finish();
}

Result<Value> make_calls(const Making& making, const std::vector<ToolCall>& calls) {
  ListBuilder list(making.rt, static_cast<std::uint32_t>(calls.size()));
  for (const ToolCall& call : calls) {
    const Result<Value> made = make_call(making, call, list.size());
    if (!made) return made.error();
    list.append(*made);
  }
  return list.finish();
}

Result<Value> make_parts(const Making& making, const std::vector<ContentPart>& parts) {
  ListBuilder list(making.rt, static_cast<std::uint32_t>(parts.size()));
  for (const ContentPart& part : parts) {
    DictBuilder dict(making.rt, 2);
    dict.set("type", making.copy(part.type));
    if (part.type == "text") dict.set("text", making.copy(part.text));
    const std::string in = "content[" + std::to_string(list.size()) + "].";
    if (Result<void> set = set_members(making, dict, part.members, in); !set) return set.error();
    list.append(dict.finish());
  }
  return list.finish();
}

Result<Value> make_message(const Making& making, const Message& message) {
  DictBuilder dict(making.rt, 6);
  dict.set("role", making.copy(message.role));
  const Result<Value> content =
      message.parts.empty() ? making.copy(message.content) : make_parts(making, message.parts);
  if (!content) return content.error();
  dict.set("content", *content);
  const auto set_unless_empty = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) dict.set(key, making.copy(text));
  };
  set_unless_empty("reasoning_content", message.reasoning_content);
  set_unless_empty("tool_call_id", message.tool_call_id);
  set_unless_empty("name", message.name);
  if (!message.tool_calls.empty()) {
    const Result<Value> calls = make_calls(making, message.tool_calls);
    if (!calls) return calls.error();
    dict.set("tool_calls", *calls);
  }
  if (Result<void> set = set_members(making, dict, message.members, {}); !set) return set.error();
  return dict.finish();
}

/// Half surrogate pairs, which JSON can write, may be in a text. `whose` is the path of the message.
Result<void> check_texts(const Message& message, const std::string& whose) {
  const auto check = [&whose](std::string_view text, const std::string& member) -> Result<void> {
    if (utf8::is_valid(text, true)) return {};
    const std::string path = whose + "." + member;
    return Error(ErrorCode::unicode_decode, path + " is not UTF-8").input(path);
  };
  const std::pair<std::string_view, const char*> texts[] = {{message.role, "role"},
                                                            {message.content, "content"},
                                                            {message.reasoning_content, "reasoning_content"},
                                                            {message.tool_call_id, "tool_call_id"},
                                                            {message.name, "name"}};
  for (const auto& [text, member] : texts)
    if (Result<void> checked = check(text, member); !checked) return checked;
  std::size_t at = 0;
  for (const ToolCall& call : message.tool_calls) {
    const std::string path = "tool_calls[" + std::to_string(at++) + "]";
    if (Result<void> checked = check(call.id, path + ".id"); !checked) return checked;
    if (Result<void> checked = check(call.name, path + ".function.name"); !checked) return checked;
  }
  return {};
}

/// The same for a variable that is set to a text.
Result<void> check_variable(std::string_view variable, std::string_view text) {
  if (!utf8::is_valid(variable, true)) return Error(ErrorCode::unicode_decode, "the name of a variable is not UTF-8");
  if (utf8::is_valid(text, true)) return {};
  const std::string path(variable);
  return Error(ErrorCode::unicode_decode, path + " is not UTF-8").input(path);
}

/// A message as a value, its text in a region of its own.
Result<Value> copy_message(ConversationState& state, const Message& message, std::int32_t number,
                           const std::string& path) {
  if (Result<void> checked = check_texts(message, path); !checked) return checked.error();
  const std::size_t size = room_for(message);
  if (size >= Runtime::kMaxText) return Error(ErrorCode::limit_memory, "a message of 2 GiB or more");
  char* bytes = state.arena.allocate_text(size);
  const std::uint32_t origin = state.add_region({bytes, size}, number, false);
  Runtime rt(state.arena, kNoLimits);
  Copier copier(bytes);
  return make_message({state, rt, copier, origin, number}, message);
}

}  // namespace

// ---- State

void Conversation::State::clear() {
  arena.reset();
  variables = {};  // not `variables = messages = {}`, which reads again what was just written
  messages = {};
  DocumentStorage& storage = inside_of(document);
  next_origin = storage.next_origin();
  added_items = nullptr;
  added_capacity = 0;
  put_before = 0;
  storage.set_first_message(0);
  if (!storage.message_numbers().empty()) storage.set_message_numbers({});
  storage.clear_owners();
  sent_to = SentTo::unsaid;
  recognised = has_model = false;
  of_model.clear();
  converted = {};
  regions.clear();
  by_address.clear();
  as_transformers = continue_final = false;
  changes.clear();
  kept_for_effort.clear();
  repeated.clear();
  replaced.clear();
  notes.clear();
}

void Conversation::State::set_variable(Value key, Value value) {
  Runtime rt(arena, kNoLimits);
  const DictEntry entry{key, value};
  variables = with_members(rt, variables, {&entry, 1});
}

void Conversation::State::append_message(Value message) {
  Runtime rt(arena, kNoLimits);
  const std::uint32_t size = messages.is_sequence() ? messages.list->size : 0;
  const bool mine = size != 0 && messages.list->items == added_items;
  if (!mine || size == added_capacity) {
    added_capacity = std::max(8u, size * 2);
    Value* grown = arena.allocate_array<Value>(added_capacity);
    if (size != 0) std::copy_n(messages.list->items, size, grown);
    added_items = grown;
  }
  added_items[size] = message;
  const Value list = make_list(rt, added_items, size + 1);
  set_variable(Value::view("messages"), with_origin(list, size == 0 ? 0 : messages.list->origin));
}

std::uint32_t Conversation::State::add_region(std::string_view text, std::int32_t message, bool in_document) {
  const auto number = static_cast<std::uint32_t>(regions.size());
  regions.push_back({text.data(), text.size(), next_origin, message, in_document});
  if (!in_document) {
    const auto place =
        std::upper_bound(by_address.begin(), by_address.end(), text.data(),
                         [this](const char* a, std::uint32_t other) { return std::less<>()(a, regions[other].begin); });
    by_address.insert(place, number);
  }
  return next_origin++;
}

void Conversation::State::settle() {
  const Value* list = member(variables, "messages");
  messages = list == nullptr ? Value{} : *list;
  arena.sort_log();
}

void keep_messages(ConversationState& state, std::uint32_t count) {
  if (!state.messages.is_sequence() || state.messages.list->size <= count) return;
  Runtime rt(state.arena, kNoLimits);
  const Value kept = make_list(rt, state.messages.list->items, count);
  state.set_variable(Value::view("messages"), with_origin(kept, state.messages.list->origin));
  state.settle();
  forget_repeated_from(state, count);
}

Value take_variable(ConversationState& state, std::string_view name) {
  const Value* found = member(state.variables, name);
  if (found == nullptr) return {};
  const Value taken = *found;
  Runtime rt(state.arena, kNoLimits);
  state.variables = filtered(rt, state.variables, [name](std::string_view key) { return key != name; });
  if (name == "messages") state.messages = {};
  return taken;
}

// ---- Conversation

Conversation::Conversation() : state_(std::make_unique<State>()) { begin_empty(*state_); }
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::from_json(std::string_view text, const ReadOptions& options, std::string_view name) {
  Conversation conversation;
  if (Result<void> read = conversation.read(text, options, name); !read) return read.error();
  return conversation;
}

Result<void> Conversation::read(std::string_view text, const ReadOptions& options, std::string_view name) {
  return take_document(inside_of(inside().document).parse(text, name), options);
}

Result<void> Conversation::consume(std::string text, const ReadOptions& options, std::string_view name) {
  return take_document(inside_of(inside().document).consume(std::move(text), name), options);
}

Result<void> Conversation::read(DocumentBuilder& built, const ReadOptions& options) {
  return take_document(inside().document.build(built), options);
}

namespace {

/// What stands behind a request, in a line of its own, is mostly the next one.
Error with_hint_of_lines(const Error& error) {
  const bool is_behind = error.message().find("Extra data") != std::string::npos && error.where().line > 1;
  return is_behind ? error.hint("each line is a request of its own: give them one by one") : error;
}

}  // namespace

/// What was parsed becomes the contents.
Result<void> Conversation::take_document(Result<void> parsed, const ReadOptions& options) {
  State& state = inside();
  if (!parsed) {
    begin_empty(state);
    return with_hint_of_lines(parsed.error());
  }
  state.clear();
  const Value root = inside_of(state.document).root();
  if (root.kind != Kind::dict) {
    std::string hint = hint_of_no_request(root);
    begin_empty(state);
    return Error(ErrorCode::conversation, "the request is JSON, but not an object").hint(std::move(hint));
  }
  state.variables = root;
  if (options.normalise) {
    state.sent_to = options.sent_to;
    if (Result<void> done = normalise(state, options); !done) {
      begin_empty(state);
      return done.error();
    }
  }
  state.settle();
  return {};
}

Result<void> Conversation::add(const Message& message) {
  State& state = inside();
  const auto number = state.messages.is_sequence() ? static_cast<std::int32_t>(state.messages.list->size) : 0;
  const Result<Value> made =
      copy_message(state, message, number, "messages[" + std::to_string(number - state.put_before) + "]");
  if (!made) return made.error();
  state.append_message(*made);
  state.settle();
  return {};
}

Result<void> Conversation::put_before(std::span<const Message> messages) {
  if (messages.empty()) return {};
  State& state = inside();
  const bool is_list = state.messages.is_sequence();
  if (!is_list && member(state.variables, "messages") != nullptr)
    return Error(ErrorCode::conversation, "`messages` is not a list").input("messages");
  const auto count = static_cast<std::int32_t>(messages.size());
  const std::size_t known = state.regions.size();
  Runtime rt(state.arena, kNoLimits);
  ListBuilder list(rt, static_cast<std::uint32_t>(messages.size()) + (is_list ? state.messages.list->size : 0));
  for (std::int32_t i = 0; i < count; ++i) {
    const Result<Value> made =
        copy_message(state, messages[static_cast<std::size_t>(i)], i, "model.messages[" + std::to_string(i) + "]");
    if (!made) return made.error();
    list.append(*made);
  }
  for (TextRegion& region : std::span(state.regions).first(known)) {
    if (region.message >= 0) region.message += count;
  }
  state.put_before += count;
  inside_of(state.document).set_first_message(state.put_before);
  Value all;
  if (is_list) {
    for (const Value& message : items(state.messages)) list.append(message);
    all = with_origin(list.finish(), state.messages.list->origin);
  } else {
    all = list.finish();
  }
  state.set_variable(Value::view("messages"), all);
  state.settle();
  return {};
}

Result<void> Conversation::set_json(std::string_view variable, std::string_view json) {
  if (Result<void> checked = check_variable(variable, {}); !checked) return checked;
  State& state = inside();
  Runtime rt(state.arena, kNoLimits);
  if (json.size() >= Runtime::kMaxText) return Error(ErrorCode::limit_memory, "a value of 2 GiB or more");
  const std::string_view copy = state.arena.copy_text(json);
  const std::uint32_t origin = state.add_region(copy, -1, false);
  std::vector<RepeatedMember> before = std::exchange(state.repeated, {});
  const Result<Value> value =
      read_json_text(state, rt, Value::view(copy), origin, [&] { return std::string(variable); });
  std::swap(before, state.repeated);
  if (!value) return value.error();
  forget_repeated(state, variable);
  state.repeated.insert(state.repeated.end(), before.begin(), before.end());
  state.set_variable(Value::view(state.arena.copy_text(variable)), *value);
  state.settle();
  return {};
}

Result<void> Conversation::set_string(std::string_view variable, std::string_view text) {
  if (Result<void> checked = check_variable(variable, text); !checked) return checked;
  if (text.size() >= Runtime::kMaxText) return Error(ErrorCode::limit_memory, "a text of 2 GiB or more");
  State& state = inside();
  const std::string_view copy = state.arena.copy_text(text);
  state.add_region(copy, -1, false);
  forget_repeated(state, variable);
  state.set_variable(Value::view(state.arena.copy_text(variable)), Value::view(copy));
  state.settle();
  return {};
}

Result<void> Conversation::set_default_string(std::string_view variable, std::string_view text) {
  if (member(inside().variables, variable) != nullptr) return {};
  return set_string(variable, text);
}

/// What was moved from is empty: as a whole until it is changed, from then on by itself.
const Conversation::State& Conversation::inside() const {
  if (state_ != nullptr) [[likely]]
    return *state_;
  static const Conversation empty;
  return *empty.state_;
}
Conversation::State& Conversation::inside() {
  if (state_ == nullptr) [[unlikely]]
    *this = Conversation();
  return *state_;
}

Value Conversation::variables() const& { return inside().variables; }
Value Conversation::messages() const& { return inside().messages; }
Value Conversation::tools() const& { return member_value(inside().variables, "tools"); }

const std::vector<std::string>& Conversation::notes() const& {
  const State& state = inside();
  const std::lock_guard lock(state.notes_mutex);
  for (std::size_t i = state.notes.size(); i < state.changes.size(); ++i)
    state.notes.push_back(note_of(state, state.changes[i]));
  return state.notes;
}

std::string Conversation::path_of(Value value) const { return path_of_value(inside(), value); }

}  // namespace parlance
