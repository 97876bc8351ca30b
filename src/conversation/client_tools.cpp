// The tables. What the inputs mean: the APIs' references of these tools.
#include "conversation/client_tools.h"

#include <algorithm>
#include <iterator>

#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

constexpr std::string_view kEditor =
    "Views, creates and edits files. view: shows the file or lists the folder at `path`, perhaps only the lines "
    "`view_range`. create: writes `file_text` to `path`. str_replace: replaces `old_str`, which must stand in the file "
    "once, by `new_str`. insert: puts a text behind the line `insert_line`.";

/// Of the editors that can undo, which are those of 2024 and of January 2025.
constexpr std::string_view kEditorInput =
    R"({"type": "object", "properties": {"command": {"type": "string", "enum": ["view", "create", "str_replace", )"
    R"("insert", "undo_edit"]}, "path": {"type": "string"}, "file_text": {"type": "string"}, "old_str": {"type": )"
    R"("string"}, "new_str": {"type": "string"}, "insert_line": {"type": "integer"}, "view_range": {"type": "array", )"
    R"("items": {"type": "integer"}}}, "required": ["command", "path"]})";

/// The first row whose type a tool's begins with.
constexpr ClientTool kAnthropicTools[] = {
    {"bash_", "bash", "Runs a command in a shell that lives on between calls. `restart` begins a new shell.",
     R"({"type": "object", "properties": {"command": {"type": "string"}, "restart": {"type": "boolean"}}})"},
    {"text_editor_20241022", "str_replace_editor", kEditor, kEditorInput},
    {"text_editor_20250124", "str_replace_editor", kEditor, kEditorInput},
    {"text_editor_", "str_replace_based_edit_tool", kEditor,
     R"({"type": "object", "properties": {"command": {"type": "string", "enum": ["view", "create", "str_replace", )"
     R"("insert"]}, "path": {"type": "string"}, "file_text": {"type": "string"}, "old_str": {"type": "string"}, )"
     R"("new_str": {"type": "string"}, "insert_line": {"type": "integer"}, "insert_text": {"type": "string"}, )"
     R"("view_range": {"type": "array", "items": {"type": "integer"}}}, "required": ["command", "path"]})"},
    {"memory_", "memory",
     "Keeps files below /memories between conversations. view: shows the file or lists the folder at `path`. create: "
     "writes `file_text` to `path`. str_replace: replaces `old_str` by `new_str`. insert: puts `insert_text` behind "
     "the line `insert_line`. delete: deletes `path`. rename: moves `old_path` to `new_path`.",
     R"({"type": "object", "properties": {"command": {"type": "string", "enum": ["view", "create", "str_replace", )"
     R"("insert", "delete", "rename"]}, "path": {"type": "string"}, "view_range": {"type": "array", "items": {"type": )"
     R"("integer"}}, "file_text": {"type": "string"}, "old_str": {"type": "string"}, "new_str": {"type": "string"}, )"
     R"("insert_line": {"type": "integer"}, "insert_text": {"type": "string"}, "old_path": {"type": "string"}, )"
     R"("new_path": {"type": "string"}}, "required": ["command"]})"},
};

constexpr ClientTool kResponsesTools[] = {
    {"local_shell", "local_shell",
     "Runs a command on the user's machine: `command` is the program and its arguments, [\"bash\", \"-lc\", \"ls\"].",
     R"({"type": "object", "properties": {"command": {"type": "array", "items": {"type": "string"}}, "env": {"type": )"
     R"("object", "additionalProperties": {"type": "string"}}, "timeout_ms": {"type": "integer"}, "user": {"type": )"
     R"("string"}, "working_directory": {"type": "string"}}, "required": ["command"], "additionalProperties": false})"},
    {"shell", "shell", "Runs commands in a shell on the user's machine, one after the other.",
     R"({"type": "object", "properties": {"commands": {"type": "array", "items": {"type": "string"}}, "timeout_ms": )"
     R"({"type": "integer"}, "max_output_length": {"type": "integer"}}, "required": ["commands"], )"
     R"("additionalProperties": false})"},
    {"tool_search", "tool_search",
     "Looks for more tools, by words for what they should do. What it finds can be called.",
     R"({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], )"
     R"("additionalProperties": false})"},
    {"apply_patch", "apply_patch",
     "Creates, changes or deletes a file. `diff` is in the format V4A: for a new file each line with + before it, for "
     "a change the lines around it with a blank before them, and those that go and come with - and +, behind a line "
     "@@.",
     R"({"type": "object", "properties": {"operation": {"anyOf": [{"type": "object", "properties": {"type": {"type": )"
     R"("string", "enum": ["create_file", "update_file"]}, "path": {"type": "string"}, "diff": {"type": "string"}}, )"
     R"("required": ["type", "path", "diff"], "additionalProperties": false}, {"type": "object", "properties": {)"
     R"("type": {"type": "string", "enum": ["delete_file"]}, "path": {"type": "string"}}, "required": ["type", )"
     R"("path"], "additionalProperties": false}]}}, "required": ["operation"], "additionalProperties": false})"},
};

}  // namespace

const ClientTool* find_anthropic_client_tool(std::string_view type) {
  const auto* row = std::find_if(std::begin(kAnthropicTools), std::end(kAnthropicTools),
                                 [&](const ClientTool& tool) { return type.starts_with(tool.type); });
  return row == std::end(kAnthropicTools) ? nullptr : row;
}

const ClientTool* find_responses_client_tool(std::string_view type) {
  const auto* row = std::find_if(std::begin(kResponsesTools), std::end(kResponsesTools),
                                 [&](const ClientTool& tool) { return tool.type == type; });
  return row == std::end(kResponsesTools) ? nullptr : row;
}

bool runs_at_client(Value tool) {
  const Value place = member_value(tool, "environment"), kind = member_value(place, "type");
  const bool is_given = !place.is_undefined() && !place.is_none();
  if (is_given && !(kind.is_string() && leaf_text(kind) == "local")) return false;
  const Value type = member_value(tool, "type");
  return !type.is_string() || leaf_text(type) != "tool_search" || is_searched_by_client(tool);
}

bool is_searched_by_client(Value of) {
  const Value who = member_value(of, "execution");
  return who.is_string() ? leaf_text(who) == "client" : member_value(of, "call_id").is_string();
}

}  // namespace parlance
