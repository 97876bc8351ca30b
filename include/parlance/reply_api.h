// Writes replies as the answers of four HTTP APIs: whole, and as the events of their streams.
//
//     parlance::ReplyApiWriter writer(parlance::ReplyApi::anthropic, {.id = "msg_7", .model = "mine"});
//     auto send = [&](const parlance::ReplyApiEvent& event) {
//       std::string text;
//       parlance::append_stream_event(text, parlance::ReplyApi::anthropic, event);
//       write(text);
//     };
//     auto take = [&](const parlance::ReplyEvent& event) { writer.add(event, send); };
//     writer.begin(send);
//     while (auto bytes = next_piece()) parser.feed(*bytes, take);
//     parser.finish(take);
//     writer.finish(send);
//     write(parlance::end_of_stream(parlance::ReplyApi::anthropic));
//     log(writer.to_json());
//
// docs/reply-apis.md says where each part of a reply goes.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/reply.h"
#include "parlance/value.h"

namespace parlance {

enum class ReplyApi : std::uint8_t {
  openai,     ///< OpenAI's chat completions: chat.completion, chat.completion.chunk
  anthropic,  ///< Anthropic's Messages: message, message_start, content_block_start, …
  responses,  ///< OpenAI's Responses: response, response.created, response.output_item.added, …
  ollama,     ///< Ollama's /api/chat and /api/generate: an object, or one a line
};
inline constexpr std::size_t kReplyApis = 4;
/// "openai", "anthropic", "responses", "ollama", in the order of ReplyApi.
std::span<const std::string_view> reply_api_names();
std::optional<ReplyApi> reply_api_named(std::string_view name);
/// The usual id of an answer with a number: "chatcmpl-7", "msg_7", "resp_7". Ollama's answers have no id: "7".
std::string reply_api_id(ReplyApi api, std::uint64_t number);

/// Counts of tokens. Only the program that runs the model knows them.
struct ReplyUsage {
  std::int64_t input_tokens = 0;      ///< all of the prompt
  std::int64_t output_tokens = 0;     ///< all of the reply
  std::int64_t cached_tokens = 0;     ///< those of input_tokens that a cache had; Anthropic counts them apart
  std::int64_t reasoning_tokens = 0;  ///< those of output_tokens that are reasoning; not in Ollama's answers
};

/// Durations in nanoseconds, which only Ollama's answers have.
struct ReplyTimes {
  std::int64_t total = 0;
  std::int64_t load = 0;    ///< of the model
  std::int64_t prompt = 0;  ///< evaluating the prompt
  std::int64_t eval = 0;    ///< sampling the reply
};

/// Under which names a chat completion has the model's reasoning: clients read one or the other.
enum class ReasoningNames : std::uint8_t { both, reasoning_content, reasoning };

/// How much of the model's reasoning is in an answer.
enum class ShownReasoning : std::uint8_t {
  whole,
  signed_only,  ///< Anthropic's Messages: thinking blocks without their text, which sign_reasoning() may carry
  none,
  as_text,  ///< in the content, with the marks around it
};

/// An opaque text from which requests are read with this reasoning: a reasoning item's `encrypted_content`, or the
/// signature of a thinking block without its text. It is not encrypted.
std::string seal_reasoning(std::string_view reasoning);

/// A tool of Responses that is in a namespace, {"type": "namespace", "name": SPACE, "tools": [{"name": NAME, …}]}. A
/// chat has no namespaces: the model calls the tool NAME, or SPACE__NAME where another tool has that name too.
struct NamespacedTool {
  std::string shown{};  ///< what the model calls it by
  std::string space{};
  std::string name{};
};
/// Those of a request: of its `tools`, and of items of its `input` that bring tools (`tool_search_output`,
/// `additional_tools`).
std::vector<NamespacedTool> namespaced_tools(Value request);
/// The types of the tools of a request that are offered to the model, each once; for ReplyApiOptions::tool_types.
std::vector<std::string> client_tool_types(Value request);

/// The parts of an answer that are not in the reply. No default comes from the clock or a random generator.
struct ReplyApiOptions {
  std::string id{};  ///< the answer's id; "": reply_api_id(api, 0)
  std::string model{};
  std::int64_t created = 0;  ///< seconds since 1970; Anthropic's answers do not have it
  /// Makes ids for calls for which the model wrote none. By default they are numbered: call_1, toolu_1; call_ID_1 if
  /// `id` is set, and call_ID_2_1 in choice 2.
  std::function<std::string()> make_call_id{};
  /// What is known when the stream begins. Anthropic's message_start has it; unset: zeros.
  std::optional<ReplyUsage> usage_at_start{};
  ShownReasoning reasoning = ShownReasoning::whole;

