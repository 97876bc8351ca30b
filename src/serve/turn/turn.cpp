// One reply. Begin reading at Turn::plan, then at Turn::run.
#include "serve/turn/turn.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/utf8.h"
#include "parlance/json_writer.h"
#include "serve/json/members.h"
#include "serve/models/engine.h"
#include "serve/turn/reasoning_limit.h"
#include "serve/turn/stop_finder.h"

namespace parlance::serve {

using Printed = std::optional<PrintedGrammar>;

namespace {

/// The choice of one tool. Answers to `functions`, which have a place for one call, say themselves what they leave out.
bool must_call_once(const GrammarOptions& wanted, const Conversation& conversation) {
  const bool has_functions = is_given(conversation.variables()["functions"]);
  return wanted.choice == ToolChoice::named && !wanted.parallel && !has_functions;
}

bool must_call(const GrammarOptions& wanted) {
  return wanted.choice == ToolChoice::required || wanted.choice == ToolChoice::named;
}

}  // namespace

bool wants_grammar(const GrammarOptions& wanted, bool has_calls) {
  // Calls that are asked for without tools are an error, which the grammar's maker says.
  // With tools that must not be called, it is the grammar that forbids calls.
  return must_call(wanted) || has_calls || wanted.response.kind != ResponseFormat::Kind::text;
}

Result<void> check_alone(const OwnGrammar& own, const GrammarOptions& wanted, bool has_calls) {
  const auto refuse = [&own](const std::string& why) {
    return Error(ErrorCode::conversation, own.path + ": " + why + "; leave one of the two out").input(own.path);
  };
  if (must_call(wanted) || (has_calls && wanted.choice != ToolChoice::none))
    return refuse("with tools, the grammar of the reply is made from these");
  if (wanted.response.kind != ResponseFormat::Kind::text)
    return refuse("the request asks for another form of its reply too");
  return {};
}

Result<Printed> grammar_in(const ServedModel& model, GrammarOptions wanted, bool has_calls, const ReplyStart& start,
                           GrammarSyntax syntax) {
  if (!wants_grammar(wanted, has_calls)) return Printed();
  if (syntax == GrammarSyntax::lark) wanted.control = model.tokenizer->facts().added;  // the others go by text
  Result<PrintedGrammar> made = model.grammars.printed(start.format.source(), wanted, syntax);
  if (!made) return made.error();
  return Printed(std::move(*made));
}

Result<Printed> content_grammar_in(const ServedModel& model, GrammarOptions wanted, GrammarSyntax syntax) {
  wanted.tools.clear();
  return grammar_in(model, std::move(wanted), false, ReplyStart{}, syntax);
}

void read_calls_as_text(ReplyStart& start, const Conversation& conversation) {
  if (!is_given(conversation.variables()["tool_choice"])) return;
  const Result<GrammarOptions> wanted = grammar_options(conversation);
  if (wanted && wanted->choice == ToolChoice::none) start.format = start.format.without_calls();
}

namespace {

bool begins_in_reasoning(const ReplyStart& start) {
  bool reasons = false;
  const auto take = [&reasons](const ReplyEvent& event) {
    reasons = reasons || event.kind == ReplyEvent::Kind::reasoning;
  };
  ReplyParser parser(start.format, start.options);
  parser.feed("x", take);
  parser.finish(take);
  return reasons;
}

/// Whether the client's own grammar can be that of the reply. `wanted`, here and below: what grammar_options() has of
/// the conversation and this start.
Result<void> check_own(const OwnGrammar& own, const Conversation& conversation, const ReplyStart& start,
                       const Result<GrammarOptions>& wanted) {
  if (!wanted) return wanted.error();
  if (Result<void> alone = check_alone(own, *wanted, !conversation.tools().items().empty()); !alone) return alone;
  if (!begins_in_reasoning(start)) return {};
  return Error(ErrorCode::conversation, own.path + ": the reply begins with reasoning, which has no place in it")
      .input(own.path)
      .hint("turn reasoning off");
}

Result<Printed> grammar_for(const ServedModel& model, const Conversation& conversation, const ReplyStart& start,
                            const Result<GrammarOptions>& wanted) {
  const std::optional<GrammarSyntax> syntax = model.backend->facts().grammar;
  if (!syntax) return Printed();
  if (!wanted) return wanted.error();
  return grammar_in(model, *wanted, !conversation.tools().items().empty(), start, *syntax);
}

/// The schema of a reply that is to be JSON and no more, for an engine that takes only that.
Result<std::string> schema_for(const ServedModel& model, const Conversation& conversation,
                               const Result<GrammarOptions>& wanted) {
  const BackendFacts& facts = model.backend->facts();
  if (facts.grammar || !facts.takes_schema) return std::string();
  if (!wanted) return wanted.error();
  const bool calls = !conversation.tools().items().empty() && wanted->choice != ToolChoice::none;
  if (calls) return std::string();
  if (wanted->response.kind == ResponseFormat::Kind::json_object) return std::string(R"({"type": "object"})");
  return wanted->response.kind == ResponseFormat::Kind::json_schema ? wanted->response.schema : std::string();
}

}  // namespace

void TokenPieces::add(const SampledToken& token, ReplyParser& parser, ReplySink sink) {
  is_token_ = token.id >= 0;
  if (model_.is_control(token.id)) {
    finish(parser, sink);
    return parser.feed_token(model_.tokenizer->token_text(token.id), true, sink);
  }
  feed(characters_.add(is_token_ ? model_.tokenizer->token_text(token.id) : token.text), parser, sink);
}

void TokenPieces::finish(ReplyParser& parser, ReplySink sink) { feed(characters_.rest(), parser, sink); }

void TokenPieces::feed(std::string_view bytes, ReplyParser& parser, ReplySink sink) const {
  if (bytes.empty()) return;
  if (is_token_)
    parser.feed_token(bytes, false, sink);
  else
    parser.feed(bytes, sink);  // nobody knows which texts were control tokens
}

Result<Turn> Turn::plan(std::shared_ptr<const ServedModel> model, const Sessions& sessions, ChatRequest request,
                        TurnSettings settings) {
  Result<PreparedPrompt> prompt = prepare_prompt(model, sessions, request, settings.hints, settings.new_session);
  if (!prompt) return prompt.error();
  return plan(std::move(model), std::move(*prompt), std::move(settings));
}

Result<Turn> Turn::plan(std::shared_ptr<const ServedModel> model, PreparedPrompt prompt, TurnSettings settings) {
  const Session& session = prompt.session;
  RenderOptions render = model->render;
  render.now = prompt.now;
  Result<ReplyStart> start = model->reader.reply_to(session.conversation(), render, session.text());
  if (!start) return start.error();
  const Result<GrammarOptions> wanted = grammar_options(session.conversation(), *start);
  const bool has_own = settings.grammar.text != nullptr;
  if (Result<void> own = has_own ? check_own(settings.grammar, session.conversation(), *start, wanted) : Result<void>();
      !own)
    return own.error();
  Result<Printed> grammar = has_own ? Printed() : grammar_for(*model, session.conversation(), *start, wanted);
  if (!grammar) return grammar.error();
  Result<std::string> schema = schema_for(*model, session.conversation(), wanted);
  if (!schema) return schema.error();
  Turn made(std::move(model), std::move(*start), std::move(prompt), std::move(settings));
  made.grammar_ = made.settings_.grammar.text ? made.settings_.grammar.text : text_of(*grammar);
  made.must_call_once_ = wanted && must_call_once(*wanted, made.prompt_.session.conversation());
  made.must_call_ = *grammar && must_call(*wanted);
  if (*grammar) made.made_grammar_ = (*grammar)->grammar;
  made.schema_ = std::move(*schema);
  made.stop_ids_ = stops_of(*made.model_, made.settings_.sampling.stop_ids, false);
  made.prompt_tokens_ = made.prompt_.session.ids().size();
  made.unknown_ = made.prompt_.session.unknown();
  if (Result<void> ready = made.prepare_limit(); !ready) return ready.error();
  read_calls_as_text(made.start_, made.prompt_.session.conversation());  // behind the grammars, which forbid them
  made.kinds_ = ReplyKinds(made.start_.format);
  return made;
}

/// What the gateway does where reasoning reaches its limit. A grammar for what may come then costs little, since the
/// cache has it from the second request on.
Result<void> Turn::prepare_limit() {
  if (!settings_.reasoning_tokens || settings_.grammar.text) return {};
  const ReplyFormat& format = start_.format.source();
  closing_ = closing_of_reasoning(*model_, format);
  if (!grammar_ || closing_.empty()) return {};
  ReplyStart behind = start_;
  const std::string_view opened = opened_before_reply(start_.options.prompt, format);
  behind.options.prompt = prompt_behind_reasoning(format, std::string(opened));
  const Conversation& conversation = prompt_.session.conversation();
  const Result<Printed> grammar = grammar_for(*model_, conversation, behind, grammar_options(conversation, behind));
  if (!grammar) return grammar.error();
  grammar_behind_ = text_of(*grammar);
  return {};
}

Turn Turn::another(unsigned choice) const {
  TurnSettings settings = settings_;
  settings.choice = choice;
  Turn made(model_, start_, prompt_.copy(), std::move(settings));
  made.grammar_ = grammar_;
  made.must_call_ = must_call_;
  made.must_call_once_ = must_call_once_;
  made.made_grammar_ = made_grammar_;
  made.schema_ = schema_;
  made.stop_ids_ = stop_ids_;
  made.prompt_tokens_ = prompt_tokens_;
  made.unknown_ = unknown_;
  made.closing_ = closing_;
  made.place_ = place_;
  made.grammar_behind_ = grammar_behind_;
  return made;
}

Generation Turn::generation() const {
  return {.ids = prompt_.session.ids(),
          .text = prompt_.session.text(),
          .forgeable = !prompt_.session.guarded().empty(),
          .grammar = grammar_,
          .schema = schema_,
          .sampling = settings_.sampling,
          .stops = stop_ids_,
          .stop_texts = model_->stop_texts,
          .choice = settings_.choice,
          .place = place_.get(),
          .logprobs = settings_.logprobs,
          .last_body = model_->last_body.get()};
}

/// What the session needs of the reply.
void Turn::note(const ReplyEvent& event) {
  reply_.add(event);
  kinds_.add(event);
  last_kind_ = event.kind;
  had_event_ = true;
  ended_ = ended_ || event.kind == ReplyEvent::Kind::end;
}

/// What is kept of a token.
void Turn::note(const SampledToken& token) {
  if (token.id < 0) {
    sampled_text_ += token.text;
    ++text_tokens_;
    return;
  }
  if (token.logprob || !logprobs_.empty()) {
    logprobs_.resize(sampled_.size());
    logprobs_.push_back(token.logprob);
  }
  sampled_.push_back(token.id);
}

/// A token that gives no event yet, as half of a character, is of the kind of the next event.
void Turn::count_reasoning() {
  ++uncounted_;
  if (!had_event_) return;
  if (last_kind_ == ReplyEvent::Kind::reasoning && written_.end == 0) reasoning_tokens_ += uncounted_;
  uncounted_ = 0;
  had_event_ = false;
}

bool Turn::is_at_limit() const {
  const bool reasons = last_kind_ == ReplyEvent::Kind::reasoning && !ended_;
  return reasons && !closing_.empty() && written_.end == 0 && !sampled_.empty() &&
         static_cast<std::int64_t>(reasoning_tokens_) >= *settings_.reasoning_tokens;
}

/// One that is no end of the model's own replies.
bool Turn::is_named_stop(TokenId id) const {
  const std::vector<TokenId>& named = settings_.sampling.stop_ids;
  return std::find(named.begin(), named.end(), id) != named.end() && !model_->is_stop(id);
}

/// Takes what closes it as if the model had sampled it: a token that the request names ends the reply here too.
template <class TakeOne, class IsOver>
void Turn::close_reasoning(TakeOne take_one, IsOver is_over) {
  written_.begin = sampled_.size();
  for (const TokenId id : closing_) {
    if (is_over()) break;
    written_.end = sampled_.size() + 1;
    take_one(SampledToken{.id = id});
  }
}

/// Has the reply tokens left for closed reasoning and for something behind it?
bool Turn::has_room_behind() const {
  const auto sampled = static_cast<std::int64_t>(sampled_.size() + closing_.size());
  const std::optional<std::int64_t> most = settings_.sampling.integer(Setting::max_tokens);
  const std::shared_ptr<const EngineInfo> info = model_->backend->info();
  const bool fits = !info || !info->context || static_cast<std::int64_t>(prompt_tokens_) + sampled < *info->context;
  return fits && (!most || sampled < *most);
}

/// What the engine is asked for behind closed reasoning.
void Turn::go_on(Generation& asked) {
  ids_behind_.assign(asked.ids.begin(), asked.ids.end());
  ids_behind_.insert(ids_behind_.end(), sampled_.begin(), sampled_.end());
  asked.ids = ids_behind_;
  asked.sampled = sampled_.size();
  asked.grammar = grammar_behind_;
  asked.sampling.take_tokens(static_cast<std::int64_t>(sampled_.size()));
}

/// The figures of both parts of a reply.
void Turn::add(const GenerationEnd& second) {
  end_.length = second.length;
  if (end_.evaluated && second.evaluated)
    *end_.evaluated += *second.evaluated;
  else
    end_.evaluated.reset();
}

/// Where one call is asked for, the reply ends before a second one, which no grammar forbade.
bool Turn::is_of_second_call(const ReplyEvent& event) {
  called_twice_ = called_twice_ || (must_call_once_ && event.kind == ReplyEvent::Kind::call_begin && event.call > 0);
  return called_twice_;
}

/// Text that is the beginning of a call, for clients: markup, and a diagnostic.
void Turn::read_as_cut(const ReplyEvent& event, const Take& read) const {
  const bool is_told = std::ranges::any_of(
      reply_.message.diagnostics, [](const ReplyDiagnostic& one) { return one.fault == ReplyEvent::Fault::cut; });
  if (!is_told)
    read({.kind = ReplyEvent::Kind::malformed,
          .fault = ReplyEvent::Fault::cut,
          .position = event.position,
          .text = "the rest of a call"});
  read({.kind = ReplyEvent::Kind::marker, .position = event.position, .source = event.source});
}

Task<> Turn::run(const Take& take, const Flush& flush, TakeTokens take_tokens) {
  ReplyParser parser(start_.format, start_.options);
  StopFinder stops(settings_.sampling.stop);
  TokenPieces pieces(*model_);
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&](const ReplyEvent& event) { take(event); };
  const auto read = [&](const ReplyEvent& event) {
    if (is_of_second_call(event)) return;
    note(event);
    stops.add(event, passed);
  };
  const auto take_one = [&](const SampledToken& token) {
    if (take_tokens) take_tokens(std::span(&token, 1));
    note(token);
    stopped_ = is_named_stop(token.id);
    if (!stopped_) pieces.add(token, parser, read);
    count_reasoning();
  };
  bool cut = false;  // the engine's count of tokens never came, or is of more than the reply
  // An engine need not know what ends a reply of this format. What it samples behind that is none of the reply.
  const auto is_over = [&] { return stopped_ || called_twice_ || stops.found(); };
  const auto is_cut = [&] { return is_over() || (pieces.are_whole() && is_at_limit()); };
  const TokenSink sink = [&](std::span<const SampledToken> tokens, bool is_last) -> Task<bool> {
    if (times_.first_token.count() == 0) times_.first_token = std::chrono::steady_clock::now() - begun;
    bool goes_on = true;
    for (const SampledToken& token : tokens) {
      goes_on = !ended_ && !is_cut();
      if (!goes_on) break;
      take_one(token);
    }
    if (!is_last) co_await flush();
    const bool all_taken = goes_on && is_last;
    goes_on = goes_on && !is_cut();
    cut = !goes_on && !all_taken;
    co_return goes_on;
  };
  Generation asked = generation();
  end_ = co_await generate(*model_, asked, sink);
  if (is_at_limit() && !is_over()) {
    end_.length = !has_room_behind();
    if (!end_.length) close_reasoning(take_one, is_over);
    if (!end_.length && !is_over()) {
      go_on(asked);
      add(co_await generate(*model_, asked, sink));
    }
  }
  if (cut) end_.sampled_tokens = static_cast<std::int64_t>(sampled_.size() + text_tokens_);
  const bool ended = ended_;  // by the model's own mark: finish() ends each reply
  // What the grammar had begun as a call is no text of the reply: a limit cut it off before its name.
  const auto read_rest = [&](const ReplyEvent& event) {
    const bool is_cut_call = must_call_ && end_.length && !ended && event.kind == ReplyEvent::Kind::content;
    is_cut_call ? read_as_cut(event, read) : read(event);
  };
  pieces.finish(parser, read);
  parser.finish(read_rest);
  stops.finish(passed);
  stop_text_ = stops.found();
  // The engine's limit came with the last token, or behind it.
  end_.length = end_.length && !ended && !stopped_ && !called_twice_ && !stop_text_;
  times_.whole = std::chrono::steady_clock::now() - begun;
}

