// Agent: gives a model a goal and tools, and goes on until the goal is reached and verified.
//
//     parlance::AgentTool list{.name = "list", .description = "Lists a folder",
//                              .parameters = R"({"type": "object", "properties": {"folder": {"type": "string"}}})",
//                              .run = list_folder};                     // gets the arguments as JSON
//     auto model = parlance::make_session_model({.reader = reader, .tokenizer = tokenizer, .sample = sample});
//     parlance::Agent agent(*model, {.goal = "Which files are here?", .tools = {list}});
//     const parlance::AgentEnd end = agent.run();
//     if (end.reason != parlance::AgentEnd::Reason::done) say(end.sentence);
//
// One turn is a reply of the model, and the results of the calls in it. Each tool says whether its run succeeded and
// whether it changed anything: the model may not end before a run has succeeded after the last change.
//
// Misuse ends the run before its first turn, with AgentEnd::Reason::usage. If a server replaces its tools during a run
// and one of them cannot be offered, the run ends at that turn, with the same reason.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/grammar.h"
#include "parlance/reply.h"
#include "parlance/request.h"
#include "parlance/result.h"
#include "parlance/tokenizer.h"
#include "parlance/tokens.h"

namespace parlance {

/// What a run of a tool gave.
struct ToolOutcome {
  std::string text;       ///< what the model reads
  bool succeeded = true;  ///< an exit status of 0, no exception
  bool changed = false;   ///< something that lasts was changed: a file was written
  /// With `changed`: what, for a model that ends without verification: "a.txt", "b.txt". "": it is not told.
  std::string changes{};
  std::string compared{};  ///< what says whether two runs gave the same, without times and the like; "": `text`
  /// For programs that show the output of a run as it comes: a line that says how it ended, and notes. `text` has both.
  /// "": the whole of `text` is to be shown.
  std::string status{};
  std::vector<std::string> notes{};
  bool interrupted = false;  ///< nobody knows how it ended: that ends the agent's run, and leaves the call open
  /// With `changed`: something may have been, and nobody could look at it.
  bool maybe_changed = false;
};

/// The parameters of a tool that takes no arguments.
inline constexpr std::string_view kNoParameters = R"({"type": "object", "properties": {}})";

/// Something that the model can call. check_tools() refuses what cannot be called.
struct AgentTool {
  std::string name;  ///< not empty, and no other tool's
  std::string description;
  std::string parameters{kNoParameters};  ///< JSON Schema of an object
  /// Gets the arguments as a JSON object. An error is told to the model as the result of a run that failed, and so is
  /// what it throws (in a library that is compiled without exceptions, that ends the program).
  std::function<Result<ToolOutcome>(std::string_view arguments)> run;
};
/// Whether it is JSON, and the schema of an object as far as its `type` says.
bool is_object_schema(std::string_view json);
/// The arguments of a call on one line, held against the parameters of its tool, for an AgentTool::run that takes no
/// others. Looked at are type, enum, const, required, properties, items, $ref, allOf, anyOf, oneOf and nullable; what
/// else a schema says is left to the tool. Fails with: json (no object); value (they do not fit; with what was
/// expected, for the model).
Result<std::string> fitting_arguments(std::string_view parameters, std::string_view arguments);
/// What an Agent asks of its tools before it offers them. Fails with value, naming the tool: without `run` or a name,
/// or with that of another; with parameters that are no JSON object, or a schema of something else.
Result<void> check_tools(std::span<const AgentTool> tools);

/// What a model is asked for.
struct AgentRequest {
  /// The messages behind the model's own last reply, or with `anew` all of the conversation.
  std::span<const Message> messages;
  bool anew = false;
  std::string_view tools;       ///< as in a request: a JSON list
  std::size_t most_tokens = 0;  ///< that the reply may have: what is left of AgentLimits::tokens; 0: any number
  /// When AgentLimits::seconds are over: a reply that goes on behind it ends as one that a limit of tokens ends, with
  /// AgentReply::length. Unset: never.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
};

/// A reply, and what it took.
struct AgentReply {
  ReplyMessage message{};
  std::size_t prompt_tokens = 0;
  std::size_t reused_tokens = 0;                  ///< of these, those that an earlier turn has in the same place
  std::optional<std::size_t> evaluated_tokens{};  ///< as the engine counts them
  std::size_t sampled_tokens = 0;
  bool length = false;  ///< a limit of tokens ended it
  /// It was ended by a token that the template writes behind calls alone (StopToken::after_calls). Without a call it is
  /// no answer, and the model is told so.
  bool awaits_result = false;
  bool too_long = false;  ///< nothing was sampled: the prompt leaves no room in the model's context
  /// `message` as one of the conversation, where that has more than `message` can say. Unset: it has not.
  std::optional<Message> as_message{};
  std::string prefix_break{};  ///< why the prompt does not begin with the turn before; "": it does
};

/// Who replies. One conversation at a time.
class AgentModel {
 public:
  virtual ~AgentModel() = default;
  /// The events of the reply go to `events` as they come. Fails as the model does: the agent ends then, with
  /// AgentEnd::Reason::usage if the error has the code usage.
  virtual Result<AgentReply> reply(const AgentRequest& request, ReplySink events) = 0;
  /// Tokens of its context; unset: unknown.
  virtual std::optional<std::size_t> context() const { return std::nullopt; }
};

/// What a sampler is asked for, in a SessionModel.
struct SampleRequest {
  std::span<const TokenId> ids;          ///< the prompt
  std::string_view text;                 ///< the same as text
  std::string_view grammar;              ///< of the reply, in SessionModelOptions::syntax; "": none
  std::span<const TokenId> stop_tokens;  ///< each of them ends a reply, and belongs to it
  std::size_t most_tokens = 0;           ///< that the reply may have; 0: any number
  std::function<void(TokenId)> take;     ///< to be called for each token of the reply, in order, also the last
  /// Look at it with each token, and end the reply behind it as a limit of tokens does. Unset: its time is never over.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
};

/// A model that a function samples: prompts are rendered, protected and encoded by a Session, which keeps the sampled
/// ids. Everything it refers to must outlive it: a temporary reader or tokenizer does not compile.
struct SessionModelOptions {
  std::reference_wrapper<const RequestReader> reader;
  std::reference_wrapper<const Tokenizer> tokenizer;
  /// Samples a reply. True: a limit of tokens ended it. Required.
  std::function<Result<bool>(const SampleRequest&)> sample;
  std::optional<GrammarSyntax> syntax{};  ///< unset: no grammar
  RenderOptions render{};
  TokenizeOptions tokenize{};
  std::optional<std::size_t> context{};
};
/// Its reply() fails as RequestReader::read, Session and the sampler do, with value if a grammar is wanted and there is
/// none, and with usage if there is no function that samples.
std::unique_ptr<AgentModel> make_session_model(SessionModelOptions options);

/// 0: no limit.
///
///     field      default  what
///     turns      200      replies of the model
///     tokens     0        that it samples, over all turns
///     seconds    0        of the whole run: within a reply, if the model heeds AgentRequest::deadline
///     repeats    3        of the same call with the same result, of the same reply that was cut off or whose call
///                         cannot be read, or of a circle of up to four of these: then the model is told so; twice as
///                         often ends the agent
///     refusals   3        ends that are sent back: without verification, without a word, or waiting for the result
///                         of a call that is not there; the next one ends the agent
struct AgentLimits {
  unsigned turns = 200;
  std::size_t tokens = 0;
  double seconds = 0;
  unsigned repeats = 3;
  unsigned refusals = 3;
};

/// What somebody says to a call before it runs.
struct Approval {
  bool allowed = true;
  std::string reason{};  ///< why not, for the model
  bool stops = false;    ///< it ends the agent's run instead, and leaves the call open
};

/// A call that had begun when an earlier run of the agent ended, and whose end nobody knows.
struct InterruptedCall {
  std::string id, name, arguments;
};
/// What to do with it: run it once more, or tell the model this.
struct Resolution {
  bool again = false;
  std::string told = "It is not known whether this ran to its end: look at what it has done before you go on.";
  bool stops = false;  ///< it ends the agent's run instead, and leaves the call open
};

/// What happens, as it happens. Only the members that a kind names are set.
struct AgentEvent {
  enum class Kind : std::uint8_t {
    turn,        ///< a reply begins: `turn`
    reply,       ///< a piece of it: `reply`
    replied,     ///< it is whole: `replied`
    call,        ///< a tool begins to run: `id`, `name`, `arguments`
    outcome,     ///< it has run, or may not: `id`, `name`, `arguments`, `outcome`; `text` is what the model is told
    refused,     ///< the model wanted to end without verification; `text` is what it is told
    unreadable,  ///< its call could not be read; `text` is what it is told
    repeated,    ///< it does the same again and again; `text` is what it is told
    compacted,   ///< messages were left out, since the context is full: `compaction`
  };
  struct Compaction {
    std::size_t first = 0;         ///< number of the first message that was left out
    std::size_t count = 0;         ///< of messages; 0: results of the last turn were shortened
    std::size_t kept_tokens = 0;   ///< about; of the beginning that stays as it was
    std::size_t freed_tokens = 0;  ///< about
    std::string note;              ///< what stands in their place
  };
  Kind kind = Kind::turn;
  unsigned turn = 0;
  const ReplyEvent* reply = nullptr;
  const AgentReply* replied = nullptr;
  std::string_view id{}, name{}, arguments{}, text{};
  const ToolOutcome* outcome = nullptr;
  const Compaction* compaction = nullptr;
};
/// "turn", "reply", …
std::string_view name_of(AgentEvent::Kind kind);

struct AgentOptions {
  std::string goal;
  std::string system{};  ///< the system message; "": none, so that the template's own stands
  std::vector<AgentTool> tools{};
  /// Asked before each turn: tools that take the place of those before. Where a request has them in other words, the
  /// model is asked anew with all of the conversation.
  std::function<std::optional<std::vector<AgentTool>>()> renewed_tools{};
  bool verify = true;  ///< the model may not end before a run has succeeded after the last change
  AgentLimits limits{};
  std::function<void(const AgentEvent&)> events{};
  std::function<Approval(std::string_view name, std::string_view arguments)> approve{};
  std::function<Resolution(const InterruptedCall&)> resolve{};
  std::function<bool()> stopped{};  ///< asked between two steps; true ends the run
};

/// How a run ended.
struct AgentEnd {
  enum class Reason : std::uint8_t {
    done,     ///< the model said that it is done, and what it changed is verified
    gave_up,  ///< it wanted to end without verification, or without an answer, too often
    turns,    ///< a limit, each by its name
    tokens,
    seconds,
    repeats,
    context,  ///< the conversation does not fit, also without the messages that can be left out
    model,    ///< the model failed: `error`
    stopped,  ///< AgentOptions::stopped
    usage,    ///< a tool cannot be offered, the model is misused, or the agent has run before: `error`
  };
  Reason reason = Reason::done;
  std::string sentence;  ///< the reason for people
  std::string answer;    ///< content of the last reply
  unsigned turns = 0;
  std::size_t sampled_tokens = 0;
  bool unverified = false;  ///< the last change is not followed by a run that succeeded
  std::optional<Error> error{};
};
std::string_view name_of(AgentEnd::Reason reason);

/// What is known of an earlier run that ended early.
struct AgentHistory {
  /// With the model's replies. A call of the last one is open if no message behind it has its result: by its id, or
  /// without ids by its place.
  std::vector<Message> messages;
  unsigned turns = 0;
  std::size_t sampled_tokens = 0;
  bool unverified = false;             ///< the last change is not yet followed by a run that succeeded
  std::string changes{};               ///< what it changed: ToolOutcome::changes
  std::vector<std::string> running{};  ///< ids of open calls that had begun; the others just run
  bool length = false;                 ///< of the last reply, as in AgentReply
  bool awaits_result = false;
};

/// Runs once: another run() or resume() does nothing, and returns the reason usage.   Threads: one.
class Agent {
 public:
  /// `model` must outlive it.
  Agent(AgentModel& model, AgentOptions options);
  ~Agent();

  AgentEnd run();
  /// Goes on behind an earlier run. `known`: how many of the messages the model knows as its own session; 0: none, so
  /// it is asked anew.
  AgentEnd resume(AgentHistory history, std::size_t known = 0);

  /// The conversation so far, without what was left out. Lifetime: the agent's.
  const std::vector<Message>& messages() const&;
  const std::vector<Message>& messages() const&& = delete;
  /// How many of them the model knows as its own session, for a resume() of another agent with this model.
  std::size_t known() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance
