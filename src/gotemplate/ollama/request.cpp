// Decoding requests. Messages first, then tools, then the whole. Begin reading at read_request, at
// the end.
//
// Each reader names the JSON keys of its struct in order and assigns by their number.
#include "gotemplate/ollama/request.h"

#include <algorithm>
#include <array>

#include "base/base64.h"
#include "base/unicode.h"
#include "gotemplate/ollama/decode.h"
#include "gotemplate/ollama/openai.h"
#include "json/document.h"

namespace parlance::gotemplate {
namespace {

Value no_text() { return Value::view(""); }

/// A struct that was decoded from `source`, whose place in the input it keeps.
Value structure(Runtime& rt, Type type, const Value* members, std::size_t count, Value source) {
  Value v = with_type(make_list(rt, members, count), type);
  v.origin = origin_of(source);
  return v;
}

Value structure(Runtime& rt, Type type, std::initializer_list<Value> members, Value source) {
  Value* items = rt.arena.allocate_array<Value>(members.size());
  std::copy(members.begin(), members.end(), items);
  return structure(rt, type, items, members.size(), source);
}

// ---- tools

constexpr std::string_view kNotAnObject = "value: not an object";

bool read_property(Decoder& d, Value v, Value& out);

/// A dict of properties in the order given; null gives nil.
bool read_properties(Decoder& d, Value v, Type type, Value& out) {
  if (v.is_none()) {
    out = nil_of(type);
    return true;
  }
  if (v.kind != Kind::dict) return d.mismatch(v, kNotAnObject);
  DictBuilder made(d.rt(), v.dict->size);
  for (const DictEntry& entry : entries(v)) {
    Value property;
    if (!read_property(d, entry.value, property)) return false;
    made.set(entry.key, property);
  }
  out = with_type(made.finish(), type);
  return !d.rt().failed();
}

/// One name or several. null counts as the empty name.
bool read_type(Decoder& d, Value v, Value& out) {
  if (v.kind == Kind::list) return d.texts(v, "value of type string", Type::property_type, out);
  if (v.kind != Kind::string && !v.is_none()) return d.mismatch(v, "value of type []string");
  Value* items = d.rt().arena.allocate_array<Value>(1);
  items[0] = no_text();
  if (!d.text(v, "value of type string", items[0])) return false;
  out = with_type(make_list(d.rt(), items, 1), Type::property_type);
  return true;
}

/// A schema nests as deep as the request does, and each level is one native call: Nesting bounds it.
bool read_property(Decoder& d, Value v, Value& out) {
  const Nesting nesting(d.rt());
  if (!nesting.ok() || !d.rt().charge(1)) return false;
  constexpr std::string_view kNames[] = {"anyOf", "type", "items", "description", "enum", "properties", "required"};
  Value* m = d.rt().arena.allocate_array<Value>(std::size(kNames));
  m[0] = nil_of(Type::property_list);
  m[1] = nil_of(Type::property_type);
  m[2] = Value::none();
  m[3] = no_text();
  m[4] = nil_of(Type::slice_of_any);
  m[5] = nil_of(Type::ordered);
  m[6] = nil_of(Type::texts);
  out = structure(d.rt(), Type::property, m, std::size(kNames), v);
  return d.for_each_field(v, "value of type api.ToolProperty", kNames, [&](int field, Value member) {
    switch (field) {
      case 0:
        return d.list(member, "struct field .anyOf of type []api.ToolProperty", Type::property_list, m[0],
                      [&](Value item, Value& made) { return read_property(d, item, made); });
      case 1: return read_type(d, member, m[1]);
      case 2: return d.any(member, m[2]);
      case 3: return d.text(member, "struct field .description of type string", m[3]);
      case 4:
        return d.list(member, "struct field .enum of type []interface {}", Type::slice_of_any, m[4],
                      [&](Value item, Value& made) { return d.any(item, made); });
      case 5: return read_properties(d, member, Type::ordered, m[5]);
      default: return d.texts(member, "struct field .required of type []string", Type::texts, m[6]);
    }
  });
}

// Asked with null for the zero struct too: for_each_field then assigns nothing.
bool read_parameters(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kNames[] = {"type", "$defs", "items", "required", "properties"};
  Value type = no_text();
  Value defs = Value::none();
  Value items = Value::none();
  Value required = nil_of(Type::texts);
  Value properties = nil_of(Type::properties);
  const bool fine =
      d.for_each_field(v, "struct field .tools.function.parameters of type api.ToolFunctionParameters", kNames,
                       [&](int field, Value member) {
                         switch (field) {
                           case 0:
                             return d.text(member, "struct field .tools.function.parameters.type of type string", type);
                           case 1: return d.any(member, defs);
                           case 2: return d.any(member, items);
                           case 3:
                             return d.texts(member, "struct field .tools.function.parameters.required of type []string",
                                            Type::texts, required);
                           default: return read_properties(d, member, Type::properties, properties);
                         }
                       });
  out = structure(d.rt(), Type::parameters, {type, defs, items, required, properties}, v);
  return fine;
}

bool read_function(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kNames[] = {"name", "description", "parameters"};
  Value name = no_text();
  Value description = no_text();
  Value parameters;
  if (!read_parameters(d, Value::none(), parameters)) return false;
  const bool fine = d.for_each_field(
      v, "struct field .tools.function of type api.ToolFunction", kNames, [&](int field, Value member) {
        switch (field) {
          case 0: return d.text(member, "struct field .tools.function.name of type string", name);
          case 1: return d.text(member, "struct field .tools.function.description of type string", description);
          default: return read_parameters(d, member, parameters);
        }
      });
  out = structure(d.rt(), Type::function, {name, description, parameters}, v);
  return fine;
}

bool read_tool(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kNames[] = {"type", "items", "function"};
  Value type = no_text();
  Value items = Value::none();
  Value function;
  if (!read_function(d, Value::none(), function)) return false;
  const bool fine = d.for_each_field(v, "struct field .tools of type api.Tool", kNames, [&](int field, Value member) {
    switch (field) {
      case 0: return d.text(member, "struct field .tools.type of type string", type);
      case 1: return d.any(member, items);
      default: return read_function(d, member, function);
    }
  });
  out = structure(d.rt(), Type::tool, {type, items, function}, v);
  return fine;
}

// ---- messages

/// Ollama keeps the order of arguments with a map of its own, whose UnmarshalJSON has this message for what is no
/// object.
bool read_arguments(Decoder& d, Value v, Value& out) {
  if (v.is_none()) {
    out = nil_of(Type::arguments);
    return true;
  }
  if (v.kind != Kind::dict) return d.fail("Value looks like object, but can't find closing '}' symbol", v);
  if (!d.any(v, out)) return false;
  out = with_type(out, Type::arguments);
  return true;
}

// A member given twice in JSON is assigned twice, as in Go; the defaults are what a missing one leaves.
bool read_called(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kNames[] = {"index", "name", "arguments"};
  Value index = go_int(0);
  Value name = no_text();
  Value arguments = nil_of(Type::arguments);
  const bool fine = d.for_each_field(
      v, "struct field .messages.tool_calls.function of type api.ToolCallFunction", kNames,
      [&](int field, Value member) {
        switch (field) {
          case 0: return d.integer(member, "struct field .messages.tool_calls.function.index of type int", index);
          case 1: return d.text(member, "struct field .messages.tool_calls.function.name of type string", name);
          default: return read_arguments(d, member, arguments);
        }
      });
  out = structure(d.rt(), Type::called, {index, name, arguments}, v);
  return fine;
}

bool read_call(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kNames[] = {"id", "function"};
  Value id = no_text();
  Value function;
  if (!read_called(d, Value::none(), function)) return false;
  const bool fine = d.for_each_field(
      v, "struct field .messages.tool_calls of type api.ToolCall", kNames, [&](int field, Value member) {
        return field == 0 ? d.text(member, "struct field .messages.tool_calls.id of type string", id)
                          : read_called(d, member, function);
      });
  out = structure(d.rt(), Type::call, {id, function}, v);
  return fine;
}

/// Base64, or a list of bytes.
bool read_image(Decoder& d, Value v, Value& out) {
  constexpr std::string_view kWhat = "struct field .messages.images of type api.ImageData";
  out = nil_of(Type::image);
  if (v.is_none()) return true;
  std::string bytes;
  if (v.kind == Kind::list) {
    for (const Value item : items(v)) {
      if (item.kind != Kind::integer || !item.is_small_int() || item.integer < 0 || item.integer > 255) {
        return d.mismatch(item, "value of type uint8");
      }
      bytes += static_cast<char>(item.integer);
    }
  } else if (v.kind != Kind::string) {
    return d.mismatch(v, kWhat);
  } else if (std::size_t wrong = 0; !decode_base64(text(d.rt(), v), bytes, wrong)) {
    return d.fail("illegal base64 data at input byte " + std::to_string(wrong), v);
  }
  out = with_type(make_derived(d.rt(), bytes, v), Type::image);
  return true;
}

/// `openai` is null for a request that is to be taken as it is.
bool read_turn(Decoder& d, Value v, OpenAiNames* openai, Turn& turn) {
  constexpr std::string_view kNames[] = {"role",       "content",   "thinking",    "images",
                                         "tool_calls", "tool_name", "tool_call_id"};
  turn.origin = origin_of(v);
  for (Value& member : turn.fields) member = no_text();
  turn[Turn::images] = nil_of(Type::images);
  turn[Turn::calls] = nil_of(Type::calls);
  return d.for_each_field(v, "struct field .messages of type api.Message", kNames, [&](int field, Value member) {
    switch (field) {
      case 0: return d.text(member, "struct field .messages.role of type string", turn[Turn::role]);
      case 1:
        if (openai != nullptr && member.kind == Kind::list) return openai->read_parts(member, turn);
        return d.text(member, "struct field .messages.content of type string", turn[Turn::content]);
      case 2: return d.text(member, "struct field .messages.thinking of type string", turn[Turn::thinking]);
      case 3:
        return d.list(member, "struct field .messages.images of type []api.ImageData", Type::images, turn[Turn::images],
                      [&](Value item, Value& made) { return read_image(d, item, made); });
      case 4: {
        const bool fine = d.list(member, "struct field .messages.tool_calls of type []api.ToolCall", Type::calls,
                                 turn[Turn::calls], [&](Value item, Value& made) { return read_call(d, item, made); });
        if (fine && length_of(turn[Turn::calls]) == 0) turn[Turn::calls] = nil_of(Type::calls);
        return fine;
      }
      case 5: return d.text(member, "struct field .messages.tool_name of type string", turn[Turn::tool_name]);
      default: return d.text(member, "struct field .messages.tool_call_id of type string", turn[Turn::tool_call_id]);
    }
  });
}

// ---- collation

bool is_role(const Turn& turn, std::string_view role) { return turn.role_name() == role; }

/// Ollama's server lowers roles before it looks at them. Nearly all are in lower case already and keep their origin.
void lower_role(Runtime& rt, Turn& turn) {
  const std::string_view role = turn.role_name();
  const bool plain = std::all_of(
      role.begin(), role.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80 && !(c >= 'A' && c <= 'Z'); });
  if (plain) return;
  std::string lowered;
  unicode::append_lower(lowered, role);
  if (lowered != role) turn[Turn::role] = make_derived(rt, lowered, turn[Turn::role]);
}

/// a, two newlines, b; pieces shared, and those of a long row of messages not copied each time.
Value joined(Runtime& rt, Value a, Value b) {
  const Value opened = concat(rt, a, make_static("\n\n"));
  return opened.is_invalid() ? opened : concat(rt, opened, b);
}

/// Joins neighbours of the same role, tools' results apart, and gathers what the system said.
bool collate(Runtime& rt, std::span<Turn> turns, ChatRequest& out) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    Turn turn = turns[i];
    turn.first = turn.last = static_cast<std::uint32_t>(i);
    lower_role(rt, turn);
    Turn* before = count == 0 ? nullptr : &turns[count - 1];
    if (before != nullptr && before->role_name() == turn.role_name() && !is_role(turn, "tool")) {
      (*before)[Turn::content] = joined(rt, (*before)[Turn::content], turn[Turn::content]);
      before->last = turn.last;
    } else {
      turns[count++] = turn;
    }
    if (!rt.charge(1) || rt.failed()) return false;
  }
  out.turns = turns.first(count);
  out.system = system_of(rt, out.turns);
  return !rt.failed();
}

