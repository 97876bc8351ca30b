// parlance tokens: a request as token ids, one or a line each; what ends a reply; the next turn's ids.
//
// Begin reading at run_tokens.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/extension.h"
#include "cli/guarded.h"
#include "cli/input.h"
#include "cli/lines/lines.h"
#include "cli/odd_roles.h"
#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/options/tokenizer_choice.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/token_stats.h"
#include "cli/tokens_json.h"
#include "cli/unknown_text.h"
#include "parlance/json_writer.h"
#include "parlance/reply_kinds.h"

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
  std::vector<std::string> kinds;  ///< that training learns; none: all
  LineWish lines;
  LengthWish lengths;
  LossWish losses;
};

/// What every way of running needs.
struct TokensSetting {
  PromptSetup prompt;
  std::unique_ptr<Tokenizer> tokenizer;

  Result<std::vector<StopToken>> stops() const { return prompt.reader->stop_tokens(*tokenizer, prompt.render); }
};

std::string ids_line(const std::vector<TokenId>& ids) {
  std::string out;
  for (TokenId id : ids) out.append(out.empty() ? "" : " ").append(std::to_string(id));
  return out += '\n';
}

void report_notes(const std::vector<std::string>& notes, bool quiet) {
  if (quiet) return;
  for (const std::string& note : notes) say_note(note);
}

void report_marks(const std::vector<std::string>& marks, const TokensSetting& setting, bool quiet) {
  if (marks.empty() || quiet) return;
  std::string all;
  for (const std::string& mark : marks) all += (all.empty() ? "'" : ", '") + mark + "'";
  say_note("the template writes " + all + ", text for this tokenizer (" + setting.tokenizer->facts().kind +
           ") and no control token");
}

/// Keeps of the mask what --mask names.
Result<void> choose_kinds(const TokensCommand& command, const TokensSetting& setting, const Conversation& conversation,
                          const Rendering& rendering, PromptTokens& tokens) {
  if (command.kinds.empty()) return {};
  const Result<std::vector<KindRange>> ranges = setting.prompt.reader->reply_kinds(conversation, rendering);
  if (!ranges) return ranges.error();
  std::vector<ReplyKind> kinds;
  for (const std::string& name : command.kinds) kinds.push_back(*reply_kind_named(name));
  train_only(tokens, *ranges, kinds);
  return {};
}

// ---- what ends a reply

int show_stops(const TokensCommand& command, const TokensSetting& setting, const std::vector<StopToken>& stops) {
  if (command.json) return print(stops_as_json(stops) + "\n");
  std::string out;
  for (const StopToken& stop : stops) {
    out += stop.id < 0 ? "text" : std::to_string(stop.id);
    out.append("\t").append(in_quotes(stop.text));
    for (const std::string& source : stop.sources)
      out.append(&source == &stop.sources.front() ? "\t" : ", ").append(source);
    out += '\n';
  }
  if (out.empty())
    std::fprintf(stderr, "note: neither the template nor %s says what ends a reply\n",
                 setting.tokenizer->facts().kind.c_str());
  return print(out);
}

int run_stop(const TokensCommand& command, const TokensSetting& setting) {
  const Result<Template>& compiled = setting.prompt.reader->chat_template(false);
  if (!compiled) return report(compiled.error());
  const Result<std::vector<StopToken>> stops = setting.stops();
  return stops ? show_stops(command, setting, *stops) : report(stops.error());
}

// ---- the next turn

SessionOptions session_options(const TokensCommand& command, const TokensSetting& setting) {
  return {setting.prompt.render, command.tokenize};
}

int extend(const TokensCommand& command, const TokensSetting& setting, PromptRequest request) {
  const Result<std::string> text = read_input(command.extend, "the ids of --extend");
  if (!text) return report(text.error());
  const Result<std::vector<TokenId>> ids = read_ids(*text, command.extend);
  if (!ids) return report(ids.error());
  const Result<Extension> extension =
      extend_request(*ids, request.compiled, *setting.tokenizer, std::move(request.conversation),
                     session_options(command, setting), *setting.prompt.reader);
  if (!extension) return report_render(extension.error());
  std::vector<Loss> losses;
  if (command.losses.wanted()) lose_unknown(extension->unknown, *setting.tokenizer, losses);
  if (const Result<void> whole = check_losses(command.losses, losses, !command.json); !whole)
    return report_render(whole.error());
  if (!command.json) return print(ids_line(extension->ids));
  return print("{" + extension_members(*ids, *extension, losses) + "}\n");
}

