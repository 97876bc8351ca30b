// Requests of OpenAI's Responses; see api_request.h. Begin reading at convert_responses.
//
// What its items mean: the API's reference of POST /v1/responses (ResponseInputItem, Tool, ResponseTextConfig).
#include <algorithm>
#include <map>
#include <set>

#include "conversation/api_request.h"
#include "conversation/client_tools.h"
#include "conversation/tool_spaces.h"

namespace parlance::api {
namespace {

/// Answers have the namespace again, but a chat that is written for another server has lost it.
constexpr std::string_view kFlat = "a chat has no namespaces: their functions stand alone";
constexpr std::string_view kOwnItem = "only the API can read it: passed over";

/// Items that no chat has a place for, and that stay in a history for good.
bool is_own(std::string_view type) {
  return is_one_of(type, {"compaction", "compaction_summary", "context_compaction", "ghost_snapshot"});
}
bool is_passed_over(std::string_view type) {
  return is_own(type) ||
         is_one_of(type, {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
                          "computer_call", "computer_call_output", "mcp_call", "mcp_list_tools", "mcp_approval_request",
                          "mcp_approval_response", "program", "program_output"});
}

/// Several items are one turn of the assistant: reasoning, a message, calls.
class ResponsesConverter {
 public:
  explicit ResponsesConverter(Request& request) : r_(request), tools_(tool_lists_of(request.given)), spaces_(tools_) {}

  void run() {
    for (const std::string_view name : {"previous_response_id", "conversation", "prompt"}) {
      if (const Value kept = member_value(r_.given, name); is_given(kept))
        return r_.fail(kept, "`" + std::string(name) + "` is state on a server, which is not in the request",
                       "give all items in `input`");
    }
    if (const Value said = member_value(r_.given, "instructions"); is_given(said)) instructions(said);
    const Value input = member_value(r_.given, "input");
    if (input.is_string()) {
      r_.add_text("user", input);
    } else {
      all(input);
    }
    flush();
    tools();
    choice(member_value(r_.given, "tool_choice"));
    text_config(member_value(r_.given, "text"));
    reasoning_config(member_value(r_.given, "reasoning"));
    update();
  }

 private:
  void instructions(Value said) {
    if (said.is_string()) {
      if (said.size != 0) r_.add_text("system", said);
      return;
    }
    all(said);
    flush();
  }

  void all(Value input) {
    if (r_.list_at(input, "this").is_undefined()) return;
    for (const Value& item : items(input)) {
      if (r_.failure || r_.dict_at(item, "an item").is_undefined()) return;
      this->item(item);
    }
  }

  void item(Value item) {
    const std::string_view type = word(item, "type");
    if (type == "message" || (type.empty() && member(item, "role") != nullptr)) return message(item);
    if (type == "reasoning") return reasoning(item);
    if (type == "function_call" || type == "custom_tool_call") return call(item, type == "custom_tool_call");
    if (is_one_of(type, {"local_shell_call", "shell_call", "apply_patch_call"})) return client_call(item, type);
    if (type == "tool_search_call" || type == "tool_search_output") return search(item, type);
    if (type == "additional_tools") return additional_tools(item);
    if (type == "configuration_update") return note_update(item);
    if (is_passed_over(type)) return r_.note(item, is_own(type) ? kOwnItem : kServerCall, true);
    flush();
    if (is_one_of(type, {"local_shell_call_output", "shell_call_output", "apply_patch_call_output"}))
      return client_output(item, type);
    if (type == "function_call_output" || type == "custom_tool_call_output") return output(item);
    if (type == "agent_message") return agent_message(item);
    if (type == "item_reference")
      return r_.fail(item, "an item_reference names what is kept on a server", "give the item itself");
    r_.fail(item,
            type.empty() ? "an item without `type` and `role`"
                         : "an item of the type " + quoted(type) + " cannot be converted",
            "leave the item out, or give its text as a message");
  }

