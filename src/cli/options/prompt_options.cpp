// The options of commands that render prompts. Begin reading at request_of and render_options_of.
#include "cli/options/prompt_options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <type_traits>

#include "base/nearest.h"
#include "cli/civil_time.h"
#include "cli/input.h"
#include "cli/options/options.h"
#include "cli/report.h"
#include "cli/texts_json.h"

namespace parlance::cli {
namespace {

// ---- the options' values

/// 500000, 64K, 512M, 2G.
bool parse_size(std::string_view text, std::uint64_t& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc()) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMG";
  if (unit.empty()) return true;
  const std::size_t power = unit.size() == 1 ? kUnits.find(unit[0]) : kUnits.npos;
  if (power == kUnits.npos || value > (~std::uint64_t{0} >> 10 * (power + 1))) return false;
  value <<= 10 * (power + 1);
  return true;
}

/// A size as help shows it: 256M; the units of options are powers of two.
std::string shown_size(std::uint64_t size) {
  constexpr std::uint64_t kMillion = 1'000'000, kMega = std::uint64_t{1} << 20;
  if (size != 0 && size % kMega == 0) return std::to_string(size / kMega) + "M";
  if (size != 0 && size % kMillion == 0) return std::to_string(size / kMillion) + " million";
  return std::to_string(size);
}

/// The option for one of Limits.
struct LimitOption {
  const char* name;
  const char* sentence;
  ErrorCode error;     ///< what reaching it gives
  std::uint64_t most;  ///< that the option takes
  std::uint64_t (*get)(const Limits& limits);
  void (*set)(Limits& limits, std::uint64_t value);
};
template <auto Member>
std::uint64_t get(const Limits& limits) {
  return limits.*Member;
}
template <auto Member>
void set(Limits& limits, std::uint64_t value) {
  limits.*Member = static_cast<std::decay_t<decltype(limits.*Member)>>(value);
}

constexpr std::uint64_t kAny = ~std::uint64_t{0};
constexpr std::uint64_t kDeepest = 1000;  // native recursion of builtins over data
constexpr LimitOption kLimitOptions[] = {
    {"--max-steps", "Limit of the render's steps", ErrorCode::limit_steps, kAny, get<&Limits::steps>,
     set<&Limits::steps>},
    {"--max-output", "Limit of the prompt's bytes", ErrorCode::limit_output, kAny, get<&Limits::output_bytes>,
     set<&Limits::output_bytes>},
    {"--max-memory", "Limit of the render's memory", ErrorCode::limit_memory, kAny, get<&Limits::memory_bytes>,
     set<&Limits::memory_bytes>},
    {"--max-depth", "Limit of nesting", ErrorCode::limit_depth, kDeepest, get<&Limits::depth>, set<&Limits::depth>},
};

Result<Limits> limits_of(const PromptOptions& command) {
  Limits limits;
  for (std::size_t i = 0; i < command.limits.size(); ++i) {
    const LimitOption& row = kLimitOptions[i];
    const std::string& given = command.limits[i];
    if (given.empty()) continue;
    std::uint64_t value = 0;
    if (!parse_size(given, value)) {
      return usage(std::string(row.name) +
                   " takes a whole number below 2^64, with K, M or G after it if you like, not '" + given + "'");
    }
    if (value > row.most) {
      return usage(std::string(row.name) + " takes a whole number from 0 to " + std::to_string(row.most) + ", not '" +
                   given + "'");
    }
    row.set(limits, value);
  }
  return limits;
}

}  // namespace

// ---- the options' values

Error usage(std::string message, std::string hint) {
  return Error(ErrorCode::usage, std::move(message)).hint(std::move(hint));
}

Result<RequestOptions> request_of(const PromptOptions& command) {
  RequestOptions request;
  request.read.normalise = !command.as_is;
  request.read.reasoning_effort = command.effort;
  request.read.as_transformers = command.as_transformers;
  if ((command.as_is || command.as_transformers) && !command.effort.empty()) {
    return usage(std::string("--reasoning-effort changes the request, which ") +
                     (command.as_is ? "--as-is" : "--as-transformers") + " forbids",
                 "--var sets the template's own variable");
  }
  if (command.as_is && !command.extra_passes.empty())
    return usage("--pass changes the request, which --as-is forbids", "leave out one of them");
  Passes& passes = request.read.passes;
  for (const std::string& name : command.skip_passes) {
    if (Result<void> skipped = passes.skip(name); !skipped) return skipped.error();
  }
  for (const std::string& words : command.extra_passes) {
    if (Result<void> asked = passes.run(words); !asked) return asked.error();
  }
  auto variables = variables_of(command.variables);
  if (!variables) return variables.error();
  request.variables = std::move(*variables);
  return request;
}

