// Reading the files of tests/replies. Begin reading at load_reply_cases.
#include "reply_cases.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/arena.h"
#include "json/json.h"
#include "parlance/json.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::testing {
namespace {

[[noreturn]] void give_up(const std::string& name, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), why.c_str());
  std::exit(1);
}

std::string text_of(Value of, std::string_view key) {
  const Value* value = member(of, key);
  return value == nullptr ? std::string() : std::string(leaf_text(*value));
}

std::string json_of(Value value) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  append_json(rt, out, value, kPythonJson);
  return out;
}

std::string call_outline(std::string_view name, std::string_view arguments, std::string_view id, bool complete) {
  std::string out = " | " + std::string(name);
  if (!id.empty()) out.append(" (").append(id).append(")");
  out.append(" ").append(arguments);
  return complete ? out : out + " cut";
}

std::string message_outline(std::string_view reasoning, std::string_view content, const std::string& calls,
                            std::int64_t faults) {
  std::string out = "reasoning: " + std::string(reasoning) + " | content: " + std::string(content) + calls;
  return faults == 0 ? out : out + " | faults: " + std::to_string(faults);
}

std::string expected_of(Value message) {
  std::string calls;
  if (const Value* all = member(message, "calls")) {
    for (const Value call : items(*all)) {
      const Value* complete = member(call, "complete");
      calls += call_outline(text_of(call, "name"), text_of(call, "arguments"), text_of(call, "id"),
                            complete == nullptr || complete->integer != 0);
    }
  }
  const Value* faults = member(message, "faults");
  return message_outline(text_of(message, "reasoning"), text_of(message, "content"), calls,
                         faults == nullptr ? 0 : faults->integer);
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) give_up(path.string(), "cannot be read");
  return text.str();
}

/// The file's own tools, or by a name those of a file in tools/ beside it.
ReplyTools tools_of(Value root, const std::filesystem::path& path) {
  const Value* declared = member(root, "tools");
  if (declared == nullptr) return {};
  const bool is_name = declared->is_string();
  const auto beside = path.parent_path() / "tools" / (is_name ? text_of(root, "tools") + ".json" : "");
  auto tools = ReplyTools::from_json(is_name ? text_of_file(beside) : json_of(*declared));
  if (!tools) give_up(path.string(), tools.error().display());
  return std::move(*tools);
}

ReplyCases load(const std::filesystem::path& path) {
  const std::string name = path.stem().string();
  Document document;
  if (auto parsed = document.parse(text_of_file(path), name); !parsed) give_up(name, parsed.error().display());
  const Value root = document.root();
  auto format = ReplyFormat::from_json(json_of(*member(root, "format")), name);
  if (!format) give_up(name, format.error().display());
  ReplyCases cases{name, std::move(*format), {}};
  const ReplyTools tools = tools_of(root, path);
  for (const Value one : items(*member(root, "replies"))) {
    ReplyCase made{{.tools = tools}, text_of(one, "reply"), expected_of(*member(one, "message"))};
    if (member(one, "prompt") != nullptr) made.options.prompt = text_of(one, "prompt");
    cases.cases.push_back(std::move(made));
  }
  return cases;
}

}  // namespace

std::vector<ReplyCases> load_reply_cases(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ReplyCases> all;
  for (const auto& path : paths) all.push_back(load(path));
  return all;
}

std::string outline_of(const ReplyMessage& message) {
  std::string calls;
  for (const ReplyCall& call : message.calls) calls += call_outline(call.name, call.arguments, call.id, call.complete);
  return message_outline(message.reasoning, message.content, calls,
                         static_cast<std::int64_t>(message.diagnostics.size()));
}

const std::vector<ReplyCases>& reply_families() {
  static const std::vector<ReplyCases> all = load_reply_cases(PARLANCE_TESTS "/replies");
  return all;
}

ReplyMessage message_of(const ReplyFormat& format, const ReplyOptions& options, std::string_view reply) {
  ReplyMessage message;
  ReplyParser parser = *ReplyParser::make(format, options);
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message;
}

}  // namespace parlance::testing