  /// What was found is offered with the request's own tools, and the result of the client's search says so. The call of
  /// the API's own has nothing for a model.
  void search(Value item, std::string_view type) {
    const bool is_call = type == "tool_search_call", is_client = is_searched_by_client(item);
    if (is_call && !is_client) return r_.note(item, kServerCall, true);
    if (is_call) return search_call(item);
    r_.leave(item, {"type", "call_id", "tools"}, {"id", "status", "execution", "created_by"});
    check_tools_of(item);
    if (!is_client) return;
    flush();
    Draft draft{.role = "tool"};
    draft.of.push_back(item);
    draft.id = member_value(item, "call_id");
    draft.parts.push_back(r_.text_part(names_found(member_value(item, "tools")), item));
    r_.add(draft);
  }

  void additional_tools(Value item) {
    r_.leave(item, {"type", "tools"}, {"id", "role"});
    check_tools_of(item);
  }

  /// tools() goes through them later.
  void check_tools_of(Value item) {
    const Value given = member_value(item, "tools");
    if (given.is_undefined()) return r_.fail(item, "`tools` is missing");
    r_.list_at(given, "`tools`");
  }

  void search_call(Value item) {
    r_.leave(item, {"type", "call_id", "arguments"}, {"id", "status", "execution", "created_by"});
    const Value given = member_value(item, "arguments");
    if (r_.dict_at(given.is_undefined() ? item : given, "`arguments`").is_undefined()) return;
    Draft& draft = turn();
    draft.of.push_back(item);
    draft.calls.push_back(r_.call(member_value(item, "call_id"), Value::view("tool_search"), given, item));
  }

  /// By which the model can call them now, a line each.
  Value names_found(Value found) {
    std::vector<Value> texts;
    const auto add = [&](Value tool, std::string_view space) {
      if (!member_value(tool, "name").is_string()) return;
      if (!texts.empty()) texts.push_back(Value::view("\n"));
      texts.push_back(name_in_space(tool, space));
    };
    for (const Value& tool : found.kind == Kind::list ? items(found) : std::span<const Value>()) {
      const Value inner = member_value(tool, "tools");
      if (word(tool, "type") != "namespace") add(tool, {});
      for (const Value& one : inner.kind == Kind::list ? items(inner) : std::span<const Value>())
        add(one, word(tool, "name"));
    }
    return texts.empty() ? Value::view("no tools") : r_.joined(texts);
  }

  /// The last one that says a setting holds, over that of the request.
  void note_update(Value item) {
    r_.leave(item, {"type", "reasoning", "text"}, {"id"});
    if (const Value effort = member_value(member_value(item, "reasoning"), "effort"); is_given(effort))
      effort_ = effort;
    if (const Value format = member_value(member_value(item, "text"), "format"); is_given(format)) format_ = format;
  }
  void update() {
    if (!effort_.is_undefined()) r_.set("reasoning_effort", effort_);
    if (!format_.is_undefined()) text_format(format_);
  }

  /// What another agent told this one, which is not the model's own text. Its `content` may be sealed.
  void agent_message(Value item) {
    r_.leave(item, {"type", "content"}, {"id", "status", "author", "recipient"});
    Draft draft{.role = "user"};
    draft.of.push_back(item);
    const Value content = member_value(item, "content");
    if (content.is_string()) draft.parts.push_back(r_.text_part(content, item));
    for (const Value& part : content.kind == Kind::list ? items(content) : std::span<const Value>()) {
      if (const Value text = member_value(part, "text"); text.is_string())
        draft.parts.push_back(r_.text_part(text, part));
      else
        r_.note(part, kOwnItem, true);
    }
    if (!draft.parts.empty()) r_.add(draft);
  }

  Draft& turn() {
    if (!open_) turn_ = Draft{.role = "assistant"};
    open_ = true;
    return turn_;
  }

  void flush() {
    if (open_) r_.add(turn_);
    open_ = false;
  }

