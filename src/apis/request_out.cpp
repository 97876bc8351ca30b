// What the writers of requests share; see request_out.h. Begin reading at kSettings.
#include "apis/request_out.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "base/reasoning_names.h"
#include "conversation/passes_for_templates.h"
#include "json/json.h"
#include "value/string.h"

namespace parlance::apis {
namespace {

/// One thing that steers the server or the sampler, in the words of each API; "" where an API has no word for it. "a.b"
/// is a member of a member. Ollama's `options` stand beside OpenAI's members.
struct Setting {
  std::string_view chat, anthropic, responses, gemini{}, ollama{};
};
constexpr Setting kSettings[] = {
    {"model", "model", "model", "model"},
    {"max_completion_tokens", "max_tokens", "max_output_tokens", "generationConfig.maxOutputTokens",
     "options.num_predict"},
    {"max_tokens", "max_tokens", "max_output_tokens"},
    {"temperature", "temperature", "temperature", "generationConfig.temperature", "options.temperature"},
    {"top_p", "top_p", "top_p", "generationConfig.topP", "options.top_p"},
    {"top_k", "top_k", "", "generationConfig.topK", "options.top_k"},
    {"stop", "stop_sequences", "", "generationConfig.stopSequences", "options.stop"},
    {"seed", "", "", "generationConfig.seed", "options.seed"},
    {"frequency_penalty", "", "", "generationConfig.frequencyPenalty", "options.frequency_penalty"},
    {"presence_penalty", "", "", "generationConfig.presencePenalty", "options.presence_penalty"},
    {"stream", "stream", "stream"},
    {"user", "metadata.user_id", "user"},
    {"metadata", "", "metadata"},
    {"store", "", "store", "store"},
    {"service_tier", "service_tier", "service_tier", "serviceTier"},
    {"top_logprobs", "", "top_logprobs"},
    {"stream_options.include_obfuscation", "", "stream_options.include_obfuscation"},
    {"", "cache_control", ""},
    {"verbosity", "", "text.verbosity"},
    {"prompt_cache_key", "", "prompt_cache_key"},
    {"prompt_cache_retention", "", "prompt_cache_retention"},
    {"safety_identifier", "", "safety_identifier"},
};

std::string_view word_of(const Setting& row, Words words) {
  switch (words) {
    case Words::chat: return row.chat;
    case Words::anthropic: return row.anthropic;
    case Words::responses: return row.responses;
    case Words::gemini: return row.gemini;
  }
  return {};
}

/// Members whose own members are looked at one by one.
constexpr std::string_view kContainers[] = {"generationConfig", "generation_config", "options",      "text",
                                            "reasoning",        "stream_options",    "output_config"};

/// Whether the members of a member are looked at one by one; a chat that stays one has Ollama's alone.
bool has_settings(const DictEntry& entry, bool stays) {
  const std::string_view name = leaf_text(entry.key);
  if (entry.value.kind != Kind::dict || (stays && name != "options")) return false;
  return std::find(std::begin(kContainers), std::end(kContainers), name) != std::end(kContainers);
}

std::pair<std::string_view, std::string_view> halves(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == path.npos ? std::pair(path, std::string_view()) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

/// maxOutputTokens as max_output_tokens.
std::string in_snake_case(std::string_view camel) {
  std::string made;
  for (const char c : camel) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital) made += '_';
    made += ascii::lower(c);
  }
  return made;
}

constexpr std::string_view kScheme = "data:";

std::string in_small_letters(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = ascii::lower(c);
  return made;
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// What an image of Ollama's is, by the base64 of the bytes that it begins with.
struct ImageType {
  std::string_view begin, mime;
};
constexpr ImageType kImageTypes[] = {
    {"/9j/", "image/jpeg"},
    {"iVBORw0KGgo", "image/png"},
    {"R0lGOD", "image/gif"},
    {"UklGR", "image/webp"},
};

/// What only Ollama's API has, and steers its server.
constexpr std::string_view kOfOllama[] = {"keep_alive", "raw"};

}  // namespace

bool says_something(Value v) {
  switch (v.kind) {
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean: return v.integer != 0;
    case Kind::integer: return (v.flags & Value::kBig) != 0 || v.integer != 0;
    case Kind::real: return v.real != 0;
    case Kind::string: return v.size != 0;
    case Kind::list: return v.list->size != 0;
    case Kind::dict: return v.dict->size != 0;
    default: return true;
  }
}

bool is_data_url(Runtime& rt, Value url) {
  return url.is_string() && in_small_letters(text(rt, url).substr(0, kScheme.size())) == kScheme;
}

/// Scheme, type and coding may be in capitals, and parameters stand between type and coding (RFC 2397).
std::pair<Value, Value> split_data_url(Runtime& rt, Value url) {
  constexpr std::string_view kCoding = ";base64";
  if (!is_data_url(rt, url)) return {};
  const std::string_view all = text(rt, url);
  const std::size_t comma = all.find(',');
  if (comma == std::string_view::npos) return {};
  const std::string head = without_blanks(in_small_letters(all.substr(kScheme.size(), comma - kScheme.size())));
  if (!head.ends_with(kCoding)) return {};
  const std::string_view mime = rt.arena.copy_text(head.substr(0, head.find(';')));
  return {Value::view(mime), substring(rt, url, comma + 1, static_cast<std::uint32_t>(all.size()))};
}

RequestOut::RequestOut(ConversationState& state, Runtime& rt, std::string_view api, Words from, Words to)
    : state_(state), rt_(rt), api_(api), from_(from), to_(to), taken_{"id"} {
  for (const std::string_view old : {"functions", "function_call"}) {
    if (api::is_given_as_tools(state.variables, old)) taken_.emplace_back(old);
  }
}

// ---- what is read

Value RequestOut::take(std::string_view name) {
  const Value found = member_value(state_.variables, name);
  taken_.emplace_back(name);
  if (!is_given(found)) return {};
  where_ = path_of_value(state_, found);
  if (where_.empty() && from_ == Words::chat) where_ = name;
  return found;
}

Value RequestOut::take_inner(std::string_view outer, std::string_view inner) {
  std::string path = std::string(outer) + "." + std::string(inner);
  const Value found = member_value(member_value(state_.variables, outer), inner);
  if (!is_given(found)) return {};
  if (!is_taken(path)) where_ = path;
  taken_.push_back(std::move(path));
  return found;
}

/// Whichever word gave the effort counts as looked after, so that it is no loss beside the one that is written.
Value RequestOut::take_effort() {
  const Value given = take("reasoning_effort");
  const std::string_view effort = passes::effort_asked_for(state_.variables);
  if (given.is_string() && given.size != 0) return given;
  if (!given.is_string() && says_something(given)) lose(given, "no effort, which is a text: left out");
  if (effort.empty()) return {};
  for (const std::string_view path : {"reasoning.effort", "reasoning.enabled", "think"}) taken_.emplace_back(path);
  if (effort == "none") taken_.emplace_back("thinking");
  return Value::view(effort);
}

Value RequestOut::take_format() {
  const Value given = take("response_format"),
              format = from_ == Words::chat ? member_value(state_.variables, "format") : Value();
  const bool json = is_text(&format, "json");
  if (is_given(given) || !(json || format.kind == Kind::dict || is_text(&format, ""))) return given;
  take("format");
  if (json) return object({{"type", Value::view("json_object")}});
  if (format.kind != Kind::dict) return {};
  return object({{"type", Value::view("json_schema")},
                 {"json_schema", object({{"name", Value::view("response")}, {"schema", format}})}});
}

/// Where notes point for values that the request does not hold: those that a pass made have no path of their own.
void RequestOut::at_message(std::size_t number) {
  const std::span<const Value> all = messages();
  where_ = number < all.size() ? path_of_value(state_, all[number]) : std::string();
  if (where_.empty()) where_ = from_ == Words::chat ? "messages[" + std::to_string(number) + "]" : "";
}

std::span<const Value> RequestOut::messages() const {
  const Value found = member_value(state_.variables, "messages");
  return found.kind == Kind::list ? items(found) : std::span<const Value>();
}

/// `found` is the path that it was found under.
/// Google's API takes camelCase and snake_case alike, as all of its JSON does; the spelling that stands there is noted.
Value RequestOut::find(std::string_view path, std::string& found) const {
  const auto [outer, inner] = halves(path);
  if (outer.empty()) return {};
  const auto member_of = [&](Value dict, std::string_view name) {
    const Value* as_spelt = member(dict, name);
    const std::string snake = in_snake_case(name);
    found += (found.empty() ? "" : ".") + (as_spelt != nullptr ? std::string(name) : snake);
    return as_spelt != nullptr ? *as_spelt : member_value(dict, snake);
  };
  found.clear();
  const Value first = member_of(state_.variables, outer);
  return inner.empty() ? first : member_of(first, inner);
}

// ---- what is written

Value RequestOut::object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  DictBuilder made(rt_, static_cast<std::uint32_t>(members.size()));
  for (const auto& [name, value] : members) {
    if (!value.is_undefined()) made.set(name, value);
  }
  return made.finish();
}

