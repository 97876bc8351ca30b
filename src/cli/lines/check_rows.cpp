// Turns of data sets, read back. Begin reading at CheckedRow::check.
#include "cli/lines/check_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "base/reasoning_names.h"
#include "cli/lines/row.h"
#include "cli/odd_roles.h"
#include "cli/report.h"
#include "json/json.h"
#include "json/same.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/losses.h"
#include "parlance/reply.h"

namespace parlance::cli {
namespace {

/// Arguments may be JSON in a text.
bool are_same_arguments(Value wanted, Value read) {
  Document wanted_text, read_text;
  if (wanted.is_string() && wanted_text.parse(whole_text(wanted))) wanted = wanted_text.root();
  if (read.is_string() && read_text.parse(whole_text(read))) read = read_text.root();
  return same_json(wanted, read);
}

/// A text, or the texts of parts. Passes may have joined parts to a rope.
std::string said_by(Value content) {
  if (content.is_string()) return whole_text(content);
  std::string all;
  if (!content.is_sequence()) return all;
  for (const Value& part : content.items()) {
    if (part.is_string()) all += whole_text(part);
    if (const Value text = part["text"]; text.is_string()) all += whole_text(text);
  }
  return all;
}

std::string reasoning_of(Value message) {
  for (const std::string_view name : kReasoningNames)
    if (const Value said = message[name]; said.is_string()) return whole_text(said);
  return {};
}

/// A call's function or custom tool, or the call itself.
Value inner_of(Value call) {
  for (const char* const name : {"function", "custom"})
    if (const Value inner = call[name]; inner.is(Kind::dict)) return inner;
  return call;
}

/// What of a message is not in the prompt, under whatever name it has it: `messages[1].thinking_blocks[0].thinking`.
bool is_lost_of(const Loss& loss, const std::string& message) {
  constexpr std::string_view kParts[] = {"message", "part", "call", "argument"};
  return loss.kind == LossKind::lost && std::ranges::find(kParts, loss.subject) != std::end(kParts) &&
         loss.path.starts_with(message) && loss.path.substr(message.size()).find_first_of(".[") == 0;
}

/// The part that comparing would find missing; "": it does not look at this member.
std::string_view compared_part(std::string_view member) {
  const std::string_view name = member.substr(1, member.find_first_of(".[", 1) - 1);
  return name == "content" ? "content" : name == "tool_calls" ? "calls" : is_reasoning_name(name) ? "reasoning" : "";
}

struct Fault {
  std::size_t message;
  std::string_view part;
  std::string wanted, read;
};

/// What finds losses, for requests without and with tools.
struct LossFinders {
  explicit LossFinders(const RequestReader& reader) {
    for (const bool with_tools : {false, true})
      if (const Result<Template>& compiled = reader.chat_template(with_tools))
        of[with_tools ? 1 : 0].emplace(*compiled, LossOptions{.left_out = false});
  }
  std::optional<LossFinder> of[2];
};

class CheckedRow {
 public:
  CheckedRow(const PromptSetup& setup, const LossFinders& finders, Value row)
      : setup_(setup), finders_(finders), row_(row) {}

  Result<void> check() {
    const std::span<const Value> messages = row_["messages"].items();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (!is_learnt_turn(messages[i])) continue;
      ++turns_;
      if (Result<void> done = check_turn(i); !done) return done;
    }
    return {};
  }
  std::size_t turns() const { return turns_; }
  const std::vector<Fault>& faults() const { return faults_; }
  std::string members() const {
    JsonWriter list('[');
    for (const Fault& fault : faults_) {
      JsonWriter one('{');
      one.number("message", static_cast<std::int64_t>(fault.message)).text("part", fault.part);
      one.text("wanted", fault.wanted).text("read", fault.read);
      list.item(one.take());
    }
    return "\"turns\": " + std::to_string(turns_) + ", \"holds\": " + (faults_.empty() ? "true" : "false") +
           ", \"faults\": " + list.take();
  }

