// What the commands that render prompts take: a template, how a request is read, what the render may cost.
//
// The options are declared in one place, so that they have the same names and meanings in each command.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/options/template_choice.h"
#include "cli/options/variables.h"
#include "parlance/request.h"

namespace parlance::cli {

class Options;

struct PromptOptions {
  TemplateWish wish;
  std::string syntax;
  bool example = false;
  bool as_is = false;
  bool as_transformers = false;
  std::string transformers;
  bool no_adapt = false;
  VariableWish variables;
  std::vector<std::string> skip_passes;
  std::vector<std::string> extra_passes;
  std::string effort;
  bool generation_prompt = false;
  bool no_generation_prompt = false;
  bool continue_last = false;
  std::string now;
  std::vector<std::string> limits;  ///< what the options of limits were given, in the order of their table
};

/// Declares the options: first those that choose a template, then those of requests and prompts, then limits.
void declare_template_options(Options& app, PromptOptions& options);
void declare_request_options(Options& app, PromptOptions& options);
/// Whether the prompt opens a reply, for all commands but the agent, whose prompts always do.
void declare_prompt_end(Options& app, PromptOptions& options);
/// --example, for commands that take one request.
void declare_example(Options& app, PromptOptions& options);
/// --reasoning-effort, one of declare_request_options(), for commands that take no others of these.
void declare_effort(Options& app, PromptOptions& options);
void declare_limits(Options& app, PromptOptions& options);
/// What the option that raises this limit was given; "" where it was not.
std::string given_limit(const PromptOptions& options, ErrorCode limit);

/// How requests are read. Fails with usage.
Result<RequestOptions> request_of(const PromptOptions& options);
/// How prompts are rendered: the limits, the time, the generation prompt. Fails with usage.
Result<RenderOptions> render_options_of(const PromptOptions& options);

/// What a command renders with.
struct PromptSetup {
  RequestOptions request;
  RenderOptions render;
  ModelSource model;  ///< nothing where the options name no template
  std::optional<RequestReader> reader;

  /// Makes the reader of what stands above; again, once that was changed.
  void open_reader() { reader.emplace(model, request); }
};
/// Checks what excludes what, and opens the templates that the options name. Fails with usage, and as find_templates().
Result<void> prepare(PromptOptions& options, bool needs_template, PromptSetup& setup);
/// Requests a line each come from a file or standard input, not from an example. Fails with usage.
Result<void> check_no_example(const PromptOptions& options, const std::string& command);

/// The text of a request and what to call it in errors.
struct ChatText {
  std::string text;
  std::string name;
};
/// Reads a file, "-" or "" for standard input, or with --example the format's own.
Result<ChatText> read_chat(const PromptOptions& options, const std::string& path);

/// One request, and the template for it.
struct PromptRequest {
  Conversation conversation;
  std::string id;  ///< as JSON; "": none
  Template compiled;
};
/// Says on standard error where an effort that an option asks for is not taken so.
void report_effort(const PromptOptions& options, const Conversation& conversation);
/// Says which options do nothing here: --pass for a role that the request has not, --generation-prompt where the
/// template does not read it.
void report_options(const PromptOptions& options, const PromptRequest& request);
/// Says what the model's files say of the template that they bring; as JSON a member `model_notes`, with a comma before
/// it, where there is something to say.
void report_model(const PromptOptions& options, const PromptSetup& setup);
void append_model_notes(std::string& out, const PromptOptions& options, const PromptSetup& setup);
/// Reads a request as read_chat() does. Fails as RequestReader::consume and chat_template do.
Result<PromptRequest> open_request(const PromptOptions& options, const PromptSetup& setup, const std::string& path);

/// An error of the command line.
Error usage(std::string message, std::string hint = {});
/// Reports a render that failed. Who meets a limit is told which option raises it.
int report_render(const Error& error);

}  // namespace parlance::cli
