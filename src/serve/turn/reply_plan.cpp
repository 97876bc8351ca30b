// Plans replies. Begin reading at plan_reply.
#include "serve/turn/reply_plan.h"

#include <atomic>

#include "serve/turn/reasoning_limit.h"

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

/// Its grammar, or the schema in place of one.
Result<void> plan_grammar(ReplyPlan& plan, const Conversation& conversation, const Result<GrammarOptions>& wanted) {
  const OwnGrammar& own = plan.settings.grammar;
  if (own.text) {
    if (Result<void> checked = check_own(own, conversation, plan.start, wanted); !checked) return checked;
    plan.grammar = own.text;
  } else {
    Result<Printed> made = grammar_for(*plan.model, conversation, plan.start, wanted);
    if (!made) return made.error();
    plan.grammar = text_of(*made);
    plan.must_call = *made && must_call(*wanted);
    if (*made) plan.made_grammar = (*made)->grammar;
  }
  Result<std::string> schema = schema_for(*plan.model, conversation, wanted);
  if (!schema) return schema.error();
  plan.schema = std::move(*schema);
  plan.must_call_once = wanted && must_call_once(*wanted, conversation);
  return {};
}

/// What the gateway does where reasoning reaches its limit. A grammar for what may come then costs little, since the
/// cache has it from the second request on.
Result<void> plan_limit(ReplyPlan& plan, const Conversation& conversation) {
  if (!plan.settings.reasoning_tokens || plan.settings.grammar.text) return {};
  const ReplyFormat& format = plan.start.format.source();
  plan.closing = closing_of_reasoning(*plan.model, format);
  if (!plan.grammar || plan.closing.empty()) return {};
  ReplyStart behind = plan.start;
  const std::string_view opened = opened_before_reply(plan.start.options.prompt, format);
  behind.options.prompt = prompt_behind_reasoning(format, std::string(opened));
  const Result<Printed> grammar = grammar_for(*plan.model, conversation, behind, grammar_options(conversation, behind));
  if (!grammar) return grammar.error();
  plan.grammar_behind = text_of(*grammar);
  return {};
}

}  // namespace

Result<std::shared_ptr<const ReplyPlan>> plan_reply(std::shared_ptr<const ServedModel> model,
                                                    const PreparedPrompt& prompt, TurnSettings settings) {
  const Session& session = prompt.session;
  const Conversation& conversation = session.conversation();
  RenderOptions render = model->render;
  render.now = prompt.now;
  Result<ReplyStart> start = model->reader.reply_to(conversation, render, session.text());
  if (!start) return start.error();
  auto made = std::make_shared<ReplyPlan>(ReplyPlan{.model = std::move(model),
                                                    .start = std::move(*start),
                                                    .settings = std::move(settings),
                                                    .prompt_tokens = session.ids().size(),
                                                    .unknown = session.unknown(),
                                                    .place = std::make_shared<std::atomic<bool>>(false)});
  made->stop_ids = stops_of(*made->model, made->settings.sampling.stop_ids, false);
  const Result<GrammarOptions> wanted = grammar_options(conversation, made->start);
  if (Result<void> done = plan_grammar(*made, conversation, wanted); !done) return done.error();
  if (Result<void> done = plan_limit(*made, conversation); !done) return done.error();
  read_calls_as_text(made->start, conversation);  // behind the grammars, which forbid them
  return std::shared_ptr<const ReplyPlan>(std::move(made));
}

}  // namespace parlance::serve
