// parlance tokens: a request as token ids, one or a line each; what ends a reply; the next turn's ids.
//
// Begin reading at run_tokens.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <mutex>

#include "bulk/jsonl.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/json_object.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/prompt_options.h"
#include "cli/report.h"
#include "cli/tokenizer_choice.h"
#include "cli/tokens_json.h"
#include "conversation/edit.h"
#include "value/dict.h"

namespace parlance::cli {
namespace {

struct TokensCommand {
  PromptOptions prompt;
  TokenizerWish tokenizer;
  TokenizeOptions tokenize;
  std::string chat;
  std::string extend;  ///< a file of ids
  bool json = false;
  bool jsonl = false;
  bool stop = false;
  unsigned threads = 0;
  LossWish losses;
};

/// What every way of running needs.
struct Setting {
  PromptSetup prompt;
  std::unique_ptr<Tokenizer> tokenizer;

  Result<std::vector<StopToken>> stops(const Template& compiled) const {
    return stop_set(compiled, *tokenizer, prompt.found.source.special_tokens, prompt.render);
  }
};

std::string line_of(const std::vector<TokenId>& ids) {
  std::string out;
  for (TokenId id : ids) out.append(out.empty() ? "" : " ").append(std::to_string(id));
  return out += '\n';
}

void report_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say_note(note);
}

void report_marks(const std::vector<std::string>& marks, const Setting& setting) {
  if (marks.empty()) return;
  std::string all;
  for (const std::string& mark : marks) all += (all.empty() ? "'" : ", '") + mark + "'";
  say_note("the template writes " + all + ", text for this tokenizer (" + setting.tokenizer->facts().kind + ") and no control token");
}

// ---- what ends a reply

int show_stops(const TokensCommand& command, const Setting& setting, const std::vector<StopToken>& stops) {
  if (command.json) return print(stops_as_json(stops) + "\n");
  std::string out;
  for (const StopToken& stop : stops) {
    out += stop.id < 0 ? "text" : std::to_string(stop.id);
    append_json_string(out += '\t', stop.text);
    for (const std::string& source : stop.sources) out.append(&source == &stop.sources.front() ? "\t" : ", ").append(source);
    out += '\n';
  }
  if (out.empty()) std::fprintf(stderr, "note: neither the template nor %s says what ends a reply\n",
                                setting.tokenizer->facts().kind.c_str());
  return print(out);
}

int run_stop(const TokensCommand& command, const Setting& setting) {
  const Result<Template> compiled = compile_chosen(setting.prompt.found, command.prompt.wish, false);
  if (!compiled) return report(compiled.error());
  const Result<std::vector<StopToken>> stops = setting.stops(*compiled);
  return stops ? show_stops(command, setting, *stops) : report(stops.error());
}

// ---- the next turn

Error no_ids(const std::string& path, const std::string& where) {
  return usage("'" + path + "' holds no list of token ids: " + where,
               "for example [1, 2, 3] or 1 2 3, or what parlance tokens --json prints");
}

/// Numbers with blanks or commas between them: `1 2 3`.
Result<std::vector<TokenId>> read_list(std::string_view text, const std::string& path) {
  std::vector<TokenId> ids;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    constexpr std::string_view kBetween = " \t\r\n,";
    if (kBetween.find(*at) != kBetween.npos) {
      ++at;
      continue;
    }
    TokenId id = 0;
    const auto [stopped, failed] = std::from_chars(at, end, id);
    if (failed != std::errc() || id < 0) return no_ids(path, "byte " + std::to_string(at - text.data()));
    ids.push_back(id);
    at = stopped;
  }
  return ids;
}