  void message(Value item) {
    const Value role = r_.text_in(item, "role");
    if (r_.failure) return;
    const std::string_view who = leaf_text(role);
    if (!is_one_of(who, {"user", "assistant", "system", "developer"}))
      return r_.fail(role, quoted(who) + " is not a role of this API, which has user, assistant, system and developer");
    if (const Value calls = member_value(item, "tool_calls"); is_given(calls))
      return r_.fail(calls, "`tool_calls` is of OpenAI's chat; this API has items of the type function_call");
    r_.leave(item, {"type", "role", "content"}, {"id", "status", "phase"});
    const bool assistant = who == "assistant";
    // A turn's text may come behind its calls, as clients order items: it is still that turn's.
    const bool has_said = open_ && !(turn_.parts.empty() && turn_.refusals.empty());
    if (!assistant || has_said) flush();
    if (assistant) turn().of.push_back(item);
    Draft other{.role = who};
    other.of.push_back(item);
    content(member_value(item, "content"), item, assistant ? turn_ : other);
    if (!assistant) r_.add(other);
  }

  void content(Value content, Value item, Draft& draft) {
    if (content.is_string()) {
      if (content.size != 0 || draft.role != "assistant") draft.parts.push_back(r_.text_part(content, item));
      return;
    }
    if (content.kind != Kind::list)
      return r_.fail(content.is_undefined() ? item : content, "content is a text or a list of parts");
    for (const Value& part : items(content)) {
      if (r_.failure || r_.dict_at(part, "a part of content").is_undefined()) return;
      this->part(part, draft);
    }
  }

  void part(Value part, Draft& draft) {
    const std::string_view type = word(part, "type");
    if (is_one_of(type, {"input_text", "output_text", "text"})) {
      r_.leave(part, {"type", "text"}, {"logprobs", "prompt_cache_breakpoint"});
      const Value text = r_.text_in(part, "text");
      if (text.is_string()) draft.parts.push_back(r_.text_part(text, part));
    } else if (type == "refusal") {
      r_.leave(part, {"type", "refusal"});
      if (const Value said = r_.text_in(part, "refusal"); said.is_string()) draft.refusals.push_back(said);
    } else if (type == "input_image") {
      image(part, draft);
    } else if (type == "input_audio") {
      draft.parts.push_back(part);
    } else if (type == "input_file") {
      file(part, draft);
    } else {
      r_.fail(part,
              type.empty() ? "a part of content without `type`"
                           : "a part of the type " + quoted(type) + " cannot be converted",
              "this API's parts are input_text, output_text, input_image, input_file");
    }
  }

  bool is_kept_on_server(Value part) {
    const Value id = member_value(part, "file_id");
    if (!is_given(id)) return false;
    r_.fail(id, "a file_id names what is kept on a server", "give the data, or an address");
    return true;
  }

  void image(Value part, Draft& draft) {
    if (is_kept_on_server(part)) return;
    r_.leave(part, {"type", "image_url", "file_id", "detail"});
    const Value url = r_.text_in(part, "image_url");
    if (url.is_string())
      draft.parts.push_back(
          r_.media_part("image_url", "url", url, part, {Value::view("detail"), member_value(part, "detail")}));
  }

  void file(Value part, Draft& draft) {
    if (is_kept_on_server(part)) return;
    if (!is_given(member_value(part, "file_data")))
      return r_.fail(part, "a file without `file_data` cannot be converted",
                     "give the file's text as a part of the type input_text");
    const Value inner =
        filtered(r_.rt, part, [](std::string_view key) { return key == "file_data" || key == "filename"; });
    DictBuilder made(r_.rt, 2);
    made.set("type", Value::view("file"));
    made.set("file", inner);
    draft.parts.push_back(r_.made(made.finish(), part));
  }

  void reasoning(Value item) {
    r_.leave(item, {"type", "summary", "content"}, {"id", "status", "encrypted_content"});
    Draft& draft = turn();
    draft.of.push_back(item);
    const Value content = member_value(item, "content");
    const bool whole = content.kind == Kind::list && content.list->size != 0;
    const Value texts = whole ? content : member_value(item, "summary");
    const bool has_text = texts.kind != Kind::list || texts.list->size != 0;
    if (!is_given(texts) || !has_text) return sealed(member_value(item, "encrypted_content"), draft);
    if (r_.list_at(texts, "reasoning").is_undefined()) return;
    for (const Value& one : items(texts)) {
      const Value text = one.kind == Kind::dict ? r_.text_in(one, "text") : r_.dict_at(one, "a part of the reasoning");
      if (r_.failure) return;
      if (text.size != 0) draft.reasoning.push_back(text);
    }
    const Value summary = member_value(item, "summary");
    const bool two = whole && summary.kind == Kind::list && summary.list->size != 0;
    if (two) r_.note(summary, "the reasoning itself is given: its summary is left out", true);
  }

