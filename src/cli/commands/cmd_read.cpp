// parlance read: a model's reply as a message, or as the events it consists of while it arrives.
//
// A reply is read in pieces as they come in, so that events of a pipe are printed at once. Begin reading at run_read.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/lines/lines.h"
#include "cli/lines/reply_lines.h"
#include "cli/losses.h"
#include "cli/numbers.h"
#include "cli/options/options.h"
#include "cli/options/reply_choice.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "parlance/partial_json.h"
#include "parlance/reply.h"
#include "parlance/reply_api.h"
#include "parlance/source.h"
#include "reply/event_json.h"

namespace parlance::cli {
namespace {

struct ReadCommand {
  ReplyWish wish;
  std::string reply;
  std::string request;
  std::size_t chunks = 0;
  LineWish lines;
  LossWish losses;  ///< --fail-on-error
  bool stream = false;
  bool openai_stream = false;
  bool sse = false;
  bool jsonl = false;
  bool conversation = false;
  bool show_format = false;

  bool streams() const { return stream || openai_stream || sse; }
};

/// Gives the reply's bytes as they come.
Result<void> read_pieces(const std::string& path, const std::function<void(std::string_view)>& take) {
  Result<InputStream> input = InputStream::open(path, "the reply");
  if (!input) return input.error();
  std::array<char, 1 << 16> buffer;
  ssize_t size = 0;
  do {
    size = ::read(input->file(), buffer.data(), buffer.size());
    if (size > 0) take({buffer.data(), static_cast<std::size_t>(size)});
  } while (size > 0 || (size < 0 && errno == EINTR));
  if (size < 0) return Error(ErrorCode::file, input_name(path) + ": " + std::strerror(errno));
  return input->finish();
}

/// An event as a line; members without meaning for its kind are left out. `values`: what there is of the call's
/// arguments.
std::string event_line(const ReplyEvent& event, std::string_view values) {
  JsonWriter json('{');
  write_event(json, event);
  if (!values.empty()) json.key("partial") += values;
  return json.take() + "\n";
}

Result<void> feed_all(ReplyParser& parser, const ReadCommand& command, ReplySink sink,
                      const std::function<void()>& fed) {
  Result<void> read = read_pieces(command.reply, [&](std::string_view bytes) {
    const std::size_t size = command.chunks == 0 ? bytes.size() : command.chunks;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) parser.feed(bytes.substr(0, size), sink);
    fed();
  });
  parser.finish(sink);
  return read;
}

int run_stream(ReplyParser& parser, const ReadCommand& command) {
  using Kind = ReplyEvent::Kind;
  std::string lines, arguments;
  int code = 0;
  const auto flush = [&] {
    if (code == 0 && !lines.empty()) code = print(lines);
    lines.clear();
  };
  const auto take = [&](const ReplyEvent& event) {
    const bool grows = command.wish.partial && (event.kind == Kind::arguments || event.kind == Kind::broken);
    if (event.kind == Kind::call_begin) arguments.clear();
    if (grows) arguments += event.text;
    lines += event_line(event, grows ? complete_json(arguments) : std::string());
  };
  const Result<void> read = feed_all(parser, command, take, flush);
  flush();
  return read ? code : report(read.error());
}

/// As an API has it: its events, one a line or as a server sends them, or the whole.
int run_api(ReplyApi api, ReplyParser& parser, const ReadCommand& command) {
  ReplyApiOptions options = command.wish.answer;
  if (command.openai_stream) options.make_call_id = call_ids(command.wish);
  ReplyApiWriter writer(api, std::move(options));
  std::string lines;
  int code = 0;
  const auto flush = [&] {
    if (code == 0 && !lines.empty()) code = print(lines);
    lines.clear();
  };
  const ReplyApiSink send = [&](const ReplyApiEvent& event) {
    command.sse ? append_stream_event(lines, api, event) : lines.append(event.data).push_back('\n');
  };
  const ReplyApiSink sink = command.streams() ? send : ReplyApiSink();
  writer.begin(sink);
  const auto take = [&](const ReplyEvent& event) { writer.add(event, sink); };
  const Result<void> read = feed_all(parser, command, take, flush);
  writer.finish(sink);
  if (command.sse) lines += end_of_stream(api);
  if (!command.streams() && read) lines = writer.to_json() + "\n";
  flush();
  return read ? code : report(read.error());
}

int run_message(ReplyParser& parser, const ReadCommand& command) {
  ReplyMessage message;
  const auto take = [&](const ReplyEvent& event) { message.add(event); };
  const Result<void> read = feed_all(parser, command, take, [] {});
  if (!read) return report(read.error());
  return print(message.to_json(call_ids(command.wish), command.wish.partial) + "\n");
}

int run_conversation(const ReplyFormat& format, const ReadCommand& command) {
  std::string text;
  if (auto read = read_pieces(command.reply, [&](std::string_view bytes) { text += bytes; }); !read)
    return report(read.error());
  const Result<std::string> request = read_conversation(format, text);
  return request ? print(*request + "\n") : report(request.error());
}

Result<void> check_api(const ReadCommand& command) {
  const ReplyApiOptions& answer = command.wish.answer;
  const bool as_api = !command.wish.as.empty();
  if (as_api && command.openai_stream)
    return usage("--openai-stream and --as exclude each other", "--openai-stream is --as openai --stream");
  if (as_api && command.conversation)
    return usage("--conversation and --as exclude each other",
                 "--conversation reads a whole prompt, and prints a request");
  if (command.sse && !as_api && !command.openai_stream)
    return usage("--sse is for the events of an API: give --as", "--as openai, anthropic, responses or ollama");
  if (command.sse && command.jsonl)
    return usage("--sse and --jsonl exclude each other", "--jsonl prints whole answers");
  if (!as_api && !command.openai_stream && (!answer.id.empty() || !answer.model.empty() || answer.created != 0)) {
    return usage("--id, --model-name and --created are of an API's answer: give --as",
                 "--as openai, anthropic, responses or ollama");
  }
  if (command.wish.partial && as_api)
    return usage("--partial is for messages and --stream", "--as prints what the API's answers have, and no more");
  return {};
}

Result<void> check_read_options(const ReadCommand& command) {
  if (Result<void> checked = check_api(command); !checked) return checked;
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked) return checked;
  if (command.stream + command.openai_stream + command.jsonl + command.conversation > 1) {
    return usage("--stream, --openai-stream, --jsonl and --conversation exclude each other",
                 "--conversation reads a whole prompt, and --jsonl brings replies of its own");
  }
  if (!command.wish.prompt.effort.empty() && command.request.empty() && !command.jsonl) {
    return usage("--reasoning-effort is for the prompt of a request: give --request",
                 "without one, the reply is read from where prompts usually end");
  }
  if (command.conversation && command.chunks != 0)
    return usage("--conversation reads a whole prompt: it does not go with --chunks");
  if (command.wish.partial && (command.openai_stream || command.conversation)) {
    return usage("--partial is for messages and --stream",
                 "--openai-stream prints what OpenAI's chunks have, and no more");
  }
  if (command.conversation && (command.wish.begin_in_reasoning || command.wish.no_calls_in_reasoning)) {
    return usage(
        "--conversation reads a whole prompt: --begin-in-reasoning and --no-calls-in-reasoning are of a reply");
  }
  if (command.jsonl && (!command.request.empty() || command.chunks != 0)) {
    return usage("--jsonl reads replies and their requests from a file or standard input",
                 "parlance read -f FORMAT --jsonl replies.jsonl");
  }
  return {};
}