// ---- one request

/// The JSON of a long prompt is many times its size, so it is printed in pieces.
int show_json(const TokensCommand& command, const TokensSetting& setting, const PromptRequest& request,
              const PromptTokens& tokens, const std::vector<Loss>& losses) {
  const Result<std::vector<StopToken>> stops = setting.stops();
  if (!stops) return report(stops.error());
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  int code = 0;
  const auto flush = [&code](std::string& text) {
    if (text.size() < kPiece) return;
    if (code == 0) code = print(text);
    text.clear();
  };
  std::string out = "{";
  if (!request.id.empty()) out.append("\"id\": ").append(request.id).append(", ");
  write_tokens(out, tokens, request.conversation, *setting.tokenizer, flush);
  append_losses(out += ", ", in_options(losses));
  out += ", \"stop\": " + stops_as_json(*stops) + ", \"tokenizer\": " + tokenizer_as_json(setting.tokenizer->facts());
  append_model_notes(out, command.prompt, setting.prompt);
  out += "}\n";
  return code == 0 ? print(out) : code;
}

int tokenize_one(const TokensCommand& command, const TokensSetting& setting) {
  Result<PromptRequest> request = open_request(command.prompt, setting.prompt, command.chat);
  if (!request) return report(request.error());
  if (!command.extend.empty()) return extend(command, setting, std::move(*request));
  if (command.json || command.losses.quiet) report_effort(command.prompt, request->conversation);
  if (!command.json && !command.losses.quiet) report_options(command.prompt, *request);
  Result<CheckedRendering> checked =
      render_checked(command.losses, request->compiled, request->conversation, setting.prompt.render, !command.json);
  if (!checked) return report_render(checked.error());
  Result<PromptTokens> tokens =
      tokenize(checked->rendering, request->conversation, *setting.tokenizer, command.tokenize);
  if (!tokens) return report(tokens.error());
  const Result<void> chosen = choose_kinds(command, setting, request->conversation, checked->rendering, *tokens);
  if (!chosen) return report(chosen.error());
  report_marks(tokens->plain_marks, setting, command.losses.quiet);
  std::vector<Loss> unknown;
  if (command.losses.wanted()) lose_unknown(tokens->unknown, *setting.tokenizer, unknown);
  if (const Result<void> whole = check_losses(command.losses, unknown, !command.json); !whole)
    return report_render(whole.error());
  checked->losses.insert(checked->losses.end(), unknown.begin(), unknown.end());
  if (!command.losses.quiet) {
    GuardedOfAssistants guarded;
    guarded.add(checked->rendering, request->conversation, *tokens);
    guarded.report(*setting.tokenizer, 0);
  }
  if (command.json) return show_json(command, setting, *request, *tokens, checked->losses);
  report_notes(tokens->notes, command.losses.quiet);
  return print(ids_line(tokens->ids));
}

// ---- JSONL

/// A row after the other, and what is said of all.   Threads: any may write.
class RowTokenizer {
 public:
  RowTokenizer(const TokensCommand& command, const TokensSetting& setting)
      : command_(command), setting_(setting), stats_(command.lengths), roles_(setting.prompt.model) {}

  Result<void> check_files() const {
    if (command_.lines.skip != 0 && output_appends() && command_.lengths.too_long() == TooLong::drop)
      say_note(
          "--too-long drop leaves lines out, so the output has fewer lines than were read: --skip-lines is right "
          "with the number that the interrupted run printed, not with the output's own");
    return stats_.check_file(command_.chat, command_.lines.skip != 0 || output_appends());
  }
  Result<void> write(const Conversation& conversation, CheckedRendering& checked, std::string& members) {
    Result<PromptTokens> tokens = tokenize(checked.rendering, conversation, *setting_.tokenizer, command_.tokenize);
    if (!tokens) return tokens.error();
    const Result<void> chosen = choose_kinds(command_, setting_, conversation, checked.rendering, *tokens);
    if (!chosen) return chosen.error();
    roles_.add(conversation);
    bool drops = false;
    const Result<std::size_t> cut = stats_.add(*tokens, kinds(conversation, checked.rendering, *tokens), drops);
    if (!cut) return cut.error();
    if (drops) return {};
    if (!tokens->plain_marks.empty()) tell(tokens->plain_marks);
    guarded_.add(checked.rendering, conversation, *tokens);
    if (command_.losses.wanted()) lose_unknown(tokens->unknown, *setting_.tokenizer, checked.losses);
    if (command_.json) {
      write_tokens(members, *tokens, conversation, *setting_.tokenizer);
      append_losses(members += ", ", in_options(checked.losses));
    } else {
      write_labels(members, *tokens);
    }
    if (*cut != 0) members += ", \"truncated\": " + std::to_string(*cut);
    return {};
  }
  int report(const BulkProgress& done) const {
    const bool quiet = command_.losses.quiet;
    if (!quiet) guarded_.report(*setting_.tokenizer, done.lines);
    if (!quiet) roles_.report(done.lines);
    return stats_.report(quiet, std::min(command_.lines.skip, done.behind), done.stopped);
  }

