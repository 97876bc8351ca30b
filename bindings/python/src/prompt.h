// What a Template, a Rendering and a Session share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gil_aside.h"
#include "made_once.h"
#include "objects.h"
#include "parlance/losses.h"
#include "parlance/reply_kinds.h"
#include "parlance/request.h"

namespace parlance::python {

/// A model's templates, compiled, and what is found out about them. Threads: any.
struct Engine {
  explicit Engine(RequestReader opened);
  /// Of each render, and of experiments.
  const Limits& limits() const { return reader.options().limits; }
  /// Whether requests are given to the template as they are.
  bool is_as_is() const { return !reader.options().read.normalise; }

  RequestReader reader;
  /// Whether the text of a template has the name of a function that gives the time: else no render looks at its clock.
  bool may_read_clock;
  mutable QuickSize quick;
};

inline bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Counts characters of a text by its bytes: Python's str is indexed by characters.
class Characters {
 public:
  explicit Characters(std::string_view text);
  /// How many characters begin before this byte.
  std::size_t before(std::size_t byte) const;

 private:
  static constexpr std::size_t kBlock = 128;
  std::string_view text_;
  std::vector<std::uint32_t> blocks_;  ///< characters before each block; empty: the text is ASCII
};

/// A request and its prompt. It stays where it is: spans refer to the request. Once it is rendered, nothing changes it.
struct Prompt {
  Prompt() = default;
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  std::shared_ptr<const Engine> engine;
  ChatRequest request;
  RenderOptions options;
  Rendering rendering;

  /// Those of the rendering's text, counted when first asked for. Threads: any.
  const Characters& characters() const {
    return characters_.get([this] { return Characters(rendering.text()); });
  }
  /// For another request.
  void reuse(std::shared_ptr<const Engine> another, const RenderOptions& given);

 private:
  MadeOnce<Characters> characters_;
};

/// Everything that render() takes, as Python gives it.
struct RenderArguments {
  nb::handle messages;
  nb::handle tools;
  nb::handle documents;
  std::optional<bool> add_generation_prompt;
  std::optional<bool> continue_final_message;
  nb::handle now;
  bool assistant = false;
  bool spans = true;
  nb::handle variables;  ///< a dict
  TakeOptions take;
};

/// Reads a request from Python objects. Holds the GIL while it goes through them, not afterwards.
std::shared_ptr<Prompt> read_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments);
/// Reads and renders it.
std::shared_ptr<Prompt> render_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments);
/// Its text alone.
nb::str render_text(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments);
/// Renders variables of a template, as JSON, that need no passes any more.
std::shared_ptr<Prompt> render_variables(const std::shared_ptr<const Engine>& engine, std::string_view json,
                                         const RenderOptions& options);
/// How the reply to a prompt is read. The template is tried out when it is first asked. Releases the GIL.
ReplyStart start_of(const Prompt& prompt);
/// The names of kinds of replies' bytes: all but that of what is no part of one.
inline std::span<const std::string_view> kinds_of_replies() { return reply_kind_names().subspan(1); }
/// What the assistant wrote in it, by kinds.
std::vector<KindRange> kinds_of(const Prompt& prompt);
/// The moment of a datetime; None: now, in local time.
CivilTime civil_time(nb::handle moment);

void bind_templates(nb::module_& module);
void bind_renderings(nb::module_& module);
void bind_reply_formats(nb::module_& module);
void bind_reply_messages(nb::module_& module);
void bind_replies(nb::module_& module);
void bind_tokens(nb::module_& module);
void bind_session(nb::module_& module);
void bind_grammars(nb::module_& module);
void bind_findings(nb::module_& module);
void bind_prefix(nb::module_& module);
void bind_apis(nb::module_& module);
void bind_agent(nb::module_& module);
/// What a cast says that fails within a call: calls.cpp says which argument it was, if it was one.
inline constexpr const char* kFailedCast =
    "an argument, or what a function gave, is of another type than the signature says";
/// Behind all others: errors of calls are in Python's words.
void bind_calls(nb::module_& module);

}  // namespace parlance::python
