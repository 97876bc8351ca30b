// Writes what an agent does, and reads it again. Begin reading at AgentJournal::write and restore_agent.
#include "serve/agent/agent_journal.h"

#include <algorithm>

#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"
#include "serve/capture/reader.h"
#include "serve/capture/record.h"
#include "serve/capture/utc.h"
#include "serve/json/members.h"
#include "serve/json/moment.h"
#include "serve/record/recorded_engine.h"

namespace parlance::serve {

AgentJournal::AgentJournal(Gateway& gateway, const ServedModel& model, std::string session)
    : gateway_(gateway), model_(model), session_(std::move(session)), file_(capture_file_name(session_, "")) {}

Result<void> AgentJournal::append(std::string record, bool sync) {
  if (gateway_.capture() == nullptr) return {};
  const std::string why = gateway_.capture()->write_now(
      {.file = file_, .head = model_.capture_head, .record = sealed(std::move(record)), .sync = sync});
  if (why.empty()) return {};
  return Error(ErrorCode::file, why);
}

Result<void> AgentJournal::write_goal(std::string_view goal, const std::string& settings) {
  JsonWriter made('{');
  made.text("record", "agent").text("time", utc_now()).text("session", session_);
  return append(made.text("goal", goal).raw("settings", settings).take(), true);
}

Result<void> AgentJournal::write(const AgentEvent& event) {
  const bool is_end = event.kind == AgentEvent::Kind::outcome;
  if (!is_end && event.kind != AgentEvent::Kind::call) return {};
  JsonWriter made('{');
  made.text("record", "tool").text("time", utc_now()).text("state", is_end ? "end" : "begin");
  made.text("id", event.id).text("name", event.name).text("arguments", event.arguments);
  if (is_end)
    made.text("text", event.text).flag("succeeded", event.outcome->succeeded).flag("changed", event.outcome->changed);
  if (is_end && event.outcome->changed) made.text("changes", event.outcome->changes);
  if (is_end && event.outcome->maybe_changed) made.flag("maybe_changed", true);
  return append(made.take(), !is_end);  // before a command runs it must be known that it does
}

Result<void> AgentJournal::write_end(const AgentEnd& end) {
  JsonWriter made('{');
  made.text("record", "end").text("time", utc_now()).text("reason", name_of(end.reason)).text("sentence", end.sentence);
  made.number("turns", end.turns).number("sampled_tokens", static_cast<std::int64_t>(end.sampled_tokens));
  return append(made.take(), true);
}

namespace {

/// Plays the turns of a file on a model, as if its engine sampled them now.
class Restoring {
 public:
  Restoring(Succession& turns, std::shared_ptr<ServedModel> model)
      : turns_(turns),
        model_(std::move(model)),
        engine_(model_->backend),
        clock_(model_->clock),
        prompt_tokens_(model_->limits.prompt_tokens) {
    model_->limits.prompt_tokens = 0;  // what was sampled once is read, however small the context is now
    if (engine_) recorded_->takes(engine_->facts().grammar);
    model_->backend = recorded_;
  }
  Restoring(const Restoring&) = delete;
  Restoring& operator=(const Restoring&) = delete;
  ~Restoring() {
    model_->backend = engine_;
    model_->clock = clock_;
    model_->limits.prompt_tokens = prompt_tokens_;
  }

  Result<void> take(const CaptureRecord& record, RecordedAgent& into);

 private:
  Result<void> take_turn(Value record, RecordedAgent& into);
  void leave_turn(Value record, const std::string& session);
  static void take_tool(Value record, RecordedAgent& into);
  static void take_end(Value record, RecordedAgent& into);