 private:
  std::optional<std::vector<ReplyKind>> kinds(const Conversation& conversation, const Rendering& rendering,
                                              const PromptTokens& tokens) const {
    if (!stats_.wants_kinds()) return {};
    const Result<std::vector<KindRange>> ranges = setting_.prompt.reader->reply_kinds(conversation, rendering);
    if (!ranges) return {};
    return token_kinds(tokens.tokens, *ranges);
  }
  void tell(const std::vector<std::string>& marks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(has_told_, true)) report_marks(marks, setting_, command_.losses.quiet);
  }

  const TokensCommand& command_;
  const TokensSetting& setting_;
  TokenStats stats_;
  OddRoles roles_;
  GuardedOfAssistants guarded_;
  std::mutex mutex_;
  bool has_told_ = false;
};

int tokenize_lines(const TokensCommand& command, const TokensSetting& setting) {
  RowTokenizer rows(command, setting);
  if (Result<void> checked = rows.check_files(); !checked) return report(checked.error());
  BulkRendering rendering;
  rendering.render = setting.prompt.render;
  rendering.on_loss = command.losses.on_loss();
  rendering.write = [&](const Conversation& conversation, CheckedRendering& checked, std::string& members) {
    return rows.write(conversation, checked, members);
  };
  int code = 0;
  const LineRun run = [&](const BulkInput& input, const BulkOutput& output, const BulkOptions& options) {
    Result<BulkProgress> done = render_lines(input, output, *setting.prompt.reader, rendering, options);
    if (done) code = rows.report(*done);
    return done;
  };
  const int ended = run_lines(command.chat, command.lines, setting.prompt, command.losses, run);
  return ended != 0 ? ended : code;
}

/// Line N of CHAT goes on from line N of IDS.
int extend_lines(const TokensCommand& command, const TokensSetting& setting) {
  const Result<IdLines> ids = IdLines::open(command.extend);
  if (!ids) return report(ids.error());
  const LineExtender extender{*ids, *setting.prompt.reader, *setting.tokenizer, session_options(command, setting),
                              command.losses.on_loss()};
  const BulkWorker worker = [&](const BulkLine& line, BulkAnswer& answer) { return extender.answer(line, answer); };
  const LineRun run = [&](const BulkInput& input, const BulkOutput& output,
                          const BulkOptions& options) -> Result<BulkProgress> {
    Result<BulkProgress> done = each_line(worker)(input, output, options);
    if (!done) return done;
    if (done->stopped) return done;
    if (Result<void> ended = ids->check_end(done->skipped + done->lines); !ended) return ended.error();
    return done;
  };
  return run_lines(command.chat, command.lines, setting.prompt, command.losses, run);
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

Result<void> check_tokens_options(const TokensCommand& command) {
  if (Result<void> checked = check_protection(command.tokenize); !checked) return checked;
  if (!command.kinds.empty() && !command.extend.empty())
    return usage("--mask and --extend exclude each other: ids that are to come have no labels",
                 "without --extend, --json or --jsonl prints labels");
  if (!command.kinds.empty() && (!command.json && !command.jsonl))
    return usage("--mask chooses what labels have", "add --json or --jsonl, which print labels");
  const std::string length = command.lengths.given();
  if (!length.empty() && (!command.jsonl || !command.extend.empty()))
    return usage(length + " is for --jsonl" + (command.jsonl ? ", and not beside --extend" : ""));
  if (!command.lengths.policy.empty() && command.lengths.most == 0)
    return usage("--too-long needs --max-tokens", "--max-tokens 4096 --too-long " + command.lengths.policy);
  if (command.stop && command.jsonl) return usage("--jsonl and --stop exclude each other");
  if (command.stop && !command.extend.empty()) return usage("--extend and --stop exclude each other");
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked) return checked;
  if (command.stop) return check_stop(command);
  const bool both_from_input = command.extend == "-" && !command.prompt.example && is_stdin(command.chat);
  if (both_from_input) {
    return usage("--extend - and the chat cannot both be standard input",
                 "parlance tokens ... --extend - CHAT.json < ids.json");
  }
  return command.jsonl ? check_no_example(command.prompt, "tokens") : Result<void>();
}

