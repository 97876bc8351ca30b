// parlance render: options, then one of three ways: a list, one request, or JSONL.
//
// Begin reading at run_render. A RequestReader reads single requests and lines of JSONL alike.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/nearest.h"
#include "base/surrogates.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/lines/lines.h"
#include "cli/losses.h"
#include "cli/odd_roles.h"
#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/segments.h"

namespace parlance::cli {
namespace {

enum class Show { text, json, html, color };

/// Whether origins are shown in colours.
bool shows_color(const std::string& when) { return when == "auto" ? output_shows_color() : when == "always"; }

struct RenderCommand {
  PromptOptions prompt;
  std::string chat;
  bool json = false;
  bool html = false;
  std::string color;  ///< auto, always, never; empty: as never
  bool jsonl = false;
  LineWish lines;
  bool assistant = false;
  bool list = false;
  bool list_passes = false;

  LossWish losses;

  Show show() const { return json ? Show::json : html ? Show::html : shows_color(color) ? Show::color : Show::text; }
};

// ---- lists

int list_formats() {
  std::string text;
  for (const BuiltinFormat& format : builtin_formats()) {
    text.append(format.name);
    if (!format.aliases.empty()) text.append(" (").append(format.aliases).append(")");
    text.append("\n    ").append(format.sentence).append("\n");
  }
  return print(text);
}

int list_passes() {
  std::string text;
  for (const NormalisePass& pass : normalise_passes()) {
    text.append(pass.name);
    const std::string takes(name_of(pass.takes));
    if (pass.takes != PassTakes::nothing)
      text.append(pass.takes == PassTakes::roles ? "[:" + takes + "]" : ":" + takes);
    text.append(pass.by_default ? "\n    " : " (off by default)\n    ").append(pass.sentence).append("\n");
  }
  return print(text);
}

// ---- one request

/// Of a prompt that nobody can print: names the input whose escape is half a pair. Renders it once more, with spans.
int report_surrogate(const Template& compiled, const Conversation& conversation, RenderOptions options) {
  options.want_spans = true;
  const Result<Rendering> rendering = compiled.render(conversation, options);
  if (!rendering) return report_render(rendering.error());
  const auto spans = rendering->spans();
  const auto half = std::find_if(spans.begin(), spans.end(), [&](const Span& span) {
    return utf8::has_surrogates(rendering->text().substr(span.begin, span.end - span.begin));
  });
  const std::string path = half == spans.end() ? "" : path_of_span(conversation, *half);
  return report(path.empty() ? lone_surrogate() : lone_surrogate().input(path));
}

/// The prompt alone. Where nobody asks what it lacks, it is never put together: a long one need not be in memory twice.
int show_pieces(const Template& compiled, const Conversation& conversation, const RenderOptions& options) {
  Workspace workspace;
  const Result<std::vector<std::string_view>> pieces = compiled.render_pieces(conversation, options, workspace);
  if (!pieces) return report_render(pieces.error());
  const bool unprintable = std::any_of(pieces->begin(), pieces->end(), utf8::has_surrogates);
  return unprintable ? report_surrogate(compiled, conversation, options) : print(*pieces);
}

int print_rendering(const RenderCommand& command, const PromptSetup& setup, const PromptRequest& request,
                    CheckedRendering checked) {
  const Conversation& conversation = request.conversation;
  switch (command.show()) {
    case Show::text: {
      const std::string_view text = checked.rendering.text();
      return utf8::has_surrogates(text) ? report_surrogate(request.compiled, conversation, setup.render) : print(text);
    }
    case Show::json: {
      std::string out = "{";
      if (!request.id.empty()) out.append("\"id\": ").append(request.id).append(", ");
      checked.losses = in_options(std::move(checked.losses));
      append_rendering(out, conversation, checked, {.spans = true, .assistant = command.assistant});
      append_model_notes(out, command.prompt, setup);
      return print(out += "}\n");
    }
    case Show::html: return print(render_html(conversation, checked.rendering, request.compiled.name()));
    case Show::color: return print(render_color(conversation, checked.rendering));
  }
  return 0;
}

int render_one(const RenderCommand& command, const PromptSetup& setup) {
  const Result<PromptRequest> request = open_request(command.prompt, setup, command.chat);
  if (!request) return report(request.error());
  const LossWish& wish = command.losses;
  if (command.json || wish.quiet) report_effort(command.prompt, request->conversation);
  if (!command.json && !wish.quiet) {
    report_model(command.prompt, setup);
    report_options(command.prompt, *request);
  }
  if (command.show() == Show::text && !wish.wanted())
    return show_pieces(request->compiled, request->conversation, setup.render);
  Result<CheckedRendering> checked =
      render_checked(wish, request->compiled, request->conversation, setup.render, !command.json);
  if (!checked) return report_render(checked.error());
  return print_rendering(command, setup, *request, *std::move(checked));
}

// ---- JSONL

int render_each_line(const RenderCommand& command, const PromptSetup& setup) {
  if (!command.losses.quiet) report_model(command.prompt, setup);
  BulkRendering rendering;
  rendering.render = setup.render;
  rendering.render.want_spans = command.json;
  rendering.on_loss = command.losses.on_loss();
  rendering.members = {.spans = command.json, .assistant = command.assistant};
  OddRoles roles(setup.model);
  rendering.write = [&roles, members = rendering.members](const Conversation& conversation, CheckedRendering& checked,
                                                          std::string& out) -> Result<void> {
    roles.add(conversation);
    checked.losses = in_options(std::move(checked.losses));
    append_rendering(out, conversation, checked, members);
    return {};
  };
  rendering.own_templates = !command.prompt.wish.any();
  return run_lines(command.chat, command.lines, setup, command.losses,
                   [&](const BulkInput& input, const BulkOutput& output, const BulkOptions& options) {
                     Result<BulkProgress> done = render_lines(input, output, *setup.reader, rendering, options);
                     if (done && !command.losses.quiet) roles.report(done->lines);
                     return done;
                   });
}

// ---- the command

Result<void> check_render_options(const RenderCommand& command) {
  if (!command.color.empty() && command.color != "auto" && command.color != "always" && command.color != "never") {
    NearestName nearest(command.color);
    for (const std::string_view known : {"auto", "always", "never"}) nearest.offer(known);
    return usage("--color takes auto, always or never, not '" + command.color + "'",
                 nearest.best().empty() ? "--color alone is --color=always" : nearest.hint());
  }
  const bool color = command.color == "always";
  if (command.json + command.html + color > 1) return usage("--json, --html and --color exclude each other");
  if (command.jsonl && (command.html || color)) return usage("--jsonl gives JSON; --html and --color show one prompt");
  if (Result<void> checked = check_line_options(command.jsonl, command.lines, command.losses); !checked) return checked;
  return command.jsonl ? check_no_example(command.prompt, "render") : Result<void>();
}

int run_render(RenderCommand& command) {
  if (command.list) return list_formats();
  if (command.list_passes) return list_passes();
  if (Result<void> checked = check_render_options(command); !checked) return report(checked.error());
  PromptSetup setup;
  if (Result<void> done = prepare(command.prompt, !command.jsonl, setup); !done) return report(done.error());
  setup.render.want_spans = command.show() != Show::text;
  setup.render.want_assistant = command.assistant;
  command.losses.in_lines = command.json;
  return command.jsonl ? render_each_line(command, setup) : render_one(command, setup);
}

constexpr const char* kRenderExamples = R"(Examples:
  parlance list formats                               the built-in formats
  parlance render -f terminal-agent --example --color         one of them at work, coloured by origin
  parlance render -m path/to/model chat.json          with a model's own template
  parlance render -t chat_template.jinja chat.json --var 'bos_token=<s>' --no-generation-prompt
  parlance render -m path/to/model --jsonl requests.jsonl.gz -o prompts.jsonl.zst)";

}  // namespace

