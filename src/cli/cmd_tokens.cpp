// parlance tokens: a request as token ids, one or a line each; what ends a reply; the next turn's ids.
//
// Begin reading at run_tokens.
#include <algorithm>
#include <charconv>
#include <memory>

#include "bulk/jsonl.h"
#include "cli/commands.h"
#include "cli/json_object.h"
#include "cli/lines.h"
#include "cli/prompt_options.h"
#include "cli/report.h"
#include "cli/tokenizer_choice.h"
#include "cli/tokens_json.h"
#include "tokens/trusted_path.h"

namespace parlance::cli {
namespace {

struct TokensCommand {
  PromptOptions prompt;
  TokenizerWish tokenizer;
  TokenizeOptions tokenize;
  std::string chat;
  std::string extend;  ///< a file of ids
  bool no_protect = false;
  bool json = false;
  bool jsonl = false;
  bool stop = false;
  unsigned threads = 0;
};

/// What every way of running needs.
struct Setting {
  RequestOptions request;
  RenderOptions render;
  FoundTemplates found;
  std::unique_ptr<Tokenizer> tokenizer;
};

std::string line_of(const std::vector<TokenId>& ids) {
  std::string out;
  for (TokenId id : ids) out.append(out.empty() ? "" : " ").append(std::to_string(id));
  return out += '\n';
}

void report_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", note.c_str());
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
  const Result<Template> compiled = compile_chosen(setting.found, command.prompt.wish, false);
  if (!compiled) return report(compiled.error());
  const Result<std::vector<StopToken>> stops =
      stop_set(*compiled, *setting.tokenizer, setting.found.source.special_tokens, setting.render);
  return stops ? show_stops(command, setting, *stops) : report(stops.error());
}

// ---- the next turn

/// Numbers with whatever is between them: `[1, 2, 3]` or `1 2 3`.
Result<std::vector<TokenId>> read_ids(const std::string& path) {
  const Result<std::string> text = read_file(path == "-" ? "/dev/stdin" : path);
  if (!text) return text.error();
  std::vector<TokenId> ids;
  const char* const end = text->data() + text->size();
  for (const char* at = text->data(); at < end;) {
    constexpr std::string_view kBetween = " \t\r\n,[]";
    if (kBetween.find(*at) != kBetween.npos) {
      ++at;
      continue;
    }
    TokenId id = 0;
    const auto [stopped, failed] = std::from_chars(at, end, id);
    if (failed != std::errc() || id < 0) {
      return usage("'" + path + "' holds no list of token ids: byte " + std::to_string(at - text->data()),
                   "for example [1, 2, 3] or 1 2 3, as parlance tokens prints them");
    }
    ids.push_back(id);
    at = stopped;
  }
  return ids;
}

int show_extension(const TokensCommand& command, std::vector<TokenId> ids, const Extension& extension) {
  if (!command.json) return print(line_of(extension.ids));
  Json object('{');
  object.key("append") += ids_as_json(extension.ids);
  ids.insert(ids.end(), extension.ids.begin(), extension.ids.end());
  object.key("ids") += ids_as_json(ids);
  return print(object.flag("canonical", extension.canonical).take() + "\n");
}

int extend(const TokensCommand& command, const Setting& setting, const Template& compiled, Conversation conversation) {
  const Result<std::vector<TokenId>> ids = read_ids(command.extend);
  if (!ids) return report(ids.error());
  const SessionOptions options{setting.render, command.tokenize};
  const Result<Extension> extension = extend_ids(*ids, compiled, *setting.tokenizer, std::move(conversation), options);
  return extension ? show_extension(command, *ids, *extension) : report_render(extension.error());
}

// ---- one request

int show(const TokensCommand& command, const Setting& setting, const Template& compiled, const Conversation& conversation,
         const PromptTokens& tokens, Value id) {
  if (!command.json) {
    report_notes(tokens.notes);
    return print(line_of(tokens.ids));
  }
  const Result<std::vector<StopToken>> stops =
      stop_set(compiled, *setting.tokenizer, setting.found.source.special_tokens, setting.render);
  if (!stops) return report(stops.error());
  std::string out = "{";
  append_id(out, id);
  out += tokens_as_members(tokens, conversation, *setting.tokenizer);
  return print(out += ", \"stop\": " + stops_as_json(*stops) + "}\n");
}

int tokenize_one(const TokensCommand& command, const Setting& setting) {
  Result<ChatText> chat = read_chat(command.prompt, command.chat);
  if (!chat) return report(chat.error());
  Conversation conversation;
  Value id;
  Result<void> read = consume_request(conversation, std::move(chat->text), chat->name, setting.request, id);
  if (!read) return report(read.error());
  const Result<Template> compiled = compile_chosen(setting.found, command.prompt.wish, has_tools(conversation));
  if (!compiled) return report(compiled.error());
  if (!command.extend.empty()) return extend(command, setting, *compiled, std::move(conversation));
  const Result<Rendering> rendering = compiled->render(conversation, setting.render);
  if (!rendering) return report_render(rendering.error());
  const Result<PromptTokens> tokens = tokenize(*rendering, conversation, *setting.tokenizer, command.tokenize);
  if (!tokens) return report(tokens.error());
  return show(command, setting, *compiled, conversation, *tokens, id);
}

// ---- JSONL

int tokenize_lines(const TokensCommand& command, const Setting& setting) {
  BulkOptions bulk;
  bulk.request = setting.request;
  bulk.render = setting.render;
  bulk.threads = command.threads;
  bulk.write = [&](const Conversation& conversation, const Rendering& rendering, std::string& members) -> Result<void> {
    const Result<PromptTokens> tokens = tokenize(rendering, conversation, *setting.tokenizer, command.tokenize);
    if (!tokens) return tokens.error();
    members = command.json ? tokens_as_members(*tokens, conversation, *setting.tokenizer)
                           : "\"ids\": " + ids_as_json(tokens->ids) + ", \"labels\": " + ids_as_json(tokens->labels());
    return {};
  };
  return run_lines(bulk, setting.found, command.prompt.wish);
}

// ---- the command

Result<void> check(const TokensCommand& command) {
  if (Result<void> checked = check_prompt_options(command.prompt, true); !checked) return checked;
  if (const auto paths = parse_trusted_paths(command.tokenize.trust); !paths) return paths.error();
  if (command.no_protect && !command.tokenize.trust.empty()) return usage("with --no-protect everything is trusted already");
  if (command.jsonl + command.stop + !command.extend.empty() > 1) {
    return usage("--jsonl, --stop and --extend exclude each other");
  }
  if (command.jsonl && (command.prompt.example || (!command.chat.empty() && command.chat != "-"))) {
    return usage("--jsonl reads its requests from standard input", "parlance tokens ... --jsonl < requests.jsonl");
  }
  return {};
}

Result<Setting> prepare(TokensCommand& command) {
  Setting setting;
  if (Result<void> checked = check(command); !checked) return checked.error();
  Result<RequestOptions> request = request_of(command.prompt);
  if (!request) return request.error();
  setting.request = std::move(*request);
  Result<RenderOptions> render = render_options_of(command.prompt);
  if (!render) return render.error();
  setting.render = *render;
  setting.render.want_assistant = command.json || command.jsonl;
  Result<FoundTemplates> found = open_templates(command.prompt, setting.render.limits);
  if (!found) return found.error();
  setting.found = std::move(*found);
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_chosen(command.tokenizer, command.prompt, setting.found);
  if (!tokenizer) return tokenizer.error();
  setting.tokenizer = std::move(*tokenizer);
  command.tokenize.protect = !command.no_protect;
  return setting;
}

int run_tokens(TokensCommand& command) {
  Result<Setting> setting = prepare(command);
  if (!setting) return report(setting.error());
  setting->request.model = &setting->found.source;
  if (command.stop) return run_stop(command, *setting);
  return command.jsonl ? tokenize_lines(command, *setting) : tokenize_one(command, *setting);
}

constexpr const char* kFooter = R"(Examples:
  parlance tokens -m path/to/model chat.json                 ids, with the model's own template and tokenizer
  parlance tokens -f chatml --tokenizer tokenizer.json --example --json
  parlance tokens -m path/to/model --jsonl < chats.jsonl     ids and labels, a line each
  parlance tokens -m path/to/model --stop                    what ends a reply, and who says so
  parlance tokens -m path/to/model --extend ids.json chat.json    the ids that the new messages add

A control token is recognised only where all of its bytes are the template's own, a standard role, or a special token
of the model. Everything else is text, whatever it looks like; `guarded` in the JSON lists what was kept from it.

Exit codes:
  0  done; with --jsonl: every line was answered, be it by an error
  1  the template, or the data it met, failed; the prompt does not go on from the ids of --extend
  2  the command line is wrong
  3  a file, the request or the tokenizer could not be read
  4  a limit was reached)";

}  // namespace

