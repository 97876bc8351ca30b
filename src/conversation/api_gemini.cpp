// Requests of Gemini's generateContent; see api_request.h. Begin reading at convert_gemini.
//
// What its members mean: the API's reference (Content, Part, Tool, ToolConfig, GenerationConfig, Schema). Each may be
// spelled in snake case, as protocol buffers' JSON has it.
#include <algorithm>
#include <iterator>

#include "conversation/api_request.h"
#include "value/string.h"

namespace parlance::api {
namespace {

/// Types as Gemini's Schema has them, and as JSON Schema has them.
struct TypeName {
  std::string_view gemini, json;
};
constexpr TypeName kTypes[] = {{"STRING", "string"},   {"NUMBER", "number"}, {"INTEGER", "integer"},
                               {"BOOLEAN", "boolean"}, {"ARRAY", "array"},   {"OBJECT", "object"},
                               {"NULL", "null"}};

/// A schema with its types as JSON Schema spells them.
class Schema {
 public:
  explicit Schema(Runtime& rt) : rt_(rt) {}

  Value of(Value schema, int depth = 0) {
    constexpr int kDeepest = 200;  // what nests deeper is refused later, by its own name
    if (schema.kind != Kind::dict || depth > kDeepest) return schema;
    DictBuilder made(rt_, schema.dict->size);
    bool changed = false;
    for (const DictEntry& entry : entries(schema)) {
      const Value value = member_of(leaf_text(entry.key), entry.value, depth + 1);
      changed = changed || !is_same(value, entry.value);
      made.set(entry.key, value);
    }
    return changed ? with_origin(made.finish(), origin_of(schema)) : schema;
  }

 private:
  static bool is_same(Value a, Value b) {
    return a.kind == b.kind && (a.kind == Kind::dict   ? a.dict == b.dict
                                : a.kind == Kind::list ? a.list == b.list
                                                       : a.data == b.data);
  }

  Value member_of(std::string_view key, Value value, int depth) {
    if (key == "type") return type(value);
    if (is_one_of(key, {"properties", "$defs", "defs"})) return each_member(value, depth);
    if (is_one_of(key, {"items", "additionalProperties"})) return of(value, depth);
    if (is_one_of(key, {"anyOf", "any_of", "prefixItems"})) return each_item(value, depth);
    return value;
  }

  Value type(Value value) {
    const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeName& one) { return is_text(&value, one.gemini); });
    return row == std::end(kTypes) ? value : make_derived(rt_, row->json, value);
  }

  Value each_member(Value dict, int depth) {
    if (dict.kind != Kind::dict) return dict;
    DictBuilder made(rt_, dict.dict->size);
    for (const DictEntry& entry : entries(dict)) made.set(entry.key, of(entry.value, depth));
    return with_origin(made.finish(), origin_of(dict));
  }

  Value each_item(Value list, int depth) {
    if (list.kind != Kind::list) return list;
    ListEditor made(rt_, list);
    for (std::uint32_t i = 0; i < made.size(); ++i) made.set(i, of(made[i], depth));
    return made.finish();
  }

  Runtime& rt_;
};

/// What a part may hold, of which it has one (in the API's reference a union).
struct PartData {
  std::string_view camel, snake;
};
constexpr PartData kPartData[] = {
    {"text", "text"},
    {"inlineData", "inline_data"},
    {"fileData", "file_data"},
    {"functionCall", "function_call"},
    {"functionResponse", "function_response"},
    {"executableCode", "executable_code"},
    {"codeExecutionResult", "code_execution_result"},
};

constexpr std::string_view kOtherSchema = "not used: a schema in JSON Schema's own words stands beside it";

bool is_blank_text(Value v) { return v.is_leaf() && leaf_text(v).empty(); }

class GeminiConverter {
 public:
  explicit GeminiConverter(Request& request) : r_(request) {}

  void run() {
    if (const Value config = member_value(r_.given, "config"); config.kind == Kind::dict)
      return r_.fail(config, "`config` is of the Python library, not of the API",
                     "give its members (systemInstruction, tools, ...) beside contents");
    if (const Value kept = either(r_.given, "cachedContent", "cached_content"); is_given(kept))
      return r_.fail(kept, "`cachedContent` is state on a server, which is not in the request",
                     "give all of `contents`");
    if (const Value system = either(r_.given, "systemInstruction", "system_instruction"); is_given(system))
      system_text(system);
    const Value contents = member_value(r_.given, "contents");
    for (const Value& one : contents.kind == Kind::list ? items(contents) : std::span<const Value>(&contents, 1)) {
      if (r_.failure) return;
      if (one.is_string())
        r_.add_text("user", one);
      else if (!r_.dict_at(one, "one of `contents`").is_undefined())
        content(one);
    }
    tools(member_value(r_.given, "tools"));
    choice(either(r_.given, "toolConfig", "tool_config"));
    generation(either(r_.given, "generationConfig", "generation_config"));
  }

