// Replays captures with the gateway's own code. Begin reading at Replay::turn.
#include "serve/record/replay.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "serve/agent/succession.h"
#include "serve/capture/continuation_record.h"
#include "serve/capture/reader.h"
#include "serve/fronts/chat_request.h"
#include "serve/fronts/own_grammar.h"
#include "serve/json/members.h"
#include "serve/json/moment.h"
#include "serve/record/recorded_engine.h"
#include "serve/turn/turn_status.h"

namespace parlance::serve {

namespace {

struct OpenedModel {
  std::shared_ptr<ServedModel> model;
  std::shared_ptr<Recorded> engine;
  Document now;  ///< the head that a capture with it would have
};

struct Line {
  std::string file;
  CaptureRecord record;
  std::size_t head = 0;  ///< the number of its head; 0: none came before
  bool of_agent = false;
};

/// The same values are the same text.
std::string canonical(std::string_view json) {
  Document parsed;
  return parsed.parse(json) ? json_text(parsed.root()) : std::string(json);
}

std::string around(std::string_view text, std::size_t at) {
  constexpr std::size_t kShown = 30;
  const std::size_t begin = at > kShown ? at - kShown : 0;
  std::string out;
  append_json_string(out, text.substr(begin, 2 * kShown));
  return out;
}

class Replay {
 public:
  Replay(const OpenCaptured& open, const std::function<void(const ReplayDifference&)>& say) : open_(open), say_(say) {}

  Result<void> read(const std::vector<std::string>& files);
  Result<ReplayReport> run();

 private:
  Result<std::shared_ptr<OpenedModel>> model_for(const Line& line);
  Result<std::shared_ptr<OpenedModel>> open_model(Value head) const;
  std::shared_ptr<OpenedModel> opened_as(Value head) const;
  void note_versions(const Line& line, Value now);
  Result<void> turn(const Line& line);
  void continuation(const Line& line, const std::shared_ptr<const ServedModel>& model);
  std::optional<Turn> planned(const Line& line, const std::shared_ptr<const ServedModel>& model, SessionStore& store);
  std::optional<Turn> followed(const Line& line, const std::shared_ptr<const ServedModel>& model);
  std::shared_ptr<const Held> kept_of(const Line& line, Turn& turn, SessionStore& store);
  void keep(Value record, std::shared_ptr<const Held> kept);
  void compare(const Line& line, const Turn& turn, const Session& session);
  void compare_prompt(const Line& line, std::span<const TokenId> ids);
  void compare_json(const Line& line, std::string_view what, const std::string& made);
  std::optional<std::vector<TokenId>> recorded_prompt(Value record) const;
  void differ(const Line& line, std::string what, std::string sentence);

