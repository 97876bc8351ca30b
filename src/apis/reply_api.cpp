// The table of APIs, and the door to their forms. Begin reading at kApis.
#include "parlance/reply_api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apis/form.h"

namespace parlance {
namespace {

struct Api {
  std::string_view id_prefix;
  std::string_view end_of_stream;  ///< behind the last event
  std::unique_ptr<apis::Form> (*make)(ReplyApiOptions options, std::string default_id);
};

constexpr std::string_view kNames[] = {"openai", "anthropic", "responses"};
/// In the order of ReplyApi.
constexpr Api kApis[] = {{"chatcmpl-", "data: [DONE]\n\n", apis::make_chat_completion},
                         {"msg_", "", apis::make_message},
                         {"resp_", "", apis::make_response}};
static_assert(std::size(kApis) == kReplyApis && std::size(kNames) == kReplyApis);

const Api& api_of(ReplyApi api) { return kApis[static_cast<std::size_t>(api)]; }

}  // namespace

std::span<const std::string_view> reply_api_names() { return kNames; }

std::optional<ReplyApi> reply_api_named(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<ReplyApi>(found - std::begin(kNames));
}

std::string reply_api_id(ReplyApi api, std::uint64_t number) {
  return std::string(api_of(api).id_prefix) + std::to_string(number);
}

// The data is JSON on one line. A newline in it would need a `data:` of its own (the HTML standard's event streams).
void append_server_sent_event(std::string& out, const ReplyApiEvent& event) {
  if (!event.name.empty()) out.append("event: ").append(event.name).append("\n");
  out.append("data: ").append(event.data).append("\n\n");
}

std::string_view end_of_server_sent_events(ReplyApi api) { return api_of(api).end_of_stream; }

ReplyApiWriter::ReplyApiWriter(ReplyApi api, ReplyApiOptions options)
    : form_(api_of(api).make(std::move(options), reply_api_id(api, 0))) {}
ReplyApiWriter::ReplyApiWriter(ReplyApiWriter&&) noexcept = default;
ReplyApiWriter& ReplyApiWriter::operator=(ReplyApiWriter&&) noexcept = default;
ReplyApiWriter::~ReplyApiWriter() = default;

void ReplyApiWriter::begin(const ReplyApiSink& sink) {
  if (form_ == nullptr) return;  // moved from
  form_->listen(sink);
  form_->begin();
}

void ReplyApiWriter::add(const ReplyEvent& event, const ReplyApiSink& sink) {
  if (form_ == nullptr) return;
  form_->listen(sink);
  form_->add(event);
}

void ReplyApiWriter::finish(const ReplyApiSink& sink, const ReplyOutcome& outcome) {
  if (form_ == nullptr) return;
  form_->listen(sink);
  form_->finish(outcome);
}

std::string ReplyApiWriter::to_json() const { return form_ == nullptr ? "{}" : form_->to_json(); }

}  // namespace parlance
