// Shows an agent at work. Begin reading at People::show and Programs::show.
#include "cli/agent/agent_screen.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "agent/tools/own_tools.h"
#include "base/one_line.h"
#include "cli/agent/marked_text.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/reply.h"

namespace parlance::cli {
namespace {

int failure = 0;  // of writing, as screen_failure() says it

void to_screen(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && failure == 0) failure = errno;
}

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

constexpr std::string_view kDim = "\033[2m", kBold = "\033[1m", kRed = "\033[31m", kGreen = "\033[32m",
                           kYellow = "\033[33m", kCyan = "\033[36m", kPlain = "\033[0m";

class People : public AgentScreen {
 public:
  explicit People(bool colors) : colors_(colors) {}
  void begin(std::string_view goal, const std::vector<std::string>& facts) override;
  void show(const AgentEvent& event) override;
  void output(std::string_view bytes, bool is_error) override;
  void output_end(bool, std::string_view) override {}
  void note(std::string_view text) override {
    line_break();
    say(kYellow, std::string(text) + "\n");
    flush_screen();
  }
  void end(const AgentEnd& end) override;

 private:
  void put_event(const AgentEvent& event);
  void piece(const ReplyEvent& event);
  void replied(const AgentReply& reply);
  void outcome(const AgentEvent& event);
  /// A line of ours, which may have others' text in it.
  void say(std::string_view style, std::string_view text) {
    put(style, text, MarkedText::Line::own, columns_of(STDOUT_FILENO));
  }
  /// One that has none, and that the terminal may break where it likes: a path in it can be copied.
  void state(std::string_view text) { put(kDim, text, MarkedText::Line::own, 0); }
  /// What a model or a command says: it must neither control the terminal nor look like a line of ours.
  void quote(std::string_view style, std::string_view text) {
    put(style, text, MarkedText::Line::quoted, columns_of(STDOUT_FILENO));
  }
  void put(std::string_view style, std::string_view text, MarkedText::Line line, std::size_t columns);
  void line_break() { to_screen(text_.line_break()); }

