// A chat as a request of OpenAI's Responses; see request_out.h. Begin reading at write_responses_request.
//
// What its items mean: the API's reference of POST /v1/responses. The way back is src/conversation/api_responses.cpp.
#include <set>

#include "apis/request_out.h"
#include "value/string.h"

namespace parlance::apis {
namespace {

class ResponsesWriter {
 public:
  explicit ResponsesWriter(RequestOut& out) : out_(out) {}

  void run() {
    out_.take("messages");
    const std::span<const Value> all = out_.messages();
    for (std::size_t i = 0; i < all.size() && !out_.failed(); ++i) {
      out_.at_message(i);
      if (i == 0 && out_.is_overruled("instructions") && word(all[i], "role") == "system") continue;
      if (i == 0 && is_instructions(all[i]))
        out_.set("instructions", member_value(all[i], "content"));
      else
        message(all[i], i);
    }
    out_.set("input", out_.list(items_));
    tools(out_.take("tools"));
    choice(out_.take("tool_choice"));
    out_.set("parallel_tool_calls", out_.take("parallel_tool_calls"));
    format(out_.take_format());
    effort();
    logprobs(out_.take("logprobs"));
    // Nothing is kept by other APIs unless somebody asks for it, and responses are.
    if (!is_given(store())) out_.set("store", Value::boolean(false));
  }

 private:
  /// The first message of the system, where it is one text.
  bool is_instructions(Value message) {
    if (word(message, "role") != "system") return false;
    const Value content = member_value(message, "content");
    if (!content.is_string() || content.size == 0 || says_something(member_value(message, "name"))) return false;
    leave(message);
    return true;
  }

  void leave(Value message) {
    out_.leave(message, {"role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning",
                         "thinking", "refusal", "images", "is_error"});
    out_.leave_to_others(message);
    if (const Value failed = member_value(message, "is_error");
        word(message, "role") == "tool" && says_something(failed))
      out_.lose(failed, out_.no_such());
  }

  // ---- items

  void message(Value message, std::size_t number) {
    const Value role = member_value(message, "role");
    const std::string_view who = word(message, "role");
    leave(message);
    if (who == "tool") return result(message);
    if (const Value name = member_value(message, "name"); says_something(name))
      out_.lose(name, "messages have no name: left out");
    if (who == "assistant") return turn(message, number);
    if (!is_one_of(who, {"user", "system", "developer"})) return out_.fail(role, "there is no role " + quoted(who));
    const Value content = this->content(message, "input_text");
    if (!out_.failed())
      items_.push_back(out_.object({{"type", Value::view("message")}, {"role", role}, {"content", content}}));
  }

  /// Reasoning, a message and calls, an item each.
  /// Items have no turn around them: two messages of an assistant in a row and one with the same parts look alike. The
  /// order reasoning, text, calls is the one in which a model writes them.
  void turn(Value message, std::size_t number) {
    const bool goes_on = number > 0 && word(out_.messages()[number - 1], "role") == "assistant";
    if (goes_on) out_.note(RequestNote::Kind::changed, message, "items have no turns: one with the message before");
    out_.leave_reasoning(message);
    if (const Value thought = member_value(message, "reasoning_content"); thought.is_string() && thought.size != 0)
      reasoning(thought, number);
    const Value content = member_value(message, "content"), refusal = member_value(message, "refusal");
    const std::span<const Value> calls = out_.calls_of(message);
    if (says_something(content) || says_something(refusal) || calls.empty()) said(message, content, refusal, number);
    for (const Value& call : calls) this->call(call);
  }

  /// An item of reasoning needs an id; the message's number makes it the same each time a chat is converted, so that
  /// prompts stay equal byte for byte.
  void reasoning(Value thought, std::size_t number) {
    const Value part = out_.object({{"type", Value::view("reasoning_text")}, {"text", thought}});
    items_.push_back(out_.object({{"type", Value::view("reasoning")},
                                  {"id", out_.made("rs_" + std::to_string(number))},
                                  {"summary", out_.list({})},
                                  {"content", out_.list({part})}}));
  }

  /// A text alone is the short form of a message. A refusal is a part, and parts of an assistant need the long form,
  /// with id and status.
  void said(Value message, Value content, Value refusal, std::size_t number) {
    if (!says_something(refusal) || says_something(content)) content = this->content(message, "output_text");
    if (out_.failed()) return;
    if (content.is_string() && !says_something(refusal)) {
      return items_.push_back(out_.object(
          {{"type", Value::view("message")}, {"role", member_value(message, "role")}, {"content", content}}));
    }
    std::vector<Value> parts;
    if (content.is_string() && content.size != 0) parts.push_back(text(content, "output_text"));
    if (content.kind == Kind::list) {
      for (const Value& part : items(content)) parts.push_back(part);
    }
    if (says_something(refusal)) parts.push_back(refused(refusal));
    items_.push_back(out_.object({{"type", Value::view("message")},
                                  {"role", member_value(message, "role")},
                                  {"content", out_.list(parts)},
                                  {"id", out_.made("msg_" + std::to_string(number))},
                                  {"status", Value::view("completed")}}));
  }