Value RequestOut::as_text(Value v) {
  if (v.is_string()) return v;
  std::string json;
  if (!append_json(rt_, json, v, kPythonJson)) fail(v, "this cannot be written as JSON text");
  return made(json);
}

/// An image of Ollama's: the data in base64, whose first bytes say of what type they are.
Value RequestOut::image_part(Value data) {
  const auto begins = [&](const ImageType& type) {
    return data.is_string() && text(rt_, data).starts_with(type.begin);
  };
  const auto* type = std::find_if(std::begin(kImageTypes), std::end(kImageTypes), begins);
  if (type == std::end(kImageTypes)) {
    fail(data, "`images` must hold JPEG, PNG, GIF or WebP in base64", "give it as a part of the type image_url");
    return {};
  }
  StringBuilder url(rt_);
  for (const Value& piece : {Value::view(kScheme), Value::view(type->mime), Value::view(";base64,"), data})
    url.append(piece);
  return object({{"type", Value::view("image_url")}, {"image_url", object({{"url", url.finish()}})}});
}

/// The content with Ollama's images before it, where its server puts them.
Value RequestOut::with_images(Value message, Value images) {
  const Value content = member_value(message, "content");
  if (images.kind != Kind::list) fail(images, "`images` is not a list");
  if (failed()) return {};
  std::vector<Value> parts;
  for (const Value& image : items(images)) parts.push_back(image_part(image));
  if (content.is_string() && content.size != 0)
    parts.push_back(object({{"type", Value::view("text")}, {"text", content}}));
  if (content.kind == Kind::list) parts.insert(parts.end(), items(content).begin(), items(content).end());
  if (!failed()) note(RequestNote::Kind::changed, images, "given as parts of the type image_url");
  return failed() ? Value() : list(parts);
}

