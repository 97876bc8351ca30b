// parlance prefix: where two requests' prompts stop being the same, why, and what that costs a cache.
//
// Begin reading at run_prefix.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/lines/lines.h"
#include "cli/lines/row.h"
#include "cli/losses.h"
#include "cli/odd_roles.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/options/tokenizer_choice.h"
#include "cli/report.h"
#include "cli/tokens_json.h"
#include "json/json.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/session.h"

namespace parlance::cli {
namespace {

struct PrefixCommand {
  PromptOptions prompt;
  TokenizerWish tokenizer;
  TokenizeOptions tokenize;
  std::string before, after;
  bool json = false;
  bool jsonl = false;
  bool check = false;
  LineWish lines;
  LossWish losses;  ///< --fail-on-error, --quiet
};

/// One of the two requests.
struct Side {
  Conversation conversation;
  Rendering rendering;
  std::optional<PromptTokens> tokens;

  PromptView view() const { return {rendering, conversation, tokens ? &*tokens : nullptr}; }
};

struct PrefixSetting {
  PromptSetup prompt;
  std::unique_ptr<Tokenizer> tokenizer;  ///< null: bytes only
};

Result<Side> make_side(const PrefixCommand& command, const PrefixSetting& setting, Conversation conversation,
                       const Template& compiled, const RenderOptions& options) {
  Side side;
  side.conversation = std::move(conversation);
  Result<Rendering> rendering = compiled.render(side.conversation, options);
  if (!rendering) return rendering.error();
  side.rendering = std::move(*rendering);
  if (setting.tokenizer == nullptr) return side;
  Result<PromptTokens> tokens = tokenize(side.rendering, side.conversation, *setting.tokenizer, command.tokenize);
  if (!tokens) return tokens.error();
  side.tokens = std::move(*tokens);
  return side;
}

Result<Side> open_side(const PrefixCommand& command, const PrefixSetting& setting, const std::string& path) {
  Result<PromptRequest> request = open_request(command.prompt, setting.prompt, path);
  if (!request) return request.error();
  if (!command.losses.quiet) report_effort(command.prompt, request->conversation);
  return make_side(command, setting, std::move(request->conversation), request->compiled, setting.prompt.render);
}

/// How much of each side the other does not share.
struct Cost {
  std::size_t shared, lost, fresh;
};

Cost cost_of(const Side& before, const Side& after, const std::optional<PrefixDifference>& difference) {
  const std::size_t old = before.tokens ? before.tokens->ids.size() : before.rendering.text().size();
  const std::size_t now = after.tokens ? after.tokens->ids.size() : after.rendering.text().size();
  const std::size_t shared = !difference ? old : before.tokens ? difference->token : difference->byte;
  return {shared, old - shared, now - shared};
}

void append_side(std::string& out, const char* title, const PromptSide& side) {
  out.append("  ").append(title).append("  ");
  if (side.excerpt.empty()) {
    out += "the prompt's end";
  } else {
    out += in_quotes(side.excerpt);
  }
  out += '\n';
  if (!side.path.empty()) out.append("          input ").append(side.path).append("\n");
  if (side.place.line != 0) {
    out.append("          template ")
        .append(side.place.name)
        .append(":")
        .append(std::to_string(side.place.line))
        .append("\n");
  }
}

std::string cost_as_text(const Cost& cost, const char* unit, const std::optional<PrefixDifference>& difference) {
  std::string out = "shared  " + std::to_string(cost.shared) + " " + unit + "\n";
  if (!difference) return out + "new     " + std::to_string(cost.fresh) + " " + unit + ": B goes on where A ends\n";
  out += "lost    " + std::to_string(cost.lost) + " " + unit + " of A\n";
  out += "new     " + std::to_string(cost.fresh) + " " + unit + " of B, to be read again\n\n";
  out += "first difference: byte " + std::to_string(difference->byte);
  if (unit == std::string_view("tokens")) out += ", token " + std::to_string(difference->token);
  out += '\n';
  append_side(out, "A was", difference->before);
  append_side(out, "B is ", difference->after);
  if (difference->changed_input.empty()) {
    out += "why: the template writes the past in another way once more messages follow; no input changed\n";
  } else {
    out.append("why: the requests differ in ").append(difference->changed_input).append("\n");
  }
  return out;
}

std::string cost_as_json(const Cost& cost, const char* unit, const std::optional<PrefixDifference>& difference) {
  JsonWriter object('{');
  object.text("unit", unit)
      .number("shared", static_cast<std::int64_t>(cost.shared))
      .number("lost", static_cast<std::int64_t>(cost.lost))
      .number("new", static_cast<std::int64_t>(cost.fresh));
  object.key("difference") += difference ? difference_as_json(*difference) : "null";
  return object.take();
}

const char* unit_of(const PrefixSetting& setting) { return setting.tokenizer == nullptr ? "bytes" : "tokens"; }

/// --tokenizer, else the model's own. One that nobody asked for and that cannot be read is no reason to stop: bytes
/// tell as much.
Result<std::unique_ptr<Tokenizer>> open_tokens(const PrefixCommand& command, PromptSetup& setup) {
  const TokenizeOptions& how = command.tokenize;
  const bool is_asked = !command.tokenizer.path.empty() || !how.protect || how.plain_added || !how.trust.empty();
  if (command.tokenizer.path.empty() && setup.model.tokenizer_path.empty()) {
    if (is_asked) return usage("--trust and --no-protect are about tokens", "--tokenizer PATH gives some");
    return std::unique_ptr<Tokenizer>();
  }
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_chosen(command.tokenizer, command.prompt, setup);
  if (tokenizer || is_asked) return tokenizer;
  if (!command.losses.quiet) say_note("counted in bytes: " + tokenizer.error().message());
  return std::unique_ptr<Tokenizer>();
}

Result<void> prepare_prefix(PrefixCommand& command, PrefixSetting& setting) {
  if (Result<void> done = prepare(command.prompt, true, setting.prompt); !done) return done;
  command.tokenizer.quiet = command.losses.quiet;
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_tokens(command, setting.prompt);
  if (!tokenizer) return tokenizer.error();
  setting.tokenizer = std::move(*tokenizer);
  return {};
}

void report_trust(const Side& before, const Side& after) {
  if (!before.tokens || !after.tokens) return;
  for (const std::string& note : before.tokens->notes) say_note("A: " + note);
  for (const std::string& note : after.tokens->notes) say_note("B: " + note);
}

// ---- JSONL

/// Rows of two requests, {"a", "b"}, or of a conversation, each of whose turns is compared with the next.
/// Threads: any may answer.
class PrefixRows {
 public:
  PrefixRows(const PrefixCommand& command, const PrefixSetting& setting)
      : command_(command), setting_(setting), roles_(setting.prompt.model) {}

