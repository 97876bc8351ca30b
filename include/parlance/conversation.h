// Conversation: messages, tools and other variables of one chat request, ready to be rendered.
//
// Read one from the JSON of a request, or build one in C++. Named normalisation passes adapt a request to its template
// (passes.h); each can be switched off. Without them the template gets the request unchanged.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/passes.h"
#include "parlance/result.h"
#include "parlance/transformers.h"
#include "parlance/value.h"

namespace parlance {

class DocumentBuilder;

/// The API that a request was sent to, for who knows it. Servers join messages that follow on one another: Anthropic's
/// those of the user and of the assistant, Ollama's all of one role but results (the pass join-turns).
enum class SentTo : std::uint8_t {
  unsaid,
  anthropic,  ///< also a request that has no member of this API's own is read as one of its requests
  ollama,
};

struct ReadOptions {
  /// false: no passes; every member becomes a variable, as transformers does with keyword arguments
  bool normalise = true;
  /// true: only the passes and checks that apply_chat_template makes itself
  bool as_transformers = false;
  /// true, with as_transformers: the conversation is one of a batch, where the method renders an empty one too
  bool of_batch = false;
  TransformersVersion transformers = kNewestTransformers;  ///< the release of transformers to follow
  Passes passes{};                                         ///< passes to run besides the usual ones, and to skip
  /// true: requests of other APIs keep the members that steer the server or the sampler, as variables; for request_as()
  bool keep_steering = false;
  std::string reasoning_effort{};  ///< one of reasoning_efforts(), overriding the request's; "": the request's
  SentTo sent_to = SentTo::unsaid;
};

/// A member of an object under construction, for members that have no field of their own.
struct JsonMember {
  std::string name;
  std::string json;  ///< its value: any JSON
};

/// A tool call of an assistant message under construction. `arguments_json` is a JSON object.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments_json = "{}";
  std::vector<JsonMember> members{};  ///< other members of the call, beside its function
};

/// A part of a message's content under construction: text, an image, audio, …
struct ContentPart {
  std::string type = "text";
  std::string text{};                 ///< for the type text
  std::vector<JsonMember> members{};  ///< other members: {"image_url", R"({"url": "https://…"})"}
};

/// A message under construction; empty optional parts are left out.
struct Message {
  std::string role;  ///< "system", "user", "assistant", "tool", …
  std::string content;
  std::string reasoning_content{};     ///< assistant: its reasoning before the content
  std::vector<ToolCall> tool_calls{};  ///< assistant
  std::string tool_call_id{};          ///< tool
  std::string name{};                  ///< tool, or a named speaker
  std::vector<ContentPart> parts{};    ///< the content as a list, in place of `content`
  std::vector<JsonMember> members{};   ///< other members; they replace those above: {"content", "null"}
};

/// The variables that a template gets. Movable, not copyable. Once it is built, any number of threads may read it. A
/// moved-from conversation is empty.
///
///     Conversation chat;
///     if (auto set = chat.set_json("tools", tools); !set) return set.error();
///     ContentPart image{.type = "image_url", .members = {{"image_url", R"({"url": "cat.png"})"}}};
///     auto added = chat.add({.role = "user", .parts = {{.text = "What is this?"}, image}});
///     if (!added) return added.error();
///     for (const Value message : chat.messages().items()) show(message["role"].text(), json_text(message["content"]));
class Conversation {
 public:
  Conversation();
  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

  /// Reads a chat request: `messages` (required if passes run), `tools`, `documents`, `add_generation_prompt`,
  /// `continue_final_message`, `chat_template_kwargs` (whose members become variables), and any other member as a
  /// variable. Fails with: json (place); conversation if `messages` is missing or not a list of objects (path).
  static Result<Conversation> from_json(std::string_view text, const ReadOptions& options = {},
                                        std::string_view name = "<input>");

  /// Replaces the contents by this request's, reusing memory (see Document::parse).
  Result<void> read(std::string_view text, const ReadOptions& options = {}, std::string_view name = "<input>");
  /// The same, but takes the text and parses it in place, so that a large request takes half the memory. Reserve 64
  /// spare bytes in the string to avoid a reallocation.
  Result<void> consume(std::string text, const ReadOptions& options = {}, std::string_view name = "<input>");
  /// The same with the values that a builder was given, which is empty afterwards. Fails as Document::build does, and
  /// with conversation.
  Result<void> read(DocumentBuilder& built, const ReadOptions& options = {});

  /// The same conversation in memory of its own. Its paths are places among its own messages.
  Conversation copy() const;

  /// Appends a message. Fails with json if a call's arguments are not a JSON object, or a member is not JSON, and with
  /// unicode_decode if a text is not UTF-8. After a failure nothing has changed.
  Result<void> add(const Message& message);
  /// Puts messages before the existing ones, as a Modelfile does. Their paths begin with `model.`; the paths of the
  /// others still refer to the request, while message numbers count all messages. Fails as add() does.
  Result<void> put_before(std::span<const Message> messages);
  /// Sets a variable (`tools`, `documents`, `enable_thinking`, `bos_token`, …) to a JSON value. Replaces an earlier
  /// one. Fails with json, and with unicode_decode if the name is not UTF-8.
  Result<void> set_json(std::string_view variable, std::string_view json);
  /// Sets a variable to a string. Fails with unicode_decode if that or the name is not UTF-8 (lone surrogates as three
  /// bytes are allowed, as in Python's str), and with limit_memory. After a failure nothing has changed.
  Result<void> set_string(std::string_view variable, std::string_view text);
  /// The same only if the request does not have the variable (for special tokens of a model).
  Result<void> set_default_string(std::string_view variable, std::string_view text);

  /// A dict of all variables. Lifetime, here and below: that of the conversation's contents.
  Value variables() const&;
  Value variables() const&& = delete;
  /// `messages`, or an undefined value.
  Value messages() const&;
  Value messages() const&& = delete;
  /// `tools`; none or undefined if there are none.
  Value tools() const&;
  Value tools() const&& = delete;
  /// What normalisation changed: "messages[3].tool_calls[0].function.arguments: parsed from a JSON string
  /// (parse-arguments)".
  const std::vector<std::string>& notes() const&;
  const std::vector<std::string>& notes() const&& = delete;
  /// The path of a value of this conversation in the request as given: "messages[3].content". A message that add() was
  /// given as fields has none for its lists and dicts, and within further members the path of the member.
  std::string path_of(Value value) const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  struct State;
  const State& inside() const;
  State& inside();
  Result<void> take_document(Result<void> parsed, const ReadOptions& options);

  std::unique_ptr<State> state_;
};

}  // namespace parlance