  void call(Value call) {
    out_.leave(call, {"id", "type", "function", "custom", "index"});
    const Value function = member_value(call, "function"), custom = member_value(call, "custom"),
                id = member_value(call, "id");
    if (custom.kind == Kind::dict) {
      out_.leave(custom, {"name", "input"});
      if (id.is_leaf()) custom_ids_.emplace(leaf_text(id));
      called_.add(call, custom);
      return items_.push_back(out_.object({{"type", Value::view("custom_tool_call")},
                                           {"call_id", out_.needed(call, "id")},
                                           {"name", out_.needed(custom, "name")},
                                           {"input", out_.needed(custom, "input")}}));
    }
    if (function.kind != Kind::dict) return out_.fail(call, "a call without `function`");
    out_.leave(function, {"name", "arguments"});
    const Value arguments = member_value(function, "arguments");
    items_.push_back(out_.object({{"type", Value::view("function_call")},
                                  {"call_id", out_.needed(call, "id")},
                                  {"name", out_.needed(function, "name")},
                                  {"arguments", is_given(arguments) ? out_.as_text(arguments) : Value::view("{}")}}));
  }

  /// The kind of a result follows its call's, which only the call's id tells: hence custom_ids_.
  void result(Value message) {
    const Value id = out_.needed(message, "tool_call_id"), name = member_value(message, "name");
    const bool custom = id.is_leaf() && custom_ids_.count(std::string(leaf_text(id))) != 0;
    const Value output = content(message, "input_text");
    if (out_.failed()) return;
    if (custom) called_.leave_name(out_, message, "results of custom tools have no name");
    items_.push_back(out_.object({{"type", Value::view(custom ? "custom_tool_call_output" : "function_call_output")},
                                  {"call_id", id},
                                  {"output", output},
                                  {"name", says_something(name) && !custom ? name : Value()}}));
  }

  // ---- parts

  /// A text, or a list of parts.
  Value content(Value message, std::string_view type) {
    const Value content = out_.content_of(message);
    if (content.kind != Kind::list) return content;
    std::vector<Value> parts;
    for (const Value& one : items(content)) {
      if (out_.failed()) return {};
      parts.push_back(part(one, type));
    }
    return out_.content_from(parts);
  }

  Value text(Value text, std::string_view type) {
    return out_.object({{"type", Value::view(type)},
                        {"text", text},
                        {"annotations", type == "output_text" ? out_.list({}) : Value()}});
  }

  Value refused(Value refusal) {
    if (!refusal.is_string()) out_.fail(refusal, "a refusal is a text");
    return out_.object({{"type", Value::view("refusal")}, {"refusal", refusal}});
  }

  Value part(Value part, std::string_view text_type) {
    const std::string_view type = word(part, "type");
    const bool output = text_type == "output_text";
    if (type == "text") {
      out_.leave(part, {"type", "text"});
      return text(out_.needed(part, "text"), text_type);
    }
    if (type == "refusal" && output) {
      out_.leave(part, {"type", "refusal"});
      return refused(out_.needed(part, "refusal"));
    }
    if (type == "image_url" && !output) return image(part);
    if (type == "file" && !output) {
      const Value file = member_value(part, "file");
      out_.leave(part, {"type", "file"});
      out_.leave(file, {"file_data", "file_id", "filename"});
      return out_.object({{"type", Value::view("input_file")},
                          {"file_data", member_value(file, "file_data")},
                          {"file_id", member_value(file, "file_id")},
                          {"filename", member_value(file, "filename")}});
    }
    out_.fail(part,
              type.empty() ? "a part of a message's content has no `type`"
                           : std::string(output ? "an assistant's" : "a") + " message cannot hold a part of the type " +
                                 quoted(type) + ", only " + (output ? "text and refusal" : "text, image_url and file"),
              "give its text as a part of the type text");
    return {};
  }

  Value image(Value part) {
    const Value given = member_value(part, "image_url"), url = given.is_string() ? given : member_value(given, "url");
    if (!url.is_string()) {
      out_.fail(part, "an image without `url`");
      return {};
    }
    out_.leave(part, {"type", "image_url"});
    out_.leave(given, {"url", "detail"});
    const Value detail = member_value(given, "detail");
    return out_.object({{"type", Value::view("input_image")},
                        {"image_url", url},
                        {"detail", is_given(detail) ? detail : Value::view("auto")}});
  }

  // ---- tools

  void tools(Value tools) {
    if (tools.kind != Kind::list || out_.is_overruled("tools")) return;
    if (tools.list->size == 0) out_.note(RequestNote::Kind::changed, tools, "no tools: left out");
    std::vector<Value> made;
    for (const Value& tool : items(tools)) {
      const Value function = member_value(tool, "function"), custom = member_value(tool, "custom");
      if (custom.kind == Kind::dict || word(tool, "type") == "custom")
        made.push_back(custom_tool(tool, custom));
      else if (function.kind == Kind::dict)
        made.push_back(this->function(tool, function));
      else
        out_.lose(tool, "no function: left out");
    }
    if (!made.empty()) out_.set("tools", out_.list(made));
  }