/// A list, or the member `ids` of what --json printed, with or without --extend.
Result<std::vector<TokenId>> read_result(std::string_view text, const std::string& path) {
  Document result;
  if (Result<void> parsed = result.parse(text, path); !parsed) return parsed.error();
  const Value root = result.root();
  const Value* list = root.kind == Kind::dict ? member(root, "ids") : &root;
  if (list == nullptr || !list->is_sequence()) return no_ids(path, "the object has no list \"ids\"");
  std::vector<TokenId> ids;
  for (const Value& id : items(*list)) {
    const bool fits = id.is_small_int() && id.integer >= 0 && id.integer <= std::numeric_limits<TokenId>::max();
    if (!fits) return no_ids(path, "ids[" + std::to_string(ids.size()) + "] is none");
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

Result<std::vector<TokenId>> read_ids(const std::string& path) {
  const Result<std::string> text = read_input(path, "the ids of --extend");
  if (!text) return text.error();
  const std::size_t first = std::min(text->find_first_not_of(" \t\r\n"), text->size());
  const bool is_json = text->compare(first, 1, "{") == 0 || text->compare(first, 1, "[") == 0;
  return is_json ? read_result(*text, path) : read_list(*text, path);
}

int show_extension(const TokensCommand& command, std::vector<TokenId> ids, const Extension& extension) {
  if (!command.json) return print(line_of(extension.ids));
  Json object('{');
  object.key("append") += ids_as_json(extension.ids);
  ids.insert(ids.end(), extension.ids.begin(), extension.ids.end());
  object.key("ids") += ids_as_json(ids);
  return print(object.flag("canonical", extension.canonical).take() + "\n");
}

int extend(const TokensCommand& command, const Setting& setting, PromptRequest request) {
  const Result<std::vector<TokenId>> ids = read_ids(command.extend);
  if (!ids) return report(ids.error());
  const SessionOptions options{setting.prompt.render, command.tokenize};
  const Result<Extension> extension =
      extend_ids(*ids, request.compiled, *setting.tokenizer, std::move(request.conversation), options);
  return extension ? show_extension(command, *ids, *extension) : report_render(extension.error());
}

// ---- one request

/// The JSON of a long prompt is many times its size, so it is printed in pieces.
int show_json(const Setting& setting, const PromptRequest& request, const PromptTokens& tokens) {
  const Result<std::vector<StopToken>> stops = setting.stops(request.compiled);
  if (!stops) return report(stops.error());
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  int code = 0;
  const auto pour = [&code](std::string& text) {
    if (text.size() < kPiece) return;
    if (code == 0) code = print(text);
    text.clear();
  };
  std::string out = "{";
  append_id(out, request.id);
  write_tokens(out, tokens, request.conversation, *setting.tokenizer, pour);
  out += ", \"stop\": " + stops_as_json(*stops) + ", \"tokenizer\": " + tokenizer_as_json(setting.tokenizer->facts()) + "}\n";
  return code == 0 ? print(out) : code;
}

int tokenize_one(const TokensCommand& command, const Setting& setting) {
  Result<PromptRequest> request = open_request(command.prompt, setting.prompt, command.chat);
  if (!request) return report(request.error());
  if (!command.extend.empty()) return extend(command, setting, std::move(*request));
  if (command.json || command.losses.quiet) report_effort(command.prompt, request->conversation);
  const Result<CheckedRendering> checked = render_checked(command.losses, request->compiled, request->conversation, setting.prompt.render, !command.json);
  if (!checked) return report_render(checked.error());
  const Result<PromptTokens> tokens = tokenize(checked->rendering, request->conversation, *setting.tokenizer, command.tokenize);
  if (!tokens) return report(tokens.error());
  report_marks(tokens->plain_marks, setting);
  if (command.json) return show_json(setting, *request, *tokens);
  report_notes(tokens->notes);
  return print(line_of(tokens->ids));
}

// ---- JSONL

int tokenize_lines(const TokensCommand& command, const Setting& setting) {
  BulkOptions bulk;
  bulk.request = setting.prompt.request;
  bulk.render = setting.prompt.render;
  bulk.threads = command.threads;
  std::mutex mutex;
  bool has_told = false;
  const auto tell = [&](const std::vector<std::string>& marks) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!has_told) report_marks(marks, setting);
    has_told = has_told || !marks.empty();
  };
  bulk.write = [&](const Conversation& conversation, const Rendering& rendering, std::string& members) -> Result<void> {
    const Result<PromptTokens> tokens = tokenize(rendering, conversation, *setting.tokenizer, command.tokenize);
    if (!tokens) return tokens.error();
    if (!tokens->plain_marks.empty()) tell(tokens->plain_marks);
    if (command.json) {
      write_tokens(members, *tokens, conversation, *setting.tokenizer);
    } else {
      write_labels(members, *tokens);
    }
    return {};
  };
  return run_lines(command.chat, bulk, setting.prompt, command.prompt.wish, command.losses);
}

