// Passes over calls, their ids and the tools; see passes_for_templates.h.
//
// An id that is made depends on nothing but the id it replaces, or on where its call stands: a conversation that goes
// on keeps the ids it had.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/sha256.h"
#include "conversation/passes_for_templates.h"
#include "conversation/result_order.h"
#include "json/json.h"
#include "value/string.h"

namespace parlance::passes {
namespace {

constexpr std::size_t kShortId = 9;
constexpr std::string_view kIdLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

bool is_short_id(std::string_view id) {
  return id.size() == kShortId && id.find_first_not_of(kIdLetters) == std::string_view::npos;
}

/// Nine letters and digits that depend on `id` alone.
std::string digest(std::string_view id) {
  const std::string hex = sha256(id);
  std::string made;
  for (std::size_t i = 0; i < kShortId; ++i) {
    made += kIdLetters[std::stoul(hex.substr(4 * i, 4), nullptr, 16) % kIdLetters.size()];
  }
  return made;
}

bool is_result(Value message) { return is_role(message, "tool") || member(message, "tool_call_id") != nullptr; }

std::string_view id_of(Value dict, std::string_view key) {
  const Value* id = member(dict, key);
  return id != nullptr && id->is_leaf() ? leaf_text(*id) : std::string_view();
}

std::string_view name_of(Value call) {
  const Value* function = member(call, "function");
  return id_of(function != nullptr && function->kind == Kind::dict ? *function : call, "name");
}

/// Text of one piece that was made of `from`, if that is a text.
Value made_text(Runtime& rt, std::string_view bytes, const Value* from) {
  StringBuilder made(rt);
  if (from != nullptr && from->is_leaf()) {
    made.append_derived(bytes, *from);
  } else {
    made.append_computed(bytes);
  }
  return made.finish();
}

/// Gives the ids of calls and of results: `of_call(call, id, index)`, `of_result(message, id)` give another or "".
template <typename OfCall, typename OfResult>
void map_ids(Normaliser& n, OfCall of_call, OfResult of_result) {
  const auto with_id = [&](Value dict, std::string_view key, const std::string& id) {
    if (id.empty()) return dict;
    n.note(key);
    return with_member(n.rt, dict, key, made_text(n.rt, id, member(dict, key)));
  };
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    n.message = static_cast<std::int32_t>(i);
    Value made =
        map_calls(n, n.messages[i], [&](Value call) { return with_id(call, "id", of_call(call, id_of(call, "id"))); });
    if (is_result(made)) made = with_id(made, "tool_call_id", of_result(made, id_of(made, "tool_call_id")));
    if (made.dict != n.messages[i].dict) n.messages.set(i, made);
  }
}

/// The ids of all calls and results.
std::unordered_set<std::string> known_ids(Normaliser& n) {
  std::unordered_set<std::string> known;
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    if (is_result(n.messages[i])) known.emplace(id_of(n.messages[i], "tool_call_id"));
    map_calls(n, n.messages[i], [&](Value call) {
      known.emplace(id_of(call, "id"));
      return call;
    });
  }
  return known;
}

}  // namespace

Value arguments_text(Normaliser& n, Value message) {
  return map_arguments(n, message, [&n](Value arguments) -> Value {
    if (arguments.kind != Kind::dict && arguments.kind != Kind::list) return {};
    const Value made = write_json(n.rt, arguments);
    if (!made.is_string()) return {};
    text(n.rt, made);  // see content_parts
    return made;
  });
}

void order_results(Normaliser& n) {
  std::vector<Value> messages;
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) messages.push_back(n.messages[i]);
  std::vector<std::int32_t> numbers(messages.size());  // of each in the list that is made
  std::iota(numbers.begin(), numbers.end(), 0);
  bool moves = false;
  for (const ResultRun& run : result_runs(messages)) {
    if (run.is_ordered()) continue;
    moves = true;
    auto number = static_cast<std::int32_t>(run.first);
    for (const std::uint32_t message : run.in_order()) numbers[message] = number++;
  }
  if (!moves) return;
  std::vector<Value> ordered(messages.size());
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    ordered[static_cast<std::size_t>(numbers[i])] = messages[i];
    n.message = static_cast<std::int32_t>(i);
    if (numbers[i] != n.message) n.note();
  }
  n.replace_messages(with_origin(copy_list(n.rt, ordered), n.messages.origin()), numbers);
}

/// A result without an id answers the first call before it, or the first of its name, that has no answer yet.
void missing_ids(Normaliser& n) {
  struct Open {
    std::string id;
    std::string_view name;
  };
  std::vector<Open> open;
  std::size_t calls = 0;
  std::unordered_set<std::string> known = known_ids(n);
  const auto fresh = [&] {
    std::string id;
    do {
      id = digest("call " + std::to_string(calls++));
    } while (!known.insert(id).second);
    return id;
  };
  map_ids(
      n,
      [&](Value call, std::string_view id) {
        open.push_back({id.empty() ? fresh() : std::string(id), name_of(call)});
        return id.empty() ? open.back().id : std::string();
      },
      [&](Value result, std::string_view id) {
        const std::string_view name = id_of(result, "name");
        const auto answers = [&](const Open& one) {
          return id.empty() ? name.empty() || one.name == name : one.id == id;
        };
        auto call = std::find_if(open.begin(), open.end(), answers);
        if (call == open.end() && id.empty()) call = open.begin();
        if (call == open.end()) return id.empty() ? fresh() : std::string();
        const std::string answered = call->id;
        open.erase(call);
        return id.empty() ? answered : std::string();
      });
}

void short_ids(Normaliser& n) {
  std::unordered_map<std::string, std::string> given;
  std::unordered_set<std::string> known = known_ids(n);
  const auto shortened = [&](std::string_view id) -> std::string {
    if (id.empty() || is_short_id(id)) return {};
    std::string& made = given[std::string(id)];
    for (std::string seed(id); made.empty(); seed += '+') {
      const std::string next = digest(seed);
      if (known.insert(next).second) made = next;
    }
    return made;
  };
  map_ids(
      n, [&](Value, std::string_view id) { return shortened(id); },
      [&](Value, std::string_view id) { return shortened(id); });
}

/// Some templates show no name but the one in the id.
void named_ids(Normaliser& n) {
  std::unordered_map<std::string, std::string> given;
  std::size_t calls = 0;
  map_ids(
      n,
      [&](Value call, std::string_view id) -> std::string {
        const std::size_t number = calls++;
        const std::string_view name = name_of(call);
        if (name.empty() || id.find(name) != std::string_view::npos) return {};
        const std::string made = "functions." + std::string(name) + ":" + std::to_string(number);
        if (!id.empty()) given.insert_or_assign(std::string(id), made);
        return made;
      },
      [&](Value, std::string_view id) -> std::string {
        const auto found = given.find(std::string(id));
        return found == given.end() ? std::string() : found->second;
      });
}

void empty_tools(Normaliser& n) {
  constexpr std::string_view kName = "tools";
  const Value* given = member(n.state.variables, kName);
  if (given != nullptr && !given->is_none()) return;
  n.state.set_variable(Value::view(kName), ListBuilder(n.rt).finish());
  n.variable = kName;
  n.note();
}

}  // namespace parlance::passes