Value RequestOut::content_of(Value message) {
  if (const Value images = member_value(message, "images"); says_something(images)) return with_images(message, images);
  const Value content = member_value(message, "content");
  if (content.is_string()) return content;
  if (is_given(content) && content.kind != Kind::list) {
    fail(content, "content is a string or a list of parts");
    return {};
  }
  if (!is_given(content) || content.list->size == 0) {
    const bool calls = says_something(member_value(message, "tool_calls"));
    if (!calls)
      note(RequestNote::Kind::changed, is_given(content) ? content : message, "no content: given as an empty text");
    return Value::view("");
  }
  return content;
}

/// A part with cache_control stays a part: as a plain text it would lose that.
Value RequestOut::content_from(const std::vector<Value>& parts) {
  const bool one_text = parts.size() == 1 && member_value(parts.front(), "text").is_string() &&
                        member(parts.front(), "cache_control") == nullptr;
  return one_text ? member_value(parts.front(), "text") : list(parts);
}

/// What stands inside an overruled member is overruled too: "thinking" covers "thinking.type".
bool RequestOut::is_overruled(std::string_view path) const {
  return std::any_of(overruled_.begin(), overruled_.end(), [path](std::string_view one) {
    return path.starts_with(one) && (path.size() == one.size() || path[one.size()] == '.');
  });
}

/// The first counts: writers set what they know best, and settings() comes last with words that several APIs share.
void RequestOut::set(std::string_view path, Value value) {
  if (value.is_undefined() || is_overruled(path)) return;
  const auto [outer, inner] = halves(path);
  const auto has = [](const std::vector<DictEntry>& all, std::string_view name) {
    return std::any_of(all.begin(), all.end(), [name](const DictEntry& one) { return leaf_text(one.key) == name; });
  };
  if (inner.empty() && has(members_, outer)) return;
  if (inner.empty()) return members_.push_back({Value::view(outer), value});
  auto row =
      std::find_if(nested_.begin(), nested_.end(), [outer = outer](const auto& one) { return one.first == outer; });
  if (row == nested_.end()) row = nested_.insert(row, {outer, {}});
  if (!has(row->second, inner)) row->second.push_back({Value::view(inner), value});
}

/// What the other API takes under that name.
Value RequestOut::fitted(std::string_view goal, Value value) {
  if (goal == "stop_sequences" && value.is_string()) return list({value});
  const bool across = from_ == Words::gemini || (from_ == Words::anthropic) != (to_ == Words::anthropic);
  if (goal == "service_tier" && across && !is_text(&value, "auto")) {
    lose(value, no_such(goal));
    return {};
  }
  const bool hot = (value.kind == Kind::real && value.real > 1) || (value.is_small_int() && value.integer > 1);
  if (goal != "temperature" || to_ != Words::anthropic || !hot) return value;
  lose(value, "a temperature is 0 to 1 there: given as 1");
  return Value::of_int(1);
}

