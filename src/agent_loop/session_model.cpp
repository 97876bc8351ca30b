// An agent's model by a Session and a function that samples. Begin reading at SessionModel::reply.
#include <algorithm>

#include "agent_loop/fields.h"
#include "parlance/agent.h"
#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"
#include "parlance/session.h"

namespace parlance {

namespace {

class SessionModel : public AgentModel {
 public:
  explicit SessionModel(SessionModelOptions options) : options_(std::move(options)) {}
  Result<AgentReply> reply(const AgentRequest& request, ReplySink events) override;
  std::optional<std::size_t> context() const override { return options_.context; }

 private:
  Result<void> find_tokens();
  Result<std::string> prepare(const AgentRequest& request);
  Result<Conversation> conversation(std::string_view tools) const;
  Result<AgentReply> sample(const ReplyStart& start, ReplySink events);
  bool is_stop(TokenId id) const { return std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end(); }
  void drop_end(const std::string& end);
  Message replied_message() const;
  Result<std::string> grammar_for(const ReplyStart& start);

  SessionModelOptions options_;
  GrammarCache grammars_;
  std::vector<Message> messages_;  ///< of the conversation, as the agent has them
  std::optional<Session> session_;
  SampledReply replied_;  ///< the last reply, which is behind the session's messages
  ReplyStart start_;      ///< how it was read
  bool has_tokens_ = false;
  std::vector<StopToken> stops_;
  std::vector<TokenId> stop_ids_;
  std::vector<bool> control_;
  std::size_t made_ids_ = 0;     ///< of calls
  std::size_t most_tokens_ = 0;  ///< of the reply that is asked for
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

Result<void> SessionModel::find_tokens() {
  if (has_tokens_) return {};
  Result<std::vector<StopToken>> stops = options_.reader.get().stop_tokens(options_.tokenizer, options_.render);
  if (!stops) return stops.error();
  stops_ = std::move(*stops);
  for (const StopToken& stop : stops_)
    if (stop.id >= 0) stop_ids_.push_back(stop.id);
  for (const AddedToken& token : options_.tokenizer.get().facts().added) {
    if (token.id < 0) continue;
    const auto at = static_cast<std::size_t>(token.id);
    if (control_.size() <= at) control_.resize(at + 1);
    control_[at] = true;
  }
  has_tokens_ = true;
  return {};
}

/// As a request that is read for the template.
Result<Conversation> SessionModel::conversation(std::string_view tools) const {
  Conversation made;
  for (const Message& message : messages_)
    if (Result<void> added = made.add(message); !added) return added.error();
  JsonWriter list('[');
  for (const Value& message : made.messages().items()) list.item(json_text(message));
  JsonWriter body('{');
  body.raw("messages", list.take());
  if (!tools.empty()) body.raw("tools", tools);
  Result<ChatRequest> read = options_.reader.get().consume(body.take(), "the conversation");
  if (!read) return read.error();
  return std::move(read->conversation);
}

/// Within a string of a call that breaks off the reader takes the token that ended the reply for text. Behind it the
/// template would end the turn once more.
void SessionModel::drop_end(const std::string& end) {
  for (std::string* text : {&replied_.written, &replied_.message.content})
    if (text->ends_with(end)) text->resize(text->size() - end.size());
}

/// No template writes a call that breaks off: the reply with one is its text.
Message SessionModel::replied_message() const {
  std::optional<Message> message = replied_.as_message();
  return message ? *std::move(message) : replied_.as_written();
}

/// Makes the prompt. Returns why it does not begin with the turn before; "": it does.
Result<std::string> SessionModel::prepare(const AgentRequest& request) {
  if (request.anew) {
    messages_.clear();
    session_.reset();
    made_ids_ = std::max(made_ids_, highest_call_number(request.messages));
  }
  messages_.insert(messages_.end(), request.messages.begin(), request.messages.end());
  Result<Conversation> whole = conversation(request.tools);
  if (!whole) return whole.error();
  std::string why;
  if (session_) {
    const std::size_t known = session_->conversation().messages().items().size() + 1;
    const SameReply same = same_when_read([this]() -> Result<ReplyStart> { return start_; });
    const Result<Extension> extended =
        extend_behind(*session_, replied_message(), replied_.written, messages_from(*whole, known), same);
    if (extended) return why;
    if (extended.error().code() != ErrorCode::history_rewritten) return extended.error();
    why = extended.error().message();
  }
  const Result<Template>& chosen = options_.reader.get().template_for(*whole);
  if (!chosen) return chosen.error();
  Result<Session> begun = Session::begin(*chosen, options_.tokenizer, std::move(*whole),
                                         {.render = options_.render, .tokenize = options_.tokenize});
  if (!begun) return begun.error();
  session_.emplace(std::move(*begun));
  return why;
}

Result<std::string> SessionModel::grammar_for(const ReplyStart& start) {
  if (!options_.syntax || !has_tools(session_->conversation())) return std::string();
  Result<GrammarOptions> wanted = grammar_options(session_->conversation(), start);
  if (!wanted) return wanted.error();
  if (*options_.syntax == GrammarSyntax::lark) wanted->control = options_.tokenizer.get().facts().added;
  const Result<std::shared_ptr<const std::string>> text =
      grammars_.text(start.format.source(), *wanted, *options_.syntax);
  if (!text) return text.error();
  return **text;
}

Result<AgentReply> SessionModel::sample(const ReplyStart& start, ReplySink events) {
  const Result<std::string> grammar = grammar_for(start);
  if (!grammar) return grammar.error();
  const std::vector<std::string> control = options_.tokenizer.get().control_texts();
  start_ = {start.format.with_control(control), start.options};
  ReplyParser parser(start_.format, start_.options);
  replied_ = SampledReply();
  bool ended = false;
  const auto note = [&](const ReplyEvent& event) {
    ended = ended || event.kind == ReplyEvent::Kind::end;
    replied_.add(event);
    events(event);
  };
  std::vector<TokenId> sampled;
  const auto take = [&](TokenId id) {
    sampled.push_back(id);
    const auto at = static_cast<std::size_t>(id);
    const bool is_control = id >= 0 && at < control_.size() && control_[at];
    parser.feed_token(options_.tokenizer.get().token_text(id), is_control, note);
  };
  const std::string text(session_->text());
  const SampleRequest asked{.ids = session_->ids(),
                            .text = text,
                            .grammar = *grammar,
                            .stop_tokens = stop_ids_,
                            .most_tokens = most_tokens_,
                            .take = take,
                            .deadline = deadline_};
  const std::size_t prompt_tokens = asked.ids.size();
  const Result<bool> length = options_.sample(asked);
  if (!length) return length.error();
  parser.finish(note);
  if (!ended && !sampled.empty() && is_stop(sampled.back()))
    drop_end(options_.tokenizer.get().token_text(sampled.back()));
  session_->append_sampled(sampled);
  for (ReplyCall& call : replied_.message.calls)
    if (call.id.empty()) call.id = "call_" + std::to_string(++made_ids_);
  return AgentReply{.message = replied_.message,
                    .prompt_tokens = prompt_tokens,
                    .sampled_tokens = sampled.size(),
                    .length = *length,
                    .awaits_result = awaits_result(stops_, sampled)};
}

Result<AgentReply> SessionModel::reply(const AgentRequest& request, ReplySink events) {
  if (!options_.sample)
    return Error(ErrorCode::usage, "the model has no function that samples")
        .hint("SessionModelOptions::sample gives the tokens of a reply");
  if (Result<void> found = find_tokens(); !found) return found.error();
  most_tokens_ = request.most_tokens;
  deadline_ = request.deadline;
  const std::size_t before = session_ && !request.anew ? session_->ids().size() : 0;
  Result<std::string> broken = prepare(request);
  if (!broken) return broken.error();
  const std::size_t size = session_->ids().size();
  if (options_.context && size >= *options_.context) {
    session_.reset();
    return AgentReply{.prompt_tokens = size, .too_long = true};
  }
  const Result<ReplyStart> start =
      options_.reader.get().reply_to(session_->conversation(), options_.render, session_->text());
  if (!start) return start.error();
  Result<AgentReply> made = sample(*start, events);
  if (!made) return made.error();
  made->reused_tokens = broken->empty() ? before : 0;
  made->prefix_break = std::move(*broken);
  messages_.push_back(replied_message());
  return made;
}

}  // namespace

std::unique_ptr<AgentModel> make_session_model(SessionModelOptions options) {
  return std::make_unique<SessionModel>(std::move(options));
}

}  // namespace parlance