  /// What answers here gave as `encrypted_content`; that of others nobody can read.
  void sealed(Value content, Draft& draft) {
    const Value text = r_.opened(content);
    if (text.is_undefined() || text.size == 0) return;
    draft.of.push_back(text);
    draft.reasoning.push_back(text);
  }

  void call(Value item, bool custom) {
    r_.leave(item, {"type", "call_id", "name", "namespace", "arguments", "input"}, {"id", "status"});
    if (const Value space = member_value(item, "namespace"); r_.keeps_steering && is_given(space))
      r_.note(space, kFlat, true);
    const Value name = name_in_space(item, word(item, "namespace"));
    const Value given = r_.text_in(item, custom ? "input" : "arguments");
    if (r_.failure) return;
    Draft& draft = turn();
    draft.of.push_back(item);
    if (!custom) return draft.calls.push_back(r_.call(member_value(item, "call_id"), name, given, item));
    DictBuilder inner(r_.rt, 2), made(r_.rt, 3);
    inner.set("name", name);
    inner.set("input", given);
    if (const Value id = member_value(item, "call_id"); is_given(id)) made.set("id", id);
    made.set("type", Value::view("custom"));
    made.set("custom", inner.finish());
    draft.calls.push_back(r_.made(made.finish(), item));
  }

  /// A call of a tool that the client runs (client_tools.h): its arguments are what is to be done.
  void client_call(Value item, std::string_view type) {
    const bool patches = type == "apply_patch_call";
    r_.leave(item, {"type", "call_id", "action", "operation"}, {"id", "status", "caller", "created_by", "environment"});
    const Value asked = member_value(item, patches ? "operation" : "action");
    if (r_.dict_at(asked.is_undefined() ? item : asked, patches ? "`operation`" : "`action`").is_undefined()) return;
    if (asked.is_undefined()) return r_.fail(item, patches ? "`operation` is missing" : "`action` is missing");
    DictBuilder given(r_.rt, asked.dict->size);
    for (const DictEntry& entry : entries(asked)) {
      const std::string_view key = leaf_text(entry.key);
      const bool is_kind = !patches && key == "type";
      const bool is_no_env = key == "env" && entry.value.kind == Kind::dict && entry.value.dict->size == 0;
      if (!is_kind && !is_no_env && !entry.value.is_none()) given.set(entry.key, entry.value);
    }
    const Value inner = r_.made(given.finish(), asked);
    DictBuilder outer(r_.rt, 1);
    if (patches) outer.set("operation", inner);
    const Value arguments = patches ? r_.made(outer.finish(), item) : inner;
    const Value name = Value::view(find_responses_client_tool(type.substr(0, type.rfind('_')))->name);
    if (type == "local_shell_call") shell_calls_.try_emplace(word(item, "id"), member_value(item, "call_id"));
    Draft& draft = turn();
    draft.of.push_back(item);
    draft.calls.push_back(r_.call(member_value(item, "call_id"), name, arguments, item));
  }

  void client_output(Value item, std::string_view type) {
    r_.leave(item, {"type", "call_id", "output", "id"}, {"status", "caller", "created_by", "max_output_length"});
    Draft draft{.role = "tool"};
    draft.of.push_back(item);
    draft.id = type == "local_shell_call_output" ? call_of_shell(item) : member_value(item, "call_id");
    const Value output = member_value(item, "output");
    if (type == "shell_call_output")
      shell_output(output, draft);
    else if (is_given(output))
      content(output, item, draft);
    else if (const Value status = member_value(item, "status"); status.is_string())
      draft.parts.push_back(r_.text_part(status, item));
    r_.add(draft);
  }