bool RequestOut::is_taken(std::string_view path) const {
  return std::find(taken_.begin(), taken_.end(), path) != taken_.end();
}

bool RequestOut::is_taken_in_part(std::string_view path) const {
  return std::any_of(taken_.begin(), taken_.end(), [path](std::string_view one) {
    return one.starts_with(path) && one.size() > path.size() && one[path.size()] == '.';
  });
}

/// Each setting in the words that the request has it in, if it is not already in those of the API. Chats have Ollama's
/// as well, and keep their own as they are.
void RequestOut::settings() {
  std::vector<std::string_view> known;
  for (const Setting& row : kSettings) {
    const std::string_view goal = word_of(row, to_);
    const bool over = is_overruled(goal);
    if (goal.empty() || (!over && std::find(known.begin(), known.end(), goal) != known.end())) continue;
    const bool stays = from_ == to_;
    for (const std::string_view path :
         {stays ? std::string_view() : goal, stays ? std::string_view() : word_of(row, from_),
          from_ == Words::chat ? row.ollama : std::string_view()}) {
      std::string found;
      const Value value = find(path, found);
      if (!is_given(value) || is_taken(found) || is_taken_in_part(found)) continue;
      taken_.push_back(found);
      if (over) continue;
      set(goal, fitted(goal, value));
      known.push_back(goal);
      break;
    }
  }
}

std::string RequestOut::no_such(std::string_view name) const {
  return is_word_of(to_, name) ? "of another meaning in " + std::string(api_) + ": left out" : no_such();
}

/// Whether a chat has a member in the words of the API that it is written for, which no chat has: it is passed on.
bool RequestOut::is_of_goal(std::string_view name) const {
  return from_ == Words::chat && to_ != Words::chat && is_word_of(to_, name) && !is_word_of(from_, name);
}

/// In a chat it is no member of the request's, be it Anthropic's API that has one.
void RequestOut::stray_system() {
  if (from_ != Words::chat || is_overruled("system")) return;
  const Value system = take("system");
  if (!says_something(system)) return;
  at("system");
  lose(system, "none of the chat's messages: left out; give it as a message of the role system");
}

/// A chat's member that is of the goal, unless the chat itself says that already, or it is a text where the goal has
/// the id of a prompt that it keeps.
void RequestOut::pass_on(std::string_view path, const DictEntry& entry) {
  const bool said = std::any_of(members_.begin(), members_.end(),
                                [path](const DictEntry& one) { return leaf_text(one.key) == path; });
  if (path == "prompt" && !is_given(member_value(entry.value, "id")))
    lose(entry.value, "of another meaning in " + std::string(api_) + ": left out");
  else if (said && says_something(entry.value))
    lose(entry.value, "what stands in `messages` is given as that: left out");
  else
    set(path, entry.value);
}

/// Members of OpenAI's chat stay where the goal is one, too: servers have more of them than the API.
void RequestOut::leftover() {
  const bool stay = from_ == Words::chat && to_ == Words::chat;
  for (const DictEntry& entry : entries(state_.variables)) {
    const std::string name(leaf_text(entry.key));
    if (is_taken(name) || is_overruled(name)) continue;
    const bool container = has_settings(entry, stay);
    if (!container && !is_taken_in_part(name)) {
      at(name);
      const bool ollama =
          from_ == Words::chat && std::find(std::begin(kOfOllama), std::end(kOfOllama), name) != std::end(kOfOllama);
      if (stay && !ollama)
        members_.push_back(entry);
      else if (is_of_goal(name))
        pass_on(leaf_text(entry.key), entry);
      else if (asks_for_something(name, entry.value))
        lose(entry.value, no_such(name));
      continue;
    }
    for (const DictEntry& inner : entries(entry.value)) {
      const std::string path = name + "." + std::string(leaf_text(inner.key));
      at(path);
      if (is_of_goal(name) && !is_taken(path))
        pass_on(state_.arena.copy_text(path), inner);
      else if (!is_taken(path) && asks_for_something(path, inner.value))
        lose(inner.value, no_such(path));
    }
  }
}

// leftover() must come last: it notes what nobody has taken. Members of members are put together only here, since
// several settings may share one object.
Value RequestOut::finish() {
  stray_system();
  settings();
  leftover();
  DictBuilder all(rt_, static_cast<std::uint32_t>(members_.size() + nested_.size()));
  for (const auto& [name, inner] : nested_) {
    DictBuilder one(rt_, static_cast<std::uint32_t>(inner.size()));
    for (const DictEntry& entry : inner) one.set(entry.key, entry.value);
    members_.push_back({Value::view(name), one.finish()});
  }
  for (const DictEntry& entry : members_) all.set(entry.key, entry.value);
  return all.finish();
}