 private:
  /// A member under either of its spellings; of both it is not known which counts.
  Value either(Value dict, std::string_view camel, std::string_view snake) {
    const Value one = member_value(dict, camel), other = member_value(dict, snake);
    if (is_given(one) && is_given(other))
      r_.fail(other,
              "`" + std::string(snake) + "` stands beside `" + std::string(camel) + "`, which is the same member",
              "give one of them");
    return is_given(one) ? one : other;
  }

  /// Fails where a member is given and of another type than the API's: dropped, it would be lost without a word.
  void boolean_at(Value at, std::string_view what) {
    if (is_given(at) && at.kind != Kind::boolean) r_.fail(at, std::string(what) + " is not true or false");
  }
  void number_at(Value at, std::string_view what) {
    if (is_given(at) && at.kind != Kind::integer && at.kind != Kind::real)
      r_.fail(at, std::string(what) + " is not a number");
  }
  Value given_text(Value at, std::string_view what) { return is_given(at) ? r_.text_at(at, what) : Value(); }
  Value given_dict(Value at, std::string_view what) { return is_given(at) ? r_.dict_at(at, what) : Value(); }

  /// The kind of a part's data, "" for none; notes what else it has, and refuses two kinds: one of them would be lost.
  /// A text that is empty says nothing.
  std::string_view kind_of(Value part) {
    std::string_view found;
    for (const PartData& data : kPartData) {
      const Value given =
          data.camel == data.snake ? member_value(part, data.camel) : either(part, data.camel, data.snake);
      if (!is_given(given) || is_blank_text(given)) continue;
      if (!found.empty()) {
        r_.fail(given,
                "a part has one kind of data, and this has `" + std::string(data.camel) + "` beside `" +
                    std::string(found) + "`",
                "make two parts of it");
      }
      found = data.camel;
    }
    std::vector<std::string_view> names = {"thought"};
    for (const PartData& data : kPartData) names.insert(names.end(), {data.camel, data.snake});
    r_.leave(part, names, {"thoughtSignature", "thought_signature", "partMetadata", "part_metadata"});
    boolean_at(member_value(part, "thought"), "`thought`");
    return found;
  }

  void system_text(Value system) {
    if (system.is_string()) return r_.add_text("system", system);
    if (r_.dict_at(system, "`systemInstruction`").is_undefined()) return;
    r_.leave(system, {"role", "parts"});
    given_text(member_value(system, "role"), "`role`");
    Draft draft{.role = "system"};
    draft.of.push_back(system);
    for (const Value& part : parts_of(system)) {
      if (r_.dict_at(part, "a part").is_undefined()) return;
      const std::string_view kind = kind_of(part);
      if (!kind.empty() && kind != "text")
        r_.fail(part, "`systemInstruction` is text, and has no `" + std::string(kind) + "`");
      const Value text = r_.text_in(part, "text");
      if (r_.failure) return;
      draft.parts.push_back(r_.text_part(text, part));
    }
    if (!draft.parts.empty()) r_.add(draft);
  }

  /// A list, or one part.
  std::span<const Value> parts_of(const Value& content) {
    const Value* parts = member(content, "parts");
    if (parts != nullptr && parts->kind == Kind::dict) return {parts, 1};
    if (parts != nullptr && parts->kind == Kind::list) return items(*parts);
    r_.fail(parts == nullptr ? content : *parts, "`parts` is a list");
    return {};
  }

  void content(Value content) {
    const Value given = given_text(member_value(content, "role"), "`role`");
    if (r_.failure) return;
    const std::string_view role = given.is_leaf() ? leaf_text(given) : std::string_view("user");
    if (!is_one_of(role, {"user", "model", "function", "tool", "system"}))
      return r_.fail(given, quoted(role) + " is not a role of this API, which has user and model");
    if (const Value text = member_value(content, "content"); is_given(text))
      return r_.fail(text, "`content` is of OpenAI's chat; this API has parts");
    r_.leave(content, {"role", "parts"});
    Draft draft = fresh(role, content);
    bool split = false;
    for (const Value& part : parts_of(content)) {
      if (r_.failure || r_.dict_at(part, "a part").is_undefined()) return;
      kind_of(part);
      if (const Value response = either(part, "functionResponse", "function_response"); is_given(response)) {
        if (!is_empty(draft)) r_.add(draft);
        result(response, part);
        draft = fresh(role, content);
        split = true;
      } else {
        this->part(part, draft);
      }
    }
    if (!is_empty(draft) || !split) r_.add(draft);
  }

