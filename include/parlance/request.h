// Requests: from the body of a chat request to its prompt, and to how the reply to it is read.
//
//     auto model = parlance::open_model("models/mine");
//     if (!model) return fail(model.error());
//     const parlance::RequestReader reader(std::move(*model));   // one for all requests, of all threads
//
//     auto request = reader.read(body);                          // of OpenAI's API, Anthropic's, Gemini's, Ollama's
//     if (!request) return fail(request.error());
//     auto start = reader.reply_to(*request);                    // its reply's format, its tools, where it begins
//     if (!start) return fail(start.error());
//     auto prompt = reader.render(*request);
//     if (!prompt) return fail(prompt.error());
//     auto constraints = parlance::grammar_options(*request, *start);    // tools, tool_choice, response_format
//     if (!constraints) return fail(constraints.error());
//     auto grammar = grammars.text(start->format.source(), *constraints,   // grammars: a GrammarCache
//                                  parlance::GrammarSyntax::gbnf);
//     parlance::ReplyParser parser(start->format, start->options);
//
// docs/embedding.md has the whole chain of a server, as a program.
//
// Experiments find what a template can show and how its model writes replies. They run when the first request needs
// them.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/grammar.h"
#include "parlance/limits.h"
#include "parlance/render.h"
#include "parlance/reply.h"
#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/source.h"
#include "parlance/syntax.h"
#include "parlance/template.h"
#include "parlance/value.h"

namespace parlance {

/// Options of a RequestReader.
///
///     field          default             effect
///     read           see ReadOptions     how requests are read
///     adapt          true                adds the passes that the template needs for a request (adapt() in derive.h);
///                                        has no effect if requests are read as is, or as transformers reads them
///     variables      none                name and JSON, in place of the request's
///     template_name  unset               which of the model's templates; else as ModelSource::choose has it
///     syntax         unset               the language of the templates, whatever the model says
///     compile        see CompileOptions  how they are compiled; name and syntax are the template's own
///     reply_format   unset               how replies are written, where it is known; else it is derived
///     limits         see Limits          bounds of the experiments, as in DeriveOptions
struct RequestOptions {
  ReadOptions read{};
  bool adapt = true;
  std::vector<std::pair<std::string, std::string>> variables{};
  std::optional<std::string> template_name{};
  std::optional<Syntax> syntax{};
  CompileOptions compile{};
  std::optional<ReplyFormat> reply_format{};
  Limits limits{};
};

/// A request, read for a template.
struct ChatRequest {
  Conversation conversation;
  std::string id{};  ///< its member `id` as JSON, which is no variable; "": it has none
};

/// How a reply is read: what a ReplyParser is made of.
struct ReplyStart {
  CompiledReplyFormat format{};
  ReplyOptions options{};
  std::vector<std::string> notes{};  ///< about this request: why its prompt does not tell where the reply begins, …
  std::string doubt{};               ///< why the derived reply format is not verified; "" if it is, or was given
};

/// Reads the requests to one model. Templates are compiled, and experiments made, when they are first needed, and once.
///
/// A moved-from reader is one of a model without templates.   Threads: any. One runs an experiment while the others
/// wait for it.
class RequestReader {
 public:
  /// For a model's templates. A model without templates is allowed: requests can be read, and not rendered.
  explicit RequestReader(ModelSource model, RequestOptions options = {});
  /// For one template that needs no special tokens besides those in requests.
  explicit RequestReader(Template chat_template, RequestOptions options = {});
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;
  ~RequestReader();

  /// Reads a request as Conversation::from_json does, with passes that fit the template. Then sets `variables`, and the
  /// special tokens and messages of the model (add_model). `name` is what errors call the text.
  /// Fails with: json (place); conversation (path).
  Result<ChatRequest> read(std::string_view body, std::string_view name = "<input>") const;
  /// The same for a text that nobody needs afterwards (Conversation::consume).
  Result<ChatRequest> consume(std::string body, std::string_view name = "<input>") const;
  /// The same into memory that is used again. After a failure `into` has the id, if there is one.
  Result<void> read_into(ChatRequest& into, std::string_view body, std::string_view name = "<input>") const;

  /// The template for requests with or without tools. Fails with no_template, and as Template::compile does.
  /// Lifetime: the reader's.
  const Result<Template>& chat_template(bool with_tools) const&;
  const Result<Template>& chat_template(bool with_tools) const&& = delete;
  /// The template for this request.
  const Result<Template>& template_for(const Conversation& conversation) const&;
  const Result<Template>& template_for(const Conversation& conversation) const&& = delete;

  /// The request's prompt, by the template for it. Fails with no_template, and as Template::compile and
  /// Template::render do.
  Result<Rendering> render(const ChatRequest& request, const RenderOptions& options = {}) const;
  /// The same with reused memory, as Template::render has it.
  Result<void> render(const ChatRequest& request, const RenderOptions& options, Workspace& workspace,
                      Rendering& into) const;

  /// How the reply to a request is read: the reply format under the request's variables, the request's tools, and what
  /// its prompt ends with. `options` are those of the prompt's own render.
  ///
  /// If the template does not render the request, the reply is read from where prompts usually end, and a note says
  /// why. If the template needs special tokens that are not known, this sets them to "" in the request. Fails with:
  /// value if the tools cannot be written as JSON; as derive() does.
  Result<ReplyStart> reply_to(ChatRequest& request, const RenderOptions& options = {}) const;
  /// How a reply is read if its prompt is not known. `variables` is an object with the request's; anything else: none.
  Result<ReplyStart> reply(Value variables = {}) const;

  const ModelSource& model() const&;
  const ModelSource& model() const&& = delete;
  const RequestOptions& options() const&;
  const RequestOptions& options() const&& = delete;

 private:
  struct State;
  State& inside() const;

  std::unique_ptr<State> state_;
};

/// Does the request have tools, as far as the choice of a template goes?
bool has_tools(const Conversation& conversation);
/// Those of Conversation::notes() that say how a requested reasoning effort was not followed.
std::vector<std::string> effort_notes(const Conversation& conversation);

/// What a request asks of its reply, as options of a grammar: `tools`, `tool_choice`, `parallel_tool_calls`,
/// `max_tool_calls` and `response_format`, each as any of these APIs writes it: OpenAI's chat completions and
/// Responses, Anthropic's Messages, Ollama, vLLM, SGLang, llama.cpp. Set GrammarOptions::prompt to the
/// ReplyOptions::prompt of RequestReader::reply_to.
///
/// Fails with: json (place); conversation if a member is none of these, with its path and what is allowed.
Result<GrammarOptions> grammar_options(std::string_view body, std::string_view name = "<input>");
/// The same from the variables of a conversation, so that tools are given once.
Result<GrammarOptions> grammar_options(const Conversation& conversation);
/// The same for the reply to a request that was read: from where its prompt ends.
Result<GrammarOptions> grammar_options(const ChatRequest& request, const ReplyStart& start);
/// Sets the choice of tools by a word: auto, required (or any), none; another word is the name of a tool.
void choose_tool(GrammarOptions& options, std::string_view word);

}  // namespace parlance