Result<void> prepare_tokens(TokensCommand& command, TokensSetting& setting) {
  if (Result<void> checked = check_tokens_options(command); !checked) return checked;
  if (Result<void> done = prepare(command.prompt, true, setting.prompt); !done) return done;
  command.losses.in_lines = command.json;
  setting.prompt.render.want_assistant = command.json || command.jsonl;
  command.tokenizer.quiet = command.losses.quiet;
  command.tokenizer.verbose = command.losses.verbose;
  if (!command.json && !command.losses.quiet) report_model(command.prompt, setting.prompt);
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_chosen(command.tokenizer, command.prompt, setting.prompt);
  if (!tokenizer) return tokenizer.error();
  setting.tokenizer = std::move(*tokenizer);
  return {};
}

int run_tokens(TokensCommand& command) {
  TokensSetting setting;
  if (Result<void> done = prepare_tokens(command, setting); !done) return report(done.error());
  if (command.stop) return run_stop(command, setting);
  if (!command.jsonl) return tokenize_one(command, setting);
  return command.extend.empty() ? tokenize_lines(command, setting) : extend_lines(command, setting);
}

constexpr const char* kTokensExamples = R"(Examples:
  parlance tokens -m path/to/model chat.json                 ids, with the model's own template and tokenizer
  parlance tokens -f terminal-agent --tokenizer tokenizer.json --example --json
  parlance tokens -m path/to/model --jsonl chats.jsonl       ids and labels, a line each
  parlance tokens -m path/to/model --stop                    what ends a reply, and who says so
  parlance tokens -m path/to/model --extend ids.json chat.json    the ids that the new messages add

A control token is recognised only where all of its bytes are the template's own, a standard role, or a special token
of the model. Everything else is text, whatever it looks like; `guarded` in the JSON lists what was kept from it.)";

}  // namespace

Run declare_tokens(Options& app) {
  auto command = std::make_shared<TokensCommand>();
  TokensCommand& c = *command;
  app.examples(kTokensExamples);
  app.add_option("CHAT", c.chat, "A chat request as JSON: messages, tools, ...; - or nothing for standard input")
      .placeholder("FILE");
  declare_template_options(app, c.prompt);
  declare_tokenizer_options(app, c.tokenizer);
  declare_example(app, c.prompt);
  declare_request_options(app, c.prompt);
  declare_prompt_end(app, c.prompt);
  declare_protection_options(app, c.tokenize);
  app.add_flag("--add-special-tokens", c.tokenize.add_special_tokens,
               "Add the tokens that the tokenizer puts around a text, unless the template wrote them");
  app.add_flag("--json", c.json,
               "Print an object: each token with its text, bytes, origin,\nmessage and mask; labels; the tokens that "
               "end a reply");
  app.add_flag("--jsonl", c.jsonl,
               "CHAT has one request a line; {\"ids\", \"labels\"} a line out, in order; with --json all");
  declare_lengths(app, c.lengths);
  declare_lines(app, c.lines, c.losses);
  app.add_option(
         "--mask", c.kinds,
         "Labels have only these parts of the assistant's turns:\ncontent, reasoning, calls, marker or stop; may "
         "be repeated")
      .placeholder("KIND")
      .one_of({reply_kind_names().begin() + 1, reply_kind_names().end()})
      .one_value();
  app.add_flag("--stop", c.stop, "Print the tokens that end a reply: id, text, sources");
  app.add_option("--extend", c.extend,
                 "A file with the ids so far, as a list or as --json prints them;\nprint the ids to append. "
                 "With --jsonl, one line for each line\nof CHAT, as --jsonl prints them")
      .placeholder("IDS");
  declare_losses(app, c.losses);
  declare_limits(app, c.prompt);
  return [command] { return run_tokens(*command); };
}

}  // namespace parlance::cli
