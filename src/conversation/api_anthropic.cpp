// Requests of Anthropic's Messages; see api_request.h. Begin reading at convert_anthropic.
//
// What its blocks mean: the API's reference of POST /v1/messages (MessageParam, ToolParam, ToolChoiceParam).
#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "conversation/api_request.h"
#include "conversation/client_tools.h"
#include "conversation/media_parts.h"
#include "value/string.h"

namespace parlance::api {
namespace {

constexpr const char* kSystemForm = "`system` is a text or a list of blocks of the type text";
constexpr const char* kSystemHint = "what is no text belongs into a message of the user's";

/// Claude Code's clients begin `system` with such a line, which has another text in each request.
constexpr std::string_view kBilling = "x-anthropic-billing-header:";
constexpr std::string_view kBillingNote =
    "a billing header, which is another one in each request, so that no cache would find the prompt: left out";

constexpr std::string_view kLeaveOut = "leave the block out, or give its text as a block of the type text";
constexpr std::string_view kUnknownTool =
    "a tool whose form only the API knows: left out; given with `name` and `input_schema` it is offered";
constexpr std::string_view kMoved = "the tools are offered from the beginning of the conversation, as this leaves them";

/// Changes of the tools in the middle of a conversation.
bool is_tool_change(Value block) { return is_one_of(word(block, "type"), {"tool_addition", "tool_removal"}); }

/// Tools in their order, which are taken out by their names.
class NamedTools {
 public:
  void add(Value tool) {
    places_[word(tool, "name")].push_back(tools_.size());
    tools_.push_back(tool);
  }
  /// The first of that name; undefined where there is none.
  Value take(std::string_view name) {
    const auto found = places_.find(name);
    if (found == places_.end() || found->second.empty()) return {};
    const std::size_t place = found->second.front();
    found->second.pop_front();
    return std::exchange(tools_[place], Value());
  }
  /// Those that nobody took.
  std::vector<Value> rest() const {
    std::vector<Value> rest;
    std::ranges::copy_if(tools_, std::back_inserter(rest), [](const Value& tool) { return !tool.is_undefined(); });
    return rest;
  }

 private:
  std::vector<Value> tools_;  ///< undefined: taken
  std::map<std::string_view, std::deque<std::size_t>> places_;
};

/// Types of tools that the API itself runs.
bool is_run_by_api(std::string_view type) {
  constexpr std::string_view kRun[] = {"web_search_",       "web_fetch_", "code_execution_",
                                       "tool_search_tool_", "advisor_",   "mcp_toolset"};
  return std::ranges::any_of(kRun, [&](std::string_view begin) { return type.starts_with(begin); });
}

/// Blocks of calls of such tools, and of what they gave.
bool is_of_server_tool(std::string_view type) {
  return is_one_of(type, {"server_tool_use", "mcp_tool_use", "tool_reference", "container_upload"}) ||
         type.ends_with("_tool_result");
}

/// Types of tools that the API defines end in a date: web_search_20250305.
bool is_dated(std::string_view type) {
  constexpr std::size_t kDate = 9;  // _20250305
  if (type.size() <= kDate) return false;
  const std::string_view date = type.substr(type.size() - kDate);
  return date.starts_with("_20") && date.find_first_not_of("0123456789", 1) == date.npos;
}

/// Blocks that no other API has.
bool is_own_block(Value block) {
  const std::string_view type = word(block, "type");
  if (type == "image" || type == "document") return member_value(block, "source").kind == Kind::dict;
  if (type == "thinking") return member(block, "signature") != nullptr;
  return is_tool_change(block) ||
         is_one_of(type, {"tool_use", "redacted_thinking", "server_tool_use", "mcp_tool_use", "search_result",
                          "container_upload"}) ||
         type.ends_with("tool_result");
}

class AnthropicConverter {
 public:
  explicit AnthropicConverter(Request& request) : r_(request) {}

