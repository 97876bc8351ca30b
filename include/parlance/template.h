// Template: a chat template compiled once, rendered many times from any number of threads.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/result.h"
#include "parlance/syntax.h"
#include "parlance/transformers.h"

namespace parlance {

/// Options of compile(). Defaults are what transformers uses for chat templates.
///
///     field          default       effect
///     name           <template>    the template's name in errors
///     syntax         jinja         the template language; the options below apply to Jinja only
///     trim_blocks    true          the newline after a block tag is dropped
///     lstrip_blocks  true          white space before a block tag at the start of a line is dropped
///     keep_trailing_newline false  a newline at the very end of the template is kept
///     allow_changes  false         the template may change lists and dicts that it made (append, pop, update), which
///                                  the sandbox refuses; those of the conversation stay protected
///     transformers   the newest    the release whose `dict` and namespace() the template has
struct CompileOptions {
  std::string name = "<template>";
  Syntax syntax = Syntax::jinja;
  bool trim_blocks = true;
  bool lstrip_blocks = true;
  bool keep_trailing_newline = false;
  bool allow_changes = false;
  TransformersVersion transformers = kNewestTransformers;
  Limits limits;
};

/// Memory that renders reuse. Give each thread its own. A render without a workspace allocates its memory anew. A
/// moved-from workspace can be used like a new one.
class Workspace {
 public:
  Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  struct State;
  State& inside();

  std::unique_ptr<State> state_;
};

/// The names that a template's text mentions. They only suggest which experiments to try (derive.h); nothing is
/// concluded from them.
struct TemplateFacts {
  Syntax syntax = Syntax::jinja;
  std::vector<std::string> variables;  ///< variables it reads, without those built into the language
  std::vector<std::string> members;    ///< members it reads by `.name`
  std::vector<std::string> texts;      ///< string constants and literal text, each at most 256 bytes
  bool reads(std::string_view variable) const;
  /// Whether the name occurs as a member, or as a string, which is how `message['name']` reads it.
  bool mentions(std::string_view name) const;
};

/// A compiled template. Copies share one immutable program; so does a moved-from template. Many threads may use one at
/// once. It takes about three times the memory of its text: 14 KB for a usual template, and some KB more after the
/// first render with spans.
class Template {
 public:
  Template(const Template&) noexcept = default;
  Template& operator=(const Template&) noexcept = default;
  ~Template() = default;

  /// Compiles Jinja template text.
  /// Fails with: syntax, unknown_builtin, python_syntax (each with line, column and excerpt); limit_depth;
  /// unicode_decode for text that is not UTF-8 (lone surrogates as three bytes are allowed, as in Python's str).
  static Result<Template> compile(std::string_view text, const CompileOptions& options = {});

  /// Renders a conversation. Fails with: the template's own error (place, Python class, path of the offending input);
  /// `raised` for raise_exception; limit_* if a limit of `options` is reached; conversation if continue_final has
  /// nothing to continue.
  Result<Rendering> render(const Conversation& conversation, const RenderOptions& options = {}) const;
  /// The same with reused memory; `into` keeps its capacity. After a render that took as much memory, this one
  /// allocates nothing on the heap (a workspace keeps at most some megabytes). There are three exceptions:
  /// want_assistant for a template without {% generation %} tags, want_undefined, and a render that fails.
  Result<void> render(const Conversation& conversation, const RenderOptions& options, Workspace& workspace,
                      Rendering& into) const;

  /// The prompt as a list of pieces, in order, for callers that can stream it and need no contiguous string. Fails as
  /// render() does. Options about spans and the assistant have no effect.
  /// Lifetime: the views are valid until `workspace` is used again, while the template and the conversation are alive.
  Result<std::vector<std::string_view>> render_pieces(const Conversation& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const&;
  Result<std::vector<std::string_view>> render_pieces(const Conversation& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const&& = delete;
  Result<std::vector<std::string_view>> render_pieces(const Conversation&& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const& = delete;

  /// The same template, compiled with CompileOptions::allow_changes. derive() uses it for templates that the sandbox
  /// refuses but other programs run. Do not use it for real prompts: transformers' sandbox would refuse them. Fails as
  /// compile() does.
  Result<Template> with_changes() const;

  const std::string& name() const&;
  std::string name() const&&;
  /// The language it is written in.
  Syntax syntax() const;
  /// Whether the template has a {% generation %} tag.
  bool has_generation_tag() const;
  /// The names in its text. For a Go template only the syntax is set, since Go's data have fixed names.
  TemplateFacts facts() const;
  /// A listing of its instructions, for people.
  std::string list_code() const;

 private:
  struct Impl;
  explicit Template(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  friend struct TemplateInside;  // for parlance's own modules
  friend Result<void> render_with(const Template& chat_template, const Conversation& conversation, Value variables,
                                  const RenderOptions& options, Workspace& workspace, Rendering& into);
  Result<bool> run(const Conversation& conversation, Value variables, const RenderOptions& options,
                   Workspace& workspace, bool wants_provenance, Rendering* into,
                   const ListObject* first_messages = nullptr) const;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace parlance
