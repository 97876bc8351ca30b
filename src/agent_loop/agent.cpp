// The loop of an agent. Begin reading at Agent::State::go.
#include "parlance/agent.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>

#include "agent_loop/compaction.h"
#include "agent_loop/fields.h"
#include "agent_loop/prompt_size.h"
#include "agent_loop/repetition.h"
#include "base/surrogates.h"
#include "base/utf8.h"
#include "parlance/json_writer.h"
#include "parlance/value.h"

namespace parlance {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 9> kEventNames = {"turn",    "reply",      "replied",  "call",     "outcome",
                                                         "refused", "unreadable", "repeated", "compacted"};
constexpr std::array<std::string_view, 10> kReasonNames = {"done",    "gave_up", "turns", "tokens",  "seconds",
                                                           "repeats", "context", "model", "stopped", "usage"};

constexpr unsigned kMostTries = 4;  // to make a prompt that fits

constexpr std::string_view kVerify =
    ", and no run has succeeded since. Verify that the goal is reached, by a run that changes nothing and "
    "succeeds. Then say that it is done.";
constexpr std::string_view kAwaits =
    "Your reply ends as one that waits for the result of a call, and there is no call in it that can be read. Write "
    "the call in its form, or say in words that it is done.";
constexpr std::string_view kSilent =
    "Your reply has neither a call nor an answer. Make the next call, or say in words that it is done.";
constexpr std::string_view kCutOff =
    "Your reply was cut off by a limit of tokens. Go on, with shorter steps: one call at a time.";

std::string tools_json(const std::vector<AgentTool>& tools) {
  if (tools.empty()) return {};
  JsonWriter list('[');
  for (const AgentTool& tool : tools) {
    JsonWriter function('{');
    function.text("name", tool.name).text("description", tool.description).raw("parameters", tool.parameters);
    list.item(JsonWriter('{').text("type", "function").raw("function", function.take()).take());
  }
  return list.take();
}

std::string sentence_of(const ReplyMessage& message) {
  std::string text = "Your call could not be read";
  for (const ReplyDiagnostic& fault : message.diagnostics)
    text += "; at byte " + std::to_string(fault.position) + " was expected: " + fault.expected;
  return text + ". Write it again.";
}

/// A character that was cut, or half of one in JSON, is no UTF-8, of which a conversation is.
Message message_of(const ReplyMessage& reply) {
  Message message{
      .role = "assistant", .content = utf8::repair(reply.content), .reasoning_content = utf8::repair(reply.reasoning)};
  for (const ReplyCall& call : reply.calls)
    message.tool_calls.push_back(
        {.id = utf8::repair(call.id), .name = utf8::repair(call.name), .arguments_json = repair_json(call.arguments)});
  return message;
}

Error unfit(const AgentTool& tool, std::string_view why) {
  return Error(ErrorCode::value, "the tool '" + tool.name + "' " + std::string(why));
}

/// What it throws is an error of its own.
Result<ToolOutcome> outcome_of(const AgentTool& tool, std::string_view arguments) {
#ifdef __cpp_exceptions
  try {
    return tool.run(arguments);
  } catch (const std::exception& thrown) {
    return Error(ErrorCode::python_runtime, thrown.what());
  } catch (...) {
    return Error(ErrorCode::python_runtime, "the tool has thrown something that is no std::exception");
  }
#else
  return tool.run(arguments);
#endif
}

std::string list_of(const std::vector<AgentTool>& tools) {
  std::string names;
  for (const AgentTool& tool : tools) names.append(names.empty() ? "" : ", ").append(tool.name);
  return names;
}

}  // namespace

std::string_view name_of(AgentEvent::Kind kind) { return kEventNames[static_cast<std::size_t>(kind)]; }
std::string_view name_of(AgentEnd::Reason reason) { return kReasonNames[static_cast<std::size_t>(reason)]; }