namespace {

/// Calls for which the model wrote no ids have those that were made up.
std::optional<Message> with_ids(std::optional<Message> reply, const std::vector<std::string>& call_ids) {
  if (!reply) return reply;
  auto made_up = call_ids.begin();
  for (ToolCall& call : reply->tool_calls)
    if (call.id.empty() && made_up != call_ids.end()) call.id = *made_up++;
  return reply;
}

/// A reply with a call that is not whole, as a client has it: its arguments are no JSON, so they are a text.
Message told_message(const ReplyMessage& reply, const std::vector<std::string>& call_ids) {
  JsonWriter calls('[');
  auto made_up = call_ids.begin();
  for (const ReplyCall& call : reply.calls) {
    const bool has_made_up = call.id.empty() && made_up != call_ids.end();
    const std::string id = has_made_up ? *made_up++ : utf8::repair(call.id);
    JsonWriter function('{'), made('{');
    function.text("name", utf8::repair(call.name)).text("arguments", utf8::repair(call.arguments));
    calls.item(made.text("id", id).text("type", "function").raw("function", function.take()).take());
  }
  return {.role = "assistant",
          .content = utf8::repair(reply.content),
          .reasoning_content = utf8::repair(reply.reasoning),
          .members = {{"tool_calls", calls.take()}}};
}

}  // namespace