  void run() {
    if (const Value system = member_value(r_.given, "system"); is_given(system)) system_text(system);
    for (const Value& message : items(member_value(r_.given, "messages"))) {
      if (r_.failure) return;
      if (message.kind == Kind::dict)
        this->message(message);
      else
        r_.fail(message, "a message is not an object");
    }
    flush();
    tools(member_value(r_.given, "tools"));
    if (const Value servers = member_value(r_.given, "mcp_servers");
        servers.kind == Kind::list && servers.list->size != 0)
      r_.note(servers, kServerTool, true);
    choice(member_value(r_.given, "tool_choice"));
    output(member_value(r_.given, "output_format"));
    if (const Value config = member_value(r_.given, "output_config"); config.kind == Kind::dict) {
      output(member_value(config, "format"));
      r_.set("reasoning_effort", member_value(config, "effort"));
    }
  }

 private:
  void system_text(Value system) {
    Draft draft{.role = "system"};
    draft.of.push_back(system);
    if (system.is_string()) {
      const Value text = without_billing(system);
      if (text.size != 0) draft.parts.push_back(r_.text_part(text, system));
    } else if (system.kind == Kind::list) {
      for (const Value& block : items(system)) {
        if (word(block, "type") != "text") return r_.fail(block, kSystemForm, kSystemHint);
        text_block(block, draft, &block == items(system).data());
      }
    } else {
      return r_.fail(system, kSystemForm, kSystemHint);
    }
    if (!draft.parts.empty()) r_.add(draft);
  }

  void message(Value message) {
    const Value role = r_.text_in(message, "role");
    if (r_.failure) return;
    const std::string_view who = leaf_text(role);
    if (!is_one_of(who, {"user", "assistant", "system"}))
      return r_.fail(role, quoted(who) + " is not a role of this API, which has user and assistant");
    r_.leave(message, {"role", "content"}, {"id", "type", "model", "stop_reason", "stop_sequence", "usage"});
    const Value content = member_value(message, "content");
    if (content.kind == Kind::list && content.list->size != 0 && std::ranges::all_of(items(content), is_tool_change)) {
      for (const Value& block : items(content)) change_tools(block);
      return;
    }
    begin_message(who, message);
    has_result_ = content.kind == Kind::list && std::ranges::any_of(items(content), [](const Value& block) {
                    return block.kind == Kind::dict && word(block, "type") == "tool_result";
                  });
    if (content.is_string()) {
      if (content.size != 0) turn_.parts.push_back(r_.text_part(content, message));
    } else if (content.kind == Kind::list) {
      for (const Value& block : items(content)) {
        if (r_.failure) return;
        this->block(block, turn_, message);
      }
    } else {
      return r_.fail(content.is_undefined() ? message : content,
                     "the content of a message is a text or a list of blocks");
    }
  }

  /// Consecutive messages of the user, or of the assistant, are one turn, as in the API.
  void begin_message(std::string_view role, Value message) {
    const bool goes_on = open_ && turn_.role == role && role != "system";
    if (!goes_on) {
      flush();
      split_ = false;
    }
    if (!goes_on || (split_ && is_empty(turn_))) turn_ = Draft{.role = role};
    turn_.of.push_back(message);
    open_ = true;
  }

  void flush() {
    if (open_ && (!is_empty(turn_) || !split_)) r_.add(turn_);
    open_ = false;
  }

  static bool is_empty(const Draft& draft) {
    return draft.parts.empty() && draft.calls.empty() && draft.reasoning.empty();
  }

  void block(Value block, Draft& draft, const Value& message) {
    if (r_.dict_at(block, "a block of content").is_undefined()) return;
    const std::string_view type = word(block, "type");
    if (type == "tool_result") return result(block, draft, message);
    if (is_tool_change(block)) return change_tools(block);
    draft.of.push_back(block);
    if (type == "tool_use") return tool_use(block, draft);
    if (type == "thinking") return thinking(block, draft);
    if (type == "redacted_thinking")
      return r_.note(block, "encrypted reasoning, which only the API can read: left out", false);
    content_block(block, draft);
  }

  /// A block without its text may have it in its signature.
  void thinking(Value block, Draft& draft) {
    r_.leave(block, {"type", "thinking"}, {"signature", "cache_control"});
    const Value given = r_.text_in(block, "thinking");
    if (r_.failure) return;
    const Value text = given.size != 0 ? given : r_.opened(member_value(block, "signature"));
    if (text.is_undefined() || text.size == 0) return;
    draft.of.push_back(text);
    draft.reasoning.push_back(text);
  }