// ---- the whole request

/// api.ThinkValue: a boolean or one of four words. `true` counts as the level medium, since templates may print it.
bool read_think(Decoder& d, Value v, ChatRequest& out) {
  if (v.is_none()) return true;
  out.think_set = true;
  if (v.kind == Kind::boolean) {
    out.think = v.integer != 0;
    if (out.think) out.think_level = Value::view("medium");
    return true;
  }
  if (v.kind != Kind::string)
    return d.fail(
        "think must be a boolean or string (\"high\", \"medium\", \"low\", \"max\", true, or "
        "false)",
        v);
  const std::string_view level = leaf_text(v);
  if (level != "high" && level != "medium" && level != "low" && level != "max") {
    return d.fail("invalid think value: \"" + std::string(level) +
                      "\" (must be \"high\", \"medium\", \"low\", \"max\", true, or false)",
                  v);
  }
  out.think = true;
  out.think_level = v;
  return true;
}

bool read_turns(Decoder& d, Value v, OpenAiNames* openai, std::span<Turn>& turns) {
  turns = {};
  if (v.is_none()) return true;
  if (v.kind != Kind::list) return d.mismatch(v, "struct field .messages of type []api.Message");
  auto* made = d.rt().arena.allocate_array<Turn>(v.list->size);
  for (std::uint32_t i = 0; i < v.list->size; ++i) {
    if (!read_turn(d, v.list->items[i], openai, made[i])) return false;
    if (openai != nullptr) openai->complete(v.list->items[i], {made, i}, made[i]);
  }
  turns = {made, v.list->size};
  return true;
}

}  // namespace