Result<ReplyStart> start_of(const ReplySource& source, const ReadCommand& command) {
  if (command.request.empty()) return usual_start(source, command.wish);
  Result<std::string> text = read_input(command.request, "the request");
  if (!text) return text.error();
  Result<ReplyStart> start = start_of_request(source, command.wish, std::move(*text), input_name(command.request));
  if (!start) return start.error();
  for (const std::string& note : start->notes) say_note(note);
  return start;
}

int run_read(ReadCommand& command) {
  if (Result<void> checked = check_read_options(command); !checked) return report(checked.error());
  if (command.openai_stream) command.wish.as = "openai";
  const Result<ReplySource> source = open_reply_source(command.wish);
  if (!source) return report(source.error());
  if (command.jsonl && !command.show_format)
    return run_reply_lines(command.reply, *source, command.wish, command.lines, command.losses);
  const Result<ReplyStart> start = start_of(*source, command);
  if (!start) return report_render(start.error());
  if (command.show_format) return print(start->format.source().to_json() + "\n");
  if (command.conversation) return run_conversation(start->format.source(), command);
  ReplyParser parser(start->format, start->options);
  if (const std::optional<ReplyApi> api = reply_api_named(command.wish.as)) return run_api(*api, parser, command);
  return command.stream ? run_stream(parser, command) : run_message(parser, command);
}

