// parlance convert: a request of one API as one of another. Begin reading at run_convert.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/lines/lines.h"
#include "cli/losses.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/options/variables.h"
#include "cli/report.h"
#include "json/json.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/request_api.h"

namespace parlance::cli {
namespace {

struct ConvertCommand {
  std::string as;
  std::string request;
  VariableWish variables;
  LossWish losses;
  bool json = false;
  bool jsonl = false;
  bool bare = false;
  LineWish lines;
};

using NoteKind = RequestNote::Kind;

/// What people are told without asking.
bool matters(const RequestNote& note) { return note.kind != NoteKind::changed; }
/// What --strict refuses.
bool is_fault(const RequestNote& note) { return note.kind == NoteKind::lost || note.kind == NoteKind::missing; }

Result<ApiRequest> convert(const ConvertCommand& command, std::string_view request, const RequestApiOptions& options) {
  Result<ApiRequest> made = request_as(*reply_api_named(command.as), request, options);
  if (!made || !command.losses.strict) return made;
  const auto first = std::find_if(made->notes.begin(), made->notes.end(), is_fault);
  if (first == made->notes.end()) return made;
  const auto count = std::count_if(made->notes.begin(), made->notes.end(), is_fault);
  return Error(ErrorCode::loss, first->display() + (count > 1 ? ", and " + std::to_string(count - 1) + " more" : ""))
      .input(first->path);
}

std::string notes_json(const std::vector<RequestNote>& notes) {
  JsonWriter list('[');
  for (const RequestNote& note : notes) {
    JsonWriter one('{');
    one.text("kind", name_of(note.kind)).text("path", note.path).text("message", note.sentence);
    list.next() += one.take();
  }
  return list.take();
}

/// What the notes of many lines say, summed up.   Threads: any may add.
class NotesOfLines {
 public:
  void add(const std::vector<RequestNote>& notes);
  /// Says it on standard error. `lines`: of how many.
  void report(const ConvertCommand& command, std::uint64_t lines) const;

 private:
  struct Count {
    std::uint64_t lines = 0;
    std::map<std::string, std::uint64_t> places{};  ///< by path without numbers: messages[].name
  };

  std::mutex mutex_;
  std::array<Count, 4> counts_;  ///< by kind
};

/// messages[3].name as messages[].name
std::string without_numbers(const std::string& path) {
  std::string made;
  bool inside = false;
  for (const char c : path) {
    if (!inside || c == ']') made += c;
    inside = c == '[' || (inside && c != ']');
  }
  return made;
}

void NotesOfLines::add(const std::vector<RequestNote>& notes) {
  constexpr std::size_t kMostPlaces = 1000;
  std::array<bool, 4> met{};
  const std::lock_guard lock(mutex_);
  for (const RequestNote& note : notes) {
    const auto kind = static_cast<std::size_t>(note.kind);
    Count& count = counts_[kind];
    count.lines += std::exchange(met[kind], true) ? 0 : 1;
    const std::string place = without_numbers(note.path);
    if (count.places.size() < kMostPlaces || count.places.contains(place)) ++count.places[place];
  }
}

/// "12 × seed, 3 × messages[].name", the most frequent first.
std::string most_frequent(const std::map<std::string, std::uint64_t>& places) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::pair<std::string, std::uint64_t>> sorted(places.begin(), places.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string said;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostNamed); ++i)
    said.append(said.empty() ? "" : ", ").append(std::to_string(sorted[i].second) + " × " + sorted[i].first);
  return sorted.size() > kMostNamed ? said + ", …" : said;
}

void NotesOfLines::report(const ConvertCommand& command, std::uint64_t lines) const {
  if (command.losses.quiet) return;
  const auto say_of = [&](NoteKind kind, const std::string& what, const std::string& more) {
    const Count& count = counts_[static_cast<std::size_t>(kind)];
    if (count.lines == 0) return;
    say_note(std::to_string(count.lines) + " of " + std::to_string(lines) + " lines " + what + ": " +
             most_frequent(count.places) + more);
  };
  const std::string where = command.bare ? "" : "; `notes` of each line names it";
  say_of(NoteKind::lost, "lost something", where);
  say_of(NoteKind::missing, "lack what the API needs", "; --var sets it");
  say_of(NoteKind::kept, "keep members that the API has not", where);
  if (command.losses.verbose) say_of(NoteKind::changed, "have something that is written in another way", where);
}