  /// An output of a local shell names the item of its call, in the API's own words.
  Value call_of_shell(Value output) const {
    if (const Value id = member_value(output, "call_id"); is_given(id)) return id;
    const std::string_view id = word(output, "id");
    const auto found = id.empty() ? shell_calls_.end() : shell_calls_.find(id);
    return found == shell_calls_.end() ? member_value(output, "id") : found->second;
  }

  /// What each command wrote, and how it ended where that was not well.
  void shell_output(Value output, Draft& draft) {
    if (output.is_string()) return draft.parts.push_back(r_.text_part(output, output));
    if (r_.list_at(output, "`output`").is_undefined()) return;
    for (const Value& one : items(output)) {
      if (r_.dict_at(one, "an output").is_undefined()) return;
      r_.leave(one, {"stdout", "stderr", "outcome"}, {"created_by"});
      for (const std::string_view name : {"stdout", "stderr"}) {
        const Value text = member_value(one, name);
        if (text.is_string() && text.size != 0) draft.parts.push_back(r_.text_part(text, one));
      }
      const Value outcome = member_value(one, "outcome"), code = member_value(outcome, "exit_code");
      const bool failed = is_given(code) && json_text(code) != "0";
      if (word(outcome, "type") == "timeout")
        draft.parts.push_back(r_.text_part(Value::view("[timeout]"), one));
      else if (failed)
        draft.parts.push_back(
            r_.text_part(r_.joined({Value::view("[exit code "), r_.json_of(code), Value::view("]")}), one));
    }
  }

  void output(Value item) {
    r_.leave(item, {"type", "call_id", "output", "name"}, {"id", "status"});
    Draft draft{.role = "tool"};
    draft.of.push_back(item);
    if (const Value name = member_value(item, "name"); is_given(name)) draft.name = name;
    draft.id = member_value(item, "call_id");
    content(member_value(item, "output"), item, draft);
    r_.add(draft);
  }

  void tools() {
    const Value own = member_value(r_.given, "tools");
    if (is_given(own) && r_.list_at(own, "`tools`").is_undefined()) return;
    std::size_t size = 0;
    for (const Value list : tools_) size += list.list->size;
    ListBuilder made(r_.rt, size);
    for (const Value list : tools_) {
      add_tools(list, made, {}, false);
      is_found_ = true;
    }
    if (made.size() != 0) r_.set("tools", r_.made(made.finish(), tools_.front()));
  }

  /// The name of a call or a tool, as a chat has it.
  Value name_in_space(Value of, std::string_view space) {
    const Value name = r_.text_in(of, "name");
    if (space.empty() || !name.is_string()) return name;
    const std::string shown = spaces_.shown_name(space, leaf_text(name));
    return shown == leaf_text(name) ? name : Value::view(r_.state.arena.copy_text(shown));
  }

  /// `space`: the name of the namespace in which they are, or "".
  void add_tools(Value tools, ListBuilder& made, std::string_view space, bool in_namespace) {
    for (const Value& tool : items(tools)) {
      if (r_.failure || r_.dict_at(tool, "a tool").is_undefined()) return;
      if (member(tool, "function") != nullptr)
        return r_.fail(tool,
                       "a tool with `function` is of OpenAI's chat; this API has name and parameters beside type");
      const std::string_view type = word(tool, "type");
      if (type == "custom") {
        const Value name = name_in_space(tool, space);
        if (is_new(name)) made.append(custom(tool, name));
      } else if (type == "namespace" && !in_namespace) {
        tools_of_namespace(tool, made);
      } else if (type != "function" && !type.empty()) {
        client_tool(tool, type, made);
      } else {
        r_.leave(tool, {"type", "name", "description", "parameters", "strict"}, {"defer_loading"});
        const Value name = name_in_space(tool, space);
        if (r_.failure) return;
        if (!is_new(name)) continue;
        made.append(r_.function_tool(tool, name, member_value(tool, "description"), member_value(tool, "parameters"),
                                     strict(tool)));
      }
    }
  }

