// A chat as a request of Anthropic's Messages; see request_out.h. Begin reading at write_messages_request.
//
// What its members mean: the API's reference of POST /v1/messages. The way back is src/conversation/api_anthropic.cpp.
#include "apis/request_out.h"
#include "value/string.h"

namespace parlance::apis {
namespace {

class MessagesWriter {
 public:
  explicit MessagesWriter(RequestOut& out) : out_(out) {}

  void run() {
    out_.take("messages");
    const std::span<const Value> all = out_.messages();
    std::size_t first = 0;
    if (out_.is_overruled("system") && !all.empty() && is_system(all.front())) {
      first = 1;
    } else if (!all.empty() && is_system(all.front())) {
      out_.at_message(first++);
      system(all.front());
    }
    for (std::size_t i = first; i < all.size() && !out_.failed(); ++i) {
      out_.at_message(i);
      message(all[i]);
    }
    flush();
    out_.set("messages", out_.list(made_));
    tools(out_.take("tools"));
    const Value parallel = out_.take("parallel_tool_calls");
    choice(out_.take("tool_choice"), parallel);
    format(out_.take_format());
    effort();
  }

 private:
  static bool is_system(Value message) { return is_one_of(word(message, "role"), {"system", "developer"}); }

  // ---- messages

  void system(Value message) {
    Value content = this->content(message);
    for (const Value& block : content.kind == Kind::list ? items(content) : std::span<const Value>()) {
      if (word(block, "type") != "text")
        out_.fail(member_value(message, "content"),
                  "`system` is a string or a list of strings, and this has something else",
                  "give it in a message of the role user");
    }
    if (out_.failed()) return;
    if (content.is_string() && content.size == 0)
      return made_.push_back(out_.object({{"role", Value::view("system")}, {"content", content}}));
    out_.set("system", content);
  }

  // Results are blocks of a user's message there. They are collected until somebody else speaks; a user's text right
  // behind them goes into the same message.
  void message(Value message) {
    const Value role = member_value(message, "role");
    const std::string_view who = word(message, "role");
    if (who == "tool") return result(message);
    const Value content = this->content(message);
    if (out_.failed()) return;
    if (who == "assistant") {
      flush();
      made_.push_back(out_.object({{"role", role}, {"content", turn(message, content)}}));
    } else if (who == "user" && !results_.empty()) {
      append_blocks(content, results_);
      flush();
    } else if (who == "user" || is_system(message)) {
      flush();
      made_.push_back(out_.object({{"role", Value::view(who == "user" ? "user" : "system")}, {"content", content}}));
    } else {
      out_.fail(role, "there is no role " + quoted(who) + ", only user, assistant and system");
    }
  }

  /// Results and what the user says behind them are one message.
  void flush() {
    if (results_.empty()) return;
    made_.push_back(out_.object({{"role", Value::view("user")}, {"content", out_.list(results_)}}));
    results_.clear();
  }

  /// A text, or a list of blocks. Notes what else the message has.
  Value content(Value message) {
    const std::string_view who = word(message, "role");
    if (who == "developer")
      out_.lose(member_value(message, "role"), "there is no role developer: given as a system message");
    called_.leave_name(out_, message, "messages have no name");
    out_.leave(message, {"role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning",
                         "thinking", "refusal", "is_error", "images"});
    out_.leave_to_others(message);
    const Value content = out_.content_of(message);
    if (content.kind != Kind::list) return content;
    std::vector<Value> blocks;
    for (const Value& part : items(content)) {
      if (out_.failed()) return {};
      blocks.push_back(block(part));
    }
    return out_.content_from(blocks);
  }

  void append_blocks(Value content, std::vector<Value>& blocks) {
    if (content.is_string()) return blocks.push_back(text_block(content));
    for (const Value& block : items(content)) blocks.push_back(block);
  }

  /// The content of an assistant's message: reasoning, what is said, calls.
  Value turn(Value message, Value content) {
    out_.leave_reasoning(message);
    if (const Value thought = member_value(message, "reasoning_content"); thought.is_string() && thought.size != 0) {
      out_.lose(thought, "reasoning without a signature, which the API refuses: left out");
    }
    const Value refusal = member_value(message, "refusal");
    const std::span<const Value> calls = out_.calls_of(message);
    if (!says_something(refusal) && calls.empty()) return content;
    std::vector<Value> blocks;
    if (!content.is_string() || content.size != 0) append_blocks(content, blocks);
    if (says_something(refusal)) blocks.push_back(refused(refusal));
    for (const Value& call : calls) blocks.push_back(this->call(call));
    return out_.list(blocks);
  }

  Value refused(Value refusal) {
    if (!refusal.is_string()) out_.fail(refusal, "a refusal is a text");
    out_.lose(refusal, "there is no refusal here: given as a text");
    return text_block(refusal);
  }