  Draft fresh(std::string_view role, Value content) {
    Draft draft{.role = role == "model" ? "assistant" : role == "system" ? "system" : "user"};
    draft.of.push_back(content);
    return draft;
  }

  static bool is_empty(const Draft& draft) {
    return draft.parts.empty() && draft.calls.empty() && draft.reasoning.empty();
  }

  void part(Value part, Draft& draft) {
    draft.of.push_back(part);
    if (const Value call = either(part, "functionCall", "function_call"); is_given(call)) {
      this->call(call, draft);
    } else if (const Value data = either(part, "inlineData", "inline_data"); is_given(data)) {
      inline_data(data, part, draft);
    } else if (const Value file = either(part, "fileData", "file_data"); is_given(file)) {
      file_data(file, part, draft);
    } else if (const Value run = either(part, "executableCode", "executable_code"); is_given(run)) {
      r_.fail(run, "code that the API itself runs cannot be converted", "leave the part out, or give its text");
    } else if (const Value ran = either(part, "codeExecutionResult", "code_execution_result"); is_given(ran)) {
      r_.fail(ran, "the result of code that the API itself ran cannot be converted",
              "leave the part out, or give its text");
    } else if (const Value text = member_value(part, "text"); is_given(text)) {
      const Value thought = member_value(part, "thought");
      if (r_.text_at(text, "`text`").is_undefined()) return;
      if (thought.kind == Kind::boolean && thought.integer != 0)
        draft.reasoning.push_back(text);
      else
        draft.parts.push_back(r_.text_part(text, part));
    }
  }

  void call(Value call, Draft& draft) {
    if (r_.dict_at(call, "`functionCall`").is_undefined()) return;
    r_.leave(call, {"id", "name", "args"});
    const Value name = r_.text_in(call, "name"), args = member_value(call, "args");
    const Value id = given_text(member_value(call, "id"), "`id`");
    if (r_.failure || (is_given(args) && r_.dict_at(args, "`args`").is_undefined())) return;
    draft.calls.push_back(r_.call(id, name, is_given(args) ? args : DictBuilder(r_.rt).finish(), call));
  }

  /// The only member `output` (or `error`) of a response is the result; else the whole of it is, as JSON.
  void result(Value given, Value part) {
    if (r_.dict_at(given, "`functionResponse`").is_undefined()) return;
    r_.leave(given, {"id", "name", "response"}, {"scheduling", "willContinue", "will_continue"});
    Draft draft{.role = "tool"};
    draft.of.push_back(part);
    draft.name = r_.text_in(given, "name");
    draft.id = given_text(member_value(given, "id"), "`id`");
    const Value response = member_value(given, "response");
    if (r_.failure || r_.dict_at(is_given(response) ? response : given, "`response`").is_undefined()) return;
    const bool one = response.kind == Kind::dict && response.dict->size == 1;
    const Value output = one ? member_value(response, "output") : Value(),
                error = one ? member_value(response, "error") : Value();
    if (!error.is_undefined()) {
      draft.is_error = Value::boolean(true);
      draft.is_error.origin = origin_of(response);
    }
    const Value said = !output.is_undefined() ? output : !error.is_undefined() ? error : response;
    const Value text = said.is_string() ? said : is_given(said) ? r_.json_of(said) : Value::view("");
    if (r_.failure) return;
    draft.parts.push_back(r_.text_part(text, part));
    r_.add(draft);
  }

  void inline_data(Value data, Value part, Draft& draft) {
    if (r_.dict_at(data, "`inlineData`").is_undefined()) return;
    r_.leave(data, {"mimeType", "mime_type", "data"});
    const Value mime = either(data, "mimeType", "mime_type"), bytes = r_.text_in(data, "data");
    if (r_.failure || r_.text_at(mime.is_undefined() ? data : mime, "`mimeType`").is_undefined()) return;
    if (const Value made = r_.data_part(mime, bytes, part); !r_.failure) draft.parts.push_back(made);
  }