/// {"id", "request", "notes"}, or {"id", "error"}; with --bare the request, with the line's id before it.
Result<void> convert_line(const ConvertCommand& command, const RequestApiOptions& options, NotesOfLines& notes,
                          std::string_view line, BulkAnswer& answer) {
  Document document;
  const Value id = document.parse(line) ? document.root()["id"] : Value();
  if (!id.is_undefined()) answer.id = strict_json_text(id);
  const Result<ApiRequest> made = convert(command, line, options);
  if (!made) return made.error();
  notes.add(made->notes);
  if (command.bare) {
    answer.members.assign(made->json, 1, made->json.size() - 2);  // of an object
    return {};
  }
  answer.members.append("\"request\": ").append(made->json).append(", \"notes\": ").append(notes_json(made->notes));
  return {};
}

int run_convert_lines(const ConvertCommand& command, const RequestApiOptions& options) {
  NotesOfLines notes;
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) {
    return convert_line(command, options, notes, line.text, answer);
  };
  const LineRun run = [&](const BulkInput& input, const BulkOutput& output, const BulkOptions& how) {
    Result<BulkProgress> done = each_line(worker)(input, output, how);
    if (done) notes.report(command, done->lines);
    return done;
  };
  LineWish lines = command.lines;
  lines.writes_requests = command.bare;
  return run_lines(command.request, lines, command.losses, run);
}

int run_convert(const ConvertCommand& command) {
  if (command.json && command.jsonl)
    return report(usage("--json and --jsonl exclude each other", "lines have their notes anyway"));
  if (command.bare && !command.jsonl)
    return report(usage("--bare is for --jsonl", "a single request is written alone anyway"));
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked)
    return report(checked.error());
  RequestApiOptions options;
  Result<std::vector<std::pair<std::string, std::string>>> members = variables_of(command.variables);
  if (!members) return report(members.error());
  options.members = std::move(*members);
  if (command.jsonl) return run_convert_lines(command, options);
  options.name = input_name(command.request);
  const Result<std::string> text = read_input(command.request, "the request");
  if (!text) return report(text.error());
  const Result<ApiRequest> made = convert(command, *text, options);
  if (!made) return report(made.error());
  if (command.json) return print("{\"request\": " + made->json + ", \"notes\": " + notes_json(made->notes) + "}\n");
  for (const RequestNote& note : made->notes) {
    if (matters(note) && !command.losses.quiet) say_note(note.display());
    if (!matters(note) && command.losses.verbose) say("changed", note.display());
  }
  return print(made->json + "\n");
}

constexpr const char* kConvertExamples = R"(Examples:
  parlance convert --as anthropic --var max_tokens=1024 chat.json   a chat as a request of Anthropic's Messages
  parlance convert --as openai gemini.json                          and a request of any API as a chat
  parlance convert --as responses --jsonl chats.jsonl               {"request", "notes"} a line
  parlance convert --as openai --bare --jsonl rows.jsonl | parlance render -m path/to/model --jsonl)";

}  // namespace

Run declare_convert(Options& app) {
  auto command = std::make_shared<ConvertCommand>();
  ConvertCommand& c = *command;
  app.examples(kConvertExamples);
  app.add_option("CHAT", c.request, "A request of any API that parlance render takes; - or nothing for standard input")
      .placeholder("FILE");
  const std::vector<std::string> names(request_api_names().begin(), request_api_names().end());
  app.add_option("--as", c.as, "The API to write for: openai (chat completions), anthropic (messages) or responses")
      .placeholder("REQUEST_API")
      .one_of(names)
      .required();
  declare_variables(app, c.variables);
  app.add_flag("--json", c.json, "Print {\"request\", \"notes\"}");
  app.add_flag("--jsonl", c.jsonl,
               "CHAT has one request a line; {\"id\", \"request\", \"notes\"} a line out, in order");
  app.add_flag(
      "--bare", c.bare,
      "For --jsonl: a line out is the request alone, with its id, as\nparlance render --jsonl and others read it");
  declare_lines(app, c.lines, c.losses);
  app.add_flag("-q,--quiet", c.losses.quiet, "Do not report what is lost or missing");
  app.add_flag("-v,--verbose", c.losses.verbose, "Also report what is written in another way");
  app.add_flag("--strict", c.losses.strict, "Fail if anything is lost or missing");
  return [command] { return run_convert(*command); };
}

}  // namespace parlance::cli