  Succession& turns_;
  const std::shared_ptr<ServedModel> model_;
  const std::shared_ptr<Backend> engine_;
  const std::function<CivilTime()> clock_;
  const std::size_t prompt_tokens_;
  const std::shared_ptr<Recorded> recorded_ = std::make_shared<Recorded>();
};

Result<void> Restoring::take(const CaptureRecord& record, RecordedAgent& into) {
  const Value root = record.root();
  if (record.kind() == "agent") {
    into.session = root["session"].text();
    into.goal = root["goal"].text();
    into.settings = json_text(root["settings"]);
  }
  if (record.kind() == "end") take_end(root, into);
  if (record.kind() != "turn" && record.kind() != "tool") return {};
  into.end.reset();
  if (record.kind() == "tool") take_tool(root, into);
  if (record.kind() == "turn" && root["key"].text().empty()) leave_turn(root, into.session);
  return record.kind() == "turn" && !root["key"].text().empty() ? take_turn(root, into) : Result<void>();
}

/// Behind what it has from the turn before, which was looked at then.
bool has_prompt_of(Value record, const Turn& turn, const Session& session) {
  const std::span<const TokenId> prompt = session.ids().subspan(0, turn.prompt_tokens());
  const auto behind = static_cast<std::size_t>(number_in(record["prompt"]["behind"]));
  return behind <= prompt.size() && std::ranges::equal(prompt.subspan(behind), listed_ids(record["prompt"]["ids"]));
}

/// The engine failed, or the reply broke off: the next turn may go on from its prompt. If it cannot be planned, that
/// one's prompt is another, and that is said.
void Restoring::leave_turn(Value record, const std::string& session) {
  recorded_->load(record);
  const std::optional<CivilTime> now = moment_of(record["now"]);
  if (!now) return;
  model_->clock = [now] { return *now; };
  const std::string text(record["request"].text());
  Document body;
  if (!body.parse(text, "a request of the capture")) return;
  SessionHints hints{.session = session, .response = std::string(body.root()["previous_response_id"].text())};
  Result<Turn> turn = turns_.plan_copy(model_, body.root(), text, std::move(hints));
  if (!turn) return;
  run_recorded(*turn);
  turns_.leave(*turn);
}

Result<void> Restoring::take_turn(Value record, RecordedAgent& into) {
  recorded_->load(record);
  const std::optional<CivilTime> now = moment_of(record["now"]);
  if (!now) return Error(ErrorCode::conversation, "a turn of the capture does not say what time it was");
  model_->clock = [now] { return *now; };
  const std::string text(record["request"].text());
  Document body;
  if (Result<void> parsed = body.parse(text, "a request of the capture"); !parsed) return parsed;
  SessionHints hints{.session = into.session, .response = std::string(body.root()["previous_response_id"].text())};
  std::vector<Message>& messages = into.history.messages;
  if (hints.response.empty()) messages.clear();
  while (!messages.empty() && messages.back().role != "assistant") messages.pop_back();  // the request has these, too
  for (const Value& message : body.root()["messages"].items()) messages.push_back(message_of(message));
  Result<Turn> turn = turns_.plan(model_, body.root(), text, std::move(hints));
  if (!turn) return turn.error();
  run_recorded(*turn);
  into.last_response = record["id"].text();
  const std::size_t sampled = turn->sampled().size();
  const std::shared_ptr<const Held> kept = turns_.keep(*turn, call_ids_of(record), into.last_response);
  if (!kept || kept->key != record["key"].text() || !has_prompt_of(record, *turn, kept->session))
    return Error(ErrorCode::conversation, "a recorded turn gives another result with this model")
        .hint("parlance replay says what differs");
  messages.push_back(kept->reply);
  into.history.length = turn->length();
  into.history.awaits_result = awaits_result(model_->stops, turn->sampled());
  into.history.running.clear();
  into.history.sampled_tokens += sampled;
  ++into.history.turns;
  return {};
}

void Restoring::take_tool(Value record, RecordedAgent& into) {
  AgentHistory& history = into.history;
  const std::string id(record["id"].text());
  if (record["state"].text() == "begin") {
    history.running.push_back(id);
    return;
  }
  history.running.erase(std::remove(history.running.begin(), history.running.end(), id), history.running.end());
  const auto is_set = [&record](std::string_view name) { return flag_of(record[name], false); };
  if (is_set("changed") || is_set("succeeded")) history.changes = record["changes"].text();
  if (is_set("changed"))
    history.unverified = true;
  else if (is_set("succeeded"))
    history.unverified = false;
  history.messages.push_back({.role = "tool",
                              .content = std::string(record["text"].text()),
                              .tool_call_id = id,
                              .name = std::string(record["name"].text())});
}

void Restoring::take_end(Value record, RecordedAgent& into) {
  into.end = {.reason = std::string(record["reason"].text()), .sentence = std::string(record["sentence"].text())};
}

/// The record of versions of those who wrote last; empty: there is none.
Value last_head(const CaptureText& text) {
  const auto found = std::find_if(text.records.rbegin(), text.records.rend(),
                                  [](const CaptureRecord& record) { return record.kind() == "head"; });
  return found == text.records.rend() ? Value() : found->root();
}

/// What was sampled behind other prompts is not gone on with: nobody could replay it.
Result<void> check_same_model(Value head, const ServedModel& model, const std::string& file) {
  Document now;
  if (!model.capture_head.empty())
    if (Result<void> parsed = now.parse(model.capture_head); !parsed) return parsed;
  if (head.is_undefined() || now.root().is_undefined()) return {};
  const bool same_template = have_same_templates(head, now.root());
  const bool same_tokenizer = have_same_tokenizer(head, now.root());
  if (same_template && same_tokenizer) return {};
  const std::string what = same_template ? "tokenizer" : same_tokenizer ? "template" : "template and another tokenizer";
  return Error(ErrorCode::conversation, file + " was written with another " + what + " than there is now")
      .hint("give what it was written with, as that was then, or begin a new run; parlance replay says what differs");
}

}  // namespace

Result<RecordedAgent> restore_agent(Succession& turns, const std::shared_ptr<ServedModel>& model,
                                    const std::string& file) {
  const Result<CaptureText> text = read_capture(file);
  if (!text) return text.error();
  const Value head = last_head(*text);
  if (Result<void> same = check_same_model(head, *model, file); !same) return same.error();
  RecordedAgent made{.ends_whole = !text->torn, .version = std::string(head["parlance"].text())};
  Restoring restoring(turns, model);
  for (const CaptureRecord& record : text->records) {
    if (!record.intact) return Error(ErrorCode::conversation, file + ": the checksum of a record does not match");
    if (Result<void> taken = restoring.take(record, made); !taken) return taken.error();
  }
  if (made.session.empty()) return Error(ErrorCode::conversation, file + " is no capture of an agent");
  if (made.end && made.end->is_done()) made.history.unverified = false;  // also where nobody asked for verification
  return made;
}

}  // namespace parlance::serve
