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
// docs/reply-apis.md says what stands where.
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

/// What an answer says besides the reply. No default is taken from the clock or at random.
struct ReplyApiOptions {
  std::string id{};  ///< of the answer; "": reply_api_id(api, 0)
  std::string model{};
  std::int64_t created = 0;  ///< seconds since 1970; Anthropic's has none
  /// Makes ids for calls whose reply has none. By default they are numbered: call_1, toolu_1; call_ID_1 if `id` is set.
  std::function<std::string()> make_call_id{};
};

/// What only the program that runs the model knows about a reply's end.
struct ReplyOutcome {
  bool length = false;                ///< a limit of tokens stopped the model
  std::optional<ReplyUsage> usage{};  ///< unset: the answer has no usage; Anthropic's, which needs one, has zeros
};

/// An event of a stream: `data` is JSON on one line. Views live until the sink returns.
struct ReplyApiEvent {
  std::string_view name;  ///< "message_start"; "" for chat completions, whose events have no names
  std::string_view data;
};
using ReplyApiSink = std::function<void(const ReplyApiEvent&)>;

/// The lines `event:` and `data:`, and an empty one.
void append_server_sent_event(std::string& out, const ReplyApiEvent& event);
/// What follows the last event on the wire: "data: [DONE]" for chat completions, else nothing.
std::string_view end_of_server_sent_events(ReplyApi api);

/// Writes a reply in the form of one API, event by event or whole.
///
/// If the API's own client assembles the events, it gets what to_json() returns, however the reply was cut into pieces.
/// An incomplete call is marked `complete: false` (in Responses: `status: incomplete`), so that nobody executes it.
/// `reply_diagnostics` lists what was malformed. Memory: the whole reply. A moved-from writer sends nothing.
/// Threads: one at a time.
class ReplyApiWriter {
 public:
  explicit ReplyApiWriter(ReplyApi api, ReplyApiOptions options = {});
  ReplyApiWriter(ReplyApiWriter&&) noexcept;
  ReplyApiWriter& operator=(ReplyApiWriter&&) noexcept;
  ~ReplyApiWriter();

  /// Sends the first events of the stream. Without a sink, nothing is sent; to_json() still has the whole answer.
  void begin(const ReplyApiSink& sink = {});
  void add(const ReplyEvent& event, const ReplyApiSink& sink = {});
  /// Closes everything that is open, and the stream. Call it once, last.
  void finish(const ReplyApiSink& sink = {}, const ReplyOutcome& outcome = {});
  /// The whole answer, after finish(). Only this has the id of a call whose reply gives it after its arguments.
  std::string to_json() const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  class Form;
  Form& inside() { return *form_; }

  std::unique_ptr<Form> form_;
};

}  // namespace parlance
