// Writes replies as the answers of three HTTP APIs: whole, and as the events of their streams.
//
//     parlance::ReplyApiWriter writer(parlance::ReplyApi::anthropic, {.id = "msg_7", .model = "mine"});
//     auto send = [&](const parlance::ReplyApiEvent& event) {
//       std::string text;
//       parlance::append_server_sent_event(text, event);
//       write(text);
//     };
//     auto take = [&](const parlance::ReplyEvent& event) { writer.add(event, send); };
//     writer.begin(send);
//     while (auto bytes = next_piece()) parser.feed(*bytes, take);
//     parser.finish(take);
//     writer.finish(send);
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

#include "parlance/reply.h"

namespace parlance {

enum class ReplyApi : std::uint8_t {
  openai,     ///< OpenAI's chat completions: chat.completion, chat.completion.chunk
  anthropic,  ///< Anthropic's Messages: message, message_start, content_block_start, …
  responses,  ///< OpenAI's Responses: response, response.created, response.output_item.added, …
};
inline constexpr std::size_t kReplyApis = 3;
/// "openai", "anthropic", "responses", in the order of ReplyApi.
std::span<const std::string_view> reply_api_names();
std::optional<ReplyApi> reply_api_named(std::string_view name);
/// The usual id of an answer with a number: "chatcmpl-7", "msg_7", "resp_7".
std::string reply_api_id(ReplyApi api, std::uint64_t number);

/// Counts of tokens. Only the program that runs the model knows them.
struct ReplyUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

/// The parts of an answer that are not in the reply. No default comes from the clock or a random generator.
struct ReplyApiOptions {
  std::string id{};  ///< the answer's id; "": reply_api_id(api, 0)
  std::string model{};
  std::int64_t created = 0;  ///< seconds since 1970; Anthropic's answers do not have it
  /// Makes ids for calls for which the model wrote none. By default they are numbered: call_1, toolu_1; call_ID_1 if
  /// `id` is set.
  std::function<std::string()> make_call_id{};
};

/// What only the program that runs the model knows about a reply's end.
struct ReplyOutcome {
  bool length = false;                ///< a token limit stopped the model
  std::optional<ReplyUsage> usage{};  ///< unset: the answer has no usage; Anthropic's requires one and has zeros
};

/// An event of a stream: `data` is JSON on one line. Lifetime: the views are valid until the sink returns.
struct ReplyApiEvent {
  std::string_view name;  ///< "message_start"; "" for chat completions, whose events have no names
  std::string_view data;
};
using ReplyApiSink = std::function<void(const ReplyApiEvent&)>;

/// Appends the lines `event:` and `data:`, and an empty line.
void append_server_sent_event(std::string& out, const ReplyApiEvent& event);
/// The text that a server sends after the last event: "data: [DONE]" for chat completions, else nothing.
std::string_view end_of_server_sent_events(ReplyApi api);

/// Writes a reply in the form of one API, event by event or whole.
///
/// If the API's own client assembles the events, it gets what to_json() returns, however the reply was cut into pieces.
/// An incomplete call is marked `complete: false` (in Responses: `status: incomplete`), so that nobody executes it.
/// `reply_diagnostics` lists the malformed parts. Memory: the whole reply. A moved-from writer sends nothing.
/// Threads: one at a time.
class ReplyApiWriter {
 public:
  explicit ReplyApiWriter(ReplyApi api, ReplyApiOptions options = {});
  ReplyApiWriter(ReplyApiWriter&&) noexcept;
  ReplyApiWriter& operator=(ReplyApiWriter&&) noexcept;
  ~ReplyApiWriter();

  /// Sends the first events of the stream. Without a sink nothing is sent, but to_json() still has the whole answer.
  void begin(const ReplyApiSink& sink = {});
  void add(const ReplyEvent& event, const ReplyApiSink& sink = {});
  /// Closes everything that is open, and the stream. Call it once, last.
  void finish(const ReplyApiSink& sink = {}, const ReplyOutcome& outcome = {});
  /// The whole answer, after finish(). If the model wrote a call's id after its arguments, only this has it.
  std::string to_json() const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  class Form;
  Form& inside() { return *form_; }

  std::unique_ptr<Form> form_;
};

}  // namespace parlance