  // Chat completions:
  std::uint32_t choice = 0;   ///< `index` of the choice. Several choices: a writer for each, their events in one stream
  bool stream_usage = false;  ///< stream_options.include_usage: `usage` is null in each chunk, and stands in one more
  ReasoningNames reasoning_names = ReasoningNames::both;
  /// vLLM: in a whole message without reasoning, `reasoning` (or the one name that is chosen) is null; else it is
  /// missing.
  bool null_reasoning = false;
  /// The request has `functions`, which were before `tools`: the answer has its call as `function_call`, which is also
  /// its finish reason. There is a place for one call; further ones are left out.
  bool old_functions = false;
  /// vLLM: a choice has `token_ids`, in a stream those since the chunk before: what add_tokens() was told.
  bool token_ids = false;
  std::string prompt_token_ids{};  ///< JSON: a member of the answer, in a stream of its first chunk; "": there is none
  bool usage_in_chunks = false;    ///< vLLM: each chunk of a stream has the usage so far, from `usage_at_start` on

  /// Anthropic's Messages: makes the signature of a thinking block from its text. By default it is "".
  std::function<std::string(std::string_view thinking)> sign_reasoning{};
  /// Responses: the reasoning stands in `summary` and in its events, where clients look for it that ask for summaries.
  bool reasoning_summary = false;
  /// Responses: makes `encrypted_content` of a reasoning item from its text, as seal_reasoning() does. By default there
  /// is none.
  std::function<std::string(std::string_view reasoning)> encrypt_reasoning{};
  /// Responses: the types of the request's tools. Calls of local_shell, shell and apply_patch, which the client runs,
  /// are items of their own then: local_shell_call, shell_call and apply_patch_call. A stream has them when they have
  /// ended.
  std::vector<std::string> tool_types{};
  /// Responses: the request's tools that are in namespaces. Calls of them have their `namespace` and their own name.
  std::vector<NamespacedTool> namespaces{};
  /// Responses: members of the request that the answer repeats, as name and JSON: {"temperature", "0.5"}. What is not
  /// given has the API's default; names that the API does not repeat are ignored. The JSON is written as it stands,
  /// unchecked.
  std::vector<std::pair<std::string, std::string>> request_members{};
  bool generate = false;  ///< Ollama: the answer is /api/generate's, with `response` in place of `message`
};

/// What only the program that runs the model knows about a reply's end.
struct ReplyOutcome {
  bool length = false;  ///< a token limit stopped the model
  /// Unset: the answer has no usage; Anthropic's requires one and has that of the start, or zeros.
  std::optional<ReplyUsage> usage{};
  std::optional<std::string> stop_sequence{};  ///< the request's stop text that ended the reply
  bool stopped = false;                        ///< a token that the request names ended it, as a stop text does
  std::optional<ReplyTimes> times{};
  std::string done_reason{};  ///< Ollama's answers: another than the reply's own; "": that
  std::string context{};      ///< Ollama's /api/generate: JSON of the ids that a request may go on from; "": none
};

/// A token of the reply, and how likely it was. Lifetime: the views need to live only during the call that takes them.
struct ReplyLogprob {
  struct Alternative {
    std::string_view token;   ///< its bytes, which need not be whole characters
    double logprob = 0;       ///< -infinity and NaN are written as -9999
    std::string_view name{};  ///< what is written as `token`; "": the token itself
  };
  std::string_view token;
  double logprob = 0;
  std::span<const Alternative> top{};
  std::string_view name{};  ///< as that of an alternative
};

/// An error as an API says it.
struct ReplyApiError {
  int status = 500;  ///< of HTTP; decides about the type
  std::string message{};
  std::string type{};  ///< "": reply_error_type(api, status)
  /// OpenAI's APIs; "": null, or by the status (401 invalid_api_key, 429 rate_limit_exceeded). Anthropic's has it as
  /// `details.error_code`; "": there are no details.
  std::string code{};
  std::string param{};  ///< OpenAI's APIs; "": null
};
/// The API's type of errors with an HTTP status: 404 is "not_found_error" in Anthropic's, "invalid_request_error" in
/// OpenAI's APIs. Ollama's errors have no type: "".
std::string_view reply_error_type(ReplyApi api, int status);
/// The body of an HTTP answer that fails.
std::string reply_error_json(ReplyApi api, const ReplyApiError& error);

/// An event of a stream: `data` is JSON on one line. Lifetime: the views are valid until the sink returns.
struct ReplyApiEvent {
  std::string_view name;  ///< "message_start"; "" for chat completions and Ollama, whose events have no names
  std::string_view data;
};
using ReplyApiSink = std::function<void(const ReplyApiEvent&)>;

/// Appends the event as the API's stream has it: as append_server_sent_event() does, and for Ollama as a line.
void append_stream_event(std::string& out, ReplyApi api, const ReplyApiEvent& event);
/// The text that a server sends after the last event: "data: [DONE]" for chat completions, else nothing.
std::string_view end_of_stream(ReplyApi api);
/// What a server may send while nothing happens, so that the connection stays open: Anthropic's event `ping`, or a
/// comment. Ollama has nothing: "".
std::string_view keep_alive_of_stream(ReplyApi api);
/// The stream's Content-Type: "text/event-stream", or "application/x-ndjson".
std::string_view content_type_of_stream(ReplyApi api);
/// Appends the lines `event:` and `data:`, and an empty line.
void append_server_sent_event(std::string& out, const ReplyApiEvent& event);

/// Writes a reply in the form of one API, event by event or whole.
///
/// If the API's own client assembles the events, it gets what to_json() returns, however the reply was cut into pieces.
/// An incomplete call is marked `complete: false` (in Responses: `status: incomplete`), so that nobody executes it.
/// `reply_diagnostics` lists the malformed parts. Memory: the whole reply. A moved-from writer sends nothing, and
/// neither does one that has ended: after finish() only fail() does something, and after fail() nothing does.
/// Threads: one at a time.
class ReplyApiWriter {
 public:
  explicit ReplyApiWriter(ReplyApi api, ReplyApiOptions options = {});
  ReplyApiWriter(ReplyApiWriter&&) noexcept;
  ReplyApiWriter& operator=(ReplyApiWriter&&) noexcept;
  ~ReplyApiWriter();

