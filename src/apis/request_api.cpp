// Requests of one API as those of another: the table of writers, and what a request is read with. Begin reading at
// request_as.
#include "parlance/request_api.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "apis/request_out.h"
#include "conversation/edit.h"
#include "conversation/json_text.h"
#include "conversation/normalise.h"
#include "json/json.h"

namespace parlance {

std::string_view name_of(RequestNote::Kind kind) {
  switch (kind) {
    case RequestNote::Kind::missing: return "missing";
    case RequestNote::Kind::changed: return "changed";
    case RequestNote::Kind::kept: return "kept";
    default: return "lost";
  }
}

namespace {

using apis::Words;

/// What writes requests of one API. `runs` and `skips` are passes, besides those that are skipped for all; `needs`:
/// members that it does not go without.
struct Writer {
  std::string_view api;
  Words words;
  void (*write)(apis::RequestOut&);
  std::initializer_list<Pass> runs;
  std::initializer_list<Pass> skips;
  std::initializer_list<std::string_view> needs;
};
/// A row for each ReplyApi that requests are written for, in its order: all but Ollama.
const Writer kWriters[] = {
    {"OpenAI's chat",
     Words::chat,
     apis::write_chat_request,
     {Pass::missing_ids, Pass::arguments_text},
     {Pass::parse_arguments, Pass::null_content, Pass::custom_tools, Pass::custom_calls},
     {"model"}},
    {"Anthropic Messages",
     Words::anthropic,
     apis::write_messages_request,
     {Pass::missing_ids},
     {},
     {"model", "max_tokens"}},
    {"OpenAI Responses",
     Words::responses,
     apis::write_responses_request,
     {Pass::missing_ids, Pass::arguments_text},
     {Pass::parse_arguments, Pass::custom_tools, Pass::custom_calls},
     {"model"}},
};
static_assert(std::size(kWriters) + 1 == kReplyApis);

/// Passes that give a template what it reads, which says nothing to an API.
constexpr Pass kForTemplates[] = {
    Pass::chat_template_kwargs, Pass::drop_request_members, Pass::unsaid_effort, Pass::null_members,
    Pass::null_columns,         Pass::ollama_think,         Pass::defaults};

ReadOptions reading_for(const Writer& writer) {
  ReadOptions options;
  options.keep_steering = true;
  for (const Pass pass : kForTemplates) options.passes.skip(pass);
  for (const Pass pass : writer.skips) options.passes.skip(pass);
  for (const Pass pass : writer.runs) (void)options.passes.run(pass);  // these take nothing, so it cannot fail
  return options;
}

Words words_of(std::optional<Pass> pass) {
  if (pass == Pass::anthropic_request) return Words::anthropic;
  if (pass == Pass::responses_request) return Words::responses;
  if (pass == Pass::gemini_request) return Words::gemini;
  return Words::chat;
}

Words words_of(const ConversationState& state) {
  if (state.converted.is_undefined()) return Words::chat;
  for (const Change& change : state.changes) {
    if (const Words words = words_of(change.pass); words != Words::chat) return words;
  }
  return Words::chat;
}

/// What reading changed, but for what the writers say themselves.
void note_changes(const ConversationState& state, std::vector<RequestNote>& notes) {
  for (const Change& change : state.changes) {
    const bool stray = state.converted.is_undefined() && change.variable == "system";
    if (stray || change.pass == Pass::parse_arguments || change.pass == Pass::reasoning_names) continue;
    const std::string path = place_of(state, change), whole = note_of(state, change);
    notes.push_back({change.loses.empty() || change.by_design ? RequestNote::Kind::changed : RequestNote::Kind::lost,
                     path, whole.substr(std::min(whole.size(), path.size() + 2))});
  }
}

/// A member that one object has twice is written once. Members that are set may stand in the request as well by now.
void lose_repeated(const ConversationState& state, std::vector<RequestNote>& notes) {
  for (const RepeatedMember& one : repeated_members_of(state)) {
    const bool known = std::ranges::any_of(notes, [&](const RequestNote& note) { return note.path == one.path; });
    if (!known) notes.push_back({RequestNote::Kind::lost, one.path, sentence_of(one)});
  }
}

Result<std::string> text_of_request(Value made) {
  constexpr int kDeepest = 2000;  // deeper than what can be read
  Limits limits;
  limits.depth = kDeepest;
  Arena arena;
  Runtime rt(arena, limits);
  std::string json;
  if (!append_json(rt, json, made, kPythonJson))
    return Error(ErrorCode::conversation, "the request cannot be written as JSON");
  return json;
}

void note_needs(const Writer& writer, Value made, std::vector<RequestNote>& notes) {
  for (const std::string_view name : writer.needs) {
    if (member(made, name) != nullptr) continue;
    notes.push_back({RequestNote::Kind::missing, std::string(name),
                     std::string(writer.api) + " needs it, and the request has none"});
  }
}

/// No API of chats has a request for what stands between two texts.
Result<void> check_no_gap(const Writer& writer, const ConversationState& state) {
  if (!fills_gap(state.variables)) return {};
  return Error(ErrorCode::conversation,
               std::string(writer.api) + ": a prompt with a suffix asks for what stands between them, and no chat does")
      .input("suffix")
      .hint("leave out suffix for a chat");
}

// ---- members that are set

/// Where a member is set: before the request is read, in the words of its API; once it is read as OpenAI's chat, in
/// those of a chat; or over what was written, in the words of the API that it is written for.
enum class Time : std::uint8_t {
  before,
  between,
  behind,
};

Time time_of(Words from, Words to, std::string_view name, Value value, bool has_it) {
  const bool fits = apis::is_in_form_of(to, name, value);
  if (from == to && from != Words::chat) return Time::behind;
  if (name == "messages" && has_it) return Time::before;
  if (apis::is_word_of(to, name) && fits) return Time::behind;
  if (from == Words::chat || apis::is_word_of(from, name)) return Time::before;
  // Servers of OpenAI's chat have more members than the API.
  return to == Words::chat && fits ? Time::behind : Time::between;
}

/// The members of options, each read as JSON.
class SetMembers {
 public:
  explicit SetMembers(const RequestApiOptions& options) : options_(options) {}
  Result<void> read() {
    values_ = std::make_unique<Conversation>();
    if (Result<void> begun = values_->read("{}", {.normalise = false}); !begun) return begun;
    for (const auto& [name, json] : options_.members) {
      if (Result<void> set = values_->set_json(name, json); !set) return set;
    }
    return {};
  }
  void sort(Words from, Words to, Value request) {
    for (const DictEntry& entry : entries(values_->variables())) {
      const std::string_view name = leaf_text(entry.key);
      times_.push_back(time_of(from, to, name, entry.value, member(request, name) != nullptr));
    }
  }
  /// Sets what belongs to this time, read anew: values of another conversation have places there, which notes would
  /// take for places in the request.
  Result<void> set(Conversation& chat, Time time) const {
    Result<void> done;
    each(time, [&](const DictEntry& entry) {
      const auto last = std::find_if(options_.members.rbegin(), options_.members.rend(),
                                     [&](const auto& one) { return one.first == leaf_text(entry.key); });
      if (done) done = chat.set_json(last->first, last->second);
    });
    return done;
  }
  void overrule(apis::RequestOut& out, Words to) const {
    each(Time::behind,
         [&](const DictEntry& entry) { out.overrule(apis::paths_set_by(to, leaf_text(entry.key), entry.value)); });
  }
  const ConversationState& values() const { return inside_of(*values_); }
  bool has(std::string_view name) const { return member(values_->variables(), name) != nullptr; }
  Value over(Runtime& rt, Value made, Words to) const {
    each(Time::behind,
         [&](const DictEntry& entry) { made = apis::with_set(rt, made, to, leaf_text(entry.key), entry.value); });
    return made;
  }