  const bool colors_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  MarkedText text_;
  bool was_reasoning_ = false;
  bool was_called_ = false;
  unsigned turn_ = 0;
  std::size_t prompt_ = 0, reused_ = 0, sampled_ = 0;
};

void People::put(std::string_view style, std::string_view text, MarkedText::Line line, std::size_t columns) {
  if (text.empty()) return;
  to_screen(colors_ ? text_.add(text, line, columns, style, kPlain) : text_.add(text, line, columns));
}

void People::begin(std::string_view goal, const std::vector<std::string>& facts) {
  say(kBold, std::string(goal) + "\n");
  for (const std::string& fact : facts) state(fact + "\n");
  flush_screen();
}

void People::piece(const ReplyEvent& event) {
  using Kind = ReplyEvent::Kind;
  if (event.kind != Kind::reasoning && event.kind != Kind::content) return;
  if (event.kind == Kind::content && was_reasoning_) line_break();
  was_reasoning_ = event.kind == Kind::reasoning;
  quote(was_reasoning_ ? kDim : kPlain, event.text);
}

/// The line of figures.
void People::replied(const AgentReply& reply) {
  prompt_ += reply.prompt_tokens;
  sampled_ += reply.sampled_tokens;
  reused_ += reply.evaluated_tokens ? reply.prompt_tokens - std::min(reply.prompt_tokens, *reply.evaluated_tokens)
                                    : reply.reused_tokens;
  line_break();
  char text[160];
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  std::snprintf(text, sizeof text, "── turn %u · %zu tokens of prompt, %zu of them cached · %zu sampled · %.1f s\n",
                turn_, reply.prompt_tokens,
                reply.evaluated_tokens ? reply.prompt_tokens - std::min(reply.prompt_tokens, *reply.evaluated_tokens)
                                       : reply.reused_tokens,
                reply.sampled_tokens, seconds);
  say(kDim, text);
  if (!reply.prefix_break.empty()) say(kYellow, "the cache is lost: " + reply.prefix_break + "\n");
}

void People::show(const AgentEvent& event) {
  turn_ = event.turn;
  put_event(event);
  if (event.kind != AgentEvent::Kind::reply) flush_screen();
}

void People::put_event(const AgentEvent& event) {
  using Kind = AgentEvent::Kind;
  switch (event.kind) {
    case Kind::turn: break;
    case Kind::reply: piece(*event.reply); break;
    case Kind::replied: replied(*event.replied); break;
    case Kind::call:
      line_break();
      was_called_ = true;
      say(kCyan, "▶ " + command_of(event.name, event.arguments) + "\n");
      break;
    case Kind::outcome:
      line_break();
      outcome(event);
      break;
    case Kind::refused:
    case Kind::unreadable:
    case Kind::repeated: say(kYellow, std::string(event.text) + "\n"); break;
    case Kind::compacted:
      say(kYellow,
          "the context is full: " +
              (event.compaction->count == 0 ? event.compaction->note
                                            : std::to_string(event.compaction->count) + " messages were left out") +
              ", about " + std::to_string(event.compaction->freed_tokens) + " tokens\n");
      break;
  }
}

/// What became of a call; of one that did not run, also which it was.
void People::outcome(const AgentEvent& event) {
  if (!was_called_) say(kCyan, "▶ " + command_of(event.name, event.arguments) + "\n");
  const ToolOutcome& outcome = *event.outcome;
  const bool is_shown = !outcome.status.empty();  // its output, as it came
  if (!is_shown) quote(kPlain, outcome.text);
  line_break();
  for (std::size_t at = 0; is_shown && at < outcome.notes.size(); ++at) say(kYellow, "[" + outcome.notes[at] + "]\n");
  say(outcome.succeeded ? kGreen : kRed, outcome.succeeded ? "✓" : "✗");
  const std::string changed = outcome.maybe_changed ? " (maybe files changed)" : " (files changed)";
  say(kDim, " " + (is_shown ? outcome.status : std::string(event.name)) + (outcome.changed ? changed : "") + "\n");
  was_called_ = false;
}

void People::output(std::string_view bytes, bool is_error) {
  quote(is_error ? kRed : kPlain, bytes);
  flush_screen();
}

void People::end(const AgentEnd& end) {
  line_break();
  const bool is_done = end.reason == AgentEnd::Reason::done;
  say(is_done ? kGreen : kRed, (is_done ? "✓ " : "✗ ") + end.sentence + "\n");
  say(kDim, std::to_string(end.turns) + (end.turns == 1 ? " turn, " : " turns, ") + std::to_string(prompt_) +
                " tokens of prompts, of which " + std::to_string(reused_) + " were cached, " +
                std::to_string(sampled_) + " sampled\n");
  flush_screen();
}

class Programs : public AgentScreen {
 public:
  void begin(std::string_view goal, const std::vector<std::string>& facts) override {
    JsonWriter list('[');
    for (const std::string& fact : facts) list.item_text(fact);
    line(JsonWriter('{').text("event", "begin").text("goal", goal).raw("facts", list.take()));
    flush_screen();
  }
  void show(const AgentEvent& event) override;
  void output(std::string_view bytes, bool is_error) override;
  void output_end(bool is_error, std::string_view file) override;
  void note(std::string_view text) override {
    line(JsonWriter('{').text("event", "note").text("text", text));
    flush_screen();
  }
  void end(const AgentEnd& end) override {
    JsonWriter made('{');
    made.text("event", "end").text("reason", name_of(end.reason)).text("sentence", end.sentence);
    made.text("answer", end.answer).number("turns", end.turns).number("sampled_tokens", whole(end.sampled_tokens));
    line(made);
    flush_screen();
  }

 private:
  static void line(JsonWriter& made) { to_screen(one_line(made.take()) + "\n"); }
  static void line(JsonWriter&& made) { line(made); }
  static void add(JsonWriter& made, const AgentEvent& event);
  static JsonWriter of_output(bool is_error, std::string_view text) {
    JsonWriter made('{');
    made.text("event", "output").text("stream", is_error ? "stderr" : "stdout").text("text", text);
    return made;
  }