  /// Sends the first events of the stream, once. Without a sink nothing is sent, but to_json() still has the whole
  /// answer.
  void begin(const ReplyApiSink& sink = {});
  void add(const ReplyEvent& event, const ReplyApiSink& sink = {});
  /// Takes the logprobs of tokens; to be called before add() with the events that these tokens give. A token goes with
  /// the event whose source has its first byte: tokens and events are counted along by bytes, so the sources of all
  /// events together must be the texts of all tokens. In chat completions and Ollama's answers logprobs are in the next
  /// chunk, also those of markup; those of a stop text (ReplyOutcome::stop_sequence), which no event has, are left out.
  /// In Responses they are in the output_text.delta that has any of the token's bytes; those of reasoning, calls and
  /// markup are left out. Anthropic's API has none.
  void add_logprobs(std::span<const ReplyLogprob> tokens);
  /// Tells the ids of tokens that were sampled, before add() with the events that they give; -1: one that is not known.
  /// Chat completions have them where the options say so; a chunk has those of events that gave none, too.
  void add_tokens(std::span<const std::int32_t> ids);
  /// Closes everything that is open, and the stream.
  void finish(const ReplyApiSink& sink = {}, const ReplyOutcome& outcome = {});
  /// Ends the stream with an error in place of finish(), or behind it: choices of one stream end apart. to_json() is
  /// the error's body from then on; in Responses, the response with the status `failed`, and what there is of its
  /// output.
  void fail(const ReplyApiError& error, const ReplyApiSink& sink = {});
  /// The whole answer, after finish(). If the model wrote a call's id after its arguments, only this has it.
  std::string to_json() const;
  /// Chat completions: one answer with the choices of all writers, whose other options are the same. `usage` is of all
  /// choices together. `reply_diagnostics` are in each choice. Other APIs have one choice: the first writer's answer.
  static std::string choices_to_json(std::span<const ReplyApiWriter* const> writers,
                                     const std::optional<ReplyUsage>& usage = std::nullopt);

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  class Form;
  Form& inside() { return *form_; }

  std::unique_ptr<Form> form_;
};

}  // namespace parlance