  Result<void> answer(const BulkLine& line, BulkAnswer& answer) {
    Document document;
    const Result<Value> row = open_row(document, line, answer);
    if (!row) return row.error();
    const bool is_pair = (*row)["a"].is(Kind::dict) && (*row)["b"].is(Kind::dict);
    Result<std::string> members = is_pair ? pair((*row)["a"], (*row)["b"]) : conversation(*row);
    if (!members) return members.error();
    answer.members = std::move(*members);
    return {};
  }
  void report(std::uint64_t lines) const {
    for (const std::string& note : notes_) say_note(note);
    roles_.report(lines);
    if (broken_ == 0) return;
    say_note(std::to_string(broken_) + " of " + std::to_string(lines) +
             " lines have a prompt that does not go on from the one before: " + std::to_string(lost_) + " " +
             unit_of(setting_) + " are lost; `difference` of each says where and why");
  }
  bool any_broken() const { return broken_ != 0; }

 private:
  Result<Side> side(const std::string& request, const RenderOptions& options) {
    Result<ChatRequest> read = setting_.prompt.reader->consume(request);
    if (!read) return read.error();
    const Result<Template>& compiled = setting_.prompt.reader->template_for(read->conversation);
    if (!compiled) return compiled.error();
    Result<Side> made = make_side(command_, setting_, std::move(read->conversation), *compiled, options);
    if (made && made->tokens) keep(made->tokens->notes);
    return made;
  }
  /// The first ones: of each row there may be one.
  void keep(const std::vector<std::string>& notes) {
    constexpr std::size_t kMost = 3;
    const std::lock_guard lock(mutex_);
    for (const std::string& note : notes)
      if (notes_.size() < kMost && std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }
  void count(std::size_t lost) {
    ++broken_;
    lost_ += lost;
  }

  Result<std::string> pair(Value a, Value b) {
    const Result<Side> before = side(json_text(a), setting_.prompt.render);
    if (!before) return before.error();
    const Result<Side> after = side(json_text(b), setting_.prompt.render);
    if (!after) return after.error();
    const std::optional<PrefixDifference> difference = compare_prompts(before->view(), after->view());
    const Cost cost = cost_of(*before, *after, difference);
    if (difference) count(cost.lost);
    const std::string json = cost_as_json(cost, unit_of(setting_), difference);
    return json.substr(1, json.size() - 2);
  }

  Result<std::string> conversation(Value row) {
    const Result<ChatRequest> read = read_row(*setting_.prompt.reader, row);
    if (!read) return read.error();
    const std::span<const Value> messages = row["messages"].items();
    roles_.add(read->conversation, static_cast<std::size_t>(std::ranges::count_if(messages, is_of_assistant)));
    return turns(row, messages);
  }
  static std::string first_messages(Value row, std::size_t count) {
    return request_of_row(row, {"add_generation_prompt", "continue_final_message"}, count);
  }
  /// What the prompt behind a turn shares with that turn: with its own prompt, and if that stands in it whole, with the
  /// turn too as it was written, since a cache has both.
  Result<std::optional<PrefixDifference>> compare_turn(const std::optional<Side>& prompt, const std::string& written,
                                                       const Side& next, Cost& cost) {
    if (prompt) {
      std::optional<PrefixDifference> difference = compare_prompts(prompt->view(), next.view());
      cost = cost_of(*prompt, next, difference);
      if (difference) return difference;
    }
    RenderOptions whole = setting_.prompt.render;
    whole.add_generation_prompt = false;
    const Result<Side> turn = side(written, whole);
    if (!turn) return turn.error();
    std::optional<PrefixDifference> difference = compare_prompts(turn->view(), next.view());
    cost = cost_of(*turn, next, difference);
    return difference;
  }
  /// The prompts as a model sees them that samples turn by turn: up to each message of an assistant's, and at the end
  /// where another's is the last.
  Result<std::string> turns(Value row, std::span<const Value> messages) {
    std::int64_t turns = 0, behind = -1;
    Cost all{};
    std::optional<PrefixDifference> first;
    std::optional<Side> prompt;  // of the turn before
    for (std::size_t i = 1; i <= messages.size(); ++i) {
      const bool is_prompt =
          !is_of_assistant(messages[i - 1]) && (i == messages.size() || is_of_assistant(messages[i]));
      if (!is_prompt) continue;
      Result<Side> next = side(first_messages(row, i), setting_.prompt.render);
      if (!next) return next.error();
      std::size_t last = i;  // behind the message of an assistant's that is the last one before
      while (last != 0 && !is_of_assistant(messages[last - 1])) --last;
      if (last != 0) {
        ++turns;
        Cost cost{};
        Result<std::optional<PrefixDifference>> difference =
            compare_turn(prompt, first_messages(row, last), *next, cost);
        if (!difference) return difference.error();
        all = {all.shared + cost.shared, all.lost + cost.lost, all.fresh + cost.fresh};
        if (*difference && !first) {
          first = std::move(*difference);
          behind = static_cast<std::int64_t>(last) - 1;
        }
      }
      prompt = std::move(*next);
    }
    if (first) count(all.lost);
    std::string json = cost_as_json(all, unit_of(setting_), first);
    std::string members = "\"turns\": " + std::to_string(turns) + ", " + json.substr(1, json.size() - 2);
    if (first) members += ", \"behind\": " + std::to_string(behind);
    return members;
  }

  const PrefixCommand& command_;
  const PrefixSetting& setting_;
  std::atomic<std::uint64_t> broken_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;
  OddRoles roles_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

int compare_lines(const PrefixCommand& command, const PrefixSetting& setting) {
  PrefixRows rows(command, setting);
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) { return rows.answer(line, answer); };
  const LineRun run = [&](const BulkInput& input, const BulkOutput& output, const BulkOptions& options) {
    Result<BulkProgress> done = each_line(worker)(input, output, options);
    if (done && !command.losses.quiet) rows.report(done->lines);
    return done;
  };
  const int code = run_lines(command.before, command.lines, setting.prompt, command.losses, run);
  return code == 0 && command.check && rows.any_broken() ? 1 : code;
}

// ---- the command

Result<void> check_prefix_options(const PrefixCommand& command) {
  if (Result<void> checked = check_protection(command.tokenize); !checked) return checked;
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked) return checked;
  if (!command.jsonl) {
    if (!command.before.empty() && !command.after.empty()) return {};
    return usage("two requests are compared: A and B",
                 "parlance prefix … before.json after.json; with --jsonl a file of rows");
  }
  if (command.json) return usage("--json and --jsonl exclude each other", "lines are JSON anyway");
  if (!command.after.empty())
    return usage("--jsonl reads one file, whose rows have two requests each, `a` and `b`, or a conversation",
                 "paste A B | jq -c -R 'split(\"\\t\") | {a: .[0] | fromjson, b: .[1] | fromjson}' makes one of two");
  return {};
}

int run_prefix(PrefixCommand& command) {
  if (Result<void> checked = check_prefix_options(command); !checked) return report(checked.error());
  PrefixSetting setting;
  if (Result<void> done = prepare_prefix(command, setting); !done) return report(done.error());
  if (command.jsonl) return compare_lines(command, setting);
  const Result<Side> before = open_side(command, setting, command.before);
  if (!before) return report_render(before.error());
  const Result<Side> after = open_side(command, setting, command.after);
  if (!after) return report_render(after.error());
  if (!command.losses.quiet) report_trust(*before, *after);
  const std::optional<PrefixDifference> difference = compare_prompts(before->view(), after->view());
  const Cost cost = cost_of(*before, *after, difference);
  const char* const unit = unit_of(setting);
  const int printed =
      print(command.json ? cost_as_json(cost, unit, difference) + "\n" : cost_as_text(cost, unit, difference));
  return printed == 0 && command.check && difference ? 1 : printed;
}

constexpr const char* kPrefixExamples = R"(Examples:
  parlance prefix -m path/to/model --tokenizer path/to/model turn4.json turn5.json
  parlance prefix -f terminal-agent before.json after.json --check || echo "the cache is lost"
  parlance prefix -m path/to/model --jsonl chats.jsonl      do the turns of each conversation go on?)";

}  // namespace

