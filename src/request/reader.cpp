// Reading a request: first as it is, so that its id is known whatever happens next. Begin reading at State::complete.
#include "conversation/api_request.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "json/json.h"
#include "parlance/json.h"
#include "request/state.h"

namespace parlance {
namespace {

ReadOptions as_is() {
  ReadOptions options;
  options.normalise = false;
  return options;
}

}  // namespace

/// Order: the id first, so that even a refused request can be answered by it; then the request's own API becomes a
/// chat; then passes; then what the caller sets, which wins over the request; at last the model's tokens, where nobody
/// gave any.
Result<void> RequestReader::State::complete(ChatRequest& request, const Result<void>& read,
                                            std::optional<SentTo> sent_to) {
  request.id.clear();
  if (!read) return read;
  Conversation& conversation = request.conversation;
  ConversationState& state = inside_of(conversation);
  const Value id = take_variable(state, "id");
  if (!id.is_undefined()) request.id = strict_json_text(id);
  const bool normalises = options.read.normalise;
  if (normalises) {
    state.sent_to = sent_to.value_or(options.read.sent_to);
    if (Result<void> converted = convert_request(state, options.read); !converted) return converted;
    if (Result<void> done = normalise(state, templates.options_for(conversation)); !done) return done;
  }
  state.settle();
  for (const auto& [variable, json] : options.variables) {
    if (normalises) passes::note_overruled_effort(state, variable, json);
    note_replaced(state, variable, json);
    if (Result<void> set = conversation.set_json(variable, json); !set) return set;
  }
  return add_model(conversation, model, !normalises || options.read.as_transformers);
}

RequestReader::RequestReader(ModelSource model, RequestOptions options)
    : state_(std::make_unique<State>(std::move(model), std::move(options))) {}
RequestReader::RequestReader(Template chat_template, RequestOptions options)
    : state_(std::make_unique<State>(std::move(chat_template), std::move(options))) {}
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;
RequestReader::~RequestReader() = default;

/// What was moved from shares one state, which reads and has no template.
RequestReader::State& RequestReader::inside() const {
  static State empty{ModelSource(), RequestOptions()};
  return state_ == nullptr ? empty : *state_;
}

Result<ChatRequest> RequestReader::read(std::string_view body, std::string_view name) const {
  ChatRequest request;
  if (Result<void> done = read_into(request, body, name); !done) return done.error();
  return request;
}

Result<ChatRequest> RequestReader::read(std::string_view body, std::string_view name, SentTo sent_to) const {
  ChatRequest request;
  if (Result<void> done = read_into(request, body, name, sent_to); !done) return done.error();
  return request;
}

Result<ChatRequest> RequestReader::consume(std::string body, std::string_view name) const {
  ChatRequest request;
  if (Result<void> done = inside().complete(request, request.conversation.consume(std::move(body), as_is(), name));
      !done)
    return done.error();
  return request;
}

Result<void> RequestReader::read_into(ChatRequest& into, std::string_view body, std::string_view name) const {
  return inside().complete(into, into.conversation.read(body, as_is(), name));
}

Result<void> RequestReader::read_into(ChatRequest& into, std::string_view body, std::string_view name,
                                      SentTo sent_to) const {
  return inside().complete(into, into.conversation.read(body, as_is(), name), sent_to);
}

Result<void> RequestReader::read_into(ChatRequest& into, DocumentBuilder& built) const {
  return inside().complete(into, into.conversation.read(built, as_is()));
}

const Result<Template>& RequestReader::chat_template(bool with_tools) const& {
  return inside().templates.compiled(with_tools);
}
const Result<Template>& RequestReader::template_for(const Conversation& conversation) const& {
  return chat_template(has_tools(conversation));
}

Result<Rendering> RequestReader::render(const ChatRequest& request, const RenderOptions& options) const {
  const Result<Template>& chat_template = template_for(request.conversation);
  if (!chat_template) return chat_template.error();
  return chat_template->render(request.conversation, options);
}

Result<void> RequestReader::render(const ChatRequest& request, const RenderOptions& options, Workspace& workspace,
                                   Rendering& into) const {
  const Result<Template>& chat_template = template_for(request.conversation);
  if (!chat_template) return chat_template.error();
  return chat_template->render(request.conversation, options, workspace, into);
}

const ModelSource& RequestReader::model() const& { return inside().model; }
const RequestOptions& RequestReader::options() const& { return inside().options; }

bool has_tools(const Conversation& conversation) {
  const Value* tools = member(conversation.variables(), "tools");
  return tools != nullptr && !tools->is_none();
}

std::vector<std::string> effort_notes(const Conversation& conversation) {
  return passes::notes_of_effort(conversation);
}

}  // namespace parlance