bool is_object_schema(std::string_view json) {
  Document document;
  if (!document.parse(json) || !document.root().is(Kind::dict)) return false;
  const Value type = document.root()["type"];
  if (!type.is(Kind::list)) return type.is(Kind::undefined) || type.text() == "object";
  const std::span<const Value> types = type.items();
  return std::any_of(types.begin(), types.end(), [](Value one) { return one.text() == "object"; });
}

Result<void> check_tools(std::span<const AgentTool> tools) {
  for (auto at = tools.begin(); at != tools.end(); ++at) {
    if (at->name.empty()) return Error(ErrorCode::value, "a tool has no name");
    if (!at->run) return unfit(*at, "has no function to run");
    if (!is_object_schema(at->parameters)) return unfit(*at, "has parameters that are no JSON Schema of an object");
    if (std::any_of(tools.begin(), at, [at](const AgentTool& one) { return one.name == at->name; }))
      return unfit(*at, "is there twice");
  }
  return {};
}

struct Agent::State {
  State(AgentModel& of, AgentOptions with) : model(of), options(std::move(with)), offered(options.tools) {}

  AgentModel& model;
  const AgentOptions options;
  std::vector<AgentTool> offered;  ///< the tools as they are now
  std::string tools;               ///< the same as a request has them; "": none
  const Clock::time_point begun = Clock::now();
  std::vector<Message> messages;
  std::size_t told = 0;  ///< messages that the model knows
  bool unverified = false;
  std::string unverified_changes;  ///< what was changed; "": nobody says
  unsigned refusals = 0;
  Repetition repetition;
  PromptSize size;
  AgentEnd end{};
  bool ended = false;
  bool has_run = false;

  AgentEnd go();
  void begin();
  bool may_run();
  bool offer(std::vector<AgentTool> now);
  bool step();
  void renew_tools();
  Result<AgentReply> ask();
  std::optional<Clock::time_point> deadline() const;
  void make_room();
  /// `refused`: how often the model did not take the prompt; each time half as much stays.
  bool leave_out(unsigned refused);
  std::size_t weight_now() const;
  void take_reply(const AgentReply& reply);
  void run_calls();
  bool is_stopped();
  std::optional<ToolOutcome> run_tool(std::string_view name, std::string_view id, std::string_view arguments);
  void take_outcome(std::string_view id, std::string_view name, std::string_view arguments, ToolOutcome outcome);
  void go_on_with(const AgentHistory& history);
  bool settle_call(const ToolCall& call, bool had_begun);
  void judge_end(const AgentHistory& history);
  /// How often the last steps were the same; `note` is for the model, if `is_told`.
  struct Repeated {
    unsigned times = 1;
    bool is_told = false;
    std::string note;
  };
  Repeated count(std::string step);
  void tell_repeated(const Repeated& repeated);
  void nothing_to_run(const ReplyMessage& reply, std::string text);
  void without_calls(const AgentReply& reply);
  void send_back(AgentEvent::Kind kind, std::string text, std::string_view end_of_patience);
  void answer(AgentEvent::Kind kind, std::string text);
  void tell(AgentEvent event) const;
  bool within_limits();
  void stop(AgentEnd::Reason reason, std::string sentence);
};

void Agent::State::tell(AgentEvent event) const {
  event.turn = end.turns;
  if (options.events) options.events(event);
}

void Agent::State::stop(AgentEnd::Reason reason, std::string sentence) {
  if (ended) return;
  ended = true;
  end.reason = reason;
  end.sentence = std::move(sentence);
}

/// The first time, and with tools that can be offered.
bool Agent::State::may_run() {
  if (std::exchange(has_run, true)) {
    end = {};
    ended = false;
    end.error = Error(ErrorCode::usage, "an Agent runs once, and this one has run");
    stop(AgentEnd::Reason::usage, end.error->message());
    return false;
  }
  return offer(options.tools);
}

