// Conversation: messages, tools and other variables of one chat request, ready to be rendered.
//
// Read one from an OpenAI-style JSON request, or build one in C++. Normalisation is a list of named passes,
// each of which can be switched off; without them the request is handed to the template untouched.
#pragma once
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

struct ReadOptions {
  /// false: as is, every member a variable, as transformers does with its keyword arguments
  bool normalise = true;
  /// the passes alone that are apply_chat_template's own work, and its checks: what it renders
  bool as_transformers = false;
  TransformersVersion transformers = kNewestTransformers;  ///< the release whose work that is
  Passes passes{};                                         ///< that run besides the usual ones, and that do not run
  /// requests of other APIs keep members that steer the server or the sampler, as variables: for request_as()
  bool keep_steering = false;
  std::string reasoning_effort{};  ///< one of reasoning_efforts(): instead of the request's; "": that
};

/// A tool call of an assistant message under construction. `arguments_json` is a JSON object.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments_json = "{}";
};

/// A member of an object under construction, for whatever has no field of its own.
struct JsonMember {
  std::string name;
  std::string json;  ///< its value: any JSON
};

/// A part of a message's content under construction: text, or by its type an image, a sound, …
struct ContentPart {
  std::string type = "text";
  std::string text{};                 ///< of the type text
  std::vector<JsonMember> members{};  ///< all else: {"image_url", R"({"url": "https://…"})"}
};

/// A message under construction; empty optional parts are left out.
struct Message {
  std::string role;  ///< "system", "user", "assistant", "tool", …
  std::string content;
  std::string reasoning_content{};     ///< assistant: what came before the answer
  std::vector<ToolCall> tool_calls{};  ///< assistant
  std::string tool_call_id{};          ///< tool
  std::string name{};                  ///< tool, or a named speaker
  std::vector<ContentPart> parts{};    ///< the content as a list, in place of `content`
  std::vector<JsonMember> members{};   ///< any others, which win over those above: {"content", "null"}
};

/// The variables a template sees. Movable, not copyable; any number of threads may read it once it is built. After a
/// move it is empty.
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

  /// Reads a chat request: `messages` (required unless as is), `tools`, `documents`, `add_generation_prompt`,
  /// `continue_final_message`, `chat_template_kwargs` (whose members become variables), and any other member as a
  /// variable. Fails with: json (place); conversation when `messages` is missing or not a list of objects (path).
  static Result<Conversation> from_json(std::string_view text, const ReadOptions& options = {},
                                        std::string_view name = "<input>");

  /// Replaces the contents by this request's, reusing memory (see Document::parse).
  Result<void> read(std::string_view text, const ReadOptions& options = {}, std::string_view name = "<input>");
  /// The same for a text that nobody needs afterwards: it is read where it is, so that a large request takes half the
  /// memory. Reserve 64 bytes more in the string to spare a copy of it.
  Result<void> consume(std::string text, const ReadOptions& options = {}, std::string_view name = "<input>");

  /// Appends a message. Fails with json when a call's arguments are not a JSON object, or a member is no JSON.
  Result<void> add(const Message& message);
  /// Puts messages before those there are, as a Modelfile does. Their paths begin with `model.`; the paths of the
  /// others stay as they are in the request, while the messages' numbers count all. Fails with json as add() does.
  Result<void> put_before(std::span<const Message> messages);
  /// Sets a variable (`tools`, `documents`, `enable_thinking`, `bos_token`, …) to a JSON value. Replaces an earlier
  /// one.
  Result<void> set_json(std::string_view variable, std::string_view json);
  /// Sets a variable to a string.
  void set_string(std::string_view variable, std::string_view text);
  /// Sets a variable only where the request does not have it (special tokens of a model).
  void set_default_string(std::string_view variable, std::string_view text);

  /// A dict of all variables. Lifetime, here and below: of the conversation's contents.
  Value variables() const&;
  Value variables() const&& = delete;
  /// `messages`, or an undefined value.
  Value messages() const&;
  Value messages() const&& = delete;
  /// `tools`; none or undefined where there are none.
  Value tools() const&;
  Value tools() const&& = delete;
  /// What normalisation changed: "messages[3].tool_calls[0].function.arguments: parsed from a JSON string
  /// (parse-arguments)".
  const std::vector<std::string>& notes() const&;
  const std::vector<std::string>& notes() const&& = delete;
  /// Where a value of this conversation is in the request as given: "messages[3].content".
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