std::string context_id(std::span<const TokenId> ids) {
  constexpr std::size_t kDigits = 32;
  return "context-" + sha256(ids_json(ids)).substr(0, kDigits);
}

std::vector<TokenId> Turn::context() const {
  const std::span<const TokenId> prompt = prompt_.session.ids();
  std::vector<TokenId> ids(prompt.begin(), prompt.end());
  ids.insert(ids.end(), sampled_.begin(), sampled_.end());
  return ids;
}

std::shared_ptr<const Held> Turn::keep(SessionStore& store, const std::vector<std::string>& call_ids,
                                       std::string response_id) {
  std::optional<Message> reply = reply_.as_message();
  const bool broken = !reply;
  if (broken) reply = told_message(reply_.message, call_ids);
  std::shared_ptr<Held> made = held(with_ids(std::move(reply), call_ids), std::move(response_id));
  if (!made) return nullptr;
  made->broken = broken;
  store.keep(made, settings_.hints.owner);
  return made;
}

namespace {

template <class List, class IsSame>
std::size_t shared_begin(const List& before, const List& behind, IsSame is_same) {
  const auto first_other = std::mismatch(before.begin(), before.end(), behind.begin(), behind.end(), is_same).first;
  return static_cast<std::size_t>(first_other - before.begin());
}

/// What a turn has of the one before, from which its session was copied.
Behind behind_of(const Held& from, const Session& session, std::size_t ids) {
  const std::string_view before = from.session.text(), text = session.text();
  const auto is_same_text = [](const GuardedText& one, const GuardedText& other) {
    return one.bytes.begin == other.bytes.begin && one.bytes.end == other.bytes.end && one.id == other.id &&
           one.path == other.path;
  };
  const auto is_same_reply = [](const KeptReply& one, const KeptReply& other) {
    return one.begin == other.begin && one.end == other.end && one.text.begin == other.text.begin &&
           one.text.end == other.text.end;
  };
  return {.name = from.name,
          .past = past_of(from),
          .ids = ids,
          .text = text.starts_with(before) ? before.size() : shared_begin(before, text, std::equal_to<>()),
          .messages = from.session.conversation().messages().items().size(),
          .kept = shared_begin(from.session.kept(), session.kept(), is_same_reply),
          .guarded = shared_begin(from.session.guarded(), session.guarded(), is_same_text)};
}

}  // namespace

