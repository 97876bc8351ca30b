// The table of APIs, and the door to their forms. Begin reading at kApis.
#include "parlance/reply_api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apis/form.h"
#include "base/one_line.h"
#include "conversation/client_tools.h"
#include "conversation/sealed_reasoning.h"
#include "conversation/tool_spaces.h"

namespace parlance {
namespace {

struct Api {
  std::string_view id_prefix;
  bool in_lines;                   ///< a stream of lines rather than of the HTML standard's events
  std::string_view end_of_stream;  ///< behind the last event
  std::string_view keep_alive;
  std::unique_ptr<apis::Form> (*make)(ReplyApiOptions options, std::string default_id);
};

constexpr std::string_view kNames[] = {"openai", "anthropic", "responses", "ollama"};
/// In the order of ReplyApi.
constexpr Api kApis[] = {{"chatcmpl-", false, "data: [DONE]\n\n", ": keep-alive\n\n", apis::make_chat_completion},
                         {"msg_", false, "", "event: ping\ndata: {\"type\": \"ping\"}\n\n", apis::make_message},
                         {"resp_", false, "", ": keep-alive\n\n", apis::make_response},
                         {"", true, "", "", apis::make_ollama}};
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

std::string seal_reasoning(std::string_view reasoning) { return sealed_reasoning(reasoning); }

// The data is JSON on one line. A newline in it would need a `data:` of its own (the HTML standard's event streams),
// and many clients break lines at other characters, too.
void append_server_sent_event(std::string& out, const ReplyApiEvent& event) {
  if (!event.name.empty()) out.append("event: ").append(event.name).append("\n");
  out.append("data: ");
  append_one_line(out, event.data);
  out.append("\n\n");
}

void append_stream_event(std::string& out, ReplyApi api, const ReplyApiEvent& event) {
  if (!api_of(api).in_lines) return append_server_sent_event(out, event);
  append_one_line(out, event.data);
  out.push_back('\n');
}

std::string_view end_of_stream(ReplyApi api) { return api_of(api).end_of_stream; }

std::string_view keep_alive_of_stream(ReplyApi api) { return api_of(api).keep_alive; }

std::string_view content_type_of_stream(ReplyApi api) {
  return api_of(api).in_lines ? "application/x-ndjson" : "text/event-stream";
}

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

void ReplyApiWriter::fail(const ReplyApiError& error, const ReplyApiSink& sink) {
  if (form_ == nullptr) return;
  form_->listen(sink);
  form_->fail(error);
}

void ReplyApiWriter::add_logprobs(std::span<const ReplyLogprob> tokens) {
  if (form_ != nullptr) form_->add_logprobs(tokens);
}

void ReplyApiWriter::add_tokens(std::span<const std::int32_t> ids) {
  if (form_ != nullptr) form_->add_tokens(ids);
}

/// Where a writer has failed, its error is the answer: a client takes an answer with fewer choices for a whole one.
std::string ReplyApiWriter::choices_to_json(std::span<const ReplyApiWriter* const> writers,
                                            const std::optional<ReplyUsage>& usage) {
  const Form* first = nullptr;
  Json choices('[');
  for (const ReplyApiWriter* writer : writers) {
    if (writer->form_ == nullptr) continue;
    if (writer->form_->has_failed()) return writer->to_json();
    if (first == nullptr) first = writer->form_.get();
    choices.item(writer->form_->choice_json());
  }
  return first == nullptr ? "{}" : first->with_choices(choices.take(), usage);
}

std::string ReplyApiWriter::to_json() const { return form_ == nullptr ? "{}" : form_->to_json(); }

std::vector<NamespacedTool> namespaced_tools(Value request) {
  std::vector<NamespacedTool> all;
  const ToolSpaces spaces(tool_lists_of(request));
  for (const ToolOfSpace& tool : spaces.all()) all.push_back({tool.shown, tool.space, tool.name});
  return all;
}

std::vector<std::string> client_tool_types(Value request) {
  std::set<std::string_view> types;  // most tools are functions
  for (const Value list : tool_lists_of(request)) {
    for (const Value& tool : list.items()) {
      if (runs_at_client(tool)) types.insert(tool["type"].text());
    }
  }
  return {types.begin(), types.end()};
}

}  // namespace parlance
