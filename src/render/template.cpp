// Template: compiling and rendering, the two doors of the engine. Start at Template::render.
#include "parlance/template.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/civil_time.h"
#include "base/inline_vector.h"
#include "base/utf8.h"
#include "conversation/conversation.h"
#include "conversation/request_hint.h"
#include "jinja/compile/program.h"
#include "jinja/machine/misspelt.h"
#include "jinja/machine/vm.h"
#include "render/assistant.h"
#include "render/go_run.h"
#include "render/provenance.h"
#include "render/refused_part.h"
#include "render/render_with.h"
#include "render/rendering.h"
#include "render/steps.h"
#include "render/template_inside.h"
#include "render/unmasked.h"
#include "value/dict.h"

namespace parlance {

std::uint64_t steps_of_last(Workspace& workspace) { return inside_of(workspace).steps; }

Workspace::Workspace() : state_(std::make_unique<State>()) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
Workspace::State& Workspace::inside() {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  return *state_;
}

Result<Template> Template::compile(std::string_view text, const CompileOptions& options) {
  if (!utf8::is_valid(text, true)) {
    return Error(ErrorCode::unicode_decode, "the template is not valid UTF-8");
  }
  if (options.syntax == Syntax::go) {
    auto program = gotemplate::compile(options.name, text, options.limits);
    if (!program) return program.error();
    return Template(std::make_shared<const Impl>(nullptr, std::move(*program), options));
  }
  jinja::SyntaxOptions syntax{options.trim_blocks, options.lstrip_blocks, options.keep_trailing_newline,
                              options.allow_changes, transformers_release(options.transformers).limits_globals};
  auto program = jinja::compile(options.name, text, syntax, options.limits);
  if (!program) return program.error();
  return Template(std::make_shared<const Impl>(std::move(*program), nullptr, options));
}

Result<Template> Template::with_changes() const {
  CompileOptions options = impl_->options;
  options.allow_changes = true;
  return compile(impl_->any().source.text(), options);
}

const std::string& Template::name() const& { return impl_->options.name; }
std::string Template::name() const&& { return impl_->options.name; }
bool Template::has_generation_tag() const { return impl_->any().has_generation; }
bool TemplateFacts::reads(std::string_view variable) const {
  return std::find(variables.begin(), variables.end(), variable) != variables.end();
}

bool TemplateFacts::mentions(std::string_view name) const {
  return std::find(members.begin(), members.end(), name) != members.end() ||
         std::find(texts.begin(), texts.end(), name) != texts.end();
}

Syntax Template::syntax() const { return impl_->go != nullptr ? Syntax::go : Syntax::jinja; }

namespace {

/// The texts of a constant, at whatever depth: keys of dicts are words that a template compares with too.
void add_texts(const Value& constant, std::vector<std::string>& texts) {
  constexpr std::size_t kLongestText = 256;
  if (constant.is_leaf() && constant.size <= kLongestText) texts.emplace_back(leaf_text(constant));
  if (constant.is_sequence()) {
    for (const Value& item : items(constant)) add_texts(item, texts);
  }
  if (constant.kind != Kind::dict) return;
  for (const DictEntry& entry : entries(constant)) {
    add_texts(entry.key, texts);
    add_texts(entry.value, texts);
  }
}

}  // namespace

TemplateFacts Template::facts() const {
  TemplateFacts facts;
  facts.syntax = syntax();
  if (impl_->program == nullptr) return facts;
  for (const jinja::VariableName& name : impl_->program->names) {
    if (!name.is_global) facts.variables.emplace_back(name.name);
  }
  for (const jinja::AttributeSite& site : impl_->program->sites) {
    if (site.name.is_string() && !site.is_item) facts.members.emplace_back(leaf_text(site.name));
  }
  for (const Value& constant : impl_->program->constants) add_texts(constant, facts.texts);
  return facts;
}

std::string Template::list_code() const {
  return impl_->program == nullptr ? std::string() : jinja::list_code(*impl_->program);
}

namespace {

/// The variables a render adds to the conversation's: add_generation_prompt, messages.
class Overrides {
 public:
  void set(std::string_view name, Value value) { entries_.push_back({Value::view(name), value}); }
  std::span<const DictEntry> list() const { return entries_; }

