// Requests of other APIs than OpenAI's chat completions, made into such: what the converters share. Begin reading at
// convert_request; the table of APIs is in api_request.cpp.
//
// A converter makes new dicts and lists that share the strings of the request, so that origins lead to the request as
// it was given, and says which values became part of which message (DocumentStorage::Owners).
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"

namespace parlance {

struct ClientTool;
struct ReadOptions;

/// Recognises the request of another API by its members and converts it; nothing happens to others, nor a second time.
/// A pass that `options` skip is not run. Fails with conversation: what cannot be converted, by its path and the API's
/// name.
Result<void> convert_request(ConversationState& state, const ReadOptions& options);
/// The pass that would convert the request, none for one of OpenAI's chat. Fails with conversation: marks of two APIs.
Result<std::optional<Pass>> request_pass(const ConversationState& state);
/// The name of the other API whose request it is; "" for one of OpenAI's chat, or of nobody.
std::string_view other_api_of(const ConversationState& state);

namespace api {

/// The note of a tool that a template cannot show.
inline constexpr std::string_view kServerTool =
    "a tool that the API itself runs, and a template does not know: left out";

/// The note of a call of such a tool, and of what it gave. A session goes on with them, and a line in the assistant's
/// own words would be one that it learns to write.
inline constexpr std::string_view kServerCall =
    "of a tool that the API itself runs, and a chat has no place for: passed over";

/// A message that is being made.
struct Draft {
  std::string_view role;
  std::vector<Value> parts;      ///< of content
  std::vector<Value> reasoning;  ///< texts, joined by blank lines
  std::vector<Value> calls;
  std::vector<Value> refusals;  ///< as reasoning
  Value id;                     ///< of the call that a tool's message answers
  Value name;
  Value is_error;         ///< true, where the tool failed
  Value weight;           ///< 0: it is not learnt
  std::vector<Value> of;  ///< values of the request that it is made of; the first stands for all in errors
};

/// A request that is being converted.
class Request {
 public:
  Request(ConversationState& state_in, Runtime& rt_in, std::string_view api_in, Pass pass_in, bool keeps_steering_in)
      : state(state_in),
        rt(rt_in),
        api(api_in),
        pass(pass_in),
        keeps_steering(keeps_steering_in),
        given(state_in.variables),
        messages_(rt_in) {}

  // ---- what cannot be converted, and what is left out

  /// The request cannot be used; the first failure counts. `at` is a value of the request.
  void fail(Value at, std::string message, std::string hint = {});
  /// Says what became of a value; `loses`: that the model is not told what it says.
  void note(Value at, std::string_view what, bool loses);
  /// Notes members that are none of `taken`: those in `quiet` say nothing to a model, others are losses.
  void leave(Value dict, std::span<const std::string_view> taken, std::initializer_list<std::string_view> quiet = {});
  void leave(Value dict, std::initializer_list<std::string_view> taken,
             std::initializer_list<std::string_view> quiet = {}) {
    leave(dict, std::span(taken.begin(), taken.size()), quiet);
  }
  /// The value as a dict, list or text; undefined after a failure where it is something else.
  Value dict_at(Value at, std::string_view what);
  Value list_at(Value at, std::string_view what);
  Value text_at(Value at, std::string_view what);
  /// text_at() for a member; `in` is at fault where it is missing.
  Value text_in(Value in, std::string_view name);

  // ---- messages

  void add(const Draft& draft);
  /// A message that is one text of the request.
  void add_text(std::string_view role, Value text);
  std::int32_t next_message() const { return static_cast<std::int32_t>(messages_.size()); }
  /// Adds a message as it is.
  void add_value(Value message, Value of);

  // ---- parts of messages and of the request

  /// {"type": "text", "text": text}, at the place of `of`.
  Value text_part(Value text, Value of);
  /// {"type": type, type: {name: link}} and perhaps another member.
  Value media_part(std::string_view type, std::string_view name, Value link, Value of, DictEntry more = {});
  /// The part for data in base64 of a MIME type: an image_url, input_audio or video_url; undefined after a failure.
  Value data_part(Value mime, Value data, Value of);
  Value call(Value id, Value name, Value arguments, Value of);
  /// A tool whose members stand in the order of those of `of`, since templates show them in it.
  Value function_tool(Value of, Value name, Value description, Value parameters, Value strict);
  /// A tool of a type that the client runs (client_tools.h), as a function.
  Value client_tool(const ClientTool& type, Value of);
  /// The choice of one function by its name.
  Value choice_of(Value name, Value of);
  /// A text of these pieces.
  Value joined(std::span<const Value> pieces);
  Value joined(std::initializer_list<Value> pieces) { return joined(std::span(pieces.begin(), pieces.size())); }
  Value json_of(Value v);
  /// Reasoning that is sealed (sealed_reasoning.h); undefined for other texts.
  Value opened(Value sealed);
  Value made(Value container, Value of) { return with_origin(container, origin_of(of)); }

  /// Sets what the converted request says under a name, unless it is undefined.
  void set(std::string_view name, Value value);
  /// The converted request: what was set, and the members of the given one that are none of `taken` nor of `steering`,
  /// which are noted, or kept where keeps_steering says so.
  void finish(std::initializer_list<std::string_view> taken, std::initializer_list<std::string_view> steering);

  ConversationState& state;
  Runtime& rt;
  const std::string_view api;
  const Pass pass;
  const bool keeps_steering;  ///< members that steer the server or the sampler stay (ReadOptions)
  const Value given;
  std::optional<Error> failure;

 private:
  void own(Value value);
  Value by_blank_lines(const std::vector<Value>& texts);

  ListBuilder messages_;
  std::vector<DictEntry> set_;
  DocumentStorage::Owners owners_;
};

/// The text of a member that is a word such as a type; "" where there is none.
inline std::string_view word(Value dict, std::string_view name) {
  const Value found = member_value(dict, name);
  return found.is_leaf() ? leaf_text(found) : std::string_view();
}
inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}
inline bool is_given(Value v) { return !v.is_undefined() && !v.is_none(); }
inline std::string quoted(std::string_view text) { return "'" + std::string(utf8::whole_prefix(text, 80)) + "'"; }

/// What only OpenAI's chat has, beside what other requests with `messages` may have: calls, results, tools with
/// `function`, parts; or undefined.
Value chat_mark(Value request);
/// What tells a request of the API from others, or undefined; then the converter.
Value anthropic_mark(Value request);
void convert_anthropic(Request& request);
Value responses_mark(Value request);
void convert_responses(Request& request);
Value gemini_mark(Value request);
void convert_gemini(Request& request);
Value sharegpt_mark(Value request);
void convert_sharegpt(Request& request);
Value old_functions_mark(Value request);
void convert_old_functions(Request& request);
/// Are `functions` or `function_call` of a request given as tools and tool_choice? What is of another type is not.
bool is_given_as_tools(Value request, std::string_view name);

}  // namespace api
}  // namespace parlance