 private:
  /// The row with its first messages.
  std::string request_of(std::size_t count) const { return request_of_row(row_, {"add_generation_prompt"}, count); }
  /// With what it lost.
  Result<CheckedRendering> render(const Conversation& conversation, const RenderOptions& options) const {
    const bool with_tools = has_tools(conversation);
    const std::optional<LossFinder>& finder = finders_.of[with_tools ? 1 : 0];
    if (!finder) return setup_.reader->chat_template(with_tools).error();
    Workspace workspace;
    return finder->render(conversation, options, workspace);
  }
  /// The turn is the last range of the assistant's, which is what training learns of it. What stands before it is its
  /// prompt, whatever the template opens where a model is to write.
  Result<void> check_turn(std::size_t number) {
    Result<ChatRequest> before = setup_.reader->consume(request_of(number));
    if (!before) return before.error();
    Result<ChatRequest> whole = setup_.reader->consume(request_of(number + 1));
    if (!whole) return whole.error();
    RenderOptions options = setup_.render;
    options.add_generation_prompt = false;
    options.want_assistant = true;
    const Result<CheckedRendering> checked = render(whole->conversation, options);
    if (!checked) return checked.error();
    const Rendering& rendering = checked->rendering;
    if (rendering.assistant().empty()) {
      faults_.push_back({number, "turn", "a turn", ""});
      return {};
    }
    const std::string_view text = rendering.text();
    const TextRange turn = rendering.assistant().back();
    options.add_generation_prompt = true;
    Result<ReplyStart> start = setup_.reader->reply_to(before->conversation, options, text.substr(0, turn.begin));
    if (!start) return start.error();
    if (!has_tools(whole->conversation)) start->options.tools = {};  // nobody says what may be called
    const std::string_view reply = text.substr(turn.begin, turn.end - turn.begin);
    ReplyMessage read;
    const auto sink = [&read](const ReplyEvent& event) { read.add(event); };
    ReplyParser parser(start->format, start->options);
    parser.feed(reply, sink);
    parser.finish(sink);
    compare(number, whole->conversation.messages().items().back(), read);
    add_losses(number, checked->losses);
    return {};
  }
  /// What the comparison does not know: a member of another name, or one that a pass took away before the template.
  void add_losses(std::size_t number, const std::vector<Loss>& losses) {
    const std::string message = "messages[" + std::to_string(number) + "]";
    for (const Loss& loss : losses) {
      if (!is_lost_of(loss, message)) continue;
      const std::string_view part = compared_part(std::string_view(loss.path).substr(message.size()));
      const bool is_known =
          std::ranges::any_of(faults_, [&](const Fault& one) { return one.message == number && one.part == part; });
      if (!is_known) faults_.push_back({number, "lost", loss.path, loss.sentence});
    }
  }
  void compare(std::size_t number, Value wanted, const ReplyMessage& read) {
    const auto compare_texts = [&](std::string_view part, const std::string& one, const std::string& other) {
      if (ascii::trimmed(one) != ascii::trimmed(other)) faults_.push_back({number, part, one, other});
    };
    compare_texts("content", said_by(wanted["content"]), read.content);
    compare_texts("reasoning", reasoning_of(wanted), read.reasoning);
    Document document;
    (void)document.parse(read.message_json());
    compare_calls(number, wanted["tool_calls"], document.root()["tool_calls"]);
    for (const ReplyDiagnostic& one : read.diagnostics) {
      // Some templates write the end of a turn only where the next one begins; a call that is cut is another call.
      if (one.fault != ReplyEvent::Fault::cut)
        faults_.push_back({number, "form", one.expected, std::string(name_of(one.fault))});
    }
  }
  void compare_calls(std::size_t number, Value wanted, Value read) {
    const std::span<const Value> ours = wanted.is_sequence() ? wanted.items() : std::span<const Value>();
    const std::span<const Value> theirs = read.is_sequence() ? read.items() : std::span<const Value>();
    const bool are_same = std::ranges::equal(ours, theirs, [](const Value& a, const Value& b) {
      const Value one = inner_of(a), other = inner_of(b);
      const char* const what = one["input"].is_undefined() ? "arguments" : "input";
      return one["name"].text() == other["name"].text() && are_same_arguments(one[what], other[what]);
    });
    if (!are_same)
      faults_.push_back(
          {number, "calls", ours.empty() ? "[]" : json_text(wanted), theirs.empty() ? "[]" : json_text(read)});
  }

  const PromptSetup& setup_;
  const LossFinders& finders_;
  Value row_;
  std::size_t turns_ = 0;
  std::vector<Fault> faults_;
};

/// Which parts of how many rows do not read back.   Threads: any may add.
class FaultsOfRows {
 public:
  void add(const std::vector<Fault>& faults) {
    if (faults.empty()) return;
    const std::lock_guard lock(mutex_);
    ++rows_;
    for (const Fault& fault : faults) ++parts_[fault.part];
  }
  bool any() const { return rows_ != 0; }
  void report(std::uint64_t lines) const {
    if (rows_ == 0) return;
    say_note(std::to_string(rows_) + " of " + std::to_string(lines) +
             " lines have a turn that does not read back as its message: " + list_of(parts_) +
             "; `faults` of each names it");
  }

 private:
  std::mutex mutex_;
  std::uint64_t rows_ = 0;
  std::map<std::string_view, std::uint64_t> parts_;
};

/// What all rows share.
struct RowsToCheck {
  explicit RowsToCheck(const PromptSetup& setup) : setup(setup), finders(*setup.reader), roles(setup.model) {}

  Result<void> check(const BulkLine& line, BulkAnswer& answer) {
    Document document;
    const Result<Value> row = open_row(document, line, answer);
    if (!row) return row.error();
    const Result<ChatRequest> read = read_row(*setup.reader, *row);
    if (!read) return without_reading_options(read.error());
    CheckedRow checked(setup, finders, *row);
    if (Result<void> done = checked.check(); !done) return done;
    faults.add(checked.faults());
    roles.add(read->conversation, checked.turns());
    answer.members = checked.members();
    return {};
  }

  const PromptSetup& setup;
  const LossFinders finders;
  FaultsOfRows faults;
  OddRoles roles;
};

}  // namespace

int check_rows(const std::string& input, const PromptSetup& setup, const LineWish& lines, const LossWish& losses) {
  RowsToCheck rows(setup);
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) { return rows.check(line, answer); };
  const LineRun run = [&](const BulkInput& from, const BulkOutput& output, const BulkOptions& options) {
    Result<BulkProgress> done = each_line(worker)(from, output, options);
    if (done && !losses.quiet) rows.faults.report(done->lines);
    if (done && !losses.quiet) rows.roles.report(done->lines);
    return done;
  };
  const int code = run_lines(input, lines, setup, losses, run);
  return code == 0 && rows.faults.any() ? 1 : code;
}

}  // namespace parlance::cli
