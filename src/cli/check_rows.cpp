// Turns of data sets, read back. Begin reading at CheckedRow::check.
#include "cli/check_rows.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "cli/report.h"
#include "json/json.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/reply.h"

namespace parlance::cli {
namespace {

std::string_view trimmed_text(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// Whether both are the same JSON; members of objects may stand in another order.
bool is_same(Value a, Value b) {
  if (a.is(Kind::dict) && b.is(Kind::dict)) {
    if (a.members().size() != b.members().size()) return false;
    return std::ranges::all_of(a.members(), [&](const DictEntry& one) {
      const Value other = b[one.key.text()];
      return !other.is_undefined() && is_same(one.value, other);
    });
  }
  if (a.is_sequence() && b.is_sequence()) return std::ranges::equal(a.items(), b.items(), is_same);
  return json_text(a) == json_text(b);
}

/// Arguments may be JSON in a text.
bool are_same_arguments(Value wanted, Value read) {
  Document wanted_text, read_text;
  if (wanted.is_string() && wanted_text.parse(wanted.text())) wanted = wanted_text.root();
  if (read.is_string() && read_text.parse(read.text())) read = read_text.root();
  return is_same(wanted, read);
}

/// A text, or the texts of parts.
std::string said_by(Value content) {
  if (content.is_string()) return std::string(content.text());
  std::string all;
  if (!content.is_sequence()) return all;
  for (const Value& part : content.items()) {
    if (part.is_string()) all += part.text();
    if (const Value text = part["text"]; text.is_string()) all += text.text();
  }
  return all;
}

std::string reasoning_of(Value message) {
  for (const char* const name : {"reasoning_content", "reasoning", "thinking"})
    if (const Value said = message[name]; said.is_string()) return std::string(said.text());
  return {};
}

/// A call's function or custom tool, or the call itself.
Value inner_of(Value call) {
  for (const char* const name : {"function", "custom"})
    if (const Value inner = call[name]; inner.is(Kind::dict)) return inner;
  return call;
}

struct Fault {
  std::size_t message;
  std::string_view part;
  std::string wanted, read;
};

class CheckedRow {
 public:
  CheckedRow(const PromptSetup& setup, Value row) : setup_(setup), row_(row) {}

  Result<void> check() {
    const std::span<const Value> messages = row_["messages"].items();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i]["role"].text() != "assistant") continue;
      ++turns_;
      if (Result<void> done = check_turn(i); !done) return done;
    }
    return {};
  }
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
  std::string request_of(std::size_t count) const {
    JsonWriter request('{'), messages('[');
    for (const Value& message : row_["messages"].items().first(count)) messages.item(json_text(message));
    request.raw("messages", messages.take());
    for (const DictEntry& member : row_.members()) {
      const std::string_view name = member.key.text();
      if (name != "id" && name != "messages" && name != "add_generation_prompt")
        request.raw(name, json_text(member.value));
    }
    return request.take();
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
    const Result<Rendering> rendering = setup_.reader->render(*whole, options);
    if (!rendering) return rendering.error();
    if (rendering->assistant().empty()) {
      faults_.push_back({number, "turn", "a turn", ""});
      return {};
    }
    const std::string_view text = rendering->text();
    const TextRange turn = rendering->assistant().back();
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
    return {};
  }
  void compare(std::size_t number, Value wanted, const ReplyMessage& read) {
    const auto compare_texts = [&](std::string_view part, const std::string& one, const std::string& other) {
      if (trimmed_text(one) != trimmed_text(other)) faults_.push_back({number, part, one, other});
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
  Value row_;
  std::int64_t turns_ = 0;
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
    std::string parts;
    for (const auto& [part, count] : parts_)
      parts.append(parts.empty() ? "" : ", ").append(std::to_string(count)).append(" × ").append(part);
    say_note(std::to_string(rows_) + " of " + std::to_string(lines) +
             " lines have a turn that does not read back as its message: " + parts + "; `faults` of each names it");
  }

 private:
  std::mutex mutex_;
  std::uint64_t rows_ = 0;
  std::map<std::string_view, std::uint64_t> parts_;
};

Result<void> check_row(const PromptSetup& setup, FaultsOfRows& all, const BulkLine& line, BulkAnswer& answer) {
  Document document;
  if (Result<void> parsed = document.parse(line.text); !parsed) return parsed;
  const Value row = document.root();
  if (!row.is(Kind::dict)) return Error(ErrorCode::conversation, "a line is not an object");
  if (const Value id = row["id"]; !id.is_undefined()) answer.id = strict_json_text(id);
  if (!row["messages"].is_sequence()) {
    return Error(ErrorCode::conversation, "a line needs `messages`, a list")
        .hint("parlance convert --as openai --bare --jsonl makes `messages` of other forms");
  }
  CheckedRow checked(setup, row);
  if (Result<void> done = checked.check(); !done) return done;
  all.add(checked.faults());
  answer.members = checked.members();
  return {};
}

}  // namespace

int check_rows(const std::string& input, const PromptSetup& setup, const LineWish& lines, const LossWish& losses) {
  FaultsOfRows faults;
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) {
    return check_row(setup, faults, line, answer);
  };
  const LineRun run = [&](const BulkInput& from, const BulkOutput& output, const BulkOptions& options) {
    Result<BulkProgress> done = each_line(worker)(from, output, options);
    if (done) faults.report(done->lines);
    return done;
  };
  const int code = run_lines(input, lines, setup, losses, run);
  return code == 0 && faults.any() ? 1 : code;
}

}  // namespace parlance::cli