 private:
  template <typename Do>
  void each(Time time, Do act) const {
    const std::span<const DictEntry> all = entries(values_->variables());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (times_[i] == time) act(all[i]);
    }
  }

  const RequestApiOptions& options_;
  std::unique_ptr<Conversation> values_;
  std::vector<Time> times_;
};

/// A chat keeps the members that its API has not: servers know more of them, and columns of data sets stand there too.
/// What was asked for is no news.
void note_kept(const Writer& writer, Value made, const SetMembers& members, std::vector<RequestNote>& notes) {
  if (writer.words != Words::chat) return;
  for (const DictEntry& entry : entries(made)) {
    const std::string_view name = leaf_text(entry.key);
    if (apis::is_word_of(Words::chat, name) || members.has(name)) continue;
    notes.push_back({RequestNote::Kind::kept, std::string(name), "no member of " + std::string(writer.api) + ": kept"});
  }
}

Result<ApiRequest> finished(const Writer& writer, Value made, const ConversationState& state, const SetMembers& members,
                            std::vector<RequestNote> notes) {
  lose_repeated(state, notes);
  lose_repeated(members.values(), notes);
  note_kept(writer, made, members, notes);
  note_needs(writer, made, notes);
  Result<std::string> json = text_of_request(made);
  if (!json) return json.error();
  return ApiRequest{std::move(*json), std::move(notes)};
}

/// A request that is one of the API already, less the id of a line.
Result<ApiRequest> as_it_is(const Writer& writer, ConversationState& state, const SetMembers& members) {
  const Limits limits;
  Runtime rt(state.arena, limits);
  const Value request = filtered(rt, state.variables, [](std::string_view key) { return key != "id"; });
  return finished(writer, members.over(rt, request, writer.words), state, members, {});
}

Result<ApiRequest> written(const Writer& writer, ConversationState& state, const SetMembers& members) {
  const Words from = words_of(state);
  const Limits limits;
  Runtime rt(state.arena, limits);
  apis::RequestOut out(state, rt, writer.api, from, writer.words);
  members.overrule(out, writer.words);
  note_changes(state, out.notes);
  writer.write(out);
  const Value made = out.finish();
  if (out.failure) return *out.failure;
  if (rt.failed()) return Error(ErrorCode::limit_memory, "a text of 2 GiB or more");
  return finished(writer, members.over(rt, made, writer.words), state, members, std::move(out.notes));
}

}  // namespace