Result<RenderOptions> render_options_of(const PromptOptions& command) {
  RenderOptions options;
  options.as_is = command.as_is;
  if (command.generation_prompt) options.add_generation_prompt = true;
  if (command.no_generation_prompt) options.add_generation_prompt = false;
  if (command.continue_last) options.continue_final = true;
  const Result<Limits> limits = limits_of(command);
  if (!limits) return limits.error();
  options.limits = *limits;
  if (command.now.empty()) {
    options.now = local_time_now();
    return options;
  }
  const std::optional<CivilTime> now = parse_time(command.now);
  if (!now) return usage("--now takes a time like 2026-03-14T15:09:26, not '" + command.now + "'");
  options.now = *now;
  return options;
}

namespace {

Result<void> check_prompt_options(const PromptOptions& command, bool needs_template) {
  const bool of_file_or_model = !command.wish.file.empty() || !command.wish.model.empty();
  if (of_file_or_model && !command.wish.format.empty()) {
    return usage("-f excludes -t and -m",
                 "-t FILE with -m MODEL renders your template with the model's special tokens");
  }
  if (!command.wish.any() && needs_template) {
    return usage("which template? give -t FILE, -m MODEL or -f FORMAT",
                 "parlance list formats shows the built-in formats");
  }
  if (command.as_is && command.as_transformers) return usage("--as-is and --as-transformers exclude each other");
  if (command.generation_prompt && command.no_generation_prompt) {
    return usage("--generation-prompt and --no-generation-prompt exclude each other");
  }
  return {};
}

/// The release to follow. What is read as it is, is rendered by Jinja2 as it is too, unless a release is named.
Result<TransformersVersion> release_of(const PromptOptions& command) {
  if (command.transformers.empty()) return command.as_is ? kPlainTransformers : kNewestTransformers;
  const TransformersRelease* found = find_transformers(command.transformers);
  if (found != nullptr) return found->version;
  const std::span<const TransformersRelease> known = transformers_releases();
  return usage("--transformers takes a release that is known here, not '" + command.transformers +
                   "'; known: " + std::string(known.front().name) + " to " + std::string(known.back().name),
               "parlance list releases shows them");
}

/// apply_chat_template runs Jinja alone.
Result<void> check_language(const PromptOptions& options, const ModelSource& source) {
  const auto is_go = [&](const NamedTemplate& t) { return options.wish.syntax.value_or(t.syntax) == Syntax::go; };
  if (!options.as_transformers || source.templates.empty() || !std::ranges::all_of(source.templates, is_go)) return {};
  return usage("--as-transformers is for Jinja templates, and " + source.templates.front().origin +
               " is a Go template");
}

/// Which of the templates are taken, and how they are compiled.
void choose_templates(const PromptOptions& options, TransformersVersion release, PromptSetup& setup) {
  RequestOptions& request = setup.request;
  request.adapt = !options.no_adapt;
  if (!options.wish.name.empty()) request.template_name = options.wish.name;
  request.syntax = options.wish.syntax;
  request.limits = setup.render.limits;
  request.compile = options.wish.compile;
  request.compile.limits = setup.render.limits;
  request.compile.syntax = options.wish.syntax.value_or(request.compile.syntax);
  request.read.transformers = request.compile.transformers = release;
}

}  // namespace

Result<void> prepare(PromptOptions& options, bool needs_template, PromptSetup& setup) {
  if (Result<void> checked = check_prompt_options(options, needs_template); !checked) return checked;
  Result<RequestOptions> request = request_of(options);
  if (!request) return request.error();
  Result<RenderOptions> render = render_options_of(options);
  if (!render) return render.error();
  const Result<TransformersVersion> release = release_of(options);
  if (!release) return release.error();
  setup.request = std::move(*request);
  setup.render = *render;
  options.wish.syntax = syntax_named(options.syntax);
  choose_templates(options, *release, setup);
  if (options.wish.any()) {
    Result<ModelSource> found = find_templates(options.wish);
    if (!found) return found.error();
    if (Result<void> checked = check_language(options, *found); !checked) return checked;
    setup.model = std::move(*found);
  }
  setup.open_reader();
  return {};
}

