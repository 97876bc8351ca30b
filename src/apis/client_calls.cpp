// Begin reading at client_call_action.
#include "apis/client_calls.h"

#include <algorithm>
#include <iterator>

#include "json/writer.h"
#include "parlance/json.h"

namespace parlance::apis {
namespace {

constexpr ClientCall kClientCalls[] = {{"local_shell", "local_shell_call", "lsh_"},
                                       {"shell", "shell_call", "sh_"},
                                       {"apply_patch", "apply_patch_call", "apc_"},
                                       {"tool_search", "tool_search_call", "tsc_"}};

bool are_texts(Value list) {
  return list.is_sequence() && !list.items().empty() &&
         std::ranges::all_of(list.items(), [](Value one) { return one.is_string(); });
}

void append_numbers(Json& action, Value given, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (given[name].is_small_int()) action.number(name, given[name].integer);
}

std::string shell_action(Value given) {
  if (!are_texts(given["commands"])) return {};
  Json action('{');
  action.raw("commands", json_text(given["commands"]));
  append_numbers(action, given, {"timeout_ms", "max_output_length"});
  return action.take();
}

std::string local_shell_action(Value given) {
  if (!are_texts(given["command"])) return {};
  Json action('{');
  action.text("type", "exec").raw("command", json_text(given["command"]));
  const Value env = given["env"];
  const bool has_env = env.is(Kind::dict) &&
                       std::ranges::all_of(env.members(), [](const DictEntry& one) { return one.value.is_string(); });
  action.raw("env", has_env ? json_text(env) : "{}");
  append_numbers(action, given, {"timeout_ms"});
  for (const std::string_view name : {"user", "working_directory"})
    if (given[name].is_string()) action.raw(name, json_text(given[name]));
  return action.take();
}

std::string patch_operation(Value given) {
  const Value operation = given["operation"];
  const std::string_view type = operation["type"].text();
  const bool has_diff = type == "create_file" || type == "update_file";
  if ((!has_diff && type != "delete_file") || !operation["path"].is_string()) return {};
  if (has_diff && !operation["diff"].is_string()) return {};
  Json made('{');
  made.text("type", type).raw("path", json_text(operation["path"]));
  if (has_diff) made.raw("diff", json_text(operation["diff"]));
  return made.take();
}

}  // namespace

const ClientCall* find_client_call(std::string_view tool) {
  const auto* row = std::find_if(std::begin(kClientCalls), std::end(kClientCalls),
                                 [&](const ClientCall& call) { return call.tool == tool; });
  return row == std::end(kClientCalls) ? nullptr : row;
}

std::string client_call_action(const ClientCall& call, std::string_view arguments) {
  Document document;
  if (!document.parse(arguments, "arguments") || !document.root().is(Kind::dict)) return {};
  const bool patches = call.tool == "apply_patch";
  const Value given = document.root();
  if (call.tool == "tool_search") return "\"execution\": \"client\", \"arguments\": " + json_text(given);
  const std::string action = patches                ? patch_operation(given)
                             : call.tool == "shell" ? shell_action(given)
                                                    : local_shell_action(given);
  return action.empty() ? std::string() : (patches ? "\"operation\": " : "\"action\": ") + action;
}

}  // namespace parlance::apis