std::span<const std::string_view> request_api_names() { return reply_api_names().first(std::size(kWriters)); }

Result<ApiRequest> request_as(ReplyApi api, std::string_view request, const RequestApiOptions& options) {
  if (static_cast<std::size_t>(api) >= std::size(kWriters))
    return Error(ErrorCode::conversation, "requests are not written for Ollama's API")
        .hint("`openai`, `anthropic` and `responses` are; Ollama answers requests of OpenAI's chat at /v1");
  const Writer& writer = kWriters[static_cast<std::size_t>(api)];
  Conversation conversation;
  if (Result<void> read = conversation.read(request, {.normalise = false}, options.name); !read) return read.error();
  SetMembers members(options);
  if (Result<void> read = members.read(); !read) return read.error();
  ConversationState& state = inside_of(conversation);
  const Result<std::optional<Pass>> pass = request_pass(state);
  if (!pass) return without_reading_options(pass.error());
  const Words from = words_of(*pass);
  members.sort(from, writer.words, state.variables);
  if (from == writer.words && from != Words::chat) return as_it_is(writer, state, members);
  if (Result<void> set = members.set(conversation, Time::before); !set) return set.error();
  if (Result<void> none = check_no_gap(writer, state); !none) return none.error();
  if (Result<void> done = normalise(state, reading_for(writer)); !done) return without_reading_options(done.error());
  state.settle();
  if (Result<void> set = members.set(conversation, Time::between); !set) return set.error();
  return written(writer, state, members);
}

}  // namespace parlance
