// Begin reading at render_prompt.
#include "prompt.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>

#include "errors.h"
#include "gil.h"
#include "gil_aside.h"
#include "lent.h"

namespace parlance::python {

Engine::Engine(RequestReader opened) : reader(std::move(opened)) {
  const std::vector<NamedTemplate>& all = reader.model().templates;
  may_read_clock = std::any_of(all.begin(), all.end(), [](const NamedTemplate& one) {
    const auto has = [&one](const char* name) { return one.text.find(name) != std::string::npos; };
    return has("strftime_now") || has("currentDate") || has("yesterdayDate");
  });
}

// ---- characters

namespace {
std::uint32_t characters_in(std::string_view text) {
  std::uint32_t count = 0;
  for (const char byte : text) count += begins_character(byte) ? 1 : 0;
  return count;
}
}  // namespace

Characters::Characters(std::string_view text) : text_(text) {
  if (characters_in(text) == text.size()) return;
  std::uint32_t count = 0;
  for (std::size_t at = 0; at <= text.size(); at += kBlock) {
    blocks_.push_back(count);
    count += characters_in(text.substr(at, kBlock));
  }
}

std::size_t Characters::before(std::size_t byte) const {
  if (blocks_.empty()) return byte;
  const std::size_t block = byte / kBlock;
  return blocks_[block] + characters_in(text_.substr(block * kBlock, byte - block * kBlock));
}

void Prompt::reuse(std::shared_ptr<const Engine> another, const RenderOptions& given) {
  engine = std::move(another);
  options = given;
  characters_.forget();
}

// ---- time

CivilTime civil_time(nb::handle moment) {
  if (moment.is_valid() && !moment.is_none()) {
    if (!nb::hasattr(moment, "microsecond") || !nb::hasattr(moment, "year")) throw nb::type_error("now is a datetime");
    const auto part = [&](const char* name) { return nb::cast<int>(moment.attr(name)); };
    return {part("year"),   part("month"),  part("day"),        part("hour"),
            part("minute"), part("second"), part("microsecond")};
  }
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  // Asking for the zone takes as long as a small render: once a second will do.
  static thread_local std::time_t asked = -1;
  static thread_local std::tm local{};
  if (asked != seconds) localtime_r(&seconds, &local);
  asked = seconds;
  return {local.tm_year + 1900,
          local.tm_mon + 1,
          local.tm_mday,
          local.tm_hour,
          local.tm_min,
          local.tm_sec,
          static_cast<int>(since % 1'000'000)};
}

// ---- requests

namespace {

/// Prompts whose memory is used again.
struct GiveBack {
  /// Large ones are let go of.
  void operator()(Prompt* prompt) const {
    constexpr std::size_t kLargest = std::size_t{1} << 20;
    std::unique_ptr<Prompt> given(prompt);
    given->engine.reset();
    if (given->rendering.text().size() <= kLargest) Kept<Prompt, OwnLock::prompts>::give_back(std::move(given));
  }
};
using LentPrompt = std::unique_ptr<Prompt, GiveBack>;

LentPrompt prompt_for(const std::shared_ptr<const Engine>& engine, const RenderOptions& options) {
  LentPrompt prompt(Kept<Prompt, OwnLock::prompts>::take().release());
  prompt->reuse(engine, options);
  return prompt;
}

bool is_given(nb::handle object) { return object.is_valid() && !object.is_none(); }

void take_request(ObjectTaker& taker, const RenderArguments& arguments) {
  taker.take_messages(arguments.messages);
  // The reader would add what transformers always gives, by a copy of all variables for each.
  const bool gives_none = arguments.take.placeholders;
  if (is_given(arguments.tools)) {
    taker.take_tools(arguments.tools);
  } else if (gives_none) {
    taker.take_member("tools", nb::none());
  }
  if (gives_none || is_given(arguments.documents))
    taker.take_member("documents", is_given(arguments.documents) ? arguments.documents : nb::handle(Py_None));
  if (!is_given(arguments.variables)) return;
  for (const auto& [name, value] : held_members(nb::cast<nb::dict>(arguments.variables)))
    taker.take_member(name, value);
}

RenderOptions asked_options(const Engine& engine, const RenderArguments& arguments) {
  RenderOptions options;
  options.add_generation_prompt = arguments.add_generation_prompt;
  options.continue_final = arguments.continue_final_message;
  options.want_assistant = arguments.assistant;
  options.want_spans = arguments.spans;
  if (engine.may_read_clock || is_given(arguments.now)) options.now = civil_time(arguments.now);
  options.limits = engine.limits();
  options.as_is = engine.is_as_is();
  return options;
}

/// Reads a request, and renders it if `renders`. The GIL is let go of once, after the objects were gone through, unless
/// that would take longer than the rest. What threads have of their own meanwhile, they take when they run.
LentPrompt make_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments, bool renders) {
  const RenderOptions options = asked_options(*engine, arguments);
  std::optional<LentBuilder> builder(std::in_place);
  DocumentBuilder& request = **builder;
  request.begin_dict();
  ObjectTaker taker(request, arguments.take);
  take_request(taker, arguments);
  request.end_dict();
  LentPrompt prompt;
  const Result<void> done = [&]() -> Result<void> {
    const GilAside aside(engine->quick, request.text_size());
    prompt = prompt_for(engine, options);
    Result<void> read = engine->reader.read_into(prompt->request, request);
    builder.reset();  // nobody keeps it while waiting for the GIL
    if (!read || !renders) return read;
    const LentWorkspace workspace;
    return engine->reader.render(prompt->request, options, *workspace, prompt->rendering);
  }();
  check(done);
  return prompt;
}

}  // namespace

std::shared_ptr<Prompt> read_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments) {
  return make_prompt(engine, arguments, false);
}

std::shared_ptr<Prompt> render_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments) {
  return make_prompt(engine, arguments, true);
}

nb::str render_text(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments) {
  return exact_text_to_python(make_prompt(engine, arguments, true)->rendering.text(), true);
}

std::shared_ptr<Prompt> render_variables(const std::shared_ptr<const Engine>& engine, std::string_view json,
                                         const RenderOptions& options) {
  std::shared_ptr<Prompt> prompt = prompt_for(engine, options);
  prompt->request.id.clear();
  const Result<void> done = [&]() -> Result<void> {
    const GilRelease release;
    Result<void> read = prompt->request.conversation.read(json, {.normalise = false});
    if (!read) return read;
    const LentWorkspace workspace;
    return engine->reader.render(prompt->request, options, *workspace, prompt->rendering);
  }();
  check(done);
  return prompt;
}

ReplyStart start_of(const Prompt& prompt) {
  Result<ReplyStart> start = [&] {
    const GilRelease release;
    return prompt.engine->reader.reply_to(prompt.request.conversation, prompt.options, prompt.rendering.text());
  }();
  return take(std::move(start));
}

std::vector<KindRange> kinds_of(const Prompt& prompt) {
  Result<std::vector<KindRange>> kinds = [&] {
    const GilRelease release;
    return prompt.engine->reader.reply_kinds(prompt.request.conversation, prompt.rendering);
  }();
  return take(std::move(kinds));
}

}  // namespace parlance::python