  /// `input` must be an object there. {"INVALID_JSON": TEXT} is how the API is told of arguments that are none.
  Value call(Value call) {
    const Value function = member_value(call, "function");
    if (function.kind != Kind::dict) {
      out_.fail(call, "a call without `function`");
      return {};
    }
    out_.leave(call, {"id", "type", "function", "index"});
    out_.leave(function, {"name", "arguments"});
    Value input = member_value(function, "arguments");
    if (!is_given(input)) input = out_.object({});
    if (input.kind != Kind::dict) {
      out_.lose(input, "arguments that are not an object: given as {\"INVALID_JSON\": TEXT}");
      input = out_.object({{"INVALID_JSON", out_.as_text(input)}});
    }
    called_.add(call, function);
    return out_.object({{"type", Value::view("tool_use")},
                        {"id", out_.needed(call, "id")},
                        {"name", out_.needed(function, "name")},
                        {"input", input}});
  }

  void result(Value message) {
    const Value content = this->content(message), failed = member_value(message, "is_error");
    if (out_.failed()) return;
    results_.push_back(out_.object({{"type", Value::view("tool_result")},
                                    {"tool_use_id", out_.needed(message, "tool_call_id")},
                                    {"content", content},
                                    {"is_error", says_something(failed) ? Value::boolean(true) : Value()}}));
  }

  // ---- parts

  Value text_block(Value text) { return out_.object({{"type", Value::view("text")}, {"text", text}}); }

  Value block(Value part) {
    const std::string_view type = word(part, "type");
    if (type == "text") {
      out_.leave(part, {"type", "text", "cache_control"});
      return out_.object({{"type", Value::view("text")},
                          {"text", out_.needed(part, "text")},
                          {"cache_control", given(part, "cache_control")}});
    }
    if (type == "refusal") {
      out_.leave(part, {"type", "refusal"});
      return refused(out_.needed(part, "refusal"));
    }
    if (type == "image_url") return image(part);
    if (type == "file") return file(part);
    out_.fail(part,
              type.empty() ? "a part of a message's content has no `type`"
                           : "a message's content has no block for a part of the type " + quoted(type) +
                                 ", only for text, image_url and file",
              "give its text as a part of the type text");
    return {};
  }

  /// A data: address becomes bytes with a type, of which the API takes four; any other address is left for it to fetch.
  Value image(Value part) {
    const Value given = member_value(part, "image_url"), url = given.is_string() ? given : member_value(given, "url");
    if (!url.is_string()) {
      out_.fail(part, "an image without `url`");
      return {};
    }
    out_.leave(part, {"type", "image_url", "cache_control"});
    out_.leave(given, {"url", "detail"});
    if (const Value detail = member_value(given, "detail"); says_something(detail) && !is_text(&detail, "auto"))
      out_.lose(detail, out_.no_such());
    const auto [mime, data] = split_data_url(out_.rt(), url);
    if (!mime.is_undefined() && !is_one_of(leaf_text(mime), {"image/jpeg", "image/png", "image/gif", "image/webp"}))
      out_.fail(part, "an image of the type " + quoted(leaf_text(mime)), "JPEG, PNG, GIF and WebP are taken");
    if (mime.is_undefined() && is_data_url(out_.rt(), url)) out_.fail(part, "a data: address that is not in base64");
    const Value source = mime.is_undefined()
                             ? out_.object({{"type", Value::view("url")}, {"url", url}})
                             : out_.object({{"type", Value::view("base64")}, {"media_type", mime}, {"data", data}});
    return out_.object({{"type", Value::view("image")},
                        {"source", source},
                        {"cache_control", MessagesWriter::given(part, "cache_control")}});
  }

  // Only PDF may be given as bytes: an id of a file belongs to the other API's store.
  Value file(Value part) {
    const Value given = member_value(part, "file");
    const auto [mime, data] = split_data_url(out_.rt(), member_value(given, "file_data"));
    if (!is_text(&mime, "application/pdf")) {
      out_.fail(part, "a file that is not a PDF as a data: address", "give its text as a part of the type text");
      return {};
    }
    out_.leave(part, {"type", "file", "cache_control"});
    out_.leave(given, {"file_data", "filename"});
    const Value source = out_.object({{"type", Value::view("base64")}, {"media_type", mime}, {"data", data}});
    return out_.object({{"type", Value::view("document")},
                        {"source", source},
                        {"title", member_value(given, "filename")},
                        {"cache_control", MessagesWriter::given(part, "cache_control")}});
  }

  // ---- tools

  // The order of a tool's members is kept, since templates print tools member by member.
  void tools(Value tools) {
    if (tools.kind != Kind::list || out_.is_overruled("tools")) return;
    if (tools.list->size == 0) out_.note(RequestNote::Kind::changed, tools, "no tools: left out");
    std::vector<Value> made;
    for (const Value& tool : items(tools)) {
      const Value function = member_value(tool, "function");
      if (function.kind != Kind::dict) {
        if (const Value custom = member_value(tool, "custom"); custom.kind == Kind::dict) out_.needed(custom, "name");
        out_.lose(tool, "no function: left out");
        continue;
      }
      out_.leave(tool, {"type", "function", "cache_control"});
      out_.leave(function, {"name", "description", "parameters", "strict"});
      // The type is said only where it stands behind the function, which templates show.
      made.push_back(in_order_of(out_.rt(), function,
                                 {{"name", "name", out_.needed(function, "name")},
                                  {"description", "description", given(function, "description")},
                                  {"parameters", "input_schema", schema(function)},
                                  {"strict", "strict", given(function, "strict")},
                                  {"", "cache_control", given(tool, "cache_control")},
                                  {"", "type", ends_with_member(tool, "type") ? Value::view("custom") : Value()}}));
    }
    if (!made.empty()) out_.set("tools", out_.list(made));
    has_tools_ = !made.empty();
  }