  // Of the call that runs, of stdout and of stderr: bytes of lines with output, and bytes of output that are in none.
  std::size_t printed_[2]{}, left_out_[2]{};
};

/// Of each stream of a call a program gets the first part as it comes: a command may print without end.
void Programs::output(std::string_view bytes, bool is_error) {
  constexpr std::size_t kMostPrinted = 1 << 20;
  if (left_out_[is_error] == 0 && printed_[is_error] < kMostPrinted) {
    const std::string text = of_output(is_error, bytes).take();
    printed_[is_error] += text.size();
    to_screen(one_line(text) + "\n");
    flush_screen();
  } else {
    left_out_[is_error] += bytes.size();
  }
}

void Programs::output_end(bool is_error, std::string_view file) {
  const std::size_t left_out = std::exchange(left_out_[is_error], 0);
  if (left_out == 0) return;
  JsonWriter made = of_output(is_error, "");
  made.number("left_out", whole(left_out));
  if (!file.empty()) made.text("file", file);
  line(made);
  flush_screen();
}

void Programs::add(JsonWriter& made, const AgentEvent& event) {
  if (event.reply != nullptr) {
    made.text("kind", name_of(event.reply->kind)).text("text", event.reply->text);
    if (!event.reply->detail.empty()) made.text("detail", event.reply->detail);
  }
  if (const AgentReply* reply = event.replied) {
    made.number("prompt_tokens", whole(reply->prompt_tokens)).number("reused_tokens", whole(reply->reused_tokens));
    if (reply->evaluated_tokens) made.number("evaluated_tokens", whole(*reply->evaluated_tokens));
    made.number("sampled_tokens", whole(reply->sampled_tokens)).raw("message", reply->message.message_json());
    made.flag("malformed", !reply->message.diagnostics.empty());
    reply->prefix_break.empty() ? made.null("prefix_break") : made.text("prefix_break", reply->prefix_break);
  }
  if (!event.id.empty()) made.text("id", event.id).text("name", event.name).text("arguments", event.arguments);
  if (!event.text.empty() || event.outcome != nullptr) made.text("text", event.text);
  if (const ToolOutcome* outcome = event.outcome)
    made.flag("succeeded", outcome->succeeded)
        .flag("changed", outcome->changed)
        .flag("maybe_changed", outcome->maybe_changed);
  if (const AgentEvent::Compaction* compaction = event.compaction) {
    made.number("first", whole(compaction->first)).number("count", whole(compaction->count));
    made.number("kept_tokens", whole(compaction->kept_tokens)).number("freed_tokens", whole(compaction->freed_tokens));
  }
}

void Programs::show(const AgentEvent& event) {
  if (event.kind == AgentEvent::Kind::call) printed_[0] = printed_[1] = 0;
  JsonWriter made('{');
  made.text("event", name_of(event.kind)).number("turn", event.turn);
  add(made, event);
  line(made);
  if (event.kind != AgentEvent::Kind::reply) flush_screen();
}

}  // namespace

std::string command_of(std::string_view name, std::string_view arguments) {
  const auto own = std::ranges::find(agent::kOwnTools, name, &agent::OwnTool::name);
  Document given;
  if (own != agent::kOwnTools.end() && given.parse(arguments) && given.root().members().size() == 1 &&
      given.root()[own->argument].is_string())
    return std::string(given.root()[own->argument].text());
  return std::string(name).append(" ").append(arguments);
}

void flush_screen() {
  if (std::fflush(stdout) != 0 && failure == 0) failure = errno;
}

int screen_failure() { return failure; }
std::unique_ptr<AgentScreen> screen_for_people(bool colors) { return std::make_unique<People>(colors); }
std::unique_ptr<AgentScreen> screen_for_programs() { return std::make_unique<Programs>(); }

}  // namespace parlance::cli