  /// What is found is offered once, also where a request has it already.
  bool is_new(Value name) {
    const bool is_first = !name.is_string() || offered_.insert(leaf_text(name)).second;
    return is_first || !is_found_;
  }

  /// Containers are the API's own, and so is what runs in them.
  void client_tool(Value tool, std::string_view type, ListBuilder& made) {
    const ClientTool* known = find_responses_client_tool(type);
    if (known == nullptr || !runs_at_client(tool)) return r_.note(tool, kServerTool, true);
    if (!is_new(Value::view(known->name))) return;
    if (type == "tool_search") return search_tool(*known, tool, made);
    r_.leave(tool, {"type", "environment"}, {"allowed_callers"});
    r_.leave(member_value(tool, "environment"), {"type"});
    made.append(r_.client_tool(*known, tool));
  }

  /// The client may say in its own words what its search takes.
  void search_tool(const ClientTool& known, Value tool, ListBuilder& made) {
    r_.leave(tool, {"type", "description", "parameters"}, {"execution"});
    const Value description = member_value(tool, "description"), parameters = member_value(tool, "parameters");
    const Value usual = r_.client_tool(known, tool);
    if (!is_given(description) && !is_given(parameters)) return made.append(usual);
    const Value function = member_value(usual, "function");
    made.append(r_.function_tool(tool, Value::view(known.name),
                                 is_given(description) ? description : member_value(function, "description"),
                                 is_given(parameters) ? parameters : member_value(function, "parameters"), {}));
  }

  Value custom(Value tool, Value name) {
    const auto is_own = [](std::string_view key) { return is_one_of(key, {"type", "name", "description", "format"}); };
    r_.leave(tool, {"type", "name", "description", "format"}, {"defer_loading"});
    const bool all =
        std::ranges::all_of(entries(tool), [&](const DictEntry& one) { return is_own(leaf_text(one.key)); });
    const Value made = all ? tool : filtered(r_.rt, tool, is_own);
    const bool is_own_name = !name.is_string() || leaf_text(name) == word(tool, "name");
    return is_own_name ? made : with_member(r_.rt, made, "name", name);
  }

  /// The client's functions, which a chat has one beside the other (tool_spaces.h). Answers have the namespace again.
  void tools_of_namespace(Value space, ListBuilder& made) {
    const Value inner = member_value(space, "tools");
    if (inner.is_undefined()) return r_.fail(space, "`tools` is missing in a namespace", "give the list of its tools");
    if (r_.list_at(inner, "`tools`").is_undefined()) return;
    r_.leave(space, {"type", "name", "description", "tools"});
    if (const Value said = member_value(space, "name"); is_given(said)) r_.note(said, kFlat, r_.keeps_steering);
    if (const Value said = member_value(space, "description"); is_given(said)) r_.note(said, kFlat, true);
    add_tools(inner, made, word(space, "name"), true);
  }

  /// Functions are strict here unless it is said that they are not; in OpenAI's chat it is the other way round, so
  /// false is not said.
  Value strict(Value tool) {
    const Value strict = member_value(tool, "strict");
    const bool no = strict.kind == Kind::boolean && strict.integer == 0;
    if (no) r_.note(strict, "as chats have it where they do not say it: left out", false);
    return no ? Value() : strict;
  }

  void choice(Value choice) {
    if (!is_given(choice)) return;
    if (word(choice, "type") == "allowed_tools" && member(choice, "allowed_tools") == nullptr)
      return r_.set("tool_choice", allowed(choice));
    r_.set("tool_choice", one_choice(choice));
  }

  /// {"type": "function", "name"} with the name inside, as OpenAI's chat has it.
  Value one_choice(Value choice) {
    const Value name = member_value(choice, "name");
    if (const ClientTool* known = find_responses_client_tool(word(choice, "type")))
      return r_.choice_of(Value::view(known->name), choice);
    const Value shown = name.is_string() ? name_in_space(choice, word(choice, "namespace")) : name;
    if (word(choice, "type") == "function" && name.is_string()) return r_.choice_of(shown, choice);
    if (word(choice, "type") != "custom" || !name.is_string()) return choice;
    DictBuilder inner(r_.rt, 1), made(r_.rt, 2);
    inner.set("name", shown);
    made.set("type", Value::view("custom"));
    made.set("custom", inner.finish());
    return r_.made(made.finish(), choice);
  }