  static Value given(Value dict, std::string_view name) {
    const Value found = member_value(dict, name);
    return found.is_none() ? Value() : found;
  }

  /// The API takes schemas of objects alone.
  Value schema(Value function) {
    const Value parameters = member_value(function, "parameters");
    if (word(parameters, "type") == "object") return parameters;
    out_.note(RequestNote::Kind::changed, is_given(parameters) ? parameters : function,
              "the API needs a schema of the type object");
    DictBuilder made(out_.rt(), 4);
    made.set("type", Value::view("object"));
    if (parameters.kind == Kind::dict) {
      for (const DictEntry& entry : entries(parameters)) made.set(entry.key, entry.value);
    }
    return made.finish();
  }

  /// `parallel_tool_calls: false` is a member of the choice there, so it makes a choice where none was given.
  void choice(Value choice, Value parallel) {
    const bool one = parallel.kind == Kind::boolean && parallel.integer == 0;
    if (out_.is_overruled("tool_choice")) return;
    // A plain request may be Anthropic's own, with nothing else to tell it by.
    if (is_in_form_of(Words::anthropic, "tool_choice", choice)) return out_.set("tool_choice", choice);
    Value said = choice_of(choice), name;
    if (said.kind == Kind::dict) {
      name = member_value(said, "name");
      said = Value::view("tool");
    }
    if (said.is_undefined() && one && has_tools_) said = Value::view("auto");
    if (said.is_undefined() || out_.failed()) return;
    const bool says_one = one && !is_text(&said, "none");
    out_.set("tool_choice", out_.object({{"type", said},
                                         {"name", name},
                                         {"disable_parallel_tool_use", says_one ? Value::boolean(true) : Value()}}));
  }

  /// auto, any or none, or an object with the tool's name.
  Value choice_of(Value choice) {
    if (choice.is_undefined()) return {};
    if (is_text(&choice, "required")) return Value::view("any");
    if (choice.is_leaf() && is_one_of(leaf_text(choice), {"auto", "none"})) return choice;
    for (const std::string_view kind : {"function", "custom"}) {
      if (const Value inner = member_value(choice, kind); member_value(inner, "name").is_string()) return inner;
    }
    const Value allowed = member_value(choice, "allowed_tools");
    if (allowed.kind != Kind::dict) {
      out_.fail(choice, "there is no such tool choice");
      return {};
    }
    out_.lose(member_value(allowed, "tools"), "a choice among some tools cannot be said: all are allowed");
    return Value::view(word(allowed, "mode") == "required" ? "any" : "auto");
  }

  // ---- the answer's form, and effort

  void format(Value format) {
    const std::string_view type = word(format, "type");
    const Value inner = member_value(format, "json_schema"), schema = member_value(inner, "schema");
    if (format.is_undefined() || type == "text" || out_.is_overruled("output_config.format")) return;
    if (type != "json_schema" || schema.kind != Kind::dict)
      return out_.lose(format, "only a JSON schema can be asked for: left out");
    if (const Value about = member_value(inner, "description"); says_something(about)) out_.lose(about, out_.no_such());
    if (const Value name = member_value(inner, "name"); says_something(name) && !is_text(&name, "response"))
      out_.note(RequestNote::Kind::changed, name, out_.no_such());
    out_.set("output_config.format", out_.object({{"type", Value::view("json_schema")}, {"schema", schema}}));
  }

  /// `none` is not an effort there but thinking that is disabled, unless the request already says what thinking is.
  void effort() {
    const Value given = out_.take_effort();
    const Value thinking = out_.take("thinking");
    if (thinking.kind == Kind::dict) out_.set("thinking", thinking);
    if (!is_given(given) || out_.is_overruled("output_config.effort")) return;
    const std::string_view effort = given.is_leaf() ? leaf_text(given) : std::string_view();
    if (effort == "none" && thinking.kind == Kind::dict)
      return out_.lose(given, "`thinking` stands beside it: left out");
    if (effort == "none") return out_.set("thinking", out_.object({{"type", Value::view("disabled")}}));
    const bool known = is_one_of(effort, {"low", "medium", "high", "xhigh", "max"});
    if (!known && effort != "minimal") return out_.lose(given, "no effort that this API knows: left out");
    if (!known) out_.lose(given, "there is no effort minimal: given as low");
    out_.set("output_config.effort", known ? given : Value::view("low"));
  }

  RequestOut& out_;
  std::vector<Value> made_;     ///< messages
  std::vector<Value> results_;  ///< blocks of the user's message that begins with results
  CalledNames called_;
  bool has_tools_ = false;
};

}  // namespace

void write_messages_request(RequestOut& out) { MessagesWriter(out).run(); }

}  // namespace parlance::apis
