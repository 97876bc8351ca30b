// Begin reading at render_prompt.
#include "prompt.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <mutex>

#include "errors.h"
#include "own_locks.h"

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

const Characters& Prompt::characters() const {
  if (const Characters* const known = characters_.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<const Characters>(rendering.text());
  const Characters* known = nullptr;
  const bool is_first = characters_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel);
  return is_first ? *made.release() : *known;
}

void Prompt::reuse(std::shared_ptr<const Engine> another) {
  engine = std::move(another);
  options = RenderOptions();
  delete characters_.exchange(nullptr);
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
class PromptPool {
 public:
  struct GiveBack {
    void operator()(Prompt* prompt) const { give_back(prompt); }
  };
  using Lent = std::unique_ptr<Prompt, GiveBack>;

  static Lent take() {
    {
      const std::lock_guard lock(own_lock(OwnLock::prompts));
      if (!pool().kept_.empty()) {
        Lent prompt(pool().kept_.back().release());
        pool().kept_.pop_back();
        return prompt;
      }
    }
    return Lent(new Prompt);
  }

 private:
  /// Large ones are let go of.
  static void give_back(Prompt* prompt) {
    constexpr std::size_t kMost = 16, kLargest = std::size_t{1} << 20;
    std::unique_ptr<Prompt> given(prompt);
    given->engine.reset();
    const bool is_large = given->rendering.text().size() > kLargest;
    const std::lock_guard lock(own_lock(OwnLock::prompts));
    if (!is_large && pool().kept_.size() < kMost) pool().kept_.push_back(std::move(given));
  }
  /// Never destroyed: a rendering may end after all else.
  static PromptPool& pool() {
    static auto* const only = new PromptPool;
    return *only;
  }
  std::vector<std::unique_ptr<Prompt>> kept_;
};

/// A builder whose memory is used again, as long as this lives. The one given back last is lent first: of many threads
/// that wait for the GIL few read at a time, and those find it in the caches. Each request has its own, since code of
/// the objects that are read may itself render.
class LentBuilder {
 public:
  LentBuilder() {
    {
      const std::lock_guard lock(own_lock(OwnLock::builders));
      if (!kept().empty()) {
        builder_ = std::move(kept().back());
        kept().pop_back();
      }
    }
    if (builder_ == nullptr) builder_ = std::make_unique<DocumentBuilder>();
  }
  LentBuilder(const LentBuilder&) = delete;
  ~LentBuilder() {
    constexpr std::size_t kMost = 16;
    builder_->clear();
    const std::lock_guard lock(own_lock(OwnLock::builders));
    if (kept().size() < kMost) kept().push_back(std::move(builder_));
  }
  DocumentBuilder& operator*() { return *builder_; }

 private:
  /// Never destroyed, as prompts.
  static std::vector<std::unique_ptr<DocumentBuilder>>& kept() {
    static auto* const builders = new std::vector<std::unique_ptr<DocumentBuilder>>;
    return *builders;
  }
  std::unique_ptr<DocumentBuilder> builder_;
};

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
  for (const auto& [name, value] : nb::cast<nb::dict>(arguments.variables)) taker.take_member(name, value);
}

}  // namespace

Workspace& workspace() {
  static thread_local Workspace kept;
  return kept;
}

namespace {

/// Reads a request, and renders it if `renders`. The GIL is let go of once, after the objects were gone through.
PromptPool::Lent make_prompt(const std::shared_ptr<const Engine>& engine, const RenderArguments& arguments,
                             bool renders) {
  PromptPool::Lent prompt = PromptPool::take();
  prompt->reuse(engine);
  prompt->options.add_generation_prompt = arguments.add_generation_prompt;
  prompt->options.continue_final = arguments.continue_final_message;
  prompt->options.want_assistant = arguments.assistant;
  prompt->options.want_spans = arguments.spans;
  if (engine->may_read_clock || is_given(arguments.now)) prompt->options.now = civil_time(arguments.now);
  prompt->options.limits = engine->limits();
  prompt->options.as_is = engine->is_as_is();
  std::optional<LentBuilder> builder(std::in_place);
  DocumentBuilder& request = **builder;
  request.begin_dict();
  ObjectTaker taker(request, arguments.take);
  take_request(taker, arguments);
  request.end_dict();
  const Result<void> done = [&]() -> Result<void> {
    const nb::gil_scoped_release release;
    Result<void> read = engine->reader.read_into(prompt->request, request);
    builder.reset();  // nobody keeps it while waiting for the GIL
    if (!read || !renders) return read;
    return engine->reader.render(prompt->request, prompt->options, workspace(), prompt->rendering);
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
  return exact_text_to_python(make_prompt(engine, arguments, true)->rendering.text());
}

std::shared_ptr<Prompt> render_variables(const std::shared_ptr<const Engine>& engine, std::string_view json,
                                         const RenderOptions& options) {
  std::shared_ptr<Prompt> prompt = PromptPool::take();
  prompt->reuse(engine);
  prompt->options = options;
  prompt->request.id.clear();
  const Result<void> done = [&]() -> Result<void> {
    const nb::gil_scoped_release release;
    Result<void> read = prompt->request.conversation.read(json, {.normalise = false});
    if (!read) return read;
    return engine->reader.render(prompt->request, options, workspace(), prompt->rendering);
  }();
  check(done);
  return prompt;
}

ReplyStart start_of(const Prompt& prompt) {
  Result<ReplyStart> start = [&] {
    const nb::gil_scoped_release release;
    return prompt.engine->reader.reply_to(prompt.request.conversation, prompt.options, prompt.rendering.text());
  }();
  return take(std::move(start));
}

std::vector<KindRange> kinds_of(const Prompt& prompt) {
  Result<std::vector<KindRange>> kinds = [&] {
    const nb::gil_scoped_release release;
    return prompt.engine->reader.reply_kinds(prompt.request.conversation, prompt.rendering);
  }();
  return take(std::move(kinds));
}

}  // namespace parlance::python