Run declare_render(Options& app) {
  auto command = std::make_shared<RenderCommand>();
  RenderCommand& c = *command;
  app.examples(kRenderExamples);
  app.add_option("CHAT", c.chat, "A chat request as JSON: messages, tools, ...; - or nothing for standard input")
      .placeholder("FILE");
  declare_template_options(app, c.prompt);
  declare_example(app, c.prompt);
  declare_request_options(app, c.prompt);
  declare_prompt_end(app, c.prompt);
  app.add_flag("--json", c.json, "Print text, spans, generation ranges and notes as JSON");
  app.add_flag("--html", c.html, "Print a page that shows where every byte came from");
  app.add_flag(
         "--color{always}", c.color,
         "Print the prompt coloured by origin, for a terminal; auto: if the\noutput is one and NO_COLOR is not set")
      .placeholder("WHEN");
  app.add_flag("--jsonl", c.jsonl,
               "CHAT has one request a line; one result a line out, in order;\n"
               "without -t, -m, -f a line is {\"source\": template, \"context\": variables}");
  declare_lines(app, c.lines, c.losses);
  app.add_flag("--assistant-mask", c.assistant, "Add `assistant`, the ranges an assistant wrote, to JSON results");
  declare_losses(app, c.losses);
  declare_limits(app, c.prompt);
  app.add_flag("--list", c.list, "The same as parlance list formats, shorter");
  app.add_flag("--list-passes", c.list_passes, "The same as parlance list passes, shorter");
  return [command] { return run_render(*command); };
}

}  // namespace parlance::cli