  /// What a message and a tool's result may hold.
  void content_block(Value block, Draft& draft) {
    const std::string_view type = word(block, "type");
    if (type == "text") return text_block(block, draft);
    if (type == "image") return image(block, draft);
    if (type == "document") return document(block, draft);
    if (type == "search_result") {
      r_.leave(block, {"type", "content"}, {"cache_control", "citations"});
      return blocks(member_value(block, "content"), draft);
    }
    if (type == "compaction") return compaction(block, draft);
    if (type == "tool_reference" && draft.role == "tool") return found_tool(block, draft);
    if (type.empty()) return r_.fail(block, "a block of content without `type`");
    if (is_of_server_tool(type)) return r_.note(block, kServerCall, true);
    r_.fail(block, "a block of the type " + quoted(type) + " cannot be converted", std::string(kLeaveOut));
  }

  /// What a client's own search for tools has found: its name, a line each, by which the model can call it now. Its
  /// definition is among the tools of this request.
  void found_tool(Value block, Draft& draft) {
    r_.leave(block, {"type", "tool_name"}, {"cache_control"});
    const Value name = member_value(block, "tool_name");
    if (name.is_string())
      draft.parts.push_back(r_.text_part(name, block));
    else
      r_.note(block, "without the name of a tool: passed over", true);
  }

  /// What the API has made of the messages before it.
  void compaction(Value block, Draft& draft) {
    r_.leave(block, {"type", "content"}, {"cache_control", "encrypted_content", "signature"});
    const Value text = member_value(block, "content");
    if (text.is_string())
      draft.parts.push_back(r_.text_part(text, block));
    else
      r_.note(block, "without its text: passed over", true);
  }

  /// Behind the line of a billing header.
  Value without_billing(Value text) {
    const std::string_view said = leaf_text(text);
    if (!said.starts_with(kBilling)) return text;
    r_.note(text, kBillingNote, true);
    const std::size_t line = std::min(said.find('\n'), said.size());
    return substring(r_.rt, text, std::min(said.find_first_not_of("\r\n", line), said.size()), said.size());
  }

  /// `first`: of `system`.
  void text_block(Value block, Draft& draft, bool first = false) {
    r_.leave(block, {"type", "text"}, {"cache_control"});
    const Value given = r_.text_in(block, "text");
    const Value text = first && given.is_string() ? without_billing(given) : given;
    if (first && text.size == 0 && given.size != 0) return;
    if (text.is_string()) draft.parts.push_back(r_.text_part(text, block));
  }

  void blocks(Value content, Draft& draft) {
    if (!is_given(content)) return;
    if (content.is_string()) return draft.parts.push_back(r_.text_part(content, content));
    if (r_.list_at(content, "the content of a block").is_undefined()) return;
    for (const Value& inner : items(content)) {
      if (r_.failure || r_.dict_at(inner, "a block of content").is_undefined()) return;
      content_block(inner, draft);
    }
  }

  void image(Value block, Draft& draft) {
    r_.leave(block, {"type", "source"}, {"cache_control"});
    const Value source = member_value(block, "source");
    const std::string_view type = word(source, "type");
    if (type == "url") {
      const Value url = r_.text_in(source, "url");
      if (!r_.failure) draft.parts.push_back(r_.media_part("image_url", "url", url, block));
    } else if (type == "base64") {
      const Value mime = r_.text_in(source, "media_type"), data = r_.text_in(source, "data");
      if (!r_.failure) draft.parts.push_back(r_.data_part(mime, data, block));
    } else {
      r_.fail(block, "an image whose source is of the type " + quoted(type) + " cannot be converted",
              "give it as base64 or by its url");
    }
  }

  /// A document of text is its text.
  void document(Value block, Draft& draft) {
    const Value source = member_value(block, "source");
    const std::string_view type = word(source, "type");
    if (type == "text") {
      r_.leave(block, {"type", "source"}, {"cache_control", "citations"});
      const Value data = r_.text_in(source, "data");
      if (!r_.failure) draft.parts.push_back(r_.text_part(data, block));
    } else if (type == "content") {
      r_.leave(block, {"type", "source"}, {"cache_control", "citations"});
      blocks(member_value(source, "content"), draft);
    } else {
      if (draft.role == "tool" || has_result_) return stand_in(block, draft);
      const std::string_view mime = word(source, "media_type");
      r_.fail(block, "a document (" + std::string(mime.empty() ? type : mime) + ") cannot be converted",
              "templates show text: give the document's text as a block of the type text");
    }
  }