Result<void> check_no_example(const PromptOptions& options, const std::string& command) {
  if (!options.example) return {};
  return usage("--jsonl reads its requests from a file or standard input, and has no --example",
               "parlance " + command + " ... --jsonl requests.jsonl");
}

Result<ChatText> read_chat(const PromptOptions& command, const std::string& path) {
  if (command.example) {
    if (!path.empty())
      return usage("--example renders the format's own example, and takes no request", "leave one out");
    const BuiltinFormat* format = find_format(command.wish.format);
    if (format == nullptr) return usage("--example needs -f FORMAT, whose example it renders");
    return ChatText{std::string(format->example), "example of " + std::string(format->name)};
  }
  if (path.empty() && ::isatty(STDIN_FILENO) != 0) {
    return usage("no CHAT.json, and standard input is a terminal",
                 "parlance render -f terminal-agent --example renders an example");
  }
  Result<std::string> text = read_input(path, "a request");
  if (!text) return text.error();
  return ChatText{std::move(*text), input_name(path)};
}

void report_effort(const PromptOptions& options, const Conversation& conversation) {
  if (options.effort.empty()) return;
  for (const std::string& note : effort_notes(conversation)) say_note(note);
}

namespace {

/// The roles of a `--pass NAME:ROLES` that no message of the request has.
std::string roles_without_message(const Passes& asked, Value messages) {
  std::string missing;
  for (const NormalisePass& pass : normalise_passes()) {
    if (pass.takes != PassTakes::roles || !asked.asks_for(pass.pass)) continue;
    for (const std::string& role : asked.setting(pass.pass).roles) {
      const bool has =
          std::ranges::any_of(messages.items(), [&](Value message) { return message["role"].text() == role; });
      if (!has) missing.append(missing.empty() ? "" : ", ").append(std::string(pass.name) + ":" + role);
    }
  }
  return missing;
}

}  // namespace

void report_options(const PromptOptions& options, const PromptRequest& request) {
  Passes asked;
  for (const std::string& words : options.extra_passes) (void)asked.run(words);
  const std::string missing = roles_without_message(asked, request.conversation.messages());
  if (!missing.empty()) say_note("--pass " + missing + ": no effect: no message has this role");
  const TemplateFacts facts = request.compiled.facts();
  if (options.generation_prompt && facts.syntax == Syntax::jinja && !facts.reads("add_generation_prompt"))
    say_note("--generation-prompt: no effect: the template does not read add_generation_prompt");
}

namespace {

/// A file of -t is the user's own, whatever the model renders by.
bool is_template_of_model(const PromptOptions& options) { return options.wish.file.empty(); }

}  // namespace

void report_model(const PromptOptions& options, const PromptSetup& setup) {
  if (!is_template_of_model(options)) return;
  for (const std::string& note : setup.model.notes) say_note(setup.model.path + ": " + note);
}

void append_model_notes(std::string& out, const PromptOptions& options, const PromptSetup& setup) {
  if (!setup.model.notes.empty() && is_template_of_model(options))
    out += ", \"model_notes\": " + texts_as_json(setup.model.notes);
}

Result<PromptRequest> open_request(const PromptOptions& options, const PromptSetup& setup, const std::string& path) {
  Result<ChatText> chat = read_chat(options, path);
  if (!chat) return chat.error();
  Result<ChatRequest> request = setup.reader->consume(std::move(chat->text), chat->name);
  if (!request) return request.error();
  const Result<Template>& compiled = setup.reader->template_for(request->conversation);
  if (!compiled) return compiled.error();
  return PromptRequest{std::move(request->conversation), std::move(request->id), *compiled};
}

int report_render(const Error& error) {
  Error::Parts parts = error.parts();
  for (const LimitOption& row : kLimitOptions) {
    if (row.error == error.code() && parts.hint.empty()) parts.hint = std::string(row.name) + " N raises this limit";
  }
  return report(Error(std::move(parts)));
}