Run declare_prefix(Options& app) {
  auto command = std::make_shared<PrefixCommand>();
  PrefixCommand& c = *command;
  app.examples(kPrefixExamples);
  app.add_option("A", c.before, "A chat request as JSON: the earlier one; with --jsonl the rows").placeholder("FILE");
  app.add_option("B", c.after, "The later one").placeholder("FILE");
  declare_template_options(app, c.prompt);
  declare_tokenizer_options(app, c.tokenizer);
  declare_request_options(app, c.prompt);
  declare_prompt_end(app, c.prompt);
  declare_protection_options(app, c.tokenize);
  app.add_flag("--json", c.json, "Print the same as JSON");
  app.add_flag("--check", c.check, "Exit with 1 unless B begins with A; with --jsonl, in each row");
  app.add_flag("-q,--quiet", c.losses.quiet, "Print no notes; with --jsonl do not sum up what differs");
  app.add_flag("--jsonl", c.jsonl,
               "A has two requests a line, {\"a\", \"b\"}, or a conversation,\neach of whose turns is compared with "
               "the next; {\"shared\",\n"
               "\"lost\", \"new\", \"difference\"} a line out, in order");
  declare_lines(app, c.lines, c.losses);
  declare_limits(app, c.prompt);
  return [command] { return run_prefix(*command); };
}

}  // namespace parlance::cli