/// False: there is one that cannot be.
bool Agent::State::offer(std::vector<AgentTool> now) {
  if (Result<void> checked = check_tools(now); !checked) {
    end.error = checked.error();
    stop(AgentEnd::Reason::usage, end.error->message());
    return false;
  }
  offered = std::move(now);
  std::string json = tools_json(offered);
  if (json != tools) {
    told = 0;
    size.forget();
  }
  tools = std::move(json);
  return true;
}

void Agent::State::begin() {
  if (!options.system.empty()) messages.push_back({.role = "system", .content = options.system});
  messages.push_back({.role = "user", .content = options.goal});
}

AgentEnd Agent::State::go() {
  while (!ended && step()) {
  }
  end.unverified = unverified;
  return end;
}

/// A turn. False: it was the last.
bool Agent::State::step() {
  if (!within_limits()) return false;
  renew_tools();
  if (!within_limits()) return false;  // who renews them may wait for others
  make_room();
  Result<AgentReply> reply = ask();
  // What is left out once may not be enough, where tokens are shorter than they were so far.
  for (unsigned refused = 1; refused <= kMostTries && reply && reply->too_long && leave_out(refused); ++refused)
    reply = ask();
  if (!reply && !within_limits()) return false;  // who stops it, or the end of its time, ends a reply as a failure does
  if (!reply) {
    end.error = reply.error();
    const bool is_misused = reply.error().code() == ErrorCode::usage;
    stop(is_misused ? AgentEnd::Reason::usage : AgentEnd::Reason::model,
         (is_misused ? "" : "the model failed: ") + reply.error().message());
    return false;
  }
  if (reply->too_long) {
    stop(AgentEnd::Reason::context, "the conversation does not fit into the model's context");
    return false;
  }
  take_reply(*reply);
  return !ended;
}

void Agent::State::renew_tools() {
  std::optional<std::vector<AgentTool>> now;
  if (options.renewed_tools) now = options.renewed_tools();
  if (now) offer(std::move(*now));
}

bool Agent::State::is_stopped() {
  if (options.stopped && options.stopped()) stop(AgentEnd::Reason::stopped, "it was stopped");
  return ended;
}

bool Agent::State::within_limits() {
  const AgentLimits& limits = options.limits;
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  is_stopped();
  if (limits.turns != 0 && end.turns >= limits.turns)
    stop(AgentEnd::Reason::turns, "it has had " + std::to_string(end.turns) + " turns, which is the limit");
  if (limits.tokens != 0 && end.sampled_tokens >= limits.tokens)
    stop(AgentEnd::Reason::tokens, "the model has sampled " + std::to_string(end.sampled_tokens) + " tokens, and " +
                                       std::to_string(limits.tokens) + " is the limit");
  if (limits.seconds != 0 && seconds >= limits.seconds) stop(AgentEnd::Reason::seconds, "its time is over");
  return !ended;
}

Result<AgentReply> Agent::State::ask() {
  ++end.turns;
  tell({.kind = AgentEvent::Kind::turn});
  if (is_stopped()) {
    --end.turns;
    return Error(ErrorCode::python_runtime, end.sentence);
  }
  const auto pass = [this](const ReplyEvent& event) { tell({.kind = AgentEvent::Kind::reply, .reply = &event}); };
  const std::span<const Message> all(messages);
  const std::size_t most = options.limits.tokens == 0 ? 0 : options.limits.tokens - end.sampled_tokens;
  const AgentRequest request{
      .messages = all.subspan(told), .anew = told == 0, .tools = tools, .most_tokens = most, .deadline = deadline()};
  Result<AgentReply> reply = model.reply(request, pass);
  if (!reply || reply->too_long) {
    --end.turns;
    told = 0;  // it may know the request, or half of it
  }
  return reply;
}

std::optional<Clock::time_point> Agent::State::deadline() const {
  constexpr double kMostSeconds = 1e9;  // of a clock's range
  const double seconds = options.limits.seconds;
  if (seconds == 0) return std::nullopt;
  return begun +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, kMostSeconds)));
}