void declare_template_options(Options& app, PromptOptions& c) {
  app.add_option("-t,--template", c.wish.file,
                 "A template: Jinja, or Go's if its name ends in .gotmpl or .tmpl;\n- for standard input")
      .placeholder("FILE");
  app.add_option("-m,--model", c.wish.model,
                 kModelOption + std::string(";\nwith -t only its special tokens and tokenizer"))
      .placeholder("MODEL");
  app.add_option("-f,--format", c.wish.format, "A built-in format, see parlance list formats").placeholder("FORMAT");
  app.add_option("--name", c.wish.name, "Use this one of a model's named templates").placeholder("NAME");
  app.add_flag("--allow-changes", c.wish.compile.allow_changes,
               "Let a template change lists and dicts that it made (append, update),\nwhich transformers refuses");
  app.add_option("--syntax", c.syntax, "The template's language, overriding the file's extension: jinja or go")
      .placeholder("LANGUAGE")
      .one_of({"jinja", "go"});
}

namespace {

/// "" for an effort.
std::string doubt_of_effort(const std::string& given) {
  NearestName nearest(given);
  std::string all;
  for (const std::string_view effort : reasoning_efforts()) {
    if (effort == given) return {};
    nearest.offer(effort);
    all.append(all.empty() ? "" : ", ").append(effort);
  }
  return "'" + given + "' is not one of " + all + (nearest.best().empty() ? "" : "; " + nearest.hint());
}

}  // namespace

void declare_effort(Options& app, PromptOptions& c) {
  app.add_option("--reasoning-effort", c.effort,
                 "How much the model reasons: none, minimal, low, medium, high,\nxhigh or max; parlance format shows "
                 "what that sets")
      .placeholder("EFFORT")
      .check(doubt_of_effort);
}

void declare_example(Options& app, PromptOptions& c) {
  app.add_flag("--example", c.example, "With -f: render the format's example in place of CHAT");
}

void declare_request_options(Options& app, PromptOptions& c) {
  app.add_flag("--as-is", c.as_is,
               "Pass the request's members to the template as its variables, unchanged (all but id)");
  app.add_flag("--as-transformers", c.as_transformers,
               "Treat the request exactly as transformers' apply_chat_template does:\nno passes but its own");
  app.add_option("--transformers", c.transformers,
                 "The release of transformers to follow, e.g. 5.22; by default the newest known, " +
                     std::string(transformers_release(kNewestTransformers).name))
      .placeholder("VERSION");
  declare_variables(app, c.variables);
  declare_effort(app, c);
  app.add_option("--skip-pass", c.skip_passes, "Switch a normalisation pass off; may be repeated")
      .placeholder("PASS")
      .one_value();
  app.add_option("--pass", c.extra_passes,
                 "Switch on a pass that is off by default; may be repeated;\n"
                 "some take roles or a name: --pass content-parts:user,tool")
      .placeholder("PASS[:ARGUMENT]")
      .one_value();
  app.add_flag("--no-adapt", c.no_adapt, "Do not choose passes by what the template can show");
  app.add_option("--now", c.now, "The time that strftime_now prints, e.g. 2026-03-14T15:09:26").placeholder("TIME");
}

void declare_prompt_end(Options& app, PromptOptions& c) {
  app.add_flag("--generation-prompt", c.generation_prompt, "Open an assistant turn at the end");
  app.add_flag("--no-generation-prompt", c.no_generation_prompt,
               "Do not open one; by default as the request says, else on unless\nthe last message is the assistant's");
  app.add_flag("--continue", c.continue_last, "Leave the last assistant message open, cut after its last byte");
}

void declare_limits(Options& app, PromptOptions& c) {
  c.limits.resize(std::size(kLimitOptions));  // the options point into it
  for (std::size_t i = 0; i < std::size(kLimitOptions); ++i) {
    const LimitOption& row = kLimitOptions[i];
    app.add_option(row.name, c.limits[i], std::string(row.sentence) + " (" + shown_size(row.get({})) + ")")
        .placeholder("N");
  }
}

std::string given_limit(const PromptOptions& options, ErrorCode limit) {
  for (std::size_t i = 0; i < options.limits.size(); ++i) {
    if (kLimitOptions[i].error == limit) return options.limits[i];
  }
  return {};
}

}  // namespace parlance::cli