  /// Only an address that anybody can open says what the data are.
  void file_data(Value file, Value part, Draft& draft) {
    if (r_.dict_at(file, "`fileData`").is_undefined()) return;
    r_.leave(file, {"mimeType", "mime_type", "fileUri", "file_uri"});
    const Value named = given_text(either(file, "mimeType", "mime_type"), "`mimeType`");
    const Value uri = given_text(either(file, "fileUri", "file_uri"), "`fileUri`");
    const std::string_view mime = named.is_leaf() ? leaf_text(named) : std::string_view();
    const std::string_view type = mime.starts_with("image/")   ? "image_url"
                                  : mime.starts_with("video/") ? "video_url"
                                  : mime.starts_with("audio/") ? "audio_url"
                                                               : "";
    const bool open = uri.is_leaf() && leaf_text(uri).starts_with("http") &&
                      leaf_text(uri).find("generativelanguage") == std::string_view::npos;
    if (!open || type.empty())
      return r_.fail(file, "`fileData` names a file that is kept on a server, or is not an image, audio or video",
                     "give the data as inlineData");
    draft.parts.push_back(r_.media_part(type, "url", uri, part));
  }

  void tools(Value tools) {
    if (!is_given(tools)) return;
    ListBuilder made(r_.rt, 4);
    const std::span<const Value> all = tools.kind == Kind::dict                      ? std::span<const Value>(&tools, 1)
                                       : r_.list_at(tools, "`tools`").is_undefined() ? std::span<const Value>()
                                                                                     : items(tools);
    for (const Value& tool : all) {
      if (r_.dict_at(tool, "a tool").is_undefined()) return;
      for (const DictEntry& entry : entries(tool)) {
        if (is_one_of(leaf_text(entry.key), {"function", "type"}))
          return r_.fail(tool, "a tool of another API; this API has functionDeclarations");
        if (is_one_of(leaf_text(entry.key), {"functionDeclarations", "function_declarations"}))
          declarations(entry.value, made);
        else
          r_.note(entry.value, kServerTool, true);
      }
    }
    if (!r_.failure && made.size() != 0) r_.set("tools", r_.made(made.finish(), tools));
  }

  void declarations(Value list, ListBuilder& made) {
    if (r_.list_at(list, "`functionDeclarations`").is_undefined()) return;
    for (const Value& one : items(list)) {
      if (r_.dict_at(one, "a function").is_undefined()) return;
      r_.leave(one, {"name", "description", "parameters", "parametersJsonSchema", "parameters_json_schema"},
               {"behavior"});
      const Value json = either(one, "parametersJsonSchema", "parameters_json_schema");
      const Value own = member_value(one, "parameters");
      const Value parameters = is_given(json) ? json : Schema(r_.rt).of(own);
      if (is_given(json) && is_given(own)) r_.note(own, kOtherSchema, true);
      const Value name = r_.text_in(one, "name");
      if (r_.failure) return;
      made.append(r_.function_tool(one, name, member_value(one, "description"), parameters, {}));
    }
  }

  void choice(Value config) {
    if (given_dict(config, "`toolConfig`").is_undefined()) return;
    r_.leave(config, {"functionCallingConfig", "function_calling_config"}, {"retrievalConfig", "retrieval_config"});
    const Value calling =
        given_dict(either(config, "functionCallingConfig", "function_calling_config"), "`functionCallingConfig`");
    r_.leave(calling, {"mode", "allowedFunctionNames", "allowed_function_names"});
    const Value mode = given_text(member_value(calling, "mode"), "`mode`");
    const std::string_view said = is_given(mode) ? word(calling, "mode") : "AUTO";
    const Value names = allowed_names(calling);
    const bool some = names.kind == Kind::list && names.list->size != 0;
    if (r_.failure || (!is_given(mode) && !some)) return;
    if (said == "NONE") return r_.set("tool_choice", Value::view("none"));
    const bool any = said == "ANY";
    if (!any && !is_one_of(said, {"AUTO", "VALIDATED", "MODE_UNSPECIFIED"}))
      return r_.fail(mode, quoted(said) + " is not a mode of function calling");
    const std::string_view word_of_mode = any ? "required" : "auto";
    if (!some) return r_.set("tool_choice", Value::view(word_of_mode));
    if (any && names.list->size == 1) return r_.set("tool_choice", r_.choice_of(names.list->items[0], calling));
    ListBuilder allowed(r_.rt, names.list->size);
    for (const Value& name : items(names)) allowed.append(r_.choice_of(name, calling));
    DictBuilder inner(r_.rt, 2), made(r_.rt, 2);
    inner.set("mode", Value::view(word_of_mode));
    inner.set("tools", allowed.finish());
    made.set("type", Value::view("allowed_tools"));
    made.set("allowed_tools", inner.finish());
    r_.set("tool_choice", r_.made(made.finish(), calling));
  }

