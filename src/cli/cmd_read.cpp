// parlance read: a model's reply as a message, or as the events it consists of while it arrives.
//
// A reply is read in pieces as they come in, so that events of a pipe are printed at once. Begin reading at run_read.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

#include "cli/commands.h"
#include "cli/json_object.h"
#include "cli/prompt_options.h"
#include "cli/report.h"
#include "parlance/reply.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

struct ReadCommand {
  std::string format;
  std::string template_file;
  std::string model;
  std::string reply;
  std::size_t chunks = 0;
  bool stream = false;
  bool conversation = false;
  bool show_format = false;
};

Result<ReplyFormat> format_of(const ReadCommand& command) {
  if (!command.template_file.empty() || !command.model.empty()) {
    return usage("how the model of -t or -m writes its replies is not derived yet",
                       "-f FORMAT reads the replies of a built-in format; parlance render --list shows them");
  }
  if (command.format.empty()) return usage("whose reply? give -f FORMAT", "parlance render --list shows the formats");
  const BuiltinFormat* builtin = find_format(command.format);
  if (builtin != nullptr) return ReplyFormat::from_json(builtin->reply, std::string(builtin->name) + ".reply.json");
  return no_format(command.format);
}

Error file_error(const std::string& path) {
  return Error(ErrorCode::file, path + ": " + std::strerror(errno));
}

/// Gives the file's bytes as they come.
Result<void> read_pieces(const std::string& path, const std::function<void(std::string_view)>& take) {
  const bool is_input = path.empty() || path == "-";
  const int file = is_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error(path);
  std::array<char, 1 << 16> buffer;
  ssize_t size = 0;
  do {
    size = ::read(file, buffer.data(), buffer.size());
    if (size > 0) take({buffer.data(), static_cast<std::size_t>(size)});
  } while (size > 0 || (size < 0 && errno == EINTR));
  const Result<void> result = size < 0 ? Result<void>(file_error(is_input ? "<stdin>" : path)) : Result<void>();
  if (!is_input) ::close(file);
  return result;
}

/// An event as a line; members without meaning for its kind are left out.
std::string line_of(const ReplyEvent& event) {
  using Kind = ReplyEvent::Kind;
  Json json('{');
  json.text("type", name_of(event.kind));
  json.number("position", static_cast<std::int64_t>(event.position));
  const bool of_call = event.kind == Kind::call_begin || event.kind == Kind::arguments || event.kind == Kind::call_end;
  if (of_call) json.number("call", event.call);
  switch (event.kind) {
    case Kind::call_begin: json.text("name", event.text); break;
    case Kind::turn: json.text("role", event.text).text("header", event.detail); break;
    case Kind::malformed: json.text("expected", event.text); break;
    case Kind::call_end: json.flag("complete", event.complete); break;
    case Kind::end:
    case Kind::marker: break;
    default: json.text("text", event.text); break;
  }
  if (event.kind == Kind::call_begin && !event.detail.empty()) json.text("id", event.detail);
  if (event.source != event.text) json.text("source", event.source);
  return json.take() + "\n";
}

Result<void> feed_all(ReplyParser& parser, const ReadCommand& command, const ReplySink& sink, const std::function<void()>& fed) {
  Result<void> read = read_pieces(command.reply, [&](std::string_view bytes) {
    const std::size_t size = command.chunks == 0 ? bytes.size() : command.chunks;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) parser.feed(bytes.substr(0, size), sink);
    fed();
  });
  parser.finish(sink);
  return read;
}

int run_stream(ReplyParser& parser, const ReadCommand& command) {
  std::string lines;
  int code = 0;
  const auto flush = [&] {
    if (code == 0 && !lines.empty()) code = print(lines);
    lines.clear();
  };
  const Result<void> read = feed_all(parser, command, [&](const ReplyEvent& event) { lines += line_of(event); }, flush);
  flush();
  return read ? code : report(read.error());
}

int run_message(ReplyParser& parser, const ReadCommand& command) {
  ReplyMessage message;
  const Result<void> read = feed_all(parser, command, [&](const ReplyEvent& event) { message.add(event); }, [] {});
  if (!read) return report(read.error());
  return print(message.to_json() + "\n");
}

int run_conversation(const ReplyFormat& format, const ReadCommand& command) {
  std::string text;
  if (auto read = read_pieces(command.reply, [&](std::string_view bytes) { text += bytes; }); !read) return report(read.error());
  const Result<std::string> request = read_conversation(format, text);
  return request ? print(*request + "\n") : report(request.error());
}

int run_read(const ReadCommand& command) {
  const Result<ReplyFormat> format = format_of(command);
  if (!format) return report(format.error());
  if (command.conversation && (command.stream || command.chunks != 0)) {
    return report(usage("--conversation reads a whole prompt: it goes with neither --stream nor --chunks"));
  }
  if (command.show_format) return print(format->to_json() + "\n");
  if (command.conversation) return run_conversation(*format, command);
  ReplyParser parser(*format);
  return command.stream ? run_stream(parser, command) : run_message(parser, command);
}

constexpr const char* kFooter = R"(Examples:
  parlance read -f chatml reply.txt            the message, with finish_reason and diagnostics
  ollama run … | parlance read -f rnj-1 --stream   an event a line, as soon as it is certain
  parlance read -f chatglm3 --conversation prompt.txt   the request that renders to this prompt)";

}  // namespace

Run declare_read(CLI::App& app) {
  auto command = std::make_shared<ReadCommand>();
  ReadCommand& c = *command;
  app.footer(kFooter);
  app.add_option("REPLY", c.reply, "What the model wrote; - or nothing: standard input");
  app.add_option("-f,--format", c.format, "A built-in format")->type_name("NAME");
  app.add_option("-t,--template", c.template_file, "A template (not yet)")->type_name("FILE");
  app.add_option("-m,--model", c.model, "A model (not yet)")->type_name("MODEL");
  app.add_flag("--stream", c.stream, "Print events, one JSON object a line");
  app.add_option("--chunks", c.chunks, "Feed this many bytes at a time; the result is the same")->type_name("N")->check(CLI::PositiveNumber);
  app.add_flag("--conversation", c.conversation, "Read a whole prompt, and print it as a request");
  app.add_flag("--show-format", c.show_format, "Print how the format's replies are written, as JSON");
  return [command] { return run_read(*command); };
}

}  // namespace parlance::cli