  Value allowed(Value choice) {
    const Value tools = member_value(choice, "tools");
    ListBuilder list(r_.rt, 4);
    std::set<std::string_view> spaces;  // each once: all its tools are allowed then
    for (const Value& tool : tools.kind == Kind::list ? items(tools) : std::span<const Value>()) {
      if (word(tool, "type") != "namespace")
        list.append(one_choice(tool));
      else if (spaces.insert(word(tool, "name")).second)
        append_choices_of_space(word(tool, "name"), tool, list);
    }
    DictBuilder inner(r_.rt, 2), made(r_.rt, 2);
    inner.set("mode", member_value(choice, "mode"));
    inner.set("tools", list.finish());
    made.set("type", Value::view("allowed_tools"));
    made.set("allowed_tools", inner.finish());
    return r_.made(made.finish(), choice);
  }

  void append_choices_of_space(std::string_view space, Value of, ListBuilder& list) {
    for (const std::string& shown : spaces_.shown_in(space))
      list.append(r_.choice_of(Value::view(r_.state.arena.copy_text(shown)), of));
  }

  void reasoning_config(Value reasoning) {
    if (reasoning.kind != Kind::dict) return r_.set("reasoning", reasoning);
    r_.set("reasoning_effort", member_value(reasoning, "effort"));
    if (r_.keeps_steering)
      r_.set("reasoning", filtered(r_.rt, reasoning, [](std::string_view key) { return key != "effort"; }));
    else
      r_.leave(reasoning, {"effort"}, {"summary", "generate_summary", "context", "mode"});
  }

  void text_config(Value text) {
    if (!is_given(text) || r_.dict_at(text, "`text`").is_undefined()) return;
    if (r_.keeps_steering)
      r_.set("text", filtered(r_.rt, text, [](std::string_view key) { return key != "format"; }));
    else
      r_.leave(text, {"format"}, {"verbosity"});
    if (const Value format = member_value(text, "format"); is_given(format)) text_format(format);
  }

  void text_format(Value format) {
    if (word(format, "type") != "json_schema") return r_.set("response_format", format);
    if (!is_given(member_value(format, "schema"))) return r_.fail(format, "`schema` is missing", "give a JSON Schema");
    DictBuilder made(r_.rt, 2);
    made.set("type", Value::view("json_schema"));
    made.set("json_schema", filtered(r_.rt, format, [](std::string_view key) { return key != "type"; }));
    r_.set("response_format", r_.made(made.finish(), format));
  }

  Request& r_;
  const std::vector<Value> tools_;  ///< lists of them
  const ToolSpaces spaces_;
  bool is_found_ = false;  ///< the tools that are gone through are not the request's own
  std::set<std::string_view> offered_;
  Value effort_, format_;  ///< of the last update that says it
  Draft turn_;
  std::map<std::string_view, Value> shell_calls_;  ///< ids of a local shell's calls, by those of their items
  bool open_ = false;
};

}  // namespace

Value responses_mark(Value request) {
  const Value input = member_value(request, "input");
  if (input.kind == Kind::list || (input.is_string() && member(request, "messages") == nullptr)) return input;
  const bool by_state =
      is_given(member_value(request, "previous_response_id")) && member(request, "messages") == nullptr;
  return by_state ? member_value(request, "previous_response_id") : Value();
}

void convert_responses(Request& request) {
  ResponsesConverter(request).run();
  request.finish({"input", "instructions", "tools", "tool_choice", "text", "reasoning", "previous_response_id",
                  "conversation", "prompt"},
                 {"background", "context_management", "include", "max_output_tokens", "metadata", "model",
                  "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "stream",
                  "stream_options", "temperature", "top_logprobs", "top_p", "truncation", "user"});
}

}  // namespace parlance::api
