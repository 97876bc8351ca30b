// A gateway for one agent. Begin reading at AgentGateway::open.
#include "serve/agent/agent_gateway.h"

#include <algorithm>

#include "serve/agent/agent_journal.h"
#include "serve/agent/agent_model.h"
#include "serve/capture/reader.h"
#include "serve/open_model.h"

namespace parlance::serve {

/// With an engine that loads its model, or has too much to do: nobody is there to ask it again.
constexpr std::chrono::seconds kPatience(60);

struct AgentGateway::State {
  State(std::shared_ptr<ServedModel> with, const AgentGatewayOptions& options)
      : served(std::move(with)),
        gateway({}, Offer{.models = {served}}, Log(LogLevel::warning, options.log)),
        model(gateway, served,
              {.session = options.session,
               .settings = options.settings,
               .stopped = options.stopped,
               .flush = options.flush}),
        journal(gateway, *served, options.session),
        capture(options.capture),
        session(options.session) {}

  std::shared_ptr<ServedModel> served;
  Gateway gateway;
  GatewayModel model;
  AgentJournal journal;
  std::string capture, session;
};

AgentGateway::AgentGateway(std::unique_ptr<State> state) : state_(std::move(state)) {}

AgentGateway::~AgentGateway() {
  state_->gateway.workers().join();
  if (state_->gateway.capture() != nullptr) state_->gateway.capture()->wait();
}

Result<std::unique_ptr<AgentGateway>> AgentGateway::open(ModelOptions model, AgentGatewayOptions options,
                                                         std::vector<std::string>& warnings) {
  const ServeOptions server{.capture = options.capture};
  Result<std::shared_ptr<ServedModel>> served = open_served_model(std::move(model), server);
  if (!served) return served.error();
  if (!(*served)->backend)
    return Error(ErrorCode::usage, "an agent needs an engine").hint("--backend llama-server=http://127.0.0.1:8080");
  const Result<ReplyStart> reply = (*served)->reader.reply();
  if (reply && reply->format.source().calls.empty())
    return Error(ErrorCode::usage, "the template has no form of calls, and an agent's model calls tools")
        .hint("choose another one by -f or -t");
  (*served)->last_body = std::make_unique<IdsBody>();
  (*served)->patience = {.most = kPatience, .told = options.note};
  std::unique_ptr<AgentGateway> made(new AgentGateway(std::make_unique<State>(*served, options)));
  if (!options.capture.empty()) {
    Result<std::unique_ptr<CaptureFiles>> files = CaptureFiles::open(options.capture);
    if (!files) return files.error();
    made->state_->gateway.capture_to(std::make_unique<Capture>(std::move(*files), false, CaptureSync::later));
  }
  Result<std::vector<std::string>> said = made->state_->model.check();
  if (!said) return said.error();
  warnings = std::move(*said);
  Document settings;
  if (Result<void> parsed = settings.parse(options.settings, "the settings"); !parsed) return parsed.error();
  const bool is_limited = !member_limiting_reasoning(settings.root()).empty();
  if (is_limited && !(*served)->backend->facts().gives_ids) warnings.emplace_back(kReasoningUnlimited);
  return made;
}

AgentModel& AgentGateway::model() { return state_->model; }

Result<void> AgentGateway::write_goal(std::string_view goal, const std::string& settings) {
  return state_->journal.write_goal(goal, settings);
}

Result<void> AgentGateway::write(const AgentEvent& event) { return state_->journal.write(event); }

Result<void> AgentGateway::write_end(const AgentEnd& end) { return state_->journal.write_end(end); }

std::string AgentGateway::transcript() const {
  return state_->capture.empty() ? std::string() : state_->capture + "/" + capture_file_name(state_->session, "");
}

Result<RecordedAgent> AgentGateway::restore(const std::string& file) {
  Result<RecordedAgent> made = restore_agent(state_->model.succession(), state_->served, file);
  if (!made) return made.error();
  std::vector<Message> known = made->history.messages;
  while (!known.empty() && known.back().role != "assistant") known.pop_back();
  if (!known.empty()) state_->model.go_on_behind(made->last_response, std::move(known));
  return made;
}

Result<TranscriptHead> read_transcript_head(const std::string& file) {
  const Result<CaptureText> text = read_capture(file);
  if (!text) return text.error();
  TranscriptHead made;
  for (const CaptureRecord& record : text->records) {
    if (record.kind() == "head") made.source = json_text(record.root()["source"]);
    if (record.kind() != "agent") continue;
    made.session = record.root()["session"].text();
    made.goal = record.root()["goal"].text();
    made.settings = json_text(record.root()["settings"]);
  }
  // A run that is killed at its start leaves no more than the file and its head.
  const bool is_begun =
      std::ranges::any_of(text->records, [](const CaptureRecord& one) { return one.kind() != "head"; });
  if (!is_begun)
    return Error(ErrorCode::conversation, file + " is no transcript to go on with: no run has begun in it")
        .hint("begin the run anew");
  if (made.session.empty())
    return Error(ErrorCode::conversation, file + " is no transcript of an agent")
        .hint("parlance agent names its transcript when it begins");
  return made;
}

}  // namespace parlance::serve