  /// Functions are not strict unless a chat says so, and are where Responses are not told otherwise.
  Value function(Value tool, Value function) {
    out_.leave(tool, {"type", "function"});
    out_.leave(function, {"name", "description", "parameters", "strict"});
    const Value strict = member_value(function, "strict"), about = member_value(function, "description");
    const Value parameters = member_value(function, "parameters");
    const bool type_last = ends_with_member(tool, "type");
    const Value type = Value::view("function");
    const Value made = in_order_of(out_.rt(), function,
                                   {{"name", "name", out_.needed(function, "name")},
                                    {"description", "description", is_given(about) ? about : Value()},
                                    {"parameters", "parameters", is_given(parameters) ? parameters : Value::none()},
                                    {"strict", "strict", is_given(strict) ? strict : Value::boolean(false)},
                                    {"", "type", type_last ? type : Value()}});
    if (type_last) return made;
    DictBuilder all(out_.rt(), made.dict->size + 1);
    all.set("type", type);
    for (const DictEntry& entry : entries(made)) all.set(entry.key, entry.value);
    return all.finish();
  }

  /// The grammar of a custom tool is nested in a chat and flat in Responses.
  Value custom_tool(Value tool, Value custom) {
    const bool has_inner = custom.kind == Kind::dict;
    const Value inner = has_inner ? custom : tool;
    if (has_inner) out_.leave(tool, {"type", "custom"});
    out_.leave(inner, {"type", "name", "description", "format"});
    const Value format = member_value(inner, "format"), grammar = member_value(format, "grammar");
    const bool nested = grammar.kind == Kind::dict;
    if (nested) out_.leave(format, {"type", "grammar"});
    if (nested) out_.leave(grammar, {"syntax", "definition"});
    const Value flat = nested ? out_.object({{"type", Value::view("grammar")},
                                             {"syntax", member_value(grammar, "syntax")},
                                             {"definition", member_value(grammar, "definition")}})
                              : format;
    return out_.object({{"type", Value::view("custom")},
                        {"name", out_.needed(inner, "name")},
                        {"description", member_value(inner, "description")},
                        {"format", flat}});
  }

  /// {"type": "function", "function": {"name"}} as {"type": "function", "name"}.
  Value named(Value choice) {
    for (const std::string_view kind : {"function", "custom"}) {
      const Value name = member_value(member_value(choice, kind), "name");
      if (name.is_string()) return out_.object({{"type", Value::view(kind)}, {"name", name}});
    }
    return {};
  }

  void choice(Value choice) {
    if (choice.is_undefined() || out_.is_overruled("tool_choice")) return;
    const Value allowed = member_value(choice, "allowed_tools");
    if (choice.is_string()) return out_.set("tool_choice", choice);
    if (allowed.kind != Kind::dict) {
      const Value one = named(choice);
      return one.is_undefined() ? out_.fail(choice, "there is no such tool choice") : out_.set("tool_choice", one);
    }
    std::vector<Value> tools;
    const Value given = member_value(allowed, "tools");
    if (given.kind == Kind::list) {
      for (const Value& tool : items(given)) tools.push_back(named(tool).is_undefined() ? tool : named(tool));
    }
    out_.set("tool_choice", out_.object({{"type", Value::view("allowed_tools")},
                                         {"mode", member_value(allowed, "mode")},
                                         {"tools", out_.list(tools)}}));
  }

  // ---- settings

  /// OpenRouter has a switch beside the effort: off is the effort `none`, on is none in particular.
  void effort() {
    const Value effort = out_.take_effort(), enabled = out_.take_inner("reasoning", "enabled");
    out_.set("reasoning.effort", effort);
    if (!is_given(effort) && says_something(enabled)) out_.lose(enabled, "says no effort: left out");
  }

  void logprobs(Value logprobs) {
    if (says_something(logprobs)) out_.set("include", out_.list({Value::view("message.output_text.logprobs")}));
  }

  Value store() {
    const Value given = out_.take("store");
    out_.set("store", given);
    return given;
  }

  void format(Value format) {
    const Value inner = member_value(format, "json_schema");
    if (format.is_undefined() || out_.is_overruled("text.format")) return;
    if (inner.kind != Kind::dict) return out_.set("text.format", format);
    out_.set("text.format", out_.object({{"type", Value::view("json_schema")},
                                         {"name", out_.needed(inner, "name")},
                                         {"description", member_value(inner, "description")},
                                         {"schema", member_value(inner, "schema")},
                                         {"strict", member_value(inner, "strict")}}));
  }

  RequestOut& out_;
  std::vector<Value> items_;
  std::set<std::string, std::less<>> custom_ids_;
  CalledNames called_;
};

}  // namespace

void write_responses_request(RequestOut& out) { ResponsesWriter(out).run(); }

}  // namespace parlance::apis