  /// What a tool gave stays in the conversation for good: an error would be the answer to all that follows. Clients put
  /// a file that a tool has read beside its result, too.
  void stand_in(Value block, Draft& draft) {
    r_.note(block, "templates show text: a line says that a file was here", true);
    draft.parts.push_back(r_.text_part(Value::view(stand_in_for("file")), block));
  }

  void tool_use(Value block, Draft& draft) {
    r_.leave(block, {"type", "id", "name", "input"}, {"cache_control", "caller"});
    const Value name = r_.text_in(block, "name"), input = member_value(block, "input");
    if (r_.failure || (is_given(input) && r_.dict_at(input, "`input`").is_undefined())) return;
    const Value arguments = is_given(input) ? input : DictBuilder(r_.rt).finish();
    draft.calls.push_back(r_.call(member_value(block, "id"), name, arguments, block));
  }

  /// A tool's message of its own; what the user says before it is another.
  void result(Value block, Draft& draft, const Value& message) {
    if (!is_empty(draft)) r_.add(draft);
    const std::string_view role = draft.role;
    r_.leave(block, {"type", "tool_use_id", "content", "is_error"}, {"cache_control"});
    Draft tool{.role = "tool"};
    tool.of.push_back(block);
    tool.id = member_value(block, "tool_use_id");
    const Value failed = member_value(block, "is_error");
    if (failed.kind == Kind::boolean && failed.integer != 0) tool.is_error = failed;
    blocks(member_value(block, "content"), tool);
    r_.add(tool);
    draft = Draft{.role = role};
    draft.of.push_back(message);
    split_ = true;
  }

  void tools(Value given) {
    if (!is_given(given) && changes_.empty()) return;
    if (is_given(given) && r_.list_at(given, "`tools`").is_undefined()) return;
    const std::vector<Value> all = changed_tools(given);
    const Value of = is_given(given) ? given : changes_.front().block;
    ListBuilder made(r_.rt, static_cast<std::uint32_t>(all.size()));
    for (const Value& tool : all) {
      if (r_.dict_at(tool, "a tool").is_undefined()) return;
      if (Value function = this->tool(tool); !function.is_undefined()) made.append(function);
      if (r_.failure) return;
    }
    if (made.size() != 0) r_.set("tools", r_.made(made.finish(), of));
  }

  /// The function, or undefined.
  Value tool(Value tool) {
    const Value schema = member_value(tool, "input_schema");
    const std::string_view type = word(tool, "type");
    const bool is_typed = !is_given(schema) && !type.empty() && type != "custom";
    const ClientTool* known = is_typed ? find_anthropic_client_tool(type) : nullptr;
    if (known != nullptr) {
      r_.leave(tool, {"type", "name"},
               {"cache_control", "defer_loading", "allowed_callers", "strict", "max_characters"});
      return r_.client_tool(*known, tool);
    }
    if (is_typed) {
      r_.note(tool, is_run_by_api(type) ? kServerTool : kUnknownTool, true);
      return {};
    }
    r_.leave(tool, {"type", "name", "description", "input_schema", "strict"},
             {"cache_control", "eager_input_streaming", "defer_loading", "allowed_callers"});
    const Value name = r_.text_in(tool, "name");
    if (r_.failure) return {};
    return r_.function_tool(tool, name, member_value(tool, "description"), schema, member_value(tool, "strict"));
  }

  /// A block of the type tool_addition or tool_removal.
  void change_tools(Value block) {
    r_.leave(block, {"type", "tool"}, {"cache_control"});
    const Value tool = member_value(block, "tool");
    const Value given = r_.dict_at(tool.is_undefined() ? block : tool, "`tool`");
    if (given.is_undefined()) return;
    const std::string_view type = word(tool, "type");
    if (type == "tool_reference") {
      changes_.push_back({block, Value(), word(tool, "name")});
    } else if (type == "tool_definition") {
      const Value definition = r_.dict_at(member_value(tool, "definition"), "`definition`");
      changes_.push_back({block, definition, word(definition, "name")});
    } else {
      return r_.note(block, kServerTool, true);
    }
    r_.note(block, kMoved, false);
  }