/// Before the prompt is larger than the context: an engine that refuses it has evaluated nothing, but it may not say
/// so.
void Agent::State::make_room() {
  const std::optional<std::size_t> context = model.context();
  constexpr double kFull = 0.9;
  if (context && size.is_known() && size.tokens_of(weight_now()) > kFull * static_cast<double>(*context)) leave_out(0);
}

std::size_t Agent::State::weight_now() const {
  std::size_t sum = 0;
  for (const Message& message : messages) sum += weight_of(message);
  return sum;
}

bool Agent::State::leave_out(unsigned refused) {
  const double bytes = size.bytes_per_token() / static_cast<double>(1U << refused);
  // Where nobody tells the context, what was too much is about as large as it.
  const std::size_t too_much = static_cast<std::size_t>(size.tokens_of(weight_now()));
  const std::size_t context = size.room_in(model.context().value_or(size.is_known() ? size.last() : too_much));
  std::vector<Message> shorter = messages;
  const LeftOut earlier = take_notes(shorter);
  std::optional<AgentEvent::Compaction> chosen = choose_compaction(shorter, context, bytes, earlier);
  if (chosen) {
    compact(shorter, *chosen);
    messages = std::move(shorter);
  } else {
    chosen = shorten_results(messages, context, bytes);
  }
  if (!chosen) return false;
  told = 0;
  tell({.kind = AgentEvent::Kind::compacted, .text = chosen->note, .compaction = &*chosen});
  return true;
}

void Agent::State::take_reply(const AgentReply& reply) {
  end.sampled_tokens += reply.sampled_tokens;
  end.answer = reply.message.content;
  tell({.kind = AgentEvent::Kind::replied, .replied = &reply});
  Message message = reply.as_message ? *reply.as_message : message_of(reply.message);
  for (std::size_t at = 0; at < message.tool_calls.size(); ++at) {
    std::string& id = message.tool_calls[at].id;
    if (id.empty()) id = "call_" + std::to_string(end.turns) + "_" + std::to_string(at + 1);
  }
  const bool readable = std::all_of(reply.message.calls.begin(), reply.message.calls.end(),
                                    [](const ReplyCall& call) { return call.complete; });
  if (!readable) message.tool_calls.clear();
  messages.push_back(std::move(message));
  told = messages.size();
  if (reply.prompt_tokens != 0) size.measure(reply.prompt_tokens + reply.sampled_tokens, weight_now());
  if (!readable)
    nothing_to_run(reply.message, reply.length ? std::string(kCutOff) : sentence_of(reply.message));
  else if (reply.message.calls.empty())
    without_calls(reply);
  else
    run_calls();
}

void Agent::State::answer(AgentEvent::Kind kind, std::string text) {
  tell({.kind = kind, .text = text});
  messages.push_back({.role = "user", .content = std::move(text)});
}

/// A reply that was cut off, or whose calls cannot be read, is a step as a call is: it may be the same again and again.
void Agent::State::nothing_to_run(const ReplyMessage& reply, std::string text) {
  std::string step = reply.content + "\n" + reply.reasoning + "\n" + text;
  for (const ReplyCall& call : reply.calls) step.append("\n").append(call.name).append("\n").append(call.arguments);
  const Repeated repeated = count(std::move(step));
  if (repeated.is_told) text.append("\n\n").append(repeated.note);
  answer(AgentEvent::Kind::unreadable, std::move(text));
  tell_repeated(repeated);
}

Agent::State::Repeated Agent::State::count(std::string step) {
  const unsigned times = repetition.add(std::move(step));
  const unsigned most = options.limits.repeats;
  return {
      .times = times,
      .is_told = most != 0 && times >= most,
      .note = "[You have done the same " + std::to_string(times) + " times, with the same result. Do something else.]"};
}