// ---- what cannot be written

std::string RequestOut::path_of(Value v) const {
  const std::string path = path_of_value(state_, v);
  return path.empty() ? where_ : path;
}

void RequestOut::fail(Value at, std::string message, std::string hint) {
  if (failure) return;
  failure = Error(ErrorCode::conversation, std::string(api_) + ": " + std::move(message))
                .input(path_of(at))
                .hint(std::move(hint));
}

void RequestOut::note(RequestNote::Kind kind, Value at, std::string sentence) {
  note_at(kind, path_of(at), std::move(sentence));
}

void RequestOut::lose(Value at, const std::string& sentence) {
  std::vector<std::string> paths;
  if (at.is_string()) {
    for_each_piece(at, [&](std::string_view piece) {
      std::string path = path_of_value(state_, Value::view(piece));
      if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
    });
  }
  if (paths.empty()) paths.push_back(path_of(at));
  for (std::string& path : paths) note_at(RequestNote::Kind::lost, std::move(path), sentence);
}

Value RequestOut::needed(Value dict, std::string_view name) {
  const Value found = member_value(dict, name);
  if (found.is_string()) return found;
  fail(is_given(found) ? found : dict,
       "`" + std::string(name) + (is_given(found) ? "` is not a string" : "` is missing"));
  return {};
}

void CalledNames::add(Value call, Value function) {
  const Value id = member_value(call, "id"), name = member_value(function, "name");
  if (id.is_leaf() && name.is_leaf()) names_[std::string(leaf_text(id))] = leaf_text(name);
}

void CalledNames::leave_name(RequestOut& out, Value message, std::string why) const {
  const Value name = member_value(message, "name");
  if (!says_something(name)) return;
  if (is_of_call(message))
    out.note(RequestNote::Kind::changed, name, std::move(why) + ": the call that it answers has it");
  else
    out.lose(name, std::move(why) + ": left out");
}

bool CalledNames::is_of_call(Value message) const {
  const Value id = member_value(message, "tool_call_id"), name = member_value(message, "name");
  if (word(message, "role") != "tool" || !id.is_leaf() || !name.is_leaf()) return false;
  const auto found = names_.find(leaf_text(id));
  return found != names_.end() && found->second == leaf_text(name);
}

/// Nothing is dropped in silence: each member that is not written and says something becomes a note with its path.
void RequestOut::leave(Value dict, std::initializer_list<std::string_view> taken) {
  if (dict.kind != Kind::dict) return;
  for (const DictEntry& entry : entries(dict)) {
    const std::string_view key = leaf_text(entry.key);
    if (is_one_of(key, taken) || !says_something(entry.value)) continue;
    if (key == "tool_name" && word(dict, "name") == word(dict, key)) continue;  // which is noted as the name
    const std::string path = path_of_value(state_, entry.value);
    note_at(RequestNote::Kind::lost, path.empty() ? where_ + "." + std::string(key) : path, no_such());
  }
}

std::span<const Value> RequestOut::calls_of(Value message) {
  const Value calls = member_value(message, "tool_calls");
  if (calls.kind == Kind::list) return items(calls);
  if (says_something(calls)) lose(calls, "no list of calls: left out");
  return {};
}

void RequestOut::leave_reasoning(Value message) {
  const Value written = member_value(message, "reasoning_content");
  for (const std::string_view name : kReasoningNames) {
    const Value found = member_value(message, name);
    if (!found.is_string() && says_something(found)) lose(found, "reasoning that is no text: left out");
    const bool is_other = found.is_string() && written.is_string() && text(rt_, found) != text(rt_, written);
    if (is_other && says_something(found)) lose(found, "`reasoning_content` stands beside it: left out");
  }
}

void RequestOut::leave_to_others(Value message) {
  const std::string_view who = word(message, "role");
  const auto lose_of = [&](std::string_view owner, std::initializer_list<std::string_view> names) {
    if (who == owner) return;
    for (const std::string_view name : names) {
      const Value found = member_value(message, name);
      if (says_something(found)) lose(found, "only messages of the role " + std::string(owner) + " have it: left out");
    }
  };
  lose_of("assistant", {"tool_calls", "reasoning_content", "refusal"});
  lose_of("tool", {"tool_call_id", "is_error"});
}

}  // namespace parlance::apis
