// parlance convert: a request of one API as one of another. Begin reading at run_convert.
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/lines.h"
#include "cli/losses.h"
#include "cli/options.h"
#include "cli/prompt_options.h"
#include "cli/report.h"
#include "cli/variables.h"
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
  LineWish lines;
};

/// What people are told without asking.
bool matters(const RequestNote& note) { return note.kind != RequestNote::Kind::changed; }

Result<ApiRequest> convert(const ConvertCommand& command, std::string_view request, const RequestApiOptions& options) {
  Result<ApiRequest> made = request_as(*reply_api_named(command.as), request, options);
  if (!made || !command.losses.strict) return made;
  const auto first = std::find_if(made->notes.begin(), made->notes.end(), matters);
  if (first == made->notes.end()) return made;
  const auto count = std::count_if(made->notes.begin(), made->notes.end(), matters);
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

/// {"id", "request", "notes"}, or {"id", "error"}.
Result<void> convert_line(const ConvertCommand& command, const RequestApiOptions& options, std::string_view line,
                          BulkAnswer& answer) {
  Document document;
  const Value id = document.parse(line) ? document.root()["id"] : Value();
  if (!id.is_undefined()) answer.id = strict_json_text(id);
  const Result<ApiRequest> made = convert(command, line, options);
  if (!made) return made.error();
  answer.members.append("\"request\": ").append(made->json).append(", \"notes\": ").append(notes_json(made->notes));
  return {};
}

int run_convert_lines(const ConvertCommand& command, const RequestApiOptions& options) {
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) {
    return convert_line(command, options, line.text, answer);
  };
  return run_lines(command.request, command.lines, command.losses, each_line(worker));
}

int run_convert(const ConvertCommand& command) {
  if (command.json && command.jsonl)
    return report(usage("--json and --jsonl exclude each other", "lines have their notes anyway"));
  if (Result<void> checked = check_for_lines(command.jsonl, command.lines, command.losses); !checked)
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
  parlance convert --as responses --jsonl chats.jsonl               {"request", "notes"} a line)";

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
  declare_lines(app, c.lines, c.losses);
  app.add_flag("-q,--quiet", c.losses.quiet, "Do not report what is lost or missing");
  app.add_flag("-v,--verbose", c.losses.verbose, "Also report what is written in another way");
  app.add_flag("--strict", c.losses.strict, "Fail if anything is lost or missing");
  return [command] { return run_convert(*command); };
}

}  // namespace parlance::cli