void Agent::State::tell_repeated(const Repeated& repeated) {
  if (!repeated.is_told) return;
  tell({.kind = AgentEvent::Kind::repeated, .text = repeated.note});
  if (repeated.times >= 2 * options.limits.repeats)
    stop(AgentEnd::Reason::repeats,
         "the model did the same " + std::to_string(repeated.times) + " times, with the same result");
}

void Agent::State::without_calls(const AgentReply& reply) {
  if (reply.length) return nothing_to_run(reply.message, std::string(kCutOff));
  const bool is_malformed = std::any_of(reply.message.diagnostics.begin(), reply.message.diagnostics.end(),
                                        [](const ReplyDiagnostic& one) { return one.fault == ReplyEvent::Fault::cut; });
  if (is_malformed) return nothing_to_run(reply.message, sentence_of(reply.message));
  if (reply.awaits_result)
    return send_back(AgentEvent::Kind::unreadable, std::string(kAwaits),
                     "the model waits for the result of a call that cannot be read");
  if (reply.message.content.find_first_not_of(" \t\r\n") == std::string::npos)
    return send_back(AgentEvent::Kind::unreadable, std::string(kSilent), "the model ended without a word");
  if (!options.verify || !unverified) return stop(AgentEnd::Reason::done, "it is done");
  const std::string what = unverified_changes.empty() ? "" : " (" + unverified_changes + ")";
  send_back(AgentEvent::Kind::refused, "Not finished yet: something was changed" + what + std::string(kVerify),
            "the model ended without verifying what it has changed");
}

/// As often as it may be; then the run ends.
void Agent::State::send_back(AgentEvent::Kind kind, std::string text, std::string_view end_of_patience) {
  if (refusals++ < options.limits.refusals) return answer(kind, std::move(text));
  stop(AgentEnd::Reason::gave_up, std::string(end_of_patience));
}

void Agent::State::run_calls() {
  const std::vector<ToolCall> calls = messages.back().tool_calls;
  for (const ToolCall& call : calls) {
    if (ended || is_stopped()) return;
    std::optional<ToolOutcome> outcome = run_tool(call.name, call.id, call.arguments_json);
    if (outcome) take_outcome(call.id, call.name, call.arguments_json, *std::move(outcome));
  }
}

/// Unset: the run ends within the call, which stays open.
std::optional<ToolOutcome> Agent::State::run_tool(std::string_view name, std::string_view id,
                                                  std::string_view arguments) {
  const auto tool =
      std::find_if(offered.begin(), offered.end(), [name](const AgentTool& one) { return one.name == name; });
  if (tool == offered.end())
    return ToolOutcome{.text = "There is no tool '" + std::string(name) + "'. There are: " + list_of(offered),
                       .succeeded = false};
  if (options.approve) {
    const Approval approval = options.approve(name, arguments);
    if (approval.stops) return stop(AgentEnd::Reason::stopped, "it was stopped"), std::nullopt;
    if (!approval.allowed)
      return ToolOutcome{.text = "This was not allowed" + (approval.reason.empty() ? "." : ": " + approval.reason),
                         .succeeded = false};
  }
  tell({.kind = AgentEvent::Kind::call, .id = id, .name = name, .arguments = arguments});
  Result<ToolOutcome> outcome = outcome_of(*tool, arguments);
  if (!outcome) outcome = ToolOutcome{.text = "Error: " + outcome.error().message(), .succeeded = false};
  if (outcome->interrupted) return stop(AgentEnd::Reason::stopped, "it was stopped"), std::nullopt;
  outcome->text = utf8::repair(outcome->text);  // a conversation is UTF-8, whatever a program prints
  return std::move(*outcome);
}