std::shared_ptr<Held> Turn::held(const std::vector<std::string>& call_ids, std::string response_id) {
  return held(with_ids(reply_.as_message(), call_ids), std::move(response_id));
}

std::shared_ptr<Held> Turn::held(std::optional<Message> reply, std::string response_id) {
  if (!can_go_on()) return nullptr;
  if (!reply) return nullptr;
  const MessageKeys& keys = prompt_.keys;
  const Key none;
  const Held* const from = prompt_.from.get();
  Session session = take_session();
  session.append_sampled(sampled_);
  const std::size_t known = from && prompt_.reused > 0 ? prompt_.reused : 0;  // ids that both begin with
  const std::size_t bytes = (known > 0 ? from->text_bytes : 0) + bytes_of_texts(*model_, session.ids().subspan(known));
  Key key = key_after(keys.whole.empty() ? none : keys.whole.back(), reply_.message);
  TurnName name = turn_name(prompt_.id, response_id, settings_.choice, key);
  Behind behind = prompt_.grown ? behind_of(*from, session, known) : Behind();
  return std::make_shared<Held>(Held{
      .id = prompt_.id,
      .response_id = std::move(response_id),
      .model = model_,
      .session = std::move(session),
      .name = std::move(name),
      .choice = settings_.choice,
      .named = prompt_.named,
      .reply = std::move(*reply),
      .written = reply_.written,
      .start = ReplyStart{start_.format, start_.options},
      .key = std::move(key),
      .key_without_system = key_after(keys.without_system.empty() ? none : keys.without_system.back(), reply_.message),
      .question = keys.whole.empty() ? Key() : keys.whole.back(),
      .variables = prompt_.variables,
      .previous = from ? from->name : none,
      .superseded = from ? from->previous : none,
      .first = from ? (from->first.empty() ? from->name : from->first) : none,
      .behind = std::move(behind),
      .messages = keys.messages() + 1,
      .own = prompt_.alone ? from->own : settings_.own,
      .text_bytes = bytes,
      .turn = from ? from->turn + 1 : 1,
      .with_tools = prompt_.with_tools,
      .now = prompt_.now});
}

std::shared_ptr<const Held> Turn::without_reply() const {
  if (session_taken_) return nullptr;
  const MessageKeys& keys = prompt_.keys;
  const Held* const from = prompt_.from.get();
  Session session = prompt_.session.copy();
  const std::size_t bytes = bytes_of_texts(*model_, session.ids());
  return std::make_shared<Held>(
      Held{.id = prompt_.id,
           .model = model_,
           .session = std::move(session),
           .named = prompt_.named,
           .key = keys.whole.empty() ? Key() : keys.whole.back(),
           .key_without_system = keys.without_system.empty() ? Key() : keys.without_system.back(),
           .variables = prompt_.variables,
           .messages = keys.messages(),
           .own = prompt_.alone ? from->own : settings_.own,
           .text_bytes = bytes,
           .turn = from ? from->turn : 0,
           .with_tools = prompt_.with_tools,
           .now = prompt_.now});
}

}  // namespace parlance::serve
