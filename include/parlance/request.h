// Requests: reads the body of a chat request, renders its prompt, and prepares reading the reply.
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
// docs/embedding.md has a whole server as a program.
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
#include "parlance/reply_kinds.h"
#include "parlance/result.h"
#include "parlance/source.h"
#include "parlance/syntax.h"
#include "parlance/template.h"
#include "parlance/tokens.h"
#include "parlance/value.h"

namespace parlance {

class DocumentBuilder;

/// Options of a RequestReader.
///
///     field          default             effect
///     read           see ReadOptions     how requests are read
///     adapt          true                adds the passes that the template needs for a request (adapt() in derive.h);
///                                        has no effect if requests are read as is, or as transformers reads them
///     variables      none                name and JSON of variables that replace those of requests
///     template_name  unset               the template to use; unset: ModelSource::choose decides
///     syntax         unset               the template language, overriding what the model says
///     compile        see CompileOptions  options of Template::compile, except name and syntax
///     reply_format   unset               the reply format, if it is known; unset: it is derived
///     control_tokens none                Tokenizer::control_texts(), if replies are fed as tokens: a marker that the
///                                        model only spells out is text (ReplyFormat::with_control)
///     limits         see Limits          limits of the experiments, as in DeriveOptions
struct RequestOptions {
  ReadOptions read{};
  bool adapt = true;
  std::vector<std::pair<std::string, std::string>> variables{};
  std::optional<std::string> template_name{};
  std::optional<Syntax> syntax{};
  CompileOptions compile{};
  std::optional<ReplyFormat> reply_format{};
  std::vector<std::string> control_tokens{};
  Limits limits{};
};

/// A request, read for a template.
struct ChatRequest {
  Conversation conversation;
  std::string id{};  ///< the request's `id` as JSON; it is not a variable. "": it has none
};

/// How to read a reply: the arguments of a ReplyParser.
struct ReplyStart {
  CompiledReplyFormat format{};
  ReplyOptions options{};
  std::vector<std::string> notes{};  ///< about this request: why its prompt does not show where the reply begins, …
  std::string doubt{};               ///< why the derived reply format is not verified; "" if it is, or was given
};

/// Reads the requests to one model. It compiles each template, and makes each experiment, once: when first needed.
///
/// A moved-from reader acts like that of a model without templates.   Threads: any. While one thread makes an
/// experiment, others that need it wait.
class RequestReader {
 public:
  /// For a model's templates. If the model has none, requests can be read but not rendered.
  explicit RequestReader(ModelSource model, RequestOptions options = {});
  /// For one template. Special tokens can only come from the requests.
  explicit RequestReader(Template chat_template, RequestOptions options = {});
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;
  ~RequestReader();

  /// Reads a request as Conversation::from_json does, with the passes that the template needs. Then sets `variables`,
  /// and the special tokens and messages of the model (add_model). Errors call the text `name`.
  /// Fails with: json (place); conversation (path).
  Result<ChatRequest> read(std::string_view body, std::string_view name = "<input>") const;
  /// The same for a request to this API, in place of ReadOptions::sent_to.
  Result<ChatRequest> read(std::string_view body, std::string_view name, SentTo sent_to) const;
  /// The same, parsing the text in place (Conversation::consume).
  Result<ChatRequest> consume(std::string body, std::string_view name = "<input>") const;
  /// The same, reusing the memory of `into`. After a failure, `into` still has the request's id, if it has one.
  Result<void> read_into(ChatRequest& into, std::string_view body, std::string_view name = "<input>") const;
  Result<void> read_into(ChatRequest& into, std::string_view body, std::string_view name, SentTo sent_to) const;
  /// The same with the values that a builder was given, which is empty afterwards.
  Result<void> read_into(ChatRequest& into, DocumentBuilder& built) const;