Run declare_tokens(CLI::App& app) {
  auto command = std::make_shared<TokensCommand>();
  TokensCommand& c = *command;
  app.footer(kFooter);
  app.add_option("CHAT", c.chat, "A chat request as JSON: messages, tools, ...; - or nothing for standard input");
  declare_template_options(app, c.prompt);
  declare_tokenizer_options(app, c.tokenizer);
  declare_request_options(app, c.prompt);
  app.add_option("--trust", c.tokenize.trust,
                 "An input that may hold control tokens, e.g. messages[0].content\n"
                 "or messages[*].content; may be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_flag("--no-protect", c.no_protect, "The tokenizer's own way: control tokens are read from any text");
  app.add_flag("--add-special-tokens", c.tokenize.add_special_tokens,
               "Add what the tokenizer puts around a text, where the template did not");
  app.add_flag("--json", c.json, "Print each token with its text, bytes, origin, message and mask, labels, what ends a reply");
  app.add_flag("--jsonl", c.jsonl, "One request a line in, {\"ids\", \"labels\"} a line out, in order; with --json all");
  app.add_option("--threads", c.threads, "For --jsonl; 0 for all cores")->type_name("N");
  app.add_flag("--stop", c.stop, "Print what ends a reply: id, text, sources");
  app.add_option("--extend", c.extend, "A file of the ids so far; prints those that the request adds")->type_name("IDS");
  declare_limits(app, c.prompt);
  return [command] { return run_tokens(*command); };
}

}  // namespace parlance::cli
