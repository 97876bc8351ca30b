// parlance prefix: where two requests' prompts stop being the same, why, and what that costs a cache.
//
// Begin reading at run_prefix.
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/prompt_options.h"
#include "cli/report.h"
#include "cli/tokenizer_choice.h"
#include "cli/tokens_json.h"
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
  bool check = false;
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

Result<Side> make_side(const PrefixCommand& command, const PrefixSetting& setting, const std::string& path) {
  Result<PromptRequest> request = open_request(command.prompt, setting.prompt, path);
  if (request) report_effort(command.prompt, request->conversation);
  if (!request) return request.error();
  Side side;
  side.conversation = std::move(request->conversation);
  Result<Rendering> rendering = request->compiled.render(side.conversation, setting.prompt.render);
  if (!rendering) return rendering.error();
  side.rendering = std::move(*rendering);
  if (setting.tokenizer == nullptr) return side;
  Result<PromptTokens> tokens = tokenize(side.rendering, side.conversation, *setting.tokenizer, command.tokenize);
  if (!tokens) return tokens.error();
  side.tokens = std::move(*tokens);
  return side;
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
  return object.take() + "\n";
}

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
  say_note("counted in bytes: " + tokenizer.error().message());
  return std::unique_ptr<Tokenizer>();
}

Result<void> prepare_prefix(PrefixCommand& command, PrefixSetting& setting) {
  if (Result<void> checked = check_protection(command.tokenize); !checked) return checked;
  if (Result<void> done = prepare(command.prompt, true, setting.prompt); !done) return done;
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

int run_prefix(PrefixCommand& command) {
  PrefixSetting setting;
  if (Result<void> done = prepare_prefix(command, setting); !done) return report(done.error());
  const Result<Side> before = make_side(command, setting, command.before);
  if (!before) return report_render(before.error());
  const Result<Side> after = make_side(command, setting, command.after);
  if (!after) return report_render(after.error());
  report_trust(*before, *after);
  const std::optional<PrefixDifference> difference = compare_prompts(before->view(), after->view());
  const Cost cost = cost_of(*before, *after, difference);
  const char* unit = setting.tokenizer == nullptr ? "bytes" : "tokens";
  const int printed = print(command.json ? cost_as_json(cost, unit, difference) : cost_as_text(cost, unit, difference));
  return printed == 0 && command.check && difference ? 1 : printed;
}

constexpr const char* kPrefixExamples = R"(Examples:
  parlance prefix -m path/to/model --tokenizer path/to/model turn4.json turn5.json
  parlance prefix -f terminal-agent before.json after.json --check || echo "the cache is lost")";

}  // namespace

Run declare_prefix(Options& app) {
  auto command = std::make_shared<PrefixCommand>();
  PrefixCommand& c = *command;
  app.examples(kPrefixExamples);
  app.add_option("A", c.before, "A chat request as JSON: the earlier one").placeholder("FILE").required();
  app.add_option("B", c.after, "The later one").placeholder("FILE").required();
  declare_template_options(app, c.prompt);
  declare_tokenizer_options(app, c.tokenizer);
  declare_request_options(app, c.prompt);
  declare_protection_options(app, c.tokenize);
  app.add_flag("--json", c.json, "Print the same as JSON");
  app.add_flag("--check", c.check, "Exit with 1 unless B begins with A");
  declare_limits(app, c.prompt);
  return [command] { return run_prefix(*command); };
}

}  // namespace parlance::cli