// ---- the command

/// --stop asks the template with conversations of its own.
Result<void> check_stop(const TokensCommand& command) {
  const bool has_chat = !command.chat.empty() || command.prompt.example;
  const bool has_trust = !command.tokenize.protect || command.tokenize.plain_added || !command.tokenize.trust.empty();
  if (!has_chat && !has_trust) return {};
  return usage(std::string("--stop renders conversations of its own: it takes no ") +
                   (has_chat ? "request" : "--trust and no --no-protect"),
               has_chat ? "the same is in what parlance tokens CHAT --json prints" : "");
}

Result<void> check(const TokensCommand& command) {
  if (Result<void> checked = check_protection(command.tokenize); !checked) return checked;
  if (command.jsonl + command.stop + !command.extend.empty() > 1) {
    return usage("--jsonl, --stop and --extend exclude each other");
  }
  if (command.stop) return check_stop(command);
  const bool both_from_input = command.extend == "-" && !command.prompt.example && is_stdin(command.chat);
  if (both_from_input) {
    return usage("--extend - and the chat cannot both be standard input", "parlance tokens ... --extend - CHAT.json < ids.json");
  }
  return command.jsonl ? check_lines(command.prompt, "tokens") : Result<void>();
}

Result<void> prepare(TokensCommand& command, Setting& setting) {
  if (Result<void> checked = check(command); !checked) return checked;
  if (Result<void> done = prepare(command.prompt, true, setting.prompt); !done) return done;
  setting.prompt.render.want_assistant = command.json || command.jsonl;
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_chosen(command.tokenizer, command.prompt, setting.prompt.found);
  if (!tokenizer) return tokenizer.error();
  setting.tokenizer = std::move(*tokenizer);
  return {};
}

int run_tokens(TokensCommand& command) {
  Setting setting;
  if (Result<void> done = prepare(command, setting); !done) return report(done.error());
  if (command.stop) return run_stop(command, setting);
  return command.jsonl ? tokenize_lines(command, setting) : tokenize_one(command, setting);
}

constexpr const char* kFooter = R"(Examples:
  parlance tokens -m path/to/model chat.json                 ids, with the model's own template and tokenizer
  parlance tokens -f chatml --tokenizer tokenizer.json --example --json
  parlance tokens -m path/to/model --jsonl chats.jsonl       ids and labels, a line each
  parlance tokens -m path/to/model --stop                    what ends a reply, and who says so
  parlance tokens -m path/to/model --extend ids.json chat.json    the ids that the new messages add

A control token is recognised only where all of its bytes are the template's own, a standard role, or a special token
of the model. Everything else is text, whatever it looks like; `guarded` in the JSON lists what was kept from it.)";

}  // namespace

Run declare_tokens(CLI::App& app) {
  auto command = std::make_shared<TokensCommand>();
  TokensCommand& c = *command;
  app.footer(kFooter);
  app.add_option("CHAT", c.chat, "A chat request as JSON: messages, tools, ...; - or nothing for standard input")->type_name("FILE");
  declare_template_options(app, c.prompt);
  declare_tokenizer_options(app, c.tokenizer);
  declare_request_options(app, c.prompt);
  declare_protection_options(app, c.tokenize);
  app.add_flag("--add-special-tokens", c.tokenize.add_special_tokens,
               "Add what the tokenizer puts around a text, where the template did not");
  app.add_flag("--json", c.json, "Print each token with its text, bytes, origin, message and mask, labels, what ends a reply");
  app.add_flag("--jsonl", c.jsonl, "CHAT has one request a line; {\"ids\", \"labels\"} a line out, in order; with --json all");
  app.add_option("--threads", c.threads, "For --jsonl; 0 for all cores")->type_name("N")->check(whole_number(0, kMostThreads));
  declare_fail_on_error(app, c.losses);
  app.add_flag("--stop", c.stop, "Print what ends a reply: id, text, sources");
  app.add_option("--extend", c.extend, "A file of the ids so far, as a list or as --json prints them;\nprints those that the request adds")->type_name("IDS");
  declare_losses(app, c.losses);
  declare_limits(app, c.prompt);
  return [command] { return run_tokens(*command); };
}

}  // namespace parlance::cli
