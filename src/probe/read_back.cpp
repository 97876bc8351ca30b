// Reading turns back. Begin reading at ReadBack::compare.
#include "probe/read_back.h"

#include <algorithm>

#include "json/json.h"
#include "parlance/json.h"
#include "probe/prompt_diff.h"
#include "value/runtime.h"

namespace parlance::probe {
namespace {

bool holds_text(std::string_view body, std::string_view text) {
  return !text.empty() && body.find(text) != std::string_view::npos;
}

/// Kinds of events whose texts are one text however the reply is cut: events() joins them, so that two ways to cut can
/// be compared.
bool may_join(ReplyEvent::Kind kind) {
  using Kind = ReplyEvent::Kind;
  return kind == Kind::content || kind == Kind::reasoning || kind == Kind::arguments || kind == Kind::broken ||
         kind == Kind::marker || kind == Kind::trailing;
}

/// What differs between two texts, as a sentence.
void expect(std::vector<std::string>& wrong, std::string_view what, std::string_view found, std::string_view wanted) {
  if (found == wanted) return;
  wrong.push_back(std::string(what) + " is '" + shortened(found) + "', not '" + shortened(wanted) + "'");
}

/// Arguments as canonical JSON: order and spaces are the template's, and say nothing about the reading.
void compare_calls(std::vector<std::string>& wrong, const std::vector<SceneCall>& shown, const ReplyMessage& message,
                   bool ids_shown) {
  expect(wrong, "number of calls", std::to_string(message.calls.size()), std::to_string(shown.size()));
  for (std::size_t i = 0; i < std::min(shown.size(), message.calls.size()); ++i) {
    const ReplyCall& call = message.calls[i];
    expect(wrong, "name", call.name, shown[i].name);
    if (!call.complete) wrong.push_back("the call is not complete");
    expect(wrong, "arguments", canonical_json(call.arguments), canonical_json(shown[i].arguments));
    if (ids_shown) expect(wrong, "id", call.id, shown[i].id);
  }
}

/// Special tokens that nobody told stand in prompts as one word. A model would write its own end there.
CompiledReplyFormat with_unknown_end(const ReplyFormat& format) {
  ReplyFormat whole = format;
  ReplyMarker unknown;
  unknown.texts = {std::string(kUnknownToken)};
  whole.end.push_back(unknown);
  Result<CompiledReplyFormat> compiled = CompiledReplyFormat::make(whole);
  if (!compiled) compiled = CompiledReplyFormat::make(format);  // it has as many ends as there may be
  return compiled ? *std::move(compiled) : CompiledReplyFormat();
}

ReplyOptions options_behind(std::string prompt) {
  static const Result<ReplyTools> kTools = ReplyTools::from_json(tools_json());
  ReplyOptions options;
  if (kTools) options.tools = *kTools;
  options.prompt = std::move(prompt);
  return options;
}

}  // namespace

std::string canonical_json(std::string_view json) {
  Document document;
  if (!document.parse(json)) return {};
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  JsonStyle style = kCompactJson;
  style.sort_keys = true;
  append_json(rt, out, document.root(), style);
  return out;
}

ReadBack::ReadBack(const TurnFacts& turn, const ReplyFormat& format)
    : ReadBack(format, behind_last_end(turn, turn.opener)) {}

ReadBack::ReadBack(const ReplyFormat& format, std::string prompt)
    : start_(with_unknown_end(format), options_behind(std::move(prompt))) {}

std::vector<std::string> ReadBack::events(std::string_view body, const std::vector<std::size_t>& sizes,
                                          std::string* sources) const {
  std::vector<std::string> found;
  ReplyEvent::Kind last{};
  const auto sink = [&](const ReplyEvent& event) {
    if (sources != nullptr) *sources += event.source;
    // Joined only to the very last event: a marker between two texts keeps them apart.
    const bool joins = !found.empty() && event.kind == last && may_join(event.kind);
    if (!joins) found.push_back(std::string(name_of(event.kind)) + " ");
    last = event.kind;
    found.back().append(event.text);
    if (!may_join(event.kind)) found.back().append(" ").append(event.detail).append(event.complete ? " complete" : "");
  };
  ReplyParser parser(start_);
  if (sizes.empty()) parser.feed(body, sink);
  for (std::size_t at = 0, i = 0; !sizes.empty() && at < body.size(); ++i) {
    const std::size_t size = sizes[i % sizes.size()];
    parser.feed(body.substr(at, size), sink);
    at += std::min(size, body.size() - at);
  }
  parser.finish(sink);
  return found;
}

ReplyMessage ReadBack::message(std::string_view body, std::size_t* end) const {
  ReplyMessage message;
  ReplyParser parser(start_);
  const auto sink = [&](const ReplyEvent& event) {
    message.add(event);
    if (end != nullptr && event.kind == ReplyEvent::Kind::end) *end = std::min<std::size_t>(*end, event.position);
  };
  parser.feed(body, sink);
  parser.finish(sink);
  return message;
}

ReadBack::Difference ReadBack::compare(const Scene& scene, std::string_view body, bool ids_shown) const {
  Difference found;
  std::size_t end = body.size();
  const ReplyMessage message = this->message(body, &end);
  // What a template writes behind the end of the turn is not the reply's.
  body = body.substr(0, end);
  const bool content = scene.content && holds_text(body, *scene.content);
  const bool reasoning = holds_text(body, scene.reasoning);
  if (scene.content && !scene.content->empty() && !content) found.lost.push_back("the template drops content");
  if (!scene.reasoning.empty() && !reasoning) found.lost.push_back("the template drops reasoning");
  if (content && message.content.empty() && trimmed(message.reasoning) == trimmed(*scene.content)) {
    found.lost.push_back("the template puts an answer inside reasoning");
    found.answer_in_reasoning = true;
    return found;
  }
  // Without white space around: many templates trim texts, and what they lose there no reader can give back.
  expect(found.wrong, "content", trimmed(message.content), content ? trimmed(*scene.content) : "");
  expect(found.wrong, "reasoning", trimmed(message.reasoning), reasoning ? trimmed(scene.reasoning) : "");
  std::vector<SceneCall> shown;
  for (const SceneCall& call : scene.calls) {
    if (holds_text(body, call.name)) shown.push_back(call);
  }
  if (shown.size() < scene.calls.size()) {
    found.lost.push_back("the template shows " + std::to_string(shown.size()) + " of " +
                         std::to_string(scene.calls.size()) + " calls");
  }
  compare_calls(found.wrong, shown, message, ids_shown);
  for (const ReplyDiagnostic& diagnostic : message.diagnostics)
    found.wrong.push_back(diagnostic.expected + " expected");
  return found;
}

}  // namespace parlance::probe
