// Writes a transcript as a page. Begin reading at transcript_page.
#include "cli/agent/transcript_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/agent/agent_screen.h"
#include "cli/segments.h"
#include "parlance/json.h"
#include "serve/capture/reader.h"

namespace parlance::cli {
namespace {

constexpr std::string_view kTranscriptStyle = R"(
:root { color-scheme: light dark; --line: #8884; --dim: #6b7280; --good: #15803d; --bad: #b91c1c; --warn: #b45309; }
@media (prefers-color-scheme: dark) { :root { --dim: #9ca3af; --good: #4ade80; --bad: #f87171; --warn: #fbbf24; } }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin-bottom: .2rem; }
.facts, .figures, summary { color: var(--dim); font-size: .85rem; font-variant-numeric: tabular-nums; }
section { border-top: 1px solid var(--line); padding: .8rem 0; }
pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; }
.reasoning { color: var(--dim); border-left: 3px solid var(--line); padding-left: .8rem; white-space: pre-wrap; }
.content, .told { white-space: pre-wrap; }
.told { color: var(--warn); }
.call { background: #8881; border-radius: 6px; padding: .1rem .8rem; margin: .6rem 0; }
.good { color: var(--good); }
.bad { color: var(--bad); }
)";

std::string escaped(std::string_view text) {
  std::string out;
  append_segment(out, text, true);
  return out;
}

void add_block(std::string& out, std::string_view tag, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  out.append("<").append(tag).append(" class=\"").append(name).append("\">").append(escaped(text));
  out.append("</").append(tag).append(">\n");
}

bool is_set(Value flag) { return flag.is(Kind::boolean) && flag.integer != 0; }

void add_begin(std::string& out, Value record) {
  out.append("<h1>").append(escaped(record["goal"].text())).append("</h1>\n<p class=\"facts\">");
  out.append(escaped(record["time"].text())).append(" · ").append(escaped(record["session"].text()));
  for (const std::string_view name : {"workspace", "sandbox", "backend"}) {
    const Value fact = record["settings"][name];
    if (!fact.text().empty()) out.append(" · ").append(name).append(": ").append(escaped(fact.text()));
  }
  out += "</p>\n";
}

void add_turn(std::string& out, Value record, std::size_t number) {
  const auto count = [&record](std::string_view name) { return std::to_string(serve::number_in(record[name])); };
  out.append("<section id=\"turn-").append(std::to_string(number)).append("\">\n");
  Document request;  // what the agent told the model besides results
  if (number > 1 && request.parse(record["request"].text())) {
    for (const Value& message : request.root()["messages"].items())
      if (message["role"].text() == "user") add_block(out, "p", "told", message["content"].text());
  }
  const Value message = record["reply"]["message"];
  add_block(out, "div", "reasoning", message["reasoning_content"].text());
  add_block(out, "div", "content", message["content"].text());
  out.append("<p class=\"figures\">turn ").append(std::to_string(number)).append(" · ");
  out.append(std::to_string(serve::number_in(record["prompt"]["tokens"])))
      .append(" tokens of prompt, ")
      .append(count("reused"));
  out.append(" of them of the turn before · ").append(std::to_string(record["sampled"].items().size()));
  out.append(" sampled</p>\n");
  if (record["prefix_break"].is(Kind::dict)) add_block(out, "p", "told", record["prefix_break"]["sentence"].text());
  out += "</section>\n";
}

std::string call_of(Value record) { return escaped(command_of(record["name"].text(), record["arguments"].text())); }

/// A call that had begun, and of which nothing more is there.
void add_open_call(std::string& out, std::string_view call) {
  out.append("<div class=\"call\"><pre><span class=\"bad\">?</span> ").append(call).append("</pre>\n");
  out.append("<p class=\"told\">its end is not recorded</p></div>\n");
}

void add_end(std::string& out, Value record) {
  const bool good = record["reason"].text() == name_of(AgentEnd::Reason::done);
  out.append("<section class=\"end\">\n<p><span class=\"").append(good ? "good\">✓" : "bad\">✗").append("</span> ");
  out.append(escaped(record["sentence"].text())).append("</p>\n<p class=\"figures\">");
  out.append(escaped(record["reason"].text())).append(" · ").append(escaped(record["time"].text())).append(" · ");
  out.append(std::to_string(serve::number_in(record["turns"]))).append(" turns · ");
  out.append(std::to_string(serve::number_in(record["sampled_tokens"]))).append(" sampled</p>\n</section>\n");
}

void add_tool(std::string& out, Value record) {
  const bool good = is_set(record["succeeded"]);
  out.append("<div class=\"call\"><pre><span class=\"").append(good ? "good\">✓" : "bad\">✗").append("</span> ");
  out.append(call_of(record)).append("</pre>\n<details open><summary>").append(escaped(record["name"].text()));
  const std::string_view changed = is_set(record["maybe_changed"]) ? ", maybe files changed" : ", files changed";
  out.append(is_set(record["changed"]) ? changed : "").append("</summary>");
  out.append("<pre>").append(escaped(record["text"].text())).append("</pre></details></div>\n");
}

/// The body, record by record.
class Body {
 public:
  void add(const serve::CaptureRecord& record);
  /// What is there, with what came to no end.
  std::string take();
  const std::string& title() const { return title_; }

 private:
  void add_call(Value record);
  void add_open_calls();

  std::string text_, title_;
  std::size_t turns_ = 0;
  std::vector<std::pair<std::string, std::string>> open_;  ///< calls by id that had begun
  bool has_end_ = false;
};

void Body::add_open_calls() {
  for (const auto& [id, call] : open_) add_open_call(text_, call);
  open_.clear();
}

void Body::add_call(Value record) {
  const std::string id(record["id"].text());
  const auto is_it = [&id](const auto& one) { return one.first == id; };
  const auto begun = std::find_if(open_.begin(), open_.end(), is_it);
  if (record["state"].text() == "begin") {
    if (begun != open_.end()) add_open_calls();  // it began once before
    open_.emplace_back(id, call_of(record));
  } else {
    if (begun != open_.end()) open_.erase(begun);
    add_tool(text_, record);
  }
}

void Body::add(const serve::CaptureRecord& record) {
  const Value root = record.root();
  if (record.kind() == "agent") {
    title_ = escaped(root["goal"].text());
    add_begin(text_, root);
  }
  if (record.kind() == "turn" || record.kind() == "tool") has_end_ = false;
  if (record.kind() == "tool") add_call(root);
  if (record.kind() != "turn" && record.kind() != "end") return;
  add_open_calls();
  has_end_ = record.kind() == "end";
  has_end_ ? add_end(text_, root) : add_turn(text_, root, ++turns_);
}

std::string Body::take() {
  add_open_calls();
  if (!has_end_) text_ += "<section class=\"end\"><p class=\"told\">How the run ended is not recorded.</p></section>\n";
  return std::move(text_);
}

}  // namespace

Result<std::string> transcript_page(const std::string& file) {
  const Result<serve::CaptureText> text = serve::read_capture(file);
  if (!text) return text.error();
  Body body;
  for (const serve::CaptureRecord& record : text->records) body.add(record);
  const std::string title = body.title();
  if (title.empty())
    return Error(ErrorCode::conversation, file + " is no transcript of an agent")
        .hint("parlance agent names its transcript when it begins");
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
  page.append("<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
      .append(title)
      .append("</title>\n<style>");
  page.append(kTranscriptStyle).append("</style>\n</head>\n<body>\n").append(body.take());
  return page.append("</body>\n</html>\n");
}

}  // namespace parlance::cli