void Agent::State::take_outcome(std::string_view id, std::string_view name, std::string_view arguments,
                                ToolOutcome outcome) {
  if (outcome.changed)
    unverified = true;
  else if (outcome.succeeded)
    unverified = false;
  if (outcome.changed || !unverified) unverified_changes = outcome.changes;
  const std::string& compared = outcome.compared.empty() ? outcome.text : outcome.compared;
  const Repeated repeated = count(std::string(name).append("\n").append(arguments).append("\n").append(compared));
  Message message{.role = "tool", .content = outcome.text, .tool_call_id = std::string(id), .name = std::string(name)};
  if (repeated.is_told) message.content.append("\n\n").append(repeated.note);
  tell({.kind = AgentEvent::Kind::outcome,
        .id = id,
        .name = name,
        .arguments = arguments,
        .text = message.content,
        .outcome = &outcome});
  messages.push_back(std::move(message));
  tell_repeated(repeated);
}

/// The calls of the last reply that have no result yet. Theirs stand behind those that are there, and before what a
/// user said since.
void Agent::State::go_on_with(const AgentHistory& history) {
  const auto last = std::find_if(messages.rbegin(), messages.rend(),
                                 [](const Message& message) { return message.role == "assistant"; });
  if (last == messages.rend()) return;
  const auto is_result = [](const Message& message) { return message.role == "tool"; };
  if (last.base() != messages.end()) drop_unreadable_calls(*last);  // of the last message judge_end() tells
  const std::vector<ToolCall> open = open_calls(last->tool_calls, std::span(last.base(), messages.end()));
  const auto behind = std::find_if_not(last.base(), messages.end(), is_result);
  const std::vector<Message> said(behind, messages.end());
  messages.erase(behind, messages.end());
  for (const ToolCall& call : open) {
    const bool had_begun = std::find(history.running.begin(), history.running.end(), call.id) != history.running.end();
    if (ended || is_stopped() || !settle_call(call, had_begun)) break;
  }
  messages.insert(messages.end(), said.begin(), said.end());
}

/// False: the run ends within it.
bool Agent::State::settle_call(const ToolCall& call, bool had_begun) {
  Resolution resolution{.again = !had_begun};
  if (had_begun && options.resolve) resolution = options.resolve({call.id, call.name, call.arguments_json});
  if (resolution.stops) return stop(AgentEnd::Reason::stopped, "it was stopped"), false;
  std::optional<ToolOutcome> outcome = ToolOutcome{.text = resolution.told, .succeeded = false, .changed = true};
  if (resolution.again) outcome = run_tool(call.name, call.id, call.arguments_json);
  if (!outcome) return false;
  outcome->changed = outcome->changed || had_begun;  // whatever it has done, whether it goes on or not
  take_outcome(call.id, call.name, call.arguments_json, *std::move(outcome));
  return true;
}

/// Where an earlier run ends with a reply, it is taken as it was then.
void Agent::State::judge_end(const AgentHistory& history) {
  if (messages.empty() || messages.back().role != "assistant") return;
  AgentReply last{.length = history.length, .awaits_result = history.awaits_result};
  last.message.content = end.answer = text_of(messages.back());
  if (drop_unreadable_calls(messages.back())) return nothing_to_run(last.message, sentence_of(last.message));
  without_calls(last);
}

Agent::Agent(AgentModel& model, AgentOptions options) : state_(std::make_unique<State>(model, std::move(options))) {}
Agent::~Agent() = default;

AgentEnd Agent::run() {
  if (!state_->may_run()) return state_->end;
  state_->begin();
  return state_->go();
}

AgentEnd Agent::resume(AgentHistory history, std::size_t known) {
  if (!state_->may_run()) return state_->end;
  state_->messages = std::move(history.messages);
  for (Message& message : state_->messages) move_to_fields(message);
  state_->told = known;
  state_->end.turns = history.turns;
  state_->end.sampled_tokens = history.sampled_tokens;
  state_->unverified = history.unverified;
  state_->unverified_changes = history.changes;
  if (state_->messages.empty())
    state_->begin();
  else
    state_->go_on_with(history);
  if (!state_->ended) state_->judge_end(history);
  return state_->go();
}

const std::vector<Message>& Agent::messages() const& { return state_->messages; }
std::size_t Agent::known() const { return state_->told; }

}  // namespace parlance