  /// The tools as the changes leave them. One that is removed may be added again by its name.
  std::vector<Value> changed_tools(Value tools) const {
    NamedTools all, removed;
    if (tools.kind == Kind::list)
      for (const Value& tool : items(tools)) all.add(tool);
    for (const ToolChange& change : changes_) {
      const bool removes = word(change.block, "type") == "tool_removal";
      if (removes || !change.definition.is_undefined()) {
        if (const Value old = all.take(change.name); !old.is_undefined()) removed.add(old);
      }
      if (removes) continue;
      const Value offered = change.definition.is_undefined() ? removed.take(change.name) : change.definition;
      if (!offered.is_undefined()) all.add(offered);
    }
    return all.rest();
  }

  void choice(Value choice) {
    if (!is_given(choice)) return;
    const std::string_view type = word(choice, "type");
    if (type == "tool") {
      const Value name = r_.text_in(choice, "name");
      if (!r_.failure) r_.set("tool_choice", r_.choice_of(name, choice));
    } else if (type == "any") {
      r_.set("tool_choice", Value::view("required"));
    } else if (type == "auto" || type == "none") {
      r_.set("tool_choice", member_value(choice, "type"));
    } else {
      return r_.fail(choice, "`tool_choice` is an object with the type auto, any, tool or none");
    }
    const Value single = member_value(choice, "disable_parallel_tool_use");
    if (single.kind == Kind::boolean) r_.set("parallel_tool_calls", Value::boolean(single.integer == 0));
  }

  void output(Value format) {
    if (!is_given(format)) return;
    const Value schema = member_value(format, "schema");
    if (word(format, "type") != "json_schema" || !is_given(schema))
      return r_.fail(format, "an output format that is not json_schema with `schema`");
    DictBuilder inner(r_.rt, 2), outer(r_.rt, 2);
    inner.set("name", Value::view("response"));
    inner.set("schema", schema);
    outer.set("type", Value::view("json_schema"));
    outer.set("json_schema", inner.finish());
    r_.set("response_format", r_.made(outer.finish(), format));
  }

  struct ToolChange {
    Value block;
    Value definition;  ///< undefined: the tool is known by its name
    std::string_view name;
  };

  Request& r_;
  std::vector<ToolChange> changes_;
  Draft turn_;               ///< the message that is being made
  bool open_ = false;        ///< there is one
  bool has_result_ = false;  ///< the message has a tool's
  bool split_ = false;       ///< a tool's message was made of the turn before what is in the draft
};

}  // namespace

/// Only `system` is less of a mark: it may be a variable beside a chat of OpenAI's, see chat_mark.
Value anthropic_mark(Value request) {
  const Value* messages = member(request, "messages");
  if (messages == nullptr || messages->kind != Kind::list) return {};
  if (const Value tools = member_value(request, "tools"); tools.kind == Kind::list) {
    for (const Value& tool : items(tools)) {
      if (member(tool, "input_schema") != nullptr || is_dated(word(tool, "type"))) return tool;
    }
  }
  for (const Value& message : items(*messages)) {
    const Value* content = member(message, "content");
    if (content == nullptr || content->kind != Kind::list) continue;
    for (const Value& block : items(*content)) {
      if (is_own_block(block)) return block;
    }
  }
  const Value system = member_value(request, "system");
  if (is_given(system)) return system;
  const Value output = member_value(request, "output_config");
  return output.kind == Kind::dict && chat_mark(request).is_undefined() ? output : Value();
}

void convert_anthropic(Request& request) {
  AnthropicConverter(request).run();
  request.finish({"messages", "system", "tools", "tool_choice", "output_format", "output_config", "mcp_servers"},
                 {"anthropic_version", "anthropic_beta", "betas", "cache_control", "container", "context_management",
                  "inference_geo", "max_tokens", "metadata", "model", "service_tier", "speed", "stop_sequences",
                  "stream", "temperature", "top_k", "top_p"});
}

}  // namespace parlance::api