constexpr const char* kReadExamples = R"(Examples:
  parlance read -f terminal-agent reply.txt            the message, with finish_reason and diagnostics
  ollama run … | parlance read -f rnj-1 --stream   an event a line, as soon as it is certain
  parlance read -f terminal-agent --request chat.json reply.txt   the request's tools, and where its prompt ends
  parlance read -f terminal-agent --as anthropic --stream reply.txt   events of Anthropic's API
  parlance read -f terminal-agent --jsonl replies.jsonl     {"id", "request", "reply"} a line
  parlance read -f chatglm3 --conversation prompt.txt   the request that renders to this prompt)";

std::vector<std::string> api_names() { return {reply_api_names().begin(), reply_api_names().end()}; }

}  // namespace

Run declare_read(Options& app) {
  auto command = std::make_shared<ReadCommand>();
  ReadCommand& c = *command;
  app.examples(kReadExamples);
  app.add_option("REPLY", c.reply, "A file with the model's reply; - or nothing for standard input")
      .placeholder("FILE");
  declare_template_options(app, c.wish.prompt);
  app.add_option("--reply-format", c.wish.reply_format,
                 "The reply format, as --show-format prints it, or a response_template")
      .placeholder("FILE");
  app.add_option("--request", c.request,
                 "The request to which this is the reply, for its tools and the end of its prompt")
      .placeholder("FILE");
  app.add_option("--tools", c.wish.tools, "Tools as JSON, in place of the request's").placeholder("FILE");
  app.add_flag("--stream", c.stream, "Print events, one JSON object a line");
  app.add_option("--as", c.wish.as,
                 "Print the reply as an API's answer: openai (chat completions), anthropic (messages), responses "
                 "or ollama (chat); with --stream, its events")
      .placeholder("API")
      .one_of(api_names());
  app.add_flag("--sse", c.sse, "With --as: its events as a server sends them, lines event: and data:");
  app.add_option("--id", c.wish.answer.id, "With --as: the answer's id; calls without an id get this id and a number")
      .placeholder("ID");
  app.add_option("--model-name", c.wish.answer.model, "With --as: the model's name in the answer").placeholder("NAME");
  add_number(app, "--created", c.wish.answer.created, "With --as: the time of the answer, in seconds since 1970");
  app.add_flag(
      "--openai-stream", c.openai_stream,
      "Print chat.completion.chunk objects, one a line: --as openai --stream, with ids of calls as in messages");
  app.add_flag("--jsonl", c.jsonl,
               "REPLY has one {\"id\", \"request\", \"reply\"} a line, or \"messages\" and\n\"tools\" beside "
               "\"reply\"; one message a line out, in order");
  declare_lines(app, c.lines, c.losses);
  app.add_option("--chunks", c.chunks, "Feed this many bytes at a time; the result is the same")
      .placeholder("N")
      .check(whole_number(1, 1'000'000'000));
  app.add_flag("--conversation", c.conversation, "Read a whole prompt, and print it as a request");
  app.add_flag(
      "--number-calls", c.wish.number_calls,
      "Calls without an id get call_1, call_2, … in place of a random one\n(with --jsonl: one made of the line)");
  app.add_flag("--partial", c.wish.partial,
               "Beside incomplete arguments, also print the values received so far, as JSON");
  app.add_flag("--begin-in-reasoning", c.wish.begin_in_reasoning,
               "The reply begins inside reasoning, whatever the end of the prompt is");
  app.add_flag("--no-calls-in-reasoning", c.wish.no_calls_in_reasoning,
               "Read calls inside reasoning as text, whatever the format says");
  app.add_flag("--show-format", c.show_format, "Print the reply format as JSON");
  declare_variables(app, c.wish.prompt.variables);
  declare_effort(app, c.wish.prompt);
  return [command] { return run_read(*command); };
}

}  // namespace parlance::cli