  Value allowed_names(Value calling) {
    const Value names = either(calling, "allowedFunctionNames", "allowed_function_names");
    if (!is_given(names) || r_.list_at(names, "`allowedFunctionNames`").is_undefined()) return {};
    for (const Value& name : items(names)) r_.text_at(name, "a function's name");
    return names;
  }

  void generation(Value config) {
    if (!is_given(config) || r_.dict_at(config, "`generationConfig`").is_undefined()) return;
    const auto steers = [](std::string_view key) {
      return !is_one_of(key, {"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema",
                              "responseMimeType", "response_mime_type", "thinkingConfig", "thinking_config"});
    };
    if (r_.keeps_steering) r_.set("generationConfig", filtered(r_.rt, config, steers));
    for (const DictEntry& entry : entries(config)) {
      if (!r_.keeps_steering && steers(leaf_text(entry.key))) r_.note(entry.value, "not a variable", false);
    }
    response(config);
    thinking(given_dict(either(config, "thinkingConfig", "thinking_config"), "`thinkingConfig`"));
  }

  void thinking(Value thinking) {
    const Value level = given_text(either(thinking, "thinkingLevel", "thinking_level"), "`thinkingLevel`"),
                budget = either(thinking, "thinkingBudget", "thinking_budget"),
                shown = either(thinking, "includeThoughts", "include_thoughts");
    number_at(budget, "`thinkingBudget`");
    boolean_at(shown, "`includeThoughts`");
    const bool off = budget.is_small_int() && budget.integer == 0;
    if (off) r_.set("reasoning_effort", Value::view("none"));
    if (!off && is_given(budget)) r_.note(budget, "a budget says no effort: left out", r_.keeps_steering);
    if (is_given(shown)) r_.note(shown, "not a variable", r_.keeps_steering);
    if (is_given(level) && !is_text(&level, "THINKING_LEVEL_UNSPECIFIED")) r_.set("reasoning_effort", effort_of(level));
    r_.leave(thinking, {"thinkingLevel", "thinking_level", "thinkingBudget", "thinking_budget", "includeThoughts",
                        "include_thoughts"});
  }

  /// A level in lower case, as other APIs have it; what is none stays, and is a loss later.
  Value effort_of(Value level) {
    for (const TypeName& one :
         {TypeName{"MINIMAL", "minimal"}, {"LOW", "low"}, {"MEDIUM", "medium"}, {"HIGH", "high"}}) {
      if (is_text(&level, one.gemini)) return make_derived(r_.rt, one.json, level);
    }
    return level;
  }

  void response(Value config) {
    const Value json = either(config, "responseJsonSchema", "response_json_schema");
    const Value own = given_dict(either(config, "responseSchema", "response_schema"), "`responseSchema`");
    if (json.kind != Kind::boolean) given_dict(json, "`responseJsonSchema`");
    const Value schema = is_given(json) ? json : Schema(r_.rt).of(own);
    if (is_given(json) && is_given(own)) r_.note(own, kOtherSchema, true);
    const Value mime = given_text(either(config, "responseMimeType", "response_mime_type"), "`responseMimeType`");
    if (is_given(mime) && !is_one_of(leaf_text(mime), {"", "application/json", "text/plain"}))
      r_.note(mime, "a form of reply that a chat cannot ask for: left out", true);
    DictBuilder made(r_.rt, 2);
    if (is_given(schema)) {
      DictBuilder inner(r_.rt, 2);
      inner.set("name", Value::view("response"));
      inner.set("schema", schema);
      made.set("type", Value::view("json_schema"));
      made.set("json_schema", inner.finish());
    } else if (is_text(&mime, "application/json")) {
      made.set("type", Value::view("json_object"));
    } else {
      return;
    }
    r_.set("response_format", r_.made(made.finish(), config));
  }

  Request& r_;
};

}  // namespace

Value gemini_mark(Value request) {
  const Value contents = member_value(request, "contents");
  const bool any = contents.kind == Kind::list || contents.kind == Kind::dict;
  return any || (contents.is_string() && member(request, "messages") == nullptr) ? contents : Value();
}

void convert_gemini(Request& request) {
  GeminiConverter(request).run();
  request.finish({"contents", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
                  "generationConfig", "generation_config"},
                 {"model", "safetySettings", "safety_settings", "labels", "store", "serviceTier", "service_tier"});
}

}  // namespace parlance::api