 private:
  InlineVector<DictEntry, 2> entries_;  // not cleared for each render, most of which add nothing
};

const Value* member(const DictObject* dict, std::string_view name) {
  const DictEntry* entry = dict == nullptr ? nullptr : find_key(*dict, name);
  return entry == nullptr ? nullptr : &entry->value;
}

bool last_is_assistant(const Conversation& conversation) {
  Value messages = conversation.messages();
  if (!messages.is_sequence() || messages.list->size == 0) return false;
  Value last = messages.list->items[messages.list->size - 1];
  const Value* role = last.kind == Kind::dict ? member(last.dict, "role") : nullptr;
  return role != nullptr && role->is_leaf() && leaf_text(*role) == "assistant";
}

bool is_true(const Value* v) { return v != nullptr && v->kind == Kind::boolean && v->integer != 0; }

struct Wishes {
  bool continue_final = false;
  Overrides overrides;
};

/// Whether the prompt continues the last message or opens an answer. The caller's options win over the request's
/// members; where nobody says anything, a prompt is opened unless the last message is the assistant's. Both at once are
/// an error, as in transformers; where a render is to be as transformers', no word means no prompt.
Result<void> read_wishes(const Conversation& conversation, const DictObject* variables, const RenderOptions& options,
                         Wishes& wishes) {
  wishes.continue_final = continues_final(conversation, variables, options);
  const Value* given = member(variables, "add_generation_prompt");
  bool said = given != nullptr && !given->is_none();
  std::optional<bool> prompt = options.add_generation_prompt;
  if (wishes.continue_final) {
    bool asked =
        options.add_generation_prompt.value_or(!options.continue_final && said && is_true_for_template(*given));
    if (asked) {
      return Error(ErrorCode::usage, "continuing the last message and adding a generation prompt exclude each other");
    }
    prompt = false;
  } else if (!prompt && !said && !options.as_is && !inside_of(conversation).as_transformers) {
    prompt = !last_is_assistant(conversation);
  }
  if (prompt) wishes.overrides.set("add_generation_prompt", Value::boolean(*prompt));
  return {};
}

/// Templates refuse a system message in words of their own, mostly about "system"; whether they mean it is for the user
/// to judge.
bool may_refuse_system(const Runtime& rt, const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (rt.failure.code != ErrorCode::raised || !messages.is_sequence() || messages.list->size == 0) return false;
  const Value first = messages.list->items[0];
  const Value* role = first.kind == Kind::dict ? member(first.dict, "role") : nullptr;
  return role != nullptr && role->is_leaf() && leaf_text(*role) == "system" &&
         rt.failure.message.find("ystem") != std::string::npos &&
         rt.failure.message.find("upport") != std::string::npos;
}

/// Of an undefined value that was used.
std::string hint_of_undefined(const Runtime& rt, const jinja::Program& program, const jinja::Variables& variables,
                              const Conversation& conversation) {
  const Value& culprit = rt.failure.culprit;
  if (!culprit.is_undefined() || culprit.undefined == nullptr) return {};
  const UndefinedInfo& undefined = *culprit.undefined;
  const bool is_token = undefined.form == UndefinedInfo::Form::name && undefined.key.is_leaf() &&
                        leaf_text(undefined.key).ends_with("_token");
  if (is_token)
    return std::string("a special token") +
           (inside_of(conversation).has_model ? ", which the model's files do not have: set the variable "
                                              : ": open the model to have its tokens, or set the variable ") +
           std::string(leaf_text(undefined.key));
  if (std::string hint = hint_of_other_api(conversation); !hint.empty()) return hint;
  const bool is_functions =
      undefined.form == UndefinedInfo::Form::name && undefined.key.is_leaf() && leaf_text(undefined.key) == "functions";
  // OpenAI's name of the tools before they were called so; a request that has it there never comes to this.
  if (is_functions) return "the tools, mostly as JSON text: set the variable functions";
  return jinja::misspelt_hint(undefined, program, variables);
}

/// May the failure be one of what the request has?
bool is_of_data(ErrorCode code) {
  return code == ErrorCode::undefined || code == ErrorCode::type || code == ErrorCode::value ||
         code == ErrorCode::attribute || code == ErrorCode::raised;
}

std::string hint_for(const Runtime& rt, const jinja::Program& program, const jinja::Variables& variables,
                     const Conversation& conversation) {
  if (!rt.failure.hint.empty()) return rt.failure.hint;
  if (may_refuse_system(rt, conversation))
    return "if the template takes no system message: the pass first-system gives its text to the user";
  std::string hint = hint_of_undefined(rt, program, variables, conversation);
  return hint.empty() && is_of_data(rt.failure.code) ? hint_of_request(conversation) : hint;
}

[[gnu::cold, gnu::noinline]] Error describe_failure(const jinja::Program& program, const jinja::Machine& machine,
                                                    const Runtime& rt, const jinja::Variables& variables,
                                                    const Conversation& conversation) {
  const jinja::Extent at = machine.failed_at();
  const Value& culprit = rt.failure.culprit;
  std::string path = conversation.path_of(culprit);
  if (path.empty() && culprit.is_undefined() && culprit.undefined != nullptr)
    path = conversation.path_of(culprit.undefined->object);
  return Error(rt.failure.code, rt.failure.message)
      .at(program.source.locate(at.begin, at.end))
      .input(std::move(path))
      .hint(hint_for(rt, program, variables, conversation))
      .trace(machine.trace());
}

/// About how long a prompt of this conversation will be, since most of it is what was said: so its text seldom has to
/// grow.
std::size_t expected_size(const Conversation& conversation) {
  constexpr std::size_t kFrame = 4096;
  return inside_of(inside_of(conversation).document).text_bytes() + kFrame;
}

/// Spans and ranges are cut with the text, so that no one points behind its end.
void cut_at(std::uint32_t end, Rendering& into) {
  fields_of(into).size = end;
  while (fields_of(into).span_count != 0 && fields_of(into).spans[fields_of(into).span_count - 1].begin >= end)
    --fields_of(into).span_count;
  if (fields_of(into).span_count != 0) {
    Span& last = fields_of(into).spans[fields_of(into).span_count - 1];
    last.end = std::min(last.end, end);
  }
  std::erase_if(fields_of(into).generation, [&](const TextRange& r) { return r.begin >= end; });
  for (TextRange& range : fields_of(into).generation) range.end = std::min<std::uint64_t>(range.end, end);
}

/// Each name once: a template prints it for every message.
void list_undefined(std::span<const UndefinedInfo* const> printed, const jinja::Program& program,
                    const jinja::Variables& variables, const Conversation& conversation,
                    std::vector<PrintedUndefined>& into) {
  using Form = UndefinedInfo::Form;
  for (const UndefinedInfo* info : printed) {
    const bool is_member = info->form == Form::attribute || info->form == Form::element;
    if ((!is_member && info->form != Form::name) || !info->key.is_leaf()) continue;
    PrintedUndefined one{std::string(leaf_text(info->key)), !is_member, {}, {}};
    const bool known = std::any_of(into.begin(), into.end(), [&](const PrintedUndefined& other) {
      return other.name == one.name && other.is_variable == one.is_variable;
    });
    if (known) continue;
    if (is_member) one.path = conversation.path_of(info->object);
    one.nearest = jinja::nearest_name(*info, program, variables);
    into.push_back(std::move(one));
  }
}

Result<void> run_jinja(const jinja::Program& program, const Conversation& conversation, const RenderOptions& options,
                       Runtime& rt, const jinja::Variables& variables, WorkspaceState& memory, Rendering* into) {
  rt.allow_changes = program.allow_changes;
  rt.limits_globals = program.limits_globals;
  std::vector<const UndefinedInfo*> printed;
  if (options.want_undefined && into != nullptr) rt.printed_undefined = &printed;
  jinja::Machine machine(program, rt, memory.output, memory.frames, variables);
  memory.turns.clear();
  if (options.want_assistant) machine.record_turns(memory.turns);
  if (memory.resumption != nullptr) machine.resume(*memory.resumption);
  if (!machine.run()) return describe_failure(program, machine, rt, variables, conversation);
  if (!printed.empty()) list_undefined(printed, program, variables, conversation, fields_of(*into).undefined);
  return {};
}

/// `prompt` and `suffix` without a message (see the pass generate-request).
bool asks_only_to_fill(const Conversation& conversation) {
  const auto has_text = [&](std::string_view name) {
    const Value given = member_value(conversation.variables(), name);
    return given.is_string() && given.size != 0;
  };
  const Value messages = conversation.messages();
  return messages.is_sequence() && messages.list->size == 0 && has_text("prompt") && has_text("suffix");
}

/// Most templates fail without a message, and what they say of it explains nothing.
Error cannot_fill(const Error& error) {
  return Error(ErrorCode::conversation,
               "the template does not render a request of `prompt` and `suffix` without messages: " + error.message())
      .input("suffix")
      .hint("chat templates fill no gaps; leave out suffix for a chat, or use a Go template that has .Suffix");
}

/// Is there nothing in a member of a message: no text, no item, no part but empty texts?
bool is_empty(Value value) {
  if (value.is_none() || value.is_undefined()) return true;
  if (value.is_string()) return value.is_leaf() && leaf_text(value).empty();
  if (!value.is_sequence()) return false;
  return std::ranges::all_of(items(value), [](Value part) {
    const Value* text = member(part, "text");
    return text != nullptr && text->is_leaf() && leaf_text(*text).empty();
  });
}

bool is_empty_message(Value message) {
  return std::ranges::all_of(entries(message), [](const DictEntry& one) {
    return (one.key.is_leaf() && leaf_text(one.key) == "role") || is_empty(one.value);
  });
}

/// Cuts the prompt after the last byte that the last message said. Its role does not count: a template may write it
/// again when it closes the turn.
Result<void> continue_last(const Conversation& conversation, Rendering& into) {
  Value messages = conversation.messages();
  auto last = messages.is_sequence() ? static_cast<std::int32_t>(messages.list->size) - 1 : -1;
  if (last < 0 || !last_is_assistant(conversation)) {
    return Error(ErrorCode::conversation, "there is no assistant message at the end to continue");
  }
  const std::string path = "messages[" + std::to_string(last) + "]";
  if (is_empty_message(messages.list->items[last]))
    return Error(ErrorCode::conversation, "the last message is empty, so it cannot be continued").input(path);
  for (std::size_t i = fields_of(into).span_count; i-- > 0;) {
    const Span& span = fields_of(into).spans[i];
    if (span.message != last) continue;
    if (path_of_span(conversation, span).ends_with("].role")) continue;
    cut_at(span.end, into);
    return {};
  }
  return Error(ErrorCode::conversation, "nothing of the last message is in the prompt, so it cannot be continued");
}

}  // namespace

Result<Rendering> Template::render(const Conversation& conversation, const RenderOptions& options) const {
  Workspace workspace;
  Rendering rendering;
  Result<void> done = render(conversation, options, workspace, rendering);
  if (!done) return done.error();
  return rendering;
}

/// Runs the template; the prompt is then the text of `into`, with its spans where somebody asks where the bytes came
/// from. If `into` is null, it is the pieces in the memory's output. The result: is the last message to be continued?
Result<bool> Template::run(const Conversation& conversation, Value all, const RenderOptions& options,
                           Workspace& workspace, bool wants_provenance, Rendering* into,
                           const ListObject* first_messages) const {
  WorkspaceState& memory = inside_of(workspace);
  memory.arena.reset();
  memory.arena.set_limit(options.limits.memory_bytes);
  memory.output.reset();
  memory.frames.pop_to(0);
  memory.steps = 0;

  if (std::optional<Error> wrong = why_no_moment(options.now)) return *std::move(wrong);
  const DictObject* variables = all.kind == Kind::dict ? all.dict : nullptr;
  Wishes wishes;
  if (!options.as_is || options.add_generation_prompt || options.continue_final) {
    if (Result<void> read = read_wishes(conversation, variables, options, wishes); !read) return read.error();
  }
  if (first_messages != nullptr) {
    Value list = conversation.messages();
    list.list = first_messages;
    wishes.overrides.set("messages", list);
  }

  const bool logs = wants_provenance || wishes.continue_final;
  memory.arena.set_logging(logs);
  Runtime rt(memory.arena, options.limits);
  if (into != nullptr) {
    if (logs) memory.provenance.emplace(impl_->bytes(), inside_of(conversation), rt, *into);
    memory.output.write_into(fields_of(*into).text, fields_of(*into).capacity, expected_size(conversation),
                             logs ? &*memory.provenance : nullptr);
  }
  rt.now = options.now;
  rt.random_state ^= options.random_seed;
  Result<void> ran =
      impl_->go != nullptr
          ? run_go(*impl_->go, conversation, variables, options, rt, memory.output, memory.go)
          : run_jinja(*impl_->program, conversation, options, rt, {variables, wishes.overrides.list()}, memory, into);
  memory.steps = rt.limits.steps - static_cast<std::uint64_t>(std::max(rt.steps_left, std::int64_t{0}));
  if (!ran) return impl_->go == nullptr && asks_only_to_fill(conversation) ? cannot_fill(ran.error()) : ran.error();
  if (logs && into != nullptr) {
    memory.arena.sort_log();
    if (!memory.output.settle(rt)) return Error(rt.failure.code, rt.failure.message);
    memory.provenance->finish();
  }
  return wishes.continue_final;
}

Result<std::vector<std::string_view>> Template::render_pieces(const Conversation& conversation,
                                                              const RenderOptions& options,
                                                              Workspace& workspace) const& {
  const Result<bool> continues = run(conversation, conversation.variables(), options, workspace, false, nullptr);
  if (!continues) return with_refused_part(*this, conversation, options, continues.error());
  WorkspaceState& memory = inside_of(workspace);
  std::vector<std::string_view> pieces;
  if (*continues) {  // the cut is found by spans
    if (Result<void> done = render(conversation, options, workspace, memory.cut); !done) return done.error();
    pieces.push_back(memory.cut.text());
    return pieces;
  }
  pieces.reserve(memory.output.piece_count());
  for (std::uint32_t i = 0; i < memory.output.piece_count(); ++i) {
    pieces.emplace_back(memory.output.pieces()[i].data, memory.output.pieces()[i].size);
  }
  return pieces;
}

Result<void> Template::render(const Conversation& conversation, const RenderOptions& options, Workspace& workspace,
                              Rendering& into) const {
  // Whatever the last render left is gone even if this one fails: callers use one Rendering again and again.
  fields_of(into).span_count = 0;
  fields_of(into).generation.clear();
  fields_of(into).assistant.clear();
  fields_of(into).notes.clear();
  fields_of(into).undefined.clear();
  fields_of(into).size = 0;
  const bool wants_provenance = options.want_spans || options.want_assistant;
  const Result<bool> continues =
      run(conversation, conversation.variables(), options, workspace, wants_provenance, &into);
  if (!continues) return with_refused_part(*this, conversation, options, continues.error());
  const EngineProgram& program = impl_->any();
  WorkspaceState& memory = inside_of(workspace);

  fields_of(into).size = memory.output.bytes();
  for (const ByteRange& range : memory.output.generation())
    fields_of(into).generation.push_back({range.begin, range.end});
  if (wants_provenance || *continues) {
    const SourceText* source = &program.source;
    if (fields_of(into).source.get() != source) fields_of(into).source = {impl_, source};
  }
  if (*continues) {
    if (Result<void> cut = continue_last(conversation, into); !cut) return cut.error();
  }
  if (!options.want_assistant) return {};
  if (program.has_generation && !options.ignore_tags) {
    fill_from_tags(into);
    leave_out_unlearnt(conversation, into);
    return {};
  }
  if (!may_have_words(conversation)) return {};
  AssistantRanges found{.of_each = false, .has_unlearnt = true};  // or may have: it is looked for
  if (impl_->go != nullptr) {
    fill_go_assistant(*impl_->go, conversation, options, memory.go.turns.turns(), into);
  } else {
    found = fill_assistant(*this, conversation, options, memory.turns.turns(), into);
  }
  if (!found.of_each) note_unmasked(conversation, into);
  if (found.has_unlearnt) leave_out_unlearnt(conversation, into);
  return {};
}

Result<void> render_with(const Template& chat_template, const Conversation& conversation, Value variables,
                         const RenderOptions& options, Workspace& workspace, Rendering& into) {
  fields_of(into).span_count = 0;
  const Result<bool> continues =
      chat_template.run(conversation, variables, options, workspace, options.want_spans, &into);
  if (!continues) return continues.error();
  fields_of(into).size = inside_of(workspace).output.bytes();
  return {};
}

/// Each member must be here: one that is left out would stay with the wrong prompt.
void Rendering::swap(Rendering& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(spans_, other.spans_);
  std::swap(span_count_, other.span_count_);
  std::swap(span_capacity_, other.span_capacity_);
  std::swap(generation_, other.generation_);
  std::swap(assistant_, other.assistant_);
  std::swap(notes_, other.notes_);
  std::swap(undefined_, other.undefined_);
  std::swap(source_, other.source_);
}

Location place_of_span(const Rendering& rendering, const Span& span) {
  if (span.origin != Origin::literal || rendering.source_ == nullptr) return {};
  return rendering.source_->locate(span.template_begin, span.template_begin + (span.end - span.begin));
}

std::string path_of_span(const Conversation& conversation, const Span& span) {
  if (span.input != nullptr) return path_of_address(inside_of(conversation), span.input);
  const bool has_id = span.input_id != 0 && span.input_id < kProgramSource;
  return has_id ? path_of_id(inside_of(conversation), span.input_id) : std::string();
}

bool is_true_for_template(Value value) {
  if (value.is_string()) return value.size != 0;
  if (value.is_sequence()) return value.list->size != 0;
  if (value.kind == Kind::dict) return value.dict->size != 0;
  if (value.kind == Kind::real) return value.real != 0;
  return (value.kind == Kind::integer || value.kind == Kind::boolean) && value.integer != 0;
}

bool continues_final(const Conversation& conversation, const DictObject* variables, const RenderOptions& options) {
  const bool asked = inside_of(conversation).continue_final || is_true(member(variables, "continue_final_message"));
  return options.continue_final.value_or(!options.as_is && asked);
}

}  // namespace parlance
