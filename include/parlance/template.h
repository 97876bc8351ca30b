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
///     name           <template>    shown in errors
///     syntax         jinja         the language; the options below are Jinja's
///     trim_blocks    true          the newline after a block tag is dropped
///     lstrip_blocks  true          white space before a block tag at the start of a line is dropped
///     keep_trailing_newline false  a newline at the very end of the template stays
///     allow_changes  false         the template may change lists and dicts that it made (append, pop, update), which
///                                  the sandbox refuses; the conversation's stay protected
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

/// Memory that renders reuse. Give each thread its own. A render without one allocates its memory anew. After a move
/// it is as new.
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

/// A compiled template. Copies share one immutable program, and so does a moved-from one; safe to use from many threads
/// at once. It keeps its text and about twice as much again: 14 KB for a usual template, and some KB more once spans
/// were asked for.
class Template {
 public:
  Template(const Template&) noexcept = default;
  Template& operator=(const Template&) noexcept = default;
  ~Template() = default;

  /// Compiles Jinja template text.
  /// Fails with: syntax, unknown_builtin, python_syntax (each with line, column and excerpt); limit_depth;
  /// unicode_decode for text that is not UTF-8 (lone surrogates as three bytes are allowed, as in Python's str).
  static Result<Template> compile(std::string_view text, const CompileOptions& options = {});

  /// Renders a conversation. Fails with the error that the template runs into (place, Python class, path of the
  /// offending input); `raised` for raise_exception; limit_* if a limit of `options` is reached; conversation if
  /// continue_final has nothing to continue.
  Result<Rendering> render(const Conversation& conversation, const RenderOptions& options = {}) const;
  /// The same with reused memory; `into` keeps its capacity. No heap allocation once warm, that is, after a render that
  /// took as much memory (a workspace keeps some megabytes), unless the assistant's ranges have to be found without
  /// {% generation %} tags, undefined values are asked for, or the render fails.
  Result<void> render(const Conversation& conversation, const RenderOptions& options, Workspace& workspace,
                      Rendering& into) const;

  /// The prompt as the pieces it is made of, in order, for callers that can stream it and need no contiguous string.
  /// Fails as render() does. Options about spans and the assistant have no effect.
  /// Lifetime: the views hold while `workspace` is not used again and the template and the conversation are alive.
  Result<std::vector<std::string_view>> render_pieces(const Conversation& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const&;
  Result<std::vector<std::string_view>> render_pieces(const Conversation& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const&& = delete;
  Result<std::vector<std::string_view>> render_pieces(const Conversation&& conversation, const RenderOptions& options,
                                                      Workspace& workspace) const& = delete;

  /// The same template, compiled with CompileOptions::allow_changes. derive() uses it for a template that the sandbox
  /// refuses and other programs run. Do not use it for real prompts: transformers' sandbox would refuse them.
  /// Fails as compile() does.
  Result<Template> with_changes() const;

  const std::string& name() const&;
  std::string name() const&&;
  /// The language it is written in.
  Syntax syntax() const;
  /// Does a {% generation %} tag stand in it?
  bool has_generation_tag() const;
  /// What it mentions. For a Go template only the syntax is set, since Go's data have fixed names.
  TemplateFacts facts() const;
  /// The instructions it compiled to, for people.
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
