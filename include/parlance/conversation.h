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
#include "parlance/result.h"
#include "parlance/transformers.h"
#include "parlance/value.h"

namespace parlance {

/// One normalisation pass: what `parlance render --list-passes` shows.
struct NormalisePass {
  std::string_view name;      ///< e.g. "parse-arguments"
  std::string_view sentence;  ///< what it does and why
  bool by_default = true;     ///< false: run only when asked for, or where adapt() finds it needed
  std::string_view takes{};   ///< what may follow the name and a colon: "ROLES" (one or more: content-parts:user,tool), or
                              ///< what must: "NAME", "TYPE", "SETTINGS"; "": nothing
  bool of_transformers = false;  ///< apply_chat_template does it too: ReadOptions::as_transformers runs these alone
};
/// All passes, in the order they run.
std::span<const NormalisePass> normalise_passes();

struct ReadOptions {
  bool normalise = true;                  ///< false: as is, every member a variable, as transformers does with its keyword arguments
  bool as_transformers = false;           ///< the passes alone that are apply_chat_template's own work, and its checks: what it renders
  TransformersVersion transformers = kNewestTransformers;  ///< the release whose work that is
  std::vector<std::string> skip_passes{};   ///< names of passes that are not run
  std::vector<std::string> extra_passes{};  ///< passes to run that are off by default: "one-part", "content-parts:user,tool"
  std::string reasoning_effort{};           ///< none, minimal, low, medium, high, xhigh or max: instead of the request's; "": that
};

/// A tool call of an assistant message under construction. `arguments_json` is a JSON object.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments_json = "{}";
};

/// A message under construction; empty optional parts are left out.
struct Message {
  std::string role;                    ///< "system", "user", "assistant", "tool", …
  std::string content;
  std::string reasoning_content{};     ///< assistant: what came before the answer
  std::vector<ToolCall> tool_calls{};  ///< assistant
  std::string tool_call_id{};          ///< tool
  std::string name{};                  ///< tool, or a named speaker
};

/// The variables a template sees. Movable, not copyable; may be read by many threads once built. One that was moved from
/// can be assigned to, read() or consume() again, and nothing else.
class Conversation {
 public:
  Conversation();
  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

  /// Reads a chat request: `messages` (required unless as is), `tools`, `documents`, `add_generation_prompt`,
  /// `continue_final_message`, `chat_template_kwargs` (whose members become variables), and any other member as a variable.
  /// Fails with: json (place); conversation when `messages` is missing or not a list of objects (path).
  static Result<Conversation> from_json(std::string_view text, const ReadOptions& options = {},
                                        std::string_view name = "<input>");

  /// Replaces the contents by this request's, reusing memory (see Document::parse).
  Result<void> read(std::string_view text, const ReadOptions& options = {}, std::string_view name = "<input>");
  /// The same for a text that nobody needs afterwards: it is read where it is, so that a large request takes half the
  /// memory. Room for 64 bytes more in the string spares a move of it.
  Result<void> consume(std::string text, const ReadOptions& options = {}, std::string_view name = "<input>");

  /// Appends a message. Fails with json when a call's arguments are not a JSON object.
  Result<void> add(const Message& message);
  /// Puts messages before those there are, as a Modelfile does. Their paths begin with `model.`; the paths of the
  /// others stay as they are in the request, while the messages' numbers count all. Fails with json as add() does.
  Result<void> put_before(std::span<const Message> messages);
  /// Sets a variable (`tools`, `documents`, `enable_thinking`, `bos_token`, …) to a JSON value. Replaces an earlier one.
  Result<void> set_json(std::string_view variable, std::string_view json);
  /// Sets a variable to a string.
  void set_string(std::string_view variable, std::string_view text);
  /// Sets a variable only where the request does not have it (special tokens of a model).
  void set_default_string(std::string_view variable, std::string_view text);

  /// A dict of all variables.
  Value variables() const;
  /// `messages`, or an undefined value.
  Value messages() const;
  /// What normalisation changed: "messages[3].tool_calls[0].function.arguments: parsed from a JSON string (parse-arguments)".
  const std::vector<std::string>& notes() const;
  /// Where a value of this conversation is in the request as given: "messages[3].content".
  std::string path_of(Value value) const;

  struct State;
  /// The inside, for parlance's own modules.
  const State& state() const { return *state_; }
  State& state() { return *state_; }

 private:
  Result<void> take_document(Result<void> parsed, const ReadOptions& options);

  std::unique_ptr<State> state_;
};

}  // namespace parlance