  const OpenCaptured& open_;
  const std::function<void(const ReplayDifference&)>& say_;
  std::vector<Document> heads_;  ///< by Line::head - 1
  std::vector<Line> turns_;
  std::map<std::size_t, std::shared_ptr<OpenedModel>> models_;  ///< by head
  std::set<std::string> noted_;                                 ///< versions and hashes of which all was said
  std::map<std::string, std::shared_ptr<const Held>> held_;
  std::map<std::string, std::vector<TokenId>> ids_;  ///< those after a turn, as recorded
  std::map<std::string, Succession> agents_;         ///< by file
  ReplayReport report_;
  bool differs_ = false;
};

void Replay::differ(const Line& line, std::string what, std::string sentence) {
  if (what != "versions") differs_ = true;
  say_({line.file, line.record.line, std::move(what), std::move(sentence)});
}

Result<void> Replay::read(const std::vector<std::string>& files) {
  bool has_records = files.empty();
  for (const std::string& file : files) {
    Result<CaptureText> text = read_capture(file);
    if (!text) return text.error();
    std::size_t head = 0;
    bool of_agent = false;
    has_records = has_records || !text->records.empty();
    for (CaptureRecord& record : text->records) {
      of_agent = of_agent || record.kind() == "agent";
      if (!record.intact) {
        Line line{file, std::move(record)};
        differ(line, "bytes", "the record's checksum does not match");
        ++report_.different;
      } else if (record.kind() == "head") {
        heads_.push_back(std::move(record.document));
        head = heads_.size();
      } else if (record.kind() == "turn") {
        turns_.push_back({file, std::move(record), head, of_agent});
      }
    }
  }
  if (!has_records) return Error(ErrorCode::conversation, "'" + files.front() + "' is no capture: it has no record");
  if (files.size() > 1) {
    std::stable_sort(turns_.begin(), turns_.end(), [](const Line& a, const Line& b) {
      return a.record.root()["time"].text() < b.record.root()["time"].text();
    });
  }
  return {};
}

Result<std::shared_ptr<OpenedModel>> Replay::open_model(Value head) const {
  Result<ModelOptions> options = open_(json_text(head["source"]), std::string(head["model"].text()));
  if (!options) return options.error();
  auto made = std::make_shared<OpenedModel>();
  made->engine = std::make_shared<Recorded>();
  made->model = std::make_shared<ServedModel>(ServedModel{.name = std::string(head["model"].text()),
                                                          .backend = made->engine,
                                                          .reader = std::move(options->reader),
                                                          .tokenizer = std::move(options->tokenizer),
                                                          .render = options->render,
                                                          .tokenize = options->tokenize});
  if (Result<void> done = complete(*made->model); !done) return done.error();
  const std::string now = head_record(*made->model, options->source, options->tokenizer_files);
  if (Result<void> parsed = made->now.parse(now); !parsed) return parsed.error();
  return made;
}

/// Each file has a head of its own, and a run that goes on has another where its version or its engine is another: what
/// goes on from a turn must find that turn's model. Another `source` renders otherwise, by its variables for one.
std::shared_ptr<OpenedModel> Replay::opened_as(Value head) const {
  for (const auto& [number, opened] : models_) {
    const Value other = heads_[number - 1].root();
    if (other["model"].text() == head["model"].text() && json_text(other["source"]) == json_text(head["source"]) &&
        have_same_templates(other, head) && have_same_tokenizer(other, head))
      return opened;
  }
  return nullptr;
}

void Replay::note_versions(const Line& line, Value now) {
  const Value head = heads_[line.head - 1].root();
  if (head["parlance"].text() != now["parlance"].text())
    differ(line, "versions", "recorded by parlance " + std::string(head["parlance"].text()));
  if (!have_same_templates(head, now) || !have_same_tokenizer(head, now))
    differ(line, "versions", "the template or the tokenizer's files are not those of the capture");
}

Result<std::shared_ptr<OpenedModel>> Replay::model_for(const Line& line) {
  if (line.head == 0) return Error(ErrorCode::value, "'" + line.file + "' has no record of versions before its turns");
  if (const auto found = models_.find(line.head); found != models_.end()) return found->second;
  const Value head = heads_[line.head - 1].root();
  std::shared_ptr<OpenedModel> opened = opened_as(head);
  if (!opened) {
    Result<std::shared_ptr<OpenedModel>> made = open_model(head);
    if (!made) return made.error();
    opened = std::move(*made);
  }
  const std::string said = json_text(head["parlance"]) + json_text(head["templates"]) + json_text(head["tokenizer"]);
  if (noted_.insert(said).second) note_versions(line, opened->now.root());
  return models_[line.head] = std::move(opened);
}

std::optional<std::vector<TokenId>> Replay::recorded_prompt(Value record) const {
  std::vector<TokenId> ids;
  const Value prompt = record["prompt"], from = record["from"];
  const auto behind = static_cast<std::size_t>(number_in(prompt["behind"]));
  if (behind > 0) {
    const auto found = ids_.find(kept_name(from));
    if (found == ids_.end() || found->second.size() < behind) return std::nullopt;
    ids.assign(found->second.begin(), found->second.begin() + static_cast<std::ptrdiff_t>(behind));
  }
  const std::vector<TokenId> more = listed_ids(prompt["ids"]);
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

void Replay::compare_prompt(const Line& line, std::span<const TokenId> ids) {
  const std::optional<std::vector<TokenId>> recorded = recorded_prompt(line.record.root());
  if (!recorded) return differ(line, "history", "the ids of the turn before are not in the file");
  const auto [made, was] = std::mismatch(ids.begin(), ids.end(), recorded->begin(), recorded->end());
  if (made == ids.end() && was == recorded->end()) return;
  const auto shown = [](auto at, auto end) { return at == end ? std::string("the end") : std::to_string(*at); };
  differ(line, "prompt",
         "token " + std::to_string(was - recorded->begin()) + " is " + shown(made, ids.end()) + ", it was " +
             shown(was, recorded->end()));
}

void Replay::compare_json(const Line& line, std::string_view what, const std::string& made) {
  const std::string was = json_text(line.record.root()[what]), is = canonical(made);
  if (was == is) return;
  const auto at =
      static_cast<std::size_t>(std::mismatch(was.begin(), was.end(), is.begin(), is.end()).first - was.begin());
  differ(line, std::string(what), "byte " + std::to_string(at) + ": " + around(is, at) + ", it was " + around(was, at));
}

void Replay::compare(const Line& line, const Turn& turn, const Session& session) {
  const Value record = line.record.root();
  compare_prompt(line, session.ids().subspan(0, turn.prompt_tokens()));
  const std::string grammar = turn.grammar() ? sha256(*turn.grammar()) : "";
  if (grammar != record["grammar"]["sha256"].text())
    differ(line, "grammar",
           "its SHA-256 is '" + grammar + "', it was '" + std::string(record["grammar"]["sha256"].text()) + "'");
  if (record["status"].text() != name_of(TurnStatus::answered)) return;  // nobody read its reply to the end
  compare_json(line, "reply", reply_json(turn.message(), call_ids_of(record)));
  compare_json(line, "kinds", kinds_json(*turn.model()->tokenizer, turn.sampled(), turn.kinds()));
  compare_json(line, "origins",
               origins_json(*turn.model(), session, turn.prompt().now,
                            static_cast<std::size_t>(number_in(record["origins"]["from_byte"])), turn.prompt().alone));
}

/// The turn as the gateway planned it, from what it went on from alone. Unset: something differs, and was said.
std::optional<Turn> Replay::planned(const Line& line, const std::shared_ptr<const ServedModel>& model,
                                    SessionStore& store) {
  const Value record = line.record.root(), named = record["hints"]["named"], from = record["from"];
  SessionHints hints{.response = std::string(record["hints"]["response"].text())};
  if (flag_of(named, false)) hints.session = record["session"].text();
  if (from.is(Kind::dict)) {
    const auto found = held_.find(kept_name(from));
    if (found == held_.end()) {
      differ(line, "history",
             "it goes on from turn " + std::string(from["id"].text()) + " of session " +
                 std::string(from["session"].text()) + ", which is not in these files");
      return {};
    }
    store.keep(found->second, hints.owner);
  }
  const auto failed = [&](const Error& error) {
    differ(line, "request", error.message());
    return std::nullopt;
  };
  Document body;
  if (Result<void> parsed = body.parse(record["request"].text()); !parsed) return failed(parsed.error());
  const bool generate = !record["generate"].is_undefined();
  const std::string text = generate ? messages_of_generate(body.root()) : std::string(record["request"].text());
  const RequestText given{
      .api = reply_api_named(record["api"].text()).value_or(ReplyApi::openai), .body = body.root(), .text = text};
  Result<ChatRequest> request = read_conversation(store, model, given, hints);
  if (!request) return failed(request.error());
  Result<SamplingSettings> sampling = read_sampling(body.root(), 0);
  if (!sampling) return failed(sampling.error());
  Result<OwnGrammar> grammar = read_own_grammar(*model, body.root());
  if (!grammar) return failed(grammar.error());
  const OwnHead own = own_head_of(*model, request->conversation, body.root());
  Result<Turn> turn = Turn::plan(model, store, std::move(*request),
                                 {.sampling = std::move(*sampling),
                                  .hints = hints,
                                  .new_session = std::string(record["session"].text()),
                                  .own = own,
                                  .grammar = std::move(*grammar)},
                                 static_cast<unsigned>(number_in(record["choice"])));
  if (!turn) return failed(turn.error());
  return std::move(*turn);
}

/// The same for an agent's turn, each of which goes on from the one before.
std::optional<Turn> Replay::followed(const Line& line, const std::shared_ptr<const ServedModel>& model) {
  const Value record = line.record.root();
  const std::string text(record["request"].text());
  SessionHints hints{.session = std::string(record["session"].text()),
                     .response = std::string(record["hints"]["response"].text())};
  Document body;
  Result<Turn> turn = Error(ErrorCode::json, "");
  if (Result<void> parsed = body.parse(text); !parsed)
    turn = parsed.error();
  else
    turn = record["key"].text().empty() ? agents_[line.file].plan_copy(model, body.root(), text, std::move(hints))
                                        : agents_[line.file].plan(model, body.root(), text, std::move(hints));
  if (turn) return std::move(*turn);
  differ(line, "request", turn.error().message());
  return {};
}

std::shared_ptr<const Held> Replay::kept_of(const Line& line, Turn& turn, SessionStore& store) {
  const Value record = line.record.root();
  const std::string id(record["id"].text());
  if (!line.of_agent && !record["generate"].is_undefined())
    return turn.keep(store, call_ids_of(record), context_id(turn.context()));
  if (!line.of_agent) return turn.keep(store, call_ids_of(record), id);
  if (record["key"].text().empty()) {  // the engine failed, or the reply broke off: the agent went on without it
    agents_[line.file].leave(turn);
    return nullptr;
  }
  return agents_[line.file].keep(turn, call_ids_of(record), id);
}

/// For the turns that go on from this one.
void Replay::keep(Value record, std::shared_ptr<const Held> kept) {
  if (record["key"].text().empty()) return;
  const std::string name = kept_name(record);
  if (kept) held_[name] = std::move(kept);
  if (std::optional<std::vector<TokenId>> ids = recorded_prompt(record)) {
    const std::vector<TokenId> sampled = listed_ids(record["sampled"]);
    ids->insert(ids->end(), sampled.begin(), sampled.end());
    ids_[name] = std::move(*ids);
  }
}

/// What stands behind a prompt of no chat: the prompt's ids again from the request, the text from the sampled ids.
void Replay::continuation(const Line& line, const std::shared_ptr<const ServedModel>& model) {
  const Value record = line.record.root();
  const auto failed = [&](const Error& error) { differ(line, "request", error.message()); };
  Document body;
  if (Result<void> parsed = body.parse(record["request"].text()); !parsed) return failed(parsed.error());
  const bool generate = record["api"].text() == "generate";
  const Result<SamplingSettings> sampling = read_sampling(generate ? body.root()["sampling_params"] : body.root(), 0);
  if (!sampling) return failed(sampling.error());
  const Result<std::vector<std::vector<TokenId>>> prompts =
      read_prompts(body.root()[generate ? "token_ids" : "prompt"], *model);
  if (!prompts) return failed(prompts.error());
  const auto number = static_cast<std::size_t>(number_in(record["prompt_number"]));
  if (number >= prompts->size()) return differ(line, "request", "it has no prompt of this number");
  compare_prompt(line, (*prompts)[number]);
  if (record["status"].text() != name_of(TurnStatus::answered)) return;
  Continuation one(model, {.prompt = (*prompts)[number], .sampling = &*sampling});
  std::vector<SampledToken> tokens;
  for (const TokenId id : listed_ids(record["sampled"])) tokens.push_back({.id = id});
  if (const Value text = record["sampled_text"]; text.is_string()) tokens.push_back({.text = std::string(text.text())});
  one.add(tokens);
  one.finish();
  one.set_length(flag_of(record["length"], false));
  compare_json(line, "reply", continuation_reply(one));
}

Result<void> Replay::turn(const Line& line) {
  const Value record = line.record.root();
  const Result<std::shared_ptr<OpenedModel>> opened = model_for(line);
  if (!opened) return opened.error();
  const std::shared_ptr<ServedModel>& model = (*opened)->model;
  (*opened)->engine->takes(find_grammar_syntax(heads_[line.head - 1].root()["grammars"].text()));
  if (!record["prompt_number"].is_undefined()) {
    continuation(line, model);
    return {};
  }
  (*opened)->engine->load(record);
  const std::optional<CivilTime> now = moment_of(record["now"]);
  if (!now) {
    differ(line, "request", "it does not say what time it was");
    return {};
  }
  model->clock = [now] { return *now; };
  SessionStore store;
  std::optional<Turn> turn = line.of_agent ? followed(line, model) : planned(line, model, store);
  if (!turn) return {};
  run_recorded(*turn);
  const std::shared_ptr<const Held> kept = kept_of(line, *turn, store);
  if (kept) {
    compare(line, *turn, kept->session);
  } else {
    const Session session = turn->take_session();
    compare(line, *turn, session);
  }
  keep(record, line.of_agent ? nullptr : kept);
  return {};
}

Result<ReplayReport> Replay::run() {
  for (const Line& line : turns_) {
    differs_ = false;
    if (Result<void> done = turn(line); !done) return done.error();
    ++report_.turns;
    report_.different += differs_ ? 1 : 0;
  }
  return report_;
}

}  // namespace

Result<ReplayReport> replay(const std::vector<std::string>& paths, const OpenCaptured& open,
                            const std::function<void(const ReplayDifference&)>& say) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const Result<std::vector<std::string>> found = capture_files(path);
    if (!found) return found.error();
    files.insert(files.end(), found->begin(), found->end());
  }
  Replay made(open, say);
  if (Result<void> done = made.read(files); !done) return done.error();
  return made.run();
}

}  // namespace parlance::serve