Value system_of(Runtime& rt, std::span<const Turn> turns) {
  Value system;
  for (const Turn& turn : turns) {
    if (!is_role(turn, "system")) continue;
    system = system.is_undefined() ? turn[Turn::content] : joined(rt, system, turn[Turn::content]);
  }
  return system.is_undefined() ? no_text() : system;
}

/// `as_is` takes Ollama's own names only; otherwise OpenAI's names are read beside them, as Ollama's compatibility
/// layer does before it builds the same request.
bool read_request(Runtime& rt, const DictObject* variables, bool as_is, ChatRequest& out) {
  constexpr std::string_view kNames[] = {"messages", "tools", "think", "prompt", "suffix"};
  out = {};
  out.tools = nil_of(Type::tools);
  out.think_level = out.prompt = out.suffix = no_text();
  if (variables == nullptr) return true;
  Decoder d(rt);
  Value all;
  all.kind = Kind::dict;
  all.dict = variables;
  std::span<Turn> turns;
  OpenAiNames names(d);
  OpenAiNames* const openai = as_is ? nullptr : &names;
  const bool fine = d.for_each_field(all, "value of type api.ChatRequest", kNames, [&](int field, Value member) {
    switch (field) {
      case 0: return read_turns(d, member, openai, turns);
      case 1:
        return d.list(member, "struct field .tools of type api.Tools", Type::tools, out.tools,
                      [&](Value item, Value& made) { return read_tool(d, item, made); });
      case 2: return read_think(d, member, out);
      case 3: return d.text(member, "struct field .prompt of type string", out.prompt);
      default: return d.text(member, "struct field .suffix of type string", out.suffix);
    }
  });
  if (!fine) return false;
  if (openai != nullptr) openai->think(*variables, out);
  return collate(rt, turns, out);
}

}  // namespace parlance::gotemplate
