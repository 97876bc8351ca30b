// Replies as the answers of three HTTP APIs: whole, and as the events of their streams.
//
//     parlance::ReplyApiWriter writer(parlance::ReplyApi::anthropic, {.id = "msg_7", .model = "mine"});
//     auto send = [&](const parlance::ReplyApiEvent& event) { std::string text; parlance::append_server_sent_event(text, event); write(text); };
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
/// "openai", "anthropic", "responses", in the order of ReplyApi.
std::span<const std::string_view> reply_api_names();
std::optional<ReplyApi> reply_api_named(std::string_view name);
/// The usual id of an answer with a number: "chatcmpl-7", "msg_7", "resp_7".
std::string reply_api_id(ReplyApi api, std::uint64_t number);

/// Tokens, which only who runs the model can count.
struct ReplyUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

/// What an answer says besides the reply. Nothing of it is made from a clock or by chance.
struct ReplyApiOptions {
  std::string id{};          ///< of the answer; "": reply_api_id(api, 0)
  std::string model{};
  std::int64_t created = 0;  ///< seconds since 1970; Anthropic's has none
  /// Makes ids for calls that have none on the wire. Without it they count: call_1, toolu_1; call_ID_1 where the answer has an id.
  std::function<std::string()> make_call_id{};
};

/// What the end of a reply does not show.
struct ReplyOutcome {
  bool length = false;                ///< the model was stopped by a limit of tokens, wherever the reply stands
  std::optional<ReplyUsage> usage{};  ///< without: no usage, and in Anthropic's, which needs one, zeros
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

/// Writes a reply as one API has it, event by event or whole.
///
/// What the events say, put together as the API's own clients do, is what to_json() says, however the reply was cut.
/// A call that is not complete is marked `complete: false` (in Responses: `status: incomplete`) and never looks like one that can be
/// executed. What went wrong stands in `reply_diagnostics`.
/// Memory: the reply, whole.   Threads: one at a time.
class ReplyApiWriter {
 public:
  explicit ReplyApiWriter(ReplyApi api, ReplyApiOptions options = {});
  ReplyApiWriter(ReplyApiWriter&&) noexcept;
  ReplyApiWriter& operator=(ReplyApiWriter&&) noexcept;
  ~ReplyApiWriter();

  /// What a stream begins with. For who wants the whole alone: nothing, as with every empty sink.
  void begin(const ReplyApiSink& sink = {});
  void add(const ReplyEvent& event, const ReplyApiSink& sink = {});
  /// Ends what is open, and the stream; once, and last.
  void finish(const ReplyApiSink& sink = {}, const ReplyOutcome& outcome = {});
  /// The whole answer, after finish(). An id that a call has late on the wire is in this alone.
  std::string to_json() const;

  class Form;

 private:
  std::unique_ptr<Form> form_;
};

}  // namespace parlance