  /// The template for requests with or without tools. Fails with no_template, and as Template::compile does.
  /// Lifetime: the reader's.
  const Result<Template>& chat_template(bool with_tools) const&;
  const Result<Template>& chat_template(bool with_tools) const&& = delete;
  /// The template for this request.
  const Result<Template>& template_for(const Conversation& conversation) const&;
  const Result<Template>& template_for(const Conversation& conversation) const&& = delete;

  /// Renders the request with the template for it. Fails with no_template, and as Template::compile and
  /// Template::render do.
  Result<Rendering> render(const ChatRequest& request, const RenderOptions& options = {}) const;
  /// The same with reused memory, as Template::render.
  Result<void> render(const ChatRequest& request, const RenderOptions& options, Workspace& workspace,
                      Rendering& into) const;

  /// How to read the reply to a request: the reply format under the request's variables, the request's tools, and the
  /// end of its prompt. `options` must be those of the prompt's own render.
  ///
  /// If the template fails to render the request, the format's usual end of a prompt is used, and a note says why. If
  /// the template needs special tokens that are not known, this sets them to "" in the request. Fails with: value if
  /// the tools cannot be written as JSON, or if validate() refuses RequestOptions::reply_format (path
  /// `reply_format.FIELD`); as derive() does.
  Result<ReplyStart> reply_to(ChatRequest& request, const RenderOptions& options = {}) const;
  /// The same where the prompt was rendered already, with these options: `prompt` is its text.
  Result<ReplyStart> reply_to(const Conversation& conversation, const RenderOptions& options,
                              std::string_view prompt) const;
  /// How to read a reply whose prompt is not known. `variables` is an object with the request's variables; any other
  /// value means none.
  Result<ReplyStart> reply(Value variables = {}) const;

  /// What each byte of Rendering::assistant() is: reasoning, content, calls (PromptKinds). `rendering` is one of this
  /// conversation, with want_assistant and spans. Fails as reply_to() does.
  Result<std::vector<KindRange>> reply_kinds(const Conversation& conversation, const Rendering& rendering) const;

  /// The tokens that end a reply: those that end one in the reply format, and those that the tokenizer and the model
  /// declare. If every end of the format consists of several tokens, the token that the template writes behind an
  /// answer ends a reply too. If the format knows no end, they are those of stop_set(). Fails as stop_set() does, with
  /// no_template, and as Template::compile does.
  Result<std::vector<StopToken>> stop_tokens(const Tokenizer& tokenizer, const RenderOptions& options = {}) const;

  const ModelSource& model() const&;
  const ModelSource& model() const&& = delete;
  const RequestOptions& options() const&;
  const RequestOptions& options() const&& = delete;

 private:
  struct State;
  State& inside() const;

  std::unique_ptr<State> state_;
};

/// Whether the request has tools, for the choice of a template.
bool has_tools(const Conversation& conversation);
/// The notes of Conversation::notes() about a reasoning effort that was not used as requested.
std::vector<std::string> effort_notes(const Conversation& conversation);

/// The grammar options that a request asks for: `tools`, `tool_choice`, `parallel_tool_calls`, `max_tool_calls` and
/// `response_format`, each in the form of any of these APIs: OpenAI's chat completions and Responses, Anthropic's
/// Messages, Ollama, vLLM, SGLang, llama.cpp. Set GrammarOptions::prompt to the ReplyOptions::prompt of
/// RequestReader::reply_to.
///
/// Fails with: json (place); conversation if a member has none of these forms, with its path and what is allowed.
Result<GrammarOptions> grammar_options(std::string_view body, std::string_view name = "<input>");
/// The same from the variables of a conversation.
Result<GrammarOptions> grammar_options(const Conversation& conversation);
/// The same for a request that was read, beginning where its prompt ends.
Result<GrammarOptions> grammar_options(const ChatRequest& request, const ReplyStart& start);
Result<GrammarOptions> grammar_options(const Conversation& conversation, const ReplyStart& start);
/// Sets the tool choice by a word: auto, required (or any), none; any other word is the name of a tool.
void choose_tool(GrammarOptions& options, std::string_view word);

}  // namespace parlance
